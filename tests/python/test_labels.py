"""Labels of metrics and scenario keys in figures and tables for readers."""

from __future__ import annotations

import doctest

from umtslab import _core, labels
from umtslab.labels import key_label, metric_label, metric_with_unit
from umtslab.metrics import definitions, units


def test_every_metric_has_a_unique_label() -> None:
    # A cause of the budget has a time (s) and a share (%), whose labels differ only by the unit.
    labels_with_units = [metric_with_unit(name) for name in units()]
    assert len(set(labels_with_units)) == len(labels_with_units)


def test_labels_of_metrics_contain_neither_their_name_nor_their_unit() -> None:
    # Only names of RRC states have underscores.
    for name in units():
        label = metric_label(name)
        assert label
        assert "_" not in label.replace("CELL_", "").replace("URA_", ""), name
    assert all(entry["unit"] not in entry["label"].split() for entry in definitions() if entry["unit"] != "%")


def test_a_key_has_the_same_label_for_every_ue_flow_and_bearer() -> None:
    assert all(row["label"] and key_label(row["key"]) == row["label"] for row in _core.params())
    assert key_label("ue.0.rlc.max_dat") == key_label("rlc.max_dat") == "MaxDAT (transmissions of a PDU)"
    assert key_label("flow.1.tcp.variant") == key_label("tcp.variant")
    assert key_label("bearer.0.downlink.scheduler") == key_label("bearer.downlink.scheduler")
    assert key_label("no.such.key") == "no.such.key"


def test_the_examples_of_the_module_hold() -> None:
    assert doctest.testmod(labels).failed == 0
