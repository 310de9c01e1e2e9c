//! The time budget of the programs' TCP connections, read from their packets. What only the kernel knows (windows, what is
//! written, timers) is not guessed: that time is `not_visible`.

use std::collections::BTreeMap;
use std::net::IpAddr;

use umts_kernel::TraceSink;
use umts_record::budget::{Budget, BudgetConfig, Whose};
use umts_record::metrics::RunMetrics;
use umts_record::series::{Column, Table, Values};
use umts_stack::detail::Detail;
use umts_stack::ids::{ConnectionId, Direction, End, FlowId, PacketId, TcpLeg, UeId};
use umts_stack::network::NetworkConfig;
use umts_stack::packet::{Content, Flags, Foreign, Packet, Segment};
use umts_stack::trace::{CapturePoint, SendCause, TraceEvent};
use umts_units::Time;

use crate::packets::cargo::Cargo;
use crate::packets::transport::{Message, Transport, read};

/// Connections and segments that are followed at once; of more, the first are forgotten.
const MOST_CONNECTIONS: usize = 4096;
const MOST_SEGMENTS: usize = 65_536;

/// Pieces of a direction that have come out of order; of more, the last is forgotten.
const MOST_BEYOND: usize = 4096;

/// Payload of a full segment, for want of better: it decides nothing where windows are not known.
const MSS: u32 = 1460;

/// The server's end and the UE's: address and port.
type Ends = [(IpAddr, u16); 2];

/// One connection of two programs.
#[derive(Debug)]
struct Known {
    id: ConnectionId,
    /// By the end that sends.
    ways: [Way; 2],
}

/// One direction of it. Sequence numbers are counted from the SYN, without wrapping.
#[derive(Debug, Default)]
struct Way {
    initial: Option<u32>,
    highest: u64,
    una: u64,
    /// Payload in order up to here, and what has come beyond.
    next: u64,
    beyond: Vec<(u64, u64)>,
    has_finished: bool,
    fin_acknowledged: bool,
    is_established: bool,
}

impl Way {
    fn count(&self, number: u32) -> Option<u64> {
        let offset = number.wrapping_sub(self.initial?);
        let ahead = i64::from(offset.wrapping_sub(self.highest as u32) as i32);
        self.highest.checked_add_signed(ahead)
    }

    /// Payload `from..to` has come; how much is in order because of it.
    fn arrived(&mut self, from: u64, to: u64) -> u64 {
        let before = self.next.max(1);
        if self.beyond.len() >= MOST_BEYOND {
            self.beyond.pop();
        }
        self.beyond.push((from, to));
        self.beyond.sort_unstable();
        self.next = before;
        let next = &mut self.next;
        self.beyond.retain(|&(from, to)| {
            let joins = from <= *next;
            *next = if joins { to.max(*next) } else { *next };
            !joins
        });
        self.next - before
    }
}

/// Divides the time of connections that are seen from their SYN on.
#[derive(Debug)]
pub struct ProgramsBudget {
    cargo: Cargo,
    budget: Budget,
    known: BTreeMap<Ends, Known>,
    /// Ports at the server and at the UE, by the number of the connection.
    ports: Vec<(u16, u16)>,
    /// Segments under way.
    segments: BTreeMap<PacketId, (Ends, Segment)>,
}

impl ProgramsBudget {
    /// Of the packets in `cargo`.
    pub fn new(cargo: Cargo, config: BudgetConfig, network: &NetworkConfig) -> Self {
        let budget = Budget::new(BudgetConfig { whose: Whose::Programs, ..config }, network);
        ProgramsBudget { cargo, budget, known: BTreeMap::new(), ports: Vec::new(), segments: BTreeMap::new() }
    }

