//! TDD cells: requests, grants, slots, and the air time of segments.

use std::collections::{BTreeMap, VecDeque};

use umts_stack::ids::{Direction, PacketId, UeId};
use umts_stack::packet::Packet;
use umts_stack::trace::{CapturePoint, TraceEvent};
use umts_units::{Duration, Time};

use super::shares::Shares;
use super::totals::{Intervals, TddTotals};
use super::window::Window;

/// Recorder of a network with a TDD cell. Records nothing for other networks.
#[derive(Debug)]
pub(super) struct TddRecorder {
    pub window: Window,
    totals: TddTotals,
    /// Start of each user's current need for capacity, by direction.
    needs: [BTreeMap<UeId, Time>; 2],
    /// Packets that RLC has delivered and that have not passed the layer above it, with the times
    /// at which they entered RLC.
    delivered: VecDeque<(PacketId, Time)>,
    /// Fairness over 1 s and over 10 s.
    shares: [Shares; 2],
}

impl TddRecorder {
    pub fn new(window: Window) -> Self {
        let (totals, needs, delivered) = (TddTotals::default(), Default::default(), VecDeque::new());
        let shares = [1, 10].map(|seconds| Shares::new(window, Duration::from_secs(seconds)));
        TddRecorder { window, totals, needs, delivered, shares }
    }

    /// Whether there is a TDD cell.
    #[inline(always)]
    pub fn has_tdd_cell(&self) -> bool {
        self.totals.is_tdd
    }

    #[inline(always)]
    pub fn record(&mut self, at: Time, event: &TraceEvent) {
        // Only TDD cells emit `CapacityNeeded`, before any grant.
        self.totals.is_tdd |= matches!(event, TraceEvent::CapacityNeeded { .. });
        if self.totals.is_tdd {
            self.record_tdd(at, event);
        }
    }

    /// Inlined: the callers know the variant of the event, so that the compiler removes the other
    /// branches.
    #[inline(always)]
    fn record_tdd(&mut self, at: Time, event: &TraceEvent) {
        match *event {
            TraceEvent::CapacityNeeded { ue, direction } => {
                self.needs[direction.index()].insert(ue, at);
            }
            TraceEvent::CapacityWithdrawn { ue, direction } => {
                self.needs[direction.index()].remove(&ue);
            }
            // A delivered SDU passes the layer above RLC at the same instant, so only the SDUs of
            // one block set wait.
            TraceEvent::SduDelivered { sdu, entered, .. } => self.delivered.push_back((sdu, entered)),
            TraceEvent::PacketCaptured { at: point, ref packet } => {
                let last_point = match packet.direction() {
                    Direction::Downlink => CapturePoint::Ue,
                    Direction::Uplink => CapturePoint::Rnc,
                };
                if point == last_point {
                    self.record_arrival(at, packet);
                }
            }
            TraceEvent::CapacityGranted { ue, direction, .. } => {
                let since = self.needs[direction.index()].remove(&ue);
                if let Some(since) = since.filter(|_| self.window.contains(at)) {
                    self.totals.waits[direction.index()].add(at - since);
                }
            }
            _ if self.window.contains(at) => self.count(event),
            _ => {}
        }
    }

    /// Records a packet that has passed the layer above RLC.
    fn record_arrival(&mut self, at: Time, packet: &Packet) {
        if let Some(entered) = self.take_delivered(packet.id)
            && let Some(segment) = packet.segment().filter(|segment| segment.payload > 0)
            && self.window.contains(at)
        {
            let payload = u64::from(segment.payload);
            self.shares.iter_mut().for_each(|shares| shares.add(at, packet.ue, payload));
            self.totals.segments.add(at - entered);
            self.totals.segment_squares += (at - entered).as_secs().powi(2);
        }
    }

    /// Removes a packet from `delivered`. Returns the time at which the packet entered RLC.
    fn take_delivered(&mut self, packet: PacketId) -> Option<Time> {
        let at = self.delivered.iter().position(|&(delivered, _)| delivered == packet)?;
        self.delivered.remove(at).map(|(_, entered)| entered)
    }

    /// Adds an event of a TDD cell inside the window to the totals.
    #[inline(always)]
    fn count(&mut self, event: &TraceEvent) {
        let totals = &mut self.totals;
        match *event {
            TraceEvent::CapacityRequested { .. } => totals.requests += 1,
            TraceEvent::CapacityRefused { direction, .. } => totals.refusals[direction.index()] += 1,
            TraceEvent::CapacityReleased { direction, sdus, .. } => {
                totals.grants[direction.index()] += 1;
                totals.grant_sdus[direction.index()] += u64::from(sdus);
            }
            TraceEvent::FrameUsed { slots, held, used, sent, lost, .. } => {
                for direction in [0, 1] {
                    totals.slots[direction] += u64::from(slots[direction]);
                    totals.held[direction] += u64::from(held[direction]);
                    totals.used[direction] += u64::from(used[direction]);
                }
                for neighbours in 0..sent.len() {
                    totals.blocks[neighbours] += u64::from(sent[neighbours]);
                    totals.lost[neighbours] += u64::from(lost[neighbours]);
                }
            }
            TraceEvent::AckCollision { .. } => totals.ack_collisions += 1,
            _ => {}
        }
    }

    pub fn finish(mut self) -> TddTotals {
        self.totals.window = self.window.length();
        self.totals.jain = self.shares.map(|shares| shares.finish(self.window));
        self.totals
    }
}

impl TddTotals {
    /// Standard deviation (n - 1) of the air times of segments.
    pub fn segment_deviation_s(&self) -> Option<f64> {
        let Intervals { count, sum } = self.segments;
        let n = count as f64;
        // Σ(x - mean)² = Σx² - (Σx)² / n
        let squared_deviations = self.segment_squares - sum.as_secs().powi(2) / n;
        (count > 1).then(|| (squared_deviations.max(0.0) / (n - 1.0)).sqrt())
    }

    /// Mean over the frames of 10 ms in the window, including frames without granted capacity.
    pub fn per_frame(&self, sum: u64) -> Option<f64> {
        let frames = self.window.as_nanos() / Duration::from_millis(10).as_nanos();
        (self.is_tdd && frames > 0).then(|| sum as f64 / frames as f64)
    }
}
