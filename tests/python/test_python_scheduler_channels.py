"""Schedulers in Python on all shared channels: HS-DSCH, FACH, shared bearers, TDD cells and layouts.

They can imitate the core's schedulers exactly, get valid arguments, and fail clearly.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from quoted import ROOT
from umtslab import Run, Scenario, ScenarioError, Scheduler, SchedulerError, simulate
from umtslab._core import Candidate
from umtslab.cli.emulate import _scenario as emulated
from umtslab.cli.failures import UsageError
from umtslab.scenario import CodeNotAllowed, refuse_code

HSDPA = """\
version = 1
duration = "6 s"
[cell.hs_dsch]
users_per_tti = 2
[[ue]]
name = "near"
count = 3
bearer = "hsdpa-7.2"
hs_dsch = { snr = "14 dB", fading = "rayleigh", speed = "3 km/h" }
[[ue]]
name = "far"
count = 3
bearer = "hsdpa-3.6"
hs_dsch = { snr = "6 dB", fading = "per_tti" }
[[flow]]
ue = "near"
[[flow]]
ue = "far"
""".replace("[cell.hs_dsch]", '[[cell]]\nname = "cell"\n[cell.hs_dsch]')

FACH = """\
version = 1
duration = "40 s"
[radio]
bler = 0.05
[[cell]]
name = "cell"
[cell.fach]
rate = "64 kbit/s"
[[ue]]
name = "downloader"
count = 3
[[ue]]
name = "listener"
count = 2
[[flow]]
ue = "downloader"
[[flow]]
ue = "listener"
traffic = "cbr"
cbr = { payload = "160 B", interval = "200 ms" }
"""

BEARER = FACH.replace(
    '[[ue]]\nname = "downloader"',
    """\
[[bearer]]
name = "shared"
downlink = { rate = "128 kbit/s", tti = "10 ms", shared = true }
uplink = { rate = "64 kbit/s", tti = "20 ms" }
[[ue]]
name = "downloader\"""",
).replace("\ncount", '\nbearer = "shared"\ncount')

TDD = """\
version = 1
duration = "60 s"
[[cell]]
name = "cell"
duplex = "tdd"
[[ue]]
name = "www"
count = 12
bearer = "granted"
[[flow]]
ue = "www"
"""

LAYOUT = """\
version = 1
duration = "10 s"
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
count = 60
cell = "best"
bearer = "dsch"
[[flow]]
ue = "web"
"""

CHANNELS = {
    "hs_dsch": (HSDPA, "cell.0.hs_dsch", "cell.0.hs_dsch.scheduler"),
    "fach": (FACH, "cell.0.fach", "cell.0.fach.scheduler"),
    "bearer": (BEARER, "bearer.0.downlink", "bearer.0.downlink.scheduler"),
    "tdd": (TDD, "cell.0.tdd.grant", "cell.0.tdd.grant.order"),
    "dsch": (LAYOUT, "cell.0.dsch", "cell.0.dsch.priority"),
}
"""A scenario for each channel, the table of the channel, and the key of its built-in discipline."""

Users = Sequence[Candidate]


class OldestFirst(Scheduler):
    """First come, first served, and round robin among equals."""

    def order(self, *, candidates: Users, **_: object) -> list[int]:
        return [user.ue for user in sorted(candidates, key=lambda user: (user.since_s, self.turn(user)))]

    def turn(self, user: Candidate) -> int:
        return (user.ue - self.next_ue) % 65_536


class LargestBacklog(OldestFirst):
    def order(self, *, candidates: Users, **_: object) -> list[int]:
        def rank(user: Candidate) -> tuple[int, int, int]:
            backlog = user.backlog_packets if user.backlog_octets is None else user.backlog_octets
            return -(backlog or 0), -(user.backlog_blocks or 0), self.turn(user)

        return [user.ue for user in sorted(candidates, key=rank)]


class MaxCqi(Scheduler):
    """As `max_ci`: among equal CQIs the oldest data are first."""

    def order(self, *, candidates: Users, **_: object) -> list[int]:
        def rank(user: Candidate) -> tuple[int, float, int]:
            assert user.cqi is not None
            return -user.cqi, user.since_s, user.ue

        return [user.ue for user in sorted(candidates, key=rank)]


class ProportionalFair(Scheduler):
    def order(self, *, candidates: Users, **_: object) -> list[int]:
        def rank(user: Candidate) -> tuple[float, float, int]:
            assert user.possible_octets is not None
            assert user.mean_octets is not None
            return -user.possible_octets / max(user.mean_octets, 4e-8), user.since_s, user.ue

        return [user.ue for user in sorted(candidates, key=rank)]


def scenario_of(channel: str) -> Scenario:
    return Scenario.parse(CHANNELS[channel][0], name=channel)


def is_equal(run: Run, other: Run) -> bool:
    """Whether two runs have the same number of events, metrics, connections and time series."""
    kinds = run.series_kinds()
    assert kinds == other.series_kinds() != []
    return (
        run.metrics == other.metrics
        and run.connections().equals(other.connections())
        and all(run.series(kind).equals(other.series(kind)) for kind in kinds)
    )


