"""Errors of reproductions, apart from claims that fail."""

from __future__ import annotations


class BadData(ValueError):
    """A ledger or plan breaks a rule. The message names file, entry and rule."""


class EmulationFailed(RuntimeError):
    """A download in real time failed. The message says how it ended."""


class UnknownSelection(ValueError):
    """There is no such document, chapter or figure. The message lists the existing ones."""


class Missing(Exception):
    """A claim cannot be scored yet. The message names what is missing."""
