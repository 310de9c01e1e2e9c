"""The addresses of the page. A handler calls the module of a view."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import re
import threading
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any

from fastapi import FastAPI, HTTPException, Request, WebSocket, WebSocketDisconnect
from fastapi.responses import JSONResponse, Response
from pydantic import ValidationError

from umtslab._core import ScenarioError
from umtslab.campaign.errors import CampaignError
from umtslab.campaign.record import load_record
from umtslab.labels import value_label
from umtslab.live_sockets import is_name
from umtslab.page.causes import looks
from umtslab.page.run import connections, content
from umtslab.reproduce.errors import UnknownSelection
from umtslab.run import MissingSeries, Run
from umtslab.serve import experiments, models, scenarios, work
from umtslab.serve.comparable import comparable
from umtslab.serve.emulations import UNWATCHED_S, ControlFailed, Emulations, NoSuchEmulation
from umtslab.serve.files import NoSuchFile, file_in
from umtslab.serve.guard import UPLOAD, Guard, Oversized, TooSlow
from umtslab.serve.home import home
from umtslab.serve.jobs import DRAWING, EXPLAINING, Busy, JobFailed, Jobs, perform, prepare
from umtslab.serve.lanes import lanes
from umtslab.serve.live import NoSuchSession, SessionFailed, Sessions, TooManySessions, state_of
from umtslab.serve.live_player import Start, requests_of
from umtslab.serve.measure import measure
from umtslab.serve.reproductions import reproduction
from umtslab.serve.scenarios import OutsideFolder, SyntaxMistake
from umtslab.serve.search import search
from umtslab.serve.selection import Selection, TooManyItems, rows_in_view, view_csv
from umtslab.serve.settings import Settings
from umtslab.serve.tiles import ConnectionTimeline, NoSuchTile, head
from umtslab.serve.try_it import tried
from umtslab.serve.uploads import TooManyUploads, Uploads
from umtslab.store import OtherLayout, RunNotFound, read_store
from umtslab.store.reader import StoreReader, is_store
from umtslab.version import code_version

PAGE = Path(__file__).with_name("page")
"""The built page. A source tree has it after ``make setup``."""

_KINDS = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".md": "text/plain; charset=utf-8",
}
_VIEWS = ("run", "try", "live", "campaign", "study", "reproduction")
_SEND_S = 10.0
_PAUSE_S = 0.04
"""Least time between two messages to a tab."""

_CHECK_S = 30.0
"""Time between two checks for live sessions without a viewer."""


_NOT_FOUND: tuple[type[Exception], ...] = (
    NoSuchFile,
    NoSuchTile,
    RunNotFound,
    UnknownSelection,
    experiments.UnknownMetric,
    MissingSeries,
    NoSuchSession,
    NoSuchEmulation,
)
_REFUSED: tuple[type[Exception], ...] = (
    OutsideFolder,
    SyntaxMistake,
    TooManyItems,
    CampaignError,
    OtherLayout,
    ScenarioError,
    work.WrongCapture,
)


def create_app(settings: Settings) -> Guard:
    """Return the application behind the guard."""
    return Guard(_api(settings), settings)


def openapi() -> dict[str, Any]:
    """Return the description of the addresses, from which the page's types are generated."""
    schema: dict[str, Any] = _api(Settings(Path("results"), Path("scenarios"), 0)).openapi()
    return schema


class _Tab:
    """A tab that waits for changes: of the jobs, and of the live session that it shows."""

    def __init__(self) -> None:
        self.changed = asyncio.Event()
        self.changed.set()
        self.session: str | None = None
        self.sent = 0
        """Number of the last state of the session that was sent."""
        self.shown = 0
        """Number of the last state that the tab has confirmed."""
        self.has_missed = False
        """Whether something changed while the tab had not confirmed the last state."""

    @property
    def awaits_confirmation(self) -> bool:
        """Whether the tab has not shown the last state yet. It may sleep."""
        return self.shown < self.sent


