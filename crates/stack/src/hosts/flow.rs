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
use crate::proxy::{ProxyEnds, SplitConnections, TransferId};
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
    /// TCP of both ends, or of the hosts if the proxy splits the flow.
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
    pub ue: UeId,
    /// The end that sends the flow's data.
    pub sender: End,
    pub start: Time,
    /// TCP of the hosts.
    pub tcp: Arc<TcpConfig>,
    /// TCP of the proxy towards the server and towards the UE, if it splits the flow.
    split: Option<[Arc<TcpConfig>; 2]>,
    pub traffic: Traffic,
    /// Number of sent datagrams, by direction.
    pub datagrams: [u64; 2],
    /// Connections that are open or in TIME-WAIT, sorted by number.
    connections: Vec<FlowConnection>,
    /// Next wake-up of the traffic model.
    pub traffic_wake: Wakeup,
    /// Next wake-up of each end. At most one per end is pending for all connections.
    pub tcp_wake: [Wakeup; 2],
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
    one_way: bool,
    /// The end that acts as the server and the end that acts as the UE, indexed by [`End`]. Boxed,
    /// because an end is large and connections move when others are removed.
    ends: [Box<Connection>; 2],
    /// Whether each end is closed, indexed by [`End`]. A one-way connection is closed when its
    /// sender is.
    closed: [bool; 2],
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
            ue: config.ue,
            sender,
            start: config.start,
            tcp: Arc::clone(&config.tcp),
            split: config.split.clone(),
            traffic: Traffic::new(&config.traffic, sender, id, streams),
            datagrams: [0; 2],
            connections: Vec::new(),
            traffic_wake: Wakeup::NONE,
            tcp_wake: [Wakeup::NONE; 2],
        }
    }

    /// Schedules the next wake-up of the traffic model.
    pub fn schedule_traffic_wake<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>) {
        let deadline = self.traffic.poll_timeout();
        ctx.wake(&mut self.traffic_wake, deadline, Phase::Transmit, Event::TrafficWake(self.id));
    }

    /// Whether a proxy splits the connections of the flow.
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
        let tcp = tcp_with_payload(&self.tcp, segment_payload);
        let tcp_at_ends = [&tcp, &tcp];
        self.connect(id, nth, ProxyLeg::Whole, None, tcp_at_ends);
        tcp.mss()
    }

    /// Opens the two connections of a split transfer, and removes expired ones. Returns the segment
    /// payload of the server, and of the proxy towards the UE.
    pub fn open_split(
        &mut self,
        now: Time,
        connections: SplitConnections,
        nth: ConnectionIndex,
        segment_payload: Option<u32>,
        transfer: TransferId,
    ) -> [u32; 2] {
        self.remove_expired(now);
        let [to_server, to_ue] = self.split.as_ref().expect("the proxy splits this flow");
        let host = tcp_with_payload(&self.tcp, segment_payload);
        let to_server = tcp_with_payload(to_server, segment_payload);
        let to_ue = tcp_with_payload(to_ue, segment_payload);
        self.connect(connections.server, nth, ProxyLeg::Server, Some(transfer), [&host, &to_server]);
        self.connect(connections.radio, nth, ProxyLeg::Radio, Some(transfer), [&to_ue, &host]);
        [host.mss(), to_ue.mss()]
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
        let ends = [End::Server, End::Ue];
        let connection = FlowConnection {
            id,
            nth,
            leg,
            transfer,
            one_way: tcp[0].is_one_way(),
            ends: ends.map(|end| self.new_end(id, leg, end, Arc::clone(tcp[end as usize]))),
            closed: [false; 2],
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
    pub fn proxy_ends(&mut self, connections: SplitConnections) -> Option<ProxyEnds<'_>> {
        let server = self.index_of(connections.server)?;
        let radio = self.index_of(connections.radio)?;
        let [server, radio] = self.connections.get_disjoint_mut([server, radio]).ok()?;
        Some(ProxyEnds { server: server.end(End::Ue), radio: radio.end(End::Server) })
    }

    /// Whether the proxy's ends of these connections are closed. The end of a removed connection
    /// is.
    pub fn are_closed_at_proxy(&self, connections: SplitConnections) -> bool {
        let is_closed = |id: ConnectionId, proxy_end: End| {
            self.index_of(id).is_none_or(|index| self.connections[index].closed[proxy_end as usize])
        };
        is_closed(connections.server, End::Ue) && is_closed(connections.radio, End::Server)
    }

    /// Replaces the proxy's ends of these connections by new ones, because the proxy has lost them.
    pub fn replace_proxy_ends(&mut self, now: Time, connections: SplitConnections) {
        for (id, proxy_end) in [(connections.server, End::Ue), (connections.radio, End::Server)] {
            let Some(index) = self.index_of(id) else { continue };
            let leg = self.connections[index].leg;
            let new_end = self.new_end(id, leg, proxy_end, TcpConfig::default().into());
            let connection = &mut self.connections[index];
            connection.ends[proxy_end as usize] = new_end;
            connection.closed[proxy_end as usize] = true;
            connection.expires = now + TIME_WAIT;
        }
    }

    /// Removes expired connections. The two of a split transfer are removed together.
    fn remove_expired(&mut self, now: Time) {
        if !self.is_split() {
            return self.connections.retain(|connection| connection.is_kept(now));
        }
        let kept = self.connections.iter().filter(|connection| connection.is_kept(now));
        let kept_numbers: Vec<ConnectionIndex> = kept.map(|connection| connection.nth).collect();
        // Sorted, because connections are opened in the order of their numbers.
        self.connections.retain(|connection| kept_numbers.binary_search(&connection.nth).is_ok());
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
        let first = self.connections.partition_point(|connection| connection.nth < nth);
        let from_first = self.connections[first..].iter_mut();
        let mut with_number = from_first.take_while(|connection| connection.nth == nth);
        with_number.find(|connection| !connection.is_at_proxy(end))
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

    /// Whether `end` is at the proxy, not at a host.
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
            let both_are_closed = self.closed == [true; 2];
            if both_are_closed || self.one_way {
                self.expires = now + TIME_WAIT;
            }
        }
        Some(event)
    }

    /// Whether the connection must not be removed yet.
    fn is_kept(&self, now: Time) -> bool {
        self.expires > now || self.is_half_open()
    }

    /// Whether an open end has a running timer. The end will retransmit and receive a RST, or give
    /// up.
    fn is_half_open(&self) -> bool {
        let waits = |end: End| {
            let has_timer = self.ends[end as usize].poll_timeout().is_some();
            !self.closed[end as usize] && has_timer
        };
        !self.one_way && (waits(End::Server) || waits(End::Ue))
    }

    #[inline]
    pub fn end(&mut self, end: End) -> &mut Connection {
        &mut self.ends[end as usize]
    }
}

