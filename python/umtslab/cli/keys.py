"""Scenario keys by what people call them."""

from __future__ import annotations

OTHER_NAMES = {
    "arq": ("rlc.mode", "rlc.max_dat"),
    "bandwidth": ("link.rate", "cell.fach.rate", "bearer.downlink.rate", "bearer.uplink.rate"),
    "ber": ("radio.bler",),
    "buffer": ("rlc.buffer", "cell.fach.nodeb_queue", "link.queue"),
    "cwnd": ("tcp.initial_window", "tcp.initial_ssthresh"),
    "error": ("radio.bler", "radio.model"),
    "fer": ("radio.bler", "radio.unit"),
    "initcwnd": ("tcp.initial_window",),
    "iw": ("tcp.initial_window",),
    "latency": ("link.delay", "rrc.fach_to_dch"),
    "maxdat": ("rlc.max_dat",),
    "mss": ("tcp.segment_payload",),
    "loss": ("link.loss", "radio.bler", "impairment.action"),
    "per": ("radio.bler",),
    "queue": ("link.queue", "cell.fach.nodeb_queue", "rlc.buffer"),
    "rtt": ("link.delay",),
    "rwnd": ("tcp.advertised_window", "tcp.read_rate"),
    "scheduling": ("cell.fach.scheduler", "bearer.downlink.scheduler"),
    "ssthresh": ("tcp.initial_ssthresh",),
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
    return ends or called(word) or get_close_matches(word, keys, 1, 0.75)


def called(word: str) -> list[str]:
    """Keys that are called so elsewhere."""
    return list(OTHER_NAMES.get(word.lower(), ()))


def _keys() -> list[str]:
    from umtslab import _core

    return [row["key"] for row in _core.params()]