class _Watchers:
    """Tabs that wait for changes. Each is woken, and then gets the latest state only."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._tabs: set[_Tab] = set()

    def begin(self) -> None:
        self._loop = asyncio.get_running_loop()

    def wake(self, session: str | None = None) -> None:
        """Wake all tabs, or those that show a session. May be called from any thread."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._set, session)

    def _set(self, session: str | None) -> None:
        for tab in self._tabs:
            if session is None or tab.session == session:
                tab.changed.set()

    @contextmanager
    def watching(self) -> Iterator[_Tab]:
        tab = _Tab()
        self._tabs.add(tab)
        try:
            yield tab
        finally:
            self._tabs.discard(tab)


def _api(settings: Settings) -> FastAPI:
    """Create the application with all routes. Each `_add_…` function adds the routes of one area."""
    watchers = _Watchers()
    jobs, uploads, sessions = Jobs(watchers.wake), Uploads(), Sessions(watchers.wake)
    emulations = Emulations(settings.store, watchers.wake)

    async def end_unwatched() -> None:
        while True:
            await asyncio.sleep(_CHECK_S)
            await asyncio.to_thread(sessions.end_unwatched)

    async def look_for_emulations() -> None:
        while True:
            await asyncio.to_thread(emulations.look)
            await asyncio.sleep(UNWATCHED_S)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        watchers.begin()
        prepare()
        checking = [asyncio.create_task(work) for work in (end_unwatched(), look_for_emulations())]
        yield
        for task in checking:
            task.cancel()
        emulations.close()
        await asyncio.to_thread(sessions.close)
        await asyncio.to_thread(jobs.close)
        uploads.close()

    problem: dict[int | str, dict[str, Any]] = {
        status: {"model": models.Problem} for status in (400, 404, 409, 413, 503)
    }
    app = FastAPI(
        title="umtslab",
        version="1",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        responses=problem,
    )
    _add_errors(app)
    _add_store(app, settings)
    _add_scenarios(app, settings, jobs)
    _add_captures(app, settings, uploads)
    _add_experiments(app, settings)
    _add_live(app, settings, jobs, sessions, emulations)
    _add_emulations(app, emulations)
    _add_socket(app, jobs, sessions, emulations, watchers)
    _add_page(app, settings)
    return app


# ── Errors ──────────────────────────────────────────────────────────────────────────────────────────


def _add_errors(app: FastAPI) -> None:
    def answer(status: int) -> Any:
        async def handle(_: Request, error: Exception) -> JSONResponse:
            return JSONResponse({"detail": _sentence(error)}, status)

        return handle

    for kind in _NOT_FOUND:
        app.add_exception_handler(kind, answer(404))
    for kind in _REFUSED:
        app.add_exception_handler(kind, answer(400))
    for failed in (JobFailed, SessionFailed, TooManySessions, ControlFailed):
        app.add_exception_handler(failed, answer(409))
    for busy in (Busy, TooManyUploads):
        app.add_exception_handler(busy, answer(503))


def _sentence(error: Exception) -> str:
    text = str(error)
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")


# ── The store ───────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def _opened(settings: Settings) -> Iterator[StoreReader]:
    """Open the store to read. Damaged runs are left out, as everywhere; Home names them."""
    if not is_store(settings.store):
        raise NoSuchFile(f"there is no store at {settings.store}")
    with read_store(settings.store, lambda damage: None) as store:
        yield store


def _found(store: StoreReader, key: str) -> Run:
    run = store.of_keys([key]).get(key)
    if run is None:
        raise RunNotFound("the store has no run with this key")
    return run


