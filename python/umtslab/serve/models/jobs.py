"""Jobs: work that the server does in the background. Most jobs run a scenario and keep the runs."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from umtslab.serve.models.common import Model
from umtslab.serve.models.scenarios import TryRequest


class RunRequest(TryRequest):
    """A scenario to run and keep."""

    # Number of replications.
    runs: Annotated[int, Field(ge=1, le=100)] = 1
    # Whether the captures of the runs are kept too.
    captures: bool = False


class JobState(Model):
    """A job."""

    id: int
    title: str
    state: Literal["waiting", "running", "done", "failed", "stopped"]
    # Completed part, from 0 to 1.
    progress: float
    # Why the job failed or was stopped. Empty otherwise.
    message: str
    # Key of the first run that was kept. None before the job is done.
    result: str | None


class JobList(Model):
    """The jobs, newest last."""

    jobs: list[JobState]
