//! A radio link that replays a measured capacity: a trace of the times at which octets could pass.
//!
//! Such traces are recorded above RLC while a sender keeps the link busy. Each entry is an
//! opportunity for one packet of 1,500 octets. A trace replaces RLC, MAC and the air, so a UE with
//! such a radio has none of these. The rules are those of `mm-link` of the network emulator
//! mahimahi: an opportunity is used octet by octet for the waiting packets, its unused octets are
//! lost, and the trace repeats.

use std::collections::VecDeque;
use std::sync::Arc;

use umts_kernel::TraceSink;
use umts_units::{Bytes, Time};

use super::rlc::Sdu;
use crate::Context;
use crate::aqm::QueueLimit;
use crate::ids::{Direction, UeId};
use crate::packet::Packet;
use crate::trace::TraceEvent;

/// Octets per opportunity.
pub const OPPORTUNITY: u64 = 1500;

const MILLISECOND: u64 = 1_000_000;

/// Opportunities of one direction in milliseconds from the start of the trace, in ascending order.
/// The last one is positive and marks the end of the trace, where it repeats.
#[derive(Debug, Clone, PartialEq)]
pub struct CapacityTrace {
    milliseconds: Arc<[u32]>,
}

impl CapacityTrace {
    /// Returns `None` if the trace is empty, has length 0 or is not in ascending order.
    pub fn new(milliseconds: impl Into<Arc<[u32]>>) -> Option<Self> {
        let milliseconds = milliseconds.into();
        let has_length = milliseconds.last().is_some_and(|last| *last > 0);
        (has_length && milliseconds.is_sorted()).then_some(CapacityTrace { milliseconds })
    }

    /// Times of the opportunities in milliseconds.
    pub fn milliseconds(&self) -> &[u32] {
        &self.milliseconds
    }

    /// Number of opportunities in one repetition.
    fn len(&self) -> u64 {
        self.milliseconds.len() as u64
    }

    /// Length of one repetition in milliseconds.
    fn period(&self) -> u64 {
        u64::from(self.milliseconds[self.milliseconds.len() - 1])
    }

    /// Time of opportunity `n`, counted over all repetitions.
    fn at(&self, n: u64) -> Time {
        let (repetition, index) = (n / self.len(), n % self.len());
        let in_repetition = u64::from(self.milliseconds[index as usize]);
        Time::from_nanos((repetition * self.period() + in_repetition) * MILLISECOND)
    }

