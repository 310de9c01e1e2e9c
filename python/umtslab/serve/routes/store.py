"""Routes of the store's overview and of single runs: metrics, figures, reports and captures."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.responses import Response

from umtslab.page.causes import looks
from umtslab.page.run import connections, content
from umtslab.serve import scenarios, work
from umtslab.serve.comparable import comparable
from umtslab.serve.files import file_in
from umtslab.serve.home import home
from umtslab.serve.jobs import DRAWING, perform
from umtslab.serve.lanes import lanes
from umtslab.serve.models.about import About
from umtslab.serve.models.captures import Capture, Graphs, Ladder
from umtslab.serve.models.home import Home
from umtslab.serve.models.lanes import Lanes
from umtslab.serve.models.run import Connections, RunPage
from umtslab.serve.models.timeline import ComparableRuns
from umtslab.serve.routes.ladder import ladder_figure, ladder_page, ladder_table
from umtslab.serve.routes.stored import (
    INERT_POLICY,
    capture_path,
    checked_number,
    download_as,
    opened_store,
    page_policy,
    run_of,
    stored_run,
)
from umtslab.serve.settings import Settings
from umtslab.store.reader import is_store
from umtslab.version import code_version


def add_store_routes(app: FastAPI, settings: Settings) -> None:
    """Add the routes of the store and of its runs, except time lines."""
    _add_overview(app, settings)
    _add_runs(app, settings)
    _add_figures_and_reports(app, settings)
    _add_captures_of_runs(app, settings)


def _add_overview(app: FastAPI, settings: Settings) -> None:
    @app.get("/api/about", response_model=About)
    def about() -> dict[str, Any]:
        return {
            "version": str(code_version()),
            "store": str(settings.store),
            "has_store": is_store(settings.store),
            "read_only": settings.read_only,
            "allow_code": settings.allow_code,
            "causes": list(looks()),
        }

    @app.get("/api/home", response_model=Home)
    def get_home() -> dict[str, Any]:
        return home(settings)


def _add_runs(app: FastAPI, settings: Settings) -> None:
    @app.get("/api/runs/{key}", response_model=RunPage)
    def get_run(key: str) -> dict[str, Any]:
        with opened_store(settings) as store:
            run = run_of(store, key)
            same_result = store.runs(run.identity.result)
            title = str(store.parameters(run).get("title") or run.scenario)
        replications = [other for other in same_result if other.seed == run.seed]
        code = code_version()
        can_try = run.scenario in scenarios.names(settings.scenarios)
        return content(run, replications) | {
            "title": title,
            "others": [{"key": other.key, "run": other.run} for other in replications],
            "other_code": None if run.identity.code == code else str(code),
            "can_try": can_try,
            "can_record_timeline": can_try and not run.is_emulated and not settings.read_only,
        }

    @app.get("/api/runs/{key}/connections", response_model=Connections)
    def get_connections(key: str) -> dict[str, Any]:
        with opened_store(settings) as store:
            return connections(run_of(store, key))

    @app.get("/api/runs/{key}/lanes", response_model=Lanes | None)
    def get_lanes(key: str, first: int = 0) -> dict[str, Any] | None:
        with opened_store(settings) as store:
            return lanes(run_of(store, key), max(0, first))

    @app.get("/api/runs/{key}/comparable", response_model=ComparableRuns)
    def get_comparable(key: str) -> dict[str, Any]:
        with opened_store(settings) as store:
            return {"runs": comparable(store, run_of(store, key))}


def _add_figures_and_reports(app: FastAPI, settings: Settings) -> None:
    @app.get("/api/runs/{key}/figures/{name}.svg", response_class=Response)
    def get_figure(key: str, name: str) -> Response:
        stored_run(settings, key)
        drawn = perform(work.figure, settings.store, key, name, limits=DRAWING)
        return Response(drawn, media_type="image/svg+xml", headers=INERT_POLICY)

    @app.get("/api/runs/{key}/report.html", response_class=Response)
    def get_report(key: str) -> Response:
        stored_run(settings, key)
        page = perform(work.run_report, settings.store, key, limits=DRAWING)
        headers = page_policy(page) | download_as(f"run-{key[:12]}.html")
        return Response(page, media_type="text/html; charset=utf-8", headers=headers)

    @app.get("/api/reports/{name}", response_class=Response)
    def get_stored_report(name: str) -> Response:
        page = file_in(settings.store / "reports", f"{name}.html").read_text("utf-8", errors="replace")
        return Response(page, media_type="text/html; charset=utf-8", headers=page_policy(page))


def _add_captures_of_runs(app: FastAPI, settings: Settings) -> None:
    @app.get("/api/runs/{key}/captures/{name}", response_class=Response)
    def get_capture(key: str, name: str) -> Response:
        run = stored_run(settings, key)
        path = capture_path(run, name)
        headers = download_as(f"{run.scenario[:40]}-{path.name}")
        return Response(path.read_bytes(), media_type="application/octet-stream", headers=headers)

    @app.get("/api/runs/{key}/captures/{name}/analysis", response_model=Capture)
    def analyse_capture(key: str, name: str) -> Any:
        run = stored_run(settings, key)
        path = capture_path(run, name)
        return perform(work.analysis, path, f"{run.heading}: {path.name}", limits=DRAWING)

    @app.get("/api/runs/{key}/captures/{name}/connections/{number}", response_model=Graphs)
    def graph_capture(key: str, name: str, number: int) -> Any:
        path = capture_path(stored_run(settings, key), name)
        return perform(work.connection_graphs, path, checked_number(number), limits=DRAWING)

    address = "/api/runs/{key}/captures/{name}/connections/{number}/ladder"

    @app.get(address, response_model=Ladder)
    def get_ladder(key: str, name: str, number: int, first: int = 1, from_s: float | None = None) -> Any:
        path = capture_path(stored_run(settings, key), name)
        return ladder_page(path, str(path), number, first, from_s)

    @app.get(f"{address}.csv", response_class=Response)
    def get_ladder_csv(key: str, name: str, number: int) -> Response:
        return ladder_table(capture_path(stored_run(settings, key), name), number)

    @app.get(f"{address}.svg", response_class=Response)
    def get_ladder_svg(key: str, name: str, number: int, first: int = 1) -> Response:
        return ladder_figure(capture_path(stored_run(settings, key), name), number, first)
