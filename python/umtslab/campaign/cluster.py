"""Workers of a Dask cluster, for campaigns that are too large for one machine."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from umtslab.campaign.errors import CampaignError
from umtslab.campaign.study import Workers
from umtslab.extras import missing_library_text

LOCAL = "local"
"""Replaces an address: workers are started on this machine."""

CONNECT_S = 10.0
"""Time limit in seconds for the scheduler's answer."""


@contextmanager
def cluster(address: str) -> Iterator[Workers]:
    """Connect to the Dask scheduler at `address`, as in ``tcp://host:8786``, during the block.

    With ``local``, the workers are processes of this machine, one per processor, that end with the
    block.

    Raises
    ------
    CampaignError
        If Dask is not installed, or no scheduler answers.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise CampaignError(missing_library_text("distributed", error)) from None
    # Dask logs lost workers and retries. The terminal of a campaign does not show this.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    make_client: Any = Client  # Dask has no types
    with _scheduler(address) as scheduler_address:
        try:
            client = make_client(scheduler_address, timeout=CONNECT_S, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            raise _unanswered(address, error) from None
        with _workers(client) as workers:
            yield workers


@contextmanager
def _scheduler(address: str) -> Iterator[str]:
    """Yield the address of a scheduler that answers. A local one runs during the block."""
    if address != LOCAL:
        try:
            _check_listening(address)
        except (OSError, ValueError) as error:
            raise _unanswered(address, error) from None
        yield address
        return
    from distributed import LocalCluster

    make_cluster: Any = LocalCluster
    processors = len(os.sched_getaffinity(0))
    with make_cluster(
        n_workers=processors,
        threads_per_worker=1,
        dashboard_address=None,
        silence_logs=logging.CRITICAL,
    ) as local_cluster:
        yield local_cluster.scheduler_address


def _unanswered(address: str, error: Exception) -> CampaignError:
    why = str(error) or type(error).__name__
    return CampaignError(f"--dask {address}: no Dask scheduler answers: {why}")


@contextmanager
def _workers(client: Any) -> Iterator[Workers]:
    """Yield workers of a connected cluster, and close the executor at the end."""
    try:
        executor = client.get_executor(pure=False)
        try:
            yield Workers(executor=executor, count=lambda: _threads(client))
        finally:
            executor.shutdown(wait=False)
    finally:
        client.close(timeout=CONNECT_S)


def _check_listening(address: str) -> None:
    """Check that a server listens at the address.

    Dask itself would retry for a long time, with many messages.

    Raises
    ------
    OSError
        If none does.
    ValueError
        If the address is malformed.
    """
    scheme, separator, host_and_port = address.rpartition("://")
    if separator and scheme not in {"tcp", "tls"}:
        raise ValueError("write the address as tcp://HOST:PORT")
    host, colon, port = host_and_port.rpartition(":")
    if not colon or not port.isdecimal() or int(port) >= 2**16:
        raise ValueError("write the address as tcp://HOST:PORT, or local to start workers here")
    socket.create_connection((host.strip("[]"), int(port)), timeout=CONNECT_S).close()


def _threads(client: Any) -> int:
    """Return the number of worker threads, at least 1, so that tasks wait for workers."""
    return max(1, sum(int(threads) for threads in client.nthreads().values()))
