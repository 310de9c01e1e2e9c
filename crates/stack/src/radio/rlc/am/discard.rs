//! SDU discard (TS 25.322 §9.7.3) and the Move Receiving Window procedure (§11.6), sending side.
//!
//! A PDU may be sent `max_dat` times. If it is reported missing after that, all SDUs up to the last
//! one with a segment in it are discarded. With Timer_Discard the SDUs that are too old are
//! discarded instead. An MRW (move receiving window) names the position from which the receiver must
//! still wait for data. The floor is the first PDU with data that are not discarded:
//!
//! ```text
//!   PDU floor - 1     PDU floor = SN_MRW_LENGTH, N_LENGTH = 2
//!   | … discarded |   | end of a discarded SDU | a whole discarded SDU | start of the next SDU … |
//! ```
//!
//! If a discarded SDU has an unsent part, the sequence numbers that this part would have used are
//! skipped. SN_MRW may then lie beyond the window. An MRW with such an SN_MRW has LENGTH = 0 and no
//! other SN_MRW.
//!
//! At most one MRW is pending. It is repeated every Timer_MRW until it is acknowledged. After
//! MaxMRW RLC is reset. In the implicit form of Dubois (2005), §4.4, a further discard raises the
//! target of the pending MRW.

use umts_kernel::TraceSink;
use umts_units::Time;

use super::config::MrwAcknowledgment;
use super::sender::{Sender, SentSdu};
use super::status::max_sn_mrw;
use super::timers::{Timer, Timers};
use crate::Context;
use crate::detail::{Detail, DiscardReason};
use crate::radio::rlc::{BlockSet, Mrw, MrwAck, Sdu, Sn};
use crate::radio::rlc::{RlcConfig, SduDiscard};
use crate::trace::TraceEvent;

/// Maximum number of SN_MRW in an MRW: LENGTH has four bits.
const MAX_SN_MRW: usize = 15;

const MAX_N_LENGTH: u8 = 15;

/// Discarded SDUs, and the pending notification of the receiver.
#[derive(Debug, Clone, Default)]
pub(super) struct DiscardState {
    /// The pending MRW must be sent now.
    pub mrw_due: bool,
    /// The first `floor_ends` SDU ends in PDU `floor` belong to discarded SDUs.
    floor_ends: u8,
    /// The first PDU with data that are not discarded. PDUs below it are not sent any more.
    pub floor: u64,
    /// Number of discarded SDUs at the front of [`Sender::sent_sdus`]. These entries stay until
    /// their PDU is acknowledged, because the PDU may be retransmitted unchanged.
    pub sent_sdus: usize,
    /// Last PDUs of the SDUs that were discarded after the pending MRW was built.
    unlisted: Vec<u64>,
    /// The pending MRW.
    mrw: Option<MrwProcedure>,
}

#[cfg(test)]
impl DiscardState {
    /// Number of stored elements.
    pub fn stored_elements(&self) -> usize {
        self.unlisted.len() + self.mrw.as_ref().map_or(0, |mrw| mrw.earlier_sns.len())
    }
}

/// The MRW being sent until it is acknowledged.
#[derive(Debug, Clone)]
struct MrwProcedure {
    /// SN_MRW_LENGTH.
    sn: u64,
    n_length: u8,
    /// The other SN_MRW fields, which precede SN_MRW_LENGTH.
    earlier_sns: Vec<u64>,
    /// VT(MRW): number of transmissions.
    vt_mrw: u32,
}

/// End of the last one of several discarded SDUs.
#[derive(Debug, Clone, Copy)]
pub(super) enum LastEnd {
    /// At the length indicator with number `indicator` of `pdu`, counted from 1. 0: no discarded
    /// SDU ends in `pdu`.
    Indicated { pdu: u64, indicator: u8 },
    /// No PDU indicates the end of the SDU yet. The unsent part would take `unsent_pdus` PDUs.
    Open { unsent_pdus: u64 },
}

