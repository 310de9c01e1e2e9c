//! RLC, the Iub and the air. Block events come with every transport block set: each is a few additions.

use umts_stack::ids::{Direction, UeId};
use umts_stack::trace::{DropPlace, TraceEvent};
use umts_units::Time;

use super::totals::{NetworkTotals, RadioTotals};
use super::window::{BusyClock, Window};

#[derive(Debug)]
pub(super) struct RadioRecorder {
    pub window: Window,
    /// Downlink, uplink.
    totals: [RadioTotals; 2],
    /// Whether each UE's buffer holds data, in each direction.
    holds_data: [Vec<bool>; 2],
    buffered: [BusyClock; 2],
    network: NetworkTotals,
}

impl RadioRecorder {
    pub fn new(window: Window) -> Self {
        RadioRecorder {
            window,
            totals: [RadioTotals::default(); 2],
            holds_data: [Vec::new(), Vec::new()],
            buffered: [BusyClock::default(); 2],
            network: NetworkTotals::default(),
        }
    }

    /// Inlined as [`super::Metrics`] is.
    #[inline(always)]
    pub fn record(&mut self, at: Time, event: &TraceEvent) {
        if let TraceEvent::RlcBuffer { ue, direction, octets } = *event {
            // What the buffer held before the window matters in it, so this one is taken at any time.
            self.buffer(at, ue, direction, octets > 0);
            return;
        }
        if !self.window.contains(at) {
            return;
        }
        match *event {
            TraceEvent::IubSent { direction, blocks, bits, .. } => {
                let totals = self.of(direction);
                totals.iub_blocks += u64::from(blocks);
                totals.iub_bits += u64::from(blocks) * u64::from(bits);
            }
            TraceEvent::BlocksReceived { direction, blocks, errors, .. } => {
                let totals = self.of(direction);
                totals.blocks += u64::from(blocks);
                totals.block_errors += u64::from(errors);
            }
            TraceEvent::PdusSent { direction, count, retransmission, .. } => {
                let totals = self.of(direction);
                totals.pdus += u64::from(count);
                totals.pdus_again += if retransmission { u64::from(count) } else { 0 };
            }
            TraceEvent::StatusSent { direction, piggybacked, mrw, .. } => {
                // A status goes against the data that it reports on. One that moves the window comes from the sender
                // of the data and reports nothing.
                self.of(direction.reversed()).status_pdus += u64::from(!piggybacked && !mrw);
            }
            TraceEvent::PdusDropped { direction, count, .. } => {
                self.of(direction).pdus_dropped += u64::from(count);
            }
            TraceEvent::RlcReset { direction, .. } => self.of(direction).resets += 1,
            TraceEvent::SduQueued { direction, .. } => self.of(direction).sdus_entered += 1,
            TraceEvent::SduDiscarded { direction, .. } => self.of(direction).sdus_discarded += 1,
            TraceEvent::SduDelivered { direction, size, entered, .. } => {
                let delay = u128::from((at - entered).as_nanos());
                let totals = self.of(direction);
                totals.sdus_delivered += 1;
                totals.delivered_bits += size.bits();
                totals.delay_ns += delay;
                totals.delay_squares += delay * delay;
            }
            TraceEvent::PacketDropped { place: DropPlace::RlcBuffer, packet } => {
                self.of(packet.direction()).sdus_refused += 1;
            }
            TraceEvent::InternetDelay { delay, .. } => self.network.internet.add(delay),
            TraceEvent::PacketDropped { .. } => {
                self.network.link_drops += 1;
            }
            TraceEvent::FachQueueDropped { blocks, .. } => {
                self.network.fach_queue_drops += u64::from(blocks);
            }
            TraceEvent::RachCollision { .. } => self.network.rach_collisions += 1,
            _ => {}
        }
    }

    /// The sums of the downlink, of the uplink, and of what has no direction.
    pub fn finish(&mut self, end: Time) -> ([RadioTotals; 2], NetworkTotals) {
        let end = self.window.clamp(end);
        for (totals, clock) in self.totals.iter_mut().zip(&self.buffered) {
            totals.window = self.window.length();
            totals.buffered = clock.total(end);
        }
        (self.totals, std::mem::take(&mut self.network))
    }

    #[inline]
    fn of(&mut self, direction: Direction) -> &mut RadioTotals {
        &mut self.totals[direction.index()]
    }

    #[inline]
    fn buffer(&mut self, at: Time, ue: UeId, direction: Direction, holds_data: bool) {
        // Mostly it is as it was.
        if self.holds_data[direction.index()].get(ue.index()) != Some(&holds_data) {
            self.buffer_changed(at, ue, direction, holds_data);
        }
    }

    fn buffer_changed(&mut self, at: Time, ue: UeId, direction: Direction, holds_data: bool) {
        let ues = &mut self.holds_data[direction.index()];
        if ue.index() >= ues.len() {
            ues.resize(ue.index() + 1, false);
        }
        let before = std::mem::replace(&mut ues[ue.index()], holds_data);
        if before != holds_data {
            let now = self.window.clamp(at);
            let clock = &mut self.buffered[direction.index()];
            if holds_data { clock.start(now) } else { clock.stop(now) }
        }
    }
}

/// Mean of `count` intervals, in milliseconds.
pub(super) fn mean_ms(count: u64, sum_ns: u128) -> Option<f64> {
    (count > 0).then(|| sum_ns as f64 / count as f64 / 1e6)
}

/// Standard deviation (n - 1) of `count` intervals, in milliseconds.
pub(super) fn deviation_ms(count: u64, sum_ns: u128, squares: u128) -> Option<f64> {
    let n = u128::from(count);
    if count < 2 {
        return None;
    }
    // n Σx² - (Σx)² in integers, where nothing cancels; as floats where 128 bits are too few.
    let exact = n.checked_mul(squares).zip(sum_ns.checked_mul(sum_ns)).map(|(a, b)| (a - b) as f64);
    let spread = exact.unwrap_or_else(|| n as f64 * squares as f64 - (sum_ns as f64).powi(2)).max(0.0);
    Some((spread / (n as f64 * (n - 1) as f64)).sqrt() / 1e6)
}
