"""The report as one self-contained HTML file that includes its figures."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from umtslab.analyse.statistics import Summary
from umtslab.page import render
from umtslab.reproduce.claims import Claim
from umtslab.reproduce.compare import show
from umtslab.reproduce.figuredata import FigureData, Row
from umtslab.reproduce.figures import picture_of
from umtslab.reproduce.plan import Plan, text
from umtslab.reproduce.report import changed_verdicts, label_reason, scored_reasons, table_of, totals
from umtslab.reproduce.reproduction import Chapter
from umtslab.reproduce.verdict import Measurement, Scored
from umtslab.reproduce.verdict_kind import LABELS, Verdict

_LARGEST_TABLE = 200_000
"""Maximum size in bytes of a table inside the page. Larger tables are separate files."""

ORDER = (Verdict.FAIL, Verdict.INCONCLUSIVE, Verdict.PASS, *LABELS, Verdict.NOT_YET)


@dataclass(frozen=True)
class Section:
    """A section of the report: a figure or table with the claims about it, or claims about the text."""

    anchor: str
    title: str
    text: str
    picture: str
    table: str
    """Data URL with all numbers as CSV. Empty if the table is too large."""
    file: str
    rows: Sequence[Mapping[str, Any]]
    x: str
    gaps: Sequence[str]
    claims: Sequence[Mapping[str, Any]]


def html(chapters: Sequence[Chapter], *, version: str) -> str:
    """Return the whole report.

    Parameters
    ----------
    chapters : sequence of Chapter
        The reproduced chapters.
    version : str
        Version of the program.
    """
    papers = list(dict.fromkeys(chapter.paper for chapter in chapters))
    return render(
        "reproduction.html",
        version=version,
        quick=any(chapter.quick for chapter in chapters),
        verdicts=[str(verdict) for verdict in ORDER],
        total=totals(chapters),
        papers=[_paper(name, [chapter for chapter in chapters if chapter.paper == name]) for name in papers],
    )


def _paper(name: str, chapters: Sequence[Chapter]) -> dict[str, Any]:
    counts = totals(chapters)
    return {
        "name": name,
        "totals": counts,
        "claims": sum(counts.values()),
        "runs": sum(chapter.runs for chapter in chapters),
        "chapters": [_chapter(chapter) for chapter in chapters if chapter.plan is not None],
        "open": [_claim(scored) for chapter in chapters if chapter.plan is None for scored in chapter.scored],
    }


def _chapter(chapter: Chapter) -> dict[str, Any]:
    assert chapter.plan is not None, "chapters without a plan are listed separately"
    counts = totals([chapter])
    return {
        "anchor": f"{chapter.paper}-{chapter.plan.name}",
        "title": chapter.title,
        "runs": chapter.runs,
        "totals": counts,
        "claims": sum(counts.values()),
        "change": chapter.change,
        "changed": len(chapter.changed),
        "turned": [
            (scored.claim.id, str(scored.verdict), _claim(changed))
            for scored, changed in changed_verdicts(chapter)
        ],
        "subset": _subset(chapter.plan) if chapter.quick else [],
        "sections": list(_sections(chapter)),
        "pictures": chapter.pictures,
    }


def _subset(plan: Plan) -> list[str]:
    """Describe the differences between a quick run and the full plan."""
    descriptions = [f"{plan.quick_runs} runs of each point instead of {plan.runs}"]
    descriptions += [f"{name} = {value}" for name, value in plan.quick_settings.items()]
    for sweep in plan.sweeps:
        for name, values in sweep.quick.items():
            label = plan.dimensions[name].label
            grid_size = f" (of {len(sweep.grid[name])})" if name in sweep.grid else ""
            descriptions.append(
                f"{sweep.name}: {label} {', '.join(text(value) for value in values)}{grid_size}"
            )
    return descriptions


def _sections(chapter: Chapter) -> Iterable[Section]:
    """Yield figures with their claims, then claims about the text by section."""
    figure_ids = {data.figure.id for data in chapter.figures}
    for data in chapter.figures:
        claims_of_section = [scored for scored in chapter.scored if data.figure.id in scored.claim.places]
        rows = [_row(row) for row in data.rows()] if data.figure.kind != "time" else []
        yield Section(
            anchor=f"{chapter.paper}-{data.figure.id}",
            title=f"{_place(data.figure.id)}: {data.figure.title}",
            text=data.figure.text.strip(),
            picture=_picture(data),
            table=_table(data),
            file=f"{data.figure.id}.csv",
            rows=rows,
            x=data.x_label,
            gaps=data.gaps,
            claims=_sorted(claims_of_section),
        )
    places: dict[str, list[Scored]] = {}
    for scored in chapter.scored:
        if not figure_ids & set(scored.claim.places):
            places.setdefault(scored.claim.places[-1] if scored.claim.places else "", []).append(scored)
    for place, claims_of_section in places.items():
        yield Section(
            anchor=f"{chapter.paper}-{place}",
            title=_place(place),
            text="",
            picture="",
            table="",
            file="",
            rows=(),
            x="",
            gaps=(),
            claims=_sorted(claims_of_section),
        )


def _sorted(scored: Sequence[Scored]) -> list[dict[str, Any]]:
    return [_claim(entry) for entry in sorted(scored, key=lambda entry: ORDER.index(entry.verdict))]


def _claim(scored: Scored) -> dict[str, Any]:
    claim, honest = scored.claim, scored.honest
    return {
        "id": claim.id,
        "where": claim.where,
        "statement": claim.statement,
        "confidence": claim.confidence,
        "kind": claim.kind,
        "metric": claim.metric,
        "expected": claim.expected,
        "tolerance": "" if claim.tolerance is None else f"(tolerance ± {100 * claim.tolerance:.3g} %)",
        "conditions": _conditions(claim),
        "note": claim.note,
        "verdict": str(scored.verdict),
        "detail": scored.detail,
        "label": label_reason(scored),
        "reasons": scored_reasons(scored),
        "ours": [_measurement(measurement) for measurement in scored.ours],
        "beside": [_measurement(measurement) for measurement in scored.alternatives],
        "honest": None
        if honest is None
        else {
            "verdict": str(honest.verdict),
            "detail": honest.detail,
            "ours": [_measurement(measurement) for measurement in honest.ours],
        },
    }


def _conditions(claim: Claim) -> str:
    descriptions = []
    for name, value in claim.conditions.items():
        values = value if isinstance(value, list) else [value]
        descriptions.append(f"{name} {', '.join(map(str, values))}")
    return "; ".join(descriptions)


def _measurement(measurement: Measurement) -> dict[str, Any]:
    return {"label": measurement.label, "value": measurement.shown, "n": measurement.summary.n}


def _row(row: Row) -> dict[str, Any]:
    """Format a point of a figure, with its deviation from the document's number."""
    mean, stated = row["mean"], row["stated"]
    deviation_pct = 100 * (mean / stated - 1) if mean is not None and stated else None
    return {
        "curve": row["curve"],
        "accounting": row["accounting"],
        "at": text(row["at"]),
        "quantity": row["quantity"],
        "n": row["n"],
        "ours": show(Summary(row["n"], mean, row["sd"], row["ci95"])),
        "stated": "" if stated is None else f"{stated:.4g}",
        "off": "" if deviation_pct is None else f"{deviation_pct:+.1f} %",
    }


def _picture(data: FigureData) -> str:
    """Return the figure as a data URL. Empty for a table."""
    return picture_of(data).address if data.is_drawn else ""


def _table(data: FigureData) -> str:
    content = table_of(data).encode()
    if len(content) > _LARGEST_TABLE:
        return ""
    return f"data:text/csv;base64,{base64.b64encode(content).decode('ascii')}"


def _place(place: str) -> str:
    """Return the title of a place: ``fig6_1`` is ``Figure 6.1``."""
    for prefix, name in (("fig", "Figure"), ("tab", "Table"), ("sec", "Section")):
        if place.startswith(prefix) and place[len(prefix) :][:1].isdigit():
            return f"{name} {place[len(prefix) :].replace('_', '.')}"
    return place or "General"
