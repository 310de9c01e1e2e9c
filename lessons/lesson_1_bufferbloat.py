import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="Lesson 1: bufferbloat on a FACH")


@app.cell
def _():
    import lab
    import marimo as mo

    return lab, mo


@app.cell(hide_code=True)
def _(mo):
    mo.md(
        r"""
        # Lesson 1: bufferbloat on a FACH

        A phone downloads a file over the FACH, the channel of 32 kbit/s that all phones of a cell
        share. In this lesson you find out why a segment needs 13 seconds, although the path is 0.26
        seconds long, and how large a window should be.
        """
    )
    return


@app.cell
def _(lab):
    download = lab.run("ftp-on-fach-3gpp", duration="300 s")
    lab.draw(download, "rtt", until_s=120)
    return (download,)


@app.cell(hide_code=True)
def _(mo):
    mo.md(
        r"""
        The round-trip time grows while the congestion window grows. Each segment waits in the RLC
        buffer at the RNC behind the segments that TCP sent earlier:
        """
    )
    return


@app.cell
def _(download, lab):
    lab.draw(download, "rlc_buffer", until_s=120)
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(
        r"""
        Now the same download with smaller windows of the receiver. The left figure shows the
        goodput, the right one the round-trip time.
        """
    )
    return


@app.cell
def _(lab):
    windows = (1, 2, 3, 4, 6, 8, 16, 32)
    by_window = {
        window: lab.run("ftp-on-fach-3gpp", duration="300 s", tcp__advertised_window=f"{window} segments")
        for window in windows
    }
    return by_window, windows


@app.cell
def _(by_window, lab, mo, windows):
    goodput = [(window, by_window[window].metrics["goodput_kbps"]) for window in windows]
    delay = [(window, by_window[window].metrics["mean_rtt_s"]) for window in windows]
    mo.hstack(
        [
            lab.curve(goodput, "window (segments)", "goodput (kbit/s)"),
            lab.curve(delay, "window (segments)", "round-trip time (s)"),
        ]
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(
        r"""
        A window of W segments of 1,500 bytes (with headers) needs `W × 1500 × 8 / rate` seconds on
        a channel of the given rate.
        """
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
    answer_1 = None  # s
    answer_2 = None  # segments
    answer_3 = None  # a factor
    return answer_1, answer_2, answer_3


@app.cell(hide_code=True)
def _(by_window, download, lab, windows):
    questions = (
        lab.Question(
            "How long is the shortest round-trip time of the download, when no queue exists yet?",
            answer=lambda: download.metrics["min_rtt_s"],
            unit="s",
            tolerance=0.1,
            hint="Look at the first sample in the first figure, or print download.metrics['min_rtt_s'].",
        ),
        lab.Question(
            "Which of the windows is the smallest that reaches 99 % of the highest goodput?",
            answer=lambda: min(
                window
                for window in windows
                if by_window[window].metrics["goodput_kbps"]
                >= 0.99 * max(run.metrics["goodput_kbps"] for run in by_window.values())
            ),
            unit="segments",
            tolerance=0,
            hint="Read the left figure from the left: where does the curve become flat?",
        ),
        lab.Question(
            "By which factor does the mean round-trip time grow from a window of 4 to a "
            "window of 32 segments?",
            answer=lambda: by_window[32].metrics["mean_rtt_s"] / by_window[4].metrics["mean_rtt_s"],
            unit="",
            tolerance=0.1,
            hint="Divide two values of the right figure. The factor of the windows is 8. "
            "Slow start, in which the window is smaller, "
            "lowers the mean.",
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
