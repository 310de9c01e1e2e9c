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

_MOST_RATES = 12
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
    return [
        _rate(scenario, groups[0]),
        _checked(scenario, "block-errors", "Block errors", _block_errors(groups)),
        _checked(
            scenario, "coverage", "Coverage", [Choice("no coverage (tunnel)", {"radio.cut": True})], "yes"
        ),
    ]


def _rate(scenario: _core.Scenario, group: dict[str, Any]) -> Control:
    """The downlink rate of the command's bearer: the rates of its transport formats."""
    rates, _ = scenario.dch_rates(0)
    bearer = group.get("bearer")
    if not rates or not isinstance(bearer, str):
        note = "The rate can change during a run only on a DCH that the UE keeps."
        return Control("rate", "Rate down", [], note)
    lower = rates[-2::-1]
    lower = lower[:: -(-len(lower) // _MOST_RATES)] if lower else []
    key = f"bearer.{bearer}.downlink.rate"
    choices = [Choice(f"{number(bps / 1000)} kbit/s", {key: f"{bps} bit/s"}) for bps in lower]
    return _checked(scenario, "rate", "Rate down", choices, f"{number(rates[-1] / 1000)} kbit/s")


def _block_errors(groups: list[dict[str, Any]]) -> list[Choice]:
    """Block error rates of both directions: of all users, also of those with a radio of their own."""
    radios = [f"ue.{group['name']}.radio" for group in groups if group.get("radio") is not None]
    if len(radios) < len(groups):
        radios.insert(0, "radio")
    keys = [key for radio in radios for key in (f"{radio}.bler", f"{radio}.uplink.bler")]
    return [Choice(f"{100 * bler:g} %", dict.fromkeys(keys, bler)) for bler in _BLOCK_ERRORS]


def _checked(
    scenario: _core.Scenario, name: str, label: str, choices: list[Choice], configured: str = ""
) -> Control:
    """Return a control, without choices if the scenario accepts none of them."""
    note = "The bearer has no other rate."
    for choice in choices:
        change = f'[{{ time = "0 s", set = {inline_table(choice.set)} }}]'
        try:
            scenario.with_overrides([("at", change)])
        except _core.ScenarioError as error:
            note = f"{error.message[:1].upper()}{error.message[1:]}."
        else:
            own = Choice("as in the scenario" + (f" ({configured})" if configured else ""), {})
            return Control(name, label, [own, *choices], "")
    return Control(name, label, [], note)
