//! A worker: a thread with its own listener. A connection stays with the worker that accepted it.

use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use socket2::SockRef;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, Semaphore, watch};
use tokio::task::yield_now;
use tokio::time::{Instant, sleep};

use crate::connection::{Record, serve};
use crate::live_limits::LimitsInForce;
use crate::options::{Options, unmapped};
use crate::outbound::OutboundRegistry;
use crate::relay::Bounds;
use crate::relay::ended::Ended;
use crate::relay::pipes::Pipes;
use crate::sockets::SocketConfig;
use crate::telemetry::counts::Counts;
use crate::telemetry::log::Log;

/// Pause of accepting after an error of this host, such as no free descriptor.
const PAUSE_AFTER_ERROR: Duration = Duration::from_millis(50);

/// Number of clients that are accepted before the open connections are served again.
const ACCEPTS_PER_YIELD: u32 = 16;

/// Maximum number of host names that one worker resolves simultaneously.
const MAX_RESOLVING: usize = 8;

/// State that all workers share.
#[derive(Debug)]
pub struct Common {
    pub options: Options,
    /// Address and port of the listener.
    pub listen: SocketAddr,
    /// Socket options of connections to servers.
    pub server: SocketConfig,
    /// Maximum number of bytes that one system call moves.
    pub chunk: usize,
    pub limits: LimitsInForce,
    /// Number of open connections.
    pub open: AtomicUsize,
    /// Counters.
    pub counts: Counts,
    /// The log, with a line for each connection, if one is written.
    pub log: Option<Log>,
    /// Connections that the proxy opened to its own port, to detect loops.
    pub registry: Arc<OutboundRegistry>,
}

/// Stage of the proxy's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Accepts connections.
    Open,
    /// Accepts no new connections; open ones continue.
    Draining,
    /// All connections end.
    Over,
}

/// A thread that accepts and serves connections.
#[derive(Debug)]
pub struct Worker {
    /// State shared with the other workers.
    pub common: Arc<Common>,
    /// Pool of pipes of this worker.
    pub pipes: Pipes,
    /// Limits the number of host names being resolved.
    pub resolver_permits: Arc<Semaphore>,
    /// Number of open connections of this worker.
    open: AtomicUsize,
    /// Notified when the number of open connections becomes 0.
    emptied: Notify,
}

impl Common {
    /// Bounds of a relay that begins now.
    pub fn bounds(&self) -> Bounds {
        Bounds { chunk: self.chunk, idle: self.limits.current().idle_timeout }
    }
}

impl Worker {
    /// Creates a worker without connections.
    pub fn new(common: Arc<Common>) -> Self {
        let resolver_permits = Arc::new(Semaphore::new(MAX_RESOLVING));
        Worker {
            common,
            pipes: Pipes::default(),
            resolver_permits,
            open: AtomicUsize::new(0),
            emptied: Notify::new(),
        }
    }

