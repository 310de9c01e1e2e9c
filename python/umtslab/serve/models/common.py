"""Parts that the requests and answers of several views share."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

# Limits on texts of requests: a name of a scenario or key, and a value of a key.
Name = Annotated[str, Field(min_length=1, max_length=200)]
Word = Annotated[str, Field(max_length=4000)]


class Model(BaseModel):
    """A model without unknown members."""

    model_config = ConfigDict(extra="forbid")


class Problem(Model):
    """Why a request failed, in one sentence."""

    detail: str


class Part(Model):
    """One cause of a time budget."""

    # Name of the cause, and its text for visitors.
    cause: str
    label: str
    seconds: float
    text: str
    # Share in the budget's sum.
    share_pct: float
    share_text: str


class Metric(Model):
    """A metric with the value as text."""

    name: str
    label: str
    # Unit of the value. Empty for counts and ratios.
    unit: str
    value: float | None
    # The value without unit.
    text: str


class Column(Model):
    """Heading of a column of metrics."""

    name: str
    label: str
    unit: str


class Curve(Model):
    """Values over time."""

    # Both lists have the same length.
    time_s: list[float]
    value: list[float]
