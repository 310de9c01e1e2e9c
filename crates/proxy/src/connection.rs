//! One client connection from accept to its end: request, connection to the server, relay, log
//! line.

use std::future::poll_fn;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use nix::libc::{EADDRINUSE, EADDRNOTAVAIL, EAGAIN, EMFILE, ENFILE, ENOBUFS, ENOMEM};
use serde_json::{Value, json};
use socket2::SockRef;
use tokio::io::Interest;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::handshake::proxy_protocol::header;
use crate::handshake::request::{addresses, discard_received, socks5, write_all};
use crate::handshake::socks5::{Target, reply_of};
use crate::options::{Destination, is_of_this_host, unmapped};
use crate::outbound::{Outbound, Registration, start_connect};
use crate::policy::Policy;
use crate::relay::ended::{Ended, Side};
use crate::relay::tcp_info::Leg;
use crate::relay::{ConnectionPair, delivered, relay};
use crate::sockets::congestion_control;
use crate::worker::{Common, Worker};

/// State of a connection for the log and the counters. Both are updated when the record is dropped,
/// however the connection ends.
pub struct Record {
    worker: Arc<Worker>,
    /// Number of the connection in the log.
    number: u64,
    client: SocketAddr,
    /// Date at which the client's connection was accepted, for the log.
    started_at: SystemTime,
    /// The same instant, for durations.
    started: Instant,
    /// Time from the start until the server was connected.
    connected: Option<Duration>,
    /// Destination that the client named.
    requested: RequestedDestination,
    /// Both connections, once the server is connected.
    joined: Option<Arc<ConnectionPair>>,
    /// How the connection ended.
    ended: Ended,
}

/// The destination that a client requests, as far as it is known.
#[derive(Debug, Default)]
struct RequestedDestination {
    /// The destination in the SOCKS5 request.
    requested_name: Option<String>,
    /// The address that was tried last.
    tried: Option<SocketAddr>,
}

/// Connects a client to its server and relays until the connection ends.
pub fn serve(record: Record, client: TcpStream) -> impl Future<Output = ()> {
    let outbound = start_first_server(&record.worker.common);
    serve_recorded(record, client, outbound)
}

/// With a single server, starts to connect before the connection's task is first polled.
fn start_first_server(common: &Common) -> Option<io::Result<Outbound>> {
    match &common.options.destination {
        // If registered connections are open, the client may be the proxy itself: check that first.
        Destination::Fixed(servers) if !common.registry.has_open() => {
            servers.first().map(|&first| start_connect(first, &common.server, &common.registry, None))
        }
        _ => None,
    }
}

async fn serve_recorded(mut record: Record, client: TcpStream, outbound: Option<io::Result<Outbound>>) {
    let (worker, address) = (record.worker.clone(), record.client);
    // Boxed, so that the connection's future does not keep the memory of this step for its
    // lifetime.
    let connecting =
        Box::pin(connect_to_destination(&worker, &client, address, outbound, &mut record.requested));
    let reached = unless_reset(&client, connecting).await;
    match reached {
        Ok(ServerConnection { server, address, registration: _registration }) => {
            record.connected = Some(record.started.elapsed());
            let joined = Arc::new(ConnectionPair {
                client,
                server,
                server_address: address,
                progress: Default::default(),
            });
            worker.common.counts.joined(record.number, &joined);
            record.joined = Some(joined.clone());
            record.ended = relay(&joined, &worker.pipes, worker.common.bounds()).await;
            // With a memory limit, the connection counts until the kernel has delivered its
            // buffered data.
            if record.ended == Ended::InOrder && worker.common.options.memory.is_some() {
                record.ended = delivered(&joined, worker.common.bounds().idle).await;
            }
        }
        Err(ended) => {
            record.ended = ended;
            // The client must receive the SOCKS5 reply: a reset could overtake it.
            if matches!(worker.common.options.destination, Destination::Socks5(_)) && has_socks5_reply(ended)
            {
                discard_received(&client);
                let _ = SockRef::from(&client).set_linger(None);
            }
        }
    }
}

/// Whether SOCKS5 has a reply for this outcome.
fn has_socks5_reply(ended: Ended) -> bool {
    use Ended::{BadRequest, Denied, Exhausted, Refused, Unreachable};
    matches!(ended, Refused | Unreachable | Exhausted | Denied | BadRequest)
}

/// Runs `action`, unless the client resets its connection first.
async fn unless_reset<R>(
    client: &TcpStream,
    action: impl Future<Output = Result<R, Ended>>,
) -> Result<R, Ended> {
    let mut action = pin!(action);
    let mut broken = pin!(client.ready(Interest::ERROR));
    poll_fn(|cx| {
        if let Poll::Ready(done) = action.as_mut().poll(cx) {
            return Poll::Ready(done);
        }
        broken.as_mut().poll(cx).map(|_| Err(Ended::ResetByClient))
    })
    .await
}

/// An established connection to a server.
struct ServerConnection {
    server: TcpStream,
    address: SocketAddr,
    registration: Option<Registration>,
}

