"""Campaign files: the points that they describe, and errors of invalid files.

A point is one combination of values of the varied keys.
"""

from __future__ import annotations

import re
import sqlite3
from contextlib import suppress
from pathlib import Path

import pytest
from conftest import FTP, Umts, tree
from hypothesis import given
from hypothesis import strategies as st
from umtslab.campaign import CampaignError, load_campaign
from umtslab.campaign.file import Campaign
from umtslab.campaign.study import campaign_points
from umtslab.campaign.where import Where
from umtslab.cli import main
from umtslab.metrics import units
from umtslab.quantity import in_one_unit, quantity

HSDPA = FTP.with_name("hsdpa.toml")
HEAD = f'version = 1\nscenario = "{FTP}"\n'


def loaded(tmp_path: Path, text: str) -> Campaign:
    """Return the campaign in a file that begins with `HEAD`."""
    file = tmp_path / "campaign.toml"
    file.write_text(HEAD + text)
    return load_campaign(file)


def combinations(tmp_path: Path, text: str) -> list[dict[str, object]]:
    """Return the points of a campaign file."""
    return [dict(point) for point in loaded(tmp_path, text).combinations()]


def test_points_are_grid_times_zip_times_list(tmp_path: Path) -> None:
    points = combinations(
        tmp_path,
        """
        [grid]
        a.x = [1, 2]
        [zip]
        b = ["p", "q"]
        c = ["P", "Q"]
        [[list]]
        d = true
        [[list]]
        e = 0.5
        """,
    )
    assert len(points) == 2 * 2 * 2
    assert points[:3] == [
        {"a.x": 1, "b": "p", "c": "P", "d": True},
        {"a.x": 1, "b": "p", "c": "P", "e": 0.5},
        {"a.x": 1, "b": "q", "c": "Q", "d": True},
    ]
    assert all((point["b"], point["c"]) in {("p", "P"), ("q", "Q")} for point in points)


def test_a_value_of_zip_may_repeat(tmp_path: Path) -> None:
    text = "[zip]\na = ['0 s', '8 s', '0 s']\nb = ['8 s', '8 s', '12 s']\n"
    assert combinations(tmp_path, text) == [
        {"a": "0 s", "b": "8 s"},
        {"a": "8 s", "b": "8 s"},
        {"a": "0 s", "b": "12 s"},
    ]


def test_a_value_may_be_a_list(tmp_path: Path) -> None:
    """The error model in ``[set]`` needs probabilities, which are a list at each point."""
    text = """
        [set]
        ue.0.hs_dsch.errors = "per_attempt"
        [grid]
        ue.0.hs_dsch.attempt_errors = [[0.1], [0.3, 0.01]]
        """
    file = tmp_path / "campaign.toml"
    file.write_text(HEAD.replace(str(FTP), str(HSDPA)) + text)
    points = campaign_points(load_campaign(file))
    assert [point.overrides for point in points] == [
        {"ue.0.hs_dsch.attempt_errors": "[0.1]"},
        {"ue.0.hs_dsch.attempt_errors": "[0.3, 0.01]"},
    ]
    assert "attempt_errors = [0.3, 0.01]" in points[1].scenario.to_toml()


def test_where_keeps_the_points_that_satisfy_it(tmp_path: Path) -> None:
    text = "where = \"a > 1 and b != 'p'\"\n[grid]\na = [1, 2]\nb = ['p', 'q']\n"
    assert combinations(tmp_path, text) == [{"a": 2, "b": "q"}]


# Conditions, values of a point, and whether the point satisfies the condition.
CONDITIONS = [
    ("x < 2", {"x": 1}, True),
    ("1 < x <= 2", {"x": 2}, True),
    ("x == '0.5 s'", {"x": "500 ms"}, True),
    ("x < '1 kB'", {"x": "500 B"}, True),
    ("x in ('reno', 'sack')", {"x": "sack"}, True),
    ("x not in ['reno']", {"x": "sack"}, True),
    ("not (x == 1 or x == 2)", {"x": 2}, False),
    ("2 * x + 1 == 7", {"x": 3}, True),
    ("x == true", {"x": True}, True),
    ("x == true", {"x": "true"}, True),
    ("x == true", {"x": "1"}, False),
    ("measure.from == '10 s'", {"measure.from": "10 s"}, True),
    ("ue.0.in == 1", {"ue.0.in": 1}, True),
]
# Conditions over `x` and `y` at a point without `x`, which its row of [[list]] lacks.
WITHOUT_X = [
    ("x == 1 or y == 2", True),
    ("x != 1", True),
    ("x == x", False),
    ("x in (1, 2)", False),
    ("not x == 1 and y == 2", True),
]


