//! A flow: the traffic model (the application) of one UE, and both ends of each TCP connection that
//! the model has opened. If a proxy splits the flow, each transfer has two connections: one between
//! server and proxy, and one between proxy and UE.

use std::sync::Arc;

use umts_kernel::random::Streams;
use umts_kernel::{Phase, TraceSink};
use umts_units::{Duration, Octets, Time};

use crate::EventContext;
use crate::event::Event;
use crate::event_context::Wakeup;
use crate::ids::{ConnectionId, Direction, End, FlowId, ProxyLeg, Site, UeId};
use crate::proxy::TransferId;
use crate::tcp::congestion::UserLaws;
use crate::tcp::{Connection, TcpConfig, TcpEvent, Variant};
use crate::trace::TraceEvent;
use crate::traffic::{ConnectionIndex, Traffic, TrafficConfig};

/// Time for which a closed connection still answers late segments: TIME-WAIT (RFC 9293 §3.4.2) of
/// two segment lifetimes of 30 s, as in common implementations.
const TIME_WAIT: Duration = Duration::from_secs(60);

/// Configuration of a flow: its data, its start, and the TCP of both ends.
#[derive(Debug, Clone)]
pub struct FlowConfig {
    pub ue: UeId,
    /// Direction of the flow's data.
    pub direction: Direction,
    pub traffic: TrafficConfig,
    pub start: Time,
    /// TCP of both ends.
    pub tcp: Arc<TcpConfig>,
    /// TCP of the proxy towards the server and towards the UE. `None`: the proxy does not split
    /// this flow.
    pub split: Option<[Arc<TcpConfig>; 2]>,
    /// A proxy that does not split (snoop, ACK regulation, window clamp) acts on this flow.
    pub helped: bool,
}

/// A flow, and its connections in progress.
#[derive(Debug)]
pub(super) struct Flow {
    pub id: FlowId,
    pub start: Time,
    pub ue: UeId,
    /// The end that sends the flow's data.
    pub sender: End,
    pub tcp: Arc<TcpConfig>,
    split: Option<[Arc<TcpConfig>; 2]>,
    pub traffic: Traffic,
    /// Next wake-up of the traffic model.
    pub traffic_wake: Wakeup,
    /// Next wake-up of each end. At most one per end is pending for all connections.
    pub tcp_wake: [Wakeup; 2],
    /// Number of sent datagrams, by direction.
    pub datagrams: [u64; 2],
    /// Connections that are open or in TIME-WAIT, sorted by number.
    connections: Vec<FlowConnection>,
}

/// Both ends of a connection.
#[derive(Debug)]
pub(super) struct FlowConnection {
    pub id: ConnectionId,
    /// Number within the flow. The two connections of a split transfer have the same number.
    pub nth: ConnectionIndex,
    pub leg: ProxyLeg,
    /// The split transfer of this connection.
    transfer: Option<TransferId>,
    /// Ends at the server and at the UE. Boxed, because an end is large and connections move when
    /// others are removed.
    ends: [Box<Connection>; 2],
    /// Whether the end at the server and the end at the UE are closed. A one-way connection is
    /// closed when its sender is.
    closed: [bool; 2],
    one_way: bool,
    /// Time from which the connection may be removed.
    expires: Time,
}

/// A connection together with the parts of its flow that handle its events and timers.
pub(super) struct OpenConnection<'a> {
    pub flow: FlowId,
    pub ue: UeId,
    pub connection: &'a mut FlowConnection,
    pub traffic: &'a mut Traffic,
    pub traffic_wake: &'a mut Wakeup,
    pub tcp_wake: &'a mut [Wakeup; 2],
}

impl Flow {
    pub fn new(id: FlowId, config: &FlowConfig, streams: &Streams) -> Self {
        let sender = End::sending(config.direction);
        Flow {
            id,
            start: config.start,
            ue: config.ue,
            sender,
            tcp: Arc::clone(&config.tcp),
            split: config.split.clone(),
            traffic: Traffic::new(&config.traffic, sender, id, streams),
            traffic_wake: Wakeup::NONE,
            tcp_wake: [Wakeup::NONE; 2],
            datagrams: [0; 2],
            connections: Vec::new(),
        }
    }

