import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="Lesson 4: the trade-off of MaxDAT")


@app.cell
def _():
    import lab
    import marimo as mo

    return lab, mo


@app.cell(hide_code=True)
def _(mo):
    mo.md(
        r"""
        # Lesson 4: the trade-off of MaxDAT

        MaxDAT limits how often RLC sends a PDU. In this lesson you find the value at which patience
        pays, for a download over a channel that loses one frame in ten.
        """
    )
    return


@app.cell
def _(lab):
    limits = (1, 2, 3, 4, 5, 6, 10)
    by_limit = {limit: lab.repeat("download-on-dch-384-fer", 20, rlc__max_dat=limit) for limit in limits}
    return by_limit, limits


@app.cell
def _(by_limit, lab, limits, mo):
    mo.hstack(
        [
            lab.curve(
                [(limit, lab.mean(by_limit[limit], "residual_loss_pct")) for limit in limits],
                "MaxDAT",
                "lost SDUs (%)",
            ),
            lab.curve(
                [(limit, lab.mean(by_limit[limit], "sdu_delay_ms")) for limit in limits],
                "MaxDAT",
                "delay of an SDU (ms)",
            ),
        ]
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(
        r"""
        A lost SDU is a lost segment for TCP. Each loss halves the window, or costs a timeout. The
        time until the whole file has arrived:
        """
    )
    return


@app.cell
def _(by_limit, lab, limits):
    lab.curve(
        [(limit, lab.mean(by_limit[limit], "download_time_s")) for limit in limits[1:]],
        "MaxDAT",
        "download time (s)",
    )
    return


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
    answer_1 = None
    answer_2 = None  # a probability
    answer_3 = None  # a factor
    return answer_1, answer_2, answer_3


@app.cell(hide_code=True)
def _(by_limit, lab, limits):
    questions = (
        lab.Question(
            "Which is the smallest limit at which no run lost an SDU?",
            answer=lambda: min(
                limit
                for limit in limits
                if all(run.metrics["residual_loss_pct"] == 0 for run in by_limit[limit])
            ),
            unit="",
            tolerance=0,
            hint="Look for the point where the left curve reaches 0 exactly: print the means near it.",
        ),
        lab.Question(
            "A PDU is lost with probability 0.1 in each transmission. With which "
            "probability is it lost 3 times in a row?",
            answer=lambda: 0.1**3,
            unit="",
            tolerance=0.01,
            hint="The losses are independent: multiply.",
        ),
        lab.Question(
            "How many times as long does a download take with MaxDAT 2 as with MaxDAT 10?",
            answer=lambda: (
                lab.mean(by_limit[2], "download_time_s") / lab.mean(by_limit[10], "download_time_s")
            ),
            unit="",
            tolerance=0.1,
            hint="Divide the means of download_time_s.",
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