    /// Number of the first opportunity at or after `now`.
    fn next(&self, now: Time) -> u64 {
        let ms = now.as_nanos().div_ceil(MILLISECOND);
        // The end of a repetition belongs to that repetition, which may have entries there.
        let repetition = ms.saturating_sub(1) / self.period();
        let in_repetition = (ms - repetition * self.period()) as u32;
        let index = self.milliseconds.partition_point(|at| *at < in_repetition);
        repetition * self.len() + index as u64
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct CapacityConfig {
    /// Downlink and uplink.
    pub traces: [CapacityTrace; 2],
    /// Queue limit per direction. `None`: unlimited.
    pub queue: Option<QueueLimit>,
}

/// The link of one UE in one direction.
#[derive(Debug)]
pub struct CapacityLink {
    ue: UeId,
    direction: Direction,
    trace: CapacityTrace,
    limit: Option<QueueLimit>,
    waiting: VecDeque<Sdu>,
    /// Octets of the waiting packets.
    octets: u64,
    /// Octets of the first packet that have passed.
    passed: u64,
    /// Number of the scheduled opportunity, or of the first one that was not used yet.
    next: u64,
    /// Whether an opportunity is scheduled.
    is_scheduled: bool,
    /// Whether opportunities are unused.
    is_cut: bool,
}

impl CapacityLink {
    pub fn new(ue: UeId, direction: Direction, config: &CapacityConfig) -> Self {
        CapacityLink {
            ue,
            direction,
            trace: config.traces[direction.index()].clone(),
            limit: config.queue,
            waiting: VecDeque::new(),
            octets: 0,
            passed: 0,
            next: 0,
            is_scheduled: false,
            is_cut: false,
        }
    }

    /// Cuts the link, so that its opportunities are unused, or restores it.
    pub fn set_cut(&mut self, is_cut: bool) {
        self.is_cut = is_cut;
    }

    /// Enqueues a packet.
    ///
    /// # Errors
    /// Returns the packet if the queue is full.
    pub fn handle_packet<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        packet: Packet,
    ) -> Result<(), Packet> {
        let size = packet.size();
        if self.limit.is_some_and(|limit| !limit.has_room(self.waiting.len(), Bytes(self.octets), size)) {
            return Err(packet);
        }
        let (ue, direction, sdu) = (self.ue, self.direction, packet.id);
        cx.record(|| TraceEvent::SduQueued { ue, direction, sdu, size });
        self.waiting.push_back(Sdu::new(packet, cx.now));
        self.octets += size.0;
        self.record_buffer(cx);
        Ok(())
    }

    /// Returns the time of the next opportunity if packets are waiting and no opportunity is
    /// scheduled.
    pub fn poll_opportunity(&mut self, now: Time) -> Option<Time> {
        if self.is_scheduled || self.waiting.is_empty() {
            return None;
        }
        self.next = self.next.max(self.trace.next(now));
        self.is_scheduled = true;
        Some(self.trace.at(self.next))
    }

    /// Handles an opportunity. Appends the packets whose last octet passes to `delivered`.
    pub fn handle_opportunity<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        delivered: &mut Vec<Packet>,
    ) {
        self.is_scheduled = false;
        self.next += 1;
        if self.is_cut {
            return;
        }
        let mut unused = OPPORTUNITY;
        while let Some(&first) = self.waiting.front() {
            let passes = (first.size().0 - self.passed).min(unused);
            unused -= passes;
            self.passed += passes;
            if self.passed < first.size().0 {
                break;
            }
            self.waiting.pop_front();
            (self.passed, self.octets) = (0, self.octets - first.size().0);
            let (ue, direction, sdu, size) = (self.ue, self.direction, first.packet.id, first.size());
            cx.record(|| TraceEvent::SduDelivered { ue, direction, sdu, size, entered: first.entered });
            delivered.push(first.packet);
        }
        self.record_buffer(cx);
    }

    /// Octets of the waiting packets.
    pub fn occupancy(&self) -> Bytes {
        Bytes(self.octets)
    }