    /// Runs until the stage is `Over`, or until it is `Draining` and the last connection has ended.
    ///
    /// # Errors
    /// The error of the event loop if it cannot be created or cannot take the listener.
    pub fn work(self, listener: std::net::TcpListener, mut stage: watch::Receiver<Stage>) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .max_blocking_threads(MAX_RESOLVING)
            .build()?;
        let worker = Arc::new(self);
        let ended = runtime.block_on(async {
            let listener = TcpListener::from_std(listener)?;
            run_until(&mut stage, Stage::Draining, accept_all(&worker, &listener)).await;
            worker.accept_pending(&listener)?;
            drop(listener);
            run_until(&mut stage, Stage::Over, worker.wait_until_empty()).await;
            Ok(())
        });
        // Connections that are still open end here. Their sockets have a linger time of zero, so
        // both peers get a reset. Threads that wait for a name server are not joined.
        runtime.shutdown_background();
        ended
    }

    /// Starts to serve a client, or drops its connection if the limit of connections is reached.
    fn accept_client(self: &Arc<Self>, client: TcpStream, address: SocketAddr) {
        if self.common.open.fetch_add(1, Ordering::Relaxed) >= self.common.limits.current().connections {
            self.common.open.fetch_sub(1, Ordering::Relaxed);
            self.common.counts.refused();
            return;
        }
        self.open.fetch_add(1, Ordering::Relaxed);
        let record = Record::new(self.clone(), address);
        if is_reset(&client) {
            record.end(Ended::ResetByClient);
        } else {
            drop(tokio::spawn(serve(record, client)));
        }
    }

    /// Removes one connection from the counts of open ones.
    pub fn remove_connection(&self) {
        self.common.open.fetch_sub(1, Ordering::Relaxed);
        if self.open.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.emptied.notify_one();
        }
    }

    async fn wait_until_empty(&self) {
        while self.open.load(Ordering::Relaxed) > 0 {
            self.emptied.notified().await;
        }
    }

    /// Accepts the clients that have already completed the TCP handshake. Calls `accept` directly,
    /// because the event queue may not have reported these clients yet.
    fn accept_pending(self: &Arc<Self>, listener: &TcpListener) -> io::Result<()> {
        loop {
            match SockRef::from(listener).accept() {
                Ok((client, address)) => {
                    client.set_nonblocking(true)?;
                    let client = TcpStream::from_std(client.into())?;
                    if let Some(address) = address.as_socket() {
                        self.accept_client(client, unmapped(address));
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                // The queue is empty, or this host has no free descriptor.
                Err(_) => return Ok(()),
            }
        }
    }
}

/// Accepts clients without end.
async fn accept_all(worker: &Arc<Worker>, listener: &TcpListener) {
    // Setting a timer that becomes the earliest one costs a system call that re-arms the event
    // queue. While this timer is pending, no timer of a connection is the earliest.
    let shortest_timeout = || {
        let limits = worker.common.limits.current();
        limits.connect_timeout.min(limits.idle_timeout)
    };
    let mut first_due = pin!(sleep(Duration::ZERO));
    let mut accepted = 0;
    loop {
        accepted += 1;
        if accepted % ACCEPTS_PER_YIELD == 0 {
            yield_now().await;
        }
        match listener.accept().await {
            Ok((client, address)) => {
                let now = Instant::now();
                if first_due.deadline() <= now {
                    first_due.as_mut().reset(now + shortest_timeout());
                }
                worker.accept_client(client, unmapped(address));
            }
            // The client has reset the connection before it was accepted.
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            // An error of this host, for example no free descriptor: the client stays in the
            // listener's queue.
            Err(_) => sleep(PAUSE_AFTER_ERROR).await,
        }
    }
}

/// Whether the client has reset its connection before it was accepted.
fn is_reset(client: &TcpStream) -> bool {
    !matches!(client.take_error(), Ok(None))
}

/// Runs `action` until it completes or the stage is reached.
async fn run_until(stage: &mut watch::Receiver<Stage>, reached: Stage, action: impl Future<Output = ()>) {
    let mut action = pin!(action);
    let mut end = pin!(stage.wait_for(|&stage| stage >= reached));
    std::future::poll_fn(|cx| match (action.as_mut().poll(cx), end.as_mut().poll(cx)) {
        (Poll::Pending, Poll::Pending) => Poll::Pending,
        _ => Poll::Ready(()),
    })
    .await;
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;
    use crate::live_limits::LiveLimits;
    use crate::options::SideOptions;

    /// Returns a non-blocking listener that resets its clients on close, and an address at which no
    /// process listens.
    fn listener_and_closed_port() -> (std::net::TcpListener, SocketAddr) {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.set_nonblocking(true).expect("a listener that does not block");
        SockRef::from(&listener)
            .set_linger(Some(Duration::ZERO))
            .expect("a listener that resets its clients");
        let closed = std::net::TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        (listener, closed.expect("the socket has an address"))
    }

    /// State of workers that listen at `listen` and connect to `to`.
    fn common(listen: SocketAddr, to: SocketAddr, max_connections: usize) -> Arc<Common> {
        let pairs = [("--listen", listen), ("--to", to)];
        let pairs = pairs.map(|(name, address)| (name.to_owned(), address.to_string()));
        Arc::new(Common {
            options: Options::from_pairs(&pairs).expect("the options are valid"),
            listen,
            server: SocketConfig { side: SideOptions::default(), user_timeout: None, mark: None },
            chunk: 4096,
            limits: LimitsInForce::fixed(LiveLimits {
                connections: max_connections,
                connect_timeout: Duration::from_secs(30),
                idle_timeout: Duration::from_secs(60),
                drain: Duration::from_secs(30),
            }),
            open: AtomicUsize::new(0),
            counts: Counts::default(),
            log: None,
            registry: Arc::new(OutboundRegistry::new(listen.port())),
        })
    }

    /// Outcomes of the ended connections, with their counts.
    fn outcomes(common: &Common) -> Vec<(Ended, u64)> {
        common.counts.totals().ended.into_iter().collect()
    }

    /// Outcome of a client with a complete handshake when the proxy enters `stage`, and the result
    /// of the client's read.
    fn end_before_accept(stage: Stage) -> (Vec<(Ended, u64)>, io::Result<usize>) {
        let (listener, closed) = listener_and_closed_port();
        let listen = listener.local_addr().expect("the socket has an address");
        let mut client = std::net::TcpStream::connect(listen).expect("a connection");
        let common = common(listen, closed, 1);
        let (_sender, stage) = watch::channel(stage);
        Worker::new(common.clone()).work(listener, stage).expect("an event queue");
        assert_eq!(common.open.load(Ordering::Relaxed), 0);
        (outcomes(&common), client.read(&mut [0; 1]))
    }

    #[test]
    fn accepted_client_is_reset_and_logged_when_the_proxy_stops() {
        let (ended, read) = end_before_accept(Stage::Over);
        assert_eq!(ended, [(Ended::Stopped, 1)]);
        assert_eq!(read.map_err(|error| error.kind()), Err(io::ErrorKind::ConnectionReset));
    }

    #[test]
    fn accepted_client_is_connected_while_draining() {
        let (ended, _) = end_before_accept(Stage::Draining);
        assert_eq!(ended, [(Ended::Refused, 1)]);
    }

    #[test]
    fn client_that_was_reset_before_accept_is_not_connected() {
        let (listener, closed) = listener_and_closed_port();
        let listen = listener.local_addr().expect("the socket has an address");
        let client = std::net::TcpStream::connect(listen).expect("a connection");
        SockRef::from(&client).set_linger(Some(Duration::ZERO)).expect("a reset on close");
        drop(client);
        let common = common(listen, closed, 1);
        let (_sender, stage) = watch::channel(Stage::Draining);
        Worker::new(common.clone()).work(listener, stage).expect("an event queue");
        assert_eq!(
            outcomes(&common),
            [(Ended::ResetByClient, 1)],
            "a connection to the server would be refused"
        );
    }

    #[test]
    fn open_connections_are_served_between_accepts() {
        // Fewer than the backlog of a listener of the standard library.
        const CLIENTS: u64 = 100;
        let (listener, closed) = listener_and_closed_port();
        let listen = listener.local_addr().expect("the socket has an address");
        let connect = |_| std::net::TcpStream::connect(listen).expect("a connection");
        let _clients: Vec<_> = (0..CLIENTS).map(connect).collect();
        let common = common(listen, closed, CLIENTS as usize);
        let worker = Arc::new(Worker::new(common.clone()));
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build().unwrap();
        runtime.block_on(async {
            let listener = TcpListener::from_std(listener).expect("an event queue");
            tokio::spawn(async move { accept_all(&worker, &listener).await });
            let mut accepted_before = 0;
            while accepted_before < CLIENTS {
                yield_now().await;
                let accepted = common.counts.totals().accepted;
                assert!(
                    accepted - accepted_before <= u64::from(ACCEPTS_PER_YIELD),
                    "{accepted_before}, then {accepted}"
                );
                accepted_before = accepted;
            }
        });
    }
}
