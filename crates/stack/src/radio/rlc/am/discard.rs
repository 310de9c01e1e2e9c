//! SDU discard (TS 25.322 §9.7.3), sending side: the SDUs that the sender gives up.
//!
//! A PDU may be sent `max_dat` times. If it is reported missing after that, all SDUs up to the last
//! one with a segment in it are discarded. With Timer_Discard the SDUs that are too old are
//! discarded instead. If a part of a discarded SDU was sent, the receiver must not wait for it: an
//! MRW follows (`mrw.rs`).

use umts_kernel::TraceSink;
use umts_units::Time;

use super::config::MrwAcknowledgment;
use super::mrw::{LastEnd, MrwProcedure};
use super::sender::{Sender, SentSdu};
use super::timers::{Timer, Timers};
use crate::Context;
use crate::detail::{Detail, DiscardReason};
use crate::radio::rlc::{RlcConfig, SduDiscard};
use crate::radio::rlc::{Sdu, Sn};
use crate::trace::TraceEvent;

/// Discarded SDUs, and the pending notification of the receiver.
#[derive(Debug, Clone, Default)]
pub(super) struct DiscardState {
    /// Number of discarded SDUs at the front of [`Sender::sent_sdus`]. These entries stay until
    /// their PDU is acknowledged, because the PDU may be retransmitted unchanged.
    pub sent_sdus: usize,
    /// The first PDU with data that are not discarded. PDUs below it are not sent any more.
    pub floor: u64,
    /// The first `floor_ends` SDU ends in PDU `floor` belong to discarded SDUs.
    pub floor_ends: u8,
    /// Last PDUs of the SDUs that were discarded after the pending MRW was built.
    pub unlisted: Vec<u64>,
    /// The pending MRW.
    pub mrw: Option<MrwProcedure>,
    /// The pending MRW must be sent now.
    pub mrw_due: bool,
}

#[cfg(test)]
impl DiscardState {
    /// Number of stored elements.
    pub fn stored_elements(&self) -> usize {
        self.unlisted.len() + self.mrw.as_ref().map_or(0, |mrw| mrw.earlier_sns.len())
    }
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
        let last_indicated = self.discard_ended(cx, reason, &is_discarded);
        let unsent_pdus = self.numbers_of_unsent_part(config);
        let any_open = self.discard_open(cx, reason, unsent_pdus, is_discarded);
        if any_open { Some(LastEnd::Open { unsent_pdus }) } else { last_indicated }
    }

    /// The part of `discard_sent` for SDUs whose end is in a PDU.
    fn discard_ended<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        reason: DiscardReason,
        is_discarded: impl Fn(u64, &Sdu) -> bool,
    ) -> Option<LastEnd> {
        let mut last_end = None;
        // The last end of an SDU that was discarded before.
        let (mut pdu, mut indicator) = (self.discards.floor, self.discards.floor_ends);
        while let Some(&SentSdu { first_pdu, last_pdu, sdu }) = self.sent_sdus.get(self.discards.sent_sdus)
            && is_discarded(first_pdu, &sdu)
        {
            indicator = if last_pdu == pdu { indicator.saturating_add(1) } else { 1 };
            pdu = last_pdu;
            last_end = Some(LastEnd::Indicated { pdu, indicator });
            self.discards.sent_sdus += 1;
            self.discards.unlisted.push(last_pdu);
            self.record_discard(cx, sdu, reason, Some((first_pdu, last_pdu)));
        }
        last_end
    }

    /// The part of `discard_sent` for the SDUs in PDUs whose end no PDU indicates yet. There are at most
    /// two: one that is completely in PDUs, and the partly sent first SDU of the buffer. Returns whether
    /// one was discarded.
    fn discard_open<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        reason: DiscardReason,
        unsent_pdus: u64,
        is_discarded: impl Fn(u64, &Sdu) -> bool,
    ) -> bool {
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
        any_open
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
