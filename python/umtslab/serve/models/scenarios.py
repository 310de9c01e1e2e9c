"""Scenarios: the form, and a trial whose run is not kept."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from umtslab.serve.models.common import Metric, Model, Name, Part, Word


class Choice(Model):
    """One of the values of a key."""

    value: str
    help: str


class Key(Model):
    """A key of a scenario, for a form."""

    key: str
    label: str
    group: str
    # Shown at first. Other keys are found by a search.
    is_first: bool
    value: str | None
    # Values at which the slider can stand. Empty: no slider.
    stops: list[str]
    # Values to choose from. Empty if the key accepts other values.
    choices: list[Choice]
    # Words that the key accepts besides numbers, such as "off".
    words: list[str]
    unit: str
    help: str


class ScenarioForm(Model):
    """A scenario as a form, and the text of the file."""

    name: str
    title: str
    source: str
    duration_s: float
    text: str
    keys: list[Key]


class Override(Model):
    """A key with another value."""

    key: Name
    value: Word


class TryRequest(Model):
    """A scenario to run without keeping the run."""

    scenario: Name
    text: Annotated[str, Field(max_length=200_000)] | None = None
    overrides: Annotated[tuple[Override, ...], Field(max_length=200)] = ()


class Mistake(Model):
    """A mistake in a scenario: at a key, or at a line of the text."""

    key: str | None
    line: int | None
    column: int | None
    message: str
    repair: str | None


class Acknowledged(Model):
    """Acknowledged data of all connections over time."""

    time_s: list[float]
    kilobytes: list[float]


class Tried(Model):
    """The result of a scenario."""

    title: str
    took: str
    duration_s: float
    seed: int
    warnings: list[str]
    metrics: list[Metric]
    acknowledged: Acknowledged
    timeouts_s: list[float]
    budget: list[Part]
    budget_total: str
    command: str


class TryResult(Model):
    """A result, or the mistakes that prevent it."""

    mistakes: list[Mistake]
    result: Tried | None
