//! Relays between two TCP connections: data and the end of the stream in both directions, a reset
//! at once.
//!
//! While they are joined, both sockets have a linger time of zero. Whatever ends this process, both
//! peers get a reset and cannot mistake a truncated stream for a complete one. Only after both
//! directions have ended in order are the sockets closed normally.

pub mod ended;
pub mod pipes;
mod pump;
pub mod tcp_info;

use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use socket2::SockRef;
use tokio::io::{Interest, Ready};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

use crate::relay::ended::{Ended, Side};
use crate::relay::pipes::Pipes;
use crate::relay::pump::{Direction, Pump, RelayError};
use crate::relay::tcp_info::Delivery;

pub use crate::relay::pump::Progress;

/// Two joined connections.
#[derive(Debug)]
pub struct ConnectionPair {
    /// Connection to the client.
    pub client: TcpStream,
    /// Connection to the server.
    pub server: TcpStream,
    pub server_address: SocketAddr,
    /// Progress from the client to the server, and in the reverse direction.
    pub progress: [Progress; 2],
}

/// Limits of a relay.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Bytes that one call moves at most. The proxy holds no more than this between the sockets per
    /// direction.
    pub chunk: usize,
    /// How long a connection may transfer nothing.
    pub idle: Duration,
}

/// Relays until both directions have ended or an error occurs.
pub async fn relay(joined: &ConnectionPair, pipes: &Pipes, bounds: Bounds) -> Ended {
    let mut client_breaks = pin!(joined.client.ready(Interest::ERROR));
    let mut server_breaks = pin!(joined.server.ready(Interest::ERROR));
    let mut watch = Watch { has_ended: [false; 2] };
    let mut idle = Idle { since: Instant::now(), limit: bounds.idle };
    let mut alarm = pin!(sleep(bounds.idle));
    let mut pumps = Pumps { pumps: Default::default(), pipes };
    let ended = poll_fn(|cx| {
        let sides = [(Side::Client, &joined.client), (Side::Server, &joined.server)];
        let breaks: [Pin<&mut dyn Future<Output = io::Result<Ready>>>; 2] =
            [client_breaks.as_mut(), server_breaks.as_mut()];
        if let Some(ended) = watch.poll(cx, sides, breaks) {
            return Poll::Ready(ended);
        }
        let mut has_moved = false;
        let result = pumps.poll(cx, joined, bounds.chunk, &mut has_moved);
        if has_moved {
            idle.since = Instant::now();
        }
        match result {
            Poll::Ready(ended) => Poll::Ready(ended),
            Poll::Pending => idle.poll(cx, alarm.as_mut()),
        }
    })
    .await;
    if ended == Ended::InOrder && close_in_order(joined).is_err() {
        return Ended::ClientGone;
    }
    ended
}

/// Waits until both peers have acknowledged all data, so that the kernel no longer buffers any.
/// If no data are acknowledged for the idle timeout, the connection is reset.
pub async fn delivered(joined: &ConnectionPair, idle: Duration) -> Ended {
    const MAX_POLL_INTERVAL: Duration = Duration::from_secs(1);
    let sides = [(Side::Client, &joined.client), (Side::Server, &joined.server)];
    for (_, stream) in sides {
        // Fails if the peer has reset the connection.
        let _ = SockRef::from(stream).shutdown(std::net::Shutdown::Write);
    }
    let (mut last_progress, mut last_acknowledged) = (Instant::now(), [0; 2]);
    let mut poll_interval = Duration::from_millis(1);
    loop {
        let deliveries = sides.map(|(_, stream)| Delivery::of(stream));
        for (side, stream) in sides {
            if let Ok(Some(error)) | Err(error) = stream.take_error() {
                return Ended::of_error(side, &error);
            }
        }
        if deliveries.iter().all(|delivery| delivery.is_none_or(|delivery| delivery.is_complete)) {
            return Ended::InOrder;
        }
        let acknowledged = deliveries.map(|delivery| delivery.map_or(0, |delivery| delivery.acknowledged));
        if acknowledged != last_acknowledged {
            (last_progress, last_acknowledged) = (Instant::now(), acknowledged);
        }
        if last_progress.elapsed() >= idle {
            for (_, stream) in sides {
                let _ = SockRef::from(stream).set_linger(Some(Duration::ZERO));
            }
            return Ended::Idle;
        }
        sleep(poll_interval.min(idle)).await;
        poll_interval = (2 * poll_interval).min(MAX_POLL_INTERVAL);
    }
}

