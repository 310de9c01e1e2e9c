//! Metrics of RLC, of the Iub and of the air, summed over all UEs: throughput, block errors, PDUs,
//! and the delays and losses of SDUs. Events of blocks occur for every transport block set, so each
//! costs only a few additions.

use std::collections::VecDeque;

use umts_stack::ids::{Direction, PacketId, UeId};
use umts_stack::trace::{CellUpdateCause, DropPlace, TraceEvent};
use umts_units::Time;

use super::totals::{NetworkTotals, RadioTotals};
use super::window::{BusyClock, Window};

#[derive(Debug)]
pub(super) struct RadioRecorder {
    pub window: Window,
    /// Index 0: downlink; index 1: uplink.
    totals: [RadioTotals; 2],
    /// Whether each UE's buffer holds data, by direction.
    holds_data: [Vec<bool>; 2],
    /// Time in which the buffer of any UE holds data, by direction.
    buffered: [BusyClock; 2],
    /// SDUs that entered RLC and are neither delivered nor lost, in the order of entry, by
    /// direction and UE.
    in_transit: [Vec<VecDeque<PacketId>>; 2],
    network: NetworkTotals,
}

impl RadioRecorder {
    pub fn new(window: Window) -> Self {
        RadioRecorder {
            window,
            totals: [RadioTotals::default(); 2],
            holds_data: [Vec::new(), Vec::new()],
            buffered: [BusyClock::default(); 2],
            in_transit: [Vec::new(), Vec::new()],
            network: NetworkTotals::default(),
        }
    }

    /// Inlined like [`super::Metrics`].
    #[inline(always)]
    pub fn record(&mut self, at: Time, event: &TraceEvent) {
        if let TraceEvent::RlcBuffer { ue, direction, octets } = *event {
            // Whether a buffer holds data when the window begins depends on earlier events, so this
            // event is also recorded outside the window.
            self.record_buffer(at, ue, direction, octets > 0);
            return;
        }
        // SDUs in transit are also tracked before the window, because an SDU that entered earlier
        // can be lost in the window.
        let was_in_transit = match *event {
            TraceEvent::SduQueued { ue, direction, sdu, .. } => {
                self.add_sdu(ue, direction, sdu);
                true
            }
            TraceEvent::SduDelivered { ue, direction, sdu, .. }
            | TraceEvent::SduDiscarded { ue, direction, sdu, .. }
            | TraceEvent::SduLost { ue, direction, sdu, .. } => self.remove_sdu(ue, direction, sdu),
            _ => true,
        };
        if !self.window.contains(at) {
            return;
        }
        match *event {
            TraceEvent::IubSent { direction, blocks, bits, .. } => {
                let totals = self.totals_of(direction);
                totals.iub_blocks += u64::from(blocks);
                totals.iub_bits += u64::from(blocks) * u64::from(bits);
            }
            TraceEvent::BlocksReceived { direction, blocks, errors, .. } => {
                let totals = self.totals_of(direction);
                totals.blocks += u64::from(blocks);
                totals.block_errors += u64::from(errors);
            }
            TraceEvent::PdusSent { direction, count, retransmission, .. } => {
                let totals = self.totals_of(direction);
                totals.pdus += u64::from(count);
                totals.retransmitted_pdus += if retransmission { u64::from(count) } else { 0 };
            }
            TraceEvent::StatusSent { direction, piggybacked, mrw, .. } => {
                // A STATUS travels against the data that it reports. A STATUS that moves the window
                // comes from the sender of the data and reports nothing.
                self.totals_of(direction.reversed()).status_pdus += u64::from(!piggybacked && !mrw);
            }
            TraceEvent::PdusDropped { direction, count, .. } => {
                self.totals_of(direction).pdus_dropped += u64::from(count);
            }
            TraceEvent::RlcReset { direction, .. } => self.totals_of(direction).resets += 1,
            TraceEvent::SduQueued { direction, .. } => self.totals_of(direction).sdus_entered += 1,
            TraceEvent::SduDiscarded { direction, .. } => {
                let totals = self.totals_of(direction);
                totals.sdus_discarded += 1;
                totals.sdus_lost += u64::from(was_in_transit);
            }
            TraceEvent::SduLost { direction, .. } => {
                self.totals_of(direction).sdus_lost += u64::from(was_in_transit);
            }
            TraceEvent::SduDelivered { direction, size, entered, .. } => {
                let totals = self.totals_of(direction);
                // The SDU was counted as lost when its sender discarded it.
                totals.sdus_lost = totals.sdus_lost.saturating_sub(u64::from(!was_in_transit));
                totals.add_delivered(size, at - entered);
            }
            TraceEvent::PacketDropped { place: DropPlace::RlcBuffer, packet } => {
                self.totals_of(packet.direction()).sdus_refused += 1;
            }
            _ => self.network.record(event),
        }
    }

