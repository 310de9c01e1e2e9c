"""``umts sensitivity``: the effects of parameters on metrics."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from umtslab.cli.options import add_allow_code, add_dask, add_jobs, add_json, add_out, add_output, add_quiet
from umtslab.cli.output_files import check_figure_file
from umtslab.cli.purposes import check_purpose
from umtslab.cli.studies import print_result, study_runner
from umtslab.studies.record import save_findings
from umtslab.studies.sensitivity import Findings, analyse_sensitivity, load_sensitivity
from umtslab.version import code_version

if TYPE_CHECKING:
    from umtslab.cli.parser import Parser


def options(parser: Parser) -> None:
    """Declare the arguments of ``umts sensitivity``."""
    parser.explain("The method is Morris's or Sobol's. The same command continues an interrupted study.")
    parser.add_argument("study", type=Path, metavar="STUDY", help="A study file (TOML).")
    work = parser.add_argument_group("runs")
    add_jobs(work)
    add_dask(work)
    add_allow_code(work)
    results = parser.add_argument_group("results")
    add_output(results, "Draw the effects into this file (PNG, SVG or PDF, by its suffix).")
    add_out(results)
    add_json(results)
    add_quiet(results)


def sensitivity(
    study: Path,
    *,
    jobs: int | None,
    dask: str | None,
    allow_code: bool,
    output: Path | None,
    out: Path,
    json: bool,
    quiet: bool,
) -> int:
    """Estimate the effects of parameters on metrics. `options` declares the arguments."""
    if output is not None:
        check_figure_file(output)
    check_purpose(study, "sensitivity")
    loaded = load_sensitivity(study)
    loaded = replace(loaded, frame=replace(loaded.frame, allow_code=allow_code))
    with study_runner(loaded.frame, out, jobs, dask, quiet=quiet or json, kept="runs") as runner:
        findings = analyse_sensitivity(loaded, runner)
        save_findings(runner.store.path, findings)
    if output is not None:
        from umtslab.plot import save
        from umtslab.plot.effects import draw_effects

        save(draw_effects(findings), output)
    print_result(lambda: _as_json(findings), lambda: _print(findings), json=json)
    return 0


def _as_json(findings: Findings) -> dict[str, Any]:
    first_name, total_name = (
        ("first_order", "total") if findings.study.method == "sobol" else ("mu_star", "sigma")
    )
    return {
        "study": findings.study.frame.name,
        "version": str(code_version()),
        "seed": findings.seed,
        "method": findings.study.method,
        "points": findings.points,
        "runs": findings.study.frame.runs,
        "effects": {
            metric: {
                effect.parameter: {
                    first_name: effect.first,
                    f"{first_name}_ci95": effect.first_ci95,
                    total_name: effect.total,
                    f"{total_name}_ci95": effect.total_ci95,
                    **({"too_few_samples": effect.has_too_few_samples} if total_name == "total" else {}),
                }
                for effect in effects
            }
            for metric, effects in findings.effects.items()
        },
    }


def _print(findings: Findings) -> None:
    from umtslab.metrics import units
    from umtslab.numbers import estimate, number
    from umtslab.text_table import Table, heading, show

    study = findings.study
    heading(study.frame.title or study.frame.name)
    points = f"{findings.points} points of {study.frame.runs} runs"
    print(f"{study.method.capitalize()}, {points}, seed {findings.seed}")
    is_morris = study.method == "morris"
    for metric, effects in findings.effects.items():
        unit = f" ({units()[metric]})" if is_morris and units().get(metric) else ""
        headings = (f">mu*{unit}", ">± 95 %", f">sigma{unit}") if is_morris else (
            ">first order", ">± 95 %", ">total", ">± 95 %", ""
        )  # fmt: skip
        table = Table(metric, *headings)
        for effect in sorted(effects, key=lambda effect: -(effect.first if is_morris else effect.total)):
            # With Morris' method the second number is sigma, which has no interval.
            remark = "too few samples" if effect.has_too_few_samples else ""
            second = (
                (number(effect.total, 3),)
                if is_morris
                else (*estimate(effect.total, effect.total_ci95), remark)
            )
            table.add_row(effect.parameter, *estimate(effect.first, effect.first_ci95), *second)
        print()
        show(table)
