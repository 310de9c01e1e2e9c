"""Parser of the command line: the verb first, then its options.

Only the module of the verb is imported. Differs from `argparse` in three ways. Options and other
words may stand in any order, and everything from the first word of a program on belongs to the
program. Options have no abbreviations, and errors name the option as it was typed and suggest
similar ones. The help text of an option is given once, where the option is declared.
"""

from __future__ import annotations

import sys
from argparse import Action, ArgumentError, ArgumentParser, ArgumentTypeError
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from umtslab.cli.failures import UsageError
from umtslab.cli.help import Layout, overview, print_help
from umtslab.cli.verbs import LINUX_ONLY, VERBS, Verb

if TYPE_CHECKING:
    from argparse import _ActionsContainer

    Options: TypeAlias = _ActionsContainer
    """A parser or a group of options, in which options are declared."""

_HELP = ("-h", "--help")


def dispatch(words: Sequence[str]) -> int:
    """Run the verb and return the exit status."""
    verb, after_verb = (words[0], words[1:]) if words else ("--help", ())
    if verb in ("help", *_HELP) and not (after_verb and after_verb[0] in VERBS):
        print_help(overview())
        return 0
    if verb == "--version":
        print(_version())
        return 0
    if verb == "help":  # `umts help run` is `umts run --help`
        verb, after_verb = after_verb[0], ("--help",)
    if verb not in VERBS:
        from umtslab.cli.mistyped import no_such_verb

        raise UsageError(no_such_verb(verb, after_verb))
    arguments = parser_of(verb).read(after_verb)
    if arguments is None:  # the help was printed
        return 0
    if verb in LINUX_ONLY and sys.platform != "linux":
        raise UsageError(f"umts {verb} needs Linux, this is {sys.platform}; simulations run here: umts run")
    status: int = getattr(import_module(f"umtslab.cli.{verb}"), verb)(**arguments)
    return status


def parser_of(verb: str) -> Parser:
    """Return the parser of a verb, with the options that its module declares."""
    parser = Parser(verb, VERBS[verb])
    import_module(f"umtslab.cli.{verb}").options(parser)
    return parser


class Parser(ArgumentParser):
    """The arguments of one verb.

    Each becomes a keyword argument of the verb's function, named by its `dest`.
    """

    def __init__(self, verb: str, about: Verb) -> None:
        examples = "\n".join(f"  {example}" for example in about.examples)
        super().__init__(
            prog=f"umts {verb}",
            description=about.sentence,
            epilog=f"examples:\n{examples}" if examples else None,
            formatter_class=Layout,
            add_help=False,
            allow_abbrev=False,
            exit_on_error=False,
        )
        self._positionals.title = "arguments"
        self._program_follows = False

    def explain(self, *paragraphs: str) -> None:
        """Add paragraphs to the description at the start of the help."""
        self.description = "\n\n".join((self.description or "", *paragraphs))

    def expect_program(self, **settings: Any) -> None:
        """Let the command line end with a program and its options. ``--`` before them is optional."""
        self.add_argument(nargs="*", **settings)
        self._program_follows = True

    def format_usage(self) -> str:
        """Return the usage line."""
        return f"usage: {self._usage_line()}\n"

    def format_help(self) -> str:
        """Return the help: description, arguments and options by group, examples."""
        self.usage = self._usage_line().replace("%", "%%")
        return super().format_help()

    def _usage_line(self) -> str:
        words = [_argument_usage(action) for action in self._get_positional_actions()]
        if self._program_follows:
            return " ".join([self.prog, "[OPTION …] --", *words])
        return " ".join([self.prog, *words, "[OPTION …]"])

    def read(self, words: Sequence[str]) -> dict[str, Any] | None:
        """Parse the words into arguments. On a request for help, prints the help and returns None.

        Raises
        ------
        UsageError
            If the words are wrong. The message says what would be right.
        """
        try:
            options, arguments = self._separate_options(words)
            if options is None:
                print_help(self.format_help())
                return None
            parsed, unparsed = self.parse_known_args([*options, *(["--", *arguments] if arguments else [])])
        except ArgumentError as error:
            raise UsageError(_error_text(error, words)) from None
        if unparsed:
            from umtslab.cli.mistyped import unexpected_word

            raise UsageError(unexpected_word(unparsed[-1], self._usage_line(), self._option_string_actions))
        return vars(parsed)

    def _separate_options(self, words: Sequence[str]) -> tuple[list[str] | None, list[str]]:
        """Separate options from other words. Each option is joined to its value as one word.

        The first list is None on a request for help.
        """
        options: list[str] = []
        arguments: list[str] = []
        unknown: list[str] = []
        index = 0
        while index < len(words):
            word = words[index]
            index += 1
            if word == "--" or (self._program_follows and not _is_option(word)):
                arguments += words[index:] if word == "--" else words[index - 1 :]
                break
            if not _is_option(word):
                arguments.append(word)
            elif word in _HELP:
                return None, []
            elif (action := self._option_string_actions.get(word)) is not None and action.nargs not in (
                0,
                "?",
            ):
                if index == len(words) or (_is_option(words[index]) and " " not in words[index]):
                    raise UsageError(f"{word} takes a value: {word} {action.metavar}")
                options.append(f"{word}={words[index]}")
                index += 1
            elif action is not None or self._is_attached(word):
                options.append(word)
            else:
                unknown.append(word)
        if unknown:
            from umtslab.cli.mistyped import no_such_option

            raise UsageError(no_such_option(self.prog, unknown[0], self._option_string_actions))
        return options, arguments

    def _is_attached(self, word: str) -> bool:
        """Whether a word joins an option to its value (--runs=5, -j2), or short options (-qj2)."""
        known = self._option_string_actions
        if word.startswith("--"):
            return word.partition("=")[0] in known
        return f"-{word[1]}" in known

    def error(self, message: str) -> NoReturn:
        """Report missing arguments. `argparse` calls this for no other error of this parser."""
        raise UsageError(f"{message.rpartition(': ')[2]} is missing: {self._usage_line()}")

    def _check_value(self, action: Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            from umtslab.cli.mistyped import nearest

            names = [str(choice) for choice in action.choices]
            similar = nearest(str(value), names)
            hint = f"; did you mean {similar}?" if similar else ""
            raise ArgumentError(action, f"takes one of {', '.join(names)}, not {value!r}{hint}")


def whole_number(word: str) -> int:
    """Convert the value of an option that takes an integer."""
    try:
        return int(word)
    except ValueError:
        raise ArgumentTypeError(f"takes a whole number, not {word!r}") from None


def _is_option(word: str) -> bool:
    """Whether a word is an option. Negative numbers and ``-`` for standard input are not."""
    return word.startswith("-") and word != "-" and not word[1:].replace(".", "", 1).isdecimal()


def _argument_usage(action: Action) -> str:
    name = str(action.metavar or action.dest)
    if action.nargs == "+":
        return f"{name} [{name} …]"
    if action.nargs == "*":
        return f"[{name} …]"
    return f"[{name}]" if action.nargs == "?" else name


def _error_text(error: ArgumentError, words: Sequence[str]) -> str:
    """Return the error text for an option's value, with the name of the option as it was typed."""
    names = (error.argument_name or "").split("/")
    typed = next((name for name in names for word in words if word.startswith(name)), names[0])
    if error.message.startswith("ignored explicit argument"):
        return f"{typed} takes no value"
    return f"{typed} {error.message}"


def _version() -> str:
    """Return the text of ``--version``."""
    from umtslab import _core

    build = _core.version()
    return f"umts {build['version']}+{build['commit']}"
