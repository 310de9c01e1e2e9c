//! A connection from its SYN to its end: where it wants to go, the way there, the relay, what is told of it.

use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use nix::libc::{EMFILE, ENFILE, ENOBUFS, ENOMEM};
use serde_json::{Value, json};
use socket2::SockRef;
use tokio::io::Interest;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::asked::proxy_protocol::header;
use crate::asked::request::{addresses, let_go, say, socks5};
use crate::asked::socks5::reply_of;
use crate::departure::{Departing, Departure, set_out};
use crate::options::{Destination, is_of_this_host};
use crate::relay::ended::{Ended, Side};
use crate::relay::tcp_info::Leg;
use crate::relay::{Joined, relay};
use crate::sockets::law_of;

use crate::worker::{Common, Worker, unmapped};

/// What is told of a connection when it is over, whichever way that comes about.
pub struct Record {
    worker: Arc<Worker>,
    number: u64,
    client: SocketAddr,
    begun: SystemTime,
    since: Instant,
    connected: Option<Duration>,
    joined: Option<Arc<Joined>>,
    ended: Ended,
}

/// Takes a client to its server.
pub fn serve(record: Record, client: TcpStream) -> impl Future<Output = ()> {
    let departing = at_once(&record.worker.common);
    serve_recorded(record, client, departing)
}

/// Where all go to one server a client is on its way before others' octets have their turn.
fn at_once(common: &Common) -> Option<io::Result<Departing>> {
    match &common.options.destination {
        // Who may be the proxy itself is looked at first.
        Destination::Fixed(servers) if !common.outgoing.are_any() => {
            servers.first().map(|&first| set_out(first, &common.server, &common.outgoing, None))
        }
        _ => None,
    }
}

async fn serve_recorded(mut record: Record, client: TcpStream, departing: Option<io::Result<Departing>>) {
    let (worker, address) = (record.worker.clone(), record.client);
    // Apart, so that a connection does not keep room for its beginning as long as it lives.
    let reaching = Box::pin(reach(&worker, &client, address, departing));
    let reached = unless_broken(&client, reaching).await;
    match reached {
        Ok(Reached { server, address, departure: _departure }) => {
            record.connected = Some(record.since.elapsed());
            let joined =
                Arc::new(Joined { client, server, server_address: address, passed: Default::default() });
            worker.common.counts.joined(record.number, &joined);
            record.joined = Some(joined.clone());
            record.ended = relay(&joined, &worker.pipes, worker.common.bounds).await;
        }
        Err(ended) => {
            record.ended = ended;
            // A client that was told why is to hear it: a reset would overtake the words.
            if worker.common.options.destination == Destination::Socks5 && is_told(ended) {
                let_go(&client);
                let _ = SockRef::from(&client).set_linger(None);
            }
        }
    }
}

/// Whether SOCKS5 has a word for an end before the beginning.
fn is_told(ended: Ended) -> bool {
    matches!(ended, Ended::Refused | Ended::Unreachable | Ended::Exhausted | Ended::BadRequest)
}

