//! The sums that the recorders of metrics collect from trace events during the measurement window:
//! of TCP, datagrams, radio, RRC, TDD cells, layouts, HS-DSCH and queues. At the end of the run
//! `definitions.rs` computes every metric from them.
//!
//! Sums are exact integers where possible, so that the sums of two adjoining windows add up to the
//! sum of both together. An array of two elements is indexed by direction (downlink, uplink) unless
//! its comment says otherwise.

use umts_stack::ids::Direction;
use umts_stack::trace::{QueuePlace, TraceEvent};
use umts_units::{BitRate, Bytes, Duration, Time};

use super::cells::CellSupply;
use super::e_dch::EDchTotals;
use super::rtt::RttSamples;
use super::stalls::Stalls;

/// Number and sum of time intervals, for a mean.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Intervals {
    pub count: u64,
    pub sum: Duration,
}

impl Intervals {
    pub fn add(&mut self, interval: Duration) {
        self.count += 1;
        self.sum += interval;
    }

    pub fn mean_s(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum.as_secs() / self.count as f64)
    }
}

/// TCP totals, of one connection or of all connections together. Segments and octets are those that
/// the sender of the data sends, unless stated otherwise.
#[derive(Debug, Default)]
pub(super) struct TcpTotals {
    // ── Denominators ──
    /// Length of the measurement window.
    pub window: Duration,
    /// Time in which any connection was active: its application had written data that were not
    /// acknowledged. Of one connection, the same as `active`.
    pub active_union: Duration,
    /// Time in which any connection was active and had sent its first data segment.
    pub transfer_union: Duration,
    /// Payload rate of the bearer, or of all downlink channels.
    pub capacity: Option<BitRate>,
    // ── Payload bytes ──
    pub acknowledged: u64,
    /// Delivered to the application in order.
    pub delivered: u64,
    /// Sent, with retransmissions.
    pub sent: u64,
    /// Sent, each byte counted once.
    pub sent_once: u64,
    // ── Counters ──
    pub connections_with_data: u64,
    /// Segments with new payload.
    pub data_segments: u64,
    /// Retransmitted segments.
    pub retransmissions: u64,
    /// Retransmissions because of duplicate acknowledgments.
    pub by_dupack: u64,
    /// Retransmissions after a timeout.
    pub by_rto: u64,
    /// Retransmissions of data that the receiver had already.
    pub unneeded: u64,
    /// Expiries of the retransmission timer.
    pub expiries: u64,
    /// SYN and SYN-ACK segments that either end retransmitted.
    pub syn_retransmissions: u64,
    /// Segments that RACK found lost.
    pub rack_losses: u64,
    /// Tail loss probes that repeated data.
    pub probes: u64,
    /// Tail loss probes with new data.
    pub new_probes: u64,
    /// Losses that a tail loss probe repaired.
    pub probe_repairs: u64,
    /// Reactions to a loss that were undone.
    pub spurious_undone: u64,
    /// Connections that failed.
    pub failed: u64,
    /// Number of runs of three or more duplicate acknowledgments.
    pub dupack_runs: u64,
    /// Acknowledgments that the sender received.
    pub acks_received: u64,
    /// ECN marks that arrived (CE).
    pub ecn_marks: u64,
    /// Echoes of ECN marks (ECE).
    pub ecn_echoes: u64,
    /// Answers of the sender to echoes (CWR).
    pub ecn_answers: u64,
    /// Reductions of the congestion window because of an echo.
    pub ecn_reductions: u64,
    pub keep_alives: u64,
    /// Windows of zero that the sender received.
    pub zero_windows: u64,
    /// The sender's probes of zero windows.
    pub zero_window_probes: u64,
    /// Time in which the last window that the sender received was zero.
    pub zero_window_time: Duration,
    /// Periods in which a sender with data to send stayed silent.
    pub idle_gaps: u64,
    /// Times without a new acknowledgment while data was in flight.
    pub stalls: Stalls,
    // ── Integrals over active time, summed over connections ──
    pub active: Duration,
    /// Integral of the outstanding data, in full segments times seconds.
    pub outstanding_segment_s: f64,
    /// Maximum of the outstanding data, in full segments.
    pub max_outstanding: f64,
    /// Integral of the latest round-trip time over active time, in nanoseconds squared.
    pub rtt_integral: u128,
    /// Active time since the first sample of the round-trip time.
    pub rtt_known: Duration,
    // ── Times ──
    pub rtt: RttSamples,
    pub first_packet: Option<Time>,
    pub last_packet: Option<Time>,
    /// Time between the end of the flow's previous connection and the start of this one.
    pub off_time: Duration,
    /// Times of downloads, from the SYN to the last byte.
    pub downloads: Intervals,
    /// Times of downloads, from the first data segment to the last byte.
    pub data_downloads: Intervals,
    /// Times of packet calls, such as web pages.
    pub packet_calls: Intervals,
}

