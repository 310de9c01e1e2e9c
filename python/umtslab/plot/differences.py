"""Names of runs in a common figure, made from the differences between their scenarios."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from umtslab.labels import key_label, value_label
from umtslab.overrides import RECORDING_KEYS

if TYPE_CHECKING:
    from umtslab.run import Run

_MAX_KEYS = 3
"""With more differing keys than this, names would be too long."""

_DESCRIPTIVE_KEYS = {"name", "title", "source", "extends"}


def named_apart(runs: Sequence[Run], fallback: Sequence[str] | None = None) -> dict[str, Run]:
    """Name runs by the values of differing keys, else by scenario, else by `fallback`.

    Parameters
    ----------
    runs : sequence of Run
        One run of each result.
    fallback : sequence of str, optional
        Names to use if nothing else distinguishes the runs; by default numbers from 1.
    """
    names = _by_keys(runs) or [run.scenario for run in runs]
    if len(set(names)) < len(names):
        names = (
            list(fallback) if fallback is not None else [str(number) for number in range(1, len(runs) + 1)]
        )
    if len(set(names)) < len(names):
        names = [f"{name} ({number})" for number, name in enumerate(names, 1)]
    return dict(zip(names, runs, strict=True))


def _by_keys(runs: Sequence[Run]) -> list[str] | None:
    """Return names from the differing keys. None if there are no or too many such keys."""
    if any(run.folder is None for run in runs):
        return None
    values = [_flat(_scenario(run)) for run in runs]
    keys = sorted({key for values_of_run in values for key in values_of_run} - set(RECORDING_KEYS))
    differing = [key for key in keys if len({str(values_of_run.get(key)) for values_of_run in values}) > 1]
    if not 1 <= len(differing) <= _MAX_KEYS:
        return None
    return [
        ", ".join(_value_text(key, values_of_run.get(key)) for key in differing) for values_of_run in values
    ]


def _value_text(key: str, value: Any) -> str:
    """Return the text for a value.

    Identifiers such as "reno" stand alone, other values follow their key.
    """
    if isinstance(value, str) and value.isidentifier():
        return value_label(value)
    return f"{key_label(key)} {'none' if value is None else value_label(value)}"


def _scenario(run: Run) -> dict[str, Any]:
    import tomllib

    assert run.folder is not None, "differences need stored runs"
    return tomllib.loads((run.folder / "scenario.toml").read_text(encoding="utf-8"))


def _flat(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Flatten a scenario: values by dotted key, with indices for arrays. Omits names and titles."""
    settings: dict[str, Any] = {}
    for key, value in table.items():
        path = f"{prefix}{key}"
        if not prefix and key in _DESCRIPTIVE_KEYS:
            continue
        if isinstance(value, Mapping):
            settings |= _flat(value, f"{path}.")
        elif isinstance(value, list) and value and isinstance(value[0], Mapping):
            for index, inner in enumerate(value):
                settings |= _flat(inner, f"{path}.{index}.")
        else:
            settings[path] = value
    return settings
