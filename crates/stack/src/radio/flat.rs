//! A flat radio: a link with a rate, a delay, a queue and random loss.
//!
//! Such a link is the "3G" preset of browsers' developer tools and of test services. It has no TTIs, no
//! RLC and no RRC states, so it does not model UMTS and only serves for comparison. A packet is
//! transmitted at the rate and then delayed. Packets keep their order.

use std::collections::VecDeque;

use umts_kernel::TraceSink;
use umts_kernel::random::Stream;
use umts_units::{BitRate, Bytes, Duration, Time};

use super::rlc::Sdu;
use crate::Context;
use crate::aqm::QueueLimit;
use crate::ids::{Direction, UeId};
use crate::packet::Packet;
use crate::trace::TraceEvent;

#[derive(Debug, Clone, PartialEq)]
pub struct FlatConfig {
    /// Rates of IP packets, downlink and uplink.
    pub rates: [BitRate; 2],
    /// One-way delay after the transmission.
    pub delay: Duration,
    /// Loss probability of a packet. A lost packet takes its transmission time.
    pub loss: f64,
    /// Queue limit per direction, including the packet in transmission. `None`: unlimited.
    pub queue: Option<QueueLimit>,
}

/// Result for a packet at the end of its transmission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    /// The packet arrives at this time.
    Arrives(Time),
    Lost(Packet),
}

/// The link of one UE in one direction.
#[derive(Debug)]
pub struct FlatLink {
    ue: UeId,
    direction: Direction,
    rate: BitRate,
    delay: Duration,
    loss: f64,
    limit: Option<QueueLimit>,
    losses: Stream,
    /// Queued packets. The first one is in transmission.
    waiting: VecDeque<Sdu>,
    /// Octets of the queued packets.
    octets: Bytes,
    /// Packets between their transmission and their arrival.
    in_flight: VecDeque<Sdu>,
    /// Whether all packets are lost.
    is_cut: bool,
}

impl FlatLink {
    pub fn new(ue: UeId, direction: Direction, config: &FlatConfig, losses: Stream) -> Self {
        FlatLink {
            ue,
            direction,
            rate: config.rates[direction.index()],
            delay: config.delay,
            loss: config.loss,
            limit: config.queue,
            losses,
            waiting: VecDeque::new(),
            octets: Bytes::ZERO,
            in_flight: VecDeque::new(),
            is_cut: false,
        }
    }

    /// Cuts the link, which then loses all packets, or restores it.
    pub fn set_cut(&mut self, is_cut: bool) {
        self.is_cut = is_cut;
    }

    /// Enqueues a packet. If the queue was empty, returns the end of its transmission.
    ///
    /// # Errors
    /// Returns the packet if the queue is full.
    pub fn handle_packet<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        packet: Packet,
    ) -> Result<Option<Time>, Packet> {
        let size = packet.size();
        if self.limit.is_some_and(|limit| !limit.has_room(self.waiting.len(), self.octets, size)) {
            return Err(packet);
        }
        let (ue, direction, sdu) = (self.ue, self.direction, packet.id);
        cx.record(|| TraceEvent::SduQueued { ue, direction, sdu, size });
        self.waiting.push_back(Sdu::new(packet, cx.now));
        self.octets += size;
        self.record_buffer(cx);
        Ok((self.waiting.len() == 1).then(|| cx.now + self.rate.time_to_send(size)))
    }

    /// Ends the transmission of the first packet. Returns the result for this packet, and the end of the
    /// next packet's transmission if one is queued.
    ///
    /// # Panics
    /// Panics if no packet is in transmission.
    pub fn handle_sent<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>) -> (Sent, Option<Time>) {
        let sdu = self.waiting.pop_front().expect("a transmission ends only if a packet is queued");
        self.octets = self.octets - sdu.size();
        self.record_buffer(cx);
        let next = self.waiting.front().map(|next| cx.now + self.rate.time_to_send(next.size()));
        let is_lost = self.loss > 0.0 && self.losses.uniform() < self.loss;
        if is_lost || self.is_cut {
            let (ue, direction) = (self.ue, self.direction);
            cx.record(|| TraceEvent::SduLost { ue, direction, sdu: sdu.packet.id, size: sdu.size() });
            return (Sent::Lost(sdu.packet), next);
        }
        self.in_flight.push_back(sdu);
        (Sent::Arrives(cx.now + self.delay), next)
    }

    /// Returns the packet that arrives now.
    ///
    /// # Panics
    /// Panics if no packet is in flight.
    pub fn arrive<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>) -> Packet {
        let sdu = self.in_flight.pop_front().expect("an arrival follows each successful transmission");
        let (ue, direction, size, entered) = (self.ue, self.direction, sdu.size(), sdu.entered);
        cx.record(|| TraceEvent::SduDelivered { ue, direction, sdu: sdu.packet.id, size, entered });
        sdu.packet
    }

    fn record_buffer<T: TraceSink<TraceEvent>>(&self, cx: &mut Context<'_, T>) {
        let (ue, direction, octets) = (self.ue, self.direction, self.octets.0);
        cx.record(|| TraceEvent::RlcBuffer { ue, direction, octets });
    }
}