def _add_store(app: FastAPI, settings: Settings) -> None:
    """Add the routes that read the store: runs, their figures, reports and captures."""

    @app.get("/api/about", response_model=models.About)
    def about() -> dict[str, Any]:
        return {
            "version": str(code_version()),
            "store": str(settings.store),
            "has_store": is_store(settings.store),
            "read_only": settings.read_only,
            "allow_code": settings.allow_code,
            "causes": list(looks()),
        }

    @app.get("/api/home", response_model=models.Home)
    def get_home() -> dict[str, Any]:
        return home(settings)

    @app.get("/api/runs/{key}", response_model=models.RunPage)
    def get_run(key: str) -> dict[str, Any]:
        with _opened(settings) as store:
            run = _found(store, key)
            others = store.runs(run.identity.result)
            title = str(store.parameters(run).get("title") or run.scenario)
        same_seed = [other for other in others if other.seed == run.seed]
        code = code_version()
        can_try = run.scenario in scenarios.names(settings.scenarios)
        return content(run, same_seed) | {
            "title": title,
            "others": [{"key": other.key, "run": other.run} for other in same_seed],
            "other_code": None if run.identity.code == code else str(code),
            "can_try": can_try,
            "can_record_timeline": can_try and not run.is_emulated and not settings.read_only,
        }

    @app.get("/api/runs/{key}/connections", response_model=models.Connections)
    def get_connections(key: str) -> dict[str, Any]:
        with _opened(settings) as store:
            return connections(_found(store, key))

    @app.get("/api/runs/{key}/lanes", response_model=models.Lanes | None)
    def get_lanes(key: str, first: int = 0) -> dict[str, Any] | None:
        with _opened(settings) as store:
            return lanes(_found(store, key), max(0, first))

    explanations = _Explanations(settings)

    @app.get("/api/runs/{key}/stalls", response_model=models.Stalls)
    def get_stalls(key: str) -> dict[str, Any]:
        found = explanations.of(key)
        rows = [{name: row[name] for name in models.StallRow.model_fields} for row in found["stalls"]]
        events = [{name: row[name] for name in models.EventRow.model_fields} for row in found["events"]]
        return {**found, "stalls": rows, "events": events}

    @app.get("/api/runs/{key}/chains/{event}", response_model=models.Chain)
    def get_chain(key: str, event: str) -> dict[str, Any]:
        found = explanations.of(key)
        for row in found["stalls"]:
            if row["id"] == event:
                return dict(row["chain"])
        for row in found["events"]:
            if row["id"] == event:
                return dict(row)
        raise NoSuchFile("the run has no such stall, timeout or retransmission")

    timelines = _Timelines(settings)

    @app.get("/api/runs/{key}/timeline/{connection}", response_model=models.TimelineHead)
    def get_timeline(key: str, connection: int) -> dict[str, Any]:
        found = timelines.of(key, _checked(connection))
        return head(found, found.run.connection_rows())

    @app.get("/api/runs/{key}/timeline/{connection}/tiles/{level}/{index}", response_model=models.Tile)
    def get_tile(key: str, connection: int, level: int, index: int) -> Response:
        content = timelines.of(key, _checked(connection)).encoded(level, index)
        # A run does not change.
        return Response(
            content, media_type="application/json", headers={"cache-control": "private, max-age=3600"}
        )

    @app.get("/api/runs/{key}/timeline/{connection}/items/{lane}/{row}", response_model=models.Selection)
    def get_item(key: str, connection: int, lane: str, row: int) -> dict[str, Any]:
        found = Selection(timelines.of(key, _checked(connection)), lane, _checked(row, "row")).as_dict()
        return found | {"chain": explanations.chain_of_packet(key, found["packet"])}

    @app.get("/api/runs/{key}/timeline/{connection}/search", response_model=models.Found)
    def get_found(
        key: str, connection: int, query: str, at_s: float = 0.0, backward: bool = False
    ) -> dict[str, Any]:
        if not 0 <= at_s <= 1e9:
            raise NoSuchTile("there is no such time")
        return search(timelines.of(key, _checked(connection)), query, at_s, backward=backward)

    @app.get("/api/runs/{key}/timeline/{connection}/measure", response_model=models.Measured)
    def get_measured(key: str, connection: int, from_s: float, to_s: float) -> dict[str, Any]:
        _check_view(from_s, to_s)
        return measure(timelines.of(key, _checked(connection)), from_s, to_s)

    @app.get("/api/runs/{key}/comparable", response_model=models.ComparableRuns)
    def get_comparable(key: str) -> dict[str, Any]:
        with _opened(settings) as store:
            return {"runs": comparable(store, _found(store, key))}

    @app.get("/api/runs/{key}/timeline/{connection}/rows", response_model=models.ViewRows)
    def get_rows(key: str, connection: int, from_s: float, to_s: float) -> dict[str, Any]:
        _check_view(from_s, to_s)
        return rows_in_view(timelines.of(key, _checked(connection)), from_s, to_s)

    @app.get("/api/runs/{key}/timeline/{connection}/view.csv", response_class=Response)
    def get_view(key: str, connection: int, from_s: float, to_s: float) -> Response:
        _check_view(from_s, to_s)
        content = view_csv(timelines.of(key, _checked(connection)), from_s, to_s)
        name = {"content-disposition": f'attachment; filename="connection-{connection}.csv"'}
        return Response(content, media_type="text/csv; charset=utf-8", headers=_ALONE | name)

    @app.get("/api/runs/{key}/figures/{name}.svg", response_class=Response)
    def get_figure(key: str, name: str) -> Response:
        _check_key(settings, key)
        drawn = perform(work.figure, settings.store, key, name, limits=DRAWING)
        return Response(drawn, media_type="image/svg+xml", headers=_ALONE)

    @app.get("/api/runs/{key}/report.html", response_class=Response)
    def get_report(key: str) -> Response:
        _check_key(settings, key)
        page = perform(work.run_report, settings.store, key, limits=DRAWING)
        name = {"content-disposition": f'attachment; filename="run-{key[:12]}.html"'}
        return Response(page, media_type="text/html; charset=utf-8", headers=_sandboxed(page) | name)

    @app.get("/api/runs/{key}/captures/{name}", response_class=Response)
    def get_capture(key: str, name: str) -> Response:
        with _opened(settings) as store:
            run = _found(store, key)
        path = file_in(_folder(run) / "captures", name)
        headers = {"content-disposition": f'attachment; filename="{run.scenario[:40]}-{path.name}"'}
        return Response(path.read_bytes(), media_type="application/octet-stream", headers=headers)

    @app.get("/api/runs/{key}/captures/{name}/analysis", response_model=models.Capture)
    def analyse_capture(key: str, name: str) -> Any:
        with _opened(settings) as store:
            run = _found(store, key)
        path = file_in(_folder(run) / "captures", name)
        return perform(work.analysis, path, f"{run.heading}: {path.name}", limits=DRAWING)

    @app.get("/api/runs/{key}/captures/{name}/connections/{number}", response_model=models.Graphs)
    def graph_capture(key: str, name: str, number: int) -> Any:
        with _opened(settings) as store:
            run = _found(store, key)
        return perform(
            work.connection_graphs, file_in(_folder(run) / "captures", name), _checked(number), limits=DRAWING
        )

    @app.get("/api/reports/{name}", response_class=Response)
    def get_stored_report(name: str) -> Response:
        page = file_in(settings.store / "reports", f"{name}.html").read_text(encoding="utf-8")
        return Response(page, media_type="text/html; charset=utf-8", headers=_sandboxed(page))


