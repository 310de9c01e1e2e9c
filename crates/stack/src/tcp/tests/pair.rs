//! The test bench of TCP: the two ends of a connection, `server` and `ue`, connected by a pipe with
//! a one-way delay of 50 ms and unlimited rate. A script selects the fate of each packet:
//! delivered, lost, duplicated or delayed. `Pair` records all trace events, from which tests read
//! the segments that were sent. Times in tests are in ms from the start, when the server sends its
//! SYN.

use umts_kernel::{EventQueue, Phase};
use umts_units::{Bytes, Duration, Octets, Time};

use crate::context::Context;
use crate::ids::{ConnectionId, Direction, End, FlowId, PacketId, UeId};
use crate::packet::{Content, Packet, Segment};
use crate::tcp::{Connection, State, TcpConfig, TcpEvent, Variant, WindowSize};
use crate::trace::{SendCause, TraceEvent};

/// One-way delay of the pipe.
pub const DELAY: Duration = Duration::from_millis(50);
/// Payload of a full segment.
pub const MSS: u32 = 1000;
/// A limit above the number of events of any exchange here.
const MAX_EVENTS: usize = 100_000;

/// The treatment of a packet by the pipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    Deliver,
    Drop,
    Duplicate,
    /// The packet is delivered late, by this time in addition to the delay of the pipe.
    Delay(Duration),
    /// The packet passes a link that transmits one packet after another. The time is the packet's
    /// transmission time.
    Link(Duration),
}

/// Selects the fate of a segment that is sent at this time.
type Script = dyn FnMut(Time, &Segment) -> Fate;

#[derive(Debug)]
enum Event {
    Arrive(End, Packet),
    Wake(End),
}

/// A segment that an end has sent.
#[derive(Debug, Clone, Copy)]
pub struct SentSegment {
    pub at: Time,
    pub segment: Segment,
    pub cause: SendCause,
}

/// A retransmission of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retransmission {
    pub at_ms: u64,
    pub seq: u64,
    pub cause: SendCause,
}

impl SentSegment {
    pub fn at_ms(&self) -> u64 {
        self.at.as_nanos() / 1_000_000
    }
}

/// Two ends of a connection, the pipe between them, and the trace and events so far.
pub struct Pair {
    pub server: Connection,
    pub ue: Connection,
    pub now: Time,
    pub trace: Vec<(Time, TraceEvent)>,
    pub events: Vec<(End, TcpEvent)>,
    script: Box<Script>,
    /// Selects the segments to which a router applies an ECN mark, if they are ECN-capable.
    pub mark: Box<dyn FnMut(&Segment) -> bool>,
    queue: EventQueue<Event>,
    packets: u64,
    /// The longest time from a call of an end to its next timeout.
    pub longest_wait: Duration,
    /// The time at which the link has sent all its packets.
    link_free: Time,
}

pub fn ms(ms: u64) -> Time {
    Time::ZERO + Duration::from_millis(ms)
}

/// Full duplex, one ACK per segment, no limited transmit, initial window 2, minimum RTO 1 s, clock
/// ticks of 10 ms.
pub fn config(variant: Variant) -> TcpConfig {
    TcpConfig {
        rto_granularity: Duration::from_millis(10),
        variant,
        segment_payload: Octets(MSS as u16),
        initial_window: WindowSize::Segments(2),
        advertised_window: WindowSize::Bytes(Bytes(u64::from(64 * MSS))),
        delayed_ack: false,
        limited_transmit: false,
        ..TcpConfig::default()
    }
}

/// As `config`; connections never give up.
pub fn unlimited_retries(variant: Variant) -> TcpConfig {
    TcpConfig { syn_retries: None, syn_ack_retries: None, data_retries: None, ..config(variant) }
}

/// Sequence number of the full data segment with this index, counted from 0. The SYN has sequence
/// number 0, so data begin at 1.
pub const fn seq_of(index: u64) -> u64 {
    1 + index * MSS as u64
}

/// One of the transmissions of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transmission {
    pub seq: u64,
    /// 0 for the original, 1 for the first retransmission.
    pub number: u16,
}

/// The first transmission of the SYN or SYN+ACK.
pub const FIRST_SYN: Transmission = Transmission { seq: 0, number: 0 };

/// The first transmission of the full data segment with this index.
pub const fn original(index: u64) -> Transmission {
    retransmission(index, 0)
}

/// The retransmission with this number, counted from 1, of the full data segment with this index.
pub const fn retransmission(index: u64, number: u16) -> Transmission {
    Transmission { seq: seq_of(index), number }
}

/// A script that loses the listed transmissions of the server's segments.
pub fn lose(list: &[Transmission]) -> impl FnMut(&Segment) -> Fate + use<> {
    lose_from(End::Server, list)
}