    /// Schedules the next wake-up of the traffic model.
    pub fn schedule_traffic_wake<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>) {
        let deadline = self.traffic.poll_timeout();
        ctx.wake(&mut self.traffic_wake, deadline, Phase::Transmit, Event::TrafficWake(self.id));
    }

    /// Returns `tcp` with this payload of full segments, if one is given.
    fn tcp_with_payload(tcp: &Arc<TcpConfig>, segment_payload: Option<u32>) -> Arc<TcpConfig> {
        match segment_payload.map(u16::try_from) {
            Some(payload) => Arc::new(tcp.with_payload(Octets(payload.unwrap_or(u16::MAX)))),
            None => Arc::clone(tcp),
        }
    }

    pub fn is_split(&self) -> bool {
        self.split.is_some()
    }

    /// Opens an end-to-end connection, and removes expired ones. Returns the payload of its full
    /// segments.
    pub fn open(
        &mut self,
        now: Time,
        id: ConnectionId,
        nth: ConnectionIndex,
        segment_payload: Option<u32>,
    ) -> u32 {
        self.remove_expired(now);
        let tcp = Self::tcp_with_payload(&self.tcp, segment_payload);
        let tcp_at_ends = [&tcp, &tcp];
        self.connect(id, nth, ProxyLeg::Whole, None, tcp_at_ends);
        tcp.mss()
    }

    /// Opens the two connections of a split transfer, and removes expired ones. Returns the segment
    /// payload of the server, and of the proxy towards the UE.
    pub fn open_split(
        &mut self,
        now: Time,
        [server, radio]: [ConnectionId; 2],
        nth: ConnectionIndex,
        segment_payload: Option<u32>,
        transfer: TransferId,
    ) -> [u32; 2] {
        self.remove_expired(now);
        let [to_server, to_ue] = self.split.as_ref().expect("the proxy splits this flow");
        let [host, to_server, to_ue] =
            [&self.tcp, to_server, to_ue].map(|tcp| Self::tcp_with_payload(tcp, segment_payload));
        self.connect(server, nth, ProxyLeg::Server, Some(transfer), [&host, &to_server]);
        self.connect(radio, nth, ProxyLeg::Radio, Some(transfer), [&to_ue, &host]);
        [host, to_ue].map(|tcp| tcp.mss())
    }

    /// Adds a connection. `tcp`: the configuration of the end that acts as the server, and of the
    /// end that acts as the UE.
    fn connect(
        &mut self,
        id: ConnectionId,
        nth: ConnectionIndex,
        leg: ProxyLeg,
        transfer: Option<TransferId>,
        tcp: [&Arc<TcpConfig>; 2],
    ) {
        let ends =
            [End::Server, End::Ue].map(|end| self.new_end(id, leg, end, Arc::clone(tcp[end as usize])));
        let one_way = tcp[0].is_one_way();
        let connection = FlowConnection {
            id,
            nth,
            leg,
            transfer,
            ends,
            closed: [false; 2],
            one_way,
            expires: Time::NEVER,
        };
        self.connections.push(connection);
    }

    /// Creates one end of a connection. The proxy's ends read only as much as the relay can take.
    fn new_end(&self, id: ConnectionId, leg: ProxyLeg, end: End, tcp: Arc<TcpConfig>) -> Box<Connection> {
        let mut connection = Box::new(Connection::new(id, self.id, self.ue, end, tcp));
        connection.set_leg(leg);
        if leg.site(end) == Site::Proxy {
            connection.read_manually();
        }
        connection
    }

    /// Sets the congestion control of the ends of [`Variant::User`].
    pub fn set_laws(&mut self, id: ConnectionId, laws: &UserLaws) {
        let connection = self.connection(id).expect("it was opened");
        for end in [End::Server, End::Ue] {
            if let Variant::User(number) = connection.end(end).variant() {
                connection.end(end).set_law(laws.make(number, id, end));
            }
        }
    }

    /// The proxy's ends of a split transfer. `None` if the connections were removed.
    pub fn proxy_ends(&mut self, connections: [ConnectionId; 2]) -> Option<[&mut Connection; 2]> {
        let [server, radio] = connections.map(|id| self.index_of(id));
        let [server, radio] = self.connections.get_disjoint_mut([server?, radio?]).ok()?;
        Some([server.end(End::Ue), radio.end(End::Server)])
    }

    /// Whether the proxy's ends of these connections are closed.
    pub fn are_closed_at_proxy(&self, connections: [ConnectionId; 2]) -> bool {
        connections.into_iter().filter_map(|id| self.index_of(id)).all(|index| {
            let connection = &self.connections[index];
            let mut at_proxy = [End::Server, End::Ue].into_iter().filter(|&end| connection.is_at_proxy(end));
            at_proxy.all(|end| connection.closed[end as usize])
        })
    }

    /// Replaces the proxy's ends of these connections by new ones, because the proxy has lost them.
    pub fn replace_proxy_ends(&mut self, now: Time, connections: [ConnectionId; 2]) {
        for (id, end) in connections.into_iter().zip([End::Ue, End::Server]) {
            let Some(index) = self.index_of(id) else { continue };
            let new_end = self.new_end(id, self.connections[index].leg, end, TcpConfig::default().into());
            let connection = &mut self.connections[index];
            connection.ends[end as usize] = new_end;
            connection.closed[end as usize] = true;
            connection.expires = now + TIME_WAIT;
        }
    }

    /// Removes expired connections. The two of a split transfer are removed together.
    fn remove_expired(&mut self, now: Time) {
        let is_kept = |connection: &FlowConnection| connection.expires > now || connection.is_half_open();
        if !self.is_split() {
            return self.connections.retain(is_kept);
        }
        let kept_indices: Vec<ConnectionIndex> = self
            .connections
            .iter()
            .filter(|connection| is_kept(connection))
            .map(|connection| connection.nth)
            .collect();
        self.connections.retain(|connection| kept_indices.binary_search(&connection.nth).is_ok());
    }

    /// Index of a connection. `None` if it was removed.
    fn index_of(&self, id: ConnectionId) -> Option<usize> {
        self.connections.binary_search_by_key(&id, |connection| connection.id).ok()
    }

    pub fn has(&self, id: ConnectionId) -> bool {
        self.index_of(id).is_some()
    }

    /// A connection by its number in the run. `None` if it was removed.
    #[inline]
    pub fn connection(&mut self, id: ConnectionId) -> Option<&mut FlowConnection> {
        self.open_connection(id).map(|open| open.connection)
    }

    /// Like `connection`, with the parts of the flow that handle its events and timers.
    #[inline]
    pub fn open_connection(&mut self, id: ConnectionId) -> Option<OpenConnection<'_>> {
        let at = match self.connections.last() {
            // Usually it is the newest connection.
            Some(last) if last.id == id => self.connections.len() - 1,
            _ => self.connections.partition_point(|connection| connection.id < id),
        };
        let connection = self.connections.get_mut(at).filter(|connection| connection.id == id)?;
        let Flow { id: flow, ue, traffic, traffic_wake, tcp_wake, .. } = self;
        Some(OpenConnection { flow: *flow, ue: *ue, connection, traffic, traffic_wake, tcp_wake })
    }

    /// The connection of the flow with this number and with an application, not a proxy, at `end`.
    /// For a split transfer this is the connection on the server's side if `end` is the server, and
    /// the connection on the UE's side if `end` is the UE.
    pub fn nth(&mut self, nth: ConnectionIndex, end: End) -> Option<&mut FlowConnection> {
        let at = self.connections.partition_point(|connection| connection.nth < nth);
        let candidates = self.connections[at..].iter_mut().take(2);
        candidates
            .filter(|connection| connection.nth == nth)
            .find(|connection| connection.leg.site(end) != Site::Proxy)
    }

    /// The first connection with a number of at least `id`.
    pub fn connection_from(&self, id: ConnectionId) -> Option<ConnectionId> {
        let at = self.connections.partition_point(|connection| connection.id < id);
        self.connections.get(at).map(|connection| connection.id)
    }
}

