"""The Python interface of the compiled core."""

import pickle
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from umtslab import _core

FACH = Path(__file__).resolve().parents[2] / "scenarios/ftp-on-fach.toml"
SHORT = [("duration", "20 s")]


@pytest.fixture
def short() -> _core.Scenario:
    """Load 20 s of one FTP user on FACH."""
    return _core.Scenario.load(str(FACH), SHORT)


def test_a_scenario_has_name_seed_and_duration(short: _core.Scenario) -> None:
    assert (short.name, short.seed, short.duration_s) == ("ftp-on-fach", 1, 20.0)


def test_later_overrides_replace_earlier_ones(short: _core.Scenario) -> None:
    longer = short.with_overrides([("duration", "30 s"), ("radio.bler", "0.1")])
    assert (short.duration_s, longer.duration_s) == (20.0, 30.0)
    assert longer.content_hash() != short.content_hash()
    reset = longer.with_overrides([("duration", "20 s"), ("radio.bler", "0.01")])
    assert reset.content_hash() == short.content_hash()


def test_a_scenario_survives_a_round_trip_through_toml(short: _core.Scenario) -> None:
    reread = _core.Scenario.parse(short.to_toml(), "copy.toml")
    assert reread.content_hash() == short.content_hash()


def test_an_invalid_scenario_is_an_error_with_a_location() -> None:
    with pytest.raises(_core.ScenarioError) as caught:
        _core.Scenario.parse("version = 1\nduration = 10\n", "wrong.toml")
    error = caught.value
    assert isinstance(error, ValueError)
    assert (error.file, error.line, error.column, error.key) == ("wrong.toml", 2, 12, "duration")
    assert error.help
    assert "wrong.toml:2:12" in str(error)
    assert "\x1b" not in str(error)


def test_an_error_has_every_mistake_also_after_pickling() -> None:
    text = 'version = 1\nduration = 10\nnonsense = 1\n[tcp]\nvariant = "renno"\n'
    with pytest.raises(_core.ScenarioError) as caught:
        _core.Scenario.parse(text, "wrong.toml")
    error = pickle.loads(pickle.dumps(caught.value))
    first, *others = error.mistakes
    assert (first.key, first.line, first.message) == (error.key, error.line, error.message)
    assert [(mistake.key, mistake.line) for mistake in error.mistakes[:3]] == [
        ("duration", 2),
        ("nonsense", 3),
        ("tcp.variant", 5),
    ]
    assert all(mistake.mistakes == () and str(mistake) in str(error) for mistake in error.mistakes)
    assert all(other.message not in str(first) for other in others)


def test_a_wrong_override_names_its_key() -> None:
    with pytest.raises(_core.ScenarioError) as caught:
        _core.Scenario.load(str(FACH), [("radio.blr", "0.1")])
    assert caught.value.key == "radio.blr"
    assert "bler" in (caught.value.help or "")


def test_all_metrics_are_defined(short: _core.Scenario) -> None:
    result = _core.simulate(short, 1, 0)
    defined = {entry["name"] for entry in _core.metric_definitions()}
    # One definition serves both directions.
    names = {name.removesuffix("_uplink") for name in result.metrics}
    assert names <= defined
    goodput = result.metrics["goodput_kbps"]
    assert goodput is not None
    # Goodput over the 32 kbit/s channel, including slow start: positive and below the channel rate.
    assert 0 < goodput < 32
    assert result.events > 0


def test_connections_are_an_arrow_stream_that_can_be_read_twice(short: _core.Scenario) -> None:
    result = _core.simulate(short, 1, 0)
    table = pl.DataFrame(result.connections)
    assert table.height == len(result.connections) == 1
    assert table.equals(pl.DataFrame(result.connections))
    assert table["goodput_kbps"][0] == result.metrics["goodput_kbps"]
    # A greedy flow is still open at the end.
    assert table["closed_s"].to_list() == [None]


def test_series_are_recorded_on_request(short: _core.Scenario) -> None:
    assert _core.simulate(short, 1, 0).series == {}
    series = _core.simulate(short, 1, 0, series=True).series
    cwnd = pl.DataFrame(series["cwnd"])
    assert cwnd.columns[0] == "time_s"
    assert cwnd["time_s"].is_sorted()
    assert cwnd.height > 0


def test_captures_are_written_to_the_given_folder(short: _core.Scenario, tmp_path: Path) -> None:
    files = _core.simulate(short, 1, 0, pcap_dir=str(tmp_path)).files
    assert sorted(files) == sorted(str(path) for path in tmp_path.iterdir())
    assert all(Path(file).stat().st_size > 0 for file in files)


def test_captures_that_cannot_be_written_are_an_os_error(short: _core.Scenario, tmp_path: Path) -> None:
    # A file instead of a folder.
    (tmp_path / "file").write_text("")
    with pytest.raises(_core.OutputError) as caught:
        _core.simulate(short, 1, 0, pcap_dir=str(tmp_path / "file"))
    assert isinstance(caught.value, OSError)


def test_the_same_seed_and_run_give_the_same_numbers(short: _core.Scenario) -> None:
    lossy = short.with_overrides([("radio.bler", "0.2")])

    def numbers(seed: int, run: int) -> dict[str, float | None]:
        return _core.simulate(lossy, seed, run).metrics

    assert numbers(1, 0) == numbers(1, 0)
    assert numbers(1, 0) != numbers(1, 1)
    assert numbers(1, 0) != numbers(2, 0)


def test_recording_does_not_change_the_run(short: _core.Scenario, tmp_path: Path) -> None:
    bare = _core.simulate(short, 1, 0)
    full = _core.simulate(short, 1, 0, series=True, pcap_dir=str(tmp_path), progress=lambda fraction: None)
    assert (full.metrics, full.events) == (bare.metrics, bare.events)


def test_progress_rises_between_0_and_1(short: _core.Scenario) -> None:
    fractions: list[float] = []
    _core.simulate(short, 1, 0, progress=fractions.append)
    assert fractions == sorted(fractions)
    assert 0 <= fractions[0] <= fractions[-1] <= 1
    # About one report per cent.
    assert 50 <= len(fractions) <= 200


def raising(error: BaseException) -> Callable[[float], None]:
    """Return a callback that raises an exception after 30 % of the run."""

    def progress(fraction: float) -> None:
        if fraction > 0.3:
            raise error

    return progress


@pytest.mark.parametrize("error", [RuntimeError("enough"), KeyboardInterrupt()])
def test_exceptions_of_the_progress_callback_end_the_run(short: _core.Scenario, error: BaseException) -> None:
    with pytest.raises(type(error)) as caught:
        _core.simulate(short, 1, 0, progress=raising(error))
    assert caught.value is error


def test_the_version_has_a_fingerprint_of_the_sources() -> None:
    version = _core.version()
    assert set(version) == {"version", "commit", "code"}
    assert len(version["code"]) == 16
    assert all(version.values())