    /// Adds the metrics, and returns the tables: intervals, and a row per connection.
    pub fn finish(self, end: Time, results: &mut RunMetrics) -> Vec<Table> {
        let mut tables = self.budget.finish(end, results);
        for table in &mut tables {
            if let (Some(Values::Id(ids)), "budget_connections") = (table.column("connection"), table.name) {
                let ports = |choose: fn(&(u16, u16)) -> u16| {
                    let of = |id: &u32| self.ports.get(*id as usize).map_or(0, choose);
                    Values::Id(ids.iter().map(|id| u32::from(of(id))).collect())
                };
                let columns = [("server_port", ports(|ports| ports.0)), ("ue_port", ports(|ports| ports.1))];
                table.columns.extend(columns.map(|(name, values)| Column { name, unit: "", values }));
            }
        }
        tables
    }

    fn tell(&mut self, now: Time, event: TraceEvent) {
        self.budget.record(now, &event);
    }

    /// A packet leaves its host.
    fn sent(&mut self, now: Time, packet: Packet) -> Option<()> {
        let Transport { from, to, message } = self.cargo.with(packet.id, read)??;
        let Message::Segment { seq, length, ack, flags } = message else { return None };
        let direction = packet.direction();
        let end = End::sending(direction);
        let ends = if direction == Direction::Downlink { [from, to] } else { [to, from] };
        let (syn, fin, rst) = (flags & 2 != 0, flags & 1 != 0, flags & 4 != 0);
        if syn && ack.is_none() {
            self.begin(now, ends, packet.ue, (end, seq));
        }
        let known = self.known.get_mut(&ends)?;
        let way = &mut known.ways[end as usize];
        if syn && way.initial.is_none() {
            way.initial = Some(seq);
        }
        let seq = way.count(seq)?;
        way.highest = way.highest.max(seq + u64::from(length));
        way.has_finished |= fin;
        let ack = ack.and_then(|ack| known.ways[end.other() as usize].count(ack));
        let payload = length - u32::from(syn) - u32::from(fin);
        let segment = Segment {
            flags: Flags { syn, fin, rst, ack: ack.is_some(), ..Flags::default() },
            seq,
            ack: ack.unwrap_or(0),
            payload,
            window: u32::MAX,
            header: (packet.size().0 as u32).saturating_sub(payload) as u16,
            ..Segment::new(known.id, direction)
        };
        let id = packet.id;
        if self.segments.len() >= MOST_SEGMENTS {
            self.segments.pop_first();
        }
        self.segments.insert(id, (ends, segment));
        let cause = if length == 0 { SendCause::Ack } else { SendCause::New };
        self.tell(now, TraceEvent::SegmentSent { packet: id, segment, cause });
        Some(())
    }

    /// A SYN leaves: a new connection, unless the SYN was sent before.
    fn begin(&mut self, now: Time, ends: Ends, ue: UeId, (end, seq): (End, u32)) {
        let known = self.known.get(&ends);
        if known.is_some_and(|known| known.ways[end as usize].initial == Some(seq)) {
            return;
        }
        self.forget(now, ends);
        if self.known.len() >= MOST_CONNECTIONS
            && let Some(first) = self.known.keys().next().copied()
        {
            self.forget(now, first);
        }
        let connection = ConnectionId(self.ports.len() as u32);
        self.ports.push((ends[0].1, ends[1].1));
        let mut ways = [Way::default(), Way::default()];
        ways[end as usize].initial = Some(seq);
        self.known.insert(ends, Known { id: connection, ways });
        let opened = TraceEvent::ConnectionOpened {
            connection,
            transfer: connection,
            leg: TcpLeg::Whole,
            flow: FlowId(u32::MAX),
            ue,
            sender: End::Server,
            mss: MSS,
        };
        self.tell(now, opened);
    }

    fn forget(&mut self, now: Time, ends: Ends) {
        if let Some(known) = self.known.remove(&ends) {
            self.tell(now, TraceEvent::ConnectionClosed { connection: known.id });
        }
    }

