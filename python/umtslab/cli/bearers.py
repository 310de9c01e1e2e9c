"""``umts bearers``: bearers for `umts emulate --bearer` and for scenarios."""

from __future__ import annotations

import json as json_text
from typing import TYPE_CHECKING, Any

from umtslab.cli.failures import UsageError
from umtslab.cli.options import add_json
from umtslab.emulate.network import SWITCHED

if TYPE_CHECKING:
    from umtslab.cli.parser import Parser


def options(parser: Parser) -> None:
    """Declare the arguments of ``umts bearers``."""
    parser.explain(
        "Reference bearers follow TS 34.108. They use RLC in acknowledged mode; the column RLC has "
        "the keys that differ from the defaults. Rates are RLC payload in a full TTI. A block is a "
        'transport block with all headers. "blocks" lists the permitted numbers of blocks in a TTI, '
        '"coded" is the number of bits in a full TTI after channel coding.',
        "Flat profiles are the network presets of browsers' developer tools and of test services. "
        "They do not model UMTS and serve for comparison.",
    )
    parser.add_argument(
        "containing",
        nargs="?",
        metavar="WORD",
        default="",
        help="Show only bearers with this text in their name.",
    )
    add_json(parser, 'one JSON list (the key "kind" has the kind of each bearer)')


def bearers(containing: str, *, json: bool) -> int:
    """Print the available bearers with their transport blocks. `options` declares the arguments."""
    listed = [bearer for bearer in _all() if containing in bearer["name"]]
    if not listed:
        raise UsageError(f"no bearer has {containing!r} in its name")
    if json:
        print(json_text.dumps(listed, indent=1))
        return 0
    from umtslab.terminal import rows_table
    from umtslab.text_table import show

    tables = []
    reference = [bearer for bearer in listed if bearer["kind"] == "reference"]
    if reference:
        rows = [
            _reference_row(bearer, direction) for bearer in reference for direction in ("downlink", "uplink")
        ]
        tables.append(rows_table(rows))
    others = [bearer for bearer in listed if bearer["kind"] not in ("reference", "flat")]
    if others:
        tables.append(rows_table([_row(bearer) for bearer in others]))
    flat = [bearer for bearer in listed if bearer["kind"] == "flat"]
    if flat:
        tables.append(rows_table([_flat_row(bearer) for bearer in flat]))
    for number, table in enumerate(tables):
        if number:
            print()
        show(table)
    return 0


def _all() -> list[dict[str, Any]]:
    """Return reference bearers, switched bearers and flat profiles, each with its kind."""
    from umtslab import _core

    return [
        *({**bearer, "kind": "reference"} for bearer in _core.bearers()),
        {
            "name": "fach",
            "kind": "common",
            "description": "the common channels: FACH down, RACH up",
            "scenario": 'bearer = "common"',
            "source": "",
        },
        *_switched(),
        {
            "name": "trace:FILE",
            "kind": "trace",
            "description": "a measured radio; trace:DOWN,UP for one trace per direction",
            "scenario": 'capacity = { downlink = "FILE", uplink = "FILE" }',
            "source": "traces in mahimahi's format",
        },
        *(
            {
                **profile,
                "name": f"flat:{profile['name']}",
                "kind": "flat",
                "description": "a rate and a delay, no model of UMTS",
                "scenario": f'flat.profile = "{profile["name"]}"',
            }
            for profile in _core.flat_profiles()
        ),
    ]


def _switched() -> list[dict[str, Any]]:
    from umtslab import _core

    switched = 'bearer = "switched"'
    return [
        {
            "name": SWITCHED,
            "kind": "switched",
            "description": "RRC switches between the common channels and a DCH; default timers",
            "scenario": switched,
            "source": _DCH_SOURCE,
            "dch": _dch(SWITCHED),
        },
        *(
            {
                "name": f"{SWITCHED}:{profile['name']}",
                "kind": "switched",
                "description": profile["description"],
                "scenario": f'{switched}, rrc.profile = "{profile["name"]}"',
                "source": f"{profile['source']}; {_DCH_SOURCE}",
                "dch": _dch(f"{SWITCHED}:{profile['name']}"),
            }
            for profile in _core.rrc_profiles()
        ),
        {
            "name": f"{SWITCHED}…@BEARER",
            "kind": "switched",
            "description": (
                "any of these with another DCH, or with several, the largest first: "
                f"{SWITCHED}:att-2010@ps-384"
            ),
            "scenario": f'{switched}, rrc.dch = ["BEARER"]',
            "source": "",
            "dch": "the named bearers",
        },
    ]


_DCH_SOURCE = "DCH: Dubois (2005), Table 7.2"
"""Source of the default of ``rrc.dch``. The sources of the RRC profiles do not define a DCH."""


def _dch(name: str) -> str:
    """Return the DCHs of a switched bearer, with their rates."""
    from umtslab.emulate.network import dch_of, of_bearer
    from umtslab.scenario import Scenario

    return dch_of(Scenario.parse(of_bearer(name, 1), overrides=(("duration", "1 s"),))) or ""


def _row(bearer: dict[str, Any]) -> dict[str, str]:
    """Return a bearer as a row of the table."""
    return {
        "bearer": bearer["name"],
        "description": bearer["description"],
        "DCH": bearer.get("dch", ""),
        "in a scenario": bearer["scenario"],
        "source": bearer["source"],
    }


def _flat_row(bearer: dict[str, Any]) -> dict[str, str]:
    """Return a flat profile as a row of the table."""
    return {
        "flat profile": bearer["name"],
        "down": f"{bearer['downlink_bps'] / 1000:g} kbit/s",
        "up": f"{bearer['uplink_bps'] / 1000:g} kbit/s",
        "RTT": f"{1000 * bearer['rtt_s']:g} ms",
        "loss": f"{100 * bearer['loss']:g} %",
        "source": bearer["source"],
    }


def _reference_row(bearer: dict[str, Any], direction: str) -> dict[str, str]:
    """Return one direction of a reference bearer as a row. Cells of both directions are in the first row."""
    channel = bearer[direction]
    is_downlink = direction == "downlink"
    return {
        "bearer": bearer["name"] if is_downlink else "",
        "channel": f"{channel['channel']} {'down' if is_downlink else 'up'}",
        "rate": f"{channel['rate_bps'] / 1000:g} kbit/s",
        "TTI": f"{channel['tti_ms']} ms",
        "block": f"{channel['block_bits']} bit",
        "blocks": " ".join(str(blocks) for blocks in channel["formats"]),
        "coding": channel["coding"],
        "coded": f"{channel['coded_bits']} bit",
        "RLC": bearer["rlc"] if is_downlink else "",
        "source": bearer["source"] if is_downlink else "",
    }
