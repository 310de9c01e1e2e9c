"""Studies: optimisation and sensitivity, with equal results after interruptions."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from conftest import FTP, Umts, tree
from umtslab import open_store
from umtslab.campaign import CampaignError, Study, Workers, load_campaign
from umtslab.cli import main
from umtslab.studies.optimise import load_optimisation, optimise
from umtslab.studies.parameters import Parameter
from umtslab.studies.runner import StudyRunner
from umtslab.studies.sensitivity import Effect, analyse_sensitivity, load_sensitivity

pytestmark = pytest.mark.slow

# Studies simulate many points of a scenario. An optimisation searches the best point ("optimise"),
# and a sensitivity analysis measures the effect of each parameter ("sensitivity").
HEAD = f'version = 1\nscenario = "{FTP}"\nruns = 2\n[set]\nduration = "20 s"\nradio.bler = 0.2\n'
OPTIMISATION = (
    HEAD.replace("[set]", "trials = 14\n[set]")
    + """
[parameters]
rlc.max_dat = { from = 1, to = 6 }
tcp.variant = { choices = ["reno", "tahoe"] }
[objective]
metric = "goodput_kbps"
[[constraint]]
metric = "mean_outstanding_segments"
at_most = 12
"""
)
RANGE = "from = 1, to = 6"
"""A part of `OPTIMISATION`."""

LEAD = 'cell.rlc_lead = { from = "0.5 ms", to = "1.0 ms" }'

SENSITIVITY = (
    HEAD.replace("[set]", 'samples = 4\nmetrics = ["goodput_kbps"]\n[set]').replace("radio.bler = 0.2\n", "")
    + f"""