impl FlowConnection {
    pub fn transfer(&self) -> Option<TransferId> {
        self.transfer
    }

    /// The split transfer for which `end` is the proxy's end.
    #[inline]
    pub fn transfer_at(&self, end: End) -> Option<TransferId> {
        self.transfer.filter(|_| self.is_at_proxy(end))
    }

    fn is_at_proxy(&self, end: End) -> bool {
        self.leg.site(end) == Site::Proxy
    }

    /// Returns the next event for the application at `end`.
    #[inline]
    pub fn poll_event(&mut self, now: Time, end: End) -> Option<TcpEvent> {
        let event = self.end(end).poll_event()?;
        if matches!(event, TcpEvent::Failed(_)) {
            // The other end notices the failure only when it sends something.
            self.expires = now + TIME_WAIT;
        }
        if event == TcpEvent::Closed {
            self.closed[end as usize] = true;
            if self.closed == [true; 2] || self.one_way {
                self.expires = now + TIME_WAIT;
            }
        }
        Some(event)
    }

    /// Whether an open end has a running timer. The end will retransmit and receive a RST, or give
    /// up.
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
    use crate::context::Context;
    use crate::ids::Direction;
    use crate::packet::Segment;
    use crate::proxy::{Relay, Setup, Transfer, Transfers};
    use crate::traffic::TrafficConfig;

