//! A flow: its traffic model, and the connections that the model has opened.

use umts_kernel::random::Streams;
use umts_units::{Duration, Time};

use crate::ids::{ConnectionId, Direction, End, FlowId, UeId};
use crate::step::Wakeup;
use crate::tcp::{Connection, TcpConfig, TcpEvent};
use crate::traffic::{Nth, Traffic, TrafficConfig};

/// How long a closed connection still answers what comes late: TIME-WAIT (RFC 9293 §3.4.2) of two segment lifetimes of
/// 30 s, as common implementations have it.
const TIME_WAIT: Duration = Duration::from_secs(60);

/// One flow of one UE.
#[derive(Debug, Clone)]
pub struct FlowConfig {
    /// Whose it is.
    pub ue: UeId,
    /// The way its data goes.
    pub direction: Direction,
    /// What is asked for.
    pub traffic: TrafficConfig,
    /// When it begins.
    pub start: Time,
    /// Both ends' TCP.
    pub tcp: TcpConfig,
    /// The advertised window is so many segments, whatever segment size a connection has.
    pub window_in_segments: bool,
}

/// One flow.
#[derive(Debug)]
pub(super) struct Flow {
    pub id: FlowId,
    pub start: Time,
    pub ue: UeId,
    /// The end whose data the flow is about.
    pub sender: End,
    pub tcp: TcpConfig,
    window_in_segments: bool,
    pub traffic: Traffic,
    /// When the traffic model is next woken.
    pub traffic_wake: Wakeup,
    /// When the connections of each end are next woken; one wake-up at a time is outstanding.
    pub tcp_wake: [Wakeup; 2],
    /// Datagrams sent so far, by direction.
    pub datagrams: [u64; 2],
    /// Connections that are open or in TIME-WAIT, in the order of their numbers.
    connections: Vec<FlowConnection>,
}

/// One connection of a flow, both ends of it.
#[derive(Debug)]
pub(super) struct FlowConnection {
    pub id: ConnectionId,
    pub nth: Nth,
    /// The server's end and the UE's.
    ends: [Connection; 2],
    /// Which ends are closed; a one-way connection is over with its sender.
    closed: [bool; 2],
    one_way: bool,
    /// When it may be forgotten.
    expires: Time,
}

impl Flow {
    pub fn new(id: FlowId, config: &FlowConfig, streams: &Streams) -> Self {
        let sender = End::sending(config.direction);
        Flow {
            id,
            start: config.start,
            ue: config.ue,
            sender,
            tcp: config.tcp,
            window_in_segments: config.window_in_segments,
            traffic: Traffic::new(&config.traffic, sender, id, streams),
            traffic_wake: Wakeup::NONE,
            tcp_wake: [Wakeup::NONE; 2],
            datagrams: [0; 2],
            connections: Vec::new(),
        }
    }

    /// The TCP of a connection whose full segments carry `segment_payload`.
    pub fn tcp_with(&self, segment_payload: Option<u32>) -> TcpConfig {
        let Some(segment_payload) = segment_payload else { return self.tcp };
        let advertised_window = match self.window_in_segments {
            true => self.tcp.advertised_window / self.tcp.segment_payload * segment_payload,
            false => self.tcp.advertised_window,
        };
        TcpConfig { segment_payload, advertised_window, ..self.tcp }
    }

    /// A new connection takes the place of those that are long over.
    pub fn open(&mut self, now: Time, id: ConnectionId, nth: Nth, tcp: &TcpConfig) -> &mut FlowConnection {
        self.connections.retain(|connection| connection.expires > now || connection.is_half_open());
        let end = |end| Connection::new(id, self.id, self.ue, end, tcp);
        let ends = [end(End::Server), end(End::Ue)];
        let connection =
            FlowConnection { id, nth, ends, closed: [false; 2], one_way: tcp.one_way, expires: Time::NEVER };
        self.connections.push(connection);
        self.connections.last_mut().expect("it was just put there")
    }

    /// A connection by its number in the run, unless it is over and forgotten.
    #[inline]
    pub fn connection(&mut self, id: ConnectionId) -> Option<&mut FlowConnection> {
        let at = match self.connections.last() {
            // Mostly it is the newest, and the only one.
            Some(last) if last.id == id => self.connections.len() - 1,
            _ => self.connections.partition_point(|connection| connection.id < id),
        };
        self.connections.get_mut(at).filter(|connection| connection.id == id)
    }

