"""Emulated points of a plan: the kernel's TCP transfers files in real time, as with `umts emulate`."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from queue import SimpleQueue
from typing import TYPE_CHECKING

from umtslab.emulate.session import Session
from umtslab.emulate.tcp import settings
from umtslab.quantity import quantity
from umtslab.reproduce.errors import BadData, EmulationFailed
from umtslab.run import Identity, Run

if TYPE_CHECKING:
    from umtslab.scenario import Scenario
    from umtslab.store import Store

MAX_CONCURRENT = 4
"""Number of simultaneous emulations.

Each one is idle most of the time, but needs about 1 s of CPU time to start.
"""

ATTEMPTS = 3
"""Maximum number of emulations of one download. The first that kept real time is used."""

NEVER = "999999 h"
"""Start time of the simulated flow that the program replaces."""

PRESET = "preset"
"""Key in a plan's kernel settings for a preset of ``umts emulate --tcp``."""


@dataclass(frozen=True)
class Download:
    """An emulated transfer of a file."""

    scenario: Scenario
    session: Session
    identity: Identity


@dataclass(frozen=True)
class _Programs:
    """Programs that transfer the files of a scenario instead of its flow."""

    receive: tuple[str, ...]
    send: tuple[str, ...]
    overrides: tuple[tuple[str, str], ...]
    """Overrides of the scenario: its flow never starts, and it lasts as long as the programs."""


def download(
    scenario: Scenario, kernel: Mapping[str, str], seed: int, store: Store, *, series: bool = False
) -> Download:
    """Return the emulation in which programs with the kernel's TCP replace the first user's flow.

    The flow downloads one file, or files of one size with pauses (``ftp_sessions``) from
    ``measure.from`` to the end of the scenario. In the latter case the flows of all other users are
    simulated beside the programs.

    Raises
    ------
    BadData
        If the scenario's first user has other flows, or the settings are wrong.
    """
    from umtslab.emulate.results import identity
    from umtslab.scenario import Scenario as Parsed

    programs = _programs(scenario)
    changes = [f"{name}={value}" for name, value in kernel.items() if name != PRESET]
    try:
        tcp = settings(kernel.get(PRESET), changes)
    except ValueError as error:
        raise BadData(f"{scenario.name}: {error}") from error
    network = scenario.with_overrides(list(programs.overrides))
    transfer = (sys.executable, "-m", "umtslab.emulate.transfer")
    session = Session(
        scenario=network.to_toml(),
        base_dir=os.path.abspath(network.base_dir or "."),
        seed=seed,
        command=(*transfer, *programs.receive),
        servers=(" ".join((*transfer, *programs.send)),),
        tcp=tcp,
        store=os.path.abspath(store.path),
        series=series,
        meter=False,
        are_prompt=True,
    )
    # The emulator parses the scenario in the same way.
    parsed = Parsed.parse(session.scenario, base_dir=session.base_dir)
    return Download(scenario, session, identity(session, parsed, 0))


def _programs(scenario: Scenario) -> _Programs:
    """Return the programs that replace the first flow of a scenario, and the overrides for them."""
    content = json.loads(scenario.to_json())
    flows = content.get("flow", [])
    endless = ("duration", "1000000 h")
    if len(flows) == 1 and flows[0]["traffic"] == "file" and flows[0]["direction"] == "downlink":
        size = str(_octets(flows[0]["size"]))
        return _Programs(("receive", size), ("send", size), (("flow.0.start", NEVER), endless))
    sessions = flows[0].get("ftp_sessions", {}) if flows else {}
    is_of_one_size = "file_min" in sessions and sessions["file_min"] == sessions.get("file_max")
    is_of_first_user = bool(flows) and flows[0]["ue"] == content["ue"][0]["name"]
    others = {flow["ue"] for flow in flows[1:]}
    if not (is_of_one_size and is_of_first_user) or flows[0]["ue"] in others:
        raise BadData(
            f"{scenario.name}: only downloads of one size by the first UE can be emulated: one file, "
            "or ftp_sessions with equal file_min and file_max"
        )
    size = str(_octets(sessions["file_min"]))
    begin_s = _seconds(content["measure"]["from"])
    times = (begin_s, scenario.duration_s, _seconds(sessions["reading_time"]))
    receive = ("sessions", size, *(f"{time_s:g}" for time_s in times))
    return _Programs(receive, ("serve", size), (endless,))


def emulate_missing(downloads: Sequence[Download], store: Store) -> Iterator[tuple[str, Run]]:
    """Yield each download's key and run, from the store or after its emulation.

    An emulation that did not keep real time is repeated, up to `ATTEMPTS` in all. The last one is
    used as it is.

    Raises
    ------
    EmulationFailed
        If an emulation fails, or is missing from the store afterwards. The others are kept.
    """
    missing = []
    for requested in downloads:
        run = _finished_run(requested, store)
        if run is None:
            missing.append(requested)
        else:
            yield requested.identity.key, run
    # Not `concurrent.futures.wait`, for the reason in `umtslab.simulation._as_finished`: Ctrl-C.
    finished: SimpleQueue[Future[Download]] = SimpleQueue()
    with ThreadPoolExecutor(MAX_CONCURRENT) as pool:

        def submit(requested: Download) -> None:
            pool.submit(_emulate, requested).add_done_callback(finished.put)

        attempts: Counter[str] = Counter()
        try:
            for requested in missing:
                submit(requested)
            pending = len(missing)
            while pending:
                requested = finished.get().result()
                attempts[requested.identity.key] += 1
                run = _finished_run(requested, store)
                if run is None and attempts[requested.identity.key] >= ATTEMPTS:
                    # The runs were stored under other keys, for example because the code changed.
                    raise EmulationFailed(
                        f"{requested.scenario.name}: emulated {ATTEMPTS} times, and no run is stored; "
                        "check whether the package was rebuilt in the meantime"
                    )
                if run is None:
                    submit(requested)
                else:
                    pending -= 1
                    yield requested.identity.key, run
        finally:
            pool.shutdown(cancel_futures=True)


def _finished_run(requested: Download, store: Store) -> Run | None:
    """Return the first run that kept real time, or the last attempt.

    None while attempts are left.
    """
    for number in range(ATTEMPTS):
        run = store.get(replace(requested.identity, run=number))
        if run is None or run.folder is None:
            return None
        card = json.loads((run.folder / "emulation.json").read_text(encoding="utf-8"))
        if not card["degraded"]:
            return run
    print(
        f"umts: {requested.scenario.name}: degraded in all {ATTEMPTS} attempts; the last run is used",
        file=sys.stderr,
    )
    return run


def _emulate(requested: Download) -> Download:
    from umtslab.emulate.command import start

    status = start(requested.session).wait()
    if status != 0:
        raise EmulationFailed(f"{requested.scenario.name}: the emulated download ended with status {status}")
    return requested


def missing_requirement() -> str | None:
    """Describe what this user lacks for an emulation, with advice. None if nothing is missing."""
    from umtslab.emulate import machine

    for component, answer, advice in machine.needs():
        if component in {"namespaces", "TUN devices"} and answer != "yes":
            return f"{component}: {answer}; {advice}"
    return None


def _seconds(text: str) -> float:
    """Convert a time of a scenario to seconds."""
    number = quantity(text)
    if number is None:
        raise BadData(f"{text!r} is not a time")
    return number.base


def _octets(size: str) -> int:
    """Convert a size of a scenario to bytes."""
    number, unit = size.split()
    return round(
        float(number) * {"B": 1, "kB": 1000, "MB": 10**6, "GB": 10**9, "KiB": 1024, "MiB": 2**20}[unit]
    )
