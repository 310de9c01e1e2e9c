"""Table of the verbs: one sentence and examples for each. Does not import their modules."""

from __future__ import annotations

from typing import NamedTuple

ABOUT = "A laboratory for TCP over UMTS radio access."

EXAMPLES = (
    ("umts run scenarios/ftp-on-fach.toml", "one run, its metrics as a table"),
    (
        "umts run scenarios/ftp-on-fach.toml --precision 5% --set tcp.variant=tahoe",
        "repeated until the interval is within 5 %",
    ),
    (
        "umts run scenarios/ftp-on-fach.toml --series --pcap --out demo",
        "also records time series and captures",
    ),
    ("umts plot demo outstanding -o outstanding.pdf", "a figure of the recorded time series"),
    ("umts compare demo other", "differences with 95 % intervals"),
    ("umts analyse trace.pcapng", "the same metrics for a packet capture, simulated or real"),
    ("umts sweep campaigns/fach-error-rate.toml", "a grid of parameters, with intervals"),
    ("umts params rlc", "every scenario key about RLC"),
)
"""Commands for a new user, with a description of the result."""

EXIT_STATUS = (
    "Exit status: 0 done; 1 a run or a claim failed, a precision was not reached, or results could "
    "not be written; 2 wrong usage or input; 130 interrupted."
)


class Verb(NamedTuple):
    """Description and examples of one verb."""

    sentence: str
    examples: tuple[str, ...] = ()


EXPERIMENTS = {
    "run": Verb(
        "Run a scenario once, several times, or until a precision is reached.",
        (
            "umts run scenarios/ftp-on-fach.toml --set radio.bler=0.1 --runs 10",
            'umts run scenarios/ftp-on-fach.toml --precision 1% --metric mean_rtt_s --duration "300 s"',
        ),
    ),
    "sweep": Verb(
        "Run a campaign: a grid of parameters with several runs per point. Existing runs are not repeated.",
        (
            "umts sweep campaigns/fach-error-rate.toml",
            "umts sweep scenarios/ftp-on-fach.toml -P radio.bler=0.01,0.1 -P "
            "tcp.variant=reno,vegas --runs 10",
            "umts sweep campaigns/fach-error-rate.toml --dask tcp://host:8786",
        ),
    ),
    "optimise": Verb(
        "Find the best parameters of a scenario under constraints.",
        ("umts optimise campaigns/rlc-best-goodput.toml",),
    ),
    "sensitivity": Verb(
        "Find out which parameters of a scenario matter.",
        ("umts sensitivity campaigns/rlc-sensitivity.toml -o effects.pdf",),
    ),
    "reproduce": Verb(
        "Run a paper's experiments again and score its claims.",
        (
            "umts reproduce dubois2005/ch6 --quick",
            "umts reproduce dubois2005/fig6.5 --set tcp.variant=cubic --set tcp.connection=full_duplex",
            "umts reproduce dubois2005/fig6.5 --campaign > my.toml",
        ),
    ),
}

PROGRAMS = {
    "emulate": Verb(
        "Run a real program over the emulated radio access network.",
        (
            "umts emulate -- curl -s -o page.bin http://example.com/bytes/100000",
            "sudo umts emulate --internet -- curl -so page.html https://www.example.org/",
            'umts emulate --proxy --core-delay "70 ms" --core-loss 0.01 -- curl -so x http://a.example/bytes/500000',
            "umts emulate --bearer fach --pcap -- ping -c 5 server.example",
            'umts emulate --bearer fach-dch:att-2010 --core-delay "30 ms" --core-jitter "10 ms" -- firefox',
            'umts emulate --ue "curl -so other.bin http://b.example/bytes/50000" '
            "-- wget http://a.example/bytes/50000",
        ),
    ),
    "proxy": Verb(
        "Relay real TCP connections through a split proxy: one connection on each side.",
        (
            "umts proxy --listen 127.0.0.1:8080 --to server.example:80",
            "umts proxy --listen 127.0.0.1:1080 --socks5",
            "umts proxy --listen 8080 --to 192.0.2.1:80 --client-set congestion_control=bbr "
            '--memory "256 MB" --metrics 127.0.0.1:9464 --log -',
        ),
    ),
    "replay": Verb("Run a recorded emulation again, in simulated time.", ("umts replay results",)),
    "analyse": Verb(
        "Compute TCP metrics from packet captures, simulated or real.",
        (
            "umts analyse trace.pcapng",
            "umts analyse trace.pcapng --connection 3 --all",
            "umts analyse trace.pcapng --plot timeseq.pdf",
        ),
    ),
}

