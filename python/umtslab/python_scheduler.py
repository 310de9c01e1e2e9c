"""Base class for DSCH schedulers in Python."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from umtslab.python_class import file_and_name

if TYPE_CHECKING:
    from umtslab._core import DschAsk, DschFormat


class DschScheduler:
    """Scheduler of the DSCH of a cell.

    The base class serves users round-robin, each with its whole backlog. The DSCH of each cell has
    an object of its own, created without arguments. The scheduler chooses the users, their formats
    and their order. Codes and power are then allocated in this order, as for the built-in
    schedulers, and the spreading factor is doubled if they are short. Runs are reproducible to the
    bit only if the class is deterministic: it must not use clocks, random numbers except from a
    generator with a fixed seed, or state shared between objects.
    """

    next_ue = 0

    def schedule(
        self,
        *,
        cell: int,
        tti: int,
        now_s: float,
        room_mw: float,
        formats: Sequence[DschFormat],
        asks: Sequence[DschAsk],
    ) -> Iterable[tuple[int, int]]:
        """Return the users to serve and the index of the format for each, in order of priority.

        Parameters
        ----------
        cell, tti : int
            Index of the cell and of the TTI, both from 0. If the scheduler decides in each frame, a
            TTI has two calls.
        now_s : float
            Simulated time.
        room_mw : float
            Transmit power that the calls of the cell leave for the DSCH.
        formats : sequence of DschFormat
            TF1, TF2 and so on, with `blocks` and `spreading_factor`. Index 0 is TF1.
        asks : sequence of DschAsk
            Users with data, ordered by number. `ue` is the number; `backlog` the data in blocks;
            `since_s` the arrival time of the oldest data; `gain` the path gain from the cell;
            `outside_mw` noise and power of other cells divided by the gain, smallest for the user
            with the best reception; `power_mw` for each format the power that this user alone adds
            to the cell's power (None: no power is enough); `credit` the credit in blocks;
            `mean_blocks` the recent mean of blocks sent to the user per TTI; `service_class`
            `"conversational"`, `"streaming"`, `"interactive"` or `"background"`; `is_rate_met` whether
            the user has received its guaranteed rate; `transfer_delay_s` the transfer delay of the
            bearer, or None. The class has no effect unless the scheduler uses it.

        Returns
        -------
        iterable of (ue, format)
            Users that are left out wait for the next TTI. They count as postponed
            (`dsch_postponed_credit_pct`).
        """
        in_turn = sorted(asks, key=lambda ask: (ask.ue - self.next_ue) % 65_536)
        return [(ask.ue, self.holding(formats, ask.backlog)) for ask in in_turn]

    def served(self, *, tti: int, ue: int, sent: int, received: int) -> None:
        """Called with the numbers of blocks sent and received in a user's last TTI."""
        self.next_ue = ue + 1

    @staticmethod
    def holding(formats: Sequence[DschFormat], blocks: int) -> int:
        """Return the index of the smallest format that holds `blocks`, or of the largest format."""
        numbers = (number for number, format in enumerate(formats) if format.blocks >= blocks)
        return next(numbers, len(formats) - 1)


def overrides_for(scheduler: type) -> list[tuple[str, str]]:
    """Return the scenario keys that select a class as the scheduler of the layout's DSCHs.

    Raises
    ------
    TypeError
        If `scheduler` is not a class.
    ValueError
        If the class is not at the top level of a file, for example defined in a function or at a
        prompt.
    """
    return [("cell.0.dsch.python", file_and_name(scheduler, "scheduler"))]
