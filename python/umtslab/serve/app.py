"""The application of ``umts serve``: all addresses of the page, behind the guard.

The routes of each area are in a module of `umtslab.serve.routes`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI

from umtslab.serve.emulations import UNWATCHED_S, Emulations
from umtslab.serve.guard import Guard
from umtslab.serve.jobs import Jobs, prepare
from umtslab.serve.live import Sessions
from umtslab.serve.models.common import Problem
from umtslab.serve.routes.captures import add_capture_routes
from umtslab.serve.routes.emulations import add_emulation_routes
from umtslab.serve.routes.errors import add_error_answers
from umtslab.serve.routes.experiments import add_experiment_routes
from umtslab.serve.routes.live import add_live_routes
from umtslab.serve.routes.page import add_page_routes
from umtslab.serve.routes.scenarios import add_scenario_routes
from umtslab.serve.routes.socket import Tabs, add_socket
from umtslab.serve.routes.store import add_store_routes
from umtslab.serve.routes.timeline import add_timeline_routes
from umtslab.serve.settings import Settings
from umtslab.serve.uploads import Uploads

_CHECK_INTERVAL_S = 30.0
"""Time between two checks for live sessions without a viewer."""

_PROBLEM_STATUSES = (400, 404, 409, 413, 503)
"""HTTP statuses of which the answer is a `Problem`."""


def create_app(settings: Settings) -> Guard:
    """Return the application behind the guard."""
    return Guard(_api(settings), settings)


def openapi() -> dict[str, Any]:
    """Return the description of the addresses, from which the page's types are generated."""
    # The description does not depend on the settings.
    any_settings = Settings(Path("results"), Path("scenarios"), 0)
    schema: dict[str, Any] = _api(any_settings).openapi()
    return schema


def _api(settings: Settings) -> FastAPI:
    """Create the application with all routes. Jobs and live sessions end with the application."""
    tabs = Tabs()
    jobs, uploads, sessions = Jobs(tabs.wake), Uploads(), Sessions(tabs.wake)
    emulations = Emulations(settings.store, tabs.wake)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        tabs.begin()
        prepare()
        checking = [
            asyncio.create_task(work) for work in (_end_unwatched(sessions), _look_for_emulations(emulations))
        ]
        yield
        for task in checking:
            task.cancel()
        emulations.close()
        await asyncio.to_thread(sessions.close)
        await asyncio.to_thread(jobs.close)
        uploads.close()

    app = FastAPI(
        title="umtslab",
        version="1",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        responses={status: {"model": Problem} for status in _PROBLEM_STATUSES},
    )
    add_error_answers(app)
    add_store_routes(app, settings)
    add_timeline_routes(app, settings)
    add_scenario_routes(app, settings, jobs)
    add_capture_routes(app, uploads)
    add_experiment_routes(app, settings)
    add_live_routes(app, settings, jobs, sessions, emulations)
    add_emulation_routes(app, emulations)
    add_socket(app, jobs, sessions, emulations, tabs)
    add_page_routes(app)
    return app


async def _end_unwatched(sessions: Sessions) -> None:
    """End the live sessions without a viewer from time to time. Runs until it is cancelled."""
    while True:
        await asyncio.sleep(_CHECK_INTERVAL_S)
        await asyncio.to_thread(sessions.end_unwatched)


async def _look_for_emulations(emulations: Emulations) -> None:
    """Look for running emulations from time to time. Runs until it is cancelled."""
    while True:
        await asyncio.to_thread(emulations.find_new)
        await asyncio.sleep(UNWATCHED_S)