class _Explanations:
    """Stalls and chains of the runs that were opened last. A separate process explains each run once."""

    _MOST = 4

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._cache: OrderedDict[str, dict[str, Any]] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, key: str) -> dict[str, Any]:
        _check_key(self._settings, key)
        with self._lock:
            if key in self._cache:
                self._cache.move_to_end(key)
                return self._cache[key]
        found: dict[str, Any] | None = perform(work.stalls, self._settings.store, key, limits=EXPLAINING)
        if found is None:
            raise NoSuchFile("this run recorded no timeline")
        with self._lock:
            self._cache[key] = found
            while len(self._cache) > self._MOST:
                self._cache.popitem(last=False)
        return found

    def chain_of_packet(self, key: str, packet: int | None) -> str | None:
        """Return the name of the event that sends or repeats a packet.

        Otherwise it is the first event that has the packet in its chain.
        """
        if packet is None:
            return None
        found = self.of(key)
        chains = [*found["events"], *(stall["chain"] for stall in found["stalls"])]
        for chain in chains:
            identity = chain["links"][0]["identity"] if chain["links"] else {}
            if packet in (identity.get("packet"), identity.get("repeats")):
                return str(chain["id"])
        for chain in chains:
            if any(link["identity"].get("packet") == packet for link in chain["links"]):
                return str(chain["id"])
        return None


