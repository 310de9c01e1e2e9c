//! The Move Receiving Window procedure (TS 25.322 §11.6), sending side: it informs the receiver of
//! discarded SDUs.
//!
//! An MRW (move receiving window) names the position from which the receiver must still wait for
//! data. The *floor* is the first PDU with data that are not discarded:
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

use super::config::MrwAcknowledgment;
use super::discard::DiscardState;
use super::sender::Sender;
use super::status::max_sn_mrw;
use super::timers::{Timer, Timers};
use crate::Context;
use crate::radio::rlc::{BlockSet, Mrw, MrwAck, RlcConfig, Sn};
use crate::trace::TraceEvent;

/// Maximum number of SN_MRW in an MRW: LENGTH has four bits.
const MAX_SN_MRW: usize = 15;

/// Maximum of N_LENGTH, which has four bits.
const MAX_N_LENGTH: u8 = 15;

/// The MRW being sent until it is acknowledged.
#[derive(Debug, Clone)]
pub(super) struct MrwProcedure {
    /// SN_MRW_LENGTH.
    sn: u64,
    n_length: u8,
    /// The other SN_MRW fields, which precede SN_MRW_LENGTH.
    pub earlier_sns: Vec<u64>,
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
    /// Raises the floor above `last`, the end of the last discarded SDU, and starts an MRW. With
    /// explicit acknowledgment a pending MRW is finished first.
    pub(super) fn move_floor(&mut self, config: &RlcConfig, timers: &mut Timers, last: LastEnd) {
        let (floor, floor_ends) = self.floor_above(last);
        self.discards.floor = floor;
        self.discards.floor_ends = floor_ends;
        self.vt_s = self.vt_s.max(floor);
        self.nacked_count -= self.nacked.remove_range(self.vt_a, floor);
        while self.discards.sent_sdus > 0
            && self.sent_sdus.pop_front_if(|sent| sent.last_pdu < floor).is_some()
        {
            self.discards.sent_sdus -= 1;
        }
        let waits_for_pending =
            self.discards.mrw.is_some() && config.mrw_acknowledgment == MrwAcknowledgment::Explicit;
        if !waits_for_pending {
            self.start_mrw(config, timers);
        }
    }

    /// The floor above `last`: the first PDU with data that are kept, and the number of SDU ends in it
    /// that belong to discarded SDUs.
    fn floor_above(&self, last: LastEnd) -> (u64, u8) {
        match last {
            LastEnd::Open { unsent_pdus } => (self.vt_s + unsent_pdus, 0),
            LastEnd::Indicated { pdu, indicator } => {
                let shares_pdu_with_kept_sdu = self.first_kept_pdu().is_some_and(|first| first <= pdu);
                // N_LENGTH has four bits. If more than 15 discarded SDUs end in the PDU, the receiver
                // delivers the SDUs after the 15th.
                if shares_pdu_with_kept_sdu { (pdu, indicator.min(MAX_N_LENGTH)) } else { (pdu + 1, 0) }
            }
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
        let is_above = acknowledged > mrw.sn;
        let is_exact = acknowledged == mrw.sn && ack.n == mrw.n_length;
        if is_above || is_exact {
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
        let is_implicit = config.mrw_acknowledgment == MrwAcknowledgment::Implicit;
        // An acknowledgment up to SN_MRW does not show that SDU ends in this PDU were removed.
        let removes_no_ends = mrw.n_length == 0;
        let is_executed = acknowledged == mrw.sn && (removes_no_ends || is_implicit);
        if acknowledged > mrw.sn || is_executed {
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
}
