"""What can go wrong in a reproduction, apart from a claim that fails."""

from __future__ import annotations


class BadData(ValueError):
    """A ledger or plan breaks its own rules; the message names file, entry and rule."""


class EmulationFailed(RuntimeError):
    """A download in real time did not end as it should; the message says how it ended."""


class UnknownSelection(ValueError):
    """No such document, chapter or figure; the message lists those there are."""


class Missing(Exception):
    """A claim cannot be scored yet; the message names what is missing."""
