"""Scenarios: the form of a scenario, and a trial whose run is not kept."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from umtslab.serve.models.common import Metric, Model, Name, Part, Word

# ── The form ────────────────────────────────────────────────────────────────────────────────────────


class Choice(Model):
    """One of the values of a key."""

    value: str
    help: str


class Key(Model):
    """A key of a scenario, for a form."""

    # Name, such as "rlc.max_dat", and text for visitors.
    key: str
    label: str
    # Heading under which the form shows the key.
    group: str
    # Shown at first. Other keys are found by a search.
    is_first: bool
    # Text of the value, as in the file. None if the key is not set.
    value: str | None
    # Values at which the slider can stand. Empty: no slider.
    stops: list[str]
    # Values to choose from. Empty if the key accepts other values.
    choices: list[Choice]
    # Words that the key accepts besides numbers, such as "off".
    words: list[str]
    # Unit of `value` as written. Can be empty.
    unit: str
    help: str


class ScenarioForm(Model):
    """A scenario as a form, and the text of the file."""

    name: str
    title: str
    # Publication that the scenario follows. Can be empty.
    source: str
    # Simulated time.
    duration_s: float
    text: str
    keys: list[Key]


# ── A trial: request and result ─────────────────────────────────────────────────────────────────────


class Override(Model):
    """A key with another value."""

    key: Name
    value: Word


class TryRequest(Model):
    """A scenario to run without keeping the run."""

    # Name of a scenario in the served folder.
    scenario: Name
    # Text that replaces the text of the file. None: the file as it is.
    text: Annotated[str, Field(max_length=200_000)] | None = None
    overrides: Annotated[tuple[Override, ...], Field(max_length=200)] = ()


class Mistake(Model):
    """A mistake in a scenario: at a key, or at a line of the text."""

    key: str | None
    # Place in the text of the request. None if the mistake is not in this text.
    line: int | None
    column: int | None
    message: str
    # Value that was probably meant, if it can be guessed.
    repair: str | None


class Acknowledged(Model):
    """Acknowledged data of all connections over time."""

    # Both lists have the same length.
    time_s: list[float]
    kilobytes: list[float]


class Tried(Model):
    """The result of a scenario."""

    title: str
    # Elapsed time of the simulation, in ms.
    took: str
    # Simulated time.
    duration_s: float
    seed: int
    warnings: list[str]
    # The metrics to show, the most important first.
    metrics: list[Metric]
    acknowledged: Acknowledged
    # Instants of the first retransmission timeouts.
    timeouts_s: list[float]
    # Time budget of all connections, and its sum.
    budget: list[Part]
    budget_total: str
    # Shell command for the same run.
    command: str


class TryResult(Model):
    """A result, or the mistakes that prevent it."""

    # Empty exactly if there is a result.
    mistakes: list[Mistake]
    result: Tried | None
