"""Colours and hatches of the causes of time budgets.

Related causes share a colour. Hatches distinguish them, also in grey.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from umtslab.budget import seconds, transfer_parts
from umtslab.labels import cause_label
from umtslab.plot.style import put_legend

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOOKS = {
    "rto_needed": ("#D55E00", ""),
    "channel_switch": ("#E69F00", ""),
    "dch_refused": ("#E69F00", "...."),
    "handover": ("#E69F00", "\\\\\\\\"),
    "capacity_request": ("#E69F00", "////"),
    "capacity_wait": ("#E69F00", "xxxx"),
    "postponed_codes": ("#F0E442", "////"),
    "postponed_power": ("#F0E442", "xxxx"),
    "postponed_credit": ("#F0E442", "...."),
    "rlc_reestablishment": ("#CC79A7", "oooo"),
    "rlc_reset": ("#CC79A7", "++++"),
    "ack_channel": ("#CC79A7", "////"),
    "status_prohibited": ("#CC79A7", "...."),
    "nodeb_drop": ("#CC79A7", "xxxx"),
    "rlc_recovery": ("#CC79A7", ""),
    "rlc_window": ("#CC79A7", "\\\\\\\\"),
    "radio_queue": ("#F0E442", ""),
    "core_queue": ("#777777", ""),
    "needless_repeats": ("#882255", ""),
    "ack_loss": ("#882255", "...."),
    "rlc_discard": ("#D55E00", "////"),
    "radio_loss": ("#D55E00", "xxxx"),
    "buffer_full": ("#D55E00", "...."),
    "core_drop": ("#777777", "...."),
    "core_outage": ("#777777", "xxxx"),
    "core_loss": ("#777777", "////"),
    "names": ("#000000", "////"),
    "setup": ("#000000", ""),
    "slow_start_spurious": ("#882255", "////"),
    "slow_start": ("#56B4E9", ""),
    "congestion_avoidance": ("#56B4E9", "////"),
    "advertised_window": ("#56B4E9", "xxxx"),
    "serialisation": ("#0072B2", ""),
    "propagation": ("#009E73", ""),
    "sender_idle": ("#dddddd", "////"),
    "application_idle": ("#eeeeee", ""),
    "not_visible": ("#ffffff", "...."),
    "unexplained": ("#ffffff", "xxxx"),
}
"""Colour (from the palette of Okabe and Ito) and hatch of each cause."""


IN_PROXY = {"proxy_queue": ("#332288", ""), "proxy_setup": ("#332288", "////")}
"""Colour and hatch of causes that apply only to transfers split by a proxy."""


def bar_style(cause: str, looks: Mapping[str, tuple[str, str]] = LOOKS) -> dict[str, Any]:
    """Return the arguments for matplotlib."""
    colour, hatch = looks[cause]
    return {"facecolor": colour, "hatch": hatch, "edgecolor": "#333333", "linewidth": 0.3}


def cause_text(cause: str) -> str:
    """Return the label of a cause for legends, the same as in the tables of budgets."""
    if cause in IN_PROXY:
        return dict(transfer_parts())[f"transfer_{seconds(cause)}"]
    return cause_label(cause)


def legend(figure: Figure, causes: Iterable[str], *, title: str = "") -> None:
    """Put the legend of `causes` below a figure, in the order of the stack from the top."""
    from matplotlib.patches import Patch

    reversed_causes = list(causes)[::-1]
    patches = [Patch(**bar_style(cause, {**LOOKS, **IN_PROXY})) for cause in reversed_causes]
    put_legend(figure, patches, [cause_text(cause) for cause in reversed_causes], title=title)
