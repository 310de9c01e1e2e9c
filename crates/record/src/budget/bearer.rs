//! Follows one direction of a UE's radio bearer through its trace events, and answers why a packet
//! has not left the bearer yet ([`Bearer::wait_reason`]). The time budget queries the reason while
//! a connection waits for a packet in the radio access network.
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

use std::collections::VecDeque;

use umts_stack::ids::{ConnectionId, PacketId};
use umts_stack::radio::phy::Lost;
use umts_stack::radio::rlc::{BlockSet, DataRun, Pdu, RlcConfig, RlcMode, Sn, Status};
use umts_units::{Duration, Time};

use super::harq::Harq;
use super::loss::Loss;
use super::missing::{Hole, LossPlace, MissingPdus};

/// A packet that cannot arrive any more.
#[derive(Debug, Clone, Copy)]
pub(super) struct Undeliverable {
    pub packet: PacketId,
    pub connection: Option<ConnectionId>,
    pub loss: Loss,
}

/// The reason of a packet's wait, and the time until which it holds if no event comes earlier.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wait {
    pub reason: WaitReason,
    pub until: Time,
}

impl Wait {
    /// A wait that only an event ends.
    fn until_event(reason: WaitReason) -> Self {
        Wait { reason, until: Time::NEVER }
    }
}

/// Why a packet has not left the bearer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WaitReason {
    /// The whole packet is on the air, or new data of its connection is.
    OnAir,
    /// New data of the packet's connection is on a common channel, at a time at which the refused
    /// DCH would have carried all of it already.
    OnSlowChannel,
    /// The packet is being transmitted, or no other packet is ahead of it.
    Served,
    /// The channel carries data of other users or connections.
    Queued,
    /// The packet is in RLC, and the Node B has allocated no credits for the HS-DSCH.
    NoCredit,
    /// HARQ repeats a block of the bearer.
    Repeated,
    /// The reordering queue waits for a block that is lost for good, so RLC does not know of the loss
    /// of PDU `sn`.
    Reordered { sn: u16 },
    /// RLC repairs lost PDUs. `sn` is the first of them, which was lost at `place`.
    Recovering { sn: u16, place: LossPlace },
    /// Timer_Status_Prohibit delays the status report that would name `sn`, the first lost PDU.
    Prohibited { sn: u16 },
    /// RLC's transmission window is full.
    WindowFull,
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// RLC repairs lost PDUs and has at most `window` unacknowledged PDUs. After a status report
    /// the receiver sends no other report for `prohibit` (Timer_Status_Prohibit).
    Acknowledged { in_sequence: bool, window: u64, prohibit: Duration },
    /// Unacknowledged or transparent mode: lost PDUs are not repaired.
    Unacknowledged,
}

/// One direction of a UE's radio bearer.
#[derive(Debug)]
pub(super) struct Bearer {
    mode: Mode,
    /// SDUs that are not delivered, in the order in which they entered RLC.
    sdus: VecDeque<QueuedSdu>,
    /// Count of the next new PDU that leaves RLC. Unlike sequence numbers, counts do not wrap.
    next: u64,
    /// Count of the next new PDU that goes on the air. Smaller than `next` if blocks wait at the
    /// Node B.
    next_on_air: u64,
    /// The last PDU in which an SDU ended. The following SDU begins in this PDU or in the next one.
    last_ended: Option<u64>,
    /// Number of blocks on the Iub and at the Node B.
    at_nodeb: u32,
    /// Whether RLC sends PDUs only for credits of the Node B (HS-DSCH).
    pub needs_credits: bool,
    /// HARQ and reordering, on the HS-DSCH and the E-DCH.
    pub harq: Harq,
    /// PDUs that were lost and have not arrived since.
    missing: MissingPdus,
    /// All PDUs below this count are acknowledged.
    acknowledged: u64,
    is_resetting: bool,
    /// Serial number of the block set that left RLC last.
    last_serial: u64,
    /// Block sets up to this serial number left before a re-establishment and are ignored on arrival.
    void_serial: u64,
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
        Bearer {
            mode,
            sdus: VecDeque::new(),
            next: 0,
            next_on_air: 0,
            last_ended: None,
            at_nodeb: 0,
            needs_credits: false,
            harq: Harq::default(),
            missing: MissingPdus::default(),
            acknowledged: 0,
            is_resetting: false,
            last_serial: 0,
            void_serial: 0,
            new_data_connection: None,
            new_data_until: Time::ZERO,
            new_data_on_dch_until: Time::ZERO,
            served_until: Time::ZERO,
            others_until: Time::ZERO,
        }
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

    /// Forgets lost PDUs that no SDU in the bearer needs, in the modes without repair.
    fn forget_losses(&mut self) {
        if self.mode == Mode::Unacknowledged {
            let oldest_sdu = self.sdus.front().and_then(|queued| queued.pdus);
            let first_needed = oldest_sdu.map(|pdus| pdus.first).or(self.last_ended).unwrap_or(0);
            self.missing.forget_below(first_needed);
        }
    }

