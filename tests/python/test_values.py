"""Values of ``umts sweep -P KEY=VALUES``: lists, ranges with a step, and ranges with a number of values."""

from __future__ import annotations

import json

import pytest
from conftest import FTP, Umts
from hypothesis import given
from hypothesis import strategies as st
from umtslab.cli.failures import UsageError
from umtslab.cli.values import listed

LISTS = {
    "0.1,0.2": ["0.1", "0.2"],
    "reno, vegas,reno": ["reno", "vegas"],
    "0:0.3:0.05": ["0", "0.05", "0.1", "0.15", "0.2", "0.25", "0.3"],
    "0:0.31:0.1": ["0", "0.1", "0.2", "0.3"],
    "3:1:-1": ["3", "2", "1"],
    "0.1,0.2:0.4:0.1": ["0.1", "0.2", "0.3", "0.4"],
    "10 ms:30 ms:10 ms": ["10 ms", "20 ms", "30 ms"],
    "10:30:10 ms": ["10 ms", "20 ms", "30 ms"],
    "100:300:100 kbit/s": ["100 kbit/s", "200 kbit/s", "300 kbit/s"],
    "lin(0,0.3,4)": ["0", "0.1", "0.2", "0.3"],
    "log(0.001,1,4)": ["0.001", "0.01", "0.1", "1"],
    "log(1 ms,1000 ms,4),2 s": ["1 ms", "10 ms", "100 ms", "1000 ms", "2 s"],
    "1e-3:3e-3:1e-3": ["0.001", "0.002", "0.003"],
    # Values with colons are ranges only if all parts are numbers.
    "fach-dch:att-2010:x": ["fach-dch:att-2010:x"],
    "law.py:Mine": ["law.py:Mine"],
    "a(b,c)": ["a(b,c)"],
    "a(b,c": ["a(b", "c"],
    # A comma in brackets belongs to the value.
    "[0.1],[0.3, 0.1]": ["[0.1]", "[0.3, 0.1]"],
    '["a,b", "]"],["c"],d': ['["a,b", "]"]', '["c"]', "d"],
    '{ snr = "3 dB", cqi = [1, 2] },x': ['{ snr = "3 dB", cqi = [1, 2] }', "x"],
    "": [""],
}


@pytest.mark.parametrize("text", LISTS)
def test_lists_and_ranges_expand_to_values(text: str) -> None:
    assert listed(text) == LISTS[text]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0:1:0", "FIRST:LAST:STEP"),
        ("0:1:-1", "FIRST:LAST:STEP"),
        ("0:1:0.00001", "1 to 10000 values"),
        ("1 ms:1 s:1 ms", "the same unit, not ms and s"),
        ("lin(0,1,1)", "2 to 10000 values"),
        ("log(0,1,5)", "both above 0"),
    ],
)
def test_invalid_values_are_refused_and_quoted(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        listed(text)
    assert message in str(caught.value)
    assert repr(text) in str(caught.value)


@given(st.integers(-1000, 1000), st.integers(1, 50), st.integers(1, 40))
def test_a_range_has_both_ends(first: int, step: int, steps: int) -> None:
    last = first + step * steps
    values = listed(f"{first / 100}:{last / 100}:{step / 100}")
    assert (float(values[0]), float(values[-1])) == (first / 100, last / 100)
    assert len(values) == steps + 1


def test_a_sweep_takes_a_range(umts: Umts) -> None:
    words = ("sweep", FTP, "-P", "radio.bler=0:0.3:0.1", "-P", "link.0.delay=lin(10 ms,30 ms,3)", "--plan")
    # Four error rates, each with three delays.
    points = json.loads(umts(*words, "--json").stdout)["points"]
    assert [point["parameters"]["radio.bler"] for point in points[::3]] == ["0", "0.1", "0.2", "0.3"]
    assert [point["parameters"]["link.0.delay"] for point in points[:3]] == ["10 ms", "20 ms", "30 ms"]


def test_an_invalid_range_is_reported_with_its_option(umts: Umts) -> None:
    errors = umts("sweep", FTP, "-P", "radio.bler=0:0.3:0", status=2).stderr
    assert errors.startswith("umts: -P radio.bler: '0:0.3:0' must be FIRST:LAST:STEP")
