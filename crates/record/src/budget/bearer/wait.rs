//! Why a packet has not left the bearer.

use umts_stack::ids::PacketId;
use umts_stack::radio::rlc::Sn;
use umts_units::Time;

use super::{Bearer, Mode, PduRange, QueuedSdu};
use crate::budget::missing::{Hole, LossPlace};

/// The reason of a packet's wait, and the time until which it holds if no event comes earlier.
#[derive(Debug, Clone, Copy)]
pub(in crate::budget) struct Wait {
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
pub(in crate::budget) enum WaitReason {
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

impl Bearer {
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
        let carries_new_data = now < self.new_data_until;
        let is_of_same_connection = self.new_data_connection == queued.connection;
        let needs_channel = !is_on_air || self.at_nodeb > 0;
        let is_channel_of_others = now < self.others_until && now >= self.served_until;
        if carries_new_data && is_of_same_connection {
            Some(self.own_new_data(now))
        } else if carries_new_data && !is_on_air {
            // New data of another connection of the UE.
            Some(Wait { reason: WaitReason::Queued, until: self.new_data_until })
        } else if needs_channel && is_channel_of_others {
            Some(Wait { reason: WaitReason::Queued, until: self.others_until })
        } else {
            None
        }
    }

    /// The reason while the channel carries new data of the packet's own connection.
    fn own_new_data(&self, now: Time) -> Wait {
        if now < self.new_data_on_dch_until {
            let until = self.new_data_until.min(self.new_data_on_dch_until);
            Wait { reason: WaitReason::OnAir, until }
        } else {
            Wait { reason: WaitReason::OnSlowChannel, until: self.new_data_until }
        }
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
            return Some(self.repair_of(hole, now));
        }
        let is_window_full = queued.pdus.is_none() && self.next - self.acknowledged >= window;
        let is_channel_idle = now >= self.served_until;
        (is_window_full && is_channel_idle).then(|| Wait::until_event(WaitReason::WindowFull))
    }

    /// The reason while a lost PDU is missing. While the channel carries blocks of this bearer, the
    /// reason is the repair, even if the report is prohibited.
    fn repair_of(&self, hole: Hole, now: Time) -> Wait {
        let Hole { place, is_known, is_repeated, prohibited_until, .. } = hole;
        let sn = Sn::of(hole.sn).value();
        // Either RLC does not know of the loss, or of the fate of the retransmission.
        let is_open = !is_known || is_repeated;
        let is_hidden_by_reordering = is_open && place == LossPlace::Air && self.harq.holds_blocks();
        let is_channel_idle = now >= self.served_until;
        if is_hidden_by_reordering {
            return Wait::until_event(WaitReason::Reordered { sn });
        }
        match prohibited_until {
            Some(until) if is_channel_idle => Wait { reason: WaitReason::Prohibited { sn }, until },
            _ => {
                let until = prohibited_until.unwrap_or(Time::NEVER);
                Wait { reason: WaitReason::Recovering { sn, place }, until }
            }
        }
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
}
