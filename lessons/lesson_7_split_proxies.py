import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="Lesson 7: split proxies")


@app.cell
def _():
    import lab
    import marimo as mo

    return lab, mo


@app.cell(hide_code=True)
def _(mo):
    mo.md(
        r"""
        # Lesson 7: split proxies

        A proxy at the GGSN ends the server's TCP connection and opens another one to the phone. In
        this lesson you measure its gain for a file of 50 kB over an Internet that loses 1 % of the
        packets, and its cost.
        """
    )
    return


@app.cell
def _(lab):
    runs = 60
    whole = lab.repeat("split-download", runs, proxy__mode="pass", measure__budget="true")
    split = lab.repeat("split-download", runs, proxy__mode="split", measure__budget="true")
    snoop = lab.repeat("split-download", runs, proxy__mode="snoop", measure__budget="true")
    return runs, snoop, split, whole


@app.cell
def _(lab, snoop, split, whole):
    results = {"without a proxy": whole, "split": split, "snoop": snoop}
    lab.curve(
        sorted((number, run.metrics["transfer_time_s"]) for number, run in enumerate(whole)),
        "run (without a proxy)",
        "transfer time (s)",
    )
    return (results,)


@app.cell(hide_code=True)
def _(mo):
    mo.md(
        r"""
        Most transfers take the same time. In some runs the Internet lost a packet, and the server
        needed a round trip of the whole path to repair it. Means with 95 % intervals:
        """
    )
    return


@app.cell
def _(lab, mo, results):
    mo.md(lab.table(results, {"transfer_time_s": "transfer time (s)", "sdu_delay_ms": "SDU delay (ms)"}))
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
    answer_1 = None  # %
    answer_2 = None  # ms
    answer_3 = None  # "yes" or "no"
    return answer_1, answer_2, answer_3


@app.cell(hide_code=True)
def _(lab, snoop, split, whole):
    questions = (
        lab.Question(
            "By how many per cent does splitting shorten the mean transfer?",
            answer=lambda: (
                100 * (1 - lab.mean(split, "transfer_time_s") / lab.mean(whole, "transfer_time_s"))
            ),
            unit="%",
            tolerance=0.1,
            hint="Compare the two means of the table.",
        ),
        lab.Question(
            "Splitting makes the queue on the radio longer. How much longer does an SDU "
            "wait than without a proxy?",
            answer=lambda: lab.mean(split, "sdu_delay_ms") - lab.mean(whole, "sdu_delay_ms"),
            unit="ms",
            tolerance=0.1,
            hint="Subtract the delays of the table.",
        ),
        lab.Question(
            "Snooping repairs losses between proxy and phone. Does it change the mean "
            "transfer time here? (yes or no)",
            answer=lambda: (
                "no" if lab.mean(snoop, "transfer_time_s") == lab.mean(whole, "transfer_time_s") else "yes"
            ),
            unit="",
            tolerance=0,
            hint="Where are the losses: in the Internet, or on the radio, which RLC repairs?",
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
