"""The network of an emulation by name, for ``umts emulate --bearer`` and ``umts bearers``.

==========================  ================================================================================
``ps-384`` …                a reference bearer of TS 34.108 on a DCH
``fach``                    the common channels, FACH down and RACH up
``fach-dch``                switched by RRC between the common channels and a DCH, with the default
                            timers
``fach-dch:PROFILE``        likewise, with the timers of an RRC profile (``umts rrc``)
``fach-dch…@BEARER``        likewise, with another DCH or an HS-DSCH, or with several bearers, the
                            largest first (``fach-dch@hsdpa-3.6,ps-64``)
``trace:FILE``              a measured capacity, the same trace both ways
``trace:DOWN,UP``           likewise, with one trace for each direction
``flat:PROFILE``            rate and delay of a network preset of browsers' developer tools or of a
                            test service
==========================  ================================================================================
"""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass
from typing import Any

from umtslab import _core
from umtslab.scenario import Scenario

DEFAULT = "ps-384"

SWITCHED = "fach-dch"
"""Bearer that RRC switches between common channels and a DCH."""

_HOPS = ("server", "ggsn", "sgsn", "rnc")
"""Nodes of the fixed network, from the servers to the radio."""

_NO_DELAY = "".join(f'[[link]]\nfrom = "{near}"\nto = "{far}"\n' for near, far in itertools.pairwise(_HOPS))
"""Links without delay between neighbouring nodes, in TOML."""

_HIGH_SPEED = ("hsdpa-", "hspa-")
"""Beginnings of the names of bearers with an HS-DSCH."""

_HSDPA_RLC = '[ue.rlc]\nwindow = 2047\ntimer_status_prohibit = "60 ms"\n'
"""Largest window and frequent STATUS reports, so that RLC limits the rate of an HS-DSCH least."""


@dataclass(frozen=True)
class Core:
    """Changes to the path between servers and UEs, in scenario syntax; None changes nothing."""

    delay: str | None = None
    """One-way delay between server and RNC."""
    jitter: str | None = None
    """Maximum random delay that is added for each packet."""
    loss: str | None = None
    """Probability that a packet is lost, each way."""
    buffer: str | None = None
    """Size of the buffer in front of the radio, in each direction."""
    bler: str | None = None
    """Block error rate of the radio, each way. Errors are independent."""

    def overrides(self, scenario: Scenario) -> tuple[tuple[str, str], ...]:
        """Return the changes as overrides of `scenario`."""
        content = json.loads(scenario.core.to_json())
        pairs: list[tuple[str, str]] = []
        if self.delay is not None:
            pairs += [(f"link.{hop}.delay", "0 s") for hop in range(1, len(content["link"]))]
            pairs.append(("link.0.delay", self.delay))
        if self.jitter is not None:
            pairs.append(("link.0.jitter", self.jitter))
        if self.loss is not None:
            pairs.append(("link.0.loss", self.loss))
        if self.buffer is not None:
            pairs += [(key, self.buffer) for key in _buffers(content["ue"])]
        if self.bler is not None:
            for table in ("radio", "radio.uplink"):
                pairs += [(f"{table}.model", "independent"), (f"{table}.bler", self.bler)]
        return tuple(pairs)


def _buffers(ues: list[dict[str, Any]]) -> list[str]:
    """Return the scenario keys of the buffers in front of the radio, one for each group of UEs."""
    keys = []
    for number, ue in enumerate(ues):
        for table, key in (("flat", "queue"), ("capacity", "queue"), ("rlc", "buffer")):
            if table in ue:
                keys.append(f"ue.{number}.{table}.{key}")
                break
        else:
            keys.append("rlc.buffer")
    return keys


