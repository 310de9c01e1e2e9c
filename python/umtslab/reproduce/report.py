"""Output of ``umts reproduce``: pages in Markdown and tables on disk, a line per claim on the screen, JSON.

A chapter is the outcome of one plan: scored claims and figures. With ``--set`` the chapter is also run
with a change, and verdicts that would differ are listed. `html` writes the report as one HTML file.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from umtslab.analyse.statistics import Summary
from umtslab.plot.look import HOUSE, Look
from umtslab.reproduce.compare import show
from umtslab.reproduce.figuredata import FigureData, Row
from umtslab.reproduce.figures import draw, picture_of, pixels_of
from umtslab.reproduce.reproduction import Chapter
from umtslab.reproduce.verdict import Measurement, Scored
from umtslab.reproduce.verdict_kind import LABELS, Verdict

_MAX_MEASUREMENTS = 4
"""Maximum number of measurements in a cell of the page. Of more, the first and the last are shown."""


def write_chapter(chapter: Chapter, out: Path, look: Look = HOUSE) -> list[Path]:
    """Write a chapter's page, and a table and a picture per figure, below `out`.

    Parameters
    ----------
    chapter : Chapter
        The reproduced chapter.
    out : Path
        Folder of all papers.
    look : Look, optional
        Appearance of the pictures.

    Returns
    -------
    list of Path
        The files, the page first.

    Raises
    ------
    OSError
        If the folder cannot be written.
    """
    name = chapter.plan.name if chapter.plan is not None else "without-plan"
    folder = out / chapter.paper / name
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for data in chapter.figures:
        files.append(_write(folder / f"{data.figure.id}.csv", table_of(data).encode()))
        if data.is_drawn:
            pixels = picture_of(data).pixels if look == HOUSE else pixels_of(draw(data, look))
            files.append(_write(folder / f"{data.figure.id}.png", pixels))
    page = _write(folder / "README.md", markdown(chapter).encode())
    return [page, *files]


def _write(path: Path, content: bytes) -> Path:
    from umtslab.atomic_files import atomic_file

    with atomic_file(path) as file:
        file.write(content)
    return path


def table_of(data: FigureData) -> str:
    """Return a figure's numbers as CSV. The column `at` has the name of its quantity.

    For a figure of PDUs or channels, returns the recorded series.
    """
    if data.pdus is not None:
        return data.pdus.write_csv()
    if data.run is not None:
        return data.run.series("rrc_state").write_csv()
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    x = "time_s" if data.figure.kind == "time" else data.figure.x
    writer.writerow(x if name == "at" else name for name in Row.__annotations__)
    writer.writerows(row.values() for row in data.rows())
    return text.getvalue()


# ── The page ────────────────────────────────────────────────────────────────────────────────────────────────


def markdown(chapter: Chapter) -> str:
    """Return the chapter's page in Markdown: verdicts, then figures and tables."""
    lines = [f"# {chapter.title}", "", f"{_totals_text([chapter])}. {chapter.runs} runs.", ""]
    if chapter.change:
        lines += [
            f"The figures also show the chapter with {chapter.change}. These results are not scored.",
            "",
        ]
    if chapter.quick:
        lines += ["Quick: a small grid and few runs. The verdicts are provisional.", ""]
    lines += [
        "Numbers with ± are means and 95 % intervals. *Honest* results use 3GPP's accounting and are "
        "not scored.",
        "",
    ]
    if chapter.change:
        lines += [f"## With {chapter.change}", "", *_change_table(chapter), ""]
    numbered_reasons = reasons(chapter)
    for verdict in (Verdict.FAIL, Verdict.INCONCLUSIVE, Verdict.PASS, *LABELS, Verdict.NOT_YET):
        with_verdict = [scored for scored in chapter.scored if scored.verdict is verdict]
        if with_verdict:
            table = _claim_table(with_verdict, numbered_reasons)
            lines += [f"## {verdict.capitalize()} ({len(with_verdict)})", "", *table, ""]
    if numbered_reasons:
        lines += [
            "## Causes of mismatches",
            "",
            *(f"{number}. {reason}" for number, reason in enumerate(numbered_reasons, 1)),
            "",
        ]
    for data in chapter.figures:
        lines += _figure_section(data)
    return "\n".join(lines)


