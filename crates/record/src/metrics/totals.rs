//! Sums of which every metric is a formula (`definitions.rs`). All are exact integers where that is possible, so that
//! the sums of two adjoining windows are those of both together.

use umts_units::{BitRate, Duration, Time};

use super::cells::CellSupply;
use super::rtt::RttSamples;

/// A number of intervals and their sum.
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

/// TCP, of one connection or of all.
#[derive(Debug, Default)]
pub(super) struct TcpTotals {
    // ── Denominators ──
    pub window: Duration,
    /// Time in which any of the connections was active, and that part of it after its first data segment.
    pub active_union: Duration,
    pub transfer_union: Duration,
    pub capacity: Option<BitRate>,
    // ── Payload bytes ──
    pub acknowledged: u64,
    pub delivered: u64,
    pub sent: u64,
    pub sent_once: u64,
    // ── Counters ──
    pub connections_with_data: u64,
    pub data_segments: u64,
    pub retransmissions: u64,
    pub by_dupack: u64,
    pub by_rto: u64,
    pub unneeded: u64,
    pub expiries: u64,
    /// SYN and SYN-ACK segments sent again, by either end.
    pub syn_retransmissions: u64,
    /// Segments that RACK found lost; probes for a lost tail that repeated data or brought new, and that repaired a loss.
    pub rack_losses: u64,
    pub probes: u64,
    pub new_probes: u64,
    pub probe_repairs: u64,
    /// Reactions to a loss that were undone.
    pub spurious_undone: u64,
    /// Connections that failed.
    pub failed: u64,
    pub dupack_runs: u64,
    pub acks_received: u64,
    /// Congestion that was marked: marks that arrived, their echoes, the answers to these, and windows reduced.
    pub ecn_marks: u64,
    pub ecn_echoes: u64,
    pub ecn_answers: u64,
    pub ecn_reductions: u64,
    pub keep_alives: u64,
    pub zero_windows: u64,
    pub zero_window_probes: u64,
    pub zero_window_time: Duration,
    /// Silences of senders that had data to send.
    pub idle_gaps: u64,
    // ── Integrals over active time, summed over connections ──
    pub active: Duration,
    pub outstanding_segment_s: f64,
    pub max_outstanding: f64,
    /// Nanoseconds squared.
    pub rtt_integral: u128,
    pub rtt_known: Duration,
    // ── Times ──
    pub rtt: RttSamples,
    pub first_packet: Option<Time>,
    pub last_packet: Option<Time>,
    pub off: Duration,
    pub downloads: Intervals,
    pub data_downloads: Intervals,
    pub packet_calls: Intervals,
}

/// What TCP sent again on one leg of transfers that a proxy splits.
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
    /// Adds the leg of a split transfer that ends at the proxy: what TCP sent and sent again there counts, and its octets do
    /// not, which the other leg carries on.
    pub fn add_repetitions(&mut self, leg: &TcpTotals) {
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
    }

    /// Adds another connection. RTT samples are not: the network collects them as they come.
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
        self.active += other.active;
        self.outstanding_segment_s += other.outstanding_segment_s;
        self.max_outstanding = self.max_outstanding.max(other.max_outstanding);
        self.rtt_integral += other.rtt_integral;
        self.rtt_known += other.rtt_known;
        self.first_packet = [self.first_packet, other.first_packet].into_iter().flatten().min();
        self.last_packet = self.last_packet.max(other.last_packet);
        self.off += other.off;
        for (sum, interval) in [
            (&mut self.downloads, other.downloads),
            (&mut self.data_downloads, other.data_downloads),
            (&mut self.packet_calls, other.packet_calls),
        ] {
            sum.count += interval.count;
            sum.sum += interval.sum;
        }
    }
}

