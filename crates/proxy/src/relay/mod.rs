//! Two TCP connections joined: octets both ways, the end of each way behind its octets, a reset at once.
//!
//! Both sockets linger for no time while they are joined, so whatever ends this process, and whatever goes wrong, both
//! peers get a reset: never what looks like the end of a short stream. Only when both ways have ended in order are they
//! closed as others are.

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
use crate::relay::pump::{Broken, Pump};
use crate::relay::tcp_info::Delivery;

pub use crate::relay::pump::Passed;

/// Two connections that are joined.
#[derive(Debug)]
pub struct Joined {
    /// To the client.
    pub client: TcpStream,
    /// To the server.
    pub server: TcpStream,
    /// Where the server is.
    pub server_address: SocketAddr,
    /// From the client to the server, and back.
    pub passed: [Passed; 2],
}

/// What bounds a relay.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Octets that are moved at once, and so the most that the proxy itself holds of each way.
    pub chunk: usize,
    /// How long nothing may be sent.
    pub idle: Duration,
}

/// Relays until both ways have ended, or something goes wrong.
pub async fn relay(joined: &Joined, pipes: &Pipes, bounds: Bounds) -> Ended {
    let mut client_breaks = pin!(joined.client.ready(Interest::ERROR));
    let mut server_breaks = pin!(joined.server.ready(Interest::ERROR));
    let mut watch = Watch { is_over: [false; 2] };
    let mut idle = Idle { since: Instant::now(), most: bounds.idle };
    let mut alarm = pin!(sleep(bounds.idle));
    let mut both = Both { ways: Default::default(), pipes };
    let ended = poll_fn(|cx| {
        let sides = [(Side::Client, &joined.client), (Side::Server, &joined.server)];
        let breaks: [Pin<&mut dyn Future<Output = io::Result<Ready>>>; 2] =
            [client_breaks.as_mut(), server_breaks.as_mut()];
        if let Some(ended) = watch.poll(cx, sides, breaks) {
            return Poll::Ready(ended);
        }
        let mut has_moved = false;
        let moved = both.poll(cx, joined, bounds.chunk, &mut has_moved);
        if has_moved {
            idle.since = Instant::now();
        }
        match moved {
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

/// Waits until both peers have acknowledged everything, so that the kernel holds none of it any more. A connection of
/// which nothing is acknowledged for the idle timeout is reset.
pub async fn delivered(joined: &Joined, idle: Duration) -> Ended {
    const MOST_BETWEEN: Duration = Duration::from_secs(1);
    let sides = [(Side::Client, &joined.client), (Side::Server, &joined.server)];
    for (_, stream) in sides {
        // One whose peer has reset it is not connected.
        let _ = SockRef::from(stream).shutdown(std::net::Shutdown::Write);
    }
    let (mut since, mut last) = (Instant::now(), [0; 2]);
    let mut between = Duration::from_millis(1);
    loop {
        let found = sides.map(|(_, stream)| Delivery::of(stream));
        for (side, stream) in sides {
            if let Ok(Some(error)) | Err(error) = stream.take_error() {
                return Ended::of_error(side, &error);
            }
        }
        if found.iter().all(|delivery| delivery.is_none_or(|delivery| delivery.is_complete)) {
            return Ended::InOrder;
        }
        let acknowledged = found.map(|delivery| delivery.map_or(0, |delivery| delivery.acknowledged));
        if acknowledged != last {
            (since, last) = (Instant::now(), acknowledged);
        }
        if since.elapsed() >= idle {
            for (_, stream) in sides {
                let _ = SockRef::from(stream).set_linger(Some(Duration::ZERO));
            }
            return Ended::Idle;
        }
        sleep(between.min(idle)).await;
        between = (2 * between).min(MOST_BETWEEN);
    }
}

/// From now on the kernel delivers what it still has, as after any close.
fn close_in_order(joined: &Joined) -> io::Result<()> {
    SockRef::from(&joined.client).set_linger(None)?;
    SockRef::from(&joined.server).set_linger(None)
}

/// A reset is seen though nobody reads: while the other side is slow.
struct Watch {
    is_over: [bool; 2],
}

impl Watch {
    fn poll(
        &mut self,
        cx: &mut Context<'_>,
        sides: [(Side, &TcpStream); 2],
        breaks: [Pin<&mut dyn Future<Output = io::Result<Ready>>>; 2],
    ) -> Option<Ended> {
        for (at, ((side, stream), broken)) in sides.into_iter().zip(breaks).enumerate() {
            if self.is_over[at] || broken.poll(cx).is_pending() {
                continue;
            }
            self.is_over[at] = true;
            // Without an error of its own the event was about something that reading and writing tell.
            if let Ok(Some(error)) | Err(error) = stream.take_error() {
                return Some(Ended::of_error(side, &error));
            }
        }
        None
    }
}

/// Both ways, whose octets are gone with it.
struct Both<'a> {
    ways: [Pump; 2],
    pipes: &'a Pipes,
}

impl Both<'_> {
    fn poll(
        &mut self,
        cx: &mut Context<'_>,
        joined: &Joined,
        chunk: usize,
        has_moved: &mut bool,
    ) -> Poll<Ended> {
        let (client, server) = (&joined.client, &joined.server);
        let ends = [(client, server), (server, client)];
        let sides = [[Side::Client, Side::Server], [Side::Server, Side::Client]];
        for at in 0..2 {
            let is_last = self.ways[1 - at].is_over;
            let (pipes, passed) = ((self.pipes, chunk), &joined.passed[at]);
            let moved = self.ways[at].poll(cx, ends[at], pipes, passed, (is_last, &mut *has_moved));
            if let Poll::Ready(Err(broken)) = moved {
                let [source, sink] = sides[at];
                return Poll::Ready(match broken {
                    Broken::Source(error) => Ended::of_error(source, &error),
                    Broken::Sink(error) => Ended::of_error(sink, &error),
                    Broken::Own => Ended::Exhausted,
                });
            }
        }
        match self.ways.iter().all(|way| way.is_over) {
            true => Poll::Ready(Ended::InOrder),
            false => Poll::Pending,
        }
    }
}

impl Drop for Both<'_> {
    fn drop(&mut self) {
        self.ways.iter_mut().for_each(|way| way.abandon(self.pipes));
    }
}

/// Since when nothing was sent. The alarm is set anew only when it went off: setting it at every packet would cost more
/// than the packet.
struct Idle {
    since: Instant,
    most: Duration,
}

impl Idle {
    fn poll(&mut self, cx: &mut Context<'_>, mut alarm: Pin<&mut Sleep>) -> Poll<Ended> {
        while alarm.as_mut().poll(cx).is_ready() {
            let until = self.since + self.most;
            if Instant::now() >= until {
                return Poll::Ready(Ended::Idle);
            }
            alarm.as_mut().reset(until.into());
        }
        Poll::Pending
    }
}