def _claim_table(scored: Sequence[Scored], numbered_reasons: Sequence[str]) -> Iterable[str]:
    yield "| claim | statement | theirs | tolerance | ours | beside | honest | why |"
    yield "|---|---|---|---|---|---|---|---|"
    for entry in scored:
        claim = entry.claim
        numbers = [f"[{numbered_reasons.index(reason) + 1}]" for reason in scored_reasons(entry)]
        cells = [
            f"`{claim.id.removeprefix(claim.paper + '.')}` ({claim.confidence})",
            f"{claim.statement} ({claim.where})",
            f"{claim.metric}: {claim.expected}",
            "" if claim.tolerance is None else f"{claim.tolerance:.3g}",
            _join_measurements(entry.ours),
            _join_measurements(entry.alternatives),
            ""
            if entry.honest is None
            else f"{entry.honest.verdict}; {_join_measurements(entry.honest.ours)}",
            " ".join(filter(None, [label_reason(entry), entry.detail, *numbers])),
        ]
        yield "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def changed_verdicts(chapter: Chapter) -> list[tuple[Scored, Scored]]:
    """Return pairs for the claims whose verdict differs with the chapter's change.

    The first of a pair is the scored verdict, the second the verdict with the change.
    """
    pairs = zip(chapter.scored, chapter.changed, strict=False)
    return [(scored, changed) for scored, changed in pairs if changed.verdict is not scored.verdict]


def _change_table(chapter: Chapter) -> Iterable[str]:
    pairs = changed_verdicts(chapter)
    yield f"{len(pairs)} of {len(chapter.changed)} verdicts would differ. None of this is scored."
    if not pairs:
        return
    yield ""
    yield "| claim | scored | changed | ours, changed | why |"
    yield "|---|---|---|---|---|"
    for scored, changed in pairs:
        name, why = scored.claim.id.removeprefix(chapter.paper + "."), changed.detail.replace("|", "\\|")
        ours = _join_measurements(changed.ours)
        yield f"| `{name}` | {scored.verdict} | {changed.verdict} | {ours} | {why} |"


def _figure_section(data: FigureData) -> Iterable[str]:
    """Yield the lines of a figure's section in Markdown: the table itself, or a link to the picture."""
    figure = data.figure
    yield f"## {figure.id}: {figure.title}"
    yield ""
    if figure.text:
        yield figure.text.strip()
        yield ""
    if figure.kind == "table":
        yield f"| {figure.x} | curve | accounting | quantity | ours | stated |"
        yield "|---|---|---|---|---|---|"
        rows = list(data.rows())
        for row in rows:
            cells = [row["at"], row["curve"], row["accounting"], row["quantity"], _ours(row), row["stated"]]
            yield "| " + " | ".join("" if cell is None else str(cell) for cell in cells) + " |"
        if not rows:
            yield "Nothing to show."
    elif data.is_drawn:
        yield f"![{figure.title}]({figure.id}.png)"
    yield ""
    yield f"Numbers: [{figure.id}.csv]({figure.id}.csv)."
    if data.gaps:
        yield f"Not shown: {'; '.join(data.gaps)}."
    yield ""


def _ours(row: Row) -> str:
    return show(Summary(row["n"], row["mean"], row["sd"], row["ci95"]))


# ── The screen ──────────────────────────────────────────────────────────────────────────────────────────────


def lines(chapter: Chapter) -> Iterator[str]:
    """Yield a line per claim with a verdict: its id, the document's value and the measured one.

    The report gives the reasons. Lines are not wrapped, so that ids stay whole.
    """
    order = [Verdict.FAIL, Verdict.INCONCLUSIVE, Verdict.PASS, *LABELS]
    scored = [entry for entry in chapter.scored if entry.verdict in order]
    names = {entry.claim.id: _short_id(chapter, entry) for entry in scored}
    width = max(map(len, names.values()), default=0)
    for entry in sorted(scored, key=lambda scored: order.index(scored.verdict)):
        claim = entry.claim
        tolerance = "" if claim.tolerance is None else f" (±{100 * claim.tolerance:g} %)"
        ours = f"; ours {entry.ours[0].shown}" if len(entry.ours) == 1 else ""
        yield f"{entry.verdict:<15}  {names[claim.id]:<{width}}  {claim.expected}{tolerance}{ours}"


def changed_verdict_lines(chapter: Chapter) -> Iterator[str]:
    """Yield a line for each verdict that would differ with the chapter's change."""
    pairs = changed_verdicts(chapter)
    yield f"With {chapter.change} {len(pairs)} of {len(chapter.changed)} verdicts would differ."
    width = max((len(_short_id(chapter, scored)) for scored, _ in pairs), default=0)
    for scored, changed in pairs:
        yield f"  {_short_id(chapter, scored):<{width}}  {scored.verdict} -> {changed.verdict}"