/// Like `lose`, for the segments that `end` sends.
pub fn lose_from(end: End, list: &[Transmission]) -> impl FnMut(&Segment) -> Fate + use<> {
    let list = list.to_vec();
    move |segment| {
        let transmission = Transmission { seq: segment.seq, number: segment.transmission };
        let is_listed =
            segment.direction == end.sends() && segment.sequence_length() > 0 && list.contains(&transmission);
        if is_listed { Fate::Drop } else { Fate::Deliver }
    }
}

impl Pair {
    pub fn new(config: &TcpConfig) -> Self {
        Self::with_script(config, |_| Fate::Deliver)
    }

    pub fn with_script(config: &TcpConfig, mut script: impl FnMut(&Segment) -> Fate + 'static) -> Self {
        Self::with_timed_script(config, move |_, segment| script(segment))
    }

    /// Like `with_script`. The script also gets the time at which a segment is sent.
    pub fn with_timed_script(
        config: &TcpConfig,
        script: impl FnMut(Time, &Segment) -> Fate + 'static,
    ) -> Self {
        let end = |end| Connection::new(ConnectionId(7), FlowId(0), UeId(0), end, config.clone());
        Pair {
            server: end(End::Server),
            ue: end(End::Ue),
            now: Time::ZERO,
            trace: Vec::new(),
            events: Vec::new(),
            script: Box::new(script),
            mark: Box::new(|_| false),
            queue: EventQueue::new(),
            packets: 0,
            longest_wait: Duration::ZERO,
            link_free: Time::ZERO,
        }
    }

    /// A pair whose server opens the connection at time 0 and has `bytes` to send. The handshake is
    /// complete at 100 ms.
    pub fn sending(
        config: &TcpConfig,
        bytes: u64,
        mut script: impl FnMut(&Segment) -> Fate + 'static,
    ) -> Self {
        Self::sending_timed(config, bytes, move |_, segment| script(segment))
    }

    /// Like `sending`. The script also gets the time at which a segment is sent.
    pub fn sending_timed(
        config: &TcpConfig,
        bytes: u64,
        script: impl FnMut(Time, &Segment) -> Fate + 'static,
    ) -> Self {
        let mut pair = Self::with_timed_script(config, script);
        pair.open(End::Server);
        pair.write(End::Server, bytes);
        pair
    }

    pub fn open(&mut self, end: End) {
        self.call(end, |connection, cx| connection.handle_open(cx));
    }

    pub fn write(&mut self, end: End, bytes: u64) {
        self.call(end, |connection, cx| connection.handle_write(cx, bytes));
    }

    pub fn close(&mut self, end: End) {
        self.call(end, |connection, cx| connection.handle_close(cx));
    }

    /// A segment that did not pass the pipe arrives at `end` now.
    pub fn arrive(&mut self, end: End, segment: Segment) {
        let packet = Packet {
            id: PacketId(u64::MAX),
            flow: FlowId(0),
            ue: UeId(0),
            content: Content::Segment(segment),
        };
        self.call(end, |connection, cx| connection.handle_packet(cx, &packet));
    }

    /// Handles all events up to and including the time `until`.
    pub fn run_until(&mut self, until: Time) {
        for _ in 0..MAX_EVENTS {
            if self.queue.next_time().is_none_or(|at| at > until) {
                self.now = until;
                return;
            }
            self.handle_next_event();
        }
        panic!("the exchange does not end");
    }

    /// Handles all events until none is left.
    pub fn run(&mut self) {
        for _ in 0..MAX_EVENTS {
            if self.queue.next_time().is_none() {
                return;
            }
            self.handle_next_event();
        }
        panic!("the exchange does not end");
    }

    fn handle_next_event(&mut self) {
        let (now, event) = self.queue.pop().expect("the caller checked that an event is queued");
        self.now = now;
        match event {
            Event::Arrive(end, packet) => {
                self.call(end, |connection, cx| connection.handle_packet(cx, &packet))
            }
            Event::Wake(end) if self.end(end).poll_timeout().is_some_and(|at| at <= now) => {
                self.call(end, |connection, cx| connection.handle_timeout(cx));
                assert!(
                    self.end(end).poll_timeout().is_none_or(|at| at > now),
                    "all due events were handled: the next timeout lies in the future"
                );
            }
            Event::Wake(_) => {}
        }
    }

    fn end(&mut self, end: End) -> &mut Connection {
        match end {
            End::Server => &mut self.server,
            End::Ue => &mut self.ue,
        }
    }

