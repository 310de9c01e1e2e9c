//! Follows one direction of a UE's radio bearer through its trace events, and answers why a packet
//! has not left the bearer yet ([`Bearer::wait_reason`], in `wait.rs`). The time budget queries the
//! reason while a connection waits for a packet in the radio access network.
//!
//! A packet becomes an SDU of RLC. RLC cuts SDUs into PDUs and sends them in block sets, one set
//! per TTI. On the FACH and the HS-DSCH, blocks then wait in a queue of the Node B before they go
//! on the air. A [`Bearer`] tracks the SDUs in RLC, the PDUs of each SDU that have left, the PDUs
//! that were lost and have not arrived since, and the time until which the channel is known to be
//! busy.
//!
//! PDUs are identified by *counts*: the number of new PDUs that left RLC before. Unlike the
//! sequence numbers of 12 bits they do not wrap around. Retransmissions keep the count of their
//! PDU.

mod arrival;
mod wait;

use std::collections::VecDeque;

use umts_stack::ids::{ConnectionId, PacketId};
use umts_stack::radio::phy::Lost;
use umts_stack::radio::rlc::{BlockSet, DataRun, Pdu, RlcConfig, RlcMode, Sn, Status};
use umts_units::{Duration, Time};

use super::harq::Harq;
use super::loss::Loss;
use super::missing::MissingPdus;

pub(super) use wait::{Wait, WaitReason};

/// A packet that cannot arrive any more.
#[derive(Debug, Clone, Copy)]
pub(super) struct Undeliverable {
    pub packet: PacketId,
    pub connection: Option<ConnectionId>,
    pub loss: Loss,
}

/// Format of the DCH that a UE on common channels requested.
#[derive(Debug, Clone, Copy)]
pub(super) struct DchFormat {
    pub blocks_per_tti: u32,
    pub tti: Duration,
}

/// The PDUs of an SDU, by their counts (see [`Bearer::next`]).
#[derive(Debug, Clone, Copy)]
struct PduRange {
    first: u64,
    /// The last PDU, inclusive.
    last: u64,
}

/// An SDU in the bearer.
#[derive(Debug)]
struct QueuedSdu {
    packet: PacketId,
    connection: Option<ConnectionId>,
    /// PDUs of the SDU. `None` until the last of them has left RLC.
    pdus: Option<PduRange>,
    /// Whether a PDU of the SDU was lost for good while further PDUs have not left RLC.
    is_undeliverable: bool,
}

/// RLC mode of a bearer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Mode {
    /// RLC repairs lost PDUs and has at most `window` unacknowledged PDUs. After a status report
    /// the receiver sends no other report for `prohibit` (Timer_Status_Prohibit).
    Acknowledged { in_sequence: bool, window: u64, prohibit: Duration },
    /// Unacknowledged or transparent mode: lost PDUs are not repaired.
    #[default]
    Unacknowledged,
}

/// One direction of a UE's radio bearer.
#[derive(Debug, Default)]
pub(super) struct Bearer {
    mode: Mode,

    // PDUs and SDUs in the bearer, by counts.
    /// SDUs that are not delivered, in the order in which they entered RLC.
    sdus: VecDeque<QueuedSdu>,
    /// Count of the next new PDU that leaves RLC. Unlike sequence numbers, counts do not wrap.
    next: u64,
    /// Count of the next new PDU that goes on the air. Smaller than `next` if blocks wait at the
    /// Node B.
    next_on_air: u64,
    /// The last PDU in which an SDU ended. The following SDU begins in this PDU or in the next one.
    last_ended: Option<u64>,
    /// All PDUs below this count are acknowledged.
    acknowledged: u64,
    /// PDUs that were lost and have not arrived since.
    missing: MissingPdus,

    // The Node B, and re-establishments.
    /// Number of blocks on the Iub and at the Node B.
    at_nodeb: u32,
    /// Whether RLC sends PDUs only for credits of the Node B (HS-DSCH).
    pub needs_credits: bool,
    /// HARQ and reordering, on the HS-DSCH and the E-DCH.
    pub harq: Harq,
    /// Whether an RLC reset is in progress.
    is_resetting: bool,
    /// Serial number of the block set that left RLC last.
    last_serial: u64,
    /// Block sets up to this serial number left before a re-establishment and are ignored on arrival.
    void_serial: u64,

