import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="Lesson 3: how RLC hides loss")


@app.cell
def _():
    import lab
    import marimo as mo

    return lab, mo


@app.cell(hide_code=True)
def _(mo):
    mo.md(
        r"""
        # Lesson 3: how RLC hides loss

        The radio loses up to 30 % of its blocks, and TCP notices almost nothing. In this lesson you
        measure the price: capacity and delay instead of losses.
        """
    )
    return


@app.cell
def _(lab):
    error_rates = (0, 0.05, 0.1, 0.2, 0.3)
    by_error_rate = {
        rate: lab.run("ftp-on-dch-384-3gpp", duration="60 s", radio__bler=rate, measure__budget="true")
        for rate in error_rates
    }
    return by_error_rate, error_rates


@app.cell
def _(by_error_rate, error_rates, lab, mo):
    mo.hstack(
        [
            lab.curve(
                [(rate, by_error_rate[rate].metrics["goodput_kbps"]) for rate in error_rates],
                "block error rate",
                "goodput (kbit/s)",
            ),
            lab.curve(
                [(rate, by_error_rate[rate].metrics["mean_transmissions_per_pdu"]) for rate in error_rates],
                "block error rate",
                "transmissions of a PDU",
            ),
        ]
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(
        r"""
        RLC delivers data in sequence. While one PDU is repaired, later data waits, and then arrives
        in one step. The round-trip times at two error rates:
        """
    )
    return


@app.cell
def _(by_error_rate, lab):
    lab.draw({"error-free": by_error_rate[0], "10 % lost": by_error_rate[0.1]}, "rtt", until_s=20)
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
    answer_2 = None  # transmissions
    answer_3 = None  # %
    return answer_1, answer_2, answer_3


@app.cell(hide_code=True)
def _(by_error_rate, lab):
    questions = (
        lab.Question(
            "How many segments does TCP send again at a block error rate of 0.1?",
            answer=lambda: int(by_error_rate[0.1].metrics["tcp_retransmissions"]),
            unit="",
            tolerance=0,
            hint="Print by_error_rate[0.1].metrics['tcp_retransmissions'].",
        ),
        lab.Question(
            "If each transmission is lost with probability p, a PDU is sent 1 / (1 - p) times on average. "
            "Which value do you expect for p = 0.2?",
            answer=lambda: by_error_rate[0.2].metrics["mean_transmissions_per_pdu"],
            unit="transmissions",
            tolerance=0.02,
            hint="Insert p = 0.2, and compare with the right figure.",
        ),
        lab.Question(
            "Which share of its time does the connection spend on RLC recovery at an error rate of 0.1?",
            answer=lambda: by_error_rate[0.1].metrics["budget_rlc_recovery_pct"],
            unit="%",
            tolerance=0.1,
            hint="by_error_rate[0.1].budget() lists the causes. "
            "The share is near the error rate, because a busy radio "
            "loses the time of each repeated block.",
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
