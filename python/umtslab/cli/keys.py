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


def is_key(text: str) -> bool:
    """Whether `text` is a scenario key."""
    return text in _keys()


def keys_like(text: str) -> list[str]:
    """Suggest keys for a text that is not a key.

    Returns the keys whose last part is the text or, without such keys, the keys that have this
    name elsewhere (`OTHER_NAMES`) or, without these, a key of similar spelling.
    """
    from difflib import get_close_matches

    keys = _keys()
    if text in keys:
        return []
    with_last_part = [key for key in keys if key.endswith(f".{text}")]
    return with_last_part or keys_by_other_name(text) or get_close_matches(text, keys, 1, 0.75)


def keys_by_other_name(text: str) -> list[str]:
    """Return the keys that may have the name `text` in the literature or in other tools (`OTHER_NAMES`)."""
    return list(OTHER_NAMES.get(text.lower(), ()))


def _keys() -> list[str]:
    from umtslab import _core

    return [row["key"] for row in _core.params()]
