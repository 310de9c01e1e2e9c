//! SDU discard (TS 25.322 §9.7.3) and the Move Receiving Window procedure (§11.6), sending side.
//!
//! A PDU may be sent `max_dat` times. If it is reported missing after that, all SDUs up to the last
//! one with a segment in it are discarded. With Timer_Discard the SDUs that are too old are
//! discarded instead. An MRW notifies the receiver how far it must not wait any more:
//!
//! ```text
//!   PDU floor - 1     PDU floor = SN_MRW_LENGTH, N_LENGTH = 2
//!   | … given up |    | end of one given up | another, whole | the next SDU begins … |
//! ```
//!
//! An SDU with an unsent part also takes the sequence numbers that its rest would have used. An MRW
//! with a single SN above the window indicates this by LENGTH = 0.
//!
//! At most one MRW is pending. It is repeated every Timer_MRW until it is acknowledged. After
//! MaxMRW RLC is reset. In the implicit form of Dubois (2005), §4.4, a further discard raises the
//! target of the pending MRW.

use umts_kernel::TraceSink;
use umts_units::Time;

use super::config::MrwAcknowledgment;
use super::sender::Sender;
use super::status::most_sn_mrw;
use super::timers::{Timer, Timers};
use crate::Context;
use crate::radio::rlc::{BlockSet, Mrw, MrwAck, Sdu, Sn};
use crate::radio::rlc::{RlcConfig, SduDiscard};
use crate::trace::TraceEvent;

/// Maximum number of SN_MRW in an MRW: LENGTH has four bits.
const MRW_MOST: usize = 15;

const N_LENGTH_MOST: u8 = 15;

/// Discarded SDUs, and the pending notification of the receiver.
#[derive(Debug, Clone, Default)]
pub(super) struct GivenUp {
    /// The pending MRW must be sent now.
    pub mrw_due: bool,
    /// The first `floor_ends` SDU ends in PDU `floor` belong to discarded SDUs.
    floor_ends: u8,
    /// PDUs below this count are not sent any more.
    pub floor: u64,
    /// Number of discarded SDUs at the front of the sender's `ends`. They stay until their PDU is
    /// acknowledged, because a retransmitted PDU is unchanged.
    pub ends: usize,
    /// Last PDUs of the SDUs that were discarded after the pending MRW was built.
    unlisted: Vec<u64>,
    /// The pending MRW.
    mrw: Option<Procedure>,
}

#[cfg(test)]
impl GivenUp {
    /// Number of stored elements.
    pub fn held(&self) -> usize {
        self.unlisted.len() + self.mrw.as_ref().map_or(0, |mrw| mrw.before.len())
    }
}

/// An MRW and the number of its transmissions, VT(MRW).
#[derive(Debug, Clone)]
struct Procedure {
    sn: u64,
    n_length: u8,
    before: Vec<u64>,
    vt_mrw: u32,
}

/// End of the last one of several discarded SDUs.
#[derive(Debug, Clone, Copy)]
pub(super) enum LastEnd {
    /// At the n-th length indicator of this PDU.
    Indicated(u64, u8),
    /// The SDU is not completely in PDUs, or no PDU has its end yet. The rest would take this
    /// number of PDUs.
    Open(u64),
}

