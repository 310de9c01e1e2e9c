//! Control PDUs of RLC on the common channels of a TDD cell, at the end of a frame.
//!
//! The channels follow the data slots of the frame. So data can be acknowledged in the frame in which
//! they are received, and missing PDUs are retransmitted in the next frame, unless `delay` is set.

use umts_kernel::TraceSink;

use super::MacTdd;
use crate::EventContext;
use crate::ids::{Direction, UeId};
use crate::mac::{Below, CarrierConfig};
use crate::nodeb::Iub;
use crate::radio::mac::Channel;
use crate::radio::phy::Lost;
use crate::radio::phy::tdd::SlotTransmission;
use crate::radio::phy::tdd::layout::FRAME;
use crate::trace::TraceEvent;
use crate::ue::Pdus;

/// Block number of a control PDU on a common channel, for the random draw of its loss: above the data
/// blocks of its UE, direction and frame, and above control PDUs on dedicated channels (64).
const CONTROL_BLOCK: u32 = 65;

impl MacTdd {
    /// Handles the end of a frame: sends control PDUs in the downlink and the uplink.
    pub(super) fn handle_frame_end<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        config: &CarrierConfig,
        below: &mut Below<'_>,
    ) {
        let boundary = ctx.cx.now.as_nanos() / FRAME.as_nanos();
        if self.boundary.is_some_and(|last| last >= boundary) || boundary == 0 {
            return;
        }
        self.boundary = Some(boundary);
        let frame = boundary - 1;
        let mut through = std::mem::take(&mut self.scratch.through);
        let mut collided = std::mem::take(&mut self.scratch.collided);
        self.turns.frame(&mut through);
        for ue in self.turns.waiting() {
            ctx.cx.record(|| TraceEvent::AckDeferred { ue });
        }
        self.send_control(ctx, frame, (Direction::Downlink, &through), config, below);
        let now = ctx.cx.now;
        let wants = |ue: UeId| below.ues[ue].rlc[Direction::Uplink.index()].has_control(now);
        self.contention.frame(frame, wants, &mut through, &mut collided);
        for &ue in &collided {
            ctx.cx.record(|| TraceEvent::AckCollision { ue });
        }
        self.send_control(ctx, frame, (Direction::Uplink, &through), config, below);
        (self.scratch.through, self.scratch.collided) = (through, collided);
    }

    /// Sends one control PDU of each UE in `sending`.
    fn send_control<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        frame: u64,
        (direction, sending): (Direction, &[UeId]),
        config: &CarrierConfig,
        Below { ues, air, .. }: &mut Below<'_>,
    ) {
        let mut transmission = air.begin(direction, Channel::Ack);
        for &ue in sending {
            let context = &mut ues[ue];
            if context.send(&mut ctx.cx, direction, Pdus::Control, 1, None, &mut transmission) > 0 {
                transmission.last().lost = self.is_control_lost(frame, ue, direction);
            }
            self.queried.push((ue, direction));
        }
        let bits = transmission.sets().first().map_or(0, |sent| ues[sent.ue].channel(direction).block_bits);
        let crossing = config.iub.crossing(Iub::octets(1, bits));
        air.depart(ctx, transmission, ctx.cx.now + crossing + FRAME * self.config.ack.delay);
    }

    /// Whether a control PDU is lost on the air. Data in its slot interfere with the control PDU,
    /// but the control PDU does not interfere with the data.
    fn is_control_lost(&mut self, frame: u64, ue: UeId, direction: Direction) -> Lost {
        let (Some(radio), Some(place)) = (&mut self.radio, self.ack_places[direction.index()]) else {
            return Lost(0);
        };
        if !self.config.ack.errors {
            return Lost(0);
        }
        let codes = self.config.layout.layout().codes_per_block;
        let sent = SlotTransmission { ue, direction, slot: place.slot, block: CONTROL_BLOCK, codes };
        if radio.is_lost_beside(frame, &sent) { Lost::all(1) } else { Lost(0) }
    }
}
