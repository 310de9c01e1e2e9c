"""A page in a real browser, over FACH and DCH with RRC in between, and over a flat rate and delay.

    python examples/browser/page_load.py [--runs 3] [--out page-load]

Debian's Chromium, headless, loads the page that `umts emulate` has inside: a document and eight images of
20,000 octets. Both networks carry 384 kbit/s at their best. In the first the user begins on the common
channels, and is given the DCH when its buffer fills; the second is flat: a rate and a delay, as test services
use them, with the delay of a small packet on the DCH. The report is one HTML file with the load times and,
for the first run of each, what reached the browser over the RRC state.
"""

from __future__ import annotations

import argparse
import base64
import io
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from umtslab import open_store

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes

UMTS = str(Path(sys.executable).with_name("umts"))
HOST = "page.example"
OBJECTS, OCTETS = 8, 20_000
LOADED = re.compile(r"loaded in (\d+) ms")

USER = """
version = 1
name = "browser"
duration = "1 h"
[rrc]
dch = ["ps-384"]
[[ue]]
name = "browser"
{radio}
"""

NETWORKS = {
    "FACH and DCH": 'bearer = "switched"',
    "flat": 'flat = { downlink = "384 kbit/s", uplink = "64 kbit/s", rtt = "75 ms" }',
}
"""The radio by label. An echo of 76 octets takes 196 ms on that DCH, of which 121 are the fixed network's."""

BROWSER = [
    "chromium",
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    "--disable-sync",
    "--disable-extensions",
    "--dump-dom",
]

COLOURS = {"CELL_FACH": "#E69F00", "CELL_DCH": "#56B4E9", "": "#D0D0D0"}
"""Of RRC states; a switch under way has none of them."""


@dataclass(frozen=True)
class Load:
    """A page that was loaded: what the browser says it took, and what happened below."""

    milliseconds: int
    delivered: pl.DataFrame
    states: pl.DataFrame
    degraded: bool


def main() -> None:
    """Load the page over each network and write the report."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--out", type=Path, default=Path("page-load"))
    chosen = parser.parse_args()
    if shutil.which(BROWSER[0]) is None:
        sys.exit("there is no chromium here: apt-get install chromium")
    loads = {label: [load(radio) for _ in range(chosen.runs)] for label, radio in NETWORKS.items()}
    chosen.out.mkdir(parents=True, exist_ok=True)
    report = chosen.out / "report.html"
    report.write_text(html(loads), encoding="utf-8")
    for label, runs in loads.items():
        print(f"{label}: page loaded in {', '.join(str(run.milliseconds) for run in runs)} ms")
    print(f"Report: {report}")


def load(radio: str) -> Load:
    """Load the page once over a radio.

    Raises
    ------
    RuntimeError
        If the emulation or the browser fails; the message has their last words.
    """
    import json

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        scenario = folder / "network.toml"
        scenario.write_text(USER.format(radio=radio), encoding="utf-8")
        words = [
            UMTS, "emulate", "-q", "--series", "--scenario", str(scenario), "--out", str(folder / "results"),
            "--",
            *BROWSER, f"--user-data-dir={folder / 'profile'}",
            # The page is the only server that the browser reaches, not its vendor's services.
            f"--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE {HOST}",
            f"http://{HOST}/page?objects={OBJECTS}&size={OCTETS}",
        ]  # fmt: skip
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        found = LOADED.search(done.stdout)
        if done.returncode != 0 or found is None:
            raise RuntimeError(f"no page (status {done.returncode}): {done.stderr[-2000:]}")
        (run_folder,) = (folder / "results" / "runs").iterdir()
        with open_store(folder / "results") as store:
            (run,) = store.runs()
            states = run.series("rrc_state")
            card = json.loads((run_folder / "emulation.json").read_text(encoding="utf-8"))
            return Load(int(found[1]), run.series("rlc_delivered"), states, bool(card["degraded"]))


def html(loads: dict[str, list[Load]]) -> str:
    """The report."""
    rows = "\n".join(
        f"<tr><td>{label}</td><td>{', '.join(str(run.milliseconds) for run in runs)}</td>"
        f"<td>{sorted(run.milliseconds for run in runs)[len(runs) // 2]}</td>"
        f"<td>{sum(run.degraded for run in runs)}</td></tr>"
        for label, runs in loads.items()
    )
    picture = base64.b64encode(draw({label: runs[0] for label, runs in loads.items()})).decode()
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>A page over UMTS</title>
<style>body {{ font-family: sans-serif; margin: 2em auto; max-width: 60em }} td, th {{ padding: 0.2em 1em }}
table {{ border-collapse: collapse }} td, th {{ border-bottom: 1px solid #ccc; text-align: left }}
img {{ max-width: 100% }}</style></head>
<body><h1>A page in a real browser over UMTS</h1>
<p>Chromium loads a document and {OBJECTS} images of {OCTETS} octets; 384 kbit/s at best.</p>
<table><tr><th>network</th><th>load event (ms)</th><th>median</th><th>degraded runs</th></tr>
{rows}</table>
<p>The first run of each: what RLC delivered, and the RRC state below it.</p>
<img alt="Octets delivered over time, with RRC states" src="data:image/png;base64,{picture}">
</body></html>
"""


def draw(firsts: dict[str, Load]) -> bytes:
    """A picture with a panel for each network."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 2.9 * len(firsts)), dpi=120, layout="constrained")
    panels = figure.subplots(len(firsts), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    for axes, (label, first) in zip(panels, firsts.items(), strict=True):
        _panel(axes, label, first)
    panels[-1].set_xlabel("Time since the browser's first packet (s)")
    picture = io.BytesIO()
    figure.savefig(picture, format="png")
    return picture.getvalue()


def _panel(axes: Axes, label: str, first: Load) -> None:
    begin = first.delivered["time_s"].to_numpy().min()
    delivered = first.delivered.sort("time_s")
    delivered = delivered.filter(delivered["direction"] == "downlink")
    end = float(delivered["time_s"][-1])
    kilobytes = delivered["octets"].cum_sum() / 1000
    axes.step(delivered["time_s"] - begin, kilobytes, where="post", color="black", linewidth=1.2)
    rows = first.states.sort("time_s").to_dicts()
    ends = [row["time_s"] for row in rows[1:]] + [end]
    # A flat radio has no states.
    for row, until in zip(rows, ends, strict=False):
        state = "" if row["towards"] else row["state"]
        left, right = max(row["time_s"], begin) - begin, until - begin
        if right > left:
            name = f"to {row['towards']}" if row["towards"] else state
            axes.axvspan(left, right, color=COLOURS.get(state, "#FFFFFF"), alpha=0.5, linewidth=0)
            axes.text((left + right) / 2, 0.95, name, transform=axes.get_xaxis_transform(), ha="center",
                      va="top", fontsize=8)  # fmt: skip
    axes.set_title(f"{label}: loaded in {first.milliseconds} ms", fontsize=10, loc="left")
    axes.set_ylabel("Delivered (kB)")


if __name__ == "__main__":
    main()
