//! Measures round-trip times of the programs from their packets.
//!
//! A TCP sample starts when the network receives a segment with new sequence numbers from its host.
//! It ends when the network delivers the first acknowledgment of the whole segment to that host.
//! Only one segment of a connection is timed at a time, and no retransmitted one (Karn's algorithm,
//! RFC 6298 §3), so there is about one sample per round trip. An ICMP sample is the time from an
//! echo request to its reply. Either end may be the sender.

use std::collections::BTreeMap;
use std::net::IpAddr;

use umts_kernel::TraceSink;
use umts_record::series::{Column, Table, Values};
use umts_stack::ids::End;
use umts_stack::trace::{CapturePoint, TraceEvent};
use umts_units::{Duration, Time};

use crate::packets::packet_store::PacketStore;
use crate::packets::transport::{Message, Transport, point_of, read};

/// Maximum number of connections and echo sequences. Beyond it, the first in the order of the keys
/// is removed.
const MAX_FLOWS: usize = 4096;

/// Both ends, sender first: address, and port or identifier of the echo.
type Ends = [(IpAddr, u16); 2];

/// A connection or the echoes of a program, in one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct FlowKey {
    /// The host that sends: `server`, `proxy` or `ue`.
    host: &'static str,
    is_tcp: bool,
    ends: Ends,
}

/// The packet of a flow that is being timed.
#[derive(Debug, Clone, Copy)]
struct Probe {
    /// The acknowledgment that ends the sample.
    end: u32,
    sent: Time,
}

/// A connection, or the echoes of one program.
#[derive(Debug, Clone, Copy)]
struct TimedFlow {
    /// Sequence number of the next new segment, or number after the last echo.
    highest: u32,
    probe: Option<Probe>,
}

/// A round trip that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Sample {
    is_tcp: bool,
    rtt: Duration,
}

/// Sum and number of samples.
#[derive(Debug, Clone, Copy, Default)]
struct SampleSum {
    rtt: Duration,
    count: u64,
}

/// One round trip.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoundTrip {
    /// Time at which it ended.
    pub at: Time,
    /// The UE at one end.
    pub ue: u16,
    /// Host at which it began: `server`, `proxy` or `ue`.
    pub from: &'static str,
    /// Whether it is a TCP sample. Otherwise it is an ICMP echo.
    pub is_tcp: bool,
    /// Round-trip time.
    pub rtt: Duration,
}

/// Measures round-trip times where packets enter and leave the network.
#[derive(Debug)]
pub struct RoundTrips {
    packet_store: PacketStore,
    flows: BTreeMap<FlowKey, TimedFlow>,
    /// The samples since the last [`RoundTrips::take_mean`].
    recent: SampleSum,
    samples: Option<Vec<RoundTrip>>,
}

impl RoundTrips {
    /// Creates a recorder for the packets in `packet_store`. `keep` selects whether all samples are
    /// kept as a series.
    pub fn new(packet_store: PacketStore, keep: bool) -> Self {
        RoundTrips {
            packet_store,
            flows: BTreeMap::new(),
            recent: SampleSum::default(),
            samples: keep.then(Vec::new),
        }
    }

    /// Mean of the samples since the last call. `None` if there was none.
    pub fn take_mean(&mut self) -> Option<Duration> {
        let SampleSum { rtt, count } = std::mem::take(&mut self.recent);
        rtt.as_nanos().checked_div(count).map(Duration::from_nanos)
    }

    /// The series `program_rtt`, if it was kept.
    pub fn into_table(self) -> Option<Table> {
        let samples = self.samples?;
        let word =
            |choose: fn(&RoundTrip) -> &'static str| Values::Word(samples.iter().map(choose).collect());
        let columns = vec![
            Column {
                name: "time_s",
                unit: "s",
                values: Values::Float(samples.iter().map(|trip| trip.at.as_secs()).collect()),
            },
            Column {
                name: "ue",
                unit: "",
                values: Values::Id(samples.iter().map(|trip| u32::from(trip.ue)).collect()),
            },
            Column { name: "from", unit: "", values: word(|trip| trip.from) },
            Column { name: "kind", unit: "", values: word(|trip| if trip.is_tcp { "tcp" } else { "icmp" }) },
            Column {
                name: "rtt_s",
                unit: "s",
                values: Values::Float(samples.iter().map(|trip| trip.rtt.as_secs()).collect()),
            },
        ];
        Some(Table { name: "program_rtt", columns })
    }

    /// A packet enters the network at host `host`: starts or cancels a sample.
    fn sent(&mut self, now: Time, host: &'static str, transport: &Transport) {
        let Transport { from, to, message } = *transport;
        let (is_tcp, first, end) = match message {
            Message::Segment { seq, length, .. } if length > 0 => (true, seq, seq.wrapping_add(length)),
            Message::EchoRequest { number } => (false, number, number.wrapping_add(1)),
            Message::Segment { .. } | Message::EchoReply { .. } => return,
        };
        let key = FlowKey { host, is_tcp, ends: [from, to] };
        if self.flows.len() >= MAX_FLOWS && !self.flows.contains_key(&key) {
            self.flows.pop_first();
        }
        let flow = self.flows.entry(key).or_insert(TimedFlow { highest: first, probe: None });
        if is_before(first, flow.highest) {
            // A retransmission: the acknowledgment may belong to either transmission.
            flow.probe = None;
        } else if flow.probe.is_none() || !is_tcp {
            flow.probe = Some(Probe { end, sent: now });
        }
        if is_before(flow.highest, end) {
            flow.highest = end;
        }
    }

