"""Errors of reproductions, apart from claims that fail."""

from __future__ import annotations


class BadData(ValueError):
    """A file of claims, a plan or another file of a reproduction is invalid. The message says where."""


class EmulationFailed(RuntimeError):
    """A download in real time failed. The message says how it ended."""


class UnknownSelection(ValueError):
    """There is no such document, chapter or figure. The message lists the existing ones."""


class Missing(Exception):
    """A claim cannot be scored yet: a point, a metric or a rule is missing. The message names it."""