    /// Calls an end. Then sends its segments, collects its events and schedules its next timeout.
    fn call(
        &mut self,
        end: End,
        call: impl FnOnce(&mut Connection, &mut Context<'_, Vec<(Time, TraceEvent)>>),
    ) {
        let mut trace = std::mem::take(&mut self.trace);
        let cx = &mut Context::new(self.now, &mut trace);
        call(self.end(end), cx);
        let mut segment = Segment::new(ConnectionId(0), Direction::Downlink);
        while let Some(cause) = self.end(end).poll_transmit(cx, &mut segment) {
            self.packets += 1;
            let id = PacketId(self.packets);
            let packet = self.end(end).packet(id, segment);
            cx.record(|| TraceEvent::SegmentSent { packet: packet.id, segment, cause });
            self.send_through_pipe(end, packet);
        }
        self.trace = trace;
        while let Some(event) = self.end(end).poll_event() {
            self.events.push((end, event));
        }
        if let Some(at) = self.end(end).poll_timeout() {
            assert!(at >= self.now, "a timeout lies in the past");
            self.longest_wait = self.longest_wait.max(at - self.now);
            self.queue.push(at, Phase::Timers, Event::Wake(end));
        }
    }

    /// Applies the script's fate and the router's mark to a packet, and schedules its arrival.
    fn send_through_pipe(&mut self, from: End, mut packet: Packet) {
        let to = End::sending(from.sends().reversed());
        let fate = (self.script)(self.now, packet.segment().expect("TCP sends segments"));
        let (copies, extra_delay) = match fate {
            Fate::Drop => (0, Duration::ZERO),
            Fate::Deliver => (1, Duration::ZERO),
            Fate::Duplicate => (2, Duration::ZERO),
            Fate::Delay(extra) => (1, extra),
            Fate::Link(transmission_time) => {
                self.link_free = self.link_free.max(self.now) + transmission_time;
                (1, self.link_free - self.now)
            }
        };
        if packet.segment().is_some_and(|segment| (self.mark)(segment)) {
            packet.mark();
        }
        for _ in 0..copies {
            self.queue.push(self.now + DELAY + extra_delay, Phase::Receive, Event::Arrive(to, packet));
        }
    }

    /// The segments that `end` sent.
    pub fn sent(&self, end: End) -> Vec<SentSegment> {
        let sent = self.trace.iter().filter_map(|(at, event)| match event {
            TraceEvent::SegmentSent { segment, cause, .. } => {
                Some(SentSegment { at: *at, segment: *segment, cause: *cause })
            }
            _ => None,
        });
        sent.filter(|sent| sent.segment.direction == end.sends()).collect()
    }

    /// The segments that `end` sent for this reason.
    pub fn sent_because(&self, end: End, cause: SendCause) -> Vec<SentSegment> {
        self.sent(end).into_iter().filter(|sent| sent.cause == cause).collect()
    }

    /// The server's retransmissions, in the order in which they were sent.
    pub fn retransmissions(&self) -> Vec<Retransmission> {
        let sent = self.sent(End::Server).into_iter();
        sent.filter(|sent| sent.segment.transmission > 0)
            .map(|sent| Retransmission { at_ms: sent.at_ms(), seq: sent.segment.seq, cause: sent.cause })
            .collect()
    }

    /// Number of data segments that the server sent for the first time from `from_ms` to before
    /// `to_ms`.
    pub fn new_segments_between(&self, from_ms: u64, to_ms: u64) -> usize {
        let sent = self.sent(End::Server).into_iter();
        sent.filter(|sent| {
            (ms(from_ms)..ms(to_ms)).contains(&sent.at)
                && sent.segment.payload > 0
                && sent.segment.transmission == 0
        })
        .count()
    }

    /// Number of data segments that the server sent for the first time in the millisecond `at_ms`.
    pub fn new_segments_at(&self, at_ms: u64) -> usize {
        self.new_segments_between(at_ms, at_ms + 1)
    }

    /// Number of data segments that the server sent for the first time in each of the first `count`
    /// round trips. A round trip takes 100 ms, and the first one starts at 100 ms, at the end of
    /// the handshake.
    pub fn new_segments_per_round_trip(&self, count: u64) -> Vec<usize> {
        (1..=count).map(|round| self.new_segments_between(100 * round, 100 * round + 100)).collect()
    }

    /// Number of trace events for which `is_counted` returns true.
    pub fn count(&self, is_counted: impl Fn(&TraceEvent) -> bool) -> usize {
        self.trace.iter().filter(|(_, event)| is_counted(event)).count()
    }

    /// Number of expiries of the retransmission timers of both ends.
    pub fn timeouts(&self) -> usize {
        self.count(|event| matches!(event, TraceEvent::RtoExpired { .. }))
    }

    /// Bytes delivered to the application at `end`.
    pub fn delivered(&self, end: End) -> u64 {
        let of_end = self.events.iter().filter(|(at, _)| *at == end);
        of_end.map(|(_, event)| if let TcpEvent::Delivered(bytes) = event { *bytes } else { 0 }).sum()
    }

    pub fn event_count(&self, end: End, event: TcpEvent) -> usize {
        self.events.iter().filter(|recorded| **recorded == (end, event)).count()
    }

    /// The states of the server and of the UE.
    pub fn states(&self) -> (State, State) {
        (self.server.state(), self.ue.state())
    }
}
