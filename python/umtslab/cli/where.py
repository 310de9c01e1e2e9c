"""Where runs are made, as ``--jobs`` and ``--dask`` say."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from umtslab.campaign.study import Workers
from umtslab.cli.failures import UsageError
from umtslab.cli.options import workers


@contextmanager
def chosen_workers(jobs: int | None, dask: str | None) -> Iterator[Workers]:
    """Threads here, or the workers of a cluster while the block lasts."""
    if dask is None:
        yield Workers(workers(jobs, sys.maxsize))
        return
    if jobs is not None:
        raise UsageError("--jobs are threads here, --dask are workers elsewhere: give one of them")
    from umtslab.campaign.cluster import cluster

    with cluster(dask) as found:
        yield found
