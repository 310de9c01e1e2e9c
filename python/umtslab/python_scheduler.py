"""Schedulers of DSCHs in Python: what a class of one's own starts from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from umtslab.python_class import place_of

if TYPE_CHECKING:
    from umtslab._core import DschAsk, DschFormat


class DschScheduler:
    """Who has the DSCH of a cell in a TTI; this class itself lets users take turns with all that waits.

    The DSCH of each cell has an object of its own, made without arguments. It says who wants which format, in
    which order; codes and power are given in that order as to every discipline, with the spreading factor
    doubled where they are short. A run repeats itself to the bit only if the class does: no clock, no
    random numbers but from a generator with a fixed seed, nothing shared between objects.
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
        """Users and the numbers of the formats that they want, who is first before the others.

        Parameters
        ----------
        cell, tti : int
            Which cell it is and which TTI, both from 0; decided on each frame, one has two calls.
        now_s : float
            Simulated time.
        room_mw : float
            What the calls leave of the cell's power.
        formats : sequence of DschFormat
            TF1, TF2 and so on, with `blocks` and `spreading_factor`: number 0 is TF1.
        asks : sequence of DschAsk
            Users with something to send, by their numbers. `ue`; `backlog` in blocks; `since_s`, when the
            oldest of it came; `gain` from the cell; `outside_mw`, noise and other cells over that gain, least
            for who hears best; `power_mw` by format, what the user alone adds to the cell's power (None: no
            power is enough); `credit` in blocks; `mean_blocks`, what the user was sent in a TTI lately.

        Returns
        -------
        iterable of (ue, format)
            Whoever is left out waits for the next TTI, and counts as postponed for want of credit.
        """
        turns = sorted(asks, key=lambda ask: (ask.ue - self.next_ue) % 65_536)
        return [(ask.ue, self.holding(formats, ask.backlog)) for ask in turns]

    def served(self, *, tti: int, ue: int, sent: int, received: int) -> None:
        """Hear that a user sent so many blocks in his last TTI, and how many came."""
        self.next_ue = ue + 1

    @staticmethod
    def holding(formats: Sequence[DschFormat], blocks: int) -> int:
        """The number of the smallest format that holds so many blocks, of the largest if none does."""
        numbers = (number for number, format in enumerate(formats) if format.blocks >= blocks)
        return next(numbers, len(formats) - 1)


def overrides_for(scheduler: type) -> list[tuple[str, str]]:
    """The key of a scenario that gives the DSCHs of its layout the scheduler of a class.

    Raises
    ------
    TypeError
        If it is no class.
    ValueError
        If it cannot be found again by its name in a file: made inside of a function, or typed at a prompt.
    """
    return [("cell.0.dsch.python", place_of(scheduler, "scheduler"))]