/// TCP retransmissions and timeouts on one leg of transfers that a proxy splits.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LegTotals {
    pub retransmissions: u64,
    pub expiries: u64,
}

impl LegTotals {
    pub fn add(&mut self, leg: &TcpTotals) {
        self.retransmissions += leg.retransmissions;
        self.expiries += leg.expiries;
    }
}

impl TcpTotals {
    /// Adds the leg of a split transfer that delivers its data to the proxy. The segments and
    /// retransmissions of this leg count. Its octets do not, because the leg from the proxy to the
    /// receiver counts the same octets.
    pub fn add_proxied_leg(&mut self, leg: &TcpTotals) {
        self.data_segments += leg.data_segments;
        self.retransmissions += leg.retransmissions;
        self.by_dupack += leg.by_dupack;
        self.by_rto += leg.by_rto;
        self.unneeded += leg.unneeded;
        self.expiries += leg.expiries;
        self.rack_losses += leg.rack_losses;
        self.probes += leg.probes;
        self.new_probes += leg.new_probes;
        self.probe_repairs += leg.probe_repairs;
        self.spurious_undone += leg.spurious_undone;
        self.dupack_runs += leg.dupack_runs;
        self.stalls.merge(&leg.stalls);
    }

    /// Adds another connection, except RTT samples, which the network collects separately.
    pub fn add(&mut self, other: &TcpTotals) {
        self.acknowledged += other.acknowledged;
        self.delivered += other.delivered;
        self.sent += other.sent;
        self.sent_once += other.sent_once;
        self.connections_with_data += other.connections_with_data;
        self.data_segments += other.data_segments;
        self.retransmissions += other.retransmissions;
        self.by_dupack += other.by_dupack;
        self.by_rto += other.by_rto;
        self.unneeded += other.unneeded;
        self.expiries += other.expiries;
        self.syn_retransmissions += other.syn_retransmissions;
        self.rack_losses += other.rack_losses;
        self.probes += other.probes;
        self.new_probes += other.new_probes;
        self.probe_repairs += other.probe_repairs;
        self.spurious_undone += other.spurious_undone;
        self.failed += other.failed;
        self.dupack_runs += other.dupack_runs;
        self.acks_received += other.acks_received;
        self.ecn_marks += other.ecn_marks;
        self.ecn_echoes += other.ecn_echoes;
        self.ecn_answers += other.ecn_answers;
        self.ecn_reductions += other.ecn_reductions;
        self.keep_alives += other.keep_alives;
        self.zero_windows += other.zero_windows;
        self.zero_window_probes += other.zero_window_probes;
        self.zero_window_time += other.zero_window_time;
        self.idle_gaps += other.idle_gaps;
        self.stalls.merge(&other.stalls);
        self.active += other.active;
        self.outstanding_segment_s += other.outstanding_segment_s;
        self.max_outstanding = self.max_outstanding.max(other.max_outstanding);
        self.rtt_integral += other.rtt_integral;
        self.rtt_known += other.rtt_known;
        self.first_packet = [self.first_packet, other.first_packet].into_iter().flatten().min();
        self.last_packet = self.last_packet.max(other.last_packet);
        self.off_time += other.off_time;
        for (intervals, added) in [
            (&mut self.downloads, other.downloads),
            (&mut self.data_downloads, other.data_downloads),
            (&mut self.packet_calls, other.packet_calls),
        ] {
            intervals.count += added.count;
            intervals.sum += added.sum;
        }
    }
}