@pytest.mark.parametrize(
    ("channel", "scheduler", "discipline"),
    [
        *((channel, Scheduler, "round_robin") for channel in CHANNELS),
        *((channel, OldestFirst, "oldest_first") for channel in ("fach", "bearer", "tdd")),
        *((channel, LargestBacklog, "largest_backlog") for channel in ("fach", "bearer", "tdd")),
        ("hs_dsch", MaxCqi, "max_ci"),
        ("hs_dsch", ProportionalFair, "proportional_fair"),
    ],
)
def test_schedulers_of_the_core_are_imitated_exactly(channel: str, scheduler: type, discipline: str) -> None:
    scenario, (_, table, key) = scenario_of(channel), CHANNELS[channel]
    [in_python] = simulate(scenario.with_scheduler(scheduler, table), series=True)
    [built_in] = simulate(scenario.with_overrides({key: discipline}), series=True)
    others = {"round_robin", "oldest_first"} - {discipline}
    [other] = simulate(scenario.with_overrides({key: others.pop()}), series=True)
    assert is_equal(in_python, built_in)
    assert not is_equal(in_python, other)


def test_a_channel_that_is_set_up_during_the_run_has_the_scheduler() -> None:
    # RRC switches users to the HS-DSCH, so that its first user comes later.
    scenario = Scenario.load(ROOT / "scenarios/web-cell-hsdpa.toml", {"duration": "60 s"})
    [in_python] = simulate(scenario.with_scheduler(MaxCqi, "cell.0.hs_dsch"), series=True)
    key = "cell.0.hs_dsch.scheduler"
    [built_in] = simulate(scenario.with_overrides({key: "max_ci"}), series=True)
    [other] = simulate(scenario.with_overrides({key: "round_robin"}), series=True)
    assert is_equal(in_python, built_in)
    assert not is_equal(in_python, other)


class Checks(Scheduler):
    """Checks the arguments, serves users only in even TTIs, and the last user first."""

    last_tti = -1

    def order(self, *, channel: str, cell: int, tti: int, now_s: float, candidates: Users) -> list[int]:
        length = {"hs_dsch": 0.002, "dsch": 0.02}.get(channel, 0.01)
        assert abs(now_s - length * tti) < 1e-9
        assert tti > self.last_tti
        self.last_tti = tti
        assert cell == 0 or channel == "dsch"
        ues = [user.ue for user in candidates]
        assert ues
        assert ues == sorted(set(ues))
        for user in candidates:
            assert 0 <= user.since_s <= now_s
            assert (user.backlog_blocks is None) == (channel in {"hs_dsch", "tdd_uplink"})
            assert (user.backlog_octets is None) == (channel == "tdd_uplink")
            assert (user.backlog_packets is None) == (channel != "tdd_uplink")
            assert user.service_class == "interactive"
            assert not user.is_rate_met
            assert user.guaranteed_kbps is None
            assert user.transfer_delay_s is None
            knows_rates = channel in {"hs_dsch", "dsch"}
            assert (user.possible_octets is not None) == knows_rates
            assert (user.mean_octets is not None) == knows_rates
            assert user.mean_octets is None or user.mean_octets >= 0
            assert (user.cqi is not None) == (user.codes is not None) == (channel == "hs_dsch")
            if user.cqi is not None and user.codes is not None:
                assert 0 <= user.cqi <= 30
                assert 1 <= user.codes <= 15
        return [] if tti % 2 else ues[::-1]

    def served(self, *, tti: int, ue: int, sent: int, received: int | None) -> None:
        assert tti == self.last_tti
        assert tti % 2 == 0
        assert received is None or 0 <= received <= sent


@pytest.mark.parametrize("channel", CHANNELS)
def test_arguments_are_valid_and_omitted_users_wait(channel: str) -> None:
    scenario, (_, table, _) = scenario_of(channel), CHANNELS[channel]
    [checked] = simulate(scenario.with_scheduler(Checks, table))
    [round_robin] = simulate(scenario.with_scheduler(Scheduler, table))
    served, full = (run.metrics["goodput_kbps"] for run in (checked, round_robin))
    assert served is not None
    assert full is not None
    assert served > 0
    assert checked.metrics != round_robin.metrics


class Nobody(Scheduler):
    def order(self, **_: object) -> list[int]:
        return []


@pytest.mark.parametrize("channel", CHANNELS)
def test_a_scheduler_can_leave_out_all_users(channel: str) -> None:
    scenario, (_, table, _) = scenario_of(channel), CHANNELS[channel]
    [run] = simulate(scenario.with_scheduler(Nobody, table))
    assert not run.metrics["goodput_kbps"]


def with_class(folder: Path, channel: str, source: str) -> Scenario:
    """Write a class to ``mine.py``. Returns the scenario of a channel with this class as scheduler."""
    (folder / "mine.py").write_text("from umtslab import DschScheduler, Scheduler\n" + source)
    (folder / "scenario.toml").write_text(CHANNELS[channel][0])
    return Scenario.load(folder / "scenario.toml", {f"{CHANNELS[channel][1]}.python": "mine.py:Mine"})


