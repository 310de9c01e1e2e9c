"""The command line: order of the words, help, completions, and errors for unknown words.

A verb is the first word after ``umts``. Its function has one argument for each word and option.
"""

from __future__ import annotations

import inspect
import json
import os
import pty
import shlex
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import pytest
from conftest import FTP, Umts, command
from hypothesis import given
from hypothesis import strategies as st
from umtslab.cli import main
from umtslab.cli.failures import _INPUT_ERRORS, _RUN_ERRORS, UsageError
from umtslab.cli.mistyped import OTHER_OPTIONS, OTHER_VERBS
from umtslab.cli.options import METRIC
from umtslab.cli.parser import Parser, parser_of
from umtslab.cli.verbs import VERBS
from umtslab.metrics import definitions
from umtslab.precision import Precision

CAMPAIGN = FTP.parents[1] / "campaigns" / "fach-error-rate.toml"


def destinations(parser: Parser) -> set[str]:
    """Return the names of the arguments of the verb's function."""
    return {action.dest for action in parser._actions}


def options_of(verb: str) -> set[str]:
    return {name for action in parser_of(verb)._actions for name in action.option_strings}


@pytest.mark.parametrize("verb", VERBS)
def test_options_are_the_arguments_of_the_verbs_function(verb: str) -> None:
    function = getattr(import_module(f"umtslab.cli.{verb}"), verb)
    assert destinations(parser_of(verb)) == set(inspect.signature(function).parameters)


@pytest.mark.parametrize("verb", VERBS)
def test_every_option_has_a_help_text(verb: str) -> None:
    help_text = parser_of(verb).format_help()
    for action in parser_of(verb)._actions:
        assert action.help, action.dest
        assert action.help.endswith("."), action.help
        assert action.nargs == 0 or action.metavar, action.dest
    assert all(option in help_text for option in options_of(verb))
    assert VERBS[verb].sentence in " ".join(help_text.split())
    assert all(example in help_text for example in VERBS[verb].examples)


@pytest.mark.parametrize("verb", VERBS)
def test_every_example_of_a_verb_can_be_parsed(verb: str) -> None:
    for example in VERBS[verb].examples:
        words = shlex.split(example.split(" > ")[0])
        _, verb_of_example, *rest = words[words.index("umts") :]
        assert parser_of(verb_of_example).read(rest) is not None


ORDERS = [
    ["a.toml", "--set", "x=1", "--runs", "2", "-j2", "--json"],
    ["--set=x=1", "--json", "--runs=2", "-j", "2", "a.toml"],
    ["--runs", "2", "a.toml", "--jobs=2", "--json", "--set", "x=1"],
    ["--runs", "2", "--jobs=2", "--json", "--set", "x=1", "--", "a.toml"],
]


@pytest.mark.parametrize("words", ORDERS)
def test_options_and_words_may_be_in_any_order(words: list[str]) -> None:
    values = parser_of("run").read(words)
    assert values is not None
    assert (values["scenario"], values["changes"]) == (Path("a.toml"), ["x=1"])
    assert (values["runs"], values["jobs"], values["json"], values["series"]) == (2, 2, True, False)


def test_the_help_states_the_defaults_of_a_precision() -> None:
    assert Precision.metric == METRIC
    words = " ".join(parser_of("run").format_help().split())
    assert f"at least {Precision.least} runs, at most {Precision.most}." in words


def test_captures_and_options_may_be_mixed() -> None:
    # "-qc0" is short for "-q -c 0".
    values = parser_of("analyse").read(["a.pcap", "--json", "-", "-qc0", "b.pcap", "--", "-c.pcap"])
    assert values is not None
    assert values["captures"] == ["a.pcap", "-", "b.pcap", "-c.pcap"]
    assert (values["json"], values["quiet"], values["connection"]) == (True, True, 0)


@pytest.mark.parametrize(
    "words", [["--quiet", "--", "curl", "-s", "--", "x"], ["--quiet", "curl", "-s", "--", "x"]]
)
def test_options_after_the_program_belong_to_the_program(words: list[str]) -> None:
    values = parser_of("emulate").read(words)
    assert values is not None
    assert (values["quiet"], values["command"]) == (True, ["curl", "-s", "--", "x"])


