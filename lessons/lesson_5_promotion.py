import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="Lesson 5: promotion and the retransmission timer")


@app.cell
def _():
    import lab
    import marimo as mo

    return lab, mo


@app.cell(hide_code=True)
def _(mo):
    mo.md(
        r"""
        # Lesson 5: promotion and the retransmission timer

        A phone gets a channel of its own when it has data, and loses it when it is silent. Each
        switch stops the data for a moment. In this lesson you see how this makes TCP repeat
        segments that were never lost.
        """
    )
    return


@app.cell
def _(lab):
    switch_times = (0.2, 0.5, 0.9, 1.5, 2.0)
    by_switch_time = {
        seconds: lab.run("ftp-fach-dch-3gpp", measure__budget="true", rrc__fach_to_dch=f"{seconds} s")
        for seconds in switch_times
    }
    return by_switch_time, switch_times


@app.cell
def _(by_switch_time, lab):
    lab.draw(by_switch_time[0.5], "rrc", until_s=40)
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(
        r"""
        Sixteen users share twelve dedicated channels. Orange marks switches, in which nothing is
        sent. A timer that expires in such a pause is spurious: the segment was not lost.
        """
    )
    return


@app.cell
def _(by_switch_time, lab, switch_times):
    lab.curve(
        [
            (seconds, by_switch_time[seconds].metrics["budget_spurious_rtos_channel_switch"])
            for seconds in switch_times
        ],
        "time of a switch (s)",
        "spurious timeouts",
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(
        r"""
        The first round trip decides how long the timer runs: it starts with 1 s (RFC 6298) until a
        round trip has been measured. Older systems started with 3 s:
        """
    )
    return


@app.cell
def _(lab):
    patient = lab.run("ftp-fach-dch-3gpp", measure__budget="true", tcp__rto_initial="3 s")
    return (patient,)


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
    answer_3 = None  # %
    return answer_1, answer_2, answer_3


@app.cell(hide_code=True)
def _(by_switch_time, lab, patient):
    questions = (
        lab.Question(
            "How many timeouts were spurious because of a switch of 0.5 s?",
            answer=lambda: int(by_switch_time[0.5].metrics["budget_spurious_rtos_channel_switch"]),
            unit="",
            tolerance=0,
            hint="Read the second figure, or print budget_spurious_rtos_channel_switch.",
        ),
        lab.Question(
            "How many are left if the timer starts with 3 s?",
            answer=lambda: int(patient.metrics["budget_spurious_rtos_channel_switch"]),
            unit="",
            tolerance=0,
            hint="Print the same metric of `patient`.",
        ),
        lab.Question(
            "Which share of the connections' time passes in channel switches of 2 s?",
            answer=lambda: by_switch_time[2.0].metrics["budget_channel_switch_pct"],
            unit="%",
            tolerance=0.05,
            hint="Print budget_channel_switch_pct of by_switch_time[2.0].",
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