#[cfg(test)]
mod tests {
    use umts_kernel::NoTrace;
    use umts_kernel::random::Streams;

    use super::*;
    use crate::radio::rlc::testing::packet;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    /// 80 kbit/s: 1 ms for ten octets.
    fn link(loss: f64, queue: Option<QueueLimit>) -> FlatLink {
        let rate = BitRate::from_bps(80_000).expect("not zero");
        let config = FlatConfig { rates: [rate; 2], delay: Duration::from_millis(100), loss, queue };
        FlatLink::new(UeId(0), Direction::Downlink, &config, Streams::new(1, 0).stream("flat"))
    }

    /// Sends a packet of `octets` octets. Returns the end of its transmission if it begins at once.
    fn send(link: &mut FlatLink, at: Time, id: u64, octets: u32) -> Result<Option<Time>, Packet> {
        link.handle_packet(&mut Context::new(at, &mut NoTrace), packet(id, octets))
    }

    #[test]
    fn packets_are_transmitted_in_order_then_delayed() {
        let mut link = link(0.0, None);
        assert_eq!(send(&mut link, ms(0), 0, 100), Ok(Some(ms(10))));
        assert_eq!(send(&mut link, ms(1), 1, 50), Ok(None));
        assert_eq!(
            link.handle_sent(&mut Context::new(ms(10), &mut NoTrace)),
            (Sent::Arrives(ms(110)), Some(ms(15)))
        );
        assert_eq!(link.handle_sent(&mut Context::new(ms(15), &mut NoTrace)), (Sent::Arrives(ms(115)), None));
        let arrived = [110, 115].map(|at| link.arrive(&mut Context::new(ms(at), &mut NoTrace)).id.0);
        assert_eq!(arrived, [0, 1]);
    }

    #[test]
    fn full_queue_rejects_packets() {
        let mut link = link(0.0, Some(QueueLimit::Bytes(Bytes(100))));
        assert_eq!(send(&mut link, ms(0), 0, 60), Ok(Some(ms(6))));
        assert_eq!(send(&mut link, ms(0), 1, 60), Err(packet(1, 60)));
        assert_eq!(send(&mut link, ms(0), 2, 40), Ok(None));
    }

    #[test]
    fn lost_packets_have_the_configured_ratio_and_take_transmission_time() {
        let mut link = link(0.1, None);
        let mut lost = 0;
        for n in 0..20_000 {
            let sent = send(&mut link, ms(10 * n), n, 100).expect("there is room").expect("it is the first");
            assert_eq!(sent, ms(10 * n + 10));
            let (result, next) = link.handle_sent(&mut Context::new(sent, &mut NoTrace));
            assert_eq!(next, None);
            lost += u32::from(matches!(result, Sent::Lost(_)));
        }
        // 2,000 losses are expected, with a standard deviation of √(20,000 · 0.1 · 0.9) = 42.
        assert!((1_830..2_170).contains(&lost), "{lost}");
    }
}
