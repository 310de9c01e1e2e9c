"""The condition of a campaign: ``where = "tcp.variant == 'reno' or radio.bler < 0.1"``.

Supports comparisons, ``and``, ``or``, ``not``, ``in`` and the four operations on numbers, over the
varied keys. Values with units compare as quantities: ``"500 B" < "1 kB"``. A key that a row of
``[[list]]`` lacks equals no value. The text is not executed: it is parsed, and the syntax tree is
interpreted. Other forms of syntax are refused.
"""

from __future__ import annotations

import ast
import itertools
import operator
import re
from collections.abc import Callable, Collection, Mapping

from umtslab.campaign.errors import CampaignError
from umtslab.quantity import quantity

_TOKEN = re.compile(
    r"""(?P<text>'[^']*'|"[^"]*")|(?P<number>\d[\w.]*)|(?P<word>[A-Za-z_][\w-]*(?:\.[\w-]+)*)"""
)
_ALLOWED_SYNTAX = "it may contain only comparisons, and, or, not, in, and + - * / of numbers"
_WORDS = {"and", "or", "not", "in"}
_TOO_DEEP = "it is nested too deeply"
_MAX_LENGTH = 10_000
"""Maximum length of a condition in characters, enough for a list of a thousand values."""
_MAX_SHOWN = 200
"""Maximum number of characters of the condition that an error message quotes."""

_BOOLEANS = {"true": "True", "false": "False"}

