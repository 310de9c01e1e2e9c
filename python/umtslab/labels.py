"""Labels of metrics, scenario keys and their values, for figures and tables.

The core declares a label with each metric and key. All output for readers uses these functions.
"""

from __future__ import annotations

from functools import lru_cache

from umtslab import _core
from umtslab.metrics import UPLINK, definitions, units

SCENARIO = "scenario"
"""Axis of a campaign with scenario files as values."""

_OVERRIDDEN_TABLES = {
    "ue.rlc.": "rlc.",
    "ue.rrc.": "rrc.",
    "ue.radio.": "radio.",
    "flow.tcp.": "tcp.",
    "proxy.server_side.": "tcp.",
    "proxy.radio_side.": "tcp.",
}
"""For each table that overrides the keys of another table, that other table. The labels are the same."""

_VALUE_LABELS = {
    "tahoe": "Tahoe",
    "reno": "Reno",
    "newreno": "NewReno",
    "vegas": "Vegas",
    "sack": "SACK",
    "fack": "FACK",
    "westwood": "Westwood+",
    "cubic": "CUBIC",
    "bbr": "BBR",
    "am": "AM",
    "um": "UM",
    "tm": "TM",
    "True": "on",
    "False": "off",
}
"""Values that are written differently from their form in a scenario file."""


def metric_label(metric: str) -> str:
    """Return the label of a metric without its unit.

    A metric that the core does not define is returned unchanged.

    >>> metric_label("goodput_kbps"), metric_label("bler_pct_uplink")
    ('Goodput', 'Block error rate, measured, uplink')
    """
    label = _metric_labels().get(metric)
    if label is None and metric.endswith(UPLINK):
        downlink = _metric_labels().get(metric.removesuffix(UPLINK))
        return metric if downlink is None else f"{downlink}, uplink"
    return metric if label is None else label


def cause_label(cause: str) -> str:
    """Return the label of a cause of the time budget.

    >>> cause_label("channel_switch")
    'channel switch'
    """
    return metric_label(f"budget_{cause}_s").removeprefix("Time budget: ")


def key_label(key: str) -> str:
    """Return the label of a scenario key without its unit. An unknown key is returned unchanged.

    The key may have indices of arrays, as in overrides.

    >>> key_label("radio.bler"), key_label("flow.0.tcp.variant")
    ('Block error rate', 'TCP version')
    """
    if key == SCENARIO:
        return "Scenario"
    without_indices = ".".join(part for part in key.split(".") if not part.isdigit())
    for table, overridden in _OVERRIDDEN_TABLES.items():
        if without_indices.startswith(table):
            without_indices = overridden + without_indices.removeprefix(table)
    return _key_labels().get(without_indices, key)


def value_label(value: object) -> str:
    """Return the label of a parameter's value.

    >>> value_label("newreno"), value_label("40 ms"), value_label(True)
    ('NewReno', '40 ms', 'on')
    """
    return _VALUE_LABELS.get(str(value), str(value))


def with_unit(label: str, unit: str) -> str:
    """Append the unit to a label, if there is one.

    >>> with_unit("Goodput", "kbit/s"), with_unit("TCP retransmissions", "")
    ('Goodput (kbit/s)', 'TCP retransmissions')
    """
    return f"{label} ({unit})" if unit else label


def metric_with_unit(metric: str) -> str:
    """Return the label of a metric with its unit, for axes and headings.

    >>> metric_with_unit("goodput_kbps")
    'Goodput (kbit/s)'
    """
    return with_unit(metric_label(metric), units().get(metric, ""))


@lru_cache(maxsize=1)
def _metric_labels() -> dict[str, str]:
    return {entry["name"]: entry["label"] for entry in definitions()}


@lru_cache(maxsize=1)
def _key_labels() -> dict[str, str]:
    return {row["key"]: row["label"] for row in _core.params()}