    // Times until which the channel is known to be busy.
    /// The connection of the new data on the channel. Retransmitted PDUs are not new data.
    new_data_connection: Option<ConnectionId>,
    /// Time until which the channel carries these new data.
    new_data_until: Time,
    /// Time until which the refused DCH would have carried the same data.
    new_data_on_dch_until: Time,
    /// Time until which the channel carries blocks of this bearer.
    served_until: Time,
    /// Time until which the channel carries blocks of other bearers.
    others_until: Time,
}

impl Bearer {
    pub fn new(config: &RlcConfig) -> Self {
        let mode = match config.mode {
            RlcMode::Am => Mode::Acknowledged {
                in_sequence: config.in_sequence,
                window: u64::from(config.window),
                prohibit: config.timer_status_prohibit.unwrap_or(Duration::ZERO),
            },
            RlcMode::Um | RlcMode::Tm => Mode::Unacknowledged,
        };
        Bearer { mode, ..Bearer::default() }
    }

    pub fn is_empty(&self) -> bool {
        self.sdus.is_empty()
    }

    /// Whether an RLC reset of this direction is in progress.
    pub fn is_resetting(&self) -> bool {
        self.is_resetting
    }

    /// A packet enters the RLC buffer.
    pub fn enter(&mut self, packet: PacketId, connection: Option<ConnectionId>) {
        self.sdus.push_back(QueuedSdu { packet, connection, pdus: None, is_undeliverable: false });
    }

    /// Removes a packet that was delivered or discarded. Returns the connection of the packet.
    pub fn remove(&mut self, packet: PacketId) -> Option<ConnectionId> {
        let at = self.sdus.iter().position(|queued| queued.packet == packet)?;
        let removed = self.sdus.remove(at)?;
        self.forget_losses();
        removed.connection
    }

    /// A block set leaves RLC, and goes into a queue of the Node B or on the air at once. The SDUs
    /// that end in its new PDUs get the range of their PDUs.
    pub fn leave(&mut self, set: &BlockSet, is_queued_at_nodeb: bool) {
        self.last_serial = set.serial;
        self.new_data_connection = self.first_unsent();
        for run in new_data(set) {
            let first = run.first.count_from(self.next);
            for end in set.ends_of(run) {
                let last = end.sn.count_from(first);
                // Count and sequence number advance together, so the first PDU of the SDU precedes
                // `last` by the difference of their sequence numbers.
                let begin = last - Sn::of(last).steps_from(end.first).min(last);
                self.last_ended = Some(last);
                self.set_pdus(end.sdu.packet.id, PduRange { first: begin, last });
            }
            self.next = first + u64::from(run.count);
        }
        // Undeliverable SDUs leave the bearer with their last PDU.
        self.sdus.retain(|queued| !queued.is_undeliverable || queued.pdus.is_none());
        if is_queued_at_nodeb {
            self.at_nodeb += set.blocks;
        } else {
            self.next_on_air = self.next;
        }
    }

    /// Records that all PDUs of an SDU have left RLC.
    fn set_pdus(&mut self, packet: PacketId, pdus: PduRange) {
        let is_unsent = |queued: &&mut QueuedSdu| queued.packet == packet && queued.pdus.is_none();
        if let Some(queued) = self.sdus.iter_mut().find(is_unsent) {
            queued.pdus = Some(pdus);
        }
    }

    /// A block set leaves the queue of the Node B: it goes on the air, or is dropped because the
    /// queue is full.
    pub fn leave_nodeb(&mut self, set: &BlockSet) {
        self.at_nodeb = self.at_nodeb.saturating_sub(set.blocks);
        for run in new_data(set) {
            let first = self.count_of(run.first);
            let is_unsent = |queued: &&QueuedSdu| queued.pdus.is_none_or(|pdus| pdus.last >= first);
            self.new_data_connection = self.sdus.iter().find(is_unsent).and_then(|queued| queued.connection);
            self.next_on_air = self.next_on_air.max((first + u64::from(run.count)).min(self.next));
        }
    }

    /// The connection of the first SDU that has not completely left RLC.
    fn first_unsent(&self) -> Option<ConnectionId> {
        self.sdus.iter().find(|queued| queued.pdus.is_none())?.connection
    }