class _Timelines:
    """The time lines that were opened last."""

    _MOST = 4

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._cache: OrderedDict[tuple[str, int], ConnectionTimeline] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, key: str, connection: int) -> ConnectionTimeline:
        with self._lock:
            if (key, connection) not in self._cache:
                with _opened(self._settings) as store:
                    run = _found(store, key)
                self._cache[key, connection] = ConnectionTimeline(run, connection)
            self._cache.move_to_end((key, connection))
            while len(self._cache) > self._MOST:
                self._cache.popitem(last=False)
            return self._cache[key, connection]


def _check_view(from_s: float, to_s: float) -> None:
    if not 0 <= from_s < to_s <= 1e9:
        raise NoSuchTile("there is no such time")


def _checked(number: int, what: str = "connection") -> int:
    """Return the number of a connection or row if it can be one."""
    if not 0 <= number < 2**32:
        raise NoSuchFile(f"there is no such {what}")
    return number


def _check_key(settings: Settings, key: str) -> None:
    with _opened(settings) as store:
        _found(store, key)


def _folder(run: Run) -> Path:
    if run.folder is None:
        raise RunNotFound("the run has no folder")
    return run.folder


_ALONE = {"content-security-policy": "default-src 'none'; sandbox"}
"""Policy of a picture, for the case that it is opened as a page."""


def _sandboxed(page: str) -> dict[str, str]:
    """Return the policy of a stored page: no script, no request, only the style sheets in the page.

    A style sheet of a stored page is allowed by a digest.
    """
    sheets = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    digests = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(sheet.encode()).digest()).decode()}'" for sheet in sheets
    )
    style = f"style-src {digests}; " if digests else ""
    policy = f"default-src 'none'; img-src data:; {style}sandbox"
    return {"content-security-policy": policy}


# ── Scenarios ───────────────────────────────────────────────────────────────────────────────────────


def _request(asked: models.TryRequest | models.RunRequest) -> scenarios.Request:
    return scenarios.Request(asked.scenario, asked.text, _pairs(asked.overrides))


def _pairs(overrides: list[models.Override]) -> tuple[tuple[str, str], ...]:
    return tuple((one.key.strip(), one.value) for one in overrides)