    /// A packet has reached its host.
    fn received(&mut self, now: Time, packet: PacketId) {
        let Some((ends, segment)) = self.segments.remove(&packet) else { return };
        let Some(known) = self.known.get_mut(&ends).filter(|known| known.id == segment.connection) else {
            return;
        };
        let from = End::sending(segment.direction);
        let connection = known.id;
        let first = segment.seq + u64::from(segment.flags.syn);
        let way = &mut known.ways[from as usize];
        let delivered = match segment.payload {
            0 => 0,
            payload => way.arrived(first, first + u64::from(payload)),
        };
        let mut told = vec![TraceEvent::SegmentReceived { packet, segment, delivered, duplicate: false }];
        let (end, back) = (from.other(), &mut known.ways[from.other() as usize]);
        if segment.flags.ack && segment.ack > back.una {
            back.una = segment.ack;
            told.push(TraceEvent::Acked { connection, end, una: segment.ack, payload: 0 });
            if !std::mem::replace(&mut back.is_established, true) {
                told.push(TraceEvent::Established { connection, end });
            }
            back.fin_acknowledged |= back.has_finished && back.una >= back.highest;
        }
        let is_over = segment.flags.rst || known.ways.iter().all(|way| way.fin_acknowledged);
        for event in told {
            self.tell(now, event);
        }
        if is_over {
            self.forget(now, ends);
        }
    }

    /// The packet as a segment of its connection, if it is one of a program's; any other as octets of unknown meaning.
    fn described(&self, packet: &Packet) -> Packet {
        let content = match self.segments.get(&packet.id) {
            Some((_, segment)) => Content::Segment(*segment),
            None => Content::Foreign(Foreign {
                direction: packet.direction(),
                size: u32::try_from(packet.size().0).unwrap_or(u32::MAX),
            }),
        };
        Packet { content, ..*packet }
    }
}

impl TraceSink<TraceEvent> for ProgramsBudget {
    const WANTS_DETAIL: bool = true;

    fn record(&mut self, now: Time, event: &TraceEvent) {
        match event {
            TraceEvent::PacketSeen { at, packet } => {
                let is_program = matches!(packet.content, Content::Foreign(_));
                let leaves = (*at == CapturePoint::Server) == (packet.direction() == Direction::Downlink);
                if is_program && leaves && *at != CapturePoint::Rnc {
                    self.sent(now, *packet);
                }
                let described = self.described(packet);
                self.tell(now, TraceEvent::PacketSeen { at: *at, packet: described });
                if !leaves && *at != CapturePoint::Rnc {
                    self.received(now, packet.id);
                }
            }
            TraceEvent::PacketDropped { place, packet } => {
                let described = self.described(packet);
                self.segments.remove(&packet.id);
                self.tell(now, TraceEvent::PacketDropped { place: *place, packet: described });
            }
            TraceEvent::SduDelivered { .. }
            | TraceEvent::SduDiscarded { .. }
            | TraceEvent::RlcReset { .. }
            | TraceEvent::RlcInitialState { .. }
            | TraceEvent::RrcSwitch { .. }
            | TraceEvent::RrcState { .. } => self.budget.record(now, event),
            // Of simulated connections, whose numbers are others.
            _ => {}
        }
    }