/// UDP datagrams of all flows in one direction.
#[derive(Debug, Default)]
pub(super) struct DatagramTotals {
    pub window: Duration,
    pub sent: u64,
    pub received: u64,
    /// Payload received.
    pub bytes: u64,
    /// Number of datagrams from the first one sent in the window to the one with the highest number
    /// that arrived.
    pub expected: u64,
    /// Number of expected datagrams that arrived.
    pub arrived: u64,
    pub delay: RttSamples,
    /// Differences between the delays of successive datagrams.
    pub delay_steps: Intervals,
}

/// Pages and sessions of all flows.
#[derive(Debug, Default)]
pub(super) struct ApplicationTotals {
    pub pages: RttSamples,
    pub sessions: RttSamples,
}

/// RLC, the Iub and the air in one direction, of all UEs. A STATUS is counted in the direction of
/// the data that it reports.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RadioTotals {
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

/// Users with RRC states that the RNC switches, and their cells.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CellTotals {
    pub window: Duration,
    /// Number of users with RRC states that the RNC switches.
    pub switched: u64,
    /// Payload bytes acknowledged in the whole network.
    pub acknowledged: u64,
    pub connections_with_data: u64,
    /// Time by RRC state (`RrcState` as index), summed over users.
    pub time_in: [Duration; 5],
    /// Time in switches between states, summed over users.
    pub switching: Duration,
    /// Switches between states, by previous and target state.
    pub switches: [[u64; 5]; 5],
    /// Switches because a DCH was preempted.
    pub preemptions: u64,
    /// Requests for a DCH.
    pub dch_requests: u64,
    /// Requests that began a need for a DCH. All other requests repeat a refused one.
    pub dch_needs: u64,
    pub dch_grants: u64,
    /// Grants that became possible by the release of another DCH.
    pub dch_grants_after_release: u64,
    pub dch_refusals: u64,
    pub dch_queued: u64,
    /// Times from the first request of a need to the state CELL_DCH.
    pub dch_waits: Intervals,
    /// Reserved downlink bit/s times nanoseconds, summed over cells.
    pub reserved_bit_ns: u128,
    /// Integral of the number of DCHs over time, summed over cells.
    pub dch_time: Duration,
    pub max_dchs: u64,
    /// Time in which cells were full.
    pub full: Duration,
    pub energy_j: f64,
    pub channels: ChannelTotals,
}

/// Channel use of the connections of switched users.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ChannelTotals {
    /// Closed connections.
    pub connections: u64,
    /// Closed connections of users with a DCH at some time.
    pub with_dch: u64,
    /// Closed connections of users with a DCH at the opening.
    pub reused_dch: u64,
    /// Time from the opening of a connection to the first switch to a DCH.
    pub until_switch: Intervals,
    /// Time from the allocation of a DCH to its use. Index 0: the cell had room for the DCH.
    /// Index 1: the DCH had to wait for the release of another user's DCH.
    pub set_ups: [Intervals; 2],
    /// Octets of downlink packets that RLC delivered.
    pub octets: u64,
    /// Octets of downlink packets that RLC delivered on the common channels.
    pub octets_on_common: u64,
    /// Time on the common channels with an open connection, summed over users.
    pub busy_on_common: Duration,
    /// RLC delays of downlink packets that waited for a switch to a DCH.
    pub delays_with_switch: Intervals,
    /// RLC delays of all other downlink packets.
    pub delays_without_switch: Intervals,
}

