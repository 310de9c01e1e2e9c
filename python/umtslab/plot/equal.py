"""Legend entries of equal curves. One hides the other, so the legend states that they are equal."""

from __future__ import annotations

from collections.abc import Hashable, Sequence


def equal_to(names: Sequence[str], curves: Sequence[Hashable]) -> list[str | None]:
    """Return for each curve the name of the first earlier curve with equal values, or None.

    An empty curve equals no other.

    >>> equal_to(["Reno", "Tahoe", "NewReno"], [(1, 2), (1, 3), (1, 2)])
    [None, None, 'Reno']
    """
    first: dict[Hashable, str] = {}
    equal_to: list[str | None] = []
    for name, curve in zip(names, curves, strict=True):
        equal_to.append(first.get(curve) if curve else None)
        first.setdefault(curve, name)
    return equal_to


def with_equal(label: str, other: str | None) -> str:
    """Append the name of the equal curve to a legend entry.

    >>> with_equal("NewReno", "Reno"), with_equal("Reno", None)
    ('NewReno (equal to Reno)', 'Reno')
    """
    if other is None:
        return label
    return f"{label[:-1]}; equal to {other})" if label.endswith(")") else f"{label} (equal to {other})"


def named_equal(names: Sequence[str], curves: Sequence[Hashable]) -> list[str]:
    """Return legend entries of curves, each with the name of the first curve that it equals.

    >>> named_equal(["Reno", "NewReno"], ["same", "same"])
    ['Reno', 'NewReno (equal to Reno)']
    """
    return [with_equal(name, other) for name, other in zip(names, equal_to(names, curves), strict=True)]