    fn show(&mut self, now: Time, detail: &Detail<'_>) {
        self.budget.show(now, detail);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use umts_record::metrics::MetricSet;
    use umts_scenario::Scenario;
    use umts_units::Duration;

    use super::*;
    use crate::clock::wall_clock::Arrival;
    use crate::devices::topology::{SERVER_PORT, ue_port};
    use crate::outside::recording::Recording;
    use crate::run::{Keep, Results, replay};

    const SERVER: [u8; 4] = [192, 0, 2, 1];

    /// A segment between port 80 of a server and port 5000 of the first UE.
    fn segment(from_server: bool, (flags, seq, ack): (u8, u32, u32), payload: usize) -> Vec<u8> {
        let IpAddr::V4(ue) = crate::devices::addresses::of_ue(0)[0] else {
            panic!("the first is of version 4")
        };
        let ends = [(SERVER, 80_u16), (ue.octets(), 5000)];
        let [from, to] = if from_server { ends } else { [ends[1], ends[0]] };
        let mut packet = vec![0x45, 0];
        packet.extend(((40 + payload) as u16).to_be_bytes());
        packet.extend([0, 0, 0, 0, 64, 6, 0, 0]);
        packet.extend(from.0);
        packet.extend(to.0);
        packet.extend(from.1.to_be_bytes());
        packet.extend(to.1.to_be_bytes());
        packet.extend(seq.to_be_bytes());
        packet.extend(ack.to_be_bytes());
        packet.extend([0x50, flags, 0xff, 0xff, 0, 0, 0, 0]);
        packet.resize(40 + payload, 0);
        packet
    }

    /// What is measured of packets that come at these milliseconds, beside `others` of the scenario.
    fn replayed(others: &str, packets: &[(u64, bool, Vec<u8>)]) -> Results {
        let text = "version = 1\nduration = \"60 s\"\nmeasure.budget = true\n[[cell]]\nname = \"cell\"\n[cell.fach]\n\
            rate = \"32 kbit/s\"\ntti = \"10 ms\"\n[[ue]]\nname = \"u\"\n";
        let text = format!("{text}{others}");
        let scenario = Scenario::parse(&text, "x", std::path::Path::new(""), &[]).unwrap().scenario;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("packets.pcapng");
        let mut recording = Recording::create(&path, 2).unwrap();
        for (ms, from_server, bytes) in packets {
            let port = if *from_server { SERVER_PORT } else { ue_port(0) };
            let at = Time::ZERO + Duration::from_millis(*ms);
            recording.note(at, &Arrival::bare(port, bytes.clone()));
        }
        recording.finish().unwrap();
        let keep = Keep { series: true, ..Keep::default() };
        let end = Time::ZERO + Duration::from_secs(30);
        replay(&scenario, 1, Some(1), true, &path, end, &keep).unwrap().0
    }

    fn tables(packets: &[(u64, bool, Vec<u8>)]) -> Vec<Table> {
        replayed("", packets).series.unwrap().tables
    }

    fn column(tables: &[Table], name: &str) -> Vec<f64> {
        let table = tables.iter().find(|table| table.name == "budget_connections").unwrap();
        match table.column(name) {
            Some(Values::Float(values)) => values.clone(),
            Some(Values::Id(values)) => values.iter().map(|value| f64::from(*value)).collect(),
            other => panic!("{name}: {other:?}"),
        }
    }

    fn check_sums(tables: &[Table]) {
        let (opened, until) = (column(tables, "opened_s"), column(tables, "until_s"));
        let parts: Vec<_> = umts_record::budget::Cause::ALL
            .iter()
            .map(|cause| column(tables, &format!("budget_{}_s", cause.name())))
            .collect();
        for row in 0..opened.len() {
            let sum: f64 = parts.iter().map(|part| part[row]).sum();
            assert!((sum - (until[row] - opened[row])).abs() < 1e-9, "{row}");
        }
    }

    /// A download of two segments, across the end of the sequence numbers.
    fn download() -> Vec<(u64, bool, Vec<u8>)> {
        let far = u32::MAX - 500;
        vec![
            (1000, false, segment(false, (0x02, 9, 0), 0)),
            (2000, true, segment(true, (0x12, far, 10), 0)),
            (3000, false, segment(false, (0x10, 10, far.wrapping_add(1)), 0)),
            (4000, true, segment(true, (0x10, far.wrapping_add(1), 10), 1000)),
            (4001, true, segment(true, (0x10, far.wrapping_add(1001), 10), 1000)),
            (9000, false, segment(false, (0x10, 10, far.wrapping_add(2001)), 0)),
            (12000, true, segment(true, (0x11, far.wrapping_add(2001), 10), 0)),
            (13000, false, segment(false, (0x11, 10, far.wrapping_add(2002)), 0)),
            (14000, true, segment(true, (0x10, far.wrapping_add(2002), 11), 0)),
        ]
    }

    #[test]
    fn a_download_of_a_program_is_divided_as_far_as_its_packets_tell() {
        let tables = tables(&download());
        check_sums(&tables);
        assert_eq!(column(&tables, "server_port"), [80.0]);
        assert_eq!(column(&tables, "ue_port"), [5000.0]);
        assert_eq!(column(&tables, "opened_s"), [1.0]);
        let (until, of) = (column(&tables, "until_s")[0], |cause| column(&tables, cause)[0]);
        assert!((14.0..15.0).contains(&until), "{until}");
        // Two packets of 1,040 octets over 32 kbit/s take half a second. SYN and SYN+ACK take about 0.1 s each; that the
        // ends wait before they answer, the lab does not see.
        assert!((0.4..1.2).contains(&of("budget_serialisation_s")), "{}", of("budget_serialisation_s"));
        assert!((0.15..0.35).contains(&of("budget_setup_s")), "{}", of("budget_setup_s"));
        assert!(of("budget_not_visible_s") > 6.0);
        assert_eq!(
            of("budget_unexplained_s") + of("budget_slow_start_s") + of("budget_application_idle_s"),
            0.0
        );
    }

    #[test]
    fn simulated_users_beside_programs_have_a_budget_of_their_own() {
        let results = replayed("[[ue]]\nname = \"v\"\n[[flow]]\nue = \"v\"\n", &download());
        let (tables, metrics) = (results.series.unwrap().tables, results.metrics);
        let seconds_in = |name: &str| {
            let table = tables.iter().find(|table| table.name == name).unwrap();
            let (start, end) = (table.column("start_s").unwrap(), table.column("end_s").unwrap());
            let (Values::Float(start), Values::Float(end)) = (start, end) else { panic!("{name}") };
            start.iter().zip(end).map(|(start, end)| end - start).sum::<f64>()
        };
        let in_budget = |metrics: &MetricSet| metrics.value("budget_total_s").unwrap();
        // The network's are the programs'; the simulated connection has the whole run, and its own in its row.
        let of_programs = column(&tables, "until_s")[0] - column(&tables, "opened_s")[0];
        assert!((seconds_in("budget_intervals") - of_programs).abs() < 1e-9);
        assert!((in_budget(&metrics.network) - of_programs).abs() < 1e-9);
        assert_eq!(metrics.network.iter().filter(|(name, _)| *name == "budget_total_s").count(), 1);
        let [simulated] = metrics.connections.as_slice() else { panic!("{:?}", metrics.connections) };
        let of_simulated = results.end.as_secs() - simulated.opened_s;
        assert!((seconds_in("simulated_budget_intervals") - of_simulated).abs() < 1e-9);
        assert!((in_budget(&simulated.metrics) - of_simulated).abs() < 1e-9);
        let names: Vec<_> = tables.iter().map(|table| table.name).collect();
        let last =
            ["simulated_budget_intervals", "simulated_budget_rtos", "budget_intervals", "budget_connections"];
        assert_eq!(names[names.len() - 5..names.len() - 1], last);
        assert_eq!(names[names.len() - 1], "program_rtt");
    }

    #[test]
    fn pieces_out_of_order_take_bounded_memory() {
        let mut way = Way::default();
        for piece in 0..10_000 {
            assert_eq!(way.arrived(10 + 20 * piece, 20 + 20 * piece), 0);
        }
        assert_eq!(way.beyond.len(), MOST_BEYOND);
        assert_eq!(way.arrived(1, 10), 19);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]
        #[test]
        fn whatever_programs_send_the_parts_add_up(
            steps in prop::collection::vec(
                (0_u64..400, any::<bool>(), 0_u8..32, -2000_i32..5000, -2000_i32..5000, 0_usize..1400), 1..40,
            ),
        ) {
            let mut now = 0;
            let packets: Vec<_> = steps.into_iter().map(|(wait, from_server, flags, seq, ack, payload)| {
                now += wait;
                (now, from_server, segment(from_server, (flags, seq as u32, ack as u32), payload))
            }).collect();
            check_sums(&tables(&packets));
        }
    }
}