def _add_scenarios(app: FastAPI, settings: Settings, jobs: Jobs) -> None:
    """Add the routes for scenario forms, quick trials, and jobs that run scenarios."""

    @app.get("/api/scenarios/{name}", response_model=models.ScenarioForm)
    def get_scenario(name: str) -> Any:
        return perform(work.scenario_form, settings.scenarios, name)

    @app.post("/api/try", response_model=models.TryResult)
    def try_scenario(asked: models.TryRequest) -> Any:
        return perform(tried, settings.scenarios, _request(asked), settings.allow_code)

    @app.post("/api/jobs", response_model=models.JobState)
    def start_run(asked: models.RunRequest) -> dict[str, Any]:
        request = _request(asked)
        scenarios.path_of(settings.scenarios, request.name)
        mistakes = perform(work.check, settings.scenarios, request, settings.allow_code)
        if mistakes:
            raise HTTPException(400, mistakes[0])
        title = f"{asked.scenario}, {asked.runs} {'run' if asked.runs == 1 else 'runs'}"
        kept = work.KeptRuns(asked.runs, 0, None, captures=asked.captures, timeline=False)
        arguments = (settings.store, settings.scenarios, request, kept)
        return _as_model(jobs.start(title, work.keep_runs, *arguments, settings.allow_code))

    @app.post("/api/runs/{key}/timeline", response_model=models.JobState)
    def record_timeline(key: str) -> dict[str, Any]:
        with _opened(settings) as store:
            run = _found(store, key)
        if run.is_emulated:
            raise HTTPException(400, "An emulation cannot be repeated here. Run the command in a terminal.")
        overrides = tuple((name, value_label(value)) for name, value in run.changes)
        request = scenarios.Request(run.scenario, None, overrides)
        scenarios.path_of(settings.scenarios, request.name)
        mistakes = perform(work.check, settings.scenarios, request, settings.allow_code)
        if mistakes:
            raise HTTPException(400, mistakes[0])
        kept = work.KeptRuns(1, run.run, run.seed, captures=False, timeline=True)
        arguments = (settings.store, settings.scenarios, request, kept)
        title = f"{run.scenario}, run {run.run} with a timeline"
        return _as_model(jobs.start(title, work.keep_runs, *arguments, settings.allow_code))

    @app.get("/api/jobs", response_model=models.JobList)
    def get_jobs() -> dict[str, Any]:
        return _job_list(jobs)

    @app.post("/api/jobs/{number}/stop", response_model=models.JobList)
    def stop_job(number: int) -> dict[str, Any]:
        try:
            jobs.stop(number)
        except KeyError:
            raise HTTPException(404, "There is no such job.") from None
        return _job_list(jobs)


def _as_model(found: Any) -> dict[str, Any]:
    return asdict(found)


def _job_list(jobs: Jobs) -> dict[str, Any]:
    return {"jobs": [_as_model(job) for job in jobs.states()]}


# ── Live sessions ───────────────────────────────────────────────────────────────────────────────────


def _add_live(
    app: FastAPI, settings: Settings, jobs: Jobs, sessions: Sessions, emulations: Emulations
) -> None:
    """Add the routes that start, control and end live sessions."""

    @app.get("/api/live", response_model=models.LiveSessions)
    def get_sessions() -> dict[str, Any]:
        return {"sessions": sessions.rows(), "emulations": emulations.rows()}

    @app.post("/api/live", response_model=models.LiveStarted)
    def start_live(asked: models.LiveRequest) -> dict[str, Any]:
        request = _request(asked)
        beside = None if asked.beside is None else _pairs(asked.beside)
        scenarios.path_of(settings.scenarios, request.name)
        for one in requests_of(request, beside):
            mistakes = perform(work.check, settings.scenarios, one, settings.allow_code)
            if mistakes:
                raise HTTPException(400, mistakes[0])
        changes = ", ".join(f"{key} = {value}" for key, value in request.overrides)
        title = f"{asked.scenario}{' with ' if changes else ''}{changes}"
        if beside is not None:
            title += f", beside {', '.join(f'{key} = {value}' for key, value in beside)}"
        arguments = (settings.scenarios, request, beside, settings.allow_code)
        return {"id": sessions.start(lambda identity: Start(identity, *arguments), title)}

    @app.get("/api/live/{identity}", response_model=models.Live | None)
    def get_live(identity: str) -> Any:
        return state_of(sessions.get(identity))

    @app.post("/api/live/{identity}/control", response_model=models.LiveStarted)
    def control_live(identity: str, control: models.LiveControl) -> dict[str, Any]:
        sessions.control(identity, control.order.model_dump())
        return {"id": identity}

    @app.post("/api/live/{identity}/keep", response_model=models.JobList)
    def keep_live(identity: str) -> dict[str, Any]:
        """Make the runs of a session again, and keep them. They are the same to the bit."""
        start = sessions.get(identity).start
        kept = work.KeptRuns(1, 0, None, captures=False, timeline=False)
        for number, request in enumerate(requests_of(start.request, start.beside)):
            title = f"{request.name}, {'the second' if number else 'the'} live run"
            jobs.start(
                title, work.keep_runs, settings.store, settings.scenarios, request, kept, start.allow_code
            )
        return _job_list(jobs)

    @app.post("/api/live/{identity}/end", response_model=models.LiveSessions)
    def end_live(identity: str) -> dict[str, Any]:
        sessions.end(identity)
        return {"sessions": sessions.rows(), "emulations": emulations.rows()}


