import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="Lesson 6: a tunnel, with F-RTO and Eifel")


@app.cell
def _():
    import lab
    import marimo as mo

    return lab, mo


@app.cell(hide_code=True)
def _(mo):
    mo.md(
        r"""
        # Lesson 6: a tunnel, with F-RTO and Eifel

        A train enters a tunnel: for four seconds the radio carries nothing, and no packet is lost.
        In this lesson you see TCP's timer expire for nothing, and two methods that detect and undo
        the mistake.
        """
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(
        r"""
        The radio is a capacity trace: one packet of 1,500 bytes every 31 ms (384 kbit/s), and a gap
        from 10 s to 14 s.
        """
    )
    return


@app.cell
def _(lab):
    import tempfile
    from pathlib import Path

    folder = Path(tempfile.mkdtemp())
    times = [ms for ms in range(31, 60_000, 31) if not 10_000 <= ms < 14_000]
    (folder / "tunnel.trace").write_text("".join(f"{ms}\n" for ms in times))

    def through_tunnel(options):
        text = f"""
        version = 1
        name = "tunnel"
        duration = "30 s"
        [measure]
        budget = true
        [tcp]
        advertised_window = "24 segments"
        {options}
        [[ue]]
        name = "train"
        capacity = {{ downlink = "tunnel.trace", uplink = "tunnel.trace" }}
        [[flow]]
        ue = "train"
        """
        file = folder / "tunnel.toml"
        file.write_text(text)
        return lab.run(lab.umtslab.Scenario.load(file))

    plain = through_tunnel("")
    frto = through_tunnel("frto = true")
    eifel = through_tunnel("eifel = true\ntimestamps = true")
    return eifel, frto, plain


@app.cell
def _(lab, plain):
    lab.draw(plain, "timeseq", from_s=9, until_s=17)
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(
        r"""
        After the tunnel all segments arrive, but the sender has already repeated the first one, and
        assumes that all others are lost: it sends them again (go-back-N). F-RTO (RFC 5682) first
        waits for two acknowledgments: if they cover data that was not repeated, the timeout was
        spurious. Eifel (RFC 3522) compares timestamps. Both then restore the window (RFC 4015).
        """
    )
    return


@app.cell
def _(eifel, frto, lab, plain):
    lab.draw({"plain": plain, "F-RTO": frto, "Eifel": eifel}, "cwnd", from_s=8, until_s=20)
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
    answer_3 = None
    return answer_1, answer_2, answer_3


@app.cell(hide_code=True)
def _(eifel, frto, lab, plain):
    questions = (
        lab.Question(
            "How many segments does the plain sender send again although they arrived?",
            answer=lambda: int(plain.metrics["tcp_retransmissions_unneeded"]),
            unit="",
            tolerance=0,
            hint="Print plain.metrics['tcp_retransmissions_unneeded'].",
        ),
        lab.Question(
            "How many segments does the sender with F-RTO send again?",
            answer=lambda: int(frto.metrics["tcp_retransmissions"]),
            unit="",
            tolerance=0,
            hint="Print frto.metrics['tcp_retransmissions'].",
        ),
        lab.Question(
            "How many reactions does Eifel undo?",
            answer=lambda: int(eifel.metrics["spurious_undone"]),
            unit="",
            tolerance=0,
            hint="The metric is called spurious_undone.",
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
