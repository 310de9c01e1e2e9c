import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="Lesson 2: three losses in a window")


@app.cell
def _():
    import lab
    import marimo as mo

    return lab, mo


@app.cell(hide_code=True)
def _(mo):
    mo.md(
        r"""
        # Lesson 2: three losses in a window

        Three segments of one window are lost, and TCP must repair all of them. In this lesson you
        compare how Reno, NewReno and SACK do it. A script drops the data segments 20, 22 and 24, so
        every variant meets the same losses.
        """
    )
    return


@app.cell
def _(lab):
    variants = {
        "Reno": lab.run("three-losses", measure__budget="true"),
        "NewReno": lab.run("three-losses", tcp__variant="newreno", measure__budget="true"),
        "SACK": lab.run("three-losses", tcp__variant="sack", tcp__sack="true", measure__budget="true"),
    }
    return (variants,)


@app.cell
def _(lab, variants):
    lab.draw(variants["Reno"], "timeseq", from_s=1, until_s=4.5)
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(
        r"""
        Reno repairs the first loss after three duplicate acknowledgments. The next acknowledgment
        covers only a part of the window. Reno leaves fast recovery there, and later has too few
        segments in flight for three new duplicates. So it waits for its timer (RFC 5681). NewReno
        stays in recovery and repairs one loss per round trip (RFC 6582):
        """
    )
    return


@app.cell
def _(lab, variants):
    lab.draw(variants["NewReno"], "timeseq", from_s=1, until_s=4.5)
    return


@app.cell
def _(lab, variants):
    lab.draw(variants, "cwnd", until_s=6)
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
    answer_2 = None
    answer_3 = None  # s
    return answer_1, answer_2, answer_3


@app.cell(hide_code=True)
def _(lab, variants):
    questions = (
        lab.Question(
            "How many timeouts does Reno need?",
            answer=lambda: int(variants["Reno"].metrics["rto_count"]),
            unit="",
            tolerance=0,
            hint="A timeout is a repair after a long silence in the first figure.",
        ),
        lab.Question(
            "How many segments does NewReno send again?",
            answer=lambda: int(variants["NewReno"].metrics["tcp_retransmissions"]),
            unit="",
            tolerance=0,
            hint="Count the marks `sent again` in the second figure. Are there more than losses?",
        ),
        lab.Question(
            "For how long does Reno's connection wait for a needed timeout (the cause "
            "`needed RTO` of its budget)?",
            answer=lambda: variants["Reno"].metrics["budget_rto_needed_s"],
            unit="s",
            tolerance=0.02,
            hint='variants["Reno"].budget() lists the causes.',
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
