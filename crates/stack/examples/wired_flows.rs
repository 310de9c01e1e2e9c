//! Many one-way NewReno flows over a wired bottleneck, for `benches/ns2.py`. It uses the stack's
//! TCP and links, without radio.
//!
//! `wired_flows FLOWS SECONDS SEED` prints the number of packets acknowledged, sent and
//! retransmitted. `benches/ns2.tcl` is the same workload.

use std::sync::Arc;

use umts_kernel::random::Streams;
use umts_kernel::{EventQueue, NoTrace, Phase};
use umts_stack::Context;
use umts_stack::aqm::QueueLimit;
use umts_stack::core_network::{Link, LinkConfig, Verdict};
use umts_stack::ids::{ConnectionId, Direction, End, FlowId, PacketId, UeId};
use umts_stack::packet::Segment;
use umts_stack::tcp::{Connection, RtoRule, TcpConfig, TcpConnection, Variant, WindowSize};
use umts_units::{BitRate, Duration, Octets, Time};

const RATE_BPS: u64 = 200_000_000;
const DELAY: Duration = Duration::from_millis(50);
const QUEUE: QueueLimit = QueueLimit::Packets(1000);
const WINDOW: u32 = 64;
const PAYLOAD: u32 = 1000;
/// The number of slots within the first second over which the starts are spread.
const SPREAD: u64 = 10_007;

#[derive(Debug)]
enum Event {
    Start(u32),
    /// A packet reaches the end of the link from this sending end.
    Arrival(End),
    Timeout(u32, End),
}

struct Flow {
    ends: [Connection; 2],
    /// Next timeout of each end. At most one is scheduled.
    wake: [Time; 2],
    acknowledged: u64,
}

struct Dumbbell {
    flows: Vec<Flow>,
    /// The link from the senders, and the link towards them.
    links: [Link; 2],
    queue: EventQueue<Event>,
    packets: u64,
    sent: u64,
    retransmissions: u64,
}

impl Dumbbell {
    fn new(flows: u32, seed: u64) -> Self {
        let config = Arc::new(TcpConfig {
            variant: Variant::NewReno,
            connection: TcpConnection::OneWay,
            segment_payload: Octets(PAYLOAD as u16),
            advertised_window: WindowSize::Segments(WINDOW),
            initial_window: WindowSize::Segments(2),
            initial_ssthresh: Some(WindowSize::Segments(WINDOW)),
            delayed_ack: false,
            rto_rule: RtoRule::Ns2,
            rto_granularity: Duration::from_millis(10),
            rto_initial: Duration::from_secs(3),
            rto_min: Duration::from_millis(200),
            ..TcpConfig::default()
        });
        let link = LinkConfig {
            rate: BitRate::from_bps(RATE_BPS),
            delay: DELAY,
            queue: Some(QUEUE),
            ..LinkConfig::default()
        };
        let streams = Streams::new(seed, 0);
        let named = [(Direction::Downlink, "down"), (Direction::Uplink, "up")];
        let links = named.map(|(direction, name)| Link::new(&link, direction, &streams, name));
        let mut queue = EventQueue::new();
        let flows = (0..flows)
            .map(|id| {
                let start = u64::from(id + 1) * (7_919 + seed) % SPREAD * 1_000_000_000 / SPREAD;
                queue.push(Time::from_nanos(start), Phase::Transmit, Event::Start(id));
                let end = |end| Connection::new(ConnectionId(id), FlowId(id), UeId(0), end, config.clone());
                Flow { ends: [end(End::Server), end(End::Ue)], wake: [Time::NEVER; 2], acknowledged: 0 }
            })
            .collect();
        Dumbbell { flows, links, queue, packets: 0, sent: 0, retransmissions: 0 }
    }

    /// Handles all events before `until`.
    fn run(&mut self, until: Time) {
        while let Some((now, event)) = self.queue.pop() {
            if now >= until {
                break;
            }
            let mut trace = NoTrace;
            let cx = &mut Context::new(now, &mut trace);
            match event {
                Event::Start(id) => {
                    let sender = &mut self.flows[id as usize].ends[0];
                    sender.handle_open(cx);
                    sender.handle_write(cx, u64::MAX);
                    self.send_pending(now, id, End::Server);
                }
                Event::Arrival(from) => {
                    let packet = self.links[from as usize].take_next();
                    let segment = packet.segment().expect("all flows use TCP");
                    let id = segment.connection.0;
                    let to = if from == End::Server { End::Ue } else { End::Server };
                    let flow = &mut self.flows[id as usize];
                    flow.ends[to as usize].handle_packet(cx, &packet);
                    if to == End::Server {
                        flow.acknowledged = flow.acknowledged.max(segment.ack);
                    }
                    self.send_pending(now, id, to);
                }
                Event::Timeout(id, end) => {
                    let flow = &mut self.flows[id as usize];
                    flow.wake[end as usize] = Time::NEVER;
                    if flow.ends[end as usize].poll_timeout().is_some_and(|at| at <= now) {
                        flow.ends[end as usize].handle_timeout(cx);
                    }
                    self.send_pending(now, id, end);
                }
            }
        }
    }

    /// Sends the pending segments of an end, and schedules its timer.
    fn send_pending(&mut self, now: Time, id: u32, end: End) {
        let mut trace = NoTrace;
        let cx = &mut Context::new(now, &mut trace);
        let flow = &mut self.flows[id as usize];
        let mut segment = Segment::new(ConnectionId(id), end.sends());
        while flow.ends[end as usize].poll_transmit(cx, &mut segment).is_some() {
            if end == End::Server {
                self.sent += 1;
                self.retransmissions += u64::from(segment.transmission > 0);
            }
            let mut packet = flow.ends[end as usize].packet(PacketId(self.packets), segment);
            self.packets += 1;
            let link = &mut self.links[end as usize];
            if let Verdict::Arrives(at) = link.send(now, packet.size(), &mut packet) {
                link.store(&packet);
                self.queue.push(at, Phase::Receive, Event::Arrival(end));
            }
        }
        if let Some(at) = flow.ends[end as usize].poll_timeout()
            && at < flow.wake[end as usize]
        {
            flow.wake[end as usize] = at;
            self.queue.push(at, Phase::Timers, Event::Timeout(id, end));
        }
    }
}

fn main() {
    let numbers: Option<Vec<u64>> = std::env::args().skip(1).map(|word| word.parse().ok()).collect();
    let Some(&[flows, seconds, seed]) = numbers.as_deref() else {
        eprintln!("usage: wired_flows FLOWS SECONDS SEED");
        std::process::exit(2);
    };
    let mut network = Dumbbell::new(flows as u32, seed);
    network.run(Time::ZERO + Duration::from_secs(seconds));
    // Whole packets: the division discards the octet of the SYN.
    let acknowledged: u64 = network.flows.iter().map(|flow| flow.acknowledged / u64::from(PAYLOAD)).sum();
    println!("{acknowledged} {} {}", network.sent, network.retransmissions);
}
