"""What can be wrong with a campaign or a study before anything is run."""

from __future__ import annotations


class CampaignError(ValueError):
    """A campaign, study or parameter makes no sense; the message says where and what would."""
