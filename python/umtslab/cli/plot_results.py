"""Results named on the command line of ``umts plot``: campaigns, a study or runs; errors for other names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from umtslab.cli.failures import UsageError
from umtslab.cli.plot_kinds import BUDGET, RUN_KINDS, STUDY_KINDS

if TYPE_CHECKING:
    from umtslab.campaign.record import Record
    from umtslab.run import Run
    from umtslab.studies.optimise import Outcome
    from umtslab.studies.sensitivity import Findings

_MAX_NAMED = 6
"""Maximum number of names of each kind that an error lists."""


@dataclass
class NamedResults:
    """Results by the argument that names each. Only one of the three mappings is filled."""

    campaigns: dict[str, Record] = field(default_factory=dict)
    studies: dict[str, Outcome | Findings] = field(default_factory=dict)
    runs: dict[str, list[Run]] = field(default_factory=dict)


def find_results(arguments: Sequence[str], kind: str, out: Path) -> NamedResults:
    """Look up each argument in the results folder `out`, or as a folder.

    Raises
    ------
    UsageError
        If an argument names nothing, or no figure shows these results together.
    umtslab.store.reader.RunNotFound
        If an argument is ambiguous.
    """
    from umtslab.cli.campaigns import find_campaign
    from umtslab.cli.results import find_runs
    from umtslab.cli.studies import find_study
    from umtslab.store.reader import NoSuchName

    named = NamedResults()
    for argument in dict.fromkeys(arguments):
        if (record := find_campaign(argument, out)) is not None:
            named.campaigns[argument] = record
        elif (study := find_study(argument, out)) is not None:
            named.studies[argument] = study
        else:
            try:
                named.runs[argument] = find_runs(argument, out)
            except NoSuchName:
                raise UsageError(_not_found_text(argument, arguments, kind, out)) from None
    _refuse_mixture(named)
    return named


def _refuse_mixture(named: NamedResults) -> None:
    """Raise an error if the arguments name results of different kinds, or several studies."""
    kinds = [
        f"{next(iter(arguments))} {kind}"
        for arguments, kind in (
            (named.campaigns, "is a campaign"),
            (named.studies, "is a study"),
            (named.runs, "contains runs"),
        )
        if arguments
    ]
    if len(kinds) > 1:
        raise UsageError(f"{' and '.join(kinds)}: draw them separately")
    if len(named.studies) > 1:
        raise UsageError(f"a figure shows one study, not {len(named.studies)}: {', '.join(named.studies)}")


def _not_found_text(argument: str, arguments: Sequence[str], kind: str, out: Path) -> str:
    """Return the error text for an argument that names no result, with the most specific cause."""
    from umtslab.metrics import units
    from umtslab.store.reader import is_store

    results = [
        other for other in arguments if other != argument and other not in _KINDS and other not in units()
    ]
    command = f"umts plot {' '.join(results) or 'RESULT'}"
    if argument in _KINDS and kind in _KINDS:
        return f"a figure has one kind: draw {argument} and {kind} separately, {command} {argument}"
    if argument in units() and kind in units():
        return f"a figure shows one metric: draw {argument} and {kind} separately, {command} {argument}"
    if argument in _KINDS or argument in units():
        noun = "kind of figure" if argument in _KINDS else "metric"
        return f"{argument} is a {noun}, which comes last and alone: {command} {argument}"
    if not is_store(out):
        text = f"{argument} is neither a run folder nor a results folder"
        text += f", and the results folder {out} to look it up in does not exist"
        if kind in _KINDS or kind in units():
            return text
        return f"{text}; {kind} is not a kind of figure either: {', '.join(RUN_KINDS)}"
    if "/" in argument:
        return f"there is no results folder or run folder {argument}; {_contents(out)}"
    campaigns, _, _ = _names(out)
    if kind in units() or (kind == BUDGET and campaigns):
        hint = f"it has {_listed('campaign', campaigns)}" if campaigns else "`umts sweep` creates campaigns"
        return f"{out} has no campaign {argument!r}; {hint}"
    return f"{out} has no run, result, scenario, campaign or study {argument!r}; {_contents(out)}"


_KINDS = {*RUN_KINDS, *STUDY_KINDS}


def _contents(out: Path) -> str:
    """Return the names in a results folder that can be drawn, as the second half of a sentence."""
    campaigns, studies, scenarios = _names(out)
    parts = [
        _listed(noun, names)
        for noun, names in (("campaign", campaigns), ("study", studies), ("scenario", scenarios))
        if names
    ]
    return f"{out} has {' and '.join(parts)}" if parts else f"{out} has no runs"


def _names(out: Path) -> tuple[list[str], list[str], list[str]]:
    """Return the names of the campaigns, studies and scenarios in a results folder."""
    from umtslab.campaign.record import recorded
    from umtslab.cli.results import read_results
    from umtslab.studies.record import recorded_studies

    with read_results(out) as store:
        scenarios = store.scenarios()
    return recorded(out), recorded_studies(out), scenarios


def _listed(noun: str, names: Sequence[str]) -> str:
    """Return names after the noun for their kind, as in ``campaigns a, b``, at most `_MAX_NAMED`."""
    plural = {"study": "studies"}.get(noun, f"{noun}s")
    more = " …" if len(names) > _MAX_NAMED else ""
    return f"{noun if len(names) == 1 else plural} {', '.join(names[:_MAX_NAMED])}{more}"
