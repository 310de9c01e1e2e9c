"""``umts bearers``: the reference bearers."""

from __future__ import annotations

import json as json_text
from typing import Any

from umtslab.cli.failures import UsageError


def bearers(containing: str = "", /, *, json: bool = False) -> int:
    """The reference bearers that a scenario can name without declaring them.

    RLC is in acknowledged mode; what is not named of it has its default. Rates are those of RLC payload in
    a full TTI. A block is a transport block with all headers, and its column "blocks" how many a TTI may
    hold; "coded" are the bits of a full TTI behind the channel encoder.

    Parameters
    ----------
    containing
        Only bearers whose name contains this.
    json
        Print one JSON list on standard output and nothing else there.
    """
    from umtslab import _core

    found = [bearer for bearer in _core.bearers() if containing in bearer["name"]]
    if not found:
        raise UsageError(f"no bearer's name contains {containing!r}")
    if json:
        print(json_text.dumps(found, indent=1))
        return 0
    from umtslab.cli.tables import output, rows_table

    output().print(rows_table([_row(bearer, way) for bearer in found for way in ("downlink", "uplink")]))
    return 0


def _row(bearer: dict[str, Any], way: str) -> dict[str, str]:
    channel = bearer[way]
    first = way == "downlink"
    return {
        "bearer": bearer["name"] if first else "",
        "channel": f"{channel['channel']} {'down' if first else 'up'}",
        "rate": f"{channel['rate_bps'] / 1000:g} kbit/s",
        "TTI": f"{channel['tti_ms']} ms",
        "block": f"{channel['block_bits']} bit",
        "blocks": " ".join(str(blocks) for blocks in channel["formats"]),
        "coding": channel["coding"],
        "coded": f"{channel['coded_bits']} bit",
        "RLC": bearer["rlc"] if first else "",
        "source": bearer["source"] if first else "",
    }