/// UDP datagrams in one direction, of all flows.
#[derive(Debug, Default)]
pub(super) struct DatagramTotals {
    pub window: Duration,
    pub sent: u64,
    pub received: u64,
    /// Payload received.
    pub bytes: u64,
    /// From the first number that left in the window to the highest that arrived, and how many of those arrived.
    pub expected: u64,
    pub arrived: u64,
    pub delay: RttSamples,
    /// How far delays of consecutive datagrams lie apart.
    pub delay_steps: Intervals,
}

/// Pages and sessions, of all flows.
#[derive(Debug, Default)]
pub(super) struct ApplicationTotals {
    pub pages: RttSamples,
    pub sessions: RttSamples,
}

/// RLC, the Iub and the air, in one direction, of all UEs. Status is counted where the data goes that it is about.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RadioTotals {
    pub window: Duration,
    /// Time in which any UE's RLC buffer held data.
    pub buffered: Duration,
    pub iub_blocks: u64,
    pub iub_bits: u64,
    pub blocks: u64,
    pub block_errors: u64,
    pub pdus: u64,
    pub pdus_again: u64,
    pub pdus_dropped: u64,
    pub resets: u64,
    pub status_pdus: u64,
    pub sdus_entered: u64,
    pub sdus_delivered: u64,
    pub sdus_discarded: u64,
    /// SDUs that never came up: discarded by the sender, or lost where nothing is sent again.
    pub sdus_lost: u64,
    pub sdus_refused: u64,
    pub delivered_bits: u64,
    /// Nanoseconds, and their squares.
    pub delay_ns: u128,
    pub delay_squares: u128,
}

/// Users that are switched between channels, and the cells that they are in.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CellTotals {
    pub window: Duration,
    /// How many such users there are.
    pub switched: u64,
    /// Payload bytes acknowledged in the whole network.
    pub acknowledged: u64,
    pub connections_with_data: u64,
    /// By state, summed over users; on the way between states.
    pub time_in: [Duration; 5],
    pub switching: Duration,
    /// By state left and state sought.
    pub switches: [[u64; 5]; 5],
    pub preemptions: u64,
    /// Requests; those that began a need; and what became of them.
    pub dch_requests: u64,
    pub dch_needs: u64,
    pub dch_grants: u64,
    pub dch_grants_after_release: u64,
    pub dch_refusals: u64,
    pub dch_queued: u64,
    pub dch_waits: Intervals,
    /// Reserved downlink bit/s times nanoseconds, DCHs times time, summed over cells.
    pub reserved_bit_ns: u128,
    pub dch_time: Duration,
    pub most_dchs: u64,
    pub full: Duration,
    pub energy_j: f64,
    pub channels: ChannelTotals,
}

/// What connections of switched users make of their channels.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ChannelTotals {
    /// Connections that closed, those of them that had a DCH at some time, and those that found one.
    pub connections: u64,
    pub with_dch: u64,
    pub reused_dch: u64,
    /// From the opening of a connection to the first switch to a DCH.
    pub until_switch: Intervals,
    /// From the allocation of a DCH to its use; the second after a release.
    pub set_ups: [Intervals; 2],
    /// Downlink packets that RLC delivered, in octets, and those on the common channels.
    pub octets: u64,
    pub octets_on_common: u64,
    /// Time on the common channels with a connection open, summed over users.
    pub busy_on_common: Duration,
    /// RLC's delays of downlink packets that waited for a switch to a DCH, and of the others.
    pub delays_with_switch: Intervals,
    pub delays_else: Intervals,
}

/// Jain's indices of the flows: of what they got in the window, and of how fast they were while they wanted something.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Fairness {
    pub goodputs: Option<f64>,
    pub active_rates: Option<f64>,
}

/// Delays of the Internet, of packets both ways.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct InternetTotals {
    pub packets: u64,
    pub delay_ns: u128,
    pub delay_squares: u128,
    pub shortest: Option<Duration>,
    pub longest: Option<Duration>,
}

