"""Selects the claims and plans that the arguments of ``umts reproduce`` name.

An argument names a document, or a place in it: a chapter, figure, table or section, as in
``dubois2005/ch6`` or ``dubois2005/fig6.2``. A claim belongs to the places that are part of its id.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from umtslab.reproduce.claims import Claim, load_claims, papers
from umtslab.reproduce.errors import UnknownSelection
from umtslab.reproduce.plan import Figure, Plan, Sweep
from umtslab.reproduce.plan_file import plans


@dataclass(frozen=True)
class Part:
    """A part of one document, with the plans that concern it.

    `places` are the words after the document's name (``ch6``, ``fig6_2``). Empty stands for the
    whole document.
    """

    paper: str
    places: tuple[str, ...]
    claims: tuple[Claim, ...]
    plans: tuple[Plan, ...]

    def claims_of(self, plan: Plan) -> list[Claim]:
        """Return the claims that a plan covers."""
        return [claim for claim in self.claims if plan.covers(claim)]

    def open_claims(self) -> list[Claim]:
        """Return the claims that no plan covers yet."""
        return [claim for claim in self.claims if not any(plan.covers(claim) for plan in self.plans)]

    def places_inside(self, plan: Plan) -> set[str]:
        """Return the selected places inside the plan. An empty set stands for the whole plan."""
        return {place for place in self.places if place not in plan.chapter}

    def sweeps(self, plan: Plan) -> list[Sweep]:
        """Return the plan's sweeps that feed the part, or all if no sweep names the place."""
        places = self.places_inside(plan)
        feeding = [sweep for sweep in plan.sweeps if places & set(sweep.feeds)]
        return feeding or list(plan.sweeps)

    def figures(self, plan: Plan) -> list[Figure]:
        """Return the plan's figures and tables in the part."""
        places = self.places_inside(plan)
        return [figure for figure in plan.figures if not places or figure.id in places]


def select(root: Path, selections: Sequence[str]) -> list[Part]:
    """Read the selected parts. An empty selection selects everything.

    Parameters
    ----------
    root : Path
        The folder ``reproductions``.
    selections : sequence of str
        ``PAPER``, ``PAPER/ch6``, ``PAPER/fig6_2``, ``PAPER/ch6/fig6_2``. ``fig6.2`` stands for
        ``fig6_2``.

    Raises
    ------
    UnknownSelection
        If a document or place does not exist. The message lists the existing ones.
    """
    return [_part(root, selection) for selection in (selections or papers(root))]


def _part(root: Path, selection: str) -> Part:
    paper, *places = [word for word in selection.strip("/").split("/") if word]
    places = [place.lower().replace(".", "_") for place in places]
    claims = load_claims(root, paper)
    all_plans = plans(root, paper)
    selected_claims = [claim for claim in claims if set(places) <= set(claim.places)]
    figures = {figure.id for plan in all_plans for figure in plan.figures}
    # A figure may have no claims of its own.
    if not selected_claims and not (places and set(places) & figures):
        known = sorted({place for claim in claims for place in claim.places} | figures)
        raise UnknownSelection(f"{paper} has no claims about {'/'.join(places)!r}; it has {', '.join(known)}")
    needed_plans = [
        plan
        for plan in all_plans
        if any(plan.covers(claim) for claim in selected_claims) or _has_figure(plan, places)
    ]
    return Part(paper, tuple(places), tuple(selected_claims), tuple(needed_plans))


def _has_figure(plan: Plan, places: Sequence[str]) -> bool:
    return any(figure.id in places for figure in plan.figures)
