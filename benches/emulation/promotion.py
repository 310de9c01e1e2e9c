"""Additional delay of an idle user's first packet: the promotion to a channel, by RRC profile.

The round trip of the emulation is compared with a simulation of the same packet at the same time on
an existing channel.
"""

from __future__ import annotations

import json

from umtslab import Scenario

from emulation.round_trips import predict
from emulation.session import SERVER, emulations, probe, scenario

PROFILES = ("att-2010", "t-mobile-us-2010", "aalto-2011")
DCH = "ps-64"
TTI_MS = 20.0
"""TTI of the uplink on DCH and RACH."""

TEXT = """
version = 1
name = "from-idle"
duration = "1 h"
[rrc]
profile = "{profile}"
initial_state = "idle"
dch = ["{dch}"]
[[ue]]
name = "ue"
bearer = "switched"
"""

READY = """
version = 1
name = "ready"
duration = "1 h"
[[ue]]
name = "ue"
{bearer}
"""


def check(seconds: float) -> None:
    """Print the extra delay of the first packet for each profile."""
    del seconds  # One packet is enough.
    print("first packet from idle, a reply of the server side included")
    ping = probe("ping", SERVER[4], "--count", 1)
    for profile in PROFILES:
        with scenario(TEXT.format(profile=profile, dch=DCH)) as file:
            rrc = json.loads(Scenario.load(file).to_json())["rrc"]
            with emulations(["--scenario", file, "--record", "--", *ping]) as (done,):
                target = rrc["promotion"]
                expected = rrc["idle_to_dch" if target == "cell_dch" else "idle_to_fach"]
                ready = f'bearer = "{DCH}"' if target == "cell_dch" else ""
                (measured,) = done.answer["round_trips_s"]
                (without,) = predict(done, Scenario.parse(READY.format(bearer=ready)))
        print(
            f"  {profile:16} to {target}: {1000 * measured:.1f} ms, without promotion "
            f"{1000 * without:.1f} ms: {1000 * (measured - without):.1f} ms later, the profile has "
            f"{expected} (TTI {TTI_MS:g} ms); "
            f"{done.verdict()}"
        )
