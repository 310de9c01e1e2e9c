"""Settings of the kernel's TCP: named presets, and single values that override them.

Names are the kernel's: variables below ``net/ipv4``, and metrics of a route as ``route.NAME``. Each
namespace has its own, so the host's settings do not change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

PRESETS: dict[str, tuple[tuple[str, str], ...]] = {
    # The kernel's defaults. Congestion control is set because its default differs between hosts.
    "cubic": (("route.congctl", "cubic"),),
    "reno": (("route.congctl", "reno"),),
    "bbr": (("route.congctl", "bbr"),),
    # Linux 2.4 as in emulators of 2004: SACK and timestamps, an initial window of two segments,
    # windows of 32 kB without scaling (the kernel offers half of a receive buffer as window), no
    # later features (RACK, TLP, F-RTO).
    "linux-2.4-like": (
        ("tcp_sack", "1"),
        ("tcp_dsack", "1"),
        ("tcp_timestamps", "1"),
        ("tcp_window_scaling", "0"),
        ("tcp_ecn", "0"),
        ("tcp_frto", "0"),
        ("tcp_recovery", "0"),
        ("tcp_early_retrans", "0"),
        ("tcp_rmem", "4096 65536 65536"),
        ("tcp_wmem", "4096 65536 65536"),
        ("tcp_moderate_rcvbuf", "0"),
        ("tcp_autocorking", "0"),
        ("route.congctl", "reno"),
        ("route.initcwnd", "2"),
        ("route.rto_min", "200"),
    ),
}


METRICS = ("congctl", "initcwnd", "initrwnd", "advmss", "rto_min", "quickack")
"""Metrics of a route that can be set; ``rto_min`` is in milliseconds."""


def settings(preset: str | None, changes: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return the settings of a preset (default ``cubic``) with `changes` (``NAME=VALUE``) applied.

    Raises
    ------
    ValueError
        If there is no such preset, or if a change has an unknown name or an invalid value.
    """
    if preset is not None and preset not in PRESETS:
        raise ValueError(f"there is no preset {preset!r}: there are {', '.join(PRESETS)}")
    pairs = dict(PRESETS[preset or "cubic"])
    for change in changes:
        name, equals, value = change.partition("=")
        if not (name and equals and value):
            raise ValueError(f"{change!r} is not NAME=VALUE, such as tcp_sack=0 or route.initcwnd=3")
        _check(name, value)
        pairs[name] = value
    return tuple(pairs.items())


def _check(name: str, value: str) -> None:
    """Raise `ValueError` if a setting has an unknown name, or a route's metric an invalid value."""
    metric = name.removeprefix("route.")
    if metric == name:
        if not name.startswith("tcp_") or "/" in name:
            raise ValueError(
                f"{name} is not a TCP setting of the kernel: use names such as tcp_sack and "
                "tcp_window_scaling"
            )
    elif metric not in METRICS:
        raise ValueError(f"{name} cannot be set: routes have {', '.join(METRICS)}")
    elif metric != "congctl" and not (value.isdecimal() and int(value) < 2**32):
        raise ValueError(f"{name} takes a number, not {value!r}")


def describe(settings: Mapping[str, str], subject: str) -> str:
    """Describe TCP settings that the kernel reports, in a line that begins with `subject`."""

    def switch(name: str) -> str:
        value = settings.get(name, "?")
        return {"0": "off", "1": "on"}.get(value, value)

    min_rto_ms = settings.get("route.rto_min") or str(int(settings.get("tcp_rto_min_us", "200000")) // 1000)
    parts = [
        settings.get("route.congctl") or settings.get("tcp_congestion_control", "?"),
        f"initial window {settings.get('route.initcwnd', '10')}",
        f"SACK {switch('tcp_sack')}",
        f"timestamps {switch('tcp_timestamps')}",
        f"window scaling {switch('tcp_window_scaling')}",
        f"ECN {switch('tcp_ecn')}",
        f"minimum RTO {min_rto_ms} ms",
        f"delayed ACK {'off' if settings.get('route.quickack') == '1' else '40 to 200 ms'}",
        f"rmem {settings.get('tcp_rmem', '?')}",
        f"wmem {settings.get('tcp_wmem', '?')}",
    ]
    return f"{subject}: {', '.join(parts)}"