    /// Returns why `packet` is in the bearer at `now`. In order of precedence: the channel is busy
    /// with new data; RLC repairs a loss; any other reason.
    pub fn wait_reason(&self, packet: PacketId, now: Time) -> Wait {
        let Some(index) = self.sdus.iter().position(|queued| queued.packet == packet) else {
            return Wait::until_event(WaitReason::Served);
        };
        let queued = &self.sdus[index];
        let is_on_air = queued.pdus.is_some_and(|pdus| pdus.last < self.next_on_air);
        if let Some(wait) = self.busy_channel(queued, is_on_air, now) {
            return wait;
        }
        let next_change = self.next_change(now);
        match self.repair(queued, now) {
            Some(repair) => Wait { until: repair.until.min(next_change), ..repair },
            None => Wait { reason: self.reason_without_loss(index, is_on_air, now), until: next_change },
        }
    }

    /// The reason if the channel carries new data of this UE, or blocks of another UE. `is_on_air`:
    /// all PDUs of `queued` have gone on the air.
    fn busy_channel(&self, queued: &QueuedSdu, is_on_air: bool, now: Time) -> Option<Wait> {
        // New data of the packet's connection.
        if now < self.new_data_until && self.new_data_connection == queued.connection {
            return Some(if now < self.new_data_on_dch_until {
                let until = self.new_data_until.min(self.new_data_on_dch_until);
                Wait { reason: WaitReason::OnAir, until }
            } else {
                Wait { reason: WaitReason::OnSlowChannel, until: self.new_data_until }
            });
        }
        // New data of another connection of the UE.
        if !is_on_air && now < self.new_data_until {
            return Some(Wait { reason: WaitReason::Queued, until: self.new_data_until });
        }
        // Blocks of another UE.
        let needs_channel = !is_on_air || self.at_nodeb > 0;
        let is_channel_of_others = now < self.others_until && now >= self.served_until;
        (needs_channel && is_channel_of_others)
            .then_some(Wait { reason: WaitReason::Queued, until: self.others_until })
    }

    /// The reason of the SDU at `index` if the channel is free of other data, and RLC repairs no
    /// loss. `is_on_air`: all PDUs of the SDU have gone on the air.
    fn reason_without_loss(&self, index: usize, is_on_air: bool, now: Time) -> WaitReason {
        let queued = &self.sdus[index];
        if self.needs_credits && queued.pdus.is_none() && self.at_nodeb == 0 {
            return WaitReason::NoCredit;
        }
        if self.harq.is_repeating(now) {
            return WaitReason::Repeated;
        }
        if is_on_air {
            return WaitReason::OnAir;
        }
        let is_of_other_and_unsent = |ahead: &QueuedSdu| {
            ahead.connection != queued.connection
                && ahead.pdus.is_none_or(|pdus| pdus.last >= self.next_on_air)
        };
        let is_other_ahead = self.sdus.iter().take(index).any(is_of_other_and_unsent);
        if is_other_ahead { WaitReason::Queued } else { WaitReason::Served }
    }

    /// The next known time at which the channel ends a TTI of this bearer or of another one, or
    /// a repetition by HARQ ends.
    fn next_change(&self, now: Time) -> Time {
        let known = [self.served_until, self.others_until, self.harq.repeated_until()];
        known.into_iter().filter(|at| *at > now).min().unwrap_or(Time::NEVER)
    }

    /// The reason if `queued` waits for the repair of a lost PDU, or for the transmission window.
    fn repair(&self, queued: &QueuedSdu, now: Time) -> Option<Wait> {
        let Mode::Acknowledged { in_sequence, window, .. } = self.mode else { return None };
        if let Some(hole) = self.hole_before(queued, in_sequence, now) {
            let Hole { place, is_known, prohibited_until, .. } = hole;
            let sn = Sn::of(hole.sn).value();
            if !is_known && place == LossPlace::Air && self.harq.holds_blocks() {
                return Some(Wait::until_event(WaitReason::Reordered { sn }));
            }
            let is_channel_idle = now >= self.served_until;
            let until = prohibited_until.unwrap_or(Time::NEVER);
            return Some(if is_channel_idle && prohibited_until.is_some() {
                Wait { reason: WaitReason::Prohibited { sn }, until }
            } else {
                Wait { reason: WaitReason::Recovering { sn, place }, until }
            });
        }
        let is_full = queued.pdus.is_none() && self.next - self.acknowledged >= window;
        (is_full && now >= self.served_until).then(|| Wait::until_event(WaitReason::WindowFull))
    }

    /// The first lost PDU for which `queued` waits. With in-sequence delivery the SDU waits for all
    /// PDUs up to its last one; otherwise only for its own PDUs.
    fn hole_before(&self, queued: &QueuedSdu, in_sequence: bool, now: Time) -> Option<Hole> {
        match queued.pdus {
            None => self.missing.hole(0, u64::MAX, now),
            Some(PduRange { last, .. }) if in_sequence => self.missing.hole(0, last, now),
            Some(PduRange { first, last }) => self.missing.hole(first, last, now),
        }
    }

