"""``umts emulate`` beside simulated users: a program replaces the flows of its UE.

Programs take the UEs of a scenario in their order. The scenario here has the UE `alone`, number 0,
and a group `three`, numbers 1 to 3.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import polars
import pytest
from conftest import Umts
from umtslab.emulate.background import left_out, simulates_flows
from umtslab.emulate.session import Session
from umtslab.scenario import Scenario

GROUPS = """
version = 1
name = "groups"
duration = "60 s"
[[ue]]
name = "alone"
bearer = "ps-384"
[[ue]]
name = "three"
count = 3
bearer = "ps-384"
[[flow]]
ue = "alone"
traffic = "ftp"
start = "0 s"
[[flow]]
ue = "three"
traffic = "file"
size = "2 MB"
start = "0 s"
"""

FETCH = "import urllib.request; print(len(urllib.request.urlopen('http://10.1.1.1/bytes/2000').read()))"


@pytest.mark.parametrize(
    ("programs", "message"),
    [
        (1, "flow 0 (ftp) of `alone` ("),
        (2, "flow 0 (ftp) of `alone`, flow 1 (file) of the first 1 of 3 `three` ("),
        (4, "flow 0 (ftp) of `alone`, flow 1 (file) of `three` ("),
    ],
)
def test_a_warning_names_the_flows_that_are_not_simulated(programs: int, message: str) -> None:
    warning = left_out(Scenario.parse(GROUPS), programs)
    assert warning is not None
    assert message in warning


@pytest.mark.parametrize("programs", [1, 2, 4])
def test_flows_are_simulated_unless_programs_have_all_ues(programs: int) -> None:
    others = ("true",) * (programs - 1)
    session = Session(scenario="", base_dir=".", seed=1, command=("true",), ues=others)
    assert simulates_flows(Scenario.parse(GROUPS), session) == (programs < 4)


def test_no_warning_if_the_programs_ues_have_no_flows() -> None:
    of_others = Scenario.parse(GROUPS.replace('ue = "alone"\ntraffic', 'ue = "three"\ntraffic'))
    assert left_out(of_others, 1) is None


def run_of(umts: Umts, folder: Path, *options: str) -> tuple[Path, str]:
    """Emulate a short download as UE `alone`. Returns the run's folder and standard error."""
    file = folder / "groups.toml"
    file.write_text(GROUPS, encoding="utf-8")
    words = ["--record", "--scenario", str(file), *options, "--", sys.executable, "-c", FETCH]
    done = umts("emulate", *words)
    assert done.stdout.strip() == "2000"
    (run,) = (folder / "results" / "runs").iterdir()
    return run, done.stderr


@pytest.mark.slow
@pytest.mark.usefixtures("may_emulate")
@pytest.mark.parametrize("keep_flows", [False, True])
def test_a_program_replaces_its_ues_flow_unless_flows_are_kept(
    umts: Umts, tmp_path: Path, keep_flows: bool
) -> None:
    run, errors = run_of(umts, tmp_path, *(["--keep-flows"] if keep_flows else []))
    assert ("not simulated, because programs replace them: flow 0 (ftp)" in errors) == (not keep_flows)
    simulated = polars.read_parquet(run / "series" / "simulated_connections.parquet")
    assert sorted(set(simulated["ue"].to_list())) == ([0, 1, 2, 3] if keep_flows else [1, 2, 3])
    assert json.loads((run / "emulation.json").read_text())["session"]["keep_flows"] == keep_flows
    # The replay leaves out the same flows.
    assert "every event was the same as in the emulation" in umts("replay", str(run)).stdout
