//! Execution of an MRW (move receiving window) at the receiving side of acknowledged mode (TS 25.322
//! §11.6.3). The sender has discarded SDUs and commands the receiver to stop waiting for them: VR(R)
//! moves up to the PDU of SN_MRW_LENGTH, the *target*. In the target PDU the ends of the first
//! N_LENGTH SDUs belong to discarded SDUs:
//!
//! ```text
//!   … VR(R) | skipped PDUs … |   target PDU, N_LENGTH = 2
//!                            |   end of a discarded SDU | a whole discarded SDU | start of the next SDU … |
//! ```
//!
//! In the explicit form of the standard the receiver answers with an MRW_ACK. In the implicit form
//! (Dubois 2005, §4.4) it still delivers complete SDUs below the target, and answers with a report.

use umts_kernel::TraceSink;

use super::config::MrwAcknowledgment;
use super::receiver::{KnownEnd, Receiver};
use super::timers::Timers;
use crate::Context;
use crate::radio::rlc::{Mrw, RlcConfig, Sn};
use crate::trace::TraceEvent;

impl Receiver {
    /// Executes an MRW. `discarded`: the SN_MRW fields before SN_MRW_LENGTH.
    pub fn move_window<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        config: &RlcConfig,
        timers: &mut Timers,
        mrw: Mrw,
        discarded: &[Sn],
    ) {
        match config.mrw_acknowledgment {
            MrwAcknowledgment::Implicit => self.trigger(cx.now, config, timers),
            MrwAcknowledgment::Explicit => self.unanswered_mrw = Some(mrw),
        }
        let Some(target) = self.target_of(config, mrw, discarded) else { return };
        self.remove_ends_below(cx, config, target);
        self.remove_discarded_ends(target, mrw.n_length);
        self.arrived.clear_range(self.vr_r, target);
        self.discarded_below = target;
        self.record_skipped(cx, target, mrw.n_length);
        self.vr_r = target;
        self.vr_h = self.vr_h.max(target);
        self.advance(cx);
        self.deliver_in_sequence(cx);
    }

    /// The PDU of SN_MRW_LENGTH, to which the window moves. `earlier_sns` are the SN_MRW fields
    /// before it. `None` if the PDU is below VR(R), as in a repetition of an MRW that was executed.
    ///
    /// The first SN_MRW is at VR(MR) = VR(R) + window or below, and the other SN_MRW follow it. A
    /// single SN_MRW with LENGTH = 0 is at VR(R) or above (TS 25.322 §11.6.3).
    fn target_of(&self, config: &RlcConfig, mrw: Mrw, earlier_sns: &[Sn]) -> Option<u64> {
        if mrw.beyond_window {
            return Some(mrw.sn.count_from(self.vr_r));
        }
        let first_sn = earlier_sns.first().copied().unwrap_or(mrw.sn);
        let vr_mr = self.vr_r + config.receive_window();
        // Down from VR(MR) to the first SN_MRW, and up from there to SN_MRW_LENGTH.
        let from_first_to_vr_mr = Sn::of(vr_mr).steps_from(first_sn);
        let from_first_to_target = mrw.sn.steps_from(first_sn);
        let target = (vr_mr + from_first_to_target).checked_sub(from_first_to_vr_mr);
        target.filter(|&target| target >= self.vr_r)
    }

    /// Removes the SDU ends in the PDUs below `target`. In the implicit form the complete SDUs are
    /// delivered.
    fn remove_ends_below<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        config: &RlcConfig,
        target: u64,
    ) {
        let delivers_complete = config.mrw_acknowledgment == MrwAcknowledgment::Implicit;
        while let Some(end) = self.ends.pop_front_if(|end| end.last_pdu < target) {
            if delivers_complete && !end.delivered && self.is_complete(&end) {
                self.deliver(cx, &end.sdu);
            }
        }
    }

    /// Whether all PDUs of an SDU have arrived. Only the implicit form of MRW may call this,
    /// because a real receiver cannot tell from the bits of the PDUs in which PDU an SDU begins.
    fn is_complete(&self, end: &KnownEnd) -> bool {
        end.first_pdu >= self.discarded_below && self.have_arrived(end.first_pdu.max(self.vr_r), end.last_pdu)
    }

    /// Removes the ends of the first `n_length` SDUs in the target PDU. If this PDU has not arrived
    /// yet, they are removed when it arrives.
    fn remove_discarded_ends(&mut self, target: u64, n_length: u8) {
        let target_has_arrived = target < self.vr_h && self.arrived.contains(target);
        if !target_has_arrived {
            self.discarded_ends = n_length;
            return;
        }
        self.discarded_ends = 0;
        for _ in 0..n_length {
            self.ends.pop_front_if(|end| end.last_pdu == target);
        }
    }
}