RESULTS = {
    "plot": Verb(
        "Draw a figure of runs recorded with --series, of a campaign or of a study.",
        (
            "umts run scenarios/three-losses.toml --series --budget --waterfall 0 --out reno",
            "umts run scenarios/three-losses.toml --set tcp.variant=newreno --series --budget --out newreno",
            "umts plot reno timeseq --until 4 --width 3.5in -o timeseq.pdf",
            "umts plot reno newreno cwnd",
            "umts plot reno waterfall --from 1.5 --until 4",
            "umts plot reno budget",
            "umts sweep campaigns/fach-error-rate.toml",
            "umts plot fach-error-rate goodput_kbps --over radio.bler",
        ),
    ),
    "why": Verb(
        "Explain the stalls, timeouts and retransmissions of a run recorded with --timeline.",
        (
            "umts run scenarios/ftp-fach-dch.toml --timeline --out demo",
            "umts why demo",
            'umts why demo --connection 3 --at "27.04 s"',
        ),
    ),
    "compare": Verb("Compare two results: differences with 95 % intervals.", ("umts compare reno tahoe",)),
    "export": Verb(
        "Export results as tables: CSV, LaTeX, Parquet, a capacity trace, or a Perfetto trace.",
        (
            "umts export results --csv -o runs.csv",
            "umts export results --latex --table summary",
            "umts export fach-error-rate --latex --rows radio.bler --columns tcp.variant",
            "umts export results --parquet -o data",
            "umts export demo --perfetto demo.json",
        ),
    ),
    "query": Verb(
        "Query a results folder in SQL: runs with their parameters, connections, time series.",
        (
            'umts query "select scenario, count(*), avg(goodput_kbps) from runs group by scenario"',
            'umts query "select run, max(cwnd_segments) from cwnd group by run" --csv -o windows.csv',
        ),
    ),
    "report": Verb(
        "Write an HTML page of a campaign, study or run: figures, tables, and commands that repeat its runs.",
        (
            "umts report fach-error-rate",
            "umts report ftp-fach-dch -o run.html",
            "umts report fach-error-rate --metric goodput_kbps --over radio.bler --log -o page.html",
        ),
    ),
    "serve": Verb(
        "Show a results folder in a browser: runs, campaigns, captures, and scenarios to try.",
        ("umts serve", "umts serve results --port 8080", "umts serve course --read-only"),
    ),
}

REFERENCE = {
    "params": Verb(
        "List the keys of scenario files: type, default, range, source.",
        ("umts params tcp.rto", "umts params cwnd"),
    ),
    "bearers": Verb(
        "List the bearers for scenarios and `umts emulate --bearer`: TS 34.108, switched, trace, flat.",
        ("umts bearers ps-384", "umts run scenarios/ftp-on-fach-3gpp.toml --set ue.bearer=ps-384"),
    ),
    "profiles": Verb(
        "List the TCP profiles (ns-2, Linux, the RFCs): each value with its source.",
        (
            "umts profiles linux-2.4",
            "umts run scenarios/ftp-on-fach-3gpp.toml --set tcp.profile=linux-2.4",
        ),
    ),
    "rrc": Verb(
        "List the RRC profiles for `rrc.profile`: timers and delays of real networks and of studies.",
        ("umts rrc att", "umts run scenarios/ftp-fach-dch-3gpp.toml --set rrc.profile=att-2010"),
    ),
    "metrics": Verb("List the metrics: unit, meaning, formula.", ("umts metrics rtt",)),
    "lanes": Verb("List the lanes of the timeline: layer, table, unit, meaning.", ("umts lanes --json",)),
    "schema": Verb("Print the JSON Schema of scenario files.", ("umts schema > scenario.schema.json",)),
    "completions": Verb(
        "Print a completion script for bash, zsh or fish.",
        ("umts completions bash > ~/.local/share/bash-completion/completions/umts",),
    ),
    "doctor": Verb(
        "Show versions and optional components; check a results folder for damage.",
        ("umts doctor --json", "umts doctor results --repair"),
    ),
}

GROUPS = {
    "experiments": EXPERIMENTS,
    "programs and captures": PROGRAMS,
    "results": RESULTS,
    "reference": REFERENCE,
}
"""Verbs by group, in the order of `umts --help`."""

VERBS = {name: verb for verbs in GROUPS.values() for name, verb in verbs.items()}

LINUX_ONLY = ("emulate", "proxy", "replay")
"""Verbs that need network namespaces, TUN devices or socket options that only Linux has. Their
part of the core is not compiled elsewhere."""