    /// The totals of the downlink and the uplink, and the totals without a direction.
    pub fn finish(&mut self, end: Time) -> ([RadioTotals; 2], NetworkTotals) {
        let end = self.window.clamp(end);
        for (totals, clock) in self.totals.iter_mut().zip(&self.buffered) {
            totals.window = self.window.length();
            totals.buffered = clock.total(end);
        }
        (self.totals, std::mem::take(&mut self.network))
    }

    #[inline]
    fn totals_of(&mut self, direction: Direction) -> &mut RadioTotals {
        &mut self.totals[direction.index()]
    }

    fn add_sdu(&mut self, ue: UeId, direction: Direction, sdu: PacketId) {
        match self.in_transit[direction.index()].get_mut(ue.index()) {
            Some(in_transit) => in_transit.push_back(sdu),
            None => self.add_first_sdu(ue, direction, sdu),
        }
    }

    /// Handles the first SDU of a UE.
    #[cold]
    fn add_first_sdu(&mut self, ue: UeId, direction: Direction, sdu: PacketId) {
        let ues = &mut self.in_transit[direction.index()];
        ues.resize_with(ue.index() + 1, VecDeque::new);
        ues[ue.index()].push_back(sdu);
    }

    /// Removes `sdu` from the SDUs in transit. Returns whether `sdu` was one of them.
    fn remove_sdu(&mut self, ue: UeId, direction: Direction, sdu: PacketId) -> bool {
        let Some(in_transit) = self.in_transit[direction.index()].get_mut(ue.index()) else { return false };
        // `sdu` is usually the oldest one.
        if in_transit.front() == Some(&sdu) {
            in_transit.pop_front();
            return true;
        }
        let at = in_transit.iter().position(|&id| id == sdu);
        at.and_then(|at| in_transit.remove(at)).is_some()
    }

    /// Updates the time in which the buffers of UEs hold data.
    #[inline]
    fn record_buffer(&mut self, at: Time, ue: UeId, direction: Direction, holds_data: bool) {
        // Most events change the fill level, but not whether the buffer holds data.
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

impl NetworkTotals {
    #[inline(always)]
    fn record(&mut self, event: &TraceEvent) {
        match *event {
            TraceEvent::InternetDelay { delay, .. } => self.internet.add(delay),
            TraceEvent::PacketDropped { .. } => self.link_drops += 1,
            TraceEvent::FachQueueDropped { blocks, .. } => {
                self.fach_queue_drops += u64::from(blocks);
            }
            TraceEvent::RachCollision { .. } => self.rach_collisions += 1,
            TraceEvent::RlcUnrecoverable { .. } => self.rlc_unrecoverable_errors += 1,
            TraceEvent::RlcReestablished { .. } => self.rlc_reestablishments += 1,
            TraceEvent::CellUpdateStarted { cause, .. } => {
                self.cell_updates += u64::from(cause != CellUpdateCause::CellReselection);
                self.radio_link_failures += u64::from(cause == CellUpdateCause::RadioLinkFailure);
            }
            // Each channel ignores the events of the other channel.
            _ => {
                self.hs_dsch.record(event);
                self.e_dch.record(event);
            }
        }
    }
}

/// Mean of `count` intervals, in milliseconds.
pub(super) fn mean_ms(count: u64, sum_ns: u128) -> Option<f64> {
    (count > 0).then(|| sum_ns as f64 / count as f64 / 1e6)
}

/// Standard deviation (n - 1) of `count` intervals, in milliseconds: the square root of
/// (n Σx² - (Σx)²) / (n (n - 1)).
pub(super) fn deviation_ms(count: u64, sum_ns: u128, squares: u128) -> Option<f64> {
    let n = u128::from(count);
    if count < 2 {
        return None;
    }
    // The numerator in integers, without cancellation. In floats if 128 bits are not enough.
    let terms = n.checked_mul(squares).zip(sum_ns.checked_mul(sum_ns));
    let exact = terms.map(|(n_squares, square_of_sum)| (n_squares - square_of_sum) as f64);
    let numerator = exact.unwrap_or_else(|| n as f64 * squares as f64 - (sum_ns as f64).powi(2)).max(0.0);
    Some((numerator / (n as f64 * (n - 1) as f64)).sqrt() / 1e6)
}