    fn record_buffer<T: TraceSink<TraceEvent>>(&self, cx: &mut Context<'_, T>) {
        let (ue, direction, octets) = (self.ue, self.direction, self.octets);
        cx.record(|| TraceEvent::RlcBuffer { ue, direction, octets });
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use umts_kernel::NoTrace;
    use umts_units::Duration;

    use super::*;
    use crate::radio::rlc::testing::packet;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    /// A link with opportunities at these milliseconds.
    fn link(trace: &[u32], queue: Option<QueueLimit>) -> CapacityLink {
        let trace = CapacityTrace::new(trace).expect("it is in order");
        let config = CapacityConfig { traces: [trace.clone(), trace], queue };
        CapacityLink::new(UeId(0), Direction::Downlink, &config)
    }

    /// A packet that has passed the link.
    #[derive(Debug, PartialEq)]
    struct Arrival {
        ms: u64,
        id: u64,
    }

    fn arrival(ms: u64, id: u64) -> Arrival {
        Arrival { ms, id }
    }

    /// Passes all waiting packets.
    fn drain(link: &mut CapacityLink, now: Time) -> Vec<Arrival> {
        let (mut arrivals, mut delivered) = (Vec::new(), Vec::new());
        let mut from = now;
        while let Some(at) = link.poll_opportunity(from) {
            assert!(at >= from);
            link.handle_opportunity(&mut Context::new(at, &mut NoTrace), &mut delivered);
            let ms = at.as_nanos() / MILLISECOND;
            arrivals.extend(delivered.drain(..).map(|packet| arrival(ms, packet.id.0)));
            from = at;
        }
        arrivals
    }

    /// Sends a packet of `octets` octets. Returns whether it entered the queue.
    fn send(link: &mut CapacityLink, at: Time, id: u64, octets: u32) -> bool {
        link.handle_packet(&mut Context::new(at, &mut NoTrace), packet(id, octets)).is_ok()
    }

    #[test]
    fn opportunity_carries_one_full_or_several_small_packets() {
        let mut link = link(&[5, 5, 20], None);
        for (id, octets) in [(0, 1500), (1, 100), (2, 1400), (3, 1500)] {
            assert!(send(&mut link, ms(0), id, octets));
        }
        let expected = [arrival(5, 0), arrival(5, 1), arrival(5, 2), arrival(20, 3)];
        assert_eq!(drain(&mut link, ms(0)), expected);
        assert_eq!(link.occupancy(), Bytes::ZERO);
    }

    #[test]
    fn large_packets_need_two_opportunities_and_unused_octets_are_lost() {
        let mut link = link(&[10, 20, 30], None);
        assert!(send(&mut link, ms(0), 0, 1600));
        assert_eq!(drain(&mut link, ms(0)), [arrival(20, 0)]);
        // The unused 1,400 octets at 20 ms are lost.
        assert!(send(&mut link, ms(20), 1, 1500));
        assert_eq!(drain(&mut link, ms(20)), [arrival(30, 1)]);
    }

    #[test]
    fn capacity_trace_repeats_at_its_end() {
        let mut link = link(&[0, 3, 10], None);
        for id in 0..6 {
            assert!(send(&mut link, ms(2), id, 1500));
        }
        // The trace has opportunities at 0, 3 and 10 ms, and repeats from 10 ms on: at 10, 13 and 20 ms.
        let ids_by_arrival = [(3, 0), (10, 1), (10, 2), (13, 3), (20, 4), (20, 5)];
        assert_eq!(drain(&mut link, ms(2)), ids_by_arrival.map(|(ms, id)| arrival(ms, id)));
        assert!(send(&mut link, ms(1_000_000_011), 9, 40));
        assert_eq!(drain(&mut link, ms(1_000_000_011)), [arrival(1_000_000_013, 9)]);
    }

    #[test]
    fn full_queue_rejects_packets() {
        let mut packets = link(&[10], Some(QueueLimit::Packets(1)));
        assert_eq!([0, 1].map(|id| send(&mut packets, ms(0), id, 40)), [true, false]);
        let mut octets = link(&[10], Some(QueueLimit::Bytes(Bytes(100))));
        assert_eq!([0, 1].map(|id| send(&mut octets, ms(0), id, 60)), [true, false]);
    }

    #[test]
    fn unordered_or_empty_traces_are_rejected() {
        for wrong in [&[] as &[u32], &[0], &[0, 0], &[5, 4]] {
            assert_eq!(CapacityTrace::new(wrong), None, "{wrong:?}");
        }
    }

    proptest! {
        /// Compares with the list of all opportunities.
        #[test]
        fn next_opportunity_matches_the_full_list(mut trace in proptest::collection::vec(0u32..30, 1..8), now_us in 0u64..200_000) {
            trace.sort_unstable();
            prop_assume!(trace.last() > Some(&0));
            let period = u64::from(trace[trace.len() - 1]);
            let all: Vec<u64> = (0..400).flat_map(|n| trace.iter().map(move |at| n * period + u64::from(*at))).collect();
            let now = Time::ZERO + Duration::from_micros(now_us);
            let expected = all.iter().position(|at| *at * 1000 >= now_us).expect("the list is long");
            let trace = CapacityTrace::new(trace).expect("it is in order");
            prop_assert_eq!(trace.next(now), expected as u64);
            prop_assert_eq!(trace.at(expected as u64), ms(all[expected]));
        }
    }
}