    /// The channel carries a block set of this bearer for one TTI. If n of its b blocks are new
    /// PDUs, new data is taken to use the first n/b of the TTI, and retransmissions use the rest.
    /// If the UE was refused a DCH (`refused_dch`), the same formula with the blocks and the TTI of
    /// the DCH gives the time that the new data would have taken there.
    pub fn served(&mut self, now: Time, tti: Duration, set: &BlockSet, refused_dch: Option<DchFormat>) {
        let new_pdus: u32 = new_data(set).map(|run| u32::from(run.count)).sum();
        let time_of_new_pdus = |tti: Duration, blocks_per_tti: u32| {
            Duration::from_nanos(tti.as_nanos() * u64::from(new_pdus) / u64::from(blocks_per_tti.max(1)))
        };
        self.new_data_until = now + time_of_new_pdus(tti, set.blocks);
        self.new_data_on_dch_until = match refused_dch {
            Some(dch) => self.new_data_until.min(now + time_of_new_pdus(dch.tti, dch.blocks_per_tti)),
            None => self.new_data_until,
        };
        self.served_until = now + tti;
        self.harq.on_air(set.serial);
        if !self.missing.is_empty() {
            for run in set.pdus.iter().filter_map(data).filter(|run| run.retransmission) {
                let first = self.count_of(run.first);
                self.missing.repeated(first, first + u64::from(run.count));
            }
        }
    }

    /// The channel carries blocks of another bearer for one TTI.
    pub fn others_served(&mut self, now: Time, tti: Duration) {
        self.others_until = now + tti;
    }

    /// The receiver sends a status report about this direction.
    pub fn report_sent(&mut self, now: Time) {
        if let Mode::Acknowledged { prohibit, .. } = self.mode {
            self.missing.reported(now + prohibit);
        }
    }

    /// A status report arrives at the sender of this direction: all PDUs below the first missing
    /// one are acknowledged, or all below LSN if none is missing.
    pub fn report_arrived(&mut self, set: &BlockSet, status: &Status) {
        let missing = set.missing_of(status).first().map(|run| run.first);
        if let Some(acknowledged) = missing.or(status.lsn) {
            let steps = acknowledged.steps_from(Sn::of(self.acknowledged));
            if steps <= self.next.saturating_sub(self.acknowledged) {
                self.acknowledged += steps;
            }
        }
    }

    /// RLC begins a reset of this direction, during which it sends no data.
    pub fn begin_reset(&mut self) {
        self.is_resetting = true;
    }

    /// RLC returns to its initial state: numbers begin at zero, and PDUs on their way are void.
    /// Adds the packets that had left completely to `undeliverable`. The others stay: the sender
    /// discards a packet that had left in part, with an event of its own.
    pub fn reinitialise(&mut self, undeliverable: &mut Vec<Undeliverable>) {
        self.is_resetting = false;
        self.void_serial = self.last_serial;
        (self.next, self.next_on_air, self.acknowledged, self.last_ended) = (0, 0, 0, None);
        self.missing.clear();
        self.sdus.retain(|queued| {
            let has_left = queued.pdus.is_some();
            if has_left && !queued.is_undeliverable {
                let QueuedSdu { packet, connection, .. } = *queued;
                undeliverable.push(Undeliverable { packet, connection, loss: Loss::RlcReset });
            }
            !has_left
        });
    }

    /// The count of a PDU that has left: the latest one below `next` with this sequence number. The
    /// PDU that left last has count `next - 1`, and is `steps` sequence numbers ahead of `sn`.
    fn count_of(&self, sn: Sn) -> u64 {
        let steps = Sn::of(self.next.wrapping_sub(1)).steps_from(sn);
        self.next.saturating_sub(steps + 1)
    }
}

/// The data PDUs in an entry of a block set. `None` if it is a control PDU.
#[inline]
fn data(pdu: &Pdu) -> Option<&DataRun> {
    match pdu {
        Pdu::Data(run) | Pdu::Umd(run) | Pdu::Tmd(run) => Some(run),
        Pdu::Status(_) | Pdu::Reset(_) | Pdu::ResetAck(_) => None,
    }
}

/// The data PDUs of a block set that are sent for the first time.
#[inline]
fn new_data(set: &BlockSet) -> impl Iterator<Item = &DataRun> {
    set.pdus.iter().filter_map(data).filter(|run| !run.retransmission)
}

/// The status reports in the blocks of a set that are not lost.
pub(crate) fn statuses(set: &BlockSet, lost: Lost) -> impl Iterator<Item = &Status> {
    let mut next_block = 0;
    set.pdus.iter().filter_map(move |pdu| {
        // A piggybacked STATUS is in the first block of its run.
        let block = next_block;
        next_block += pdu.blocks();
        match pdu {
            Pdu::Status(status) => (!lost.contains(block)).then_some(status),
            Pdu::Data(run) => run.piggyback.as_ref().filter(|_| !lost.contains(block)),
            _ => None,
        }
    })
}
