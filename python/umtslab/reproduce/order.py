"""Claims about orders: chains of ``>``, ``>=``, ``<``, ``<=`` and ``~`` (about equal) over labels.

Labels separated by ``,`` must each fulfil the relations. Chains separated by ``;`` must all hold.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from umtslab.reproduce.compare import RELATIONS, Finding, Verdict, conjunction
from umtslab.reproduce.errors import Missing
from umtslab.reproduce.results import Sample

OTHERS = "other combinations"
"""Label of all combinations of varied values that the order does not name."""

_STRENGTH = {"~": 0, ">=": 1, "<=": 1, ">": 2, "<": 2}


@dataclass(frozen=True)
class Chain:
    """Groups of labels, and the relations between adjacent groups."""

    groups: tuple[tuple[str, ...], ...]
    relations: tuple[str, ...]


def parse_order(text: str) -> list[Chain]:
    """Parse an order.

    Raises
    ------
    Missing
        If it is not a chain of comparisons.
    """
    chains = []
    for part in text.split(";"):
        pieces = re.split(r"\s*(>=|<=|>|<|~)\s*", part.strip())
        groups = tuple(tuple(label.strip() for label in piece.split(",")) for piece in pieces[::2])
        if len(groups) < 2 or any(not label for group in groups for label in group):
            raise Missing(f"there is no rule for the order {text!r}")
        if {piece[0] for piece in pieces[1::2]} >= {"<", ">"}:
            raise Missing(f"the order {text!r} uses both > and <")
        chains.append(Chain(groups, tuple(pieces[1::2])))
    return chains


def labels(chains: list[Chain]) -> list[str]:
    """Return every label once, in order of first mention."""
    return list(dict.fromkeys(label for chain in chains for group in chain.groups for label in group))


def judge_order(
    chains: list[Chain], samples: Mapping[str, Sample], gaps: Mapping[str, str], where: str = ""
) -> Finding:
    """Judge an order at one point.

    Parameters
    ----------
    chains : list of Chain
        The order.
    samples : mapping
        Values of each label that was run.
    gaps : mapping
        For each other label the reason why it is missing. Its neighbours are compared with each
        other: a chain that is already wrong without it fails, any other chain is not yet decided.
    where : str
        Prefix of the detail.
    """
    findings = [Finding(Verdict.NOT_YET, reason) for reason in dict.fromkeys(gaps.values())]
    for chain in chains:
        present = [[label for label in group if label in samples] for group in chain.groups]
        findings += _judge_chain(present, chain.relations, samples, where)
    return conjunction(findings)


def _judge_chain(
    groups: list[list[str]], relations: tuple[str, ...], samples: Mapping[str, Sample], where: str
) -> list[Finding]:
    """Judge the relations between successive groups.

    Empty groups are skipped: with ``a > b ~ c`` and no label in the group of b, the strongest of the
    skipped relations must hold between a and c.
    """
    findings = []
    last: list[str] | None = None
    pending: list[str] = []
    for position, group in enumerate(groups):
        if position:
            pending.append(relations[position - 1])
        if not group:
            continue
        if last is not None:
            relation = max(pending, key=_STRENGTH.__getitem__)
            check: Callable[[Sample, Sample, str], Finding] = RELATIONS[relation]
            findings += [
                check(samples[a], samples[b], f"{where}{a} {relation} {b}") for a in last for b in group
            ]
        last, pending = group, []
    return findings
