"""Routes of the time line of a run: stalls with their causes, and the lanes of one connection."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any

from fastapi import FastAPI
from fastapi.responses import Response

from umtslab.serve import work
from umtslab.serve.files import NoSuchFile
from umtslab.serve.jobs import EXPLAINING, perform
from umtslab.serve.measure import measure
from umtslab.serve.models.stalls import Chain, EventRow, StallRow, Stalls
from umtslab.serve.models.timeline import Found, Measured, Tile, TimelineHead, ViewRows
from umtslab.serve.models.timeline import Selection as SelectionModel
from umtslab.serve.routes.stored import INERT_POLICY, checked_number, download_as, stored_run
from umtslab.serve.search import search
from umtslab.serve.selection import Selection, rows_in_view, view_csv
from umtslab.serve.settings import Settings
from umtslab.serve.tiles import ConnectionTimeline, NoSuchTile, head

_MAX_CACHED = 4
"""Maximum number of explained runs, and of time lines, in memory."""

_MAX_TIME_S = 1e9
"""Maximum instant in a request, in seconds: longer than any run."""


def add_timeline_routes(app: FastAPI, settings: Settings) -> None:
    """Add the routes of stalls and of time lines."""
    explanations, timelines = _Explanations(settings), _Timelines(settings)
    _add_stalls(app, explanations)
    _add_tiles(app, timelines)
    _add_items(app, timelines, explanations)
    _add_views(app, timelines)


def _add_stalls(app: FastAPI, explanations: _Explanations) -> None:
    @app.get("/api/runs/{key}/stalls", response_model=Stalls)
    def get_stalls(key: str) -> dict[str, Any]:
        explained = explanations.of(key)
        rows = [{name: row[name] for name in StallRow.model_fields} for row in explained["stalls"]]
        events = [{name: row[name] for name in EventRow.model_fields} for row in explained["events"]]
        return {**explained, "stalls": rows, "events": events}

    @app.get("/api/runs/{key}/chains/{event}", response_model=Chain)
    def get_chain(key: str, event: str) -> dict[str, Any]:
        explained = explanations.of(key)
        for row in explained["stalls"]:
            if row["id"] == event:
                return dict(row["chain"])
        for row in explained["events"]:
            if row["id"] == event:
                return dict(row)
        raise NoSuchFile("the run has no such stall, timeout or retransmission")


def _add_tiles(app: FastAPI, timelines: _Timelines) -> None:
    @app.get("/api/runs/{key}/timeline/{connection}", response_model=TimelineHead)
    def get_timeline(key: str, connection: int) -> dict[str, Any]:
        timeline = timelines.of(key, connection)
        return head(timeline, timeline.run.connection_rows())

    @app.get("/api/runs/{key}/timeline/{connection}/tiles/{level}/{index}", response_model=Tile)
    def get_tile(key: str, connection: int, level: int, index: int) -> Response:
        content = timelines.of(key, connection).encoded(level, index)
        # A run does not change.
        return Response(
            content, media_type="application/json", headers={"cache-control": "private, max-age=3600"}
        )


def _add_items(app: FastAPI, timelines: _Timelines, explanations: _Explanations) -> None:
    """Add the routes that select an item or search for one."""

    @app.get("/api/runs/{key}/timeline/{connection}/items/{lane}/{row}", response_model=SelectionModel)
    def get_item(key: str, connection: int, lane: str, row: int) -> dict[str, Any]:
        item = Selection(timelines.of(key, connection), lane, checked_number(row, "row")).as_dict()
        return item | {"chain": explanations.chain_of_packet(key, item["packet"])}

    @app.get("/api/runs/{key}/timeline/{connection}/search", response_model=Found)
    def get_found(
        key: str, connection: int, query: str, at_s: float = 0.0, backward: bool = False
    ) -> dict[str, Any]:
        if not 0 <= at_s <= _MAX_TIME_S:
            raise NoSuchTile("there is no such time")
        return search(timelines.of(key, connection), query, at_s, backward=backward)


def _add_views(app: FastAPI, timelines: _Timelines) -> None:
    """Add the routes about the time between two instants."""

    @app.get("/api/runs/{key}/timeline/{connection}/measure", response_model=Measured)
    def get_measured(key: str, connection: int, from_s: float, to_s: float) -> dict[str, Any]:
        _check_view(from_s, to_s)
        return measure(timelines.of(key, connection), from_s, to_s)

    @app.get("/api/runs/{key}/timeline/{connection}/rows", response_model=ViewRows)
    def get_rows(key: str, connection: int, from_s: float, to_s: float) -> dict[str, Any]:
        _check_view(from_s, to_s)
        return rows_in_view(timelines.of(key, connection), from_s, to_s)

    @app.get("/api/runs/{key}/timeline/{connection}/view.csv", response_class=Response)
    def get_view(key: str, connection: int, from_s: float, to_s: float) -> Response:
        _check_view(from_s, to_s)
        content = view_csv(timelines.of(key, connection), from_s, to_s)
        headers = INERT_POLICY | download_as(f"connection-{connection}.csv")
        return Response(content, media_type="text/csv; charset=utf-8", headers=headers)


def _check_view(from_s: float, to_s: float) -> None:
    if not 0 <= from_s < to_s <= _MAX_TIME_S:
        raise NoSuchTile("there is no such time")


# ── Caches ──────────────────────────────────────────────────────────────────────────────────────────


class _Explanations:
    """Stalls and chains of the runs that were opened last. A separate process explains each run once."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._cache: OrderedDict[str, dict[str, Any]] = OrderedDict()
        """Results of `work.stalls` by key of the run, the least recently used first."""
        self._lock = threading.Lock()

    def of(self, key: str) -> dict[str, Any]:
        """Return the result of `work.stalls` for a run: `models.Stalls`, with the chain of each stall.

        Raises
        ------
        NoSuchFile
            If the run recorded no time line.
        """
        stored_run(self._settings, key)
        with self._lock:
            if key in self._cache:
                self._cache.move_to_end(key)
                return self._cache[key]
        # Without the lock: this takes up to minutes, and requests for other runs need not wait.
        explained: dict[str, Any] | None = perform(work.stalls, self._settings.store, key, limits=EXPLAINING)
        if explained is None:
            raise NoSuchFile("this run recorded no timeline")
        with self._lock:
            self._cache[key] = explained
            while len(self._cache) > _MAX_CACHED:
                self._cache.popitem(last=False)
        return explained

    def chain_of_packet(self, key: str, packet: int | None) -> str | None:
        """Return the `id` of the chain that a packet belongs to.

        Chains whose effect is the packet take precedence: the effect of a retransmission has the packet that
        is sent, and the earlier packet that it repeats. Otherwise it is the first chain with a link that has
        the packet. None if there is no such chain, or `packet` is None.
        """
        if packet is None:
            return None
        explained = self.of(key)
        chains = [*explained["events"], *(stall["chain"] for stall in explained["stalls"])]
        for chain in chains:
            effect = chain["links"][0]["identity"] if chain["links"] else {}
            if packet in (effect.get("packet"), effect.get("repeats")):
                return str(chain["id"])
        for chain in chains:
            if any(link["identity"].get("packet") == packet for link in chain["links"]):
                return str(chain["id"])
        return None


class _Timelines:
    """The time lines that were opened last."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._cache: OrderedDict[tuple[str, int], ConnectionTimeline] = OrderedDict()
        """Time lines by key of the run and number of the connection, the least recently used first."""
        self._lock = threading.Lock()

    def of(self, key: str, connection: int) -> ConnectionTimeline:
        """Return the time line of a connection of a run."""
        checked_number(connection)
        with self._lock:
            if (key, connection) not in self._cache:
                run = stored_run(self._settings, key)
                self._cache[key, connection] = ConnectionTimeline(run, connection)
            self._cache.move_to_end((key, connection))
            while len(self._cache) > _MAX_CACHED:
                self._cache.popitem(last=False)
            return self._cache[key, connection]
