"""Controls of the page for a running emulation: rate of the bearer, block errors, coverage.

Each control has a list of choices. A choice is a fault, which sets keys of the scenario that may change
during a run; the first choice removes the fault.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from umtslab import _core
from umtslab.emulate.faults import inline_table
from umtslab.faults import Value
from umtslab.numbers import number

FAULT = "page-"
"""Beginning of the names of the faults that the page sets."""

_MAX_RATES = 12
"""Largest number of rates to choose from."""

_SWITCHED = "switched"
"""Bearer of users that RRC switches."""

_BLOCK_ERRORS = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)


@dataclass(frozen=True)
class Choice:
    """A value of a control."""

    label: str
    set: Mapping[str, Value]
    """Keys of the scenario and their values. Empty: the values of the scenario."""


@dataclass(frozen=True)
class Control:
    """A property of the network that can change while the programs run."""

    name: str
    label: str
    choices: list[Choice]
    """Empty if the property cannot change."""
    note: str
    """Why it cannot change."""


def controls(scenario: _core.Scenario) -> list[Control]:
    """Return the controls for an emulation of `scenario`. The first UE has the command."""
    groups = json.loads(scenario.to_json())["ue"]
    return [_rate(scenario, groups[0]), _block_errors(scenario, groups), _coverage(scenario)]


def _rate(scenario: _core.Scenario, group: dict[str, Any]) -> Control:
    """The downlink rate of the command's DCHs: the rates of their transport formats.

    For a user that RRC switches, a choice limits all its DCHs, the one in use and later ones.
    """
    dchs = {name: rates for name, (rates, _) in scenario.dch_rates(0) if rates}
    highest = max((rates[-1] for rates in dchs.values()), default=0)
    lower = sorted({bps for rates in dchs.values() for bps in rates if bps < highest}, reverse=True)
    lower = [bps for bps in lower if all(rates[0] <= bps for rates in dchs.values())]
    if not lower or not _is_accepted(scenario, _limited(dchs, lower[0])):
        return Control("rate", "Rate down", [], _why_no_rate(scenario, group))
    lower = lower[:: -(-len(lower) // _MAX_RATES)]
    # A switched user is also on the FACH, which keeps its rate.
    limit, place = ("at most ", " on DCHs") if group.get("bearer") == _SWITCHED else ("", "")
    choices = [Choice(f"{limit}{number(bps / 1000)} kbit/s{place}", _limited(dchs, bps)) for bps in lower]
    own = Choice(f"as in the scenario ({number(highest / 1000)} kbit/s)", {})
    return Control("rate", "Rate down", [own, *choices], "")


def _limited(dchs: Mapping[str, list[int]], bps: int) -> dict[str, Value]:
    """Return the keys that set each DCH above a rate to its highest rate up to there."""
    return {
        f"bearer.{name}.downlink.rate": f"{max(rate for rate in rates if rate <= bps)} bit/s"
        for name, rates in dchs.items()
        if rates[-1] > bps
    }


def _why_no_rate(scenario: _core.Scenario, group: dict[str, Any]) -> str:
    """Say why the downlink rate cannot change."""
    if json.loads(scenario.to_json()).get("layout") is not None:
        return "DCHs of a layout keep their rate: power control and spreading factor belong to it."
    if any(not down for _, (down, _) in scenario.dch_rates(0)):
        return "The HS-DSCH has no fixed rate: the Node B chooses the block size from the CQI in each TTI."
    return "Only a DCH with several transport formats can change its rate during a run."


def _block_errors(scenario: _core.Scenario, groups: list[dict[str, Any]]) -> Control:
    """Block error rates of both directions: of all users, also of those with a radio of their own."""
    radios = ["radio", *(f"ue.{group['name']}.radio" for group in groups if group.get("radio") is not None)]
    radios = [radio for radio in radios if _is_accepted(scenario, {f"{radio}.bler": 0.0})]
    keys = [key for radio in radios for key in (f"{radio}.bler", f"{radio}.uplink.bler")]
    keys = [key for key in keys if _is_accepted(scenario, {key: 0.0})]
    if not keys:
        note = "Only independent block errors can change during a run."
        return Control("block-errors", "Block errors", [], note)
    choices = [Choice(f"{100 * bler:g} %", dict.fromkeys(keys, bler)) for bler in _BLOCK_ERRORS]
    return Control("block-errors", "Block errors", [Choice("as in the scenario", {}), *choices], "")


def _coverage(scenario: _core.Scenario) -> Control:
    """The cut of the radio of all users, which every scenario accepts."""
    choices = [Choice("yes", {}), Choice("no (tunnel)", {"radio.cut": True})]
    return Control("coverage", "Coverage", choices, "")


def _is_accepted(scenario: _core.Scenario, values: Mapping[str, Value]) -> bool:
    """Whether the values can change during a run of the scenario."""
    change = f'[{{ time = "0 s", set = {inline_table(values)} }}]'
    try:
        scenario.with_overrides([("at", change)])
    except _core.ScenarioError:
        return False
    return True
