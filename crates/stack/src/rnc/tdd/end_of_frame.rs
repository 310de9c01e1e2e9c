//! The end of a frame of a TDD cell: RLC's acknowledgments and other control PDUs are sent on channels
//! that all UEs of the cell share, in round robin order in the downlink and by contention in the
//! uplink.
//!
//! The channels follow the data slots of the frame. So data can be acknowledged in the frame in which
//! they are received, and missing PDUs are retransmitted in the next frame, unless the scenario
//! configures a delay. The boundary with number n is the end of frame n - 1 and the start of frame n.

use umts_kernel::TraceSink;
use umts_kernel::random::AddressedStream;
use umts_units::Time;

use super::slots::{Place, Slots};
use super::{AckChannel, AckConfig, MacTdd};
use crate::EventContext;
use crate::ids::{Direction, UeId};
use crate::mac::{Below, CarrierConfig};
use crate::nodeb::Iub;
use crate::radio::mac::{AckContention, AckRoundRobin, Channel};
use crate::radio::phy::Lost;
use crate::radio::phy::tdd::SlotTransmission;
use crate::radio::phy::tdd::layout::FRAME;
use crate::trace::TraceEvent;
use crate::ue::Pdus;

/// Block number of a control PDU on a common channel, for the random draw of its loss: above the data
/// blocks of its UE, direction and frame, and above control PDUs on dedicated channels (64).
const CONTROL_BLOCK: u32 = 65;

/// The common channels for control PDUs.
#[derive(Debug)]
pub(super) struct ControlChannels {
    /// Round robin of the UEs in the downlink.
    pub downlink: AckRoundRobin,
    /// Contention of the UEs in the uplink.
    pub uplink: AckContention,
    /// The lowest slot of the channels and its codes, by direction.
    places: [Option<Place>; 2],
    /// The last boundary at which control PDUs were sent.
    pub boundary: Option<u64>,
    /// Time of the next boundary at which control PDUs may be sent.
    pub next: Option<Time>,
}

impl ControlChannels {
    /// Allocates the slots and codes of the channels.
    pub fn new(ack: &AckConfig, slots: &mut Slots, draws: AddressedStream) -> Self {
        let blocks_per_frame = [ack.downlink_per_frame.unwrap_or(1), ack.uplink_places];
        let mut places = [None; 2];
        for direction in Direction::BOTH.into_iter().filter(|_| ack.channel == AckChannel::Common) {
            let allocated = (0..blocks_per_frame[direction.index()]).map_while(|_| slots.allocate(direction));
            places[direction.index()] = allocated.min_by_key(|place| place.slot);
        }
        ControlChannels {
            downlink: AckRoundRobin::new(ack.downlink_per_frame),
            uplink: AckContention::new(ack.uplink_places, ack.uplink_backoff.0.into(), draws),
            places,
            boundary: None,
            next: None,
        }
    }

    /// The first boundary at which a control PDU is due, 0 for the next possible one.
    pub fn next_boundary(&self) -> Option<u64> {
        let downlink = (!self.downlink.is_idle()).then_some(0);
        let uplink = self.uplink.next().map(|frame| frame + 1);
        downlink.into_iter().chain(uplink).min()
    }
}

impl MacTdd {
    /// Handles the end of a frame: sends control PDUs in the downlink and the uplink.
    pub(super) fn handle_frame_end<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        config: &CarrierConfig,
        below: &mut Below<'_>,
    ) {
        let boundary = ctx.cx.now.as_nanos() / FRAME.as_nanos();
        if self.control.boundary.is_some_and(|last| last >= boundary) || boundary == 0 {
            return;
        }
        self.control.boundary = Some(boundary);
        let frame = boundary - 1;
        let served = self.control.downlink.select_senders();
        for ue in self.control.downlink.waiting() {
            ctx.cx.record(|| TraceEvent::AckDeferred { ue });
        }
        self.send_control(ctx, frame, Direction::Downlink, &served, config, below);
        let now = ctx.cx.now;
        let has_control = |ue: UeId| below.ues[ue].rlc[Direction::Uplink.index()].has_control(now);
        let contention = self.control.uplink.resolve(frame, has_control);
        for &ue in &contention.collided {
            ctx.cx.record(|| TraceEvent::AckCollision { ue });
        }
        self.send_control(ctx, frame, Direction::Uplink, &contention.successful, config, below);
    }

    /// Sends one control PDU of each UE in `sending`.
    fn send_control<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        frame: u64,
        direction: Direction,
        sending: &[UeId],
        config: &CarrierConfig,
        Below { ues, air, .. }: &mut Below<'_>,
    ) {
        let mut transmission = air.begin(direction, Channel::Ack);
        for &ue in sending {
            let context = &mut ues[ue];
            if context.send(&mut ctx.cx, direction, Pdus::Control, 1, None, &mut transmission) > 0 {
                transmission.last().lost = self.control_losses(frame, ue, direction);
            }
            self.queried.push((ue, direction));
        }
        let bits = transmission.sets().first().map_or(0, |sent| ues[sent.ue].channel(direction).block_bits);
        let crossing = config.iub.crossing(Iub::octets(1, bits));
        air.depart(ctx, transmission, ctx.cx.now + crossing + FRAME * u64::from(self.config.ack.delay.0));
    }

    /// The losses of a control PDU. Data in its slot interfere with the control PDU, but the control
    /// PDU does not interfere with the data.
    fn control_losses(&mut self, frame: u64, ue: UeId, direction: Direction) -> Lost {
        let Some(place) = self.control.places[direction.index()].filter(|_| self.config.ack.errors) else {
            return Lost(0);
        };
        let codes = self.config.layout.layout().codes_per_block;
        let sent = SlotTransmission { ue, direction, slot: place.slot, block: CONTROL_BLOCK, codes };
        self.air.losses_beside(frame, &sent)
    }
}
