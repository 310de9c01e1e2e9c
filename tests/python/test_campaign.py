"""Sweeps: every combination of parameters, and only missing runs are simulated."""

from __future__ import annotations

import pytest
from umtslab import Scenario, ScenarioError, Store, simulate, sweep
from umtslab.campaign import CampaignError, grid
from umtslab.campaign.record import Cell, Record
from umtslab.campaign.tables import campaign_summary
from umtslab.task import Task


def test_a_grid_is_every_combination_with_the_last_axis_fastest() -> None:
    assert grid({"a": [1, 2], "b": ["x", "y"]}) == [
        {"a": 1, "b": "x"},
        {"a": 1, "b": "y"},
        {"a": 2, "b": "x"},
        {"a": 2, "b": "y"},
    ]


def test_results_are_in_the_order_of_the_grid(store: Store, scenario: Scenario) -> None:
    results = sweep(scenario, {"radio.bler": [0.3, 0.0]}, store=store, runs=2, jobs=2)
    assert [result.point.overrides for result in results] == [{"radio.bler": 0.3}, {"radio.bler": 0.0}]
    assert [[run.run for run in result.runs] for result in results] == [[0, 1], [0, 1]]
    means = [result.summary()["goodput_kbps"].mean or 0 for result in results]
    assert means[0] < means[1]


def test_only_missing_runs_are_simulated(store: Store, scenario: Scenario) -> None:
    def simulated(axes: dict[str, list[float]], runs: int) -> set[tuple[float, int]]:
        """Return the error rate and number of each run that a sweep simulates."""
        reported: set[tuple[str, int]] = set()

        def watch(task: Task, fraction: float) -> None:
            if fraction < 1:
                reported.add((dict(task.scenario.overrides)["radio.bler"], task.run))

        sweep(scenario, axes, store=store, runs=runs, watch=watch)
        return {(float(bler), run) for bler, run in reported}

    assert simulated({"radio.bler": [0.1]}, 2) == {(0.1, 0), (0.1, 1)}
    assert simulated({"radio.bler": [0.1, 0.2]}, 3) == {(0.1, 2), (0.2, 0), (0.2, 1), (0.2, 2)}
    assert simulated({"radio.bler": [0.1, 0.2]}, 3) == set()


def test_an_invalid_combination_is_found_before_any_run(store: Store, scenario: Scenario) -> None:
    with pytest.raises(ScenarioError):
        sweep(scenario, {"radio.bler": [0.1, 1.5]}, store=store)
    assert store.runs() == []


def test_a_key_without_values_is_refused(store: Store, scenario: Scenario) -> None:
    with pytest.raises(CampaignError, match=r"radio\.bler: the list"):
        sweep(scenario, {"tcp.variant": ["reno"], "radio.bler": []}, store=store)


def test_a_sweep_accepts_a_list_of_combinations(store: Store, scenario: Scenario) -> None:
    results = sweep(scenario, [{"radio.bler": 0.1}, {"tcp.variant": "tahoe"}], store=store)
    assert [dict(result.point.overrides) for result in results] == [
        {"radio.bler": 0.1},
        {"tcp.variant": "tahoe"},
    ]


def test_integers_are_integers_in_a_table(store: Store, scenario: Scenario) -> None:
    [run] = simulate(scenario, store=store)
    cells = (Cell({"rlc.max_dat": 3, "radio.bler": 0.1}, (run,)), Cell({"rlc.max_dat": 10}, (run,)))
    record = Record("c", "", axes=("rlc.max_dat", "radio.bler"), seed=1, cells=cells)
    table = campaign_summary(record)
    assert table["rlc.max_dat"].unique().sort().to_list() == [3, 10]
    assert table["rlc.max_dat"].dtype.is_integer()
    assert table["radio.bler"].dtype.is_float()
