"""Work in separate processes, with limits on time, memory, files and number.

Processes are forked from a small server process that has imported the core, and start in
milliseconds. If a process exceeds a limit or crashes, only its job fails.
"""

from __future__ import annotations

import itertools
import multiprocessing
import os
import resource
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

Report = Callable[[float], None]
"""Called by a job with the progress, from 0 to 1."""

_PRELOADED = [
    "umtslab._core",
    "umtslab.scenario",
    "umtslab.serve.live_player",
    "umtslab.serve.try_it",
    "umtslab.serve.work",
]


class Limits(NamedTuple):
    """Limits of one process."""

    cpu_s: int
    wall_s: float
    memory: int
    """Address space, in bytes."""
    file_size: int
    """Size of each written file, in bytes."""


QUICK = Limits(cpu_s=10, wall_s=180.0, memory=4 * 2**30, file_size=2**20)
"""For a result that a visitor waits for, which writes no file. The limits on elapsed time are loose,
because a busy machine gives a process only a part of a core."""

DRAWING = Limits(cpu_s=60, wall_s=300.0, memory=4 * 2**30, file_size=2**20)
"""For figures, reports and analyses."""

EXPLAINING = Limits(cpu_s=300, wall_s=900.0, memory=4 * 2**30, file_size=2**20)
"""For the stalls of a run and their chains."""

LONG = Limits(cpu_s=900, wall_s=1800.0, memory=8 * 2**30, file_size=2**30)
"""For a run that is kept in the store."""

_MAX_AT_ONCE = max(2, os.cpu_count() or 2)
"""Maximum number of processes that run at the same time."""

_MAX_WAITING = 8
"""Maximum number of jobs of visitors that wait or run."""

_PATIENCE_S = 60.0
"""Time to wait for a free process."""

_GRACE_S = 2.0
"""Time to wait for the exit status of a process that closed its connection."""

_REPORT_INTERVAL_S = 0.1
"""Minimum time between two reports of progress."""

_REMEMBERED = 50
"""Maximum number of jobs of visitors in the list. The oldest ended jobs beyond them are removed."""


class JobFailed(Exception):
    """A job ended without a result. The message says why."""


class Busy(Exception):
    """Too many jobs run or wait."""

    def __init__(self) -> None:
        super().__init__("Too much is running. Try again in a moment.")


_context = multiprocessing.get_context("forkserver")
_starting = threading.Lock()
_free = threading.BoundedSemaphore(_MAX_AT_ONCE)


def prepare() -> None:
    """Start the process that the others are forked from."""
    _context.set_forkserver_preload(_PRELOADED)


def perform(
    function: Callable[..., Any],
    *arguments: Any,
    limits: Limits = QUICK,
    report: Report | None = None,
    stopped: threading.Event | None = None,
) -> Any:
    """Call a function in a separate process, and return the result.

    Parameters
    ----------
    function : callable
        A function at the top level of a module. The last argument is a `Report`.
    arguments : any
        The arguments before the report.
    limits : Limits
        Limits of the process.
    report : callable, optional
        Called with the progress.
    stopped : threading.Event, optional
        Ends the job when set.

    Raises
    ------
    JobFailed
        If the process exceeds a limit, crashes, or is stopped.
    Busy
        If no process is free for `_PATIENCE_S`.
    """
    if not _free.acquire(timeout=_PATIENCE_S):
        raise Busy
    try:
        return _performed(function, arguments, limits, report, stopped)
    finally:
        _free.release()


def start_process(target: Callable[..., None], limits: Limits, *arguments: Any) -> tuple[Any, Connection]:
    """Start a process with limits, except the one on elapsed time, which is the caller's.

    Return the process and the own end of its connection. `target` gets the other end, and the
    arguments.
    """
    own_end, child_end = _context.Pipe()
    process = _context.Process(target=_limited, args=(target, child_end, limits, arguments), daemon=True)
    with _starting:
        process.start()
    child_end.close()
    return process, own_end