/// Connects to the destination of the client. Sends the SOCKS5 reply and the PROXY header, if there
/// are any.
async fn connect_to_destination(
    worker: &Worker,
    client: &TcpStream,
    address: SocketAddr,
    outbound: Option<io::Result<Outbound>>,
    requested: &mut RequestedDestination,
) -> Result<ServerConnection, Ended> {
    let common = &*worker.common;
    let own_address = || match client.local_addr() {
        Ok(own_address) => Ok(unmapped(own_address)),
        Err(error) => Err(Ended::of_error(Side::Client, &error)),
    };
    let is_itself = || Ok(common.registry.has_open() && common.registry.contains(address, own_address()?));
    if is_itself()? {
        return Err(Ended::Loop);
    }
    let reached = match &common.options.destination {
        Destination::Fixed(servers) => connect_to_first(common, servers, None, outbound, requested).await,
        Destination::Original(_) => {
            let own_address = own_address()?;
            if own_address.port() == common.listen.port() && is_of_this_host(own_address.ip()) {
                return Err(Ended::Loop);
            }
            connect_to_first(common, &[own_address], Some(address), None, requested).await
        }
        Destination::Socks5(policy) => {
            let request = timeout(common.limits.current().connect_timeout, socks5(client)).await;
            let target = request.unwrap_or(Err(Ended::BadRequest))?;
            requested.requested_name = Some(target.to_string());
            match permitted(worker, policy, address, target).await {
                Ok(servers) => connect_to_first(common, &servers, None, None, requested).await,
                Err(error) => Err(error),
            }
        }
    };
    // Another worker may have accepted this connection of the proxy to itself before the connection
    // was registered.
    if is_itself()? {
        return Err(Ended::Loop);
    }
    if matches!(common.options.destination, Destination::Socks5(_)) {
        let reply = reply_of(reached.as_ref().map(drop));
        write_all(client, &reply).await.map_err(|error| Ended::of_error(Side::Client, &error))?;
    }
    let reached = reached.map_err(|error| outcome_of_connect_error(&error, requested.tried))?;
    if common.options.sends_proxy_header {
        let proxy_header = header(address, own_address()?);
        write_all(&reached.server, &proxy_header)
            .await
            .map_err(|error| Ended::of_error(Side::Server, &error))?;
    }
    Ok(reached)
}