impl Sender {
    /// Handles a PDU that is still missing after MaxDAT transmissions: discards all SDUs up to the
    /// last one with a segment in it, or requests a reset.
    pub(super) fn reach_max_dat<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        config: &RlcConfig,
        timers: &mut Timers,
        pdu: u64,
    ) {
        if config.sdu_discard == SduDiscard::Never {
            self.wants_reset = true;
            return;
        }
        let last = self.discard_sent(cx, config, DiscardReason::MaxDat, |first, _| first <= pdu);
        // Without a discarded SDU the PDU contains only padding. The receiver must not wait for it
        // either.
        self.move_floor(config, timers, last.unwrap_or(LastEnd::Indicated { pdu, indicator: 0 }));
    }

    /// Discards all SDUs that are too old when Timer_Discard of the oldest SDU expires.
    pub(super) fn discard_timer_expired<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        config: &RlcConfig,
        timers: &mut Timers,
    ) {
        let Some(age) = config.discard_age() else { return };
        let too_old = Time::from_nanos(cx.now.as_nanos().saturating_sub(age.as_nanos()));
        let last =
            self.discard_sent(cx, config, DiscardReason::TimerDiscard, |_, sdu| sdu.entered <= too_old);
        let mut unsent = Vec::new();
        self.buffer.discard_unsent(too_old, |sdu| unsent.push(sdu));
        unsent.into_iter().for_each(|sdu| self.record_discard(cx, sdu, DiscardReason::TimerDiscard, None));
        // No MRW for the unsent SDUs: the receiver does not wait for them.
        if let Some(last) = last {
            self.move_floor(config, timers, last);
        }
        self.set_timer_discard(config, timers);
    }

    /// Discards all SDUs without a sent part. No MRW is needed, because the receiver does not wait
    /// for them. If the buffer is then empty, no later PDU carries the poll for the last PDU in the
    /// buffer, so this poll is triggered here.
    pub(super) fn lose_unsent<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        config: &RlcConfig,
        timers: &mut Timers,
    ) {
        let mut unsent = Vec::new();
        self.buffer.discard_all_unsent(|sdu| unsent.push(sdu));
        let misses_last_poll = !unsent.is_empty() && self.buffer.is_empty() && self.vt_a < self.vt_s;
        unsent.into_iter().for_each(|sdu| self.record_discard(cx, sdu, DiscardReason::CellChange, None));
        if misses_last_poll && config.poll_last_pdu {
            self.poll_for_last(cx.now, timers);
        }
        self.set_timer_discard(config, timers);
    }

    /// Sets Timer_Discard for the oldest SDU that is not discarded.
    pub(super) fn set_timer_discard(&self, config: &RlcConfig, timers: &mut Timers) {
        let Some(age) = config.discard_age() else { return };
        let oldest = self
            .sent_sdus
            .get(self.discards.sent_sdus)
            .map(|sent| sent.sdu.entered)
            .or_else(|| self.buffer.oldest());
        match oldest {
            Some(entered) => timers.set(Timer::Discard, entered + age),
            None => timers.stop(Timer::Discard),
        }
    }

    /// Discards the partly or completely sent SDUs for which `is_discarded` returns true. Its
    /// arguments are the first PDU of the SDU, and the SDU. Returns the end of the last discarded
    /// SDU.
    pub(super) fn discard_sent<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        config: &RlcConfig,
        reason: DiscardReason,
        is_discarded: impl Fn(u64, &Sdu) -> bool,
    ) -> Option<LastEnd> {
        let (mut pdu, mut indicator) = (self.discards.floor, self.discards.floor_ends);
        let mut any_ended = false;
        while let Some(&SentSdu { first_pdu, last_pdu, sdu }) = self.sent_sdus.get(self.discards.sent_sdus)
            && is_discarded(first_pdu, &sdu)
        {
            self.discards.sent_sdus += 1;
            indicator = if last_pdu == pdu { indicator.saturating_add(1) } else { 1 };
            pdu = last_pdu;
            any_ended = true;
            self.discards.unlisted.push(last_pdu);
            self.record_discard(cx, sdu, reason, Some((first_pdu, last_pdu)));
        }
        // At most two SDUs are in PDUs without an indicated end: one that is completely in PDUs, and
        // the partly sent first SDU of the buffer.
        let unsent_pdus = self.numbers_of_unsent_part(config);
        let mut open_sdus = [None; 2];
        let mut free_slots = open_sdus.iter_mut();
        let any_open = self.buffer.discard_started(is_discarded, |first_pdu, sdu| {
            *free_slots.next().expect("at most two SDUs have no indicated end") = Some((first_pdu, sdu));
        });
        for (first_pdu, sdu) in open_sdus.into_iter().flatten() {
            let last_pdu = self.vt_s + unsent_pdus.saturating_sub(1);
            self.discards.unlisted.push(last_pdu);
            self.record_discard(cx, sdu, reason, Some((first_pdu, last_pdu)));
        }
        if any_open {
            Some(LastEnd::Open { unsent_pdus })
        } else if any_ended {
            Some(LastEnd::Indicated { pdu, indicator })
        } else {
            None
        }
    }

    /// Raises the floor above `last`, the end of the last discarded SDU, and starts an MRW. With
    /// explicit acknowledgment a pending MRW is finished first.
    fn move_floor(&mut self, config: &RlcConfig, timers: &mut Timers, last: LastEnd) {
        let (floor, floor_ends) = match last {
            LastEnd::Open { unsent_pdus } => (self.vt_s + unsent_pdus, 0),
            // N_LENGTH has four bits. If more than 15 discarded SDUs end in the PDU, the receiver
            // delivers the SDUs after the 15th.
            LastEnd::Indicated { pdu, indicator } => match self.first_kept_pdu() {
                Some(first) if first <= pdu => (pdu, indicator.min(MAX_N_LENGTH)),
                _ => (pdu + 1, 0),
            },
        };
        self.discards.floor = floor;
        self.discards.floor_ends = floor_ends;
        self.vt_s = self.vt_s.max(floor);
        self.nacked_count -= self.nacked.remove_range(self.vt_a, floor);
        while self.discards.sent_sdus > 0 && self.sent_sdus.front().is_some_and(|sent| sent.last_pdu < floor)
        {
            self.sent_sdus.pop_front();
            self.discards.sent_sdus -= 1;
        }
        match (&self.discards.mrw, config.mrw_acknowledgment) {
            (Some(_), MrwAcknowledgment::Explicit) => {}
            _ => self.start_mrw(config, timers),
        }
    }

    /// Number of sequence numbers that the unsent part of the first SDU would have used. They are
    /// skipped: SN_MRW_LENGTH and VT(S) are set after the PDU in which the SDU would have ended (TS
    /// 25.322 §11.6.2.2). Limited so that all outstanding numbers stay distinct. 0 in the implicit
    /// form.
    fn numbers_of_unsent_part(&self, config: &RlcConfig) -> u64 {
        let room = Sn::MODULUS - 1 - (self.vt_s - self.vt_a);
        match config.mrw_acknowledgment {
            MrwAcknowledgment::Explicit => self.buffer.pdus_of_rest(&self.rules).min(room),
            MrwAcknowledgment::Implicit => 0,
        }
    }

    /// First PDU of the first SDU that is not discarded. `None` if it has no PDU yet.
    fn first_kept_pdu(&self) -> Option<u64> {
        self.sent_sdus
            .get(self.discards.sent_sdus)
            .map(|sent| sent.first_pdu)
            .or_else(|| self.buffer.first_pdu_of_head())
    }

    /// Starts the MRW procedure for the SDUs that no MRW has named yet.
    fn start_mrw(&mut self, config: &RlcConfig, timers: &mut Timers) {
        let discards = &mut self.discards;
        // SN_MRW_LENGTH itself names the last SDU.
        discards.unlisted.pop();
        let max_fields = MAX_SN_MRW.min(max_sn_mrw(config.pdu_octets(self.direction)));
        let skip = discards.unlisted.len().saturating_sub(max_fields - 1);
        let mut earlier_sns: Vec<u64> = discards.unlisted.drain(..).skip(skip).collect();
        if !config.send_mrw {
            earlier_sns.clear();
        }
        let (sn, n_length) = (discards.floor, discards.floor_ends);
        discards.mrw = Some(MrwProcedure { sn, n_length, earlier_sns, vt_mrw: 0 });
        discards.mrw_due = true;
        timers.stop(Timer::Mrw);
        self.check_max_mrw(config);
    }

    /// Requests a reset instead of another transmission if the MRW was sent MaxMRW - 1 times.
    fn check_max_mrw(&mut self, config: &RlcConfig) {
        let sent = self.discards.mrw.as_ref().map_or(0, |mrw| mrw.vt_mrw);
        if config.max_mrw.is_some_and(|max_mrw| sent + 1 >= max_mrw) {
            self.discards.mrw_due = false;
            self.wants_reset = true;
        }
    }

    /// Handles the expiry of Timer_MRW.
    pub(super) fn mrw_timer_expired(&mut self, config: &RlcConfig) {
        if self.discards.mrw.is_some() {
            self.discards.mrw_due = true;
            self.check_max_mrw(config);
        }
    }

    /// Number of SN_MRW fields of the due MRW.
    pub(super) fn mrw_fields(&self) -> Option<u64> {
        let mrw = self.discards.mrw.as_ref().filter(|_| self.discards.mrw_due)?;
        Some(mrw.earlier_sns.len() as u64 + 1)
    }

    /// Returns the due MRW, if any, and counts its transmission.
    pub(super) fn take_mrw<T>(
        &mut self,
        cx: &Context<'_, T>,
        config: &RlcConfig,
        timers: &mut Timers,
        set: &mut BlockSet,
    ) -> Option<Mrw> {
        if !std::mem::take(&mut self.discards.mrw_due) {
            return None;
        }
        let mrw = self.discards.mrw.as_mut()?;
        mrw.vt_mrw += 1;
        timers.set(Timer::Mrw, cx.now + config.timer_mrw);
        set.discarded.extend(mrw.earlier_sns.iter().map(|&pdu| Sn::of(pdu)));
        // Evaluated for each repetition: when VT(A) has advanced, SN_MRW may lie inside the window.
        // If VR(R) is then already above SN_MRW, LENGTH = 0 would move the receiver forward by
        // almost a whole cycle of sequence numbers.
        let beyond_window = mrw.earlier_sns.is_empty() && mrw.sn >= self.vt_a + u64::from(config.window);
        Some(Mrw { sn: Sn::of(mrw.sn), n_length: mrw.n_length, beyond_window })
    }

    /// Handles an MRW_ACK: ends the MRW procedure, and acknowledges the PDUs below SN_ACK. An MRW_ACK
    /// that does not match the pending MRW is ignored (TS 25.322 §11.6.2).
    pub(super) fn apply_mrw_ack<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        config: &RlcConfig,
        timers: &mut Timers,
        ack: MrwAck,
    ) {
        let Some(mrw) = &self.discards.mrw else { return };
        if ack.sn.steps_from(Sn::of(self.vt_a)) > self.vt_s - self.vt_a {
            return;
        }
        let acknowledged = ack.sn.count_from(self.vt_a);
        if acknowledged > mrw.sn || (acknowledged == mrw.sn && ack.n == mrw.n_length) {
            self.end_mrw(config, timers);
            self.acknowledge(cx, config, timers, acknowledged);
        }
    }

    /// Ends the MRW procedure if an acknowledgment up to `acknowledged` shows that the window was
    /// moved.
    pub(super) fn end_mrw_if_window_moved(
        &mut self,
        config: &RlcConfig,
        timers: &mut Timers,
        acknowledged: u64,
    ) {
        let Some(mrw) = &self.discards.mrw else { return };
        let implicit = config.mrw_acknowledgment == MrwAcknowledgment::Implicit;
        if acknowledged > mrw.sn || (acknowledged == mrw.sn && (mrw.n_length == 0 || implicit)) {
            self.end_mrw(config, timers);
        }
    }

    /// Ends the MRW procedure, and starts the next one if SDUs were discarded in the meantime.
    fn end_mrw(&mut self, config: &RlcConfig, timers: &mut Timers) {
        let DiscardState { floor, floor_ends, ref mrw, .. } = self.discards;
        let has_further_discards =
            mrw.as_ref().is_some_and(|mrw| (mrw.sn, mrw.n_length) != (floor, floor_ends));
        self.discards.mrw = None;
        self.discards.mrw_due = false;
        timers.stop(Timer::Mrw);
        if has_further_discards {
            self.start_mrw(config, timers);
        }
    }

    /// Counts and records a discarded SDU. `pdus`: counts of the first and last PDU of the SDU, if
    /// a part of it was sent.
    pub(super) fn record_discard<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        sdu: Sdu,
        reason: DiscardReason,
        pdus: Option<(u64, u64)>,
    ) {
        self.stored_octets -= sdu.size().0;
        self.sdus_done += 1;
        let (ue, direction, octets) = (self.ue, self.direction, self.stored_octets);
        let (id, size) = (sdu.packet.id, sdu.size());
        cx.show(|| Detail::Discarded { ue, direction, sdu: id, octets: size, reason, pdus });
        cx.record(|| TraceEvent::SduDiscarded { ue, direction, sdu: sdu.packet.id, size: sdu.size() });
        cx.record(|| TraceEvent::RlcBuffer { ue, direction, octets });
    }
}
