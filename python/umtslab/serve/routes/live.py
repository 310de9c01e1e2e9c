"""Routes that start, control and end live sessions. The states of a session go over the socket."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fastapi import FastAPI

from umtslab.serve import work
from umtslab.serve.emulations import Emulations
from umtslab.serve.jobs import Jobs
from umtslab.serve.live import Sessions, state_of
from umtslab.serve.live_player import Start, requests_of
from umtslab.serve.models import live as models
from umtslab.serve.models.jobs import JobList
from umtslab.serve.routes.scenarios import check_scenario, job_list, pairs_of, request_of
from umtslab.serve.settings import Settings


def add_live_routes(
    app: FastAPI, settings: Settings, jobs: Jobs, sessions: Sessions, emulations: Emulations
) -> None:
    """Add the routes of live sessions."""

    @app.get("/api/live", response_model=models.LiveSessions)
    def get_sessions() -> dict[str, Any]:
        return {"sessions": sessions.rows(), "emulations": emulations.rows()}

    @app.post("/api/live", response_model=models.LiveStarted)
    def start_live(asked: models.LiveRequest) -> dict[str, Any]:
        request = request_of(asked)
        beside = None if asked.beside is None else pairs_of(asked.beside)
        for shown in requests_of(request, beside):
            check_scenario(settings, shown)
        changes = _changes_text(request.overrides)
        title = f"{asked.scenario}{' with ' if changes else ''}{changes}"
        if beside is not None:
            title += f", beside {_changes_text(beside)}"
        arguments = (settings.scenarios, request, beside, settings.allow_code)
        return {"id": sessions.start(lambda identity: Start(identity, *arguments), title)}

    @app.get("/api/live/{identity}", response_model=models.Live | None)
    def get_live(identity: str) -> Any:
        return state_of(sessions.get(identity))

    @app.post("/api/live/{identity}/control", response_model=models.LiveStarted)
    def control_live(identity: str, control: models.LiveControl) -> dict[str, Any]:
        sessions.control(identity, control.order.model_dump())
        return {"id": identity}

    @app.post("/api/live/{identity}/keep", response_model=JobList)
    def keep_live(identity: str) -> dict[str, Any]:
        """Make the runs of a session again, and keep them. They are the same to the bit."""
        start = sessions.get(identity).start
        kept = work.KeptRuns(1, 0, None, captures=False, timeline=False)
        for number, request in enumerate(requests_of(start.request, start.beside)):
            title = f"{request.name}, {'the second' if number else 'the'} live run"
            jobs.start(
                title, work.keep_runs, settings.store, settings.scenarios, request, kept, start.allow_code
            )
        return job_list(jobs)

    @app.post("/api/live/{identity}/end", response_model=models.LiveSessions)
    def end_live(identity: str) -> dict[str, Any]:
        sessions.end(identity)
        return {"sessions": sessions.rows(), "emulations": emulations.rows()}


def _changes_text(overrides: Iterable[tuple[str, str]]) -> str:
    return ", ".join(f"{key} = {value}" for key, value in overrides)