[parameters]
radio.bler = {{ from = 0.0, to = 0.3 }}
{LEAD}
"""
)


def changed(text: str, old: str, new: str) -> str:
    """Return a text with `old`, which it must contain, replaced by `new`."""
    assert old in text
    return text.replace(old, new)


def written(folder: Path, text: str, name: str = "study.toml") -> Path:
    """Write a study to a file. Returns the file."""
    (folder / name).write_text(text)
    return folder / name


def test_drawn_numbers_become_values_with_units() -> None:
    assert Parameter("k", low=50, high=500, unit="ms", whole=True, step=10).value(123.4) == "120 ms"
    assert Parameter("k", low=0.01, high=0.2).value(0.123456789) == 0.123457
    assert Parameter("k", low=2, high=10, whole=True).value(10.7) == 10
    assert Parameter("k", low=0.5, high=1.0, unit="ms").value(0.75) == "0.75 ms"


def test_the_best_trial_is_the_best_feasible_one(umts: Umts, tmp_path: Path) -> None:
    printed = json.loads(umts("optimise", written(tmp_path, OPTIMISATION), "--json").stdout)
    assert len(printed["trials"]) == 14
    feasible = [trial for trial in printed["trials"] if trial["feasible"]]
    infeasible = [trial for trial in printed["trials"] if not trial["feasible"]]
    assert feasible
    assert infeasible
    assert all(
        trial["constraints"]["mean_outstanding_segments at most 12"]["mean"] <= 12 for trial in feasible
    )
    best = printed["best"]
    assert best["objective"]["mean"] == max(trial["objective"]["mean"] for trial in feasible)
    assert best["gain"]["mean"] == pytest.approx(
        best["objective"]["mean"] - printed["as_it_is"]["objective"]["mean"]
    )
    assert f"--set rlc.max_dat={best['parameters']['rlc.max_dat']}" in best["command"]


def test_a_resumed_study_equals_an_uninterrupted_one(umts: Umts, tmp_path: Path) -> None:
    study = written(tmp_path, OPTIMISATION)
    whole = umts("optimise", study, "--jobs", "1", "--out", "whole", "--json").stdout
    for trials in (4, 11):
        umts("optimise", study, "--trials", trials, "--jobs", "2", "--out", "parts", "--json")
    parts = umts("optimise", study, "--jobs", "2", "--out", "parts", "--json").stdout
    assert parts.replace("/parts", "/whole") == whole
    assert tree(tmp_path / "parts/runs") == tree(tmp_path / "whole/runs")


def test_trials_use_the_same_seed_and_runs(tmp_path: Path) -> None:
    with open_store(tmp_path / "store") as store:
        outcome = optimise(load_optimisation(written(tmp_path, OPTIMISATION)), StudyRunner(store, Workers(2)))
    assert {tuple((run.seed, run.run) for run in trial.runs) for trial in outcome.trials} == {
        ((1, 0), (1, 1))
    }


def test_a_search_without_a_feasible_trial_exits_with_status_1(umts: Umts, tmp_path: Path) -> None:
    study = written(
        tmp_path, OPTIMISATION.replace("at_most = 12", "at_most = 0.001").replace("trials = 14", "trials = 2")
    )
    done = umts("optimise", study, "--json", status=1)
    assert json.loads(done.stdout)["best"] is None
    assert "none of 2 trials" in done.stderr


@pytest.mark.parametrize("method", ["morris", "sobol"])
def test_the_error_rate_has_a_larger_effect_than_a_lead_of_a_millisecond(method: str, tmp_path: Path) -> None:
    study = load_sensitivity(written(tmp_path, SENSITIVITY.replace("[set]", f'method = "{method}"\n[set]')))
    with open_store(tmp_path / "one") as store:
        by_one_worker = analyse_sensitivity(study, StudyRunner(store, Workers(1)))
    with open_store(tmp_path / "two") as store:
        by_two_workers = analyse_sensitivity(study, StudyRunner(store, Workers(2)))
    assert by_one_worker == by_two_workers
    bler, lead = by_one_worker.effects["goodput_kbps"]
    assert bler.parameter == "radio.bler"
    assert bler.first > 5 * abs(lead.first)


def test_the_command_prints_and_draws_effects(umts: Umts, tmp_path: Path) -> None:
    study = written(tmp_path, SENSITIVITY)
    done = umts("sensitivity", study, "-o", "effects.svg")
    assert "mu* (kbit/s)" in done.stdout
    assert (tmp_path / "effects.svg").read_text().startswith("<?xml")
    effects = json.loads(umts("sensitivity", study, "--json").stdout)["effects"]["goodput_kbps"]
    assert effects["radio.bler"]["mu_star"] > effects["cell.rlc_lead"]["mu_star"]


# Verb, text of the file, and a part of the error message.
WRONG = {
    "no parameters": ("optimise", HEAD + "[objective]\nmetric = 'goodput_kbps'", "parameters"),
    "bounds the wrong way": ("optimise", changed(OPTIMISATION, RANGE, "from = 6, to = 1"), "study.toml:10: "),
    "bounds in two units": (
        "optimise",
        changed(OPTIMISATION, RANGE, "from = '1 s', to = '6 B'"),
        "same unit",
    ),
    "a bound that is no number": ("optimise", changed(OPTIMISATION, "from = 1,", "from = 'x',"), "number"),
    "one choice": ("optimise", changed(OPTIMISATION, '["reno", "tahoe"]', '["reno"]'), "two"),
    "unknown key of a parameter": ("optimise", changed(OPTIMISATION, "to = 6", "to = 6, stepp = 2"), "step"),
    "unknown scenario key": ("optimise", changed(OPTIMISATION, "rlc.max_dat", "rlc.max_dta"), "max_dta"),
    "impossible value": ("optimise", changed(OPTIMISATION, "from = 1,", "from = -5,"), "max_dat"),
    "no such metric": ("optimise", changed(OPTIMISATION, '"goodput_kbps"', '"speed"'), "speed"),
    "no objective": (
        "optimise",
        changed(OPTIMISATION, '[objective]\nmetric = "goodput_kbps"\n', ""),
        "metric",
    ),
    "goal unknown": (
        "optimise",
        changed(OPTIMISATION, "[[constraint]]", "goal = 'up'\n[[constraint]]"),
        "maximise",
    ),
    "constraint with two bounds": ("optimise", OPTIMISATION + "at_least = 3", "either at_least or at_most"),
    "set and chosen": ("optimise", changed(OPTIMISATION, "[set]", "[set]\nrlc.max_dat = 2"), "[set]"),
    "unknown key": ("optimise", changed(OPTIMISATION, "trials", "trails"), "trials"),
    "unknown key of a range": ("sensitivity", changed(SENSITIVITY, "cell.rlc_lead", "cell.lead"), "rlc_lead"),
    "choices have no effect": (
        "sensitivity",
        SENSITIVITY + "tcp.variant = { choices = ['reno', 'tahoe'] }",
        "choices",
    ),
    "one parameter": ("sensitivity", changed(SENSITIVITY, LEAD, ""), "sweep"),
    "unknown method": ("sensitivity", changed(SENSITIVITY, "[set]", "method = 'guess'\n[set]"), "morris"),
    "no metrics": ("sensitivity", changed(SENSITIVITY, '["goodput_kbps"]', "[]"), "empty"),
    "Sobol with 5 samples": (
        "sensitivity",
        changed(SENSITIVITY, "samples = 4", 'method = "sobol"\nsamples = 5'),
        "power of 2",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_study_leaves_no_store(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    verb, text, message = WRONG[case]
    written(tmp_path, text)
    monkeypatch.chdir(tmp_path)
    assert main([verb, "study.toml", "--json"]) == 2
    printed = capsys.readouterr()
    assert message in printed.err
    assert printed.out == ""
    assert [path.name for path in tmp_path.iterdir()] == ["study.toml"]


def test_the_shipped_studies_and_campaigns_are_valid() -> None:
    folder = Path(__file__).parents[2] / "campaigns"
    for path in sorted(folder.glob("*.toml")):
        text = path.read_text()
        if "[objective]" in text:
            load_optimisation(path).fingerprint()
        elif "[parameters]" in text:
            load_sensitivity(path)
        else:
            Study(load_campaign(path))
    # An optimisation is not a campaign: its file has keys that campaigns lack.
    with pytest.raises(CampaignError):
        load_campaign(folder / "rlc-best-goodput.toml").combinations()


def test_the_experiments_of_the_reproductions_are_valid_and_mentioned() -> None:
    root = Path(__file__).parents[2] / "reproductions"
    experiments = sorted(root.glob("*/experiments/*.toml"))
    assert experiments
    for path in experiments:
        study = Study(load_campaign(path))
        assert study.points, path
        paper = path.parents[1]
        documents = "".join((paper / name).read_text() for name in ("README.md", "reasons.toml"))
        assert path.stem in documents, f"nothing refers to {path}"


def few_trials(count: int) -> str:
    """A study in which every trial satisfies the constraint."""
    return changed(changed(OPTIMISATION, "trials = 14", f"trials = {count}"), "at_most = 12", "at_most = 100")


def test_edited_trials_are_named_by_doctor_and_by_the_next_search(umts: Umts, tmp_path: Path) -> None:
    study = written(tmp_path, few_trials(3))
    first = umts("optimise", study, "--json").stdout
    file = tmp_path / "results" / "studies" / "study.sqlite"
    assert "no damage found" in umts("doctor", "results").stdout
    with closing(sqlite3.connect(file)) as db, db:
        # SQLite numbers the rows of trials from 1, and messages number the trials from 0.
        db.execute("UPDATE trial_values SET value = value + 1 WHERE trial_id = 2")
    report = umts("doctor", "results", status=1).stdout
    assert "study study is damaged" in report
    assert "trial 1 is not as it was written" in report
    second = umts("optimise", study, "--json")
    assert second.stdout == first
    assert "trial 1 is not as it was written; the file was moved to " in second.stderr
    assert "no damage found" in umts("doctor", "results").stdout


def test_doctor_repairs_edited_trials(umts: Umts, tmp_path: Path) -> None:
    umts("optimise", written(tmp_path, few_trials(2)), "--json")
    file = tmp_path / "results" / "studies" / "study.sqlite"
    with closing(sqlite3.connect(file)) as db, db:
        db.execute("UPDATE trial_params SET param_value = 3")
    umts("doctor", "results", "--repair")
    assert not file.exists()
    assert (tmp_path / "results" / "damaged" / "study.sqlite").is_file()


def test_the_record_of_a_study_shows_that_it_was_edited(umts: Umts, tmp_path: Path) -> None:
    umts("optimise", written(tmp_path, few_trials(2)), "--json")
    file = tmp_path / "results" / "studies" / "study.json"
    file.write_text(file.read_text().replace('"seed": 1', '"seed": 7'))
    assert "record of study study is damaged" in umts("doctor", "results", status=1).stdout
    assert "is damaged" in umts("report", "study", status=2).stderr


def test_an_infeasible_scenario_is_not_compared_with_the_best(umts: Umts, tmp_path: Path) -> None:
    text = changed(changed(OPTIMISATION, "trials = 14", "trials = 6"), "at_most = 12", "at_most = 2")
    text = changed(
        text,
        "[parameters]",
        '[parameters]\ntcp.advertised_window = { choices = ["2 segments", "30 segments"] }',
    )
    output = umts("optimise", written(tmp_path, text)).stdout
    assert "The unchanged scenario violates mean_outstanding_segments at most 2 (mean " in output
    assert "because only the best trial is feasible" in output
    assert "differs from" not in output
    page = Path(umts("report", "study").stdout.strip())
    assert "violates mean_outstanding_segments at most 2" in (tmp_path / page).read_text()


def test_an_interval_wider_than_its_share_means_too_few_samples() -> None:
    # Share of the variance and its half width, for the parameter alone and with interactions.
    assert Effect("a", first=0.4, first_ci95=0.1, total=1.3, total_ci95=1.7).has_too_few_samples
    assert Effect("a", first=0.1, first_ci95=0.4, total=1.0, total_ci95=0.1).has_too_few_samples
    assert not Effect("a", first=0.9, first_ci95=0.1, total=1.0, total_ci95=0.1).has_too_few_samples
    # A share near 0 with a narrow interval.
    assert not Effect("a", first=0.0, first_ci95=0.01, total=0.0, total_ci95=0.02).has_too_few_samples
    assert not Effect("a", first=0.4, first_ci95=None, total=0.5, total_ci95=None).has_too_few_samples


def test_the_table_marks_effects_with_too_few_samples(umts: Umts, tmp_path: Path) -> None:
    study = written(tmp_path, SENSITIVITY.replace("[set]", 'method = "sobol"\n[set]'))
    output = umts("sensitivity", study).stdout
    effects = json.loads(umts("sensitivity", study, "--json").stdout)["effects"]["goodput_kbps"]
    uncertain = {key for key, effect in effects.items() if effect["too_few_samples"]}
    assert {line.split()[0] for line in output.splitlines() if "too few samples" in line} == uncertain


def test_long_tables_of_a_page_are_printed_completely() -> None:
    # On a screen they scroll.
    style = (FTP.parents[1] / "python/umtslab/page/templates/page.html").read_text()
    printed = style[style.index("@media print") :]
    assert ".scroll { max-height: none; overflow: visible; }" in printed
