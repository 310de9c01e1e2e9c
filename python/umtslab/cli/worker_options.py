"""Workers of a command, chosen by ``--jobs`` or ``--dask``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from umtslab.campaign.study import Workers
from umtslab.cli.failures import UsageError
from umtslab.cli.options import workers


@contextmanager
def chosen_workers(jobs: int | None, dask: str | None) -> Iterator[Workers]:
    """Yield local threads, or the workers of a Dask cluster that is connected during the block."""
    if dask is None:
        yield Workers(workers(jobs, sys.maxsize))
        return
    if jobs is not None:
        raise UsageError(
            "--jobs and --dask exclude each other: --jobs are threads of this machine, --dask are workers"
        )
    from umtslab.campaign.cluster import cluster

    with cluster(dask) as dask_workers:
        yield dask_workers
