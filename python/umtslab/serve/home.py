"""The content of the start page of `umts serve`: results, campaigns, studies, reproductions, scenarios.

A result is one scenario with one set of parameters and one seed; its runs differ in their run numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from umtslab.analyse.statistics import summarise
from umtslab.budget import has_budget
from umtslab.campaign.errors import CampaignError
from umtslab.labels import cause_label, key_label
from umtslab.numbers import number
from umtslab.overrides import changes_text
from umtslab.page.run import parts
from umtslab.run import Run
from umtslab.serve import scenarios
from umtslab.serve.experiments import study_row
from umtslab.serve.files import stems
from umtslab.serve.reproductions import reproduction_rows
from umtslab.serve.settings import Settings
from umtslab.store import read_store
from umtslab.store.reader import StoreReader, is_store

_MAX_RESULTS = 200
"""Maximum number of listed results: the newest ones."""

_NOT_A_WAIT = frozenset(
    {"serialisation", "propagation", "application_idle", "sender_idle", "not_visible", "unexplained"}
)
"""Causes of the time budget that are no waits, or explain nothing."""


def home(settings: Settings) -> dict[str, Any]:
    """Collect the content of `models.Home`."""
    content: dict[str, Any] = {"runs": [], "results": 0, "campaigns": [], "studies": [], "damage": []}
    if is_store(settings.store):
        damage: list[str] = []
        with read_store(settings.store, lambda damaged: damage.append(str(damaged))) as store:
            results = _results(store)
            content["runs"] = [_run_row(store, runs) for runs in results[:_MAX_RESULTS]]
            content["results"] = len(results)
            content["campaigns"] = list(_campaigns(store))
            content["studies"] = list(_studies(store))
        content["damage"] = damage
    return content | {
        "reproductions": reproduction_rows(settings),
        "scenarios": list(_scenarios(settings.scenarios)),
        "reports": [{"name": name} for name in stems(settings.store / "reports", ".html")],
    }


def _results(store: StoreReader) -> list[list[Run]]:
    """Group the runs of the store by result, newest result first."""
    by_result: dict[tuple[str, int], list[Run]] = {}
    for run in store.runs():
        by_result.setdefault((run.identity.result, run.seed), []).append(run)
    return sorted(by_result.values(), key=lambda runs: store.made_at(runs[-1]) or "", reverse=True)


def _run_row(store: StoreReader, runs: list[Run]) -> dict[str, Any]:
    """Describe the runs of one result, with the means of their main metrics."""
    first = runs[0]
    means = {name: summarise(run.metrics.get(name) for run in runs).mean for name in first.metrics}
    budget = parts(means) if has_budget(first.metrics) else []
    waits = [part for part in budget if part["cause"] not in _NOT_A_WAIT]
    parameters = store.parameters(first)
    return {
        "key": first.key,
        "scenario": first.scenario,
        "title": str(parameters.get("title", "")),
        "made_at": store.made_at(runs[-1]),
        "varied": changes_text(first.changes).removeprefix("with "),
        "runs": len(runs),
        "simulated": number(first.duration_s, 6),
        "goodput": number(means.get("goodput_kbps")),
        "mean_rtt": number(means.get("mean_rtt_s")),
        "timeouts": number(means.get("rto_count")),
        "budget": budget,
        "longest_wait": f"{cause_label(str(waits[0]['cause']))}, {waits[0]['share_text']} %"
        if waits
        else None,
        "is_emulated": first.is_emulated,
    }


def _campaigns(store: StoreReader) -> Iterator[dict[str, Any]]:
    for content in store.campaigns():
        points = content["points"]
        yield {
            "name": content["name"],
            "title": content["title"] or "",
            "points": len(points),
            "runs": sum(len(point["runs"]) for point in points),
            "varied": ", ".join(key_label(key) for key in content["axes"]),
        }


def _studies(store: StoreReader) -> Iterator[dict[str, Any]]:
    from umtslab.studies.record import load_study, recorded_studies

    for name in recorded_studies(store.path):
        try:
            study = load_study(store, name)
        except CampaignError as error:
            yield {"name": name, "title": "", "method": "", "result": str(error)}
        else:
            if study is not None:
                yield study_row(study)


def _scenarios(folder: Path) -> Iterator[dict[str, Any]]:
    for name in scenarios.names(folder):
        yield {"name": name, "title": _title(folder / f"{name}.toml")}


def _title(path: Path) -> str:
    """Return the title of a scenario file, without checking the rest of the file."""
    try:
        return _read_title(path, path.stat().st_mtime_ns)
    except (OSError, ValueError):
        return ""


@lru_cache(maxsize=1024)
def _read_title(path: Path, changed_ns: int) -> str:
    """Return the title. `changed_ns`, the time of the last change, makes a changed file a new entry."""
    import tomllib

    return str(tomllib.loads(path.read_text(encoding="utf-8")).get("title", ""))