@pytest.mark.parametrize(("text", "point", "holds"), CONDITIONS)
def test_a_condition_is_true_or_false_at_a_point(text: str, point: dict[str, object], holds: bool) -> None:
    assert Where(text, point.keys()).holds(point) is holds


@pytest.mark.parametrize(("text", "holds"), WITHOUT_X)
def test_a_missing_key_equals_no_value(text: str, holds: bool) -> None:
    assert Where(text, {"x", "y"}).holds({"y": 2}) is holds


@pytest.mark.parametrize("text", ["x < 2", "2 > x", "x + 1 == 2", "-x == 1"])
def test_a_missing_key_has_no_order_and_no_number(text: str) -> None:
    with pytest.raises(CampaignError, match=r"some rows of \[\[list\]\] lack"):
        Where(text, {"x", "y"}).holds({"y": 2})


def test_a_further_condition_is_combined_with_the_condition_of_the_file(tmp_path: Path) -> None:
    text = "where = \"a == 1 or b == 'p'\"\n[grid]\na = [1, 2]\nb = ['p', 'q']\n"
    chosen = loaded(tmp_path, text).with_condition("b == 'q' or a == 2")
    assert chosen.combinations() == [{"a": 1, "b": "q"}, {"a": 2, "b": "p"}]


@pytest.mark.parametrize("condition", ["", "a == 1) or (b == 'p'", "c == 1"])
def test_an_invalid_further_condition_is_refused(tmp_path: Path, condition: str) -> None:
    with pytest.raises(CampaignError, match="where = "):
        loaded(tmp_path, "where = 'a == 1'\n[grid]\na = [1, 2]\nb = ['p']\n").with_condition(condition)


@pytest.mark.parametrize(
    "text",
    ["", "x", "x +", "x.__class__", "x()", "[y for y in x]", "lambda: x", "'a'.upper() == x", "x < 'a'",
     "x / 0 == 1", "x < '1 s'", "f'{x}' == x", "__import__('os') == x", "x ** 9 == 1", "x if x else x"],
)  # fmt: skip
def test_invalid_conditions_are_refused(text: str) -> None:
    with pytest.raises(CampaignError):
        Where(text, {"x"}).holds({"x": 1})


@given(st.text(max_size=40))
def test_any_text_is_a_condition_or_is_refused(text: str) -> None:
    with suppress(CampaignError):
        assert Where(text, {"x", "radio.bler"}).holds({"x": 1, "radio.bler": "a"}) in {True, False}


def test_quantities_of_one_kind_share_a_unit() -> None:
    assert in_one_unit(["500 ms", "2 s"]) == ([500.0, 2000.0], "ms")
    assert in_one_unit([1, 2.5]) == ([1.0, 2.5], "")
    assert in_one_unit(["1 s", "1 kB"]) is None
    assert in_one_unit(["reno", 1]) is None
    assert quantity(True) is None


