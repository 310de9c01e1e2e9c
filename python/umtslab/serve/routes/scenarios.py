"""Routes of scenarios: forms, trials, and jobs that run a scenario and keep the runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from fastapi import FastAPI, HTTPException

from umtslab.labels import value_label
from umtslab.serve import scenarios, work
from umtslab.serve.jobs import Job, Jobs, perform
from umtslab.serve.models.jobs import JobList, JobState, RunRequest
from umtslab.serve.models.scenarios import Override, ScenarioForm, TryRequest, TryResult
from umtslab.serve.routes.stored import stored_run
from umtslab.serve.settings import Settings
from umtslab.serve.try_it import tried


def add_scenario_routes(app: FastAPI, settings: Settings, jobs: Jobs) -> None:
    """Add the routes for scenario forms, trials and jobs."""
    _add_forms_and_trials(app, settings)
    _add_jobs(app, settings, jobs)


def _add_forms_and_trials(app: FastAPI, settings: Settings) -> None:
    @app.get("/api/scenarios/{name}", response_model=ScenarioForm)
    def get_scenario(name: str) -> Any:
        return perform(work.scenario_form, settings.scenarios, name)

    @app.post("/api/try", response_model=TryResult)
    def try_scenario(asked: TryRequest) -> Any:
        return perform(tried, settings.scenarios, request_of(asked), settings.allow_code)


def _add_jobs(app: FastAPI, settings: Settings, jobs: Jobs) -> None:
    @app.post("/api/jobs", response_model=JobState)
    def start_run(asked: RunRequest) -> dict[str, Any]:
        request = request_of(asked)
        title = f"{asked.scenario}, {asked.runs} {'run' if asked.runs == 1 else 'runs'}"
        kept = work.KeptRuns(asked.runs, 0, None, captures=asked.captures, timeline=False)
        return asdict(_start(title, request, kept))

    @app.post("/api/runs/{key}/timeline", response_model=JobState)
    def record_timeline(key: str) -> dict[str, Any]:
        # Makes the run again, with a time line.
        run = stored_run(settings, key)
        if run.is_emulated:
            raise HTTPException(400, "An emulation cannot be repeated here. Run the command in a terminal.")
        overrides = tuple((name, value_label(value)) for name, value in run.changes)
        request = scenarios.Request(run.scenario, None, overrides)
        title = f"{run.scenario}, run {run.run} with a timeline"
        kept = work.KeptRuns(1, run.run, run.seed, captures=False, timeline=True)
        return asdict(_start(title, request, kept))

    def _start(title: str, request: scenarios.Request, kept: work.KeptRuns) -> Job:
        """Start a job that runs a scenario, unless the scenario has mistakes."""
        check_scenario(settings, request)
        arguments = (settings.store, settings.scenarios, request, kept, settings.allow_code)
        return jobs.start(title, work.keep_runs, *arguments)

    @app.get("/api/jobs", response_model=JobList)
    def get_jobs() -> dict[str, Any]:
        return job_list(jobs)

    @app.post("/api/jobs/{number}/stop", response_model=JobList)
    def stop_job(number: int) -> dict[str, Any]:
        try:
            jobs.stop(number)
        except KeyError:
            raise HTTPException(404, "There is no such job.") from None
        return job_list(jobs)


def request_of(asked: TryRequest) -> scenarios.Request:
    """Return the scenario that a visitor requests, with the changed text and the changed keys."""
    return scenarios.Request(asked.scenario, asked.text, pairs_of(asked.overrides))


def pairs_of(overrides: Iterable[Override]) -> tuple[tuple[str, str], ...]:
    """Return the changed keys with their values."""
    return tuple((override.key.strip(), override.value) for override in overrides)


def check_scenario(settings: Settings, request: scenarios.Request) -> None:
    """Raise an exception if the scenario does not exist or has mistakes."""
    scenarios.path_of(settings.scenarios, request.name)
    mistakes = perform(work.check, settings.scenarios, request, settings.allow_code)
    if mistakes:
        raise HTTPException(400, mistakes[0])


def job_list(jobs: Jobs) -> dict[str, Any]:
    """Return all jobs, as `models.JobList`."""
    return {"jobs": [asdict(job) for job in jobs.states()]}
