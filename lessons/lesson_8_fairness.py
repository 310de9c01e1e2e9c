import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="Lesson 8: fairness and statistics")


@app.cell
def _():
    import lab
    import marimo as mo

    return lab, mo


@app.cell(hide_code=True)
def _(mo):
    mo.md(
        r"""
        # Lesson 8: fairness and statistics

        Twenty users share one downlink channel. In this lesson you compare schedulers by Jain's
        fairness index, and decide with confidence intervals whether a difference is real.
        """
    )
    return


@app.cell
def _(lab):
    schedulers = ("round_robin", "oldest_first", "largest_backlog")
    by_scheduler = {
        name: lab.repeat("twenty-on-dsch", 6, duration="60 s", bearer__downlink__scheduler=name)
        for name in schedulers
    }
    return by_scheduler, schedulers


@app.cell(hide_code=True)
def _(mo):
    mo.md(
        r"""
        Jain's index of n rates is `(sum x)² / (n · sum x²)`: 1 if all are equal, 1/n if one user
        has everything. The index of the downloads, and the total goodput:
        """
    )
    return


@app.cell
def _(by_scheduler, lab, mo):
    mo.md(lab.table(by_scheduler, {"jain_fairness": "Jain's index", "goodput_kbps": "goodput (kbit/s)"}))
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(
        r"""
        The half width of an interval falls with the square root of the number of runs: four times
        as many runs halve it. Differences of pairs are more precise, because run *k* of both
        results has the same random numbers:
        """
    )
    return


@app.cell
def _(by_scheduler, lab, mo):
    difference = lab.umtslab.compare(by_scheduler["round_robin"], by_scheduler["oldest_first"])[
        "goodput_kbps"
    ]
    mo.md(f"Second minus first: {difference.difference:.2f} ± {difference.ci95:.2f} kbit/s")
    return (difference,)


@app.cell(hide_code=True)
def _(mo):
    mo.md(
        r"""
        ## Questions

        Write your answers into the next cell, instead of `None`. The verdicts below follow at once.
        """
    )
    return


@app.cell
def _():
    answer_1 = None  # a name
    answer_2 = None
    answer_3 = None  # "higher", "lower" or "equal"
    return answer_1, answer_2, answer_3


@app.cell(hide_code=True)
def _(by_scheduler, difference, lab, schedulers):
    questions = (
        lab.Question(
            "Which scheduler is the fairest?",
            answer=lambda: max(schedulers, key=lambda name: lab.mean(by_scheduler[name], "jain_fairness")),
            unit="",
            tolerance=0,
            hint="The index of a fair scheduler is near 1.",
        ),
        lab.Question(
            "Jain's index of the rates 3, 1, 1, 1 (kbit/s)?",
            answer=lambda: (3 + 1 + 1 + 1) ** 2 / (4 * (9 + 1 + 1 + 1)),
            unit="",
            tolerance=0.01,
            hint="The square of the sum is 36, the sum of the squares is 12.",
        ),
        lab.Question(
            "Is the goodput of `oldest_first` higher or lower than with `round_robin`, "
            "or equal, at 95 %? (one word)",
            answer=lambda: difference.verdict.value,
            unit="",
            tolerance=0,
            hint="The last cell shows the difference with its interval. Does the interval contain 0?",
        ),
    )
    return (questions,)


@app.cell(hide_code=True)
def _(answer_1, answer_2, answer_3, lab, mo, questions):
    verdicts = lab.check(questions, (answer_1, answer_2, answer_3))
    mo.md(lab.report(questions, verdicts))
    return (verdicts,)


if __name__ == "__main__":
    app.run()
