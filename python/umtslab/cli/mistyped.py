"""Suggestions for unknown verbs and options."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches

from umtslab.cli.verbs import VERBS

OTHER_VERBS = {
    "analyze": "analyse",
    "bearer": "bearers",
    "campaign": "sweep",
    "check": "doctor",
    "completion": "completions",
    "csv": "export",
    "diff": "compare",
    "draw": "plot",
    "emu": "emulate",
    "exec": "emulate",
    "figure": "plot",
    "graph": "plot",
    "grid": "sweep",
    "html": "report",
    "keys": "params",
    "latex": "export",
    "metric": "metrics",
    "morris": "sensitivity",
    "options": "params",
    "optimize": "optimise",
    "paper": "reproduce",
    "parameters": "params",
    "pcap": "analyse",
    "profile": "profiles",
    "sim": "run",
    "simulate": "run",
    "sobol": "sensitivity",
    "start": "run",
    "study": "optimise",
    "tcptrace": "analyse",
    "tune": "optimise",
    "version": "--version",
}
"""Common words for verbs, with the verb to suggest."""

OTHER_OPTIONS = {
    "-n": ("--runs",),
    "-s": ("--set", "--seed"),
    "-v": ("--all",),
    "--csv": ("--json",),
    "--cores": ("--jobs",),
    "--dir": ("--out",),
    "--file": ("--output",),
    "--folder": ("--out",),
    "--jitter": ("--core-jitter",),
    "--length": ("--duration",),
    "--loss": ("--core-loss",),
    "--name": ("--scenario",),
    "--out": ("--output",),
    "--output": ("--out",),
    "-o": ("--out",),
    "--param": ("--parameter", "--set"),
    "--parameter": ("--set",),
    "-P": ("--set",),
    "--pcapng": ("--pcap",),
    "--repeat": ("--runs",),
    "--replications": ("--runs",),
    "--results": ("--out",),
    "--silent": ("--quiet",),
    "--stop": ("--until",),
    "--threads": ("--jobs",),
    "--time": ("--duration",),
    "--timeseries": ("--series",),
    "--to": ("--until",),
    "--trace": ("--series", "--pcap"),
    "--verbose": ("--all",),
    "--workers": ("--jobs",),
    "--x": ("--over",),
}
"""Common words for options, and options of other verbs.

The first suggestion that the verb has is used.
"""

_CAPTURES = (".pcap", ".pcapng", ".cap")


def nearest(word: str, names: Iterable[str]) -> str | None:
    """Return the name with the most similar spelling, or None."""
    matches = get_close_matches(word, list(names), n=1, cutoff=0.6)
    return matches[0] if matches else None


def suggestion(word: str, names: Sequence[str]) -> str:
    """Suggest the nearest name, or list all names."""
    similar = nearest(word, names)
    return f"did you mean {similar}?" if similar else f"there are {', '.join(names)}"


def no_such_verb(word: str, rest: Sequence[str]) -> str:
    """Return the error text for an unknown verb, with a suggestion."""
    if word.endswith(".toml"):
        from pathlib import Path

        from umtslab.cli.purposes import command, purpose

        path = Path(word)
        return f"the verb is missing: {command(purpose(path) or 'run', path)}"
    if word.endswith(_CAPTURES):
        return f"the verb is missing: umts analyse {word}"
    if word.startswith("-") and (verb := next((other for other in rest if other in VERBS), None)):
        return f"the verb is missing: umts {verb} {word} …"
    similar = OTHER_VERBS.get(word.lower().removeprefix("--")) or nearest(word, VERBS)
    hint = f"did you mean umts {similar}?" if similar else "`umts --help` lists them"
    return f"there is no {'option' if word.startswith('-') else 'verb'} {word!r}; {hint}"


def no_such_option(verb: str, word: str, options: Collection[str]) -> str:
    """Return the error text for an unknown option of `verb` (``umts run``), with a suggestion."""
    name, _, value = word.partition("=")
    hint = f"did you mean {similar}?" if (similar := _option_like(name, options)) else None
    if hint is None and "--set" in options:
        from umtslab.cli.keys import is_key, keys_like

        word = name.lstrip("-").replace("-", "_")
        keys = [word] if is_key(word) else keys_like(word)
        hint = f"did you mean --set {keys[0]}={value or 'VALUE'}?" if keys else None
    return f"{verb} has no option {name}; {hint or f'`{verb} --help` lists them'}"


def _option_like(name: str, options: Collection[str]) -> str | None:
    """Return the option that a mistyped one probably means; None if no option is similar."""
    others = (other for other in OTHER_OPTIONS.get(name, ()) if other in options)
    long = [option for option in options if option.startswith("--")]
    return next(others, None) or (nearest(name, long) if name.startswith("--") else None)


def unexpected_word(word: str, usage: str, options: Collection[str]) -> str:
    """Return the error text for a superfluous argument."""
    if "=" in word and "--set" in options:
        return f"unexpected word {word!r}; did you mean --set {word}?"
    return f"unexpected word {word!r}: {usage}"