/// Resets the linger time, so that the kernel delivers buffered data after the close.
fn close_in_order(joined: &ConnectionPair) -> io::Result<()> {
    SockRef::from(&joined.client).set_linger(None)?;
    SockRef::from(&joined.server).set_linger(None)
}

/// Detects a reset even while the relay does not read because the other side is slow.
struct Watch {
    /// Whether the error event has come: of the connection to the client, and to the server.
    has_ended: [bool; 2],
}

impl Watch {
    /// Returns the end of the relay if the kernel reports an error of one of the connections.
    /// `breaks` are the futures of their error events.
    fn poll(
        &mut self,
        cx: &mut Context<'_>,
        sides: [(Side, &TcpStream); 2],
        breaks: [Pin<&mut dyn Future<Output = io::Result<Ready>>>; 2],
    ) -> Option<Ended> {
        for (index, ((side, stream), broken)) in sides.into_iter().zip(breaks).enumerate() {
            if self.has_ended[index] || broken.poll(cx).is_pending() {
                continue;
            }
            self.has_ended[index] = true;
            // Without a pending error, reading or writing reports the cause of the event.
            if let Ok(Some(error)) | Err(error) = stream.take_error() {
                return Some(Ended::of_error(side, &error));
            }
        }
        None
    }
}

/// Both directions. Dropping it discards the data that they hold.
struct Pumps<'a> {
    pumps: [Pump; 2],
    pipes: &'a Pipes,
}

impl Pumps<'_> {
    /// Moves data in both directions. Ready when both have ended, or with the first error.
    fn poll(
        &mut self,
        cx: &mut Context<'_>,
        joined: &ConnectionPair,
        chunk: usize,
        has_moved: &mut bool,
    ) -> Poll<Ended> {
        let (client, server) = (&joined.client, &joined.server);
        let ends = [(client, server), (server, client)];
        let sides = [[Side::Client, Side::Server], [Side::Server, Side::Client]];
        for index in 0..2 {
            // If the other direction has ended, the end of this one ends the connection.
            let is_last = self.pumps[1 - index].has_ended;
            let (source, sink) = ends[index];
            let direction =
                Direction { source, sink, pipes: self.pipes, chunk, progress: &joined.progress[index] };
            let result = self.pumps[index].poll(cx, direction, is_last, has_moved);
            if let Poll::Ready(Err(broken)) = result {
                let [source, sink] = sides[index];
                return Poll::Ready(match broken {
                    RelayError::Source(error) => Ended::of_error(source, &error),
                    RelayError::Sink(error) => Ended::of_error(sink, &error),
                    RelayError::NoPipe => Ended::Exhausted,
                });
            }
        }
        if self.pumps.iter().all(|pump| pump.has_ended) { Poll::Ready(Ended::InOrder) } else { Poll::Pending }
    }
}

impl Drop for Pumps<'_> {
    fn drop(&mut self) {
        self.pumps.iter_mut().for_each(|pump| pump.discard(self.pipes));
    }
}

/// Time since the last transfer. The timer is reset only when it expires: resetting it for each
/// packet would cost more than the packet.
struct Idle {
    since: Instant,
    limit: Duration,
}

impl Idle {
    /// Ready when nothing was transferred for `limit`.
    fn poll(&mut self, cx: &mut Context<'_>, mut alarm: Pin<&mut Sleep>) -> Poll<Ended> {
        while alarm.as_mut().poll(cx).is_ready() {
            let until = self.since + self.limit;
            if Instant::now() >= until {
                return Poll::Ready(Ended::Idle);
            }
            alarm.as_mut().reset(until.into());
        }
        Poll::Pending
    }
}