    /// A connection by its number in the flow.
    pub fn nth(&mut self, nth: Nth) -> Option<&mut FlowConnection> {
        let at = self.connections.partition_point(|connection| connection.nth < nth);
        self.connections.get_mut(at).filter(|connection| connection.nth == nth)
    }

    /// The first connection whose number is not below `id`.
    pub fn connection_from(&self, id: ConnectionId) -> Option<ConnectionId> {
        let at = self.connections.partition_point(|connection| connection.id < id);
        self.connections.get(at).map(|connection| connection.id)
    }

    /// The next thing that the application at `end` of a connection hears.
    pub fn poll_event(&mut self, now: Time, id: ConnectionId, end: End) -> Option<(Nth, TcpEvent)> {
        let connection = self.connection(id)?;
        let event = connection.end(end).poll_event()?;
        if matches!(event, TcpEvent::Failed(_)) {
            // The other end may never hear of it, unless it sends something.
            connection.expires = now + TIME_WAIT;
        }
        if event == TcpEvent::Closed {
            connection.closed[end as usize] = true;
            if connection.closed == [true; 2] || connection.one_way {
                connection.expires = now + TIME_WAIT;
            }
        }
        Some((connection.nth, event))
    }
}

impl FlowConnection {
    /// One end is closed, the other waits for something: it will hear of it by a RST, or give up.
    fn is_half_open(&self) -> bool {
        let waits = |end: usize| !self.closed[end] && self.ends[end].poll_timeout().is_some();
        !self.one_way && (waits(0) || waits(1))
    }

    #[inline]
    pub fn end(&mut self, end: End) -> &mut Connection {
        &mut self.ends[end as usize]
    }
}

#[cfg(test)]
mod tests {
    use umts_kernel::NoTrace;

    use super::*;
    use crate::cx::Cx;
    use crate::ids::Direction;
    use crate::traffic::TrafficConfig;

    fn flow() -> Flow {
        let config = FlowConfig {
            ue: UeId(0),
            direction: Direction::Downlink,
            traffic: TrafficConfig::Ftp { bytes: 1 },
            start: Time::ZERO,
            tcp: TcpConfig::default(),
            window_in_segments: false,
        };
        Flow::new(FlowId(0), &config, &Streams::new(1, 0))
    }

    #[test]
    fn a_closed_connection_answers_for_a_while_and_is_then_forgotten() {
        let mut flow = flow();
        let at = |s| Time::ZERO + Duration::from_secs(s);
        for number in 0..3 {
            flow.open(at(0), ConnectionId(10 * number), Nth(number), &TcpConfig::default());
        }
        flow.nth(Nth(1)).unwrap().expires = at(70);
        flow.open(at(69), ConnectionId(40), Nth(3), &TcpConfig::default());
        assert_eq!(flow.connection(ConnectionId(10)).map(|found| found.nth), Some(Nth(1)));
        flow.open(at(70), ConnectionId(50), Nth(4), &TcpConfig::default());
        assert!(flow.connection(ConnectionId(10)).is_none() && flow.nth(Nth(1)).is_none());
        assert_eq!(flow.connection_from(ConnectionId(1)), Some(ConnectionId(20)));
        assert_eq!(flow.connection(ConnectionId(20)).map(|found| found.nth), Some(Nth(2)));
        assert_eq!(flow.nth(Nth(4)).map(|found| found.id), Some(ConnectionId(50)));
    }

    #[test]
    fn a_half_open_connection_is_kept_while_its_live_end_waits_for_something() {
        let mut flow = flow();
        let connection = flow.open(Time::ZERO, ConnectionId(0), Nth(0), &TcpConfig::default());
        let mut sink = NoTrace;
        let cx = &mut Cx::new(Time::ZERO, &mut sink);
        connection.end(End::Server).handle_open(cx);
        connection.end(End::Server).poll_transmit(cx).expect("the SYN, which is timed");
        connection.closed[End::Ue as usize] = true;
        connection.expires = Time::ZERO;
        let later = Time::ZERO + Duration::from_secs(1);
        flow.open(later, ConnectionId(1), Nth(1), &TcpConfig::default());
        assert!(flow.connection(ConnectionId(0)).is_some());
        flow.connection(ConnectionId(0)).expect("it is there").closed[End::Server as usize] = true;
        flow.open(later, ConnectionId(2), Nth(2), &TcpConfig::default());
        assert!(flow.connection(ConnectionId(0)).is_none());
    }
}