def _short_id(chapter: Chapter, entry: Scored) -> str:
    """Return a claim's id without the chapter's common prefix."""
    prefix = chapter.plan.chapter if chapter.plan is not None else (chapter.paper,)
    return entry.claim.id.removeprefix(".".join(prefix) + ".")


def reasons(chapter: Chapter) -> list[str]:
    """Return the explanations of the chapter's mismatches.

    The page refers to them by number, from 1.
    """
    return list(dict.fromkeys(reason for entry in chapter.scored for reason in scored_reasons(entry)))


def open_reasons(chapter: Chapter) -> list[tuple[str, int]]:
    """Return why claims are not yet scored, and the number of claims, most frequent first."""
    details = Counter(entry.detail for entry in chapter.scored if entry.verdict is Verdict.NOT_YET)
    return details.most_common()


def totals(chapters: Sequence[Chapter]) -> dict[str, int]:
    """Count the claims by verdict."""
    counted = Counter(str(entry.verdict) for chapter in chapters for entry in chapter.scored)
    return {str(verdict): counted[str(verdict)] for verdict in Verdict}


def summary_line(chapters: Sequence[Chapter]) -> str:
    """Return the totals as a sentence."""
    return f"{sum(totals(chapters).values())} claims: {_totals_text(chapters)}"


def _totals_text(chapters: Sequence[Chapter]) -> str:
    return ", ".join(f"{number} {verdict}" for verdict, number in totals(chapters).items())


# ── JSON ────────────────────────────────────────────────────────────────────────────────────────────────────


def to_json(chapters: Sequence[Chapter], files: Sequence[Path], *, version: str) -> dict[str, Any]:
    """Return everything as one object for ``--json``."""
    return {
        "version": version,
        "summary": totals(chapters),
        "chapters": [
            {
                "paper": chapter.paper,
                "plan": None if chapter.plan is None else chapter.plan.name,
                "quick": chapter.quick,
                "change": chapter.change or None,
                "runs": chapter.runs,
                "claims": [_claim_json(entry) for entry in chapter.scored],
                "changed": [_changed_json(entry) for entry in chapter.changed],
                "figures": [data.figure.id for data in chapter.figures],
            }
            for chapter in chapters
        ],
        "files": [str(path) for path in files],
    }


def _claim_json(entry: Scored) -> dict[str, Any]:
    claim = entry.claim
    honest = entry.honest
    return {
        "id": claim.id,
        "where": claim.where,
        "statement": claim.statement,
        "kind": claim.kind,
        "metric": claim.metric,
        "expected": claim.expected,
        "tolerance": claim.tolerance,
        "confidence": claim.confidence,
        "note": claim.note,
        "verdict": str(entry.verdict),
        "detail": entry.detail,
        "label": None
        if claim.label is None
        else {"is": str(claim.label.verdict), "reason": claim.label.reason},
        "reasons": list(scored_reasons(entry)),
        "ours": [_measurement_json(measurement) for measurement in entry.ours],
        "beside": [_measurement_json(measurement) for measurement in entry.alternatives],
        "honest": None
        if honest is None
        else {
            "verdict": str(honest.verdict),
            "detail": honest.detail,
            "ours": [_measurement_json(measurement) for measurement in honest.ours],
        },
    }


def _changed_json(entry: Scored) -> dict[str, Any]:
    ours = [_measurement_json(measurement) for measurement in entry.ours]
    return {"id": entry.claim.id, "verdict": str(entry.verdict), "detail": entry.detail, "ours": ours}


def _measurement_json(measurement: Measurement) -> dict[str, Any]:
    text = {"words": measurement.text} if measurement.text else {}
    return {"label": measurement.label, **measurement.summary.as_dict(), **text}


def _join_measurements(measurements: Sequence[Measurement]) -> str:
    if len(measurements) <= _MAX_MEASUREMENTS:
        return "; ".join(str(measurement) for measurement in measurements)
    return f"{measurements[0]}; … {len(measurements) - 2} more …; {measurements[-1]}"


def scored_reasons(entry: Scored) -> Sequence[str]:
    """Return the written reasons of a mismatch. Beside other verdicts they would mislead."""
    mismatch = entry.verdict in {Verdict.FAIL, Verdict.INCONCLUSIVE}
    return [str(reason) for reason in entry.claim.reasons] if mismatch else ()


def label_reason(entry: Scored) -> str:
    """Return why the verdict is `calibrated` or `by construction`. Empty for any other."""
    label = entry.claim.label
    return label.reason if label is not None and entry.verdict is label.verdict else ""
