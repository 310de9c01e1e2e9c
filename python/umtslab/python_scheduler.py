"""Base classes for schedulers of shared channels in Python."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from umtslab.python_class import file_and_name

if TYPE_CHECKING:
    from umtslab._core import Candidate, DschAsk, DschFormat


class Scheduler:
    """Scheduler of a shared channel: it puts the users with data in order.

    It schedules an HS-DSCH, a FACH, the shared downlink of a bearer, the grants of a TDD cell, and
    the DSCH of a layout. The base class serves users round-robin. Each channel of each cell has an
    object of its own, created without arguments; in a TDD cell each direction has one. The channel
    then serves the users in this order as far as it has capacity, as for the built-in schedulers.
    Runs are reproducible to the bit only if the class is deterministic: it must not use clocks,
    random numbers except from a generator with a fixed seed, or state shared between objects.
    """

    next_ue = 0

    def order(
        self, *, channel: str, cell: int, tti: int, now_s: float, candidates: Sequence[Candidate]
    ) -> Iterable[int]:
        """Return the numbers of the users to serve, in order of priority.

        Parameters
        ----------
        channel : str
            ``"hs_dsch"``, ``"fach"``, ``"bearer"`` (the shared downlink of a bearer),
            ``"tdd_downlink"``, ``"tdd_uplink"`` or ``"dsch"`` (of a layout).
        cell, tti : int
            Index of the cell and of the TTI, both from 0. In a TDD cell, of the frame.
        now_s : float
            Simulated time.
        candidates : sequence of Candidate
            Users with data that the channel can serve in this TTI, ordered by number. All have these
            fields:

            `ue`
                Number of the user.
            `backlog_octets`
                Waiting data. On an HS-DSCH, the queue at the Node B. None in the uplink of a TDD cell.
            `backlog_blocks`
                Waiting data in RLC blocks. None on an HS-DSCH and in the uplink of a TDD cell.
            `backlog_packets`
                Waiting packets that the user reported: all that the RNC knows in the uplink of a TDD
                cell. Otherwise None.
            `since_s`
                Arrival time of the oldest data (on an HS-DSCH, at the Node B). 0 if only control PDUs
                wait, or on an HS-DSCH only a block to repeat: schedulers by age serve these first.
            `possible_octets`, `mean_octets`
                Data that the radio can carry to the user in this TTI, and the recent mean of the data
                sent to it per TTI, with the time constant `mean_over` of the channel. Only on an
                HS-DSCH and the DSCH of a layout, otherwise None.
            `cqi`, `codes`
                CQI that the Node B has, and codes of the user's block. Only on an HS-DSCH, otherwise
                None. With CQI 0 only a block that failed before can be sent.
            `service_class`, `is_rate_met`, `guaranteed_kbps`, `transfer_delay_s`
                Quality of service of the bearer: ``"conversational"``, ``"streaming"``,
                ``"interactive"`` or ``"background"``; whether the user has received its guaranteed
                rate; this rate and the transfer delay, or None. They have no effect unless the
                scheduler uses them.

        Returns
        -------
        iterable of int
            Users that are left out wait for the next TTI.
        """
        return [user.ue for user in sorted(candidates, key=lambda user: (user.ue - self.next_ue) % 65_536)]

    def served(self, *, tti: int, ue: int, sent: int, received: int | None) -> None:
        """Called with the amounts of data sent to a user and received by it in a TTI.

        The unit is a block, on an HS-DSCH an octet. In a TDD cell it is called when a grant is made:
        `sent` is its number of blocks per frame, and `received` is None.
        """
        self.next_ue = ue + 1


class DschScheduler:
    """Scheduler of the DSCH of a cell of a layout, with formats.

    The base class serves users round-robin, each with its whole backlog. The DSCH of each cell has
    an object of its own, created without arguments. The scheduler chooses the users, their formats
    and their order. Codes and power are then allocated in this order, as for the built-in
    schedulers, and the spreading factor is doubled if they are short. A class that chooses only the
    order is a `Scheduler`; the rules for its code are the same.
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
            bearer, or None. The service class has no effect unless the scheduler uses it.

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


def overrides_for(scheduler: type, table: str) -> list[tuple[str, str]]:
    """Return the scenario keys that select a class as a scheduler.

    Parameters
    ----------
    scheduler : type
        The class.
    table : str
        Table of the channel, such as ``"cell.0.hs_dsch"``.

    Raises
    ------
    TypeError
        If `scheduler` is not a class.
    ValueError
        If the class is not at the top level of a file, for example defined in a function or at a
        prompt.
    """
    return [(f"{table}.python", file_and_name(scheduler, "scheduler"))]
