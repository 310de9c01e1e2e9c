//! Cells of time division duplex: requests, grants, slots, and the time of segments on the air.

use std::collections::{BTreeMap, VecDeque};

use umts_stack::ids::{Direction, PacketId, UeId};
use umts_stack::packet::Packet;
use umts_stack::trace::{CapturePoint, TraceEvent};
use umts_units::{Duration, Time};

use super::shares::Shares;
use super::totals::{Intervals, TddTotals};
use super::window::Window;

/// Of a network with such a cell; of others nothing is recorded.
#[derive(Debug)]
pub(super) struct TddRecorder {
    pub window: Window,
    totals: TddTotals,
    /// Since when users need capacity, by direction.
    needs: [BTreeMap<UeId, Time>; 2],
    /// Packets that RLC has handed up and that were not yet seen above it, and when they entered it.
    handed_up: VecDeque<(PacketId, Time)>,
    /// Over one second and over ten.
    shares: [Shares; 2],
}

impl TddRecorder {
    pub fn new(window: Window) -> Self {
        let (totals, needs, handed_up) = (TddTotals::default(), Default::default(), VecDeque::new());
        let shares = [1, 10].map(|seconds| Shares::new(window, Duration::from_secs(seconds)));
        TddRecorder { window, totals, needs, handed_up, shares }
    }

    /// Whether there is such a cell.
    #[inline]
    pub fn is_concerned(&self) -> bool {
        self.totals.is_tdd
    }

    #[inline]
    pub fn record(&mut self, at: Time, event: &TraceEvent) {
        self.totals.is_tdd |= matches!(event, TraceEvent::CapacityNeeded { .. });
        if self.totals.is_tdd {
            self.record_tdd(at, event);
        }
    }

    /// In line, where the event is made and known: most are not counted here.
    #[inline]
    fn record_tdd(&mut self, at: Time, event: &TraceEvent) {
        match *event {
            TraceEvent::CapacityNeeded { ue, direction } => {
                self.needs[direction.index()].insert(ue, at);
            }
            TraceEvent::CapacityWithdrawn { ue, direction } => {
                self.needs[direction.index()].remove(&ue);
            }
            // An SDU that RLC hands up is seen above it at the same instant: only those of one block set wait.
            TraceEvent::SduDelivered { sdu, entered, .. } => self.handed_up.push_back((sdu, entered)),
            TraceEvent::PacketCaptured { at: point, ref packet } => {
                let leaves = match packet.direction() {
                    Direction::Downlink => CapturePoint::Ue,
                    Direction::Uplink => CapturePoint::Rnc,
                };
                if point == leaves {
                    self.left_the_radio(at, packet);
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

    fn left_the_radio(&mut self, at: Time, packet: &Packet) {
        if let Some(entered) = self.take_handed_up(packet.id)
            && let Some(segment) = packet.segment().filter(|segment| segment.payload > 0)
            && self.window.contains(at)
        {
            let payload = u64::from(segment.payload);
            self.shares.iter_mut().for_each(|shares| shares.add(at, packet.ue, payload));
            self.totals.segments.add(at - entered);
            self.totals.segment_squares += (at - entered).as_secs().powi(2);
        }
    }

    /// When a packet that RLC has handed up entered it.
    fn take_handed_up(&mut self, packet: PacketId) -> Option<Time> {
        let at = self.handed_up.iter().position(|&(handed_up, _)| handed_up == packet)?;
        self.handed_up.remove(at).map(|(_, entered)| entered)
    }

    #[inline]
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
                totals.frames += 1;
                for way in [0, 1] {
                    totals.slots[way] += u64::from(slots[way]);
                    totals.held[way] += u64::from(held[way]);
                    totals.used[way] += u64::from(used[way]);
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
    /// Standard deviation (n - 1) of the times of segments.
    pub fn segment_deviation_s(&self) -> Option<f64> {
        let Intervals { count, sum } = self.segments;
        let n = count as f64;
        let spread = self.segment_squares - sum.as_secs().powi(2) / n;
        (count > 1).then(|| (spread.max(0.0) / (n - 1.0)).sqrt())
    }

    /// A mean over the frames of the window, those without any capacity granted included.
    pub fn per_frame(&self, sum: u64) -> Option<f64> {
        let frames = self.window.as_nanos() / Duration::from_millis(10).as_nanos();
        (self.is_tdd && frames > 0).then(|| sum as f64 / frames as f64)
    }
}