/// What comes of `action`, unless the client resets its connection before.
async fn unless_broken<R>(
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

/// A server, and that the proxy is connected to it.
struct Reached {
    server: TcpStream,
    address: SocketAddr,
    departure: Option<Departure>,
}

/// A connection to where the client wants to go; whoever is to hear of it has heard.
async fn reach(
    worker: &Worker,
    client: &TcpStream,
    address: SocketAddr,
    departing: Option<io::Result<Departing>>,
) -> Result<Reached, Ended> {
    let common = &*worker.common;
    let own = || match client.local_addr() {
        Ok(own) => Ok(unmapped(own)),
        Err(error) => Err(Ended::of_error(Side::Client, &error)),
    };
    let is_itself = || Ok(common.outgoing.are_any() && common.outgoing.has(address, own()?));
    if is_itself()? {
        return Err(Ended::Loop);
    }
    let is_asked = common.options.destination == Destination::Socks5;
    let patience = common.options.connect_timeout;
    let reached = match &common.options.destination {
        Destination::Fixed(servers) => first_of(common, servers, None, departing).await,
        Destination::Original(_) => {
            let own = own()?;
            if own.port() == common.listen.port() && is_of_this_host(own.ip()) {
                return Err(Ended::Loop);
            }
            first_of(common, &[own], Some(address), None).await
        }
        Destination::Socks5 => {
            let target = timeout(patience, socks5(client)).await.unwrap_or(Err(Ended::BadRequest))?;
            match timeout(patience, addresses(target, &worker.asking)).await {
                Ok(Ok(servers)) => first_of(common, &servers, None, None).await,
                Ok(Err(error)) => Err(error),
                Err(_) => Err(io::ErrorKind::TimedOut.into()),
            }
        }
    };
    // Another worker may have taken in the proxy's own connection before that was known.
    if is_itself()? {
        return Err(Ended::Loop);
    }
    if is_asked {
        let words = reply_of(reached.as_ref().map(drop));
        say(client, &words).await.map_err(|error| Ended::of_error(Side::Client, &error))?;
    }
    let reached = reached.map_err(|error| failure(&error))?;
    if common.options.tells_client {
        let words = header(address, own()?);
        say(&reached.server, &words).await.map_err(|error| Ended::of_error(Side::Server, &error))?;
    }
    Ok(reached)
}

/// A connection to the first of these that answers. To the very first one somebody may be on the way.
async fn first_of(
    common: &Common,
    servers: &[SocketAddr],
    client: Option<SocketAddr>,
    mut departing: Option<io::Result<Departing>>,
) -> io::Result<Reached> {
    let mut found = io::Error::from(io::ErrorKind::HostUnreachable);
    for &address in servers {
        let departing = departing.take();
        let departing =
            departing.unwrap_or_else(|| set_out(address, &common.server, &common.outgoing, client));
        let arriving = async { departing?.arrived().await };
        found = match timeout(common.options.connect_timeout, arriving).await {
            Ok(Ok((server, departure))) => return Ok(Reached { server, address, departure }),
            Ok(Err(error)) => error,
            Err(_) => io::ErrorKind::TimedOut.into(),
        };
    }
    Err(found)
}

fn failure(error: &io::Error) -> Ended {
    match error.kind() {
        io::ErrorKind::ConnectionRefused | io::ErrorKind::ConnectionReset => Ended::Refused,
        _ if matches!(error.raw_os_error(), Some(EMFILE | ENFILE | ENOBUFS | ENOMEM)) => Ended::Exhausted,
        _ => Ended::Unreachable,
    }
}

impl Record {
    /// Of a client from this address. What is never begun, since all end before, is told like the rest.
    pub fn new(worker: Arc<Worker>, client: SocketAddr) -> Self {
        let number = worker.common.counts.accepted();
        let (begun, since) = (SystemTime::now(), Instant::now());
        Record { worker, number, client, begun, since, connected: None, joined: None, ended: Ended::Stopped }
    }

    /// It is over without having begun.
    pub fn end(mut self, ended: Ended) {
        self.ended = ended;
    }

    fn line(&self, legs: [Option<Leg>; 2]) -> Value {
        let joined = self.joined.as_deref();
        let way = |at: usize| joined.map(|joined| &joined.passed[at]);
        let octets = |at: usize| way(at).map(|passed| passed.octets.load(Ordering::Relaxed));
        let held = |at: usize| way(at).map(|passed| passed.held.load(Ordering::Relaxed));
        let stalled =
            |at: usize| way(at).map(|passed| passed.stalled_ns.load(Ordering::Relaxed) as f64 / 1e9);
        let law = |stream: fn(&Joined) -> &TcpStream| {
            joined.and_then(|joined| law_of(&SockRef::from(stream(joined))).ok())
        };
        let [client, server] = legs;
        json!({
            "event": "connection",
            "connection": self.number,
            "begun_s": self.begun.duration_since(UNIX_EPOCH).ok().map(|since| since.as_secs_f64()),
            "client": self.client.to_string(),
            "server": joined.map(|joined| joined.server_address.to_string()),
            "ended": self.ended.name(),
            "duration_s": self.since.elapsed().as_secs_f64(),
            "setup_s": self.connected.map(|time| time.as_secs_f64()),
            "octets_up": octets(0),
            "octets_down": octets(1),
            "lost_octets_up": held(0),
            "lost_octets_down": held(1),
            "stalled_up_s": stalled(0),
            "stalled_down_s": stalled(1),
            "client_congestion_control": law(|joined| &joined.client),
            "server_congestion_control": law(|joined| &joined.server),
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
        let is_asked = common.log.is_some() || common.options.metrics.is_some();
        let legs = match self.joined.as_deref().filter(|_| is_asked) {
            Some(joined) => [&joined.client, &joined.server].map(Leg::of),
            None => [None, None],
        };
        common.counts.over(self.number, self.ended, self.joined.as_deref(), legs);
        if let Some(log) = &common.log {
            log.add(&self.line(legs));
        }
        self.worker.leave();
    }
}