/// Returns `tcp` with this payload of full segments, if one is given.
fn tcp_with_payload(tcp: &Arc<TcpConfig>, segment_payload: Option<u32>) -> Arc<TcpConfig> {
    match segment_payload.map(u16::try_from) {
        Some(payload) => Arc::new(tcp.with_payload(Octets(payload.unwrap_or(u16::MAX)))),
        None => Arc::clone(tcp),
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

    /// A flow whose connections a proxy splits.
    fn split_flow() -> Flow {
        let default_tcp = || Arc::new(TcpConfig::default());
        Flow { split: Some([default_tcp(), default_tcp()]), ..flow() }
    }

    /// The connections of the split transfer in these tests. Connection 7 is between the server and
    /// the proxy, connection 8 between the proxy and the UE.
    const SPLIT: SplitConnections = SplitConnections { server: ConnectionId(7), radio: ConnectionId(8) };

    /// Opens connection 0 of the flow as a split transfer.
    fn open_split(flow: &mut Flow, now: Time) -> TransferId {
        let relay = Relay::new(SPLIT.server, Setup::Early, None);
        let transfer = Transfers::default().insert(Transfer { flow: flow.id, connections: SPLIT, relay });
        flow.open_split(now, SPLIT, ConnectionIndex(0), None, transfer);
        transfer
    }

    fn at(seconds: u64) -> Time {
        Time::ZERO + Duration::from_secs(seconds)
    }

    /// Opening a further connection removes those that have expired, here connection 10, number 1
    /// of the flow, at 70 s.
    #[test]
    fn expired_connection_is_removed_when_another_is_opened() {
        let mut flow = flow();
        for number in 0..3 {
            flow.open(at(0), ConnectionId(10 * number), ConnectionIndex(number), None);
        }
        flow.connection(ConnectionId(10)).expect("it is open").expires = at(70);

        flow.open(at(69), ConnectionId(40), ConnectionIndex(3), None);
        assert!(flow.has(ConnectionId(10)));

        flow.open(at(70), ConnectionId(50), ConnectionIndex(4), None);
        assert!(!flow.has(ConnectionId(10)));
        assert!(flow.nth(ConnectionIndex(1), End::Ue).is_none());
    }

    #[test]
    fn connections_are_found_by_both_numbers_after_a_removal() {
        let mut flow = flow();
        for number in 0..3 {
            flow.open(at(0), ConnectionId(10 * number), ConnectionIndex(number), None);
        }
        flow.connection(ConnectionId(10)).expect("it is open").expires = at(0);
        flow.open(at(1), ConnectionId(50), ConnectionIndex(3), None);

        assert_eq!(flow.connection_from(ConnectionId(1)), Some(ConnectionId(20)), "10 was removed");
        assert_eq!(flow.connection(ConnectionId(20)).expect("it is open").nth, ConnectionIndex(2));
        assert_eq!(flow.nth(ConnectionIndex(3), End::Ue).expect("it is open").id, ConnectionId(50));
    }

    #[test]
    fn application_has_the_connection_on_its_side_of_the_proxy() {
        let mut flow = split_flow();
        open_split(&mut flow, at(0));
        let leg_at = |flow: &mut Flow, end| flow.nth(ConnectionIndex(0), end).map(|open| open.leg);
        assert_eq!(leg_at(&mut flow, End::Server), Some(ProxyLeg::Server));
        assert_eq!(leg_at(&mut flow, End::Ue), Some(ProxyLeg::Radio));
    }

    #[test]
    fn inner_ends_of_a_split_transfer_are_at_the_proxy() {
        let mut flow = split_flow();
        let transfer = open_split(&mut flow, at(0));
        let mut transfer_at = |id, end| flow.connection(id).expect("the connection is open").transfer_at(end);
        assert_eq!(transfer_at(SPLIT.server, End::Server), None);
        assert_eq!(transfer_at(SPLIT.server, End::Ue), Some(transfer));
        assert_eq!(transfer_at(SPLIT.radio, End::Server), Some(transfer));
        assert_eq!(transfer_at(SPLIT.radio, End::Ue), None);
    }

    /// Connection 7 expires at 10 s, connection 8 at 30 s. Both are removed at 30 s.
    #[test]
    fn both_connections_of_a_split_transfer_are_removed_together() {
        let mut flow = split_flow();
        open_split(&mut flow, at(0));
        flow.connection(SPLIT.server).expect("it is open").expires = at(10);
        flow.open(at(20), ConnectionId(9), ConnectionIndex(1), None);
        assert!(flow.proxy_ends(SPLIT).is_some());

        flow.connection(SPLIT.radio).expect("it is open").expires = at(30);
        flow.open(at(30), ConnectionId(10), ConnectionIndex(2), None);
        assert!(flow.proxy_ends(SPLIT).is_none());
        assert!(!flow.has(SPLIT.server));
        assert!(flow.has(ConnectionId(9)));
    }

    /// The server's end has sent a SYN and runs its timer, while the UE's end is closed.
    #[test]
    fn half_open_connection_is_kept_while_an_end_has_a_timer() {
        let mut flow = flow();
        flow.open(at(0), ConnectionId(0), ConnectionIndex(0), None);
        let connection = flow.connection(ConnectionId(0)).expect("it was opened");
        let mut sink = NoTrace;
        let cx = &mut Context::new(at(0), &mut sink);
        connection.end(End::Server).handle_open(cx);
        let mut syn = Segment::new(ConnectionId(0), Direction::Downlink);
        connection.end(End::Server).poll_transmit(cx, &mut syn).expect("the SYN, which is timed");
        connection.closed[End::Ue as usize] = true;
        connection.expires = at(0);

        flow.open(at(1), ConnectionId(1), ConnectionIndex(1), None);
        assert!(flow.has(ConnectionId(0)));

        flow.connection(ConnectionId(0)).expect("it is kept").closed[End::Server as usize] = true;
        flow.open(at(1), ConnectionId(2), ConnectionIndex(2), None);
        assert!(!flow.has(ConnectionId(0)));
    }
}
