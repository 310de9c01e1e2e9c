//! Suspension and re-establishment of an entity: TS 25.322 §8.1, §9.7.5, §9.7.7.

use umts_kernel::TraceSink;

use super::{AmEntity, Reset, Timers};
use crate::Context;
use crate::radio::rlc::Sn;
use crate::trace::TraceEvent;

impl AmEntity {
    /// Stops sending until [`resume`](Self::resume), while the transport channel changes ("stop",
    /// TS 25.322 §8.1). All state is kept, timers keep running, and PDUs in flight are received.
    pub fn suspend(&mut self) {
        self.suspended = true;
    }

    /// Sends only `n` further new PDUs until [`resume`](Self::resume): PDUs from VT(S) + N on wait
    /// (CRLC-SUSPEND, TS 25.322 §9.7.5). Retransmissions and reports continue. A RESET does not
    /// change the number of PDUs still allowed. Returns VT(S).
    pub fn suspend_after(&mut self, n: u32) -> Sn {
        self.sender.suspend_from(n.into());
        Sn::of(self.sender.vt_s)
    }

    /// Continues after [`suspend`](Self::suspend) or [`suspend_after`](Self::suspend_after). The
    /// channel, and with it the blocks per TTI, may have changed.
    pub fn resume(&mut self) {
        self.suspended = false;
        self.sender.resume();
    }

    pub fn is_suspended(&self) -> bool {
        self.suspended
    }

    /// Re-establishes the entity: state variables get their initial values, and all timers stop.
    /// SDUs with a sent part are lost, the others stay. The peer must be re-established, too.
    pub fn reestablish<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>) {
        self.timers = Timers::default();
        self.reset = Reset::default();
        self.return_to_initial_state(cx);
        if !self.sender.buffer.is_empty() {
            self.sender.start_timer_poll_periodic(cx.now, &self.config, &mut self.timers);
        }
    }

    /// Discards the SDUs without a sent part. Transmission of the others continues.
    pub fn lose_unsent<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>) {
        self.sender.lose_unsent(cx, &self.config, &mut self.timers);
    }
}
