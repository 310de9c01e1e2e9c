"""Faults of a running emulation: a list with names, and the log of all orders."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from umtslab import _core
from umtslab.faults import Fault, FaultError, Value

MAX_FAULTS = 100
"""Maximum number of faults at a time."""

_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")

_PREFIX = "at.0.set."
"""Path of the keys of a fault in messages about the scenario."""


@dataclass(frozen=True)
class Order:
    """An executed order about a fault."""

    at_ns: int
    """Time of the emulation in nanoseconds."""
    action: str
    """``added``, ``changed`` or ``removed``."""
    name: str
    set: Mapping[str, Value] | None = None
    """The keys that the fault sets; None for a removal."""

    def recorded(self) -> dict[str, Any]:
        """The order in ``emulation.json``."""
        return {"at_ns": self.at_ns, "action": self.action, "name": self.name, "set": self.set}


class ActiveFaults:
    """The faults of an emulation. Its methods may be called from any thread."""

    def __init__(self, scenario: _core.Scenario) -> None:
        self.control = _core.FaultControl()
        self._scenario = scenario
        # Held while an order waits for the emulation. Reading does not wait: the tuple is replaced.
        self._changes = threading.Lock()
        self._active: tuple[Fault, ...] = ()
        self._log: tuple[Order, ...] = ()

    def list(self) -> tuple[Fault, ...]:
        """The faults in force, in the order in which they were added."""
        return self._active

    def log(self) -> tuple[Order, ...]:
        """All orders, by time."""
        return self._log

    def get(self, name: str) -> Fault:
        """Return a fault by its name."""
        for fault in self._active:
            if fault.name == name:
                return fault
        raise _unknown(name, self._active)

    def add(self, name: object, values: object) -> Fault:
        """Add a fault."""
        checked = checked_name(name)
        table = inline_table(values)
        with self._changes:
            if any(fault.name == checked for fault in self._active):
                raise FaultError(
                    HTTPStatus.CONFLICT,
                    f"there is a fault `{checked}` already",
                    help=f"change it with POST /faults/{checked}, or choose another name",
                )
            if len(self._active) >= MAX_FAULTS:
                raise FaultError(
                    HTTPStatus.CONFLICT, f"{MAX_FAULTS} faults are in force", help="remove one first"
                )
            fault = self._set("added", checked, values, table)
            self._active = (*self._active, fault)
            return fault

    def change(self, name: str, values: object) -> Fault:
        """Replace the values of a fault."""
        table = inline_table(values)
        with self._changes:
            self.get(name)
            changed = self._set("changed", name, values, table)
            self._active = tuple(changed if fault.name == name else fault for fault in self._active)
            return changed

    def remove(self, name: str) -> None:
        """Remove a fault."""
        with self._changes:
            self.get(name)
            self._remove(name)

    def reset(self) -> None:
        """Remove all faults, the last one first."""
        with self._changes:
            for fault in reversed(self._active):
                self._remove(fault.name)

    def _set(self, action: str, name: str, values: Any, table: str) -> Fault:
        try:
            at_ns = self.control.set(self._scenario, name, table)
        except _core.ScenarioError as error:
            raise _invalid(error) from error
        except RuntimeError as error:
            raise _ended(error) from error
        self._log = (*self._log, Order(at_ns, action, name, values))
        return Fault(name, values, at_ns / 1e9)

    def _remove(self, name: str) -> None:
        try:
            at_ns = self.control.remove(name)
        except RuntimeError as error:
            raise _ended(error) from error
        self._active = tuple(fault for fault in self._active if fault.name != name)
        self._log = (*self._log, Order(at_ns, "removed", name))


def recorded_orders(card: Mapping[str, Any]) -> list[tuple[int, str, str | None]]:
    """The orders in ``emulation.json`` for a replay: time in nanoseconds, name, values in TOML."""
    return [
        (order["at_ns"], order["name"], None if order["set"] is None else inline_table(order["set"]))
        for order in card.get("faults", [])
    ]


def checked_name(name: object) -> str:
    """Return a valid name of a fault."""
    if isinstance(name, str) and _NAME.fullmatch(name):
        return name
    message = "`name` is missing" if name is None else f"{json.dumps(name)[:80]} is not a name"
    raise FaultError(
        HTTPStatus.BAD_REQUEST,
        message,
        "name",
        "write 1 to 64 letters, digits, dots, hyphens or underscores, as in tunnel-1",
    )


def inline_table(values: object) -> str:
    """Return keys and values of a fault as an inline table of TOML."""
    example = 'write for example {"radio.bler": 0.1, "link.0.delay": "150 ms"}'
    if not isinstance(values, dict) or not values:
        message = "`set` is missing" if values is None else "`set` is not an object with keys of the scenario"
        raise FaultError(HTTPStatus.BAD_REQUEST, message, "set", example)
    return f"{{ {', '.join(f'{_text(key)} = {_value(key, value)}' for key, value in values.items())} }}"


def _value(key: str, value: object) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    raise FaultError(
        HTTPStatus.BAD_REQUEST, "the value is not a truth value, a number or a text", key, "write one value"
    )


def _text(text: str) -> str:
    if not text.isprintable():
        raise FaultError(
            HTTPStatus.BAD_REQUEST,
            f"{json.dumps(text)[:80]} has unprintable characters",
            "set",
            "remove them",
        )
    # The escapes of JSON are also escapes of TOML, and printable characters need no others.
    return json.dumps(text, ensure_ascii=False)


def _unknown(name: str, active: tuple[Fault, ...]) -> FaultError:
    names = ", ".join(fault.name for fault in active)
    help = f"in force: {names}" if names else "no fault is in force; POST /faults adds one"
    return FaultError(HTTPStatus.NOT_FOUND, f"there is no fault `{name}`", help=help)


def _invalid(error: _core.ScenarioError) -> FaultError:
    """The answer to values that the scenario does not accept."""
    key = (error.key or "set").removeprefix(_PREFIX)
    return FaultError(HTTPStatus.BAD_REQUEST, error.message, key, error.help)


def _ended(error: RuntimeError) -> FaultError:
    return FaultError(HTTPStatus.SERVICE_UNAVAILABLE, str(error), help="start the emulation again")
