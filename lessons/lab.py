"""Simulations, figures and questions of the lessons.

A question has a function that computes its answer from simulated runs. It compares the answer of
the student with that answer, and returns a verdict: no answer yet, right, or a hint.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import umtslab
from umtslab import plot

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCENARIOS = Path(__file__).resolve().parents[1] / "scenarios"


def load(name: str, **changes: object) -> umtslab.Scenario:
    """Load a shipped scenario. A change is a key with `__` instead of the dots, and its value."""
    overrides = {key.replace("__", "."): str(value) for key, value in changes.items()}
    return umtslab.Scenario.load(SCENARIOS / f"{name}.toml", overrides)


def run(scenario: umtslab.Scenario | str, **changes: object) -> umtslab.Run:
    """Run a scenario once, with time series."""
    loaded = load(scenario, **changes) if isinstance(scenario, str) else scenario
    return umtslab.simulate(loaded, series=True)[0]


def repeat(scenario: umtslab.Scenario | str, runs: int, **changes: object) -> umtslab.Runs:
    """Run a scenario several times, without time series."""
    loaded = load(scenario, **changes) if isinstance(scenario, str) else scenario
    return umtslab.simulate(loaded, runs=runs)


def draw(
    runs: umtslab.Run | dict[str, umtslab.Run], kind: str, from_s: float = 0.0, until_s: float | None = None
) -> Figure:
    """Draw a figure of one run, or of several runs by label."""
    return plot.draw(runs, kind, plot.View(from_s=from_s, until_s=until_s))


def curve(points: Sequence[tuple[float, float | None]], xlabel: str, ylabel: str) -> Figure:
    """Draw points as a line."""
    from matplotlib.figure import Figure as NewFigure

    figure = NewFigure(figsize=(6, 3.2), layout="constrained")
    axes = figure.subplots()
    axes.plot([x for x, _ in points], [math.nan if y is None else y for _, y in points], marker="o")
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    return figure


def mean(runs: umtslab.Runs, metric: str) -> float:
    """Return the mean of a metric over runs. A metric without a value is an error."""
    mean_value = runs.summary()[metric].mean
    if mean_value is None:
        raise ValueError(f"{metric} has no value in these runs")
    return mean_value


def table(results: Mapping[str, umtslab.Runs], metrics: Mapping[str, str]) -> str:
    """Return a Markdown table of means with 95 % intervals.

    Parameters
    ----------
    results : mapping of str to Runs
        The runs of each row of the table, by the label of the row.
    metrics : mapping of str to str
        The metric of each column, with the heading of the column.
    """
    lines = ["| | " + " | ".join(metrics.values()) + " |", "|---" * (len(metrics) + 1) + "|"]
    for label, runs in results.items():
        statistics = [runs.summary()[metric] for metric in metrics]
        cells = (f"{statistic.mean or 0:.4g} ± {statistic.ci95 or 0:.2g}" for statistic in statistics)
        lines.append(f"| {label} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


@dataclass(frozen=True)
class Question:
    """A question about a run.

    Attributes
    ----------
    text : str
        The question.
    answer : callable
        Computes the answer from runs.
    unit : str
        Unit of the answer; empty for counts and words.
    tolerance : float
        Accepted relative difference. With 0 the answer must be exact.
    hint : str
        Shown after a wrong answer.
    """

    text: str
    answer: Callable[[], float | int | str]
    unit: str = ""
    tolerance: float = 0.0
    hint: str = ""

    def verdict(self, given: float | int | str | None) -> Verdict:
        """Compare the answer of a student with the computed one."""
        if given is None:
            unit = f" (a number in {self.unit})" if self.unit else ""
            return Verdict("missing", f"no answer yet{unit}")
        computed = self.answer()
        if isinstance(computed, str) or isinstance(given, str):
            right = str(given).strip().casefold() == str(computed).casefold()
        else:
            right = math.isclose(given, computed, rel_tol=self.tolerance, abs_tol=1e-9)
        if not right:
            return Verdict("wrong", f"{given} is not right. Hint: {self.hint}")
        computed_text = f"{computed:.4g}" if isinstance(computed, float) else computed
        return Verdict("right", f"right: {computed_text} {self.unit}".rstrip())


@dataclass(frozen=True)
class Verdict:
    """The state of an answer: ``missing``, ``wrong`` or ``right``, and a sentence."""

    state: str
    text: str


def check(questions: Sequence[Question], answers: Sequence[float | int | str | None]) -> list[Verdict]:
    """Return the verdict on each answer."""
    return [question.verdict(answer) for question, answer in zip(questions, answers, strict=True)]


def report(questions: Sequence[Question], verdicts: Sequence[Verdict]) -> str:
    """Return questions and verdicts as Markdown."""
    marks = {"missing": "☐", "wrong": "✗", "right": "✓"}
    return "\n\n".join(
        f"**{number}.** {question.text}\n\n{marks[verdict.state]} {verdict.text}"
        for number, (question, verdict) in enumerate(zip(questions, verdicts, strict=True), 1)
    )
