"""What figures and tables for readers call metrics, scenario keys and their values.

The core declares a label where it declares the metric or the key. All that is shown to readers asks here.
"""

from __future__ import annotations

from functools import lru_cache

from umtslab import _core
from umtslab.metrics import UPLINK, definitions, units

SCENARIO = "scenario"
"""The parameter of a campaign that stands for a whole scenario file."""

_OVER = {
    "ue.rlc.": "rlc.",
    "ue.rrc.": "rrc.",
    "ue.radio.": "radio.",
    "flow.tcp.": "tcp.",
    "proxy.server_side.": "tcp.",
    "proxy.radio_side.": "tcp.",
}
"""Tables that go over another, with the same keys."""

_NAMES = {
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
"""Values whose names are written otherwise than in a scenario file."""


def metric_label(metric: str) -> str:
    """What a metric is called, without its unit; the name itself of one that the core does not define.

    >>> metric_label("goodput_kbps"), metric_label("bler_pct_uplink")
    ('Goodput', 'Block error rate, measured, uplink')
    """
    found = _of_metrics().get(metric)
    if found is None and metric.endswith(UPLINK):
        plain = _of_metrics().get(metric.removesuffix(UPLINK))
        return metric if plain is None else f"{plain}, uplink"
    return metric if found is None else found


def cause_label(cause: str) -> str:
    """Label of a cause of the time budget in tables and figures.

    >>> cause_label("channel_switch")
    'channel switch'
    """
    return metric_label(f"budget_{cause}_s").removeprefix("Time budget: ")


def key_label(key: str) -> str:
    """What a scenario key is called, without its unit; the key itself where there is no such key.

    Places in arrays may be numbered, as in overrides.

    >>> key_label("radio.bler"), key_label("flow.0.tcp.variant")
    ('Block error rate', 'TCP version')
    """
    if key == SCENARIO:
        return "Scenario"
    plain = ".".join(part for part in key.split(".") if not part.isdigit())
    for over, under in _OVER.items():
        if plain.startswith(over):
            plain = under + plain.removeprefix(over)
    return _of_keys().get(plain, key)


def value_label(value: object) -> str:
    """A parameter's value as readers write it.

    >>> value_label("newreno"), value_label("40 ms"), value_label(True)
    ('NewReno', '40 ms', 'on')
    """
    return _NAMES.get(str(value), str(value))


def with_unit(label: str, unit: str) -> str:
    """A label with the unit of its numbers, if they have one.

    >>> with_unit("Goodput", "kbit/s"), with_unit("TCP retransmissions", "")
    ('Goodput (kbit/s)', 'TCP retransmissions')
    """
    return f"{label} ({unit})" if unit else label


def metric_with_unit(metric: str) -> str:
    """What a metric is called, with its unit: the label of an axis, the head of a column.

    >>> metric_with_unit("goodput_kbps")
    'Goodput (kbit/s)'
    """
    return with_unit(metric_label(metric), units().get(metric, ""))


@lru_cache(maxsize=1)
def _of_metrics() -> dict[str, str]:
    return {entry["name"]: entry["label"] for entry in definitions()}


@lru_cache(maxsize=1)
def _of_keys() -> dict[str, str]:
    return {row["key"]: row["label"] for row in _core.params()}
