"""DSCH schedulers in Python: they can imitate the core's schedulers exactly, and fail clearly.

In each TTI of each cell, `schedule` gets the users' requests (`asks`) in the order of the core. It
returns the users to be served, in order, each with the number of a transport format.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest
from conftest import Umts
from umtslab import DschScheduler, Scenario, ScenarioError, SchedulerError, simulate
from umtslab._core import DschAsk, DschFormat
from umtslab.cli.emulate import _scenario as emulated
from umtslab.cli.failures import UsageError

SCENARIO = """\
version = 1
duration = "20 s"
[measure]
dsch = true
[layout]
sites = [1, 2]
[propagation]
[[cell]]
name = "sector"
dsch = { requirement = "full_backlog", priority = "round_robin" }
[[ue]]
name = "web"
count = 90
cell = "best"
bearer = "dsch"
mobility = { model = "vehicular", speed = "50 km/h" }
[[flow]]
ue = "web"
traffic = "etsi_www"
[flow.etsi_www]
largest = "570 B"
interval = "30 ms"
reading_time = "1 s"
between_sessions = "1 s"
first_session = "under_way"
"""

Schedule = Iterable[tuple[int, int]]


class MaxCi(DschScheduler):
    """Max C/I: the user with the least noise and interference from other cells is first."""

    def schedule(
        self, *, formats: Sequence[DschFormat], asks: Sequence[DschAsk], **_: object
    ) -> list[tuple[int, int]]:
        order = sorted(asks, key=lambda ask: (ask.outside_mw, ask.since_s, ask.ue))
        return [(ask.ue, self.holding(formats, ask.backlog)) for ask in order]


class ByClass(DschScheduler):
    """Round robin within service classes, and users that have received their guaranteed rate last."""

    CLASSES = ("conversational", "streaming", "interactive", "background")

    def schedule(
        self, *, formats: Sequence[DschFormat], asks: Sequence[DschAsk], **_: object
    ) -> list[tuple[int, int]]:
        def order(ask: DschAsk) -> tuple[int, int]:
            assert ask.transfer_delay_s == (0.5 if ask.service_class == "streaming" else None)
            level = 4 if ask.is_rate_met else self.CLASSES.index(ask.service_class)
            return level, (ask.ue - self.next_ue) % 65_536

        return [(ask.ue, self.holding(formats, ask.backlog)) for ask in sorted(asks, key=order)]


class EverySecondTti(DschScheduler):
    """Serves users only in odd TTIs, with the smallest format, and checks the arguments."""

    def schedule(
        self,
        *,
        cell: int,
        tti: int,
        now_s: float,
        room_mw: float,
        formats: Sequence[DschFormat],
        asks: Sequence[DschAsk],
    ) -> Schedule:
        assert 0 <= cell < 6
        assert abs(now_s - 0.02 * tti) < 1e-9
        assert 0 < room_mw < 20_000
        assert [format.blocks for format in formats] == [1, 2, 4, 8, 12, 16]
        assert [format.spreading_factor for format in formats] == [128, 64, 32, 16, 8, 8]
        for ask in asks:
            assert ask.backlog > 0
            assert ask.since_s <= now_s
            assert 0 < ask.gain < 1
            assert ask.mean_blocks >= 0
            powers = [power for power in ask.power_mw if power is not None]
            assert powers == sorted(powers)
            assert all(power > 0 for power in powers)
            assert ask.outside_mw > 0
            assert 0 <= ask.credit <= 16
        return [(ask.ue, 0) for ask in asks] if tti % 2 else []


@pytest.fixture
def plain(tmp_path: Path) -> Scenario:
    """The scenario with a scheduler of the core."""
    (tmp_path / "scenario.toml").write_text(SCENARIO)
    return Scenario.load(tmp_path / "scenario.toml")


def with_class(folder: Path, source: str) -> Scenario:
    """Write a class to ``mine.py``. Returns the scenario with this class as scheduler."""
    (folder / "mine.py").write_text("from umtslab import DschScheduler\n" + source)
    (folder / "scenario.toml").write_text(SCENARIO)
    return Scenario.load(folder / "scenario.toml", {"cell.0.dsch.python": "mine.py:Mine"})


@pytest.mark.parametrize(
    ("scheduler", "priority"),
    [(DschScheduler, "round_robin"), (MaxCi, "max_ci")],
    ids=["round_robin", "max_ci"],
)
def test_schedulers_of_the_core_are_imitated_exactly(plain: Scenario, scheduler: type, priority: str) -> None:
    [in_python] = simulate(plain, scheduler=scheduler, series=True)
    [built_in] = simulate(plain.with_overrides({"cell.0.dsch.priority": priority}), series=True)
    other_priority = "max_ci" if priority == "round_robin" else "round_robin"
    [other] = simulate(plain.with_overrides({"cell.0.dsch.priority": other_priority}))
    assert in_python.metrics == built_in.metrics != other.metrics
    assert in_python.series("dsch").equals(built_in.series("dsch"))
    assert in_python.metrics["dsch_postponed_pct"]


def test_service_classes_can_be_imitated_exactly(tmp_path: Path) -> None:
    streaming = 'qos = { class = "streaming", guaranteed = "32 kbit/s", transfer_delay = "500 ms" }\n'
    group, flow = SCENARIO[SCENARIO.index("[[ue]]") :].split("[[flow]]")
    group, flow = group.replace("web", "video"), flow.replace("web", "video")
    video = f"{group}{streaming}[[flow]]{flow}"
    (tmp_path / "scenario.toml").write_text(SCENARIO + video)
    scenario = Scenario.load(tmp_path / "scenario.toml")
    [in_python] = simulate(scenario, scheduler=ByClass, series=True)
    [built_in] = simulate(scenario, series=True)
    [without] = simulate(scenario, scheduler=DschScheduler)
    assert in_python.metrics == built_in.metrics != without.metrics
    assert in_python.series("dsch").equals(built_in.series("dsch"))


def test_arguments_are_valid_and_omitted_users_wait(plain: Scenario) -> None:
    [run] = simulate(plain, scheduler=EverySecondTti, series=True)
    granted = run.series("dsch").filter(fate="granted")
    assert len(granted) > 100
    # TTIs of 20 ms, of which only odd ones have grants.
    assert {round(time / 0.02) % 2 for time in granted["time_s"]} == {1}
    # The smallest format has the spreading factor 128.
    assert set(granted["wanted"]) == {128}
    assert run.metrics["dsch_postponed_credit_pct"]


def test_a_class_in_a_file_is_equivalent_and_its_source_is_part_of_the_key(
    tmp_path: Path, plain: Scenario
) -> None:
    in_file = with_class(tmp_path, "class Mine(DschScheduler): pass\n")
    [first], [second] = simulate(in_file), simulate(in_file)
    [core] = simulate(plain)
    assert first.metrics == second.metrics == core.metrics
    assert first.key != core.key
    [other] = simulate(with_class(tmp_path, "class Mine(DschScheduler): '''Another.'''\n"), runs=1)
    assert other.key != first.key
    assert other.metrics == first.metrics


def schedule(returned: str) -> str:
    """Return a class that schedules by this expression in cell 3 from TTI 100 on."""
    return (
        "class Mine(DschScheduler):\n"
        "    def schedule(self, *, cell, tti, now_s, room_mw, formats, asks):\n"
        f"        return {returned} if cell == 3 and tti > 99 and asks else super().schedule(cell=cell,"
        " tti=tti, now_s=now_s, room_mw=room_mw, formats=formats, asks=asks)\n"
    )


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (schedule("1 / 0"), "ZeroDivisionError: division by zero"),
        (schedule("None"), "TypeError: 'NoneType' object is not iterable"),
        (schedule("[asks[0].ue]"), "TypeError"),
        (schedule("[(asks[0].ue, 6)]"), "ValueError: a format must be a number from 0 to 5, not 6"),
        (schedule("[(asks[0].ue, -1)]"), "ValueError: a format must be a number from 0 to 5, not -1"),
        (schedule("[(asks[0].ue, 0)] * 2"), "occurs twice"),
        (schedule("[(999, 0)]"), "ValueError: user 999 has no request in this TTI"),
        (schedule("[(70_000, 0)]"), "ValueError: user 70000 has no request in this TTI"),
        (schedule("[(-1, 0)]"), "ValueError: user -1 has no request in this TTI"),
    ],
)
def test_an_invalid_schedule_ends_the_run_with_its_location(
    tmp_path: Path, source: str, expected: str
) -> None:
    with pytest.raises(
        SchedulerError, match=r"mine\.py:Mine\.schedule, in cell 3 and TTI 1\d\d, raised"
    ) as caught:
        simulate(with_class(tmp_path, source))
    assert expected in str(caught.value)
    assert caught.value.__cause__ is not None


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("class Other: pass\n", 'has no class "Mine"'),
        ("class Mine\n", "SyntaxError"),
        ("class Mine:\n    def __init__(self, speed): pass\n", r"Mine\(\) raised TypeError"),
        ("class Mine: pass\n", "Mine.schedule, in cell . and TTI .* AttributeError"),
        (
            "class Mine(DschScheduler):\n    def served(self, **_): raise KeyError('x')\n",
            "Mine.served, in cell . and TTI .* KeyError",
        ),
    ],
)
def test_an_unusable_class_ends_the_run_with_its_name(tmp_path: Path, source: str, expected: str) -> None:
    with pytest.raises(SchedulerError, match=expected):
        simulate(with_class(tmp_path, source))


def test_a_missing_class_is_an_error_of_the_scenario(tmp_path: Path, plain: Scenario) -> None:
    for python in ("nowhere.py:Mine", "mine.py"):
        with pytest.raises(ScenarioError, match=r"dsch\.python|nowhere|file and a class"):
            plain.with_overrides({"cell.0.dsch.python": python})

    class Inside(DschScheduler):
        pass

    with pytest.raises(ValueError, match="Inside must be defined in a file"):
        plain.with_scheduler(Inside)
    with pytest.raises(TypeError, match="scheduler must be a class"):
        plain.with_scheduler(MaxCi())  # type: ignore[arg-type]


def test_the_command_reports_the_exception_and_fails(umts: Umts, tmp_path: Path) -> None:
    with_class(tmp_path, schedule("1 / 0"))
    done = umts(
        "run",
        tmp_path / "scenario.toml",
        "--set",
        "cell.0.dsch.python=mine.py:Mine",
        "--out",
        tmp_path / "out",
        status=1,
    )
    assert "in cell 3 and TTI" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_emulation_refuses_python_code(tmp_path: Path) -> None:
    with_class(tmp_path, "class Mine(DschScheduler): pass\n")
    text = (tmp_path / "scenario.toml").read_text()
    with_python = text.replace('priority = "round_robin"', 'python = "mine.py:Mine"')
    (tmp_path / "scenario.toml").write_text(with_python)
    with pytest.raises(UsageError, match="simulated time only"):
        emulated(None, tmp_path / "scenario.toml", 1, ())
