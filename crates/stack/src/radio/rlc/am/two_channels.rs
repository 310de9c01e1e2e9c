//! Acknowledged mode over two logical channels: data PDUs on one, control PDUs (STATUS, RESET and
//! RESET ACK) on the other (TS 25.322 §4.2.1.3).
//!
//! A grant for data PDUs may limit the number of SDUs that the sender may start. Transmission of
//! started SDUs and retransmissions continue. The last PDU that the grant allows then polls like
//! the last PDU in the buffer.

use umts_kernel::TraceSink;
use umts_units::Time;

use super::AmEntity;
use super::reporting::PiggybackedStatus;
use crate::Context;
use crate::radio::phy::Lost;
use crate::radio::rlc::BlockSet;
use crate::trace::TraceEvent;

impl AmEntity {
    /// Whether the entity has control PDUs to send.
    #[inline]
    pub fn has_control(&self, now: Time) -> bool {
        !self.suspended & (self.reset.has_work() | (!self.reset.is_blocking() & self.status_is_due(now)))
    }

    /// Whether the entity has data PDUs to send.
    #[inline]
    pub fn has_data(&self, now: Time) -> bool {
        !(self.suspended | self.reset.is_blocking()) && self.sender.has_data(now)
    }

    /// Fills `set` with at most `blocks` control PDUs. No STATUS is piggybacked.
    pub fn poll_control<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        blocks: u32,
        set: &mut BlockSet,
    ) {
        self.handle_timeout(cx);
        if self.suspended {
            return;
        }
        if self.reset.has_work() {
            self.reset.send(cx, &self.config, &mut self.timers, blocks, set);
        }
        if !self.reset.is_blocking() {
            let piggybacked = self.send_status(cx, blocks, set);
            debug_assert!(piggybacked.is_none(), "the configuration of two channels excludes piggybacking");
        }
        self.start_wanted_reset(cx);
    }

    /// Fills `set` with at most `blocks` data PDUs: retransmissions, then new data.
    pub fn poll_data<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        blocks: u32,
        set: &mut BlockSet,
    ) {
        debug_assert!(blocks <= Lost::MAX_BLOCKS);
        self.handle_timeout(cx);
        if self.suspended || self.reset.is_blocking() {
            return;
        }
        if self.sender.has_only_new_data(cx.now) {
            self.sender.send_full_without_poll(cx, &self.config, blocks, set);
            if set.blocks == blocks {
                return;
            }
        }
        self.send_data(cx, blocks, PiggybackedStatus::default(), set);
        self.start_wanted_reset(cx);
    }

    /// Lets the sender start only `sdus` further SDUs from now on. `None`: unlimited.
    pub fn limit_sdus<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>, sdus: Option<u32>) {
        self.sender.buffer.limit(sdus.map_or(u64::MAX, u64::from));
        let (ue, direction) = (self.sender.ue, self.sender.direction);
        cx.record(|| TraceEvent::SdusLimited { ue, direction, sdus });
    }

    /// Number of SDUs that were completely acknowledged or discarded since the start.
    pub fn sdus_done(&self) -> u64 {
        self.sender.sdus_done
    }
}