    /// A block set leaves RLC, and goes into a queue of the Node B or on the air at once. The SDUs
    /// that end in its new PDUs get the range of their PDUs.
    pub fn leave(&mut self, set: &BlockSet, is_queued_at_nodeb: bool) {
        self.last_serial = set.serial;
        self.new_data_connection = self.first_unsent();
        for pdu in &set.pdus {
            let Some(run) = data(pdu) else { continue };
            if run.retransmission {
                continue;
            }
            let first = run.first.count_from(self.next);
            for end in set.ends_of(run) {
                let last = end.sn.count_from(first);
                // Count and sequence number advance together, so the first PDU of the SDU precedes
                // `last` by the difference of their sequence numbers.
                let begin = last - Sn::of(last).steps_from(end.first).min(last);
                let id = end.sdu.packet.id;
                self.last_ended = Some(last);
                if let Some(queued) =
                    self.sdus.iter_mut().find(|queued| queued.packet == id && queued.pdus.is_none())
                {
                    queued.pdus = Some(PduRange { first: begin, last });
                }
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

    /// A block set leaves the queue of the Node B: it goes on the air, or is dropped because the
    /// queue is full.
    pub fn leave_nodeb(&mut self, set: &BlockSet) {
        self.at_nodeb = self.at_nodeb.saturating_sub(set.blocks);
        for run in set.pdus.iter().filter_map(data).filter(|run| !run.retransmission) {
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
        let new_pdus: u32 = set
            .pdus
            .iter()
            .filter_map(data)
            .filter(|run| !run.retransmission)
            .map(|run| u32::from(run.count))
            .sum();
        let time_of_new_pdus = |tti: Duration, blocks_per_tti: u32| {
            Duration::from_nanos(tti.as_nanos() * u64::from(new_pdus) / u64::from(blocks_per_tti.max(1)))
        };
        self.new_data_until = now + time_of_new_pdus(tti, set.blocks);
        self.new_data_on_dch_until = match refused_dch {
            Some(dch) => self.new_data_until.min(now + time_of_new_pdus(dch.tti, dch.blocks_per_tti)),
            None => self.new_data_until,
        };
        self.served_until = now + tti;
    }

    /// The channel carries blocks of another bearer for one TTI.
    pub fn others_served(&mut self, now: Time, tti: Duration) {
        self.others_until = now + tti;
    }

    /// A block set arrives, except the blocks in `lost`, which were lost at `place`. Adds packets
    /// that cannot arrive any more to `undeliverable`.
    pub fn arrive(
        &mut self,
        set: &BlockSet,
        lost: Lost,
        place: LossPlace,
        undeliverable: &mut Vec<Undeliverable>,
    ) {
        if set.serial <= self.void_serial {
            return;
        }
        let mut block = 0;
        // The usual case: no block was lost, and no PDU is missing.
        let is_whole = lost.0 == 0 && self.missing.is_empty();
        for pdu in &set.pdus {
            if let Some(run) = data(pdu) {
                let first = self.count_of(run.first);
                if is_whole {
                    self.missing.arrived_below(first + u64::from(run.count));
                    continue;
                }
                for offset in 0..u32::from(run.count) {
                    let lost_at = lost.contains(block + offset).then_some(place);
                    self.missing.record_fate(first + u64::from(offset), lost_at, run.retransmission);
                }
            }
            block += pdu.blocks();
        }
        if self.missing.are_all_known() {
            self.harq.released();
        }
        if self.mode == Mode::Unacknowledged && !self.missing.is_empty() {
            self.collect_undeliverable(undeliverable);
        }
    }

    /// Adds the SDUs with a missing PDU to `undeliverable`. Call only in modes without repair.
    fn collect_undeliverable(&mut self, undeliverable: &mut Vec<Undeliverable>) {
        let Bearer { missing, sdus, last_ended, next, .. } = self;
        // PDUs of the first SDU that has left only in part: they follow the last complete SDU.
        let begun = PduRange { first: last_ended.map_or(0, |last| last + 1), last: next.saturating_sub(1) };
        let mut is_first_unsent = true;
        sdus.retain_mut(|queued| {
            let PduRange { first, last } = match queued.pdus {
                Some(pdus) => pdus,
                None if std::mem::take(&mut is_first_unsent) => begun,
                None => return true,
            };
            let Some(place) = missing.place_in(first, last) else { return true };
            if !std::mem::replace(&mut queued.is_undeliverable, true) {
                let QueuedSdu { packet, connection, .. } = *queued;
                undeliverable.push(Undeliverable { packet, connection, loss: place.loss() });
            }
            queued.pdus.is_none()
        });
        self.forget_losses();
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

    /// The receiver no longer waits for `count` PDUs from `first` on.
    pub fn skip(&mut self, first: Sn, count: u64) {
        let below = self.count_of(first) + count;
        self.missing.forget_below(below);
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
