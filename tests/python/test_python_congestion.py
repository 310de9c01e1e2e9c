"""Congestion control in Python: reproducible, with its source in the key, and clear failures."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Umts
from umtslab import CongestionControl, CongestionControlError, Scenario, ScenarioError, open_store, simulate
from umtslab.cli.emulate import _scenario as emulated
from umtslab.cli.failures import UsageError

SCENARIO = """\
version = 1
duration = "60 s"
[[ue]]
name = "user"
[[flow]]
ue = "user"
[[impairment]]
packet = "data 30"
action = "drop"
[tcp]
variant = "python"
python = "mine.py:Mine"
"""

RENO = """\
from umtslab import CongestionControl

class Mine(CongestionControl):
    pass
"""

SMALL_WINDOW = """\
class Mine:
    def on_ack(self, **_): self.acks = getattr(self, "acks", 0) + 1
    def on_round_trip(self, **_): pass
    def grow(self, cwnd, ssthresh): return min(cwnd + 1.0, 4.0)
    def reduce(self, cwnd, load, timeout): return 2.0
    def undo(self): pass
"""
"""A window of at most four segments, in a class without a base class."""


def scenario(folder: Path, source: str, **overrides: str) -> Scenario:
    """Write a class to ``mine.py``. Returns a scenario that uses it, with these keys of ``[tcp]``."""
    (folder / "mine.py").write_text(source)
    (folder / "scenario.toml").write_text(SCENARIO)
    return Scenario.load(
        folder / "scenario.toml", [(f"tcp.{key}", value) for key, value in overrides.items()]
    )


def test_the_base_class_behaves_as_newreno(tmp_path: Path) -> None:
    [in_python] = simulate(scenario(tmp_path, RENO))
    [newreno] = simulate(scenario(tmp_path, RENO, variant="newreno"))
    assert in_python.metrics == newreno.metrics
    assert in_python.metrics["tcp_retransmissions"]


def test_a_user_class_controls_the_window_reproducibly(tmp_path: Path) -> None:
    small_window = scenario(tmp_path, SMALL_WINDOW)
    [first], [second] = simulate(small_window), simulate(small_window)
    assert first.metrics == second.metrics
    [newreno] = simulate(scenario(tmp_path, SMALL_WINDOW, variant="newreno"))
    assert first.metrics != newreno.metrics


def test_the_key_of_a_run_depends_on_the_source(tmp_path: Path) -> None:
    store = open_store(tmp_path / "results")
    reno = simulate(scenario(tmp_path, RENO), store=store)[0]
    small_window = simulate(scenario(tmp_path, SMALL_WINDOW), store=store)[0]
    assert reno.key != small_window.key
    # The place of the file does not matter.
    (tmp_path / "elsewhere").mkdir()
    assert simulate(scenario(tmp_path / "elsewhere", RENO))[0].key == reno.key


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (RENO.replace("pass", "def on_ack(self, **_): raise KeyError('x')"), "Mine.on_ack raised KeyError"),
        (SMALL_WINDOW.replace("return min(cwnd + 1.0, 4.0)", "return 0"), "Mine.grow raised ValueError"),
        (SMALL_WINDOW.replace("return min(cwnd + 1.0, 4.0)", "return 'much'"), "Mine.grow raised TypeError"),
        ("class Other: pass\n", 'has no class "Mine"'),
        ("class Mine\n", "SyntaxError"),
        ("class Mine:\n    def __init__(self, speed): pass\n", "Mine() raised TypeError"),
    ],
)
def test_an_exception_of_a_class_ends_the_run_with_its_name(
    tmp_path: Path, source: str, expected: str
) -> None:
    with pytest.raises(CongestionControlError) as caught:
        simulate(scenario(tmp_path, source))
    assert "mine.py:Mine" in str(caught.value)
    assert expected in str(caught.value)
    assert caught.value.__cause__ is not None


def test_a_missing_file_is_an_error_of_the_scenario(tmp_path: Path) -> None:
    for python in ("nowhere.py:Mine", "mine.py"):
        with pytest.raises(ScenarioError, match=r"tcp\.python|nowhere|file and a class"):
            scenario(tmp_path, RENO, python=python)


def test_the_command_reports_the_exception_and_fails(umts: Umts, tmp_path: Path) -> None:
    scenario(tmp_path, RENO.replace("pass", "def on_ack(self, **_): raise KeyError('x')"))
    words = ("run", tmp_path / "scenario.toml", "--allow-code", "--out", tmp_path / "results")
    done = umts(*words, status=1)
    assert "Mine.on_ack raised KeyError" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_emulation_refuses_python_code(tmp_path: Path) -> None:
    scenario(tmp_path, RENO)
    with pytest.raises(UsageError, match="simulated time only"):
        emulated(None, tmp_path / "scenario.toml", 1, ())


class SlowGrowth(CongestionControl):
    """Grows by one segment every eight ACKs."""

    def grow(self, *, cwnd: float, ssthresh: float) -> float:
        return cwnd + 0.125


def test_a_class_as_an_argument_is_equivalent_to_its_name_in_the_scenario(tmp_path: Path) -> None:
    by_name = scenario(tmp_path, RENO)
    named = Scenario.load(
        tmp_path / "scenario.toml", {"tcp.python": f'"{Path(__file__).resolve()}:SlowGrowth"'}
    )
    [by_file] = simulate(named)
    [by_argument] = simulate(by_name, congestion=SlowGrowth)
    [by_scenario] = simulate(by_name.with_congestion(SlowGrowth))
    [newreno] = simulate(scenario(tmp_path, RENO, variant="newreno"))
    assert by_file.metrics == by_argument.metrics == by_scenario.metrics != newreno.metrics
    assert by_file.key == by_argument.key == by_scenario.key


def test_a_class_outside_a_file_is_refused(tmp_path: Path) -> None:
    class Inside(CongestionControl):
        pass

    plain = scenario(tmp_path, RENO)
    with pytest.raises(ValueError, match="Inside must be defined in a file"):
        plain.with_congestion(Inside)
    with pytest.raises(ValueError, match="Typed must be defined in a file"):
        simulate(plain, congestion=type("Typed", (CongestionControl,), {"__module__": "nowhere"}))
    with pytest.raises(TypeError, match="congestion must be a class"):
        plain.with_congestion(SlowGrowth())  # type: ignore[arg-type]