def _add_emulations(app: FastAPI, emulations: Emulations) -> None:
    """Add the routes that show and control running emulations. They start and end none."""

    @app.get("/api/emulations/{identity}", response_model=models.LiveEmulation | None)
    def get_emulation(identity: str) -> Any:
        return json.loads(emulations.get(identity).latest[1])

    @app.post("/api/emulations/{identity}/control", response_model=models.LiveStarted)
    def control_emulation(identity: str, control: models.EmulationControl) -> dict[str, Any]:
        emulations.control(identity, control.control, control.choice)
        return {"id": identity}


# ── Captures ────────────────────────────────────────────────────────────────────────────────────────


def _add_captures(app: FastAPI, settings: Settings, uploads: Uploads) -> None:
    """Add the routes that receive and analyse uploaded captures."""

    @app.post(UPLOAD, response_model=models.Uploaded)
    async def upload(request: Request, name: str = "capture") -> Any:
        try:
            stored = await uploads.receive(name, request.stream())
        except (Oversized, TooSlow) as error:
            return JSONResponse({"detail": str(error)}, int(error.refusal.status))
        return {"id": stored.id, "name": stored.name}

    def _path(identity: str) -> tuple[Path, str]:
        capture = uploads.get(identity)
        if capture is None:
            raise NoSuchFile("this capture is no longer here: drop the file again")
        return capture.path, capture.name

    @app.get("/api/captures/{identity}", response_model=models.Capture)
    def get_analysis(identity: str) -> Any:
        return perform(work.analysis, *_path(identity), limits=DRAWING)

    @app.get("/api/captures/{identity}/connections/{number}", response_model=models.Graphs)
    def get_graphs(identity: str, number: int) -> Any:
        return perform(work.connection_graphs, _path(identity)[0], _checked(number), limits=DRAWING)


# ── Campaigns, studies, reproductions ───────────────────────────────────────────────────────────────


def _add_experiments(app: FastAPI, settings: Settings) -> None:
    """Add the routes for campaigns, studies and reproductions."""

    @app.get("/api/campaigns/{name}", response_model=models.CampaignPage)
    def get_campaign(name: str, metric: str | None = None, over: str | None = None) -> dict[str, Any]:
        with _opened(settings) as store:
            record = load_record(store, name)
            if record is None:
                raise NoSuchFile("the store has no campaign of this name")
            return experiments.campaign(record, metric, over)

    @app.get("/api/studies/{name}", response_model=models.StudyPage)
    def get_study(name: str) -> dict[str, Any]:
        from umtslab.studies.record import load_study

        with _opened(settings) as store:
            study = load_study(store, name)
            if study is None:
                raise NoSuchFile("the store has no study of this name")
            return experiments.study_page(study, store)

    @app.get("/api/reproductions/{paper}", response_model=models.ReproductionPage)
    def get_reproduction(paper: str) -> dict[str, Any]:
        return reproduction(settings, paper)


# ── The socket and the page ─────────────────────────────────────────────────────────────────────────


def _add_socket(
    app: FastAPI, jobs: Jobs, sessions: Sessions, emulations: Emulations, watchers: _Watchers
) -> None:
    @app.websocket("/api/socket")
    async def socket(channel: WebSocket) -> None:
        await channel.accept()
        with watchers.watching() as tab:
            sending = asyncio.create_task(_send_states(channel, tab, jobs, sessions, emulations))
            try:
                while not sending.done():
                    _receive(await channel.receive_text(), tab, sessions, emulations)
            except (WebSocketDisconnect, RuntimeError):
                pass
            finally:
                if tab.session is not None:
                    sessions.leave(tab.session)
                    emulations.leave(tab.session)
            sending.cancel()
            with suppress(asyncio.CancelledError, TimeoutError, WebSocketDisconnect, RuntimeError, OSError):
                await sending