impl Sender {
    /// Handles a PDU that is still missing after MaxDAT transmissions.
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
        let last = self.discard_sent(cx, config, |first, _| first <= pdu);
        // The receiver must not wait for a PDU with nothing but padding either.
        self.move_floor(config, timers, last.unwrap_or(LastEnd::Indicated(pdu, 0)));
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
        let last = self.discard_sent(cx, config, |_, sdu| sdu.entered <= too_old);
        let mut unsent = Vec::new();
        self.buffer.discard_unsent(too_old, |sdu| unsent.push(sdu));
        unsent.into_iter().for_each(|sdu| self.discarded(cx, sdu));
        // The receiver knows nothing of SDUs that were never sent.
        if let Some(last) = last {
            self.move_floor(config, timers, last);
        }
        self.await_discard(config, timers);
    }

    /// Discards all SDUs of which nothing was sent. The receiver knows nothing of them. The last
    /// sent PDU is now the last one in the buffer, but did not poll as such.
    pub(super) fn lose_unsent<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        config: &RlcConfig,
        timers: &mut Timers,
    ) {
        let mut unsent = Vec::new();
        self.buffer.discard_all_unsent(|sdu| unsent.push(sdu));
        let is_last = !unsent.is_empty() && self.buffer.is_empty() && self.vt_a < self.vt_s;
        unsent.into_iter().for_each(|sdu| self.discarded(cx, sdu));
        if is_last && config.poll_last_pdu {
            self.poll_for_last(cx.now, timers);
        }
        self.await_discard(config, timers);
    }

    /// Sets Timer_Discard to the oldest SDU.
    pub(super) fn await_discard(&self, config: &RlcConfig, timers: &mut Timers) {
        let Some(age) = config.discard_age() else { return };
        let oldest =
            self.ends.get(self.given_up.ends).map(|end| end.sdu.entered).or_else(|| self.buffer.oldest());
        match oldest {
            Some(entered) => timers.set(Timer::Discard, entered + age),
            None => timers.stop(Timer::Discard),
        }
    }

    /// Discards the partly or completely sent SDUs for which `lost` returns true. `lost` receives
    /// the first PDU of the SDU. Returns the end of the last discarded SDU.
    pub(super) fn discard_sent<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        config: &RlcConfig,
        lost: impl Fn(u64, &Sdu) -> bool,
    ) -> Option<LastEnd> {
        let mut at = (self.given_up.floor, self.given_up.floor_ends);
        let mut any = false;
        while let Some(&end) = self.ends.get(self.given_up.ends)
            && lost(end.first, &end.sdu)
        {
            self.given_up.ends += 1;
            at = (end.sn, if end.sn == at.0 { at.1.saturating_add(1) } else { 1 });
            any = true;
            self.given_up.unlisted.push(end.sn);
            self.discarded(cx, end.sdu);
        }
        let rest = self.numbers_of_rest(config);
        let mut open = [None; 2];
        let mut slot = open.iter_mut();
        let any_open = self.buffer.discard_started(lost, |sdu| {
            *slot.next().expect("one SDU is unfinished and one untold at most") = Some(sdu);
        });
        for sdu in open.into_iter().flatten() {
            self.given_up.unlisted.push(self.vt_s + rest.saturating_sub(1));
            self.discarded(cx, sdu);
        }
        match (any_open, any) {
            (true, _) => Some(LastEnd::Open(rest)),
            (false, true) => Some(LastEnd::Indicated(at.0, at.1)),
            (false, false) => None,
        }
    }

    /// Notifies the receiver that everything up to `last` was discarded.
    fn move_floor(&mut self, config: &RlcConfig, timers: &mut Timers, last: LastEnd) {
        let (floor, floor_ends) = match last {
            LastEnd::Open(rest) => (self.vt_s + rest, 0),
            // N_LENGTH has four bits. If more SDUs end in one PDU, the receiver delivers the
            // others.
            LastEnd::Indicated(pdu, n) => match self.next_begins() {
                Some(first) if first <= pdu => (pdu, n.min(N_LENGTH_MOST)),
                _ => (pdu + 1, 0),
            },
        };
        self.given_up.floor = floor;
        self.given_up.floor_ends = floor_ends;
        self.vt_s = self.vt_s.max(floor);
        self.nacked_count -= self.nacked.remove_range(self.vt_a, floor);
        while self.given_up.ends > 0 && self.ends.front().is_some_and(|end| end.sn < floor) {
            self.ends.pop_front();
            self.given_up.ends -= 1;
        }
        match (&self.given_up.mrw, config.mrw_acknowledgment) {
            (Some(_), MrwAcknowledgment::Explicit) => {}
            _ => self.make_mrw(config, timers),
        }
    }

    /// Sequence numbers of the unsent rest of an SDU. SN_MRW_LENGTH is after the PDU in which the
    /// SDU would have ended, and VT(S) follows (TS 25.322 §11.6.2.2). Limited to the numbers that
    /// can be distinguished. 0 in the implicit form.
    fn numbers_of_rest(&self, config: &RlcConfig) -> u64 {
        let room = Sn::MODULUS - 1 - (self.vt_s - self.vt_a);
        match config.mrw_acknowledgment {
            MrwAcknowledgment::Explicit => self.buffer.pdus_of_rest(&self.cutting).min(room),
            MrwAcknowledgment::Implicit => 0,
        }
    }

    /// First PDU of the first SDU that is not discarded. `None` if it has no PDU yet.
    fn next_begins(&self) -> Option<u64> {
        self.ends.get(self.given_up.ends).map(|end| end.first).or_else(|| self.buffer.head_began_in())
    }

    /// Starts the MRW procedure for all SDUs discarded so far.
    fn make_mrw(&mut self, config: &RlcConfig, timers: &mut Timers) {
        let given_up = &mut self.given_up;
        // SN_MRW_LENGTH itself names the last SDU.
        given_up.unlisted.pop();
        let most = MRW_MOST.min(most_sn_mrw(config.pdu_octets()));
        let skip = given_up.unlisted.len().saturating_sub(most - 1);
        let mut before: Vec<u64> = given_up.unlisted.drain(..).skip(skip).collect();
        if !config.send_mrw {
            before.clear();
        }
        let (sn, n_length) = (given_up.floor, given_up.floor_ends);
        given_up.mrw = Some(Procedure { sn, n_length, before, vt_mrw: 0 });
        given_up.mrw_due = true;
        timers.stop(Timer::Mrw);
        self.may_send_mrw(config);
    }

    /// Handles an MRW that was sent MaxMRW - 1 times: RLC is reset instead of another transmission.
    fn may_send_mrw(&mut self, config: &RlcConfig) {
        let sent = self.given_up.mrw.as_ref().map_or(0, |mrw| mrw.vt_mrw);
        if config.max_mrw.is_some_and(|max_mrw| sent + 1 >= max_mrw) {
            self.given_up.mrw_due = false;
            self.wants_reset = true;
        }
    }

    /// Handles the expiry of Timer_MRW.
    pub(super) fn mrw_timer_expired(&mut self, config: &RlcConfig) {
        if self.given_up.mrw.is_some() {
            self.given_up.mrw_due = true;
            self.may_send_mrw(config);
        }
    }

    /// Number of SN_MRW fields of the due MRW.
    pub(super) fn mrw_fields(&self) -> Option<u64> {
        let mrw = self.given_up.mrw.as_ref().filter(|_| self.given_up.mrw_due)?;
        Some(mrw.before.len() as u64 + 1)
    }

    /// Returns the due MRW, if any, and counts its transmission.
    pub(super) fn take_mrw<T>(
        &mut self,
        cx: &Context<'_, T>,
        config: &RlcConfig,
        timers: &mut Timers,
        set: &mut BlockSet,
    ) -> Option<Mrw> {
        if !std::mem::take(&mut self.given_up.mrw_due) {
            return None;
        }
        let mrw = self.given_up.mrw.as_mut()?;
        mrw.vt_mrw += 1;
        timers.set(Timer::Mrw, cx.now + config.timer_mrw);
        set.discarded.extend(mrw.before.iter().map(|&pdu| Sn::of(pdu)));
        // Evaluated again for each repetition: after an advance of VT(A), PDUs above SN_MRW may
        // have been sent, and VR(R) may be there.
        let beyond_window = mrw.before.is_empty() && mrw.sn >= self.vt_a + u64::from(config.window);
        Some(Mrw { sn: Sn::of(mrw.sn), n_length: mrw.n_length, beyond_window })
    }

    /// Handles an MRW_ACK. One that matches no MRW is ignored (TS 25.322 §11.6.2).
    pub(super) fn apply_mrw_ack<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        config: &RlcConfig,
        timers: &mut Timers,
        ack: MrwAck,
    ) {
        let Some(mrw) = &self.given_up.mrw else { return };
        if ack.sn.steps_from(Sn::of(self.vt_a)) > self.vt_s - self.vt_a {
            return;
        }
        let at = ack.sn.count_from(self.vt_a);
        if at > mrw.sn || (at == mrw.sn && ack.n == mrw.n_length) {
            self.end_mrw(config, timers);
            self.acknowledge(cx, config, timers, at);
        }
    }

    /// Ends the MRW procedure if an acknowledgment up to `acknowledged` shows that the window was
    /// moved.
    pub(super) fn mrw_may_be_obeyed(&mut self, config: &RlcConfig, timers: &mut Timers, acknowledged: u64) {
        let Some(mrw) = &self.given_up.mrw else { return };
        let implicit = config.mrw_acknowledgment == MrwAcknowledgment::Implicit;
        if acknowledged > mrw.sn || (acknowledged == mrw.sn && (mrw.n_length == 0 || implicit)) {
            self.end_mrw(config, timers);
        }
    }

    /// Ends the MRW procedure. The next one may start.
    fn end_mrw(&mut self, config: &RlcConfig, timers: &mut Timers) {
        let GivenUp { floor, floor_ends, ref mrw, .. } = self.given_up;
        let further = mrw.as_ref().is_some_and(|mrw| (mrw.sn, mrw.n_length) != (floor, floor_ends));
        self.given_up.mrw = None;
        self.given_up.mrw_due = false;
        timers.stop(Timer::Mrw);
        if further {
            self.make_mrw(config, timers);
        }
    }

    fn discarded<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>, sdu: Sdu) {
        self.octets -= sdu.size().0;
        self.sdus_done += 1;
        let (ue, direction, octets) = (self.ue, self.direction, self.octets);
        cx.record(|| TraceEvent::SduDiscarded { ue, direction, sdu: sdu.packet.id, size: sdu.size() });
        cx.record(|| TraceEvent::RlcBuffer { ue, direction, octets });
    }
}
