"""Documents with claims that can be reproduced, and the verdicts of the last reproduction.

A document is a paper or thesis; its published numbers are claims. ``umts reproduce --out FOLDER``
measures the claims and writes the verdicts, ``pass`` or ``fail`` for instance, into
``FOLDER/report.json``. This module reads the reports in the store's subfolder ``reproductions``, in
the store's folder, and in the folder ``reproduction`` beside the store.
"""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from umtslab.numbers import number
from umtslab.reproduce.claims import Claim, load_claims, papers
from umtslab.reproduce.errors import BadData, UnknownSelection
from umtslab.reproduce.reproduction import find_data
from umtslab.serve.settings import Settings

_MAX_REPORT_BYTES = 64 * 2**20
_MAX_MEASUREMENTS = 4
"""Maximum number of measurements shown for a claim."""
_NOT_SCORED = "not scored"


def reproduction_rows(settings: Settings) -> list[dict[str, Any]]:
    """Return the documents, with the counts of verdicts if they were reproduced."""
    try:
        root = find_data() / "reproductions"
    except BadData:
        return []
    scored_claims = _scored_claims(settings)
    return [
        {
            "paper": paper,
            "claims": len(_claims(root, paper)),
            "verdicts": _totals(_verdicts(_claims(root, paper), scored_claims[paper]))
            if paper in scored_claims
            else None,
        }
        for paper in papers(root)
    ]


def reproduction(settings: Settings, paper: str) -> dict[str, Any]:
    """Collect the content of `models.ReproductionPage`.

    Raises
    ------
    umtslab.reproduce.errors.UnknownSelection
        If there is no such document.
    """
    root = find_data() / "reproductions"
    if paper not in papers(root):
        raise UnknownSelection("there is no such document")
    scored = _scored_claims(settings).get(paper, {})
    claims = [_claim(claim, scored.get(claim.id)) for claim in _claims(root, paper)]
    return {
        "paper": paper,
        "command": shlex.join(["umts", "reproduce", paper, "--quick", "--out", str(settings.store)]),
        "has_verdicts": bool(scored),
        "is_quick": any(claim.get("quick") for claim in scored.values()),
        "totals": _totals(claim["verdict"] for claim in claims),
        "claims": claims,
    }


@lru_cache(maxsize=16)
def _claims(root: Path, paper: str) -> tuple[Claim, ...]:
    return tuple(load_claims(root, paper))


def _verdicts(claims: Iterable[Claim], scored: dict[str, Any]) -> Iterator[str]:
    for claim in claims:
        yield scored[claim.id]["verdict"] if claim.id in scored else _NOT_SCORED


def _totals(verdicts: Iterable[str]) -> dict[str, int]:
    """Count the verdicts. Claims that are not scored come last."""
    counts = Counter(verdicts)
    not_scored = counts.pop(_NOT_SCORED, 0)
    return dict(counts) | ({_NOT_SCORED: not_scored} if not_scored else {})


def _claim(claim: Claim, scored: dict[str, Any] | None) -> dict[str, Any]:
    """Return the row of a claim. `scored` is its entry in a report, if a report has the claim."""
    ours = scored["ours"] if scored else []
    return {
        "id": claim.id.removeprefix(f"{claim.paper}."),
        "where": claim.where,
        "statement": claim.statement,
        "metric": claim.metric,
        "expected": str(claim.expected),
        "tolerance": "" if claim.tolerance is None else f"± {number(100 * claim.tolerance, 3)} %",
        "confidence": claim.confidence,
        "verdict": scored["verdict"] if scored else _NOT_SCORED,
        "ours": "; ".join(_measurement_text(measurement) for measurement in ours[:_MAX_MEASUREMENTS]),
        "reason": " ".join([scored["detail"], *scored["reasons"]]) if scored else "",
    }


def _measurement_text(measurement: dict[str, Any]) -> str:
    value = measurement.get("words") or number(measurement["mean"])
    return f"{measurement['label']}: {value}" if measurement["label"] else str(value)


def _scored_claims(settings: Settings) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the claims in the reports, with their verdicts: by document, then by the claim's id.

    If several reports have a claim, the report in the first folder takes precedence.
    """
    by_paper: dict[str, dict[str, dict[str, Any]]] = {}
    folders = (settings.store / "reproductions", settings.store, settings.store.parent / "reproduction")
    for folder in folders:
        for chapter in _report(folder / "report.json").get("chapters", []):
            of_paper = by_paper.setdefault(chapter["paper"], {})
            for claim in chapter["claims"]:
                of_paper.setdefault(claim["id"], claim | {"quick": chapter["quick"]})
    return by_paper


def _report(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > _MAX_REPORT_BYTES:
            return {}
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}