/// Returns the addresses of the requested destination that the client may reach.
async fn permitted(
    worker: &Worker,
    policy: &Policy,
    client: SocketAddr,
    target: Target,
) -> io::Result<Vec<SocketAddr>> {
    let connect_timeout = worker.common.limits.current().connect_timeout;
    let resolving = timeout(connect_timeout, addresses(target, &worker.resolver_permits)).await;
    let mut resolved = resolving.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
    // A host name may resolve to the unspecified address.
    resolved.retain(|address| !address.ip().to_canonical().is_unspecified());
    let has_addresses = !resolved.is_empty();
    resolved.retain(|address| policy.permits(client.ip(), *address));
    if resolved.is_empty() && has_addresses {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    Ok(resolved)
}

/// Connects to the first address that answers. `outbound` is the attempt to the first address if
/// it has already started.
async fn connect_to_first(
    common: &Common,
    servers: &[SocketAddr],
    client: Option<SocketAddr>,
    mut outbound: Option<io::Result<Outbound>>,
    requested: &mut RequestedDestination,
) -> io::Result<ServerConnection> {
    let mut last_error = io::Error::from(io::ErrorKind::HostUnreachable);
    for &address in servers {
        requested.tried = Some(address);
        let outbound = outbound.take();
        let outbound =
            outbound.unwrap_or_else(|| start_connect(address, &common.server, &common.registry, client));
        let connecting = async { outbound?.connected().await };
        last_error = match timeout(common.limits.current().connect_timeout, connecting).await {
            Ok(Ok((server, registration))) => return Ok(ServerConnection { server, address, registration }),
            Ok(Err(error)) => error,
            Err(_) => io::ErrorKind::TimedOut.into(),
        };
    }
    Err(last_error)
}

fn outcome_of_connect_error(error: &io::Error, tried: Option<SocketAddr>) -> Ended {
    match (error.kind(), error.raw_os_error()) {
        (io::ErrorKind::PermissionDenied, None) => Ended::Denied,
        (io::ErrorKind::ConnectionRefused | io::ErrorKind::ConnectionReset, _) => Ended::Refused,
        (_, Some(EMFILE | ENFILE | ENOBUFS | ENOMEM | EADDRINUSE | EAGAIN)) => Ended::Exhausted,
        // The kernel also returns this error if this host has no address from which the server can
        // be reached.
        (_, Some(EADDRNOTAVAIL)) if tried.is_some_and(has_own_address_for) => Ended::Exhausted,
        _ => Ended::Unreachable,
    }
}

/// Whether this host has an address from which `to` can be reached. Connecting a UDP socket sends
/// nothing and uses no TCP port.
fn has_own_address_for(to: SocketAddr) -> bool {
    let any: SocketAddr = if to.is_ipv4() { ([0; 4], 0).into() } else { ([0_u16; 8], 0).into() };
    UdpSocket::bind(any).and_then(|socket| socket.connect(to)).is_ok()
}

impl Record {
    /// Record of a client that was accepted. It is logged and counted even if the proxy stops
    /// before the connection is served.
    pub fn new(worker: Arc<Worker>, client: SocketAddr) -> Self {
        let number = worker.common.counts.accepted();
        let (started_at, started) = (SystemTime::now(), Instant::now());
        let (connected, requested, joined) = Default::default();
        Record {
            worker,
            number,
            client,
            started_at,
            started,
            connected,
            requested,
            joined,
            ended: Ended::Stopped,
        }
    }

    /// Ends a connection that was never served.
    pub fn end(mut self, ended: Ended) {
        self.ended = ended;
    }

    /// Address of the server. If no server was reached, the address that was tried last, otherwise
    /// the requested name.
    fn server(&self) -> Option<String> {
        let reached = self.joined.as_ref().map(|joined| joined.server_address);
        reached
            .or(self.requested.tried)
            .map(|address| address.to_string())
            .or_else(|| self.requested.requested_name.clone())
    }

    /// Describes an ended connection as a JSON line of the log. `legs`: the kernel's information
    /// about the sockets of the client and the server.
    fn line(&self, legs: [Option<Leg>; 2]) -> Value {
        let joined = self.joined.as_deref();
        let counters = |i: usize| joined.map(|joined| &joined.progress[i]);
        // Index 0 is the direction from the client (up), 1 the direction to it.
        let octets = |i: usize| counters(i).map(|progress| progress.octets.load(Ordering::Relaxed));
        let held = |i: usize| counters(i).map(|progress| progress.held.load(Ordering::Relaxed));
        let stalled =
            |i: usize| counters(i).map(|progress| progress.stalled_ns.load(Ordering::Relaxed) as f64 / 1e9);
        let algorithm = |stream: fn(&ConnectionPair) -> &TcpStream| {
            joined.and_then(|joined| congestion_control(&SockRef::from(stream(joined))).ok())
        };
        let [client, server] = legs;
        json!({
            "event": "connection",
            "connection": self.number,
            "begun_s": self.started_at.duration_since(UNIX_EPOCH).ok().map(|started| started.as_secs_f64()),
            "client": self.client.to_string(),
            "server": self.server(),
            "asked": self.requested.requested_name,
            "ended": self.ended.name(),
            "duration_s": self.started.elapsed().as_secs_f64(),
            "setup_s": self.connected.map(|time| time.as_secs_f64()),
            "octets_up": octets(0),
            "octets_down": octets(1),
            "lost_octets_up": held(0),
            "lost_octets_down": held(1),
            "stalled_up_s": stalled(0),
            "stalled_down_s": stalled(1),
            "client_congestion_control": algorithm(|joined| &joined.client),
            "server_congestion_control": algorithm(|joined| &joined.server),
            "client_rtt_s": client.and_then(|leg| leg.rtt_s),
            "server_rtt_s": server.and_then(|leg| leg.rtt_s),
            "client_cwnd_segments": client.map(|leg| leg.cwnd_segments),
            "server_cwnd_segments": server.map(|leg| leg.cwnd_segments),
            "client_retransmissions": client.map(|leg| leg.retransmissions),
            "server_retransmissions": server.map(|leg| leg.retransmissions),
        })
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        let common = &self.worker.common;
        let needs_tcp_info = common.log.is_some() || common.options.metrics.is_some();
        let legs = match self.joined.as_deref().filter(|_| needs_tcp_info) {
            Some(joined) => [&joined.client, &joined.server].map(Leg::of),
            None => [None, None],
        };
        common.counts.ended(self.number, self.ended, self.joined.as_deref(), legs);
        if let Some(log) = &common.log {
            log.add(&self.line(legs));
        }
        self.worker.remove_connection();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exhausted_ports_differ_from_unreachable_servers() {
        let os_error = |code| io::Error::from_raw_os_error(code);
        let local = Some("127.0.0.1:80".parse().unwrap());
        assert_eq!(outcome_of_connect_error(&os_error(EADDRNOTAVAIL), local), Ended::Exhausted);
        assert_eq!(outcome_of_connect_error(&os_error(EADDRINUSE), local), Ended::Exhausted);
        assert_eq!(outcome_of_connect_error(&os_error(EMFILE), None), Ended::Exhausted);
        // ENETUNREACH means a missing route, even if this host has an address for the destination.
        assert_eq!(outcome_of_connect_error(&os_error(nix::libc::ENETUNREACH), local), Ended::Unreachable);
        assert_eq!(outcome_of_connect_error(&io::ErrorKind::PermissionDenied.into(), local), Ended::Denied);
        assert_eq!(outcome_of_connect_error(&os_error(nix::libc::EACCES), local), Ended::Unreachable);
    }
}