/// Jain's fairness indices of the flows: of the payload in the window, and of the rates while
/// active.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Fairness {
    pub goodputs: Option<f64>,
    pub active_rates: Option<f64>,
}

/// Internet delays of packets in both directions.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct InternetTotals {
    pub packets: u64,
    /// Sum of the delays, in nanoseconds.
    pub delay_ns: u128,
    /// Sum of the squares of the delays, in nanoseconds squared.
    pub delay_squares: u128,
    pub shortest: Option<Duration>,
    pub longest: Option<Duration>,
}

impl InternetTotals {
    /// Adds the delay of one packet.
    pub fn add(&mut self, delay: Duration) {
        let nanoseconds = u128::from(delay.as_nanos());
        self.packets += 1;
        self.delay_ns += nanoseconds;
        self.delay_squares += nanoseconds * nanoseconds;
        self.shortest = Some(self.shortest.map_or(delay, |shortest| shortest.min(delay)));
        self.longest = self.longest.max(Some(delay));
    }
}

/// TDD cells, summed over cells and users.
#[derive(Debug, Default)]
pub(super) struct TddTotals {
    pub window: Duration,
    /// Whether any user needed capacity of a TDD cell.
    pub is_tdd: bool,
    pub requests: u64,
    pub refusals: [u64; 2],
    /// Time from a need to its grant.
    pub waits: [Intervals; 2],
    /// Grants that ended.
    pub grants: [u64; 2],
    /// SDUs that were acknowledged or discarded during the ended grants.
    pub grant_sdus: [u64; 2],
    /// Slots of frames with granted capacity, by direction.
    pub slots: [u64; 2],
    /// Resource units that grants hold.
    pub held: [u64; 2],
    /// Resource units that carry blocks.
    pub used: [u64; 2],
    pub ack_collisions: u64,
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

/// The cells of a layout: sums over their TTIs and over grants.
#[derive(Debug, Default)]
pub(super) struct LayoutTotals {
    pub window: Duration,
    pub supply: CellSupply,
    pub cells: u32,
    /// TTIs of all cells.
    pub ttis: u64,
    /// TTIs in which the power was too low for all DCHs.
    pub scaled: u64,
    /// TTIs with a load factor of 1 or more.
    pub overloaded: u64,
    /// Transmit power in mW, summed over TTIs of cells.
    pub power: f64,
    /// Transmit power in dBm, summed over TTIs of cells.
    pub power_db: f64,
    /// Sum of the load factors.
    pub load: f64,
    /// Sum of the squares of the load factors.
    pub load_squares: f64,
    /// Number of calls, summed over TTIs of cells.
    pub calls: u64,
    /// Blocks of calls.
    pub call_blocks: u64,
    /// Blocks of calls that were lost.
    pub call_blocks_lost: u64,
    /// Grants of TTIs on DSCHs.
    pub grants: u64,
    /// Grants that continue in their second frame.
    pub held: u64,
    /// Grants with a larger spreading factor than requested.
    pub halved: u64,
    /// Blocks sent in grants.
    pub blocks: u64,
    /// Blocks that the transport formats of the grants could carry.
    pub room: u64,
    /// Spreading factors, summed over grants.
    pub factors: f64,
    /// Spreading factors, summed over blocks.
    pub block_factors: f64,
    /// Shares of the code tree, summed over grants and their second frames.
    pub codes: f64,
    /// Power in mW, summed over grants and their second frames.
    pub dsch_power: f64,
    /// Requests that were refused, by reason: codes, power, credit, handover.
    pub postponed: [u64; 4],
    pub handovers: u64,
    /// Octets of SDUs lost with the buffers of cells that their users left.
    pub handover_lost: u64,
    // ── TTIs of cells with recorded dedicated channels ──
    /// Number of these TTIs.
    pub dch_ttis: u64,
    /// Legs that the cell carries for calls of other cells (soft handover).
    pub further_legs: u64,
    /// Power of these legs, in mW.
    pub further_power: f64,
    /// Power of the DCHs associated with DSCHs, in mW.
    pub associated_power: f64,
    /// Calls of the cell that had a gap (compressed mode).
    pub compressed: u64,
    /// Shares of the code tree that the dedicated channels use.
    pub dch_codes: f64,
    // ── TTIs in which users of DCH bearers received power, summed over users ──
    /// Number of these TTIs.
    pub dch_sent: u64,
    /// TTIs in which several cells sent to the user (soft handover).
    pub dch_soft: u64,
    /// Cells that sent to the user.
    pub dch_legs: u64,
    /// Power of the user's best cell, in mW.
    pub dch_power: f64,
    /// Maximum power of a user's best cell in a TTI, in mW.
    pub dch_power_max: f64,
    /// Power of the user's other cells, in mW.
    pub dch_further_power: f64,
    /// Eb/N0 of the user, in dB.
    pub dch_ebn0_db: f64,
    // ── TTIs in which users of the FACH had data, summed over users ──
    /// Number of these TTIs.
    pub fach_sent: u64,
    /// Eb/N0 of the user, in dB.
    pub fach_ebn0_db: f64,
    // ── TTIs of cells in which the S-CCPCH was sent ──
    /// Number of these TTIs.
    pub sccpch_sent: u64,
    /// Power of the S-CCPCH, in mW.
    pub sccpch_power: f64,
    /// Sum of the mean powers of HS-DSCHs.
    pub hs_power: f64,
    /// TTIs in which users of HS-DSCHs were served, and the sum of their mean SNRs in dB.
    pub hs_served: u64,
    pub hs_snr_db: f64,
    /// PDUs that were flushed, and that were lost in HARQ, at changes of the serving HS-DSCH cell.
    pub hs_cell_changes: u64,
    pub hs_flushed: u64,
    pub hs_lost: u64,
    // ── Cells, calls and SDUs ──
    pub cell_reselections: u64,
    /// Events of calls, indexed by their kind: begun, blocked, handed over, and so on.
    pub call_steps: [u64; 7],
    /// Octets of downlink SDUs that entered RLC.
    pub offered: u64,
    /// Octets of downlink SDUs that were delivered.
    pub delivered: u64,
    /// Absolute differences between the delays of consecutive SDUs of a user.
    pub delay_steps: Intervals,
}

/// Blocks and PDUs on the HS-DSCHs.
#[derive(Debug, Default)]
pub(super) struct HsTotals {
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

/// Totals that only the network as a whole has.
#[derive(Debug, Default)]
pub(super) struct NetworkTotals {
    pub applications: ApplicationTotals,
    pub fach_queue_drops: u64,
    pub hs_dsch: HsTotals,
    pub e_dch: EDchTotals,
    pub link_drops: u64,
    pub rach_collisions: u64,
    pub rlc_unrecoverable_errors: u64,
    pub rlc_reestablishments: u64,
    pub cell_updates: u64,
    pub radio_link_failures: u64,
    pub internet: InternetTotals,
    pub fairness: Fairness,
}

/// Actions of queue management (RED, CoDel, PIE), by direction.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct QueueTotals {
    pub link_drops: [u64; 2],
    pub link_marks: [u64; 2],
    pub rlc_drops: [u64; 2],
    pub rlc_marks: [u64; 2],
}

impl QueueTotals {
    pub fn add(&mut self, place: QueuePlace, direction: Direction, marked: bool) {
        let actions = match (place, marked) {
            (QueuePlace::Link(_), false) => &mut self.link_drops,
            (QueuePlace::Link(_), true) => &mut self.link_marks,
            (QueuePlace::Rlc, false) => &mut self.rlc_drops,
            (QueuePlace::Rlc, true) => &mut self.rlc_marks,
        };
        actions[direction.index()] += 1;
    }
}
