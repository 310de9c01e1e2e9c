"""``NAME@KEY=VALUE,…`` selects points of a campaign, also by values that are lists."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Umts
from umtslab.campaign.errors import CampaignError
from umtslab.campaign.record import Cell, Record
from umtslab.cli.campaigns import selected

SCENARIO = """
version = 1
duration = "3 s"

[[cell]]
name = "cell"
hs_dsch = {}

[[ue]]
name = "user"
bearer = "hsdpa-7.2"
hs_dsch = { cqi = 22, errors = "per_attempt", attempt_errors = [0.1] }

[[flow]]
ue = "user"
traffic = "ftp"
"""

ERRORS = "ue.user.hs_dsch.attempt_errors"

CAMPAIGN = Record(
    name="lists",
    title="",
    axes=(ERRORS, "rrc.dch", "tcp.variant"),
    seed=1,
    cells=tuple(
        Cell({ERRORS: errors, "rrc.dch": dchs, "tcp.variant": variant}, ())
        for errors in ("[0.1]", "[0.5, 0.1]")
        for dchs in ('["ps-64"]', '["ps-384", "ps-64"]')
        for variant in ("reno", "cubic")
    ),
)

SELECTIONS = {
    f"{ERRORS}=[0.1]": 4,
    f"{ERRORS}=[0.5, 0.1]": 4,
    # Spaces and the kind of quotes do not matter.
    f"{ERRORS}=[0.5,0.1],tcp.variant=cubic": 2,
    "rrc.dch=['ps-384','ps-64'],tcp.variant=cubic": 2,
    f'tcp.variant=reno,rrc.dch=["ps-64"],{ERRORS}=[0.1]': 1,
}


@pytest.mark.parametrize("conditions", SELECTIONS)
def test_values_that_are_lists_select_points(conditions: str) -> None:
    assert len(selected(CAMPAIGN, conditions).cells) == SELECTIONS[conditions]


FAULTS = {
    f"{ERRORS}=[0.5]": "no point with",
    "tcp.variant=reno,tcp.variant=cubic": "tcp.variant has two values",
    "radio.bler=0.1": "is not KEY=VALUE with one of",
}


@pytest.mark.parametrize("conditions", FAULTS)
def test_a_selection_of_no_point_is_an_error(conditions: str) -> None:
    with pytest.raises(CampaignError, match=FAULTS[conditions]):
        selected(CAMPAIGN, conditions)


def test_a_sweep_over_lists_can_be_compared_by_point(umts: Umts, tmp_path: Path) -> None:
    scenario = tmp_path / "hs.toml"
    scenario.write_text(SCENARIO)
    umts("sweep", scenario, "-P", f"{ERRORS}=[0.0],[0.5, 0.1]", "--runs", 1, "--name", "hs")
    answer = umts("compare", f"hs@{ERRORS}=[0.0]", f"hs@{ERRORS}=[0.5, 0.1]", "--json").stdout
    assert len(json.loads(answer)["points"]) == 1