def _limited(
    target: Callable[..., None], connection: Connection, limits: Limits, arguments: tuple[Any, ...]
) -> None:
    """Apply the limits of a process, and call its function."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (limits.cpu_s, limits.cpu_s + 1))
    resource.setrlimit(resource.RLIMIT_AS, (limits.memory, limits.memory))
    resource.setrlimit(resource.RLIMIT_FSIZE, (limits.file_size, limits.file_size))
    os.nice(5)
    target(connection, *arguments)


def _performed(
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
    limits: Limits,
    report: Report | None,
    stopped: threading.Event | None,
) -> Any:
    process, own_end = start_process(_perform, limits, limits, function, arguments)
    try:
        return _result(own_end, time.monotonic() + limits.wall_s, limits, report, stopped)
    except EOFError:
        process.join(_GRACE_S)
        raise JobFailed(end_of(process.exitcode, limits)) from None
    finally:
        own_end.close()
        if process.is_alive():
            process.kill()
        process.join()
        process.close()


def _result(
    connection: Connection,
    deadline: float,
    limits: Limits,
    report: Report | None,
    stopped: threading.Event | None,
) -> Any:
    while True:
        if stopped is not None and stopped.is_set():
            raise JobFailed("The job was stopped.")
        if (remaining_s := deadline - time.monotonic()) <= 0:
            raise JobFailed(f"The job took more than {limits.wall_s:g} s, and was ended.")
        # The short wait lets `stopped` take effect soon.
        if not connection.poll(min(remaining_s, 0.2)):
            continue
        kind, content = connection.recv()
        if kind == "result":
            return content
        if kind == "error":
            raise content if isinstance(content, Exception) else JobFailed(str(content))
        if report is not None:
            report(content)


def end_of(status: int | None, limits: Limits) -> str:
    """Describe how a process ended that sent no result."""
    import signal

    if status == -signal.SIGXCPU:
        return f"The job took more than {limits.cpu_s} s of processor time, and was ended."
    if status == -signal.SIGABRT:
        return f"The job needed more than {limits.memory // 2**20:,} MB of memory, and was ended."
    return f"The process ended early (status {status})."


def _perform(
    connection: Connection, limits: Limits, function: Callable[..., Any], arguments: tuple[Any, ...]
) -> None:
    """Call the function, and send the result."""
    last_report = 0.0

    def report(fraction: float) -> None:
        nonlocal last_report
        if time.monotonic() - last_report >= _REPORT_INTERVAL_S:
            last_report = time.monotonic()
            # Fails if the server is gone, which ends the job.
            connection.send(("progress", fraction))

    try:
        outcome = ("result", function(*arguments, report))
    except MemoryError:
        outcome = (
            "error",
            f"The job needed more than {limits.memory // 2**20:,} MB of memory, and was ended.",
        )
    except Exception as error:
        outcome = ("error", _sendable(error))
    connection.send(outcome)


def _sendable(error: Exception) -> object:
    """Return an error that can be sent to another process, else the text of the error."""
    import pickle

    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return f"{type(error).__name__}: {error}"
    return error


# ── Jobs that visitors start and watch ──────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Job:
    """State of a job. `result` is the key of the finished run."""

    id: int
    title: str
    state: str
    """``waiting``, ``running``, ``done``, ``failed`` or ``stopped``."""
    progress: float = 0.0
    message: str = ""
    result: str | None = None


@dataclass
class Jobs:
    """The jobs that visitors started, newest last."""

    changed: Callable[[], None]
    """Called after each change, from any thread."""
    _jobs: dict[int, Job] = field(default_factory=dict)
    _stops: dict[int, threading.Event] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))
    _pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "umts-job"))

    def states(self) -> tuple[Job, ...]:
        """Return the state of all jobs."""
        with self._lock:
            return tuple(self._jobs.values())

    def start(self, title: str, function: Callable[..., str], *arguments: Any) -> Job:
        """Queue a job. The function returns the key of the result.

        Raises
        ------
        Busy
            If too many jobs wait.
        """
        with self._lock:
            open_jobs = [job for job in self._jobs.values() if job.state in ("waiting", "running")]
            if len(open_jobs) >= _MAX_WAITING:
                raise Busy
            job = Job(next(self._numbers), title, "waiting")
            self._jobs[job.id] = job
            self._stops[job.id] = threading.Event()
            self._forget()
        self._pool.submit(self._run, job.id, function, arguments)
        self.changed()
        return job

    def stop(self, number: int) -> None:
        """End a job. Does nothing if the job has ended.

        Raises
        ------
        KeyError
            If there is no such job.
        """
        with self._lock:
            self._stops[number].set()

    def close(self) -> None:
        """End all jobs."""
        with self._lock:
            for stop in self._stops.values():
                stop.set()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _run(self, number: int, function: Callable[..., str], arguments: tuple[Any, ...]) -> None:
        stop = self._stops[number]
        if stop.is_set():
            self._change(number, state="stopped")
            return
        self._change(number, state="running")
        try:
            result = perform(
                function,
                *arguments,
                limits=LONG,
                report=lambda fraction: self._change(number, progress=fraction),
                stopped=stop,
            )
        except Exception as error:
            self._change(number, state="stopped" if stop.is_set() else "failed", message=str(error))
        else:
            self._change(number, state="done", progress=1.0, result=result)

    def _change(self, number: int, **fields: Any) -> None:
        with self._lock:
            self._jobs[number] = replace(self._jobs[number], **fields)
        self.changed()

    def _forget(self) -> None:
        """Remove the oldest jobs that have ended."""
        ended = [job.id for job in self._jobs.values() if job.state not in ("waiting", "running")]
        for number in ended[: max(0, len(self._jobs) - _REMEMBERED)]:
            del self._jobs[number], self._stops[number]