def order(returned: str) -> str:
    """Return a class that orders users by this expression from TTI 100 on."""
    return (
        "class Mine(Scheduler):\n"
        "    def order(self, *, tti, candidates, **_):\n"
        f"        return {returned} if tti > 99 else [user.ue for user in candidates]\n"
    )


LOCATIONS = {
    "hs_dsch": "on hs_dsch in cell 0 and TTI",
    "fach": "on fach in cell 0 and TTI",
    "bearer": "on bearer in cell 0 and TTI",
    "tdd": "on tdd_(up|down)link in cell 0 and TTI",
    "dsch": r"in cell \d+ and TTI",
}


@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (order("1 / 0"), "ZeroDivisionError: division by zero"),
        (order("None"), "TypeError: 'NoneType' object is not iterable"),
        (order("['first']"), "TypeError"),
        (order("[candidates[0].ue] * 2"), "occurs twice"),
        (order("[999]"), "ValueError: user 999 has no request in this TTI"),
        (order("[-1]"), "ValueError: user -1 has no request in this TTI"),
    ],
    ids=["exception", "none", "text", "twice", "unknown", "negative"],
)
def test_an_invalid_order_ends_the_run_with_its_location(
    tmp_path: Path, channel: str, source: str, expected: str
) -> None:
    pattern = rf"mine\.py:Mine\.order, {LOCATIONS[channel]} \d+, raised"
    with pytest.raises(SchedulerError, match=pattern) as caught:
        simulate(with_class(tmp_path, channel, source))
    assert expected in str(caught.value)
    assert caught.value.__cause__ is not None


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("class Other: pass\n", 'has no class "Mine"'),
        ("class Mine:\n    def __init__(self, speed): pass\n", r"Mine\(\) raised TypeError"),
        ("class Mine(DschScheduler): pass\n", "Mine.order, on hs_dsch .* has no attribute 'order'"),
        (
            "class Mine(Scheduler):\n    def served(self, **_): raise KeyError('x')\n",
            "Mine.served, on hs_dsch in cell 0 and TTI .* KeyError",
        ),
    ],
)
def test_an_unusable_class_ends_the_run_with_its_name(tmp_path: Path, source: str, expected: str) -> None:
    with pytest.raises(SchedulerError, match=expected):
        simulate(with_class(tmp_path, "hs_dsch", source))


@pytest.mark.parametrize("channel", CHANNELS)
def test_the_source_of_a_class_is_part_of_the_key(tmp_path: Path, channel: str) -> None:
    def content(source: str) -> str:
        return with_class(tmp_path, channel, source).content_hash

    first = content("class Mine(Scheduler): pass\n")
    assert first == content("class Mine(Scheduler): pass\n")
    assert first != content("class Mine(Scheduler): '''Another.'''\n")
    assert first != scenario_of(channel).content_hash


@pytest.mark.parametrize("channel", CHANNELS)
def test_a_class_in_a_file_needs_permission_and_simulated_time(tmp_path: Path, channel: str) -> None:
    scenario = with_class(tmp_path, channel, "class Mine(Scheduler): pass\n")
    (tmp_path / "named.toml").write_text(scenario.to_toml())
    with pytest.raises(CodeNotAllowed, match=r"names Python code, .* mine\.py:Mine; .* --allow-code"):
        refuse_code(Scenario.load(tmp_path / "named.toml"))
    with pytest.raises(UsageError, match="simulated time only"):
        emulated(None, tmp_path / "named.toml", 1, ())


def test_a_class_at_a_channel_without_scheduler_is_an_error() -> None:
    for channel, override, expected in [
        ("fach", ("cell.0.fach.scheduling", "per_ue_push"), "`python` has no effect with scheduling"),
        ("bearer", ("bearer.0.downlink.shared", "false"), "`python` has no effect: the downlink of bearer"),
    ]:
        scenario = scenario_of(channel).with_scheduler(Scheduler, CHANNELS[channel][1])
        with pytest.raises(ScenarioError, match=expected):
            scenario.with_overrides([override])
    with pytest.raises(ScenarioError, match="no user of this cell has an HS-DSCH"):
        scenario_of("fach").with_scheduler(Scheduler, "cell.0.hs_dsch")
    with pytest.raises(ScenarioError, match="a scheduler needs a file and a class in it"):
        scenario_of("hs_dsch").with_overrides({"cell.0.hs_dsch.python": "mine.py"})


def test_the_example_of_the_page_runs(tmp_path: Path) -> None:
    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    text = (ROOT / "docs" / "schedulers.md").read_text(encoding="utf-8")
    [example] = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    (tmp_path / "example.py").write_text(example)
    done = subprocess.run(
        [sys.executable, "example.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    [built_in, in_python] = done.stdout.splitlines()
    assert built_in != in_python