    /// A packet leaves the network at host `host`. Returns the sample that it ends, if it ends one.
    fn received(&mut self, now: Time, host: &'static str, transport: &Transport) -> Option<Sample> {
        let Transport { from, to, message } = *transport;
        let (is_tcp, answered) = match message {
            Message::Segment { ack: Some(ack), .. } => (true, ack),
            Message::EchoReply { number } => (false, number.wrapping_add(1)),
            Message::Segment { ack: None, .. } | Message::EchoRequest { .. } => return None,
        };
        let flow = self.flows.get_mut(&FlowKey { host, is_tcp, ends: [to, from] })?;
        let probe = flow.probe?;
        if is_before(answered, probe.end) {
            return None;
        }
        flow.probe = None;
        Some(Sample { is_tcp, rtt: now - probe.sent })
    }
}

/// Whether `a` precedes `b` in the arithmetic of sequence numbers (RFC 9293 §3.4).
fn is_before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

impl TraceSink<TraceEvent> for RoundTrips {
    fn record(&mut self, at: Time, event: &TraceEvent) {
        let TraceEvent::PacketCaptured { at: point, packet } = event else { return };
        let host = match point {
            CapturePoint::Server => "server",
            CapturePoint::ProxyServer | CapturePoint::ProxyRadio => "proxy",
            CapturePoint::Ue => "ue",
            CapturePoint::Rnc => return,
        };
        let Some(Some(transport)) = self.packet_store.with(packet.id, read) else { return };
        if *point == point_of(packet.leg(), End::sending(packet.direction())) {
            return self.sent(at, host, &transport);
        }
        let Some(Sample { is_tcp, rtt }) = self.received(at, host, &transport) else { return };
        self.recent.rtt += rtt;
        self.recent.count += 1;
        if let Some(samples) = &mut self.samples {
            samples.push(RoundTrip { at, ue: packet.ue.0, from: host, is_tcp, rtt });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trips() -> RoundTrips {
        RoundTrips::new(PacketStore::default(), false)
    }

    fn ms(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    /// A sample of a TCP segment.
    fn tcp(rtt_ms: u64) -> Option<Sample> {
        Some(Sample { is_tcp: true, rtt: Duration::from_millis(rtt_ms) })
    }

    fn packet(from_server: bool, message: Message) -> Transport {
        let ends = [(IpAddr::from([9, 9, 9, 9]), 80), (IpAddr::from([10, 45, 0, 2]), 5000)];
        let [from, to] = if from_server { ends } else { [ends[1], ends[0]] };
        Transport { from, to, message }
    }

    fn data(seq: u32, length: u32) -> Message {
        Message::Segment { seq, length, ack: Some(1), flags: 0x10 }
    }

    fn ack(ack: u32) -> Message {
        Message::Segment { seq: 1, length: 0, ack: Some(ack), flags: 0x10 }
    }

    #[test]
    fn one_segment_is_timed_until_its_acknowledgment() {
        // The sequence numbers of the first segment wrap: it ends at 90, the second at 190.
        let mut trips = trips();
        trips.sent(ms(0), "server", &packet(true, data(u32::MAX - 9, 100)));
        trips.sent(ms(5), "server", &packet(true, data(90, 100)));
        assert_eq!(trips.received(ms(50), "server", &packet(false, ack(u32::MAX))), None);
        let sample = trips.received(ms(70), "server", &packet(false, ack(190)));
        assert_eq!(sample, tcp(70));
        assert_eq!(trips.received(ms(80), "server", &packet(false, ack(190))), None);
    }

    #[test]
    fn retransmitted_segment_is_not_timed() {
        let mut trips = trips();
        trips.sent(ms(0), "server", &packet(true, data(1, 100)));
        trips.sent(ms(500), "server", &packet(true, data(1, 100)));
        assert_eq!(trips.received(ms(600), "server", &packet(false, ack(101))), None);
        trips.sent(ms(700), "server", &packet(true, data(101, 1)));
        let sample = trips.received(ms(800), "server", &packet(false, ack(102)));
        assert_eq!(sample, tcp(800 - 700));
    }

    #[test]
    fn echo_is_matched_by_its_number() {
        let mut trips = trips();
        trips.sent(ms(0), "ue", &packet(false, Message::EchoRequest { number: 7 }));
        let wrong = Message::EchoReply { number: 6 };
        assert_eq!(trips.received(ms(60), "ue", &packet(true, wrong)), None);
        let right = Message::EchoReply { number: 7 };
        let sample = trips.received(ms(90), "ue", &packet(true, right));
        assert_eq!(sample, Some(Sample { is_tcp: false, rtt: Duration::from_millis(90) }));
    }

    #[test]
    fn memory_is_bounded() {
        let mut trips = trips();
        for port in 0..10_000 {
            let mut packet = packet(false, data(1, 1));
            packet.from.1 = port;
            trips.sent(ms(0), "ue", &packet);
        }
        assert_eq!(trips.flows.len(), MAX_FLOWS);
    }
}
