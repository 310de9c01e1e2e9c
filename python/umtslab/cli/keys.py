"""Scenario keys by what people call them."""

from __future__ import annotations

OTHER_NAMES = {
    "cwnd": ("tcp.initial_window", "tcp.initial_ssthresh"),
    "mss": ("tcp.segment_payload",),
    "rwnd": ("tcp.advertised_window", "tcp.read_rate"),
    "t1": ("rrc.inactivity",),
    "t2": ("rrc.fach_inactivity",),
}
"""What the literature calls them."""


def is_key(word: str) -> bool:
    """Whether a scenario has a key of that name."""
    return word in _keys()


def keys_like(word: str) -> list[str]:
    """Keys that end in a word, are called so elsewhere, or are spelled nearly so."""
    from difflib import get_close_matches

    keys = _keys()
    if word in keys:
        return []
    ends = [key for key in keys if key.endswith(f".{word}")]
    return ends or list(OTHER_NAMES.get(word.lower(), ())) or get_close_matches(word, keys, 1, 0.75)


def _keys() -> list[str]:
    from umtslab import _core

    return [row["key"] for row in _core.params()]
