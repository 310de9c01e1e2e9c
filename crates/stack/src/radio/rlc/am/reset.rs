//! RLC RESET: TS 25.322 §11.4. Both ends return to their initial state. PDUs in flight are lost.
//!
//! ```text
//!   initiator   RESET rsn ──────────────►   resets, and answers each repetition of the same RSN
//!               resets  ◄───── RESET ACK rsn
//! ```
//!
//! During the procedure the initiator neither sends nor accepts other PDUs. Hyper frame numbers
//! have no effect without ciphering and are not stored.

use umts_kernel::TraceSink;

use super::AmEntity;
use super::timers::{Timer, Timers};
use crate::Context;
use crate::radio::rlc::RlcConfig;
use crate::radio::rlc::{BlockSet, Pdu};
use crate::trace::TraceEvent;

/// State of the resets that the entity initiates and of those that it receives.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Reset {
    /// Usually no flag is set, which a single comparison detects.
    flags: Flags,
    /// RSN of the next procedure, which alternates.
    rsn: bool,
    /// VT(RST): number of RESETs sent in the procedure.
    vt_rst: u32,
    /// RSN of the last received RESET, which is also the RSN of the RESET ACK.
    last_received_rsn: Option<bool>,
}

/// State of the procedures, one bit each.
#[derive(Debug, Clone, Copy, Default)]
struct Flags(u8);

impl Flags {
    /// A procedure is in progress.
    const PENDING: u8 = 1;
    /// The RESET of the procedure must be sent now.
    const DUE: u8 = 1 << 1;
    /// A RESET ACK must be sent.
    const ACK_DUE: u8 = 1 << 2;
    /// MaxRST was reached: nothing is sent or received any more.
    const FAILED: u8 = 1 << 3;

    #[inline]
    fn has_any(self, flags: u8) -> bool {
        self.0 & flags != 0
    }

    /// Clears `flags`. Returns whether any of them was set.
    fn take(&mut self, flags: u8) -> bool {
        let was_set = self.has_any(flags);
        self.0 &= !flags;
        was_set
    }
}

impl Reset {
    /// Whether only RESET and RESET ACK may be sent and received.
    #[inline]
    pub fn is_blocking(&self) -> bool {
        self.flags.has_any(Flags::PENDING | Flags::FAILED)
    }

    #[inline]
    pub fn has_work(&self) -> bool {
        !self.has_failed() & self.flags.has_any(Flags::DUE | Flags::ACK_DUE)
    }

    /// Whether no flag is set: no procedure is in progress, none must be answered, none has failed.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.flags.0 == 0
    }

    #[inline]
    pub fn has_failed(&self) -> bool {
        self.flags.has_any(Flags::FAILED)
    }

    /// Adds due RESET ACK and RESET PDUs to `set`.
    pub fn send<T>(
        &mut self,
        cx: &Context<'_, T>,
        config: &RlcConfig,
        timers: &mut Timers,
        blocks: u32,
        set: &mut BlockSet,
    ) {
        if self.has_failed() {
            return;
        }
        if set.blocks < blocks
            && self.flags.take(Flags::ACK_DUE)
            && let Some(rsn) = self.last_received_rsn
        {
            set.push_control(Pdu::ResetAck(rsn));
        }
        if set.blocks < blocks && self.flags.take(Flags::DUE) {
            set.push_control(Pdu::Reset(self.rsn));
            self.vt_rst += 1;
            timers.set(Timer::Reset, cx.now + config.timer_rst);
        }
    }
}

impl AmEntity {
    /// Starts a reset if the sender has requested one.
    #[inline]
    pub(super) fn start_wanted_reset<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>) {
        if self.sender.wants_reset {
            self.begin_reset(cx);
        }
    }

    #[cold]
    fn begin_reset<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>) {
        self.sender.wants_reset = false;
        if self.reset.is_blocking() {
            return;
        }
        self.reset.flags.0 |= Flags::PENDING;
        self.reset.vt_rst = 0;
        let (ue, direction) = (self.sender.ue, self.sender.direction);
        cx.record(|| TraceEvent::RlcReset { ue, direction });
        self.repeat_reset(cx);
    }

    /// Marks the RESET as due, unless it was sent MaxRST - 1 times: then the error is
    /// unrecoverable.
    pub(super) fn repeat_reset<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>) {
        if self.reset.vt_rst + 1 < self.config.max_rst {
            self.reset.flags.0 |= Flags::DUE;
            return;
        }
        self.reset.flags.0 |= Flags::FAILED;
        self.timers = Timers::default();
        // The timer is due immediately, so that the caller calls `take_unrecoverable_error`.
        self.timers.set(Timer::Reset, cx.now);
        let (ue, direction) = (self.sender.ue, self.sender.direction);
        cx.record(|| TraceEvent::RlcUnrecoverable { ue, direction });
    }

    /// Whether an unrecoverable error occurred since the last call (TS 25.322 §11.4.4).
    #[inline]
    pub fn take_unrecoverable_error(&mut self) -> bool {
        let is_new = self.reset.has_failed() && self.timers.is_running(Timer::Reset);
        if is_new {
            self.timers.stop(Timer::Reset);
        }
        is_new
    }

    /// Handles a RESET: answers it, and resets unless it repeats the last one.
    pub(super) fn handle_reset<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>, rsn: bool) {
        self.reset.flags.0 |= Flags::ACK_DUE;
        if self.reset.last_received_rsn != Some(rsn) {
            self.reset.last_received_rsn = Some(rsn);
            self.return_to_initial_state(cx);
        }
    }

    /// Handles a RESET ACK: ends the procedure if the RSN matches.
    pub(super) fn handle_reset_ack<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>, rsn: bool) {
        if !self.reset.flags.has_any(Flags::PENDING) || rsn != self.reset.rsn {
            return;
        }
        self.reset.flags.take(Flags::PENDING | Flags::DUE);
        self.reset.vt_rst = 0;
        self.reset.rsn = !rsn;
        self.timers.stop(Timer::Reset);
        self.return_to_initial_state(cx);
    }

    /// Sets state variables to their initial values. Partly sent SDUs and received PDUs are lost.
    pub(super) fn return_to_initial_state<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>) {
        self.timers.stop_for_reset();
        self.sender.reset(cx, &self.config, &mut self.timers);
        self.receiver.reset(&self.config);
        let (ue, direction) = (self.sender.ue, self.sender.direction);
        cx.record(|| TraceEvent::RlcInitialState { ue, direction });
    }
}
