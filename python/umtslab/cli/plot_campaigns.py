"""``umts plot`` for campaigns: a metric over a parameter, a map, or time budgets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from umtslab.cli.failures import UsageError
from umtslab.cli.plot_kinds import BUDGET, RUN_KINDS, STUDY_KINDS
from umtslab.overrides import changes_text, shared_changes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from umtslab.campaign.record import Record
    from umtslab.plot import Look


def draw_campaigns(
    records: Mapping[str, Record], kind: str, over: str | None, against: str | None, look: Look
) -> Figure:
    """Draw a figure of one campaign or of several.

    Parameters
    ----------
    records : mapping of str to Record
        The campaigns, by the argument that named each on the command line.
    kind : str
        A metric, or ``budget``.
    over, against : str, optional
        Parameters of the horizontal and of the vertical axis.
    look : Look
        Appearance of the figure.
    """
    single = next(iter(records.values())) if len(records) == 1 else None
    if kind == BUDGET:
        return _budget(records, over, against, look)
    _check_metric(kind, ", ".join(records))
    if against is not None:
        from umtslab.plot.heat_map import draw_map

        if look.log_x or look.log_y:
            raise UsageError("--log applies to lines; a map has its values at equal distances")
        if single is None:
            raise UsageError(f"--against draws a map of one campaign, not of {len(records)}")
        return draw_map(single, kind, over, against, look=look)
    from umtslab.plot.campaign import draw_campaign

    return draw_campaign(single or named_campaigns(records), kind, over, look=look)


def named_campaigns(records: Mapping[str, Record]) -> dict[str, Record]:
    """Name campaigns for a legend.

    Parts of one campaign are named by the overrides in which they differ. Different campaigns are
    named by their names and these overrides. If such names are equal, the arguments of the command
    line are used.
    """
    shared = shared_changes(record.changes for record in records.values())
    differences = [
        changes_text(tuple(pair for pair in record.changes if pair not in shared))
        for record in records.values()
    ]
    if len({record.name for record in records.values()}) == 1:
        names = [text.removeprefix("with ") for text in differences]
    else:
        names = [
            f"{record.name} {text}".rstrip()
            for record, text in zip(records.values(), differences, strict=True)
        ]
    if len(set(names)) < len(names) or not all(names):
        names = list(records)
    return dict(zip(names, records.values(), strict=True))


def _budget(records: Mapping[str, Record], over: str | None, against: str | None, look: Look) -> Figure:
    from umtslab.plot.budget import draw_budget

    if look.log_x or look.log_y or against is not None:
        raise UsageError("--log and --against apply to metrics, not to a budget")
    if len(records) > 1:
        from umtslab.plot.budget_overlay import merged

        return draw_budget(merged(named_campaigns(records)), over, look=look)
    [record] = records.values()
    return draw_budget(record, over, look=look)


def _check_metric(kind: str, names: str) -> None:
    """Check that `kind` is a metric.

    Raises
    ------
    UsageError
        If it is not. If it is another kind of figure, the message says which.
    """
    from umtslab.metrics import units, unknown_metric_text

    if kind in units():
        return
    if kind in RUN_KINDS or kind in STUDY_KINDS:
        owners = "runs" if kind in RUN_KINDS else "studies"
        raise UsageError(
            f"{kind} is a figure of {owners}, and {names} is a campaign, of which a metric or {BUDGET} is "
            "drawn"
        )
    raise UsageError(f"figures of campaigns are a metric or {BUDGET}; {unknown_metric_text(kind)}")