impl InternetTotals {
    /// One more packet that takes so long.
    pub fn add(&mut self, delay: Duration) {
        let nanoseconds = u128::from(delay.as_nanos());
        self.packets += 1;
        self.delay_ns += nanoseconds;
        self.delay_squares += nanoseconds * nanoseconds;
        self.shortest = Some(self.shortest.map_or(delay, |shortest| shortest.min(delay)));
        self.longest = self.longest.max(Some(delay));
    }
}

/// Cells of time division duplex; arrays by direction.
#[derive(Debug, Default)]
pub(super) struct TddTotals {
    pub window: Duration,
    /// Somebody needed capacity of such a cell.
    pub is_tdd: bool,
    pub requests: u64,
    pub refusals: [u64; 2],
    /// From a need to its grant.
    pub waits: [Intervals; 2],
    /// Grants that ended, and the SDUs that were done with in them.
    pub grants: [u64; 2],
    pub grant_sdus: [u64; 2],
    /// Frames with capacity granted; slots going each way, resource units held and used in them.
    pub frames: u64,
    pub slots: [u64; 2],
    pub held: [u64; 2],
    pub used: [u64; 2],
    pub ack_collisions: u64,
    /// Blocks, and those that were lost, by how many of others were in their slot.
    pub blocks: [u64; 4],
    pub lost: [u64; 4],
    /// Jain's index over one second and over ten, in the mean.
    pub jain: [Option<f64>; 2],
    /// TCP data segments, from RLC's buffer to the other end; seconds squared.
    pub segments: Intervals,
    pub segment_squares: f64,
}

/// The cells of a layout; sums over their TTIs and over grants.
#[derive(Debug, Default)]
pub(super) struct SectorTotals {
    pub window: Duration,
    pub supply: CellSupply,
    pub cells: u32,
    /// TTIs of all cells, and those of them without the power for all DCHs, or with a load factor of 1 or more.
    pub ttis: u64,
    pub scaled: u64,
    pub overloaded: u64,
    /// In mW and in dBm.
    pub power: f64,
    pub power_db: f64,
    pub load: f64,
    pub load_squares: f64,
    pub calls: u64,
    pub call_blocks: u64,
    pub call_blocks_lost: u64,
    pub grants: u64,
    /// The same who had it for a second turn.
    pub held: u64,
    pub halved: u64,
    /// Blocks that grants sent, and that their formats hold.
    pub blocks: u64,
    pub room: u64,
    /// Spreading factors, by grant and by block; shares of the code tree; mW.
    pub factors: f64,
    pub block_factors: f64,
    pub codes: f64,
    pub dsch_power: f64,
    /// For lack of codes, power, credit; because of a handover.
    pub postponed: [u64; 4],
    pub handovers: u64,
    /// Octets of SDUs lost with the buffers of cells that were left.
    pub handover_lost: u64,
    /// TTIs of cells in which dedicated channels were told of, and of these: further legs and the DCHs beside DSCHs with their
    /// power in mW, calls with a gap, shares of the code tree.
    pub dch_ttis: u64,
    pub further_legs: u64,
    pub further_power: f64,
    pub associated_power: f64,
    pub compressed: u64,
    pub dch_codes: f64,
    /// By kind of step.
    pub call_steps: [u64; 7],
    /// Octets of downlink SDUs that came, and that came through.
    pub offered: u64,
    pub delivered: u64,
    pub delay_steps: Intervals,
}

/// What only the network as a whole has.
#[derive(Debug, Default)]
pub(super) struct NetworkTotals {
    pub applications: ApplicationTotals,
    pub fach_queue_drops: u64,
    pub link_drops: u64,
    pub rach_collisions: u64,
    pub rlc_unrecoverable_errors: u64,
    pub rlc_reestablishments: u64,
    pub cell_updates: u64,
    pub radio_link_failures: u64,
    pub internet: InternetTotals,
    pub fairness: Fairness,
}