_COMPARE: dict[type[ast.cmpop], Callable[[float, float], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_COMPUTE: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


class Where:
    """A condition over the parameters of a point.

    Raises
    ------
    CampaignError
        If the text is not a condition, or names a key that is not in `keys`.
    """

    def __init__(self, text: str, keys: Collection[str]) -> None:
        self.text = text
        self._names: dict[str, str] = {}
        if len(text) > _MAX_LENGTH:
            raise self._wrong(f"it has {len(text):,} characters, more than the limit of {_MAX_LENGTH:,}")
        try:
            self._tree = ast.parse(
                _TOKEN.sub(lambda match: self._token(match, keys), text.strip()), mode="eval"
            )
        except (MemoryError, RecursionError):  # both mean that the text is nested too deeply
            raise self._wrong(_TOO_DEEP) from None
        except (SyntaxError, ValueError) as error:
            if isinstance(error, CampaignError):
                raise
            raise self._wrong(
                "it is not a condition, for example radio.bler < 0.1 and tcp.variant == 'reno'"
            ) from None
        self._refuse_other_syntax()

    def holds(self, point: Mapping[str, object]) -> bool:
        """Whether a point fulfils the condition."""
        try:
            value = self._value(self._tree.body, point)
        except OverflowError:
            raise self._wrong("it contains a number that is too large") from None
        except RecursionError:
            raise self._wrong(_TOO_DEEP) from None
        if not isinstance(value, bool):
            raise self._wrong(f"its value is {value!r}, not true or false")
        return value

    def _token(self, match: re.Match[str], keys: Collection[str]) -> str:
        """Return the Python expression for a token of the condition.

        A varied key becomes a Python name. Texts, numbers and operators are already Python.
        """
        word = match["word"]
        if word is None or word in _WORDS:
            return match[0]
        if word in _BOOLEANS:
            return _BOOLEANS[word]
        if word not in keys:
            listed = ", ".join(sorted(keys)) or "nothing"
            hint = (
                f"write {word!r} in quotes for a text"
                if "." not in word
                else "a condition can use only varied keys"
            )
            raise self._wrong(f"{word} is not varied: the campaign varies {listed}; {hint}")
        name = f"key_{len(self._names)}"
        self._names[name] = word
        return name

    def _wrong(self, why: str) -> CampaignError:
        """Return the error for this condition."""
        excerpt = self.text if len(self.text) <= _MAX_SHOWN else f"{self.text[:_MAX_SHOWN]}…"
        return CampaignError(f"where = {excerpt!r}: {why}")

    def _refuse_other_syntax(self) -> None:
        """Raise an error if the condition uses other syntax than comparisons, logic and arithmetic."""
        allowed = (
            ast.Expression, ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.USub, ast.Compare, ast.Eq,
            ast.NotEq, *_COMPARE, ast.In, ast.NotIn, ast.BinOp, *_COMPUTE, ast.Name, ast.Load, ast.Constant,
            ast.Tuple, ast.List,
        )  # fmt: skip
        for node in ast.walk(self._tree):
            is_unknown_name = isinstance(node, ast.Name) and node.id not in self._names
            if is_unknown_name or not isinstance(node, allowed):
                raise self._wrong(_ALLOWED_SYNTAX)

    def _value(self, node: ast.expr, point: Mapping[str, object]) -> object:
        """Evaluate a node of the condition's syntax tree with the parameters of a point."""
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                return point.get(self._names[name])
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                return [self._value(element, point) for element in elements]
            case ast.BoolOp(op=operation, values=operands):
                booleans = (self._boolean(operand, point) for operand in operands)
                return all(booleans) if isinstance(operation, ast.And) else any(booleans)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return not self._boolean(operand, point)
            case ast.UnaryOp(operand=operand):
                return -self._number(self._value(operand, point))
            case ast.BinOp(left=left, op=operation, right=right):
                return self._compute(type(operation), self._value(left, point), self._value(right, point))
            case ast.Compare(left=first, ops=comparisons, comparators=others):
                # As in Python, a < b < c means a < b and b < c.
                values = [self._value(operand, point) for operand in (first, *others)]
                return all(
                    self._compare(type(comparison), left_value, right_value)
                    for comparison, (left_value, right_value) in zip(
                        comparisons, itertools.pairwise(values), strict=True
                    )
                )
        raise self._wrong(_ALLOWED_SYNTAX)

    def _boolean(self, node: ast.expr, point: Mapping[str, object]) -> bool:
        """Evaluate a part that must be true or false."""
        value = self._value(node, point)
        if not isinstance(value, bool):
            raise self._wrong(f"{value!r} is not true or false")
        return value

    def _compute(self, kind: type[ast.operator], a: object, b: object) -> float:
        """Apply an arithmetic operator to two numbers."""
        try:
            return _COMPUTE[kind](self._number(a), self._number(b))
        except ZeroDivisionError:
            raise self._wrong("it divides by zero") from None

    def _number(self, value: object) -> float:
        """Return a plain number. A quantity with a unit and a missing value are errors."""
        if value is None:
            raise self._wrong("some rows of [[list]] lack a key that the condition computes with")
        as_quantity = quantity(value)
        if as_quantity is None or as_quantity.unit:
            raise self._wrong(f"{value!r} is not a number, so it cannot be used in arithmetic")
        return as_quantity.number

    def _compare(self, kind: type[ast.cmpop], a: object, b: object) -> bool:
        """Apply a comparison operator."""
        if issubclass(kind, ast.In | ast.NotIn):
            if not isinstance(b, list):
                raise self._wrong("`in` needs a list, for example tcp.variant in ('reno', 'sack')")
            is_listed = any(_equal(a, element) for element in b)
            return is_listed if issubclass(kind, ast.In) else not is_listed
        if issubclass(kind, ast.Eq | ast.NotEq):
            return _equal(a, b) if issubclass(kind, ast.Eq) else not _equal(a, b)
        if a is None or b is None:
            raise self._wrong("some rows of [[list]] lack a key that the condition orders")
        left, right = quantity(a), quantity(b)
        if left is None or right is None or left.kind != right.kind:
            raise self._wrong(
                f"{a!r} and {b!r} cannot be ordered: both must be numbers, or have the same unit"
            )
        return _COMPARE[kind](left.base, right.base)


def _equal(a: object, b: object) -> bool:
    """Whether two values are equal; quantities are compared with their units. None equals no value."""
    if a is None or b is None:
        return False
    left, right = quantity(a), quantity(b)
    if left is not None and right is not None:
        return left.kind == right.kind and left.base == right.base
    if isinstance(a, bool) or isinstance(b, bool):
        # A value of the command line is a text: "true" or "false".
        return str(a).lower() == str(b).lower()
    return a == b
