"""Killed sweeps: no finished run is lost, none is incomplete, and resumed results are equal.

The coordinator is the process of ``umts sweep``. With a Dask cluster, workers simulate the runs.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import kills
import pytest
from conftest import tree

KILLS = int(os.environ.get("UMTS_KILLS", "3"))
"""Number of kills of each kind. `make soak` sets a large number."""

pytestmark = [pytest.mark.slow, pytest.mark.timeout(2 * kills.WAIT_S * (KILLS + 2))]
"""The timeout covers a restart after each kill."""


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of the campaign that is killed."""
    return kills.write_campaign(tmp_path_factory.mktemp("campaign"))


class Uninterrupted(NamedTuple):
    """The store and the output of a sweep without kills."""

    store: Path
    output: str


@pytest.fixture(scope="module")
def uninterrupted(campaign: Path, tmp_path_factory: pytest.TempPathFactory) -> Uninterrupted:
    """A sweep of the same campaign without kills."""
    out = tmp_path_factory.mktemp("uninterrupted") / "store"
    return Uninterrupted(out, kills.Sweep(campaign, out, "--jobs", "2").finish())


def assert_equal(out: Path, uninterrupted: Uninterrupted) -> None:
    """Check that `out` has the runs, campaigns and catalogue of the uninterrupted sweep, and no drafts."""
    whole = uninterrupted.store
    assert kills.whole_runs(out) == kills.whole_runs(whole)
    assert tree(out / "campaigns") == tree(whole / "campaigns")
    assert kills.catalogue_rows(out) == kills.catalogue_rows(whole)
    assert [path.name for path in (out / ".staging").iterdir()] in ([], ["lock"])


def test_a_killed_coordinator_loses_no_finished_run(
    campaign: Path, uninterrupted: Uninterrupted, tmp_path: Path
) -> None:
    times = kills.kill_times(1)
    kill_count = store_count = 0
    # Each store has one sweep, which is killed and resumed until it ends before its kill or until the
    # last kill. The next sweep begins with an empty store.
    while kill_count < KILLS:
        out = tmp_path / f"store{store_count}"
        before: set[str] = set()
        store_count += 1
        was_killed = True
        while was_killed and kill_count < KILLS:
            was_killed = kills.kill_coordinator(campaign, out, times.uniform(0.3, 3.0), "--jobs", "2")
            kill_count += was_killed
            if (out / "runs").is_dir():
                after = set(kills.whole_runs(out))
                assert before <= after
                before = after
        kills.Sweep(campaign, out, "--jobs", "2").finish()
        assert_equal(out, uninterrupted)


def test_killed_workers_of_a_cluster_lose_no_run(
    campaign: Path, uninterrupted: Uninterrupted, tmp_path: Path
) -> None:
    times = kills.kill_times(2)
    kill_count = store_count = 0
    with kills.cluster(tmp_path) as cluster:
        while kill_count < KILLS or store_count == 0:
            out = tmp_path / f"store{store_count}"
            store_count += 1
            sweep = kills.Sweep(campaign, out, "--dask", cluster.address)
            while kill_count < KILLS and not sweep.ends_within(times.uniform(0.5, 3.0)):
                cluster.kill_worker()
                cluster.add_worker()
                kill_count += 1
            assert sweep.finish() == uninterrupted.output
            assert_equal(out, uninterrupted)


def test_a_killed_coordinator_of_a_cluster_loses_no_finished_run(
    campaign: Path, uninterrupted: Uninterrupted, tmp_path: Path
) -> None:
    times = kills.kill_times(3)
    out = tmp_path / "store"
    with kills.cluster(tmp_path) as cluster:
        for _ in range(max(1, KILLS // 3)):
            kills.kill_coordinator(campaign, out, times.uniform(1.5, 4.0), "--dask", cluster.address)
        kills.Sweep(campaign, out, "--dask", cluster.address).finish()
    assert_equal(out, uninterrupted)
