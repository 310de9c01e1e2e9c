//! Sums of RLC, the Iub and the air, of HS-DSCHs, and of TDD cells.

use umts_stack::trace::TraceEvent;
use umts_units::{Bytes, Duration};

use super::Intervals;

/// RLC, the Iub and the air in one direction, of all UEs. A STATUS is counted in the direction of
/// the data that it reports.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::metrics) struct RadioTotals {
    pub window: Duration,
    /// Time in which any UE's RLC buffer held data.
    pub buffered: Duration,
    /// Transport blocks on the Iub.
    pub iub_blocks: u64,
    /// Bits of the transport blocks on the Iub.
    pub iub_bits: u64,
    /// Transport blocks sent on the air.
    pub blocks: u64,
    /// Transport blocks lost on the air.
    pub block_errors: u64,
    /// PDUs with data that left RLC.
    pub pdus: u64,
    /// Retransmissions among these PDUs.
    pub retransmitted_pdus: u64,
    /// PDUs that were dropped before the air.
    pub pdus_dropped: u64,
    /// RESET procedures that the sender of the data started.
    pub resets: u64,
    /// STATUS PDUs, except piggybacked ones and requests to move the receiving window.
    pub status_pdus: u64,
    pub sdus_entered: u64,
    pub sdus_delivered: u64,
    /// SDUs that the sender discarded.
    pub sdus_discarded: u64,
    /// SDUs that were never delivered: discarded by the sender, or lost without retransmission.
    pub sdus_lost: u64,
    /// SDUs that the full buffer refused.
    pub sdus_refused: u64,
    /// Bits of the delivered SDUs.
    pub delivered_bits: u64,
    /// Sum of the delays of delivered SDUs, in nanoseconds.
    pub delay_ns: u128,
    /// Sum of the squares of these delays, in nanoseconds squared.
    pub delay_squares: u128,
}

impl RadioTotals {
    /// Adds an SDU that was delivered after `delay`.
    pub fn add_delivered(&mut self, size: Bytes, delay: Duration) {
        let delay_ns = u128::from(delay.as_nanos());
        self.sdus_delivered += 1;
        self.delivered_bits += size.bits();
        self.delay_ns += delay_ns;
        self.delay_squares += delay_ns * delay_ns;
    }
}

/// TDD cells, summed over cells and users.
#[derive(Debug, Default)]
pub(in crate::metrics) struct TddTotals {
    pub window: Duration,
    /// Whether any user needed capacity of a TDD cell.
    pub is_tdd: bool,
    /// Requests for capacity on the RACH.
    pub requests: u64,
    /// Collisions on the common channel of uplink acknowledgments.
    pub ack_collisions: u64,

    // Capacity, by direction.
    /// Requests that could not be granted at once.
    pub refusals: [u64; 2],
    /// Time from a need to its grant.
    pub waits: [Intervals; 2],
    /// Grants that ended.
    pub grants: [u64; 2],
    /// SDUs that were acknowledged or discarded during the ended grants.
    pub grant_sdus: [u64; 2],
    /// Slots of frames with granted capacity.
    pub slots: [u64; 2],
    /// Resource units that grants hold.
    pub held: [u64; 2],
    /// Resource units that carry blocks.
    pub used: [u64; 2],

    // Blocks and segments on the air.
    /// Blocks, indexed by the number of other users' blocks in the same slot.
    pub blocks: [u64; 4],
    /// Lost blocks, with the same index.
    pub lost: [u64; 4],
    /// Means of Jain's fairness index: over periods of 1 s, and over periods of 10 s.
    pub jain: [Option<f64>; 2],
    /// Air times of TCP data segments, from RLC's buffer to the other end.
    pub segments: Intervals,
    /// Sum of the squares of `segments`, in seconds squared.
    pub segment_squares: f64,
}

/// Blocks and PDUs on the HS-DSCHs.
#[derive(Debug, Default)]
pub(in crate::metrics) struct HsTotals {
    /// Transmissions of blocks.
    pub transmissions: u64,
    /// First transmissions of blocks.
    pub first_transmissions: u64,
    /// First transmissions that failed.
    pub first_failures: u64,
    /// Blocks that a UE decoded.
    pub decoded: u64,
    /// Blocks that the Node B gave up.
    pub lost: u64,
    /// Sum of the CQIs of the formats of new blocks.
    pub cqis: u64,
    /// Expiries of T1, after which the reordering queue gives up a block.
    pub t1_expiries: u64,
    /// PDUs discarded because the queue of the user was full or their timer expired.
    pub pdus_discarded: u64,
    /// PDUs flushed because RLC no longer needed them, or the user left the HS-DSCH.
    pub pdus_flushed: u64,
    /// Blocks decoded after the reordering queue had given them up.
    pub blocks_dropped: u64,
    /// Blocks that the reordering queue took for others with the same transmission sequence number.
    pub tsns_misread: u64,
    /// NACKs that the Node B read as ACKs.
    pub false_acks: u64,
    /// PDUs that RLC retransmitted while the former transmission was under way.
    pub needless_retransmissions: u64,
}

impl HsTotals {
    /// Adds an event of the HS-DSCH.
    pub fn record(&mut self, event: &TraceEvent) {
        match *event {
            TraceEvent::HsBlockSent { cqi, attempt, is_decoded, is_last, .. } => {
                let is_first = attempt == 1;
                self.transmissions += 1;
                self.first_transmissions += u64::from(is_first);
                self.first_failures += u64::from(is_first && !is_decoded);
                self.decoded += u64::from(is_decoded);
                self.lost += u64::from(is_last && !is_decoded);
                self.cqis += u64::from(cqi) * u64::from(is_first);
            }
            TraceEvent::HsPduDiscarded { .. } => self.pdus_discarded += 1,
            TraceEvent::T1Expired { .. } => self.t1_expiries += 1,
            TraceEvent::HsPduFlushed { .. } => self.pdus_flushed += 1,
            TraceEvent::HsBlockDropped { .. } => self.blocks_dropped += 1,
            TraceEvent::HsTsnMisread { .. } => self.tsns_misread += 1,
            TraceEvent::HsFalseAck { .. } => self.false_acks += 1,
            TraceEvent::HsNeedlessRetransmission { pdus, .. } => {
                self.needless_retransmissions += u64::from(pdus);
            }
            _ => {}
        }
    }
}