def of_bearer(name: str, ues: int) -> str:
    """Return a scenario in which `ues` UEs have the bearer `name`, as TOML without a duration.

    Raises
    ------
    ValueError
        If there is no such bearer. The message suggests a similar name.
    """
    kind, _, argument = name.partition(":")
    links, rrc = "", ""
    if name == "fach":
        keys = ""
    elif SWITCHED in (kind, name.partition("@")[0]):
        dchs = name.partition("@")[2].split(",")
        has_hs_dsch = any(dch.startswith(_HIGH_SPEED) for dch in dchs)
        keys, rrc = 'bearer = "switched"\n' + (_HSDPA_RLC if has_hs_dsch else ""), _rrc(name)
    elif kind == "trace" and argument:
        down, _, up = argument.partition(",")
        keys = f"[ue.capacity]\ndownlink = {json.dumps(down)}\nuplink = {json.dumps(up or down)}\n"
    elif kind == "flat":
        _check_known(argument, [profile["name"] for profile in _core.flat_profiles()], "flat profile", kind)
        # The profile's round-trip time covers the whole path, so the links have no delay.
        keys, links = f'[ue.flat]\nprofile = "{argument}"\n', _NO_DELAY
    else:
        reference = [bearer["name"] for bearer in _core.bearers() if bearer["carries_packets"]]
        if name not in reference:
            others = ["fach", SWITCHED, *(f"flat:{profile['name']}" for profile in _core.flat_profiles())]
            raise ValueError(_unknown("bearer", name, [*reference, *others]))
        keys = f'bearer = "{name}"\n' + (_HSDPA_RLC if name.startswith(_HIGH_SPEED) else "")
    label = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in name)
    return f'version = 1\nname = "{label}"\n{links}{rrc}[[ue]]\nname = "ue"\ncount = {ues}\n{keys}'


def _rrc(name: str) -> str:
    """Return the table `rrc` for ``fach-dch``, optionally with ``:PROFILE`` and ``@BEARER``."""
    timers, at, dchs = name.partition("@")
    _, colon, profile = timers.partition(":")
    keys = []
    if colon:
        known_profiles = [known["name"] for known in _core.rrc_profiles()]
        _check_known(profile, known_profiles, "RRC profile", SWITCHED)
        keys.append(f'profile = "{profile}"')
    if at:
        allocated = [bearer["name"] for bearer in _core.bearers() if _is_allocated(bearer)]
        for dch in dchs.split(","):
            _check_known(dch, allocated, "bearer", f"{timers}@", separator="")
        keys.append(f"dch = {json.dumps(dchs.split(','))}")
    return "".join(f"{key}\n" for key in ["[rrc]", *keys]) if keys else ""


def _is_allocated(bearer: dict[str, Any]) -> bool:
    """Return whether RRC can allocate the bearer to a user."""
    return bool(bearer["carries_packets"]) and bearer["downlink"]["channel"] in ("DCH", "HS-DSCH")


def dch_of(scenario: Scenario) -> str | None:
    """Describe the DCHs of switched users with their rates; None if no user is switched."""
    content = json.loads(scenario.core.to_json())
    switched = [ue for ue in content["ue"] if ue.get("bearer") == "switched"]
    if not switched:
        return None
    lists = [ue.get("rrc", {}).get("dch", content["rrc"]["dch"]) for ue in switched]
    rates = {bearer["name"]: _rates(bearer["downlink"], bearer["uplink"]) for bearer in _core.bearers()}
    for bearer in content["bearer"]:
        down, up = bearer["downlink"]["rate"], bearer["uplink"]["rate"]
        rates[bearer["name"]] = f"{down} down, {up.removesuffix(_KBPS)} up"
    names = dict.fromkeys(name for names in lists for name in names)
    return ", ".join(f"{name} ({rates[name]})" if name in rates else name for name in names)


def _rates(down: dict[str, Any], up: dict[str, Any]) -> str:
    return f"{down['rate_bps'] / 1000:g}{_KBPS} down, {up['rate_bps'] / 1000:g} up"


_KBPS = " kbit/s"


def _check_known(name: str, names: list[str], noun: str, kind: str, separator: str = ":") -> None:
    """Raise an error that suggests a name of `names`, with `kind` before it, if `name` is not one of them."""
    if name not in names:
        raise ValueError(_unknown(noun, name, names, f"{kind}{separator}"))


def _unknown(noun: str, name: str, names: list[str], prefix: str = "") -> str:
    """Return the message for an unknown name, with the most similar known one after `prefix`."""
    from difflib import get_close_matches

    close = get_close_matches(name, names, 1, 0.5) or get_close_matches(f"flat:{name}", names, 1, 0.9)
    hint = f"did you mean {prefix}{close[0]}?" if close else "umts bearers lists them"
    return f"there is no {noun} `{name}`: {hint}"