@pytest.mark.parametrize(
    "words", [("emulate", "--", "true"), ("proxy", "--listen", "8080", "--socks5"), ("replay", "a")]
)
def test_verbs_that_need_linux_say_so_elsewhere(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    assert main(words) == 2
    assert f"umts {words[0]} needs Linux, this is darwin" in capsys.readouterr().err


WORDS = ["a.toml", "--set", "x=1", "--runs", "-1", "--jsn", "--json", "-q", "--", "-", "", "-qj", "--seed=3"]


@given(st.lists(st.sampled_from(WORDS), max_size=6), st.sampled_from(sorted(VERBS)))
def test_any_command_line_is_parsed_or_refused(words: list[str], verb: str) -> None:
    parser = parser_of(verb)
    with suppress(UsageError):
        values = parser.read(words)
        assert values is not None
        assert set(values) == destinations(parser)


# Command lines with a mistake, each with a part of the error message.
WRONG = {
    "a misspelt option": (("run", FTP, "--sed", "1"), "umts run has no option --sed; did you mean --seed?"),
    "an abbreviated option": (("run", FTP, "--prec", "5%"), "did you mean --precision?"),
    "a synonym of an option": (("run", FTP, "--replications", "5"), "did you mean --runs?"),
    "another verb's option": (("run", FTP, "-o", "x"), "did you mean --out?"),
    "a scenario key as option": (
        ("run", FTP, "--tcp.variant=vegas"),
        "did you mean --set tcp.variant=vegas?",
    ),
    "the last word of a key as option": (
        ("run", FTP, "--bler", "0.1"),
        "did you mean --set radio.bler=VALUE?",
    ),
    "an option like no other": (("run", FTP, "--zzzzzz"), "`umts run --help` lists them"),
    "an assignment without --set": (
        ("run", FTP, "tcp.variant=vegas"),
        "did you mean --set tcp.variant=vegas?",
    ),
    "an unexpected word": (("replay", "a", "b"), "unexpected word 'b': umts replay RESULT"),
    "a missing word": (("plot", "a"), "KIND is missing: umts plot RESULT [RESULT …] KIND"),
    "an option instead of a value": (("run", FTP, "--runs", "--json"), "--runs takes a value: --runs N"),
    "no value at the end": (("run", FTP, "--runs"), "--runs takes a value: --runs N"),
    "a value of a flag": (("run", FTP, "--json=yes"), "--json takes no value"),
    "a value that is not a number": (("run", FTP, "-j", "many"), "-j takes a whole number, not 'many'"),
    "a value that is not a choice": (
        ("export", "a", "--table", "run"),
        "--table takes one of runs, summary, connections",
    ),
    "a misspelt verb": (("swep", CAMPAIGN), "there is no verb 'swep'; did you mean umts sweep?"),
    "a synonym of a verb": (("simulate", FTP), "did you mean umts run?"),
    "American spelling": (("analyze", "a.pcap"), "did you mean umts analyse?"),
    "a verb like no other": (("frobnicate",), "`umts --help` lists them"),
    "a scenario as verb": ((FTP,), f"the verb is missing: umts run {FTP}"),
    "a campaign as verb": ((CAMPAIGN,), f"the verb is missing: umts sweep {CAMPAIGN}"),
    "a capture as verb": (("trace.pcapng",), "the verb is missing: umts analyse trace.pcapng"),
    "an option as verb": (("--json", "run", FTP), "the verb is missing: umts run --json …"),
    "an unknown option without a verb": (("--versoin",), "there is no option '--versoin'"),
}


@pytest.mark.parametrize("case", WRONG)
def test_mistyped_words_get_a_suggestion(case: str, umts: Umts, tmp_path: Path) -> None:
    words, message = WRONG[case]
    done = umts(*words, status=2)
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
    assert os.listdir(tmp_path) == []


def test_synonyms_refer_to_existing_verbs_and_options() -> None:
    assert set(OTHER_VERBS.values()) <= {*VERBS, "--version"}
    assert set(OTHER_VERBS).isdisjoint(VERBS)
    options = {name for verb in VERBS for name in options_of(verb)}
    assert {name for names in OTHER_OPTIONS.values() for name in names} <= options


def test_handled_exceptions_exist_by_name() -> None:
    for name in (*_INPUT_ERRORS, *_RUN_ERRORS, "umtslab._core.ScenarioError", "umtslab._core.OutputError"):
        module, _, kind = name.rpartition(".")
        exception = getattr(import_module(module), kind)
        assert issubclass(exception, Exception)
        assert f"{exception.__module__}.{exception.__qualname__}" == name


@pytest.mark.parametrize("words", [("help", "run"), ("run", "-h"), ("run", "x.toml", "--help", "--sed")])
def test_every_way_to_request_help_prints_the_same_text(words: tuple[str, ...], umts: Umts) -> None:
    assert umts(*words).stdout == umts("run", "--help").stdout
    assert umts("help").stdout == umts("--help").stdout == umts().stdout


def test_the_help_names_every_verb(umts: Umts) -> None:
    lines = umts("--help").stdout.splitlines()
    assert all(any(line.startswith(f"  {verb} ") for line in lines) for verb in VERBS)


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh", "fish"])
def test_shells_complete_verbs_and_options(shell: str, umts: Umts) -> None:
    script = umts("completions", shell).stdout
    assert all(verb in script for verb in VERBS)
    assert "precision" in script


def test_bash_completes_an_option_with_its_script(umts: Umts, tmp_path: Path) -> None:
    (tmp_path / "umts.bash").write_text(umts("completions", "bash").stdout)
    script = (
        'source umts.bash; COMP_WORDS=(umts run --prec); COMP_CWORD=2; _shtab_umts; echo "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["--precision"]


def on_a_terminal(words: Sequence[str], columns: int) -> str:
    """Return the output of a command on a terminal with `columns` columns."""
    own_end, end_of_command = pty.openpty()
    environment = {**os.environ, "COLUMNS": str(columns), "TERM": "xterm"}
    with subprocess.Popen(words, stdout=end_of_command, stderr=end_of_command, env=environment) as process:
        os.close(end_of_command)
        text = b""
        while chunk := _read(own_end):
            text += chunk
        assert process.wait() == 0
    os.close(own_end)
    return text.decode().replace("\r\n", "\n")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # The other end of the terminal is closed.
        return b""


def test_a_table_fits_its_terminal_and_has_whole_lines_in_a_file(umts: Umts) -> None:
    names = [metric["name"] for metric in definitions()]
    narrow = on_a_terminal(command("metrics"), 120)
    assert narrow.startswith("\x1b[1mname")
    assert max(len(line) for line in narrow.replace("\x1b[1m", "").replace("\x1b[0m", "").split("\n")) <= 120
    wide = umts("metrics").stdout.splitlines()
    assert [line.split()[0] for line in wide[1:]] == names
    assert "\x1b" not in "".join(wide)


@pytest.mark.parametrize(("verb", "name"), [("params", "key"), ("metrics", "name"), ("bearers", "name")])
def test_keys_are_whole_on_a_terminal_of_80_columns(verb: str, name: str, umts: Umts) -> None:
    text = on_a_terminal(command(verb), 80).replace("\x1b[1m", "").replace("\x1b[0m", "")
    assert max(map(len, text.splitlines())) <= 80
    keys = [entry[name] for entry in json.loads(umts(verb, "--json").stdout)]
    assert set(keys) <= set(text.split())


def test_the_help_has_styles_on_a_terminal_only(umts: Umts) -> None:
    assert "\x1b[1mexamples:\x1b[0m" in on_a_terminal(command("run", "--help"), 80)
    assert "\nexamples:\n" in umts("run", "--help").stdout
    assert json.loads(umts("params", "radio.bler", "--json").stdout)