async def _send_states(
    channel: WebSocket, tab: _Tab, jobs: Jobs, sessions: Sessions, emulations: Emulations
) -> None:
    """Send the latest state after each change, and after the tab has shown the one before."""
    while True:
        await tab.changed.wait()
        tab.changed.clear()
        tab.has_missed = tab.awaits_confirmation
        if tab.awaits_confirmation:
            continue
        await asyncio.wait_for(channel.send_text(_state(tab, jobs, sessions, emulations)), _SEND_S)
        await asyncio.sleep(_PAUSE_S)


def _receive(text: str, tab: _Tab, sessions: Sessions, emulations: Emulations) -> None:
    """Read a message of a tab. Messages that are no `models.Watch` are dropped."""
    try:
        message = models.Watch.model_validate_json(text)
    except ValidationError:
        return
    if message.watch != tab.session:
        for shown in (sessions, emulations):
            if tab.session is not None:
                shown.leave(tab.session)
            if message.watch is not None:
                shown.watch(message.watch)
        tab.session, tab.sent, tab.shown = message.watch, 0, 0
        tab.changed.set()
    tab.shown = max(tab.shown, message.shown)
    if tab.has_missed and not tab.awaits_confirmation:
        tab.changed.set()


def _state(tab: _Tab, jobs: Jobs, sessions: Sessions, emulations: Emulations) -> str:
    """Return a `models.State` as JSON. The state of the session or emulation is text already."""
    content: dict[str, Any] = {
        **_job_list(jobs),
        "sessions": sessions.rows(),
        "emulations": emulations.rows(),
        "live_number": 0,
        "live_problem": None,
    }
    live = emulation = "null"
    if tab.session is not None:
        try:
            if is_name(tab.session):
                content["live_number"], emulation = emulations.get(tab.session).latest
            else:
                content["live_number"], live = sessions.get(tab.session).latest
        except (NoSuchSession, SessionFailed, NoSuchEmulation) as error:
            content["live_problem"] = _sentence(error)
        tab.sent = content["live_number"]
    return f'{json.dumps(content)[:-1]}, "live": {live}, "emulation": {emulation}}}'


@lru_cache(maxsize=64)
def _asset(path: Path, changed_ns: int) -> bytes:
    return path.read_bytes()


def _file(path: Path) -> Response:
    content = _asset(path, path.stat().st_mtime_ns)
    kind = _KINDS.get(path.suffix, "application/octet-stream")
    # The names of the built files change with their content.
    caching = (
        {"cache-control": "private, max-age=31536000, immutable"} if path.suffix in (".js", ".css") else {}
    )
    return Response(content, media_type=kind, headers=caching)


def _add_page(app: FastAPI, settings: Settings) -> None:
    def shell() -> Response:
        try:
            return _file(PAGE / "index.html")
        except OSError:
            text = "The page is not built. In the source tree: make page\n"
            return Response(text, 503, media_type="text/plain; charset=utf-8")

    @app.get("/assets/{name}", include_in_schema=False)
    def asset(name: str) -> Response:
        return _file(file_in(PAGE / "assets", name))

    @app.get("/licences.txt", include_in_schema=False)
    def licences() -> Response:
        return _file(file_in(PAGE, "licences.txt"))

    @app.get("/", include_in_schema=False)
    def first() -> Response:
        return shell()

    @app.get("/captures", include_in_schema=False)
    def captures() -> Response:
        return shell()

    @app.get("/live", include_in_schema=False)
    def live() -> Response:
        return shell()

    for view in _VIEWS:
        app.add_api_route(f"/{view}/{{name:path}}", shell, methods=["GET"], include_in_schema=False)
