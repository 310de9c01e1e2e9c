//! Details for trace sinks that request them ([`TraceSink::WANTS_DETAIL`](umts_kernel::TraceSink)):
//! block sets, which are too large to be part of an event, and causes. Captures of PDUs and time
//! budgets use them. Without such a sink they cost nothing.

use std::fmt;

use umts_kernel::Observable;
use umts_units::{Bytes, Duration, Time};

use crate::ids::{Direction, PacketId, UeId};
use crate::radio::mac::transport_channel::Channel;
use crate::radio::phy::lost::Lost;
use crate::radio::rlc::block_set::BlockSet;
use crate::radio::rlc::sn::Sn;
use crate::trace::TraceEvent;

/// A detail that is passed to the sink and not stored. `direction` is the direction of the data or
/// blocks.
#[derive(Debug)]
#[allow(missing_docs, reason = "the variants' sentences name their fields")]
pub enum Detail<'a> {
    /// A block set of `ue` is at `stage`. Its `serial` is unique for this UE and direction.
    Blocks { ue: UeId, direction: Direction, channel: Channel, set: &'a BlockSet, stage: Stage },
    /// The RNC sends a Capacity Request for the HS-DSCH. `buffer`: octets of the UE that wait there;
    /// `priority`: CmCH-PI of its data.
    HsRequest { ue: UeId, buffer: Bytes, priority: u8 },
    /// An allocation of credits for the HS-DSCH reaches the RNC, which may send as many PDUs to the
    /// Node B, or with MAC-ehs (`is_ehs`) as many octets as PDUs of the largest size have. The next
    /// allocation follows after `interval`.
    HsCredits { ue: UeId, credits: u32, interval: Duration, priority: u8, is_ehs: bool },
    /// The RNC has sent PDUs to the Node B for an allocation: the block sets that have left since the
    /// detail before. `buffer`: octets that are left.
    HsPdusSent { ue: UeId, buffer: Bytes, priority: u8, is_ehs: bool },
    /// An E-DCH data frame reaches the RNC with `set`, the PDUs of a block that the Node B decoded after
    /// `retransmissions`, in the TTI that began at `tti`. `tsn`: number of its MAC-es PDU.
    EDchFrame { ue: UeId, set: &'a BlockSet, tsn: u8, tti: Time, retransmissions: u8 },
    /// The PDU that was built last has its poll bit set, for these reasons. Shown before its block
    /// set.
    Poll { ue: UeId, direction: Direction, causes: PollCauses },
    /// A block goes on the air of a TDD cell in the frame that begins now. `sir_db`:
    /// signal-to-interference ratio, if it is computed. The blocks of a slot are shown in the order
    /// of their codes.
    Slot { ue: UeId, direction: Direction, slot: u8, codes: u8, sir_db: Option<f64>, lost: bool },
    /// The receiving entity of acknowledged mode has received `count` more PDUs in sequence, from
    /// `first` on.
    InSequence { ue: UeId, direction: Direction, first: Sn, count: u64 },
    /// The receiving entity obeyed an MRW. It no longer waits for `count` PDUs from `first` on,
    /// received or not. It ignores the first `ends` SDUs that end in the PDU after those.
    Skipped { ue: UeId, direction: Direction, first: Sn, count: u64, ends: u8 },
    /// The sender discards an SDU. Shown before the event `SduDiscarded`. `pdus`: counts of its
    /// first and last PDU, if acknowledged mode had sent a part of the SDU. If the rest was unsent,
    /// the last PDU may be one that is never sent.
    Discarded {
        ue: UeId,
        direction: Direction,
        sdu: PacketId,
        octets: Bytes,
        reason: DiscardReason,
        pdus: Option<(u64, u64)>,
    },
}

/// Why the sender discards an SDU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiscardReason {
    /// A PDU is still missing after MaxDAT transmissions (TS 25.322 §9.7.3.3).
    MaxDat,
    /// Timer_Discard expired (§9.7.3.1).
    TimerDiscard,
    /// The buffer is emptied because the UE leaves the cell.
    CellChange,
    /// RLC returned to its initial state (§11.4), or was re-established.
    Reset,
    /// The SDU needs more PDUs than transparent mode can send.
    TooLong,
    /// Queue management dropped the SDU before its transmission.
    QueueManagement,
}

impl DiscardReason {
    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            DiscardReason::MaxDat => "max_dat",
            DiscardReason::TimerDiscard => "timer_discard",
            DiscardReason::CellChange => "cell_change",
            DiscardReason::Reset => "reset",
            DiscardReason::TooLong => "too_long",
            DiscardReason::QueueManagement => "queue_management",
        }
    }
}

/// Where a block set is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// The block set leaves its RLC entity.
    Leaves,
    /// The Node B has no room for the block set.
    Dropped,
    /// The block set leaves the queue of the Node B and goes on the air for one TTI. Shown only if
    /// the Node B has such a queue.
    OnAir,
    /// The peer is about to receive the block set, without the lost blocks.
    Arrives(Lost),
}

impl Observable for TraceEvent {
    type Detail<'a> = Detail<'a>;
}

/// Why a PDU polls (TS 25.322 §9.7.1): one reason or several at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PollCauses(u8);

impl PollCauses {
    /// Last PDU in buffer.
    pub const LAST_PDU: Self = PollCauses(1);
    /// Last PDU in retransmission buffer.
    pub const LAST_RETRANSMITTED_PDU: Self = PollCauses(1 << 1);
    /// Every Poll_PDU PDUs.
    pub const POLL_PDU: Self = PollCauses(1 << 2);
    /// Every Poll_SDU SDUs.
    pub const POLL_SDU: Self = PollCauses(1 << 3);
    /// Window based.
    pub const WINDOW: Self = PollCauses(1 << 4);
    /// Timer_Poll expired.
    pub const TIMER_POLL: Self = PollCauses(1 << 5);
    /// Timer_Poll_Periodic expired.
    pub const PERIODIC: Self = PollCauses(1 << 6);

    const NAMES: [(Self, &'static str); 7] = [
        (Self::LAST_PDU, "last PDU"),
        (Self::LAST_RETRANSMITTED_PDU, "last retransmitted PDU"),
        (Self::POLL_PDU, "Poll_PDU"),
        (Self::POLL_SDU, "Poll_SDU"),
        (Self::WINDOW, "window"),
        (Self::TIMER_POLL, "Timer_Poll"),
        (Self::PERIODIC, "Timer_Poll_Periodic"),
    ];

    /// Returns this cause if `holds` is true, otherwise no cause.
    #[inline]
    #[must_use]
    pub fn when(self, holds: bool) -> Self {
        PollCauses(self.0 * u8::from(holds))
    }

    /// Whether there is any cause.
    #[inline]
    pub fn any(self) -> bool {
        self.0 != 0
    }
}

impl std::ops::BitOr for PollCauses {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        PollCauses(self.0 | other.0)
    }
}

impl std::ops::BitOrAssign for PollCauses {
    #[inline]
    fn bitor_assign(&mut self, other: Self) {
        *self = *self | other;
    }
}

impl fmt::Display for PollCauses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Self::NAMES.iter().filter(|(cause, _)| self.0 & cause.0 != 0);
        f.write_str(&names.map(|&(_, name)| name).collect::<Vec<_>>().join(", "))
    }
}
