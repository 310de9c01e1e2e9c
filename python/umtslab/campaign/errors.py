"""Errors of campaigns and studies, found before anything is run."""

from __future__ import annotations


class CampaignError(ValueError):
    """A campaign, study or parameter is wrong. The message says where, and what would be right."""