    /// A flow from the server to a UE, without a proxy.
    fn flow() -> Flow {
        let config = FlowConfig {
            ue: UeId(0),
            direction: Direction::Downlink,
            traffic: TrafficConfig::Ftp { bytes: 1 },
            start: Time::ZERO,
            tcp: TcpConfig::default().into(),
            split: None,
            helped: false,
        };
        Flow::new(FlowId(0), &config, &Streams::new(1, 0))
    }

    #[test]
    fn closed_connection_is_removed_after_time_wait() {
        let mut flow = flow();
        let at = |s| Time::ZERO + Duration::from_secs(s);
        for number in 0..3 {
            flow.open(at(0), ConnectionId(10 * number), ConnectionIndex(number), None);
        }
        flow.nth(ConnectionIndex(1), End::Ue).unwrap().expires = at(70);
        flow.open(at(69), ConnectionId(40), ConnectionIndex(3), None);
        assert_eq!(
            flow.connection(ConnectionId(10)).map(|connection| connection.nth),
            Some(ConnectionIndex(1))
        );
        flow.open(at(70), ConnectionId(50), ConnectionIndex(4), None);
        assert!(
            flow.connection(ConnectionId(10)).is_none() && flow.nth(ConnectionIndex(1), End::Ue).is_none()
        );
        assert_eq!(flow.connection_from(ConnectionId(1)), Some(ConnectionId(20)));
        assert_eq!(
            flow.connection(ConnectionId(20)).map(|connection| connection.nth),
            Some(ConnectionIndex(2))
        );
        assert_eq!(
            flow.nth(ConnectionIndex(4), End::Ue).map(|connection| connection.id),
            Some(ConnectionId(50))
        );
    }

    #[test]
    fn both_connections_of_a_split_transfer_are_removed_together() {
        let mut flow = Flow { split: Some([(); 2].map(|()| TcpConfig::default().into())), ..flow() };
        let at = |s| Time::ZERO + Duration::from_secs(s);
        let connections = [7, 8].map(ConnectionId);
        let relay = Relay::new(connections[0], Setup::Early, None);
        let transfer = Transfers::default().insert(Transfer { flow: flow.id, connections, relay });
        flow.open_split(at(0), connections, ConnectionIndex(0), None, transfer);
        let ends = [End::Server, End::Ue]
            .map(|end| flow.nth(ConnectionIndex(0), end).map(|connection| (connection.id, connection.leg)));
        assert_eq!(
            ends,
            [Some((ConnectionId(7), ProxyLeg::Server)), Some((ConnectionId(8), ProxyLeg::Radio))]
        );
        // The proxy lies between connection 7, to the server, and connection 8, to the UE.
        for (connection, end, is_at_proxy) in
            [(7, End::Server, false), (7, End::Ue, true), (8, End::Server, true), (8, End::Ue, false)]
        {
            let open = flow.connection(ConnectionId(connection)).expect("it is open");
            assert_eq!(open.transfer_at(end), is_at_proxy.then_some(transfer));
        }
        flow.connection(ConnectionId(7)).expect("it is there").expires = at(10);
        flow.open(at(20), ConnectionId(9), ConnectionIndex(1), None);
        assert!(
            flow.proxy_ends(connections).is_some(),
            "the other connection of the transfer has not expired"
        );
        flow.connection(ConnectionId(8)).expect("it is there").expires = at(30);
        flow.open(at(30), ConnectionId(10), ConnectionIndex(2), None);
        assert!(flow.proxy_ends(connections).is_none() && !flow.has(ConnectionId(7)));
        assert!(flow.has(ConnectionId(9)));
    }

    #[test]
    fn half_open_connection_is_kept_while_an_end_has_a_timer() {
        let mut flow = flow();
        flow.open(Time::ZERO, ConnectionId(0), ConnectionIndex(0), None);
        let connection = flow.connection(ConnectionId(0)).expect("it was opened");
        let mut sink = NoTrace;
        let cx = &mut Context::new(Time::ZERO, &mut sink);
        connection.end(End::Server).handle_open(cx);
        let mut syn = Segment::new(ConnectionId(0), Direction::Downlink);
        connection.end(End::Server).poll_transmit(cx, &mut syn).expect("the SYN, which is timed");
        connection.closed[End::Ue as usize] = true;
        connection.expires = Time::ZERO;
        let later = Time::ZERO + Duration::from_secs(1);
        flow.open(later, ConnectionId(1), ConnectionIndex(1), None);
        assert!(flow.connection(ConnectionId(0)).is_some());
        flow.connection(ConnectionId(0)).expect("it is there").closed[End::Server as usize] = true;
        flow.open(later, ConnectionId(2), ConnectionIndex(2), None);
        assert!(flow.connection(ConnectionId(0)).is_none());
    }
}