# Text of the file, and a part of the error message.
WRONG = {
    "no TOML": ("version = = 1", "TOML"),
    "missing version": (f'scenario = "{FTP}"\n[grid]\nradio.bler = [0.1]', "version"),
    "a later version": (HEAD.replace("1", "2", 1) + "[grid]\nradio.bler = [0.1]", "version"),
    "unknown key": (HEAD + "rusn = 3\n[grid]\nradio.bler = [0.1]", "runs"),
    "unknown key in precision": (HEAD + "[precision]\nrelative = '5%'\nmots = 9", "most"),
    "missing scenario": ("version = 1\n[grid]\nradio.bler = [0.1]", "scenario"),
    "no such scenario": (
        HEAD.replace("fach", "hcaf") + "[grid]\nradio.bler = [0.1]",
        "c.toml:2: scenario: the file ",
    ),
    "nothing varied": (HEAD, "-P"),
    "empty grid": (HEAD + "[grid]\n", "-P"),
    "empty list of values": (HEAD + "[grid]\nradio.bler = []", "c.toml:4"),
    "value listed twice": (HEAD + "[grid]\nradio.bler = [0.1, 0.1]", "twice"),
    "one value for a list": (HEAD + "[grid]\nradio.bler = 0.1", "[0.1]"),
    "a table as value": (HEAD + "[grid]\nradio.bler = [{ a = 1 }]", "radio.bler"),
    "a list for a number": (
        HEAD + "[grid]\nradio.bler = [[0.1, 0.2]]",
        "c.toml:4: the point radio.bler = [0.1, 0.2] is not a valid",
    ),
    "a list of lists": (HEAD + "[grid]\nradio.bler = [[[0.1]]]", "c.toml:4"),
    "set and point wrong together": (
        HEAD + "[set]\nue.0.bearer = 'hsdpa-3.6'\n[grid]\nue.0.hs_dsch.category = [0]",
        "c.toml:6: the point ue.0.hs_dsch.category = 0 is not a valid",
    ),
    "bad scenario key": (
        HEAD + "[grid]\nradio.blre = [0.1]",
        "c.toml:4: the point radio.blre = 0.1 is not a valid",
    ),
    "bad scenario value": (
        HEAD + "[grid]\nradio.bler = [0.1, 1.5]",
        "c.toml:4: the point radio.bler = 1.5 is not a valid",
    ),
    "bad key in set": (
        HEAD + "[set]\ntcp.varaint = 'reno'\n[grid]\nradio.bler = [0.1]",
        "c.toml:4: the settings common to all",
    ),
    "set and varied": (
        HEAD + "[set]\nradio.bler = 0.2\n[grid]\nradio.bler = [0.1]",
        "c.toml:6: radio.bler: values are given",
    ),
    "zip of unequal lengths": (HEAD + "[zip]\nradio.bler = [0.1]\nrlc.max_dat = [1, 2]", "equal lengths"),
    "row of zip listed twice": (
        HEAD + "[zip]\nradio.bler = [0.1, 0.2, 0.1]\nrlc.max_dat = [1, 1, 1]",
        "c.toml:3: zip: the row 0.1, 1 is listed twice",
    ),
    "impossible where": (
        HEAD + "where = 'radio.bler > 1'\n[grid]\nradio.bler = [0.1]",
        "c.toml:3: where = 'radio.bler > 1' excludes all",
    ),
    "where about an unknown key": (
        HEAD + "where = 'blre > 1'\n[grid]\nradio.bler = [0.1]",
        "c.toml:3: where = 'blre",
    ),
    "where that is no condition": (
        HEAD + "where = 'radio.bler >'\n[grid]\nradio.bler = [0.1]",
        "c.toml:3: where",
    ),
    "seed varied": (HEAD + "[grid]\nseed = [1, 2]", "seed"),
    "no runs": (HEAD + "runs = 0\n[grid]\nradio.bler = [0.1]", "runs"),
    "runs as text": (HEAD + "runs = '5'\n[grid]\nradio.bler = [0.1]", "whole number"),
    "precision of 0": (HEAD + "[precision]\nrelative = '0%'\n[grid]\nradio.bler = [0.1]", "percentage"),
    "precision of an unknown metric": (
        HEAD + "[precision]\nrelative = '5%'\nmetric = 'speed'\n[grid]\nradio.bler = [0.1]",
        "speed",
    ),
    "metrics that do not exist": (
        HEAD + "metrics = ['goodput_kbps', 'mean_udp_delay_s']\n[grid]\nradio.bler = [0.1]",
        "c.toml:3: metrics: there is no metric 'mean_udp_delay_s'",
    ),
    "a metric named twice": (
        HEAD + "metrics = ['rto_count', 'rto_count']\n[grid]\nradio.bler = [0.1]",
        "rto_count is listed twice",
    ),
    "no metrics": (HEAD + "metrics = []\n[grid]\nradio.bler = [0.1]", "metrics: the list is empty"),
    "name that is a path": (HEAD + "name = '../up'\n[grid]\nradio.bler = [0.1]", "../up"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_campaign_leaves_no_store(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text, message = WRONG[case]
    (tmp_path / "c.toml").write_text(text)
    monkeypatch.chdir(tmp_path)
    assert main(["sweep", "c.toml", "--json"]) == 2
    printed = capsys.readouterr()
    assert message in printed.err
    assert printed.out == ""
    assert [path.name for path in tmp_path.iterdir()] == ["c.toml"]


# Words after ``umts sweep``, and a part of the error message.
WRONG_USAGE = {
    "missing file": (("nothing.toml",), "nothing.toml"),
    "a folder": ((".",), "directory"),
    "-P without values": ((FTP, "-P", "radio.bler"), "KEY=VALUE"),
    "-P with an empty value": ((FTP, "-P", "radio.bler=0.1,,0.2"), "KEY=VALUE"),
    "-P of the seed": ((FTP, "-P", "seed=1,2"), "seed"),
    "nothing varied": ((FTP,), "-P"),
    "set a varied key": ((FTP, "-P", "radio.bler=0.1", "--set", "radio.bler=0.2"), "radio.bler"),
    "runs and precision": ((FTP, "-P", "radio.bler=0.1", "--runs", "3", "--precision", "5%"), "--precision"),
    "no runs": ((FTP, "-P", "radio.bler=0.1", "--runs", "0"), "--runs"),
    "no such metric": ((FTP, "-P", "radio.bler=0.1", "--metric", "speed"), "speed"),
    "jobs and dask": ((FTP, "-P", "radio.bler=0.1", "--jobs", "2", "--dask", "tcp://127.0.0.1:1"), "--dask"),
    "no scheduler there": (
        (FTP, "-P", "radio.bler=0.1", "--dask", "tcp://127.0.0.1:1"),
        "127.0.0.1:1",
    ),
    "no address": ((FTP, "-P", "radio.bler=0.1", "--dask", "nonsense://x"), "nonsense"),
}


@pytest.mark.parametrize("case", WRONG_USAGE)
def test_wrong_usage_leaves_no_store(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words, message = WRONG_USAGE[case]
    monkeypatch.chdir(tmp_path)
    assert main(["sweep", *map(str, words)]) == 2
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def change_layout_of_catalogue(store: Path) -> None:
    """Give the catalogue the number of another layout."""
    with sqlite3.connect(store / "catalogue.sqlite") as db:
        db.execute("PRAGMA user_version = 7")
    db.close()


def change_layout_of_runs(store: Path) -> None:
    """Remove the catalogue, and give the runs the number of another layout."""
    for file in store.glob("catalogue*"):
        file.unlink()
    for card in store.glob("runs/*/run.json"):
        card.write_text(card.read_text().replace('"format": 1', '"format": 7'))


@pytest.mark.parametrize("change", [change_layout_of_catalogue, change_layout_of_runs])
@pytest.mark.parametrize(
    "words", [("sweep", FTP, "-P", "radio.bler=0.1"), ("run", FTP), ("export", "ftp-on-fach", "--csv")]
)
def test_a_store_of_another_layout_is_refused_and_unchanged(
    change: object, words: tuple[object, ...], umts: Umts, tmp_path: Path
) -> None:
    umts("run", FTP, "--duration", "1 s")
    assert callable(change)
    change(tmp_path / "results")
    before = tree(tmp_path / "results")
    done = umts(*words, status=2)
    assert "layout 7" in done.stderr
    assert without_files_of_sqlite(tree(tmp_path / "results")) == without_files_of_sqlite(before)


def without_files_of_sqlite(files: dict[str, bytes]) -> dict[str, bytes]:
    """Leave out files that SQLite creates beside the catalogue to read it, such as catalogue.sqlite-shm."""
    return {name: content for name, content in files.items() if not name.startswith("catalogue.sqlite-")}


CAMPAIGNS = sorted(FTP.parents[1].glob("campaigns/*.toml"))


@pytest.mark.parametrize("path", CAMPAIGNS, ids=lambda path: path.stem)
def test_shipped_campaigns_name_metrics_that_exist(path: Path) -> None:
    text = path.read_text()
    # Metrics of commands in the comments of the file.
    commented = re.findall(r"(?m)^# .*umts (?:plot|export) \S+ (?:.*--metric )?([a-z0-9_]+)", text)
    for name in commented:
        assert name in units(), name
    if "[grid]" in text:
        assert load_campaign(path).metrics


@pytest.mark.slow
def test_tables_and_pages_show_the_metrics_of_the_file_or_of_the_option(tmp_path: Path, umts: Umts) -> None:
    file = tmp_path / "some.toml"
    file.write_text(
        f"{HEAD}metrics = ['rto_count', 'mean_rtt_s']\nset = {{ duration = '5 s' }}\n"
        "[grid]\nradio.bler = [0.1, 0.3]\n"
    )
    output = umts("sweep", file, "--report").stdout
    assert "rto_count" in output
    assert "goodput_kbps" not in output
    page = (tmp_path / "results" / "reports" / "some.html").read_text()
    assert 'id="rto_count"' in page
    assert 'id="goodput_kbps"' not in page
    assert "rto_count" in umts("compare", "some@radio.bler=0.1", "some@radio.bler=0.3").stdout
    output = umts("sweep", file, "--metric", "goodput_kbps").stdout
    assert "goodput_kbps" in output
    assert "rto_count" not in output
