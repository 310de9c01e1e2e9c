"""The numbers that a document states and a figure marks beside the measured curves.

Only claims about a single number are marked, not claims about an order, a trend or a bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from umtslab.reproduce.claims import Claim, Value
from umtslab.reproduce.conditions import resolve_conditions
from umtslab.reproduce.errors import Missing
from umtslab.reproduce.figure_curves import point_of_curve
from umtslab.reproduce.figuredata import StatedNumber
from umtslab.reproduce.plan import AVERAGE, Figure, Plan, Point, same, text
from umtslab.reproduce.results import Results


def numbers_at_points(
    plan: Plan, figure: Figure, claims: Sequence[Claim], results: Results
) -> Iterator[StatedNumber]:
    """Yield the numbers that the document states for points of the figure's curves."""
    distinguishing = [name for name in figure.curves if name != figure.x]
    # Values of the dimensions that the figure does not show.
    hidden_values = {
        name: value
        for name, value in point_of_curve(plan, figure, figure.at).items()
        if name != figure.x and name not in distinguishing and value != AVERAGE
    }

    def is_on_curve(case: Point) -> bool:
        has_hidden_values = all(same(case[name], value) for name, value in hidden_values.items())
        return has_hidden_values and all(
            any(same(case[name], value) for value in figure.curves[name]) for name in distinguishing
        )

    for claim in _single_numbers(claims):
        if not _is_about(plan, figure, claim):
            continue
        for case in _all_cases(claim, plan, results):
            if is_on_curve(case):
                label = ", ".join(text(case[name]) for name in distinguishing)
                yield StatedNumber(label, claim.metric, case[figure.x], float(claim.expected))


def _is_about(plan: Plan, figure: Figure, claim: Claim) -> bool:
    """Return whether a claim is about a quantity of the figure, and both or none about means of sets."""
    has_quantity = claim.metric in figure.y and plan.covers(claim)
    return has_quantity and figure.average == plan.is_averaged(claim)


def _all_cases(claim: Claim, plan: Plan, results: Results) -> Iterable[dict[str, Value]]:
    """Return the points about which a claim is. Empty if one of them was not run."""
    try:
        return resolve_conditions(claim, plan, results.points(), results.sets()).cases
    except Missing:
        return ()


def numbers_over_time(figure: Figure, claims: Sequence[Claim]) -> Iterator[StatedNumber]:
    """Yield the numbers of the document that are drawn over a time span (`Figure.marks`).

    A number is drawn for each curve of a TCP version (condition ``tcp``) that its claim names, or, if it
    names none, for a curve with the name of the claim's metric.
    """
    claim_of_id = {claim.id: claim for claim in _single_numbers(claims)}
    curve_values = {text(value) for values in figure.curves.values() for value in values}
    for mark in figure.marks:
        if (claim := claim_of_id.get(mark.claim)) is None:
            continue
        tcp_versions = claim.conditions.get("tcp")
        names = tcp_versions if isinstance(tcp_versions, list) else [tcp_versions or claim.metric]
        for name in names:
            if text(name) in curve_values:
                yield StatedNumber(
                    label=text(name),
                    quantity=claim.metric,
                    x=mark.start_s,
                    y=float(claim.expected),
                    x_end=mark.end_s,
                )


def _single_numbers(claims: Sequence[Claim]) -> list[Claim]:
    """Return the claims about a single number."""
    return [claim for claim in claims if claim.kind == "value" and not isinstance(claim.expected, str)]
