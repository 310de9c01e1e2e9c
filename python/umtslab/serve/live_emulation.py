"""The state of a running emulation, as texts and curves of the page."""

from __future__ import annotations

import json
import math
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from umtslab.emulate.live_controls import FAULT
from umtslab.emulate.live_state import VERSION
from umtslab.numbers import NO_NUMBER, number
from umtslab.serve.live_columns import column

_Text = Annotated[str, Field(max_length=2000)]
_Values = Annotated[dict[_Text, bool | int | float | str], Field(max_length=200)]


class _Answer(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)


class Choice(_Answer):
    """A choice of a control: keys of the scenario and their values."""

    label: _Text
    set: _Values


class Control(_Answer):
    """A property of the network that can change during the emulation."""

    name: Annotated[str, Field(pattern=r"^[a-z-]{1,32}$")]
    label: _Text
    choices: Annotated[list[Choice], Field(max_length=50)]
    note: _Text


class About(_Answer):
    """Properties of an emulation that do not change: the answer of ``GET /emulation``."""

    version: Annotated[int, Field(ge=VERSION, le=VERSION)]
    command: _Text
    programs: int
    scenario: _Text
    seed: int
    has_flows: bool
    keeps_flows: bool
    strict: bool
    controls: Annotated[list[Control], Field(max_length=10)]


def state_of(identity: str, about: About, answer: dict[str, Any]) -> dict[str, Any]:
    """Convert the answer of ``GET /emulation/state`` to a `models.LiveEmulation`, without ``silent_s``.

    Raises
    ------
    KeyError, TypeError, ValueError
        If the answer has another form.
    """
    now = answer["now"]
    programs = 0 if about.keeps_flows else about.programs
    content = column(now["state"], programs=programs, has_flows=about.has_flows)
    rtt_s = answer["rtt_s"]
    return {
        "id": identity,
        "command": about.command,
        "scenario": about.scenario,
        "seed": about.seed,
        "time_s": now["time_s"],
        "time": f"{now['time_s']:.1f} s",
        "span_s": 60,
        "programs": about.programs,
        "rtt": NO_NUMBER if rtt_s is None else f"{number(1000 * rtt_s, 3)} ms",
        "fidelity": _fidelity(now, is_strict=about.strict),
        "controls": [_control(control, answer["faults"]) for control in about.controls],
        "faults": [_fault(fault) for fault in answer["faults"] if not fault["name"].startswith(FAULT)],
        "column": content | {"label": "", "command": "", "metrics": []},
    }


def _fidelity(now: dict[str, Any], *, is_strict: bool) -> dict[str, Any]:
    fidelity = now["fidelity"]

    def late(name: str) -> str:
        return f"{number(1000 * fidelity[name], 3)} ms"

    instants, late_instants = fidelity["instants"], fidelity["late_instants"]
    dropped = fidelity["tun_drops"] + now["refused"]
    return {
        "is_degraded": now["degraded"],
        "summary": f"99 % of the instants at most {late('lateness_p99_s')} late",
        "reason": _reason(now, is_strict=is_strict) if now["degraded"] else "",
        "values": [
            {"label": "Instants late by, median", "value": late("lateness_p50_s")},
            {"label": "99th percentile", "value": late("lateness_p99_s")},
            {"label": "Largest", "value": late("lateness_max_s")},
            {
                "label": f"Late by more than a TTI ({number(1000 * fidelity['lateness_limit_s'])} ms)",
                "value": f"{late_instants:,.0f} of {instants:,.0f}",
            },
            {"label": "Packets lost outside the model", "value": f"{dropped:,.0f}"},
            {"label": "Real-time priority", "value": "yes" if fidelity["real_time"] else "no"},
        ],
    }


def _reason(now: dict[str, Any], *, is_strict: bool) -> str:
    """Say why an emulation is degraded, and what follows."""
    fidelity = now["fidelity"]
    if fidelity["devices_lost"]:
        reason = "A device of the network was removed or renamed."
    elif fidelity["tun_drops"] or now["refused"]:
        reason = "Packets were lost outside the model."
    else:
        share = 100 * fidelity["late_instants"] / max(1.0, fidelity["instants"])
        reason = (
            f"{number(share, 2)} % of the instants were late by more than a TTI, and the 99th percentile is "
            f"{number(1000 * fidelity['lateness_p99_s'], 3)} ms. Delays here are longer than in the network."
        )
    return reason + (" The emulation will end with status 125 (--strict)." if is_strict else "")


def _control(control: Control, faults: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a control with the choice in force; None if it is no choice of the page."""
    fault = next((fault for fault in faults if fault["name"] == FAULT + control.name), None)
    values = {} if fault is None else fault["set"]
    chosen = next((i for i, choice in enumerate(control.choices) if choice.set == values), None)
    return {
        "name": control.name,
        "label": control.label,
        "choices": [choice.label for choice in control.choices],
        "chosen": chosen,
        "note": control.note,
    }


def _fault(fault: dict[str, Any]) -> str:
    values = ", ".join(f"{key} = {json.dumps(value)}" for key, value in fault["set"].items())
    since_s = fault["since_s"]
    since = f"{since_s:.1f} s" if math.isfinite(since_s) else "the start"
    return f"{fault['name']}: {values}, since {since}"
