"""``umts emulate`` in a layout: the program is the first UE, on a DSCH, among users and calls.

A DSCH scheduler with service credits guarantees each user a rate in the long term: a user that waits
gains credit, and uses it up later.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from conftest import Umts

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("may_emulate")]

# One site, a program near it, two web users and a few calls.
SITE = """
version = 1
name = "one-site"
duration = "60 s"

[layout]
border = "reflect"
area = ["3 km", "3 km"]

[[layout.site]]
x = "1.5 km"
y = "1.5 km"

[[cell]]
name = "sector"

[cell.dsch]
guaranteed = "64 kbit/s"

[[ue]]
name = "program"
mobility = { model = "still", place = ["1.8 km", "1.5 km"] }

[[ue]]
name = "web"
count = 2

[[ue]]
name = "call"
calls = { offered = "5 Erl" }

[[flow]]
ue = "web"
traffic = "etsi_www"
etsi_www = { first_session = "under_way", between_sessions = "1 s", reading_time = "1 s" }
"""

OCTETS = 60_000
GUARANTEED_S = OCTETS * 8 / 64_000
"""Duration of the download at the guaranteed rate of 64 kbit/s."""

DOWNLOAD = """
import time, urllib.request
began = time.monotonic()
octets = len(urllib.request.urlopen("http://server/bytes/60000", timeout=50).read())
print(octets, time.monotonic() - began)
"""
"""Downloads `OCTETS` bytes. Prints their number and the duration in seconds."""


def test_a_program_gets_the_rate_that_service_credits_guarantee(umts: Umts, tmp_path: Path) -> None:
    scenario = tmp_path / "one-site.toml"
    scenario.write_text(SITE, encoding="utf-8")
    done = umts("emulate", "-q", "--scenario", scenario, "--", sys.executable, "-c", DOWNLOAD)
    octets, seconds = (float(word) for word in done.stdout.split())
    assert octets == OCTETS
    # Credit from before the download makes the download faster. Headers, control PDUs and lost blocks
    # make it slower.
    assert 0.8 * GUARANTEED_S < seconds < 2.5 * GUARANTEED_S


def test_more_programs_than_users_are_refused_and_calls_do_not_count(umts: Umts, tmp_path: Path) -> None:
    scenario = tmp_path / "one-site.toml"
    scenario.write_text(SITE, encoding="utf-8")
    three_ues = ["--ue", "true"] * 3
    done = umts("emulate", "--scenario", scenario, *three_ues, "--", "true", status=2)
    assert "has 3 UEs, but the command and the --ue options need 4" in done.stderr
