"""Search of scenario keys by common names."""

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
"""Names in the literature and in other tools, and the scenario keys that they may mean."""


def is_key(word: str) -> bool:
    """Whether `word` is a scenario key."""
    return word in _keys()


def keys_like(word: str) -> list[str]:
    """Suggest keys for an unknown word.

    Keys that end in the word come first, then keys with this other name (`OTHER_NAMES`), then keys
    of similar spelling. A word that is a key has no suggestions.
    """
    from difflib import get_close_matches

    keys = _keys()
    if word in keys:
        return []
    ends = [key for key in keys if key.endswith(f".{word}")]
    return ends or called(word) or get_close_matches(word, keys, 1, 0.75)


def called(word: str) -> list[str]:
    """Return the keys that `OTHER_NAMES` lists for `word`."""
    return list(OTHER_NAMES.get(word.lower(), ()))


def _keys() -> list[str]:
    from umtslab import _core

    return [row["key"] for row in _core.params()]
