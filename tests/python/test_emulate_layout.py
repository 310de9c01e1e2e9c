"""``umts emulate`` in a layout: the program is the first UE, on a DSCH, among users and calls."""

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

# 60 kB over 64 kbit/s of RLC payload, which service credits guarantee. Headers and control PDUs
# count too.
DOWNLOAD = """
import time, urllib.request
began = time.monotonic()
octets = len(urllib.request.urlopen("http://server/bytes/60000", timeout=50).read())
print(octets, time.monotonic() - began)
"""


def test_a_program_gets_the_rate_that_service_credits_guarantee(umts: Umts, tmp_path: Path) -> None:
    scenario = tmp_path / "one-site.toml"
    scenario.write_text(SITE, encoding="utf-8")
    done = umts("emulate", "-q", "--scenario", scenario, "--", sys.executable, "-c", DOWNLOAD)
    octets, seconds = (float(word) for word in done.stdout.split())
    assert octets == 60_000
    # Credit that accumulated before the download makes it faster. Lost blocks make it slower.
    assert 60_000 * 8 / 64_000 * 0.8 < seconds < 60_000 * 8 / 64_000 * 2.5


def test_more_programs_than_users_are_refused_and_calls_do_not_count(umts: Umts, tmp_path: Path) -> None:
    scenario = tmp_path / "one-site.toml"
    scenario.write_text(SITE, encoding="utf-8")
    more = [word for _ in range(3) for word in ("--ue", "true")]
    done = umts("emulate", "--scenario", scenario, *more, "--", "true", status=2)
    assert "has 3 UEs, but the command and the --ue options need 4" in done.stderr
