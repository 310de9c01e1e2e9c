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
    """The downlink rate of the command's bearer: the rates of its transport formats."""
    rates, _ = scenario.dch_rates(0)
    lower = rates[-2::-1]
    key = f"bearer.{group.get('bearer')}.downlink.rate"
    if not lower or not _is_accepted(scenario, {key: f"{lower[0]} bit/s"}):
        note = (
            "Only a DCH that the UE keeps, with several transport formats, can change its rate during a run."
        )
        return Control("rate", "Rate down", [], note)
    lower = lower[:: -(-len(lower) // _MAX_RATES)]
    choices = [Choice(f"{number(bps / 1000)} kbit/s", {key: f"{bps} bit/s"}) for bps in lower]
    own = Choice(f"as in the scenario ({number(rates[-1] / 1000)} kbit/s)", {})
    return Control("rate", "Rate down", [own, *choices], "")


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
