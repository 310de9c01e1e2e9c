"""Arithmetic and inequalities in claims and plans, parsed without ``eval``.

Supports names, numbers, ``+ - * /``, comparisons, and ``x in {1, 2}``. A call takes a metric from
the connections of a run: ``total(x)``, ``average(x)``, ``first(x)``, ``last(x)``.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from umtslab.reproduce.errors import Missing

SCOPES = ("total", "average", "first", "last")

_ARITHMETIC: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_COMPARISON: dict[type[ast.cmpop], Callable[[float, float], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


@dataclass(frozen=True, order=True)
class Leaf:
    """A name in an expression: a metric of the run or, with `scope`, of its connections."""

    name: str
    scope: str = ""


@dataclass(frozen=True)
class Expression:
    """A parsed formula."""

    text: str
    tree: ast.expr
    leaves: frozenset[Leaf]

    @property
    def is_inequality(self) -> bool:
        """Whether the formula is a comparison, or a chain of them."""
        return isinstance(self.tree, ast.Compare)

    @property
    def demands_equality(self) -> bool:
        """Whether a comparison is ``==`` or ``in``, which cannot be judged from a mean."""
        return isinstance(self.tree, ast.Compare) and any(
            isinstance(op, ast.Eq | ast.In) for op in self.tree.ops
        )

    def value(self, names: Mapping[Leaf, float | None]) -> float | None:
        """Evaluate the formula. None if a name has no value or a divisor is 0."""
        if any(names[leaf] is None for leaf in self.leaves):
            return None
        try:
            return _value(self.tree, names)
        except ZeroDivisionError:
            return None

    def holds(self, names: Mapping[Leaf, float | None]) -> bool | None:
        """Evaluate the inequality. None if a name has no value or a divisor is 0."""
        if not isinstance(self.tree, ast.Compare):
            raise Missing(f"{self.text!r} is not an inequality")
        if (members := _members(self.tree)) is not None:
            value = Expression(self.text, self.tree.left, self.leaves).value(names)
            return None if value is None else value in members
        sides = [self.tree.left, *self.tree.comparators]
        numbers = [Expression(self.text, side, self.leaves).value(names) for side in sides]
        if any(number is None for number in numbers):
            return None
        pairs = zip(numbers, self.tree.ops, numbers[1:], strict=False)
        return all(_COMPARISON[type(op)](a, b) for a, op, b in pairs if a is not None and b is not None)


def parse(text: str) -> Expression:
    """Parse a formula.

    Raises
    ------
    Missing
        If it is not an expression of numbers, names, the four operations, comparisons and scopes of
        connections.
    """
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError:
        raise Missing(f"there is no rule for {text!r}") from None
    leaves: set[Leaf] = set()
    if isinstance(tree, ast.Compare) and _members(tree) is not None:
        _collect(tree.left, leaves, text)
    elif isinstance(tree, ast.Compare):
        if any(type(op) not in _COMPARISON for op in tree.ops):
            raise Missing(f"there is no rule for {text!r}")
        for side in (tree.left, *tree.comparators):
            _collect(side, leaves, text)
    else:
        _collect(tree, leaves, text)
    return Expression(text, tree, frozenset(leaves))


def _members(tree: ast.Compare) -> set[float] | None:
    """Return the numbers of ``x in {1, 2}``. None for other comparisons."""
    match tree:
        case ast.Compare(ops=[ast.In()], comparators=[ast.Set(elts=elements)]):
            numbers = [element.value for element in elements if isinstance(element, ast.Constant)]
            known = [float(number) for number in numbers if isinstance(number, int | float)]
            return set(known) if len(known) == len(elements) else None
        case _:
            return None


def _collect(node: ast.expr, leaves: set[Leaf], text: str) -> None:
    """Collect the names of an expression, and refuse syntax that is not supported."""
    match node:
        case ast.Constant(value=int() | float()) if not isinstance(node.value, bool):
            return
        case ast.Name() | ast.Call():
            leaves.add(_leaf(node, text))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            _collect(operand, leaves, text)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
            _collect(left, leaves, text)
            _collect(right, leaves, text)
        case _:
            raise Missing(f"there is no rule for {text!r}")


def _leaf(node: ast.expr, text: str) -> Leaf:
    match node:
        case ast.Name(id=name):
            return Leaf(name)
        case ast.Call(func=ast.Name(id=scope), args=[ast.Name(id=name)], keywords=[]) if scope in SCOPES:
            return Leaf(name, scope)
        case _:
            raise Missing(f"there is no rule for {text!r}")


def _value(node: ast.expr, names: Mapping[Leaf, float | None]) -> float:
    """Evaluate a node of the syntax tree. Every name has a value."""
    match node:
        case ast.Constant(value=int() | float() as number):
            return float(number)
        case ast.UnaryOp(operand=operand):
            return -_value(operand, names)
        case ast.BinOp(left=left, op=op, right=right):
            return _ARITHMETIC[type(op)](_value(left, names), _value(right, names))
        case _:
            named = names[_leaf(node, ast.unparse(node))]
            assert named is not None, "Expression.value checks first that every leaf has a value"
            return named
