//! The whole proxy. All setup that can fail is done first. Then the workers start, and this thread
//! waits for signals and serves metrics.

use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::json;
use socket2::Socket;
use tokio::net::unix::pipe;
use tokio::sync::watch;
use tokio::time::sleep;

use crate::error::{ProxyError, system, wrong};
use crate::interception::{
    Interception, KeptPrivileges, PathSettings, Paths, RouteSettings, Slot, drop_privileges,
};
use crate::limits::{Limits, raise_descriptors};
use crate::live_limits::LimitsInForce;
use crate::notices::notices;
use crate::options::{Destination, Options, SideOptions};
use crate::outbound::OutboundRegistry;
use crate::service;
use crate::signals::{Blocked, Request, Signals};
use crate::sockets::{Effective, SocketConfig, effective, listen, listen_error};
use crate::telemetry::counts::Totals;
use crate::telemetry::log::{Log, Output, Writer};
use crate::telemetry::{metrics, page::page};
use crate::worker::{Common, Stage, Worker};

/// State of the proxy when clients can connect.
#[derive(Debug, Clone)]
pub struct Started {
    /// Address and port for clients.
    pub listen: SocketAddr,
    /// Address and port of the metrics.
    pub metrics: Option<SocketAddr>,
    /// Limits of connections and buffers.
    pub limits: Limits,
    /// Settings of TCP towards clients and towards servers, as the kernel reports them.
    pub sides: [Effective; 2],
    /// Notices about this configuration, in sentences.
    pub notices: Vec<String>,
}

/// Result of a run.
#[derive(Debug, Clone)]
pub struct Summary {
    /// Totals of all connections.
    pub totals: Totals,
    /// Number of lines that were not written to the log.
    pub lost_lines: u64,
    /// Number of transparent connections that could not use the client's port because it was taken.
    pub other_ports: u64,
}

/// Relays until a signal ends the proxy. At the first SIGTERM or SIGINT the proxy stops accepting,
/// and open connections may continue for the duration of `drain`. A second signal ends all
/// connections. SIGHUP reopens the log and reads the file of `limits` again. `started` is called
/// when clients can connect.
///
/// `guard` is the read end of a pipe that the parent process holds open. With a guard, this process
/// drops its privileges, and the parent removes the network settings at the end. If the parent
/// exits first, the proxy ends.
///
/// # Errors
/// [`ProxyError::Wrong`] if an option cannot be used on this host; the proxy has not started.
/// [`ProxyError::Orphaned`] if the parent exits first. Otherwise [`ProxyError::System`].
pub fn run(
    options: Options,
    guard: Option<OwnedFd>,
    started: impl FnOnce(&Started),
) -> Result<Summary, ProxyError> {
    // Before any thread is started, because threads inherit the signal mask.
    let signals = Blocked::new().map_err(system("cannot wait for signals"))?;
    let descriptors = raise_descriptors().map_err(system("cannot raise the limit of open files"))?;
    let (live_limits, options, limits) = LimitsInForce::read(options, descriptors)?;
    let slot = slot(&options)?;
    let settings = [options.client.settings(), options.server.settings()];
    let paths = slot.clone().map(|slot| Paths::new(slot, settings)).transpose()?;
    let [client_mark, server_mark] = paths.as_ref().map_or([None; 2], |paths| paths.marks);
    let client = socket_config(&options.client, client_mark, &limits, &options);
    let server = socket_config(&options.server, server_mark, &limits, &options);
    let listeners = listeners(&options, &client)?;
    let are_intercepted = matches!(options.destination, Destination::Original(_));
    let sides = effective(&listeners[0], [&client, &server], are_intercepted)?;
    let address = local_address(&listeners[0])?;
    let metrics = options.metrics.map(metrics_listener).transpose()?;
    let interception = match (&options.destination, slot) {
        (Destination::Original(selection), Some(slot)) => {
            Some(Interception::new(slot, selection, address.port())?)
        }
        _ => None,
    };
    let log_output = options.log.as_deref().map(open_log).transpose()?;
    // Before privileges are dropped: reading the host's firewall rules requires them.
    let notices = notices(&options.destination, address);
    if guard.is_some() {
        // This process keeps the use of other hosts' addresses and ports. It can no longer change
        // network settings.
        drop_privileges(KeptPrivileges::Addresses).map_err(system("cannot drop rights"))?;
    }
    let (log, writer) = log_output.map(Log::new).unzip();
    let signals = signals.start_receiving().map_err(system("cannot wait for signals"))?;
    let state = Started {
        listen: address,
        metrics: metrics.as_ref().and_then(|listener| listener.local_addr().ok()),
        limits,
        sides,
        notices,
    };
    let (open, counts) = Default::default();
    let registry = Arc::new(OutboundRegistry::new(address.port()));
    let common = Arc::new(Common {
        options,
        server,
        chunk: limits.chunk,
        limits: live_limits,
        open,
        counts,
        log,
        registry,
        listen: address,
    });
    let (stage_sender, stage) = watch::channel(Stage::Open);
    let workers: Vec<_> = listeners.into_iter().map(|listener| start(&common, listener, &stage)).collect();
    if let Some(log) = &common.log {
        log.add(&started_event(&state));
    }
    started(&state);
    service::ready();
    let ended = serve_until_end(&common, metrics, guard, signals, &stage_sender, &workers);
    let _ = stage_sender.send(Stage::Over);
    for worker in workers {
        worker
            .join()
            .unwrap_or_else(|_| Err(io::Error::other("a worker failed")))
            .map_err(system("a worker ended"))?;
    }
    // Removes the network settings. After `drop_privileges` the rules stay, and the parent process
    // removes them.
    drop((interception, paths));
    let summary = finish(common, writer)?;
    ended.map(|()| summary)
}

/// Reserves a slot if the options need policy routing or interception. A slot has the firewall
/// marks, routing tables and rules of one proxy in this network namespace.
fn slot(options: &Options) -> Result<Option<Arc<Slot>>, ProxyError> {
    let has_paths = [options.client.path, options.server.path] != [PathSettings::default(); 2];
    if !has_paths && !matches!(options.destination, Destination::Original(_)) {
        return Ok(None);
    }
    let reason = if has_paths {
        "initial_window and min_rto are settings of routes, which only root can create"
    } else {
        "--transparent requires root to redirect connections"
    };
    let refused = |error: io::Error| match error.kind() {
        io::ErrorKind::PermissionDenied => {
            wrong(format!("{reason} ({error}): run as root, or leave them out"))
        }
        _ => wrong(format!("these options require nftables ({error})")),
    };
    Ok(Some(Arc::new(Slot::free().map_err(refused)?)))
}

/// Socket options of one side. Buffers that `side` does not set get their share of the limit.
fn socket_config(side: &SideOptions, mark: Option<u32>, limits: &Limits, options: &Options) -> SocketConfig {
    let mut side = side.clone();
    if let Some([receive, send]) = limits.of_socket() {
        side.receive_buffer = side.receive_buffer.or(Some(receive));
        side.send_buffer = side.send_buffer.or(Some(send));
    }
    SocketConfig { side, user_timeout: options.user_timeout, mark }
}

/// Opens one listener per worker at the same address. The kernel distributes clients among them.
fn listeners(options: &Options, client: &SocketConfig) -> Result<Vec<Socket>, ProxyError> {
    // With one worker the listener has no SO_REUSEPORT, so an address that another process uses is
    // an error.
    let for_one_worker = Options { workers: 1, ..options.clone() };
    drop(clear_linger(listen(&for_one_worker, options.listen, client)?)?);
    let first = listen(options, options.listen, client)?;
    let address = local_address(&first)?;
    let mut listeners = vec![first];
    for _ in 1..options.workers {
        listeners.push(listen(options, address, client)?);
    }
    Ok(listeners)
}

/// Resets the linger time of a listener that is only tried, so that closing it resets no client.
fn clear_linger(listener: Socket) -> Result<Socket, ProxyError> {
    listener.set_linger(None).map_err(system("cannot test the address"))?;
    Ok(listener)
}

fn local_address(listener: &Socket) -> Result<SocketAddr, ProxyError> {
    let address = listener.local_addr().map_err(system("the listener has no address"))?;
    address.as_socket().ok_or_else(|| wrong("the listener has no IP address"))
}

fn metrics_listener(at: SocketAddr) -> Result<std::net::TcpListener, ProxyError> {
    let refused = |error: io::Error| wrong(format!("--metrics {at}: {}", listen_error(at, &error)));
    let listener = std::net::TcpListener::bind(at).map_err(refused)?;
    listener.set_nonblocking(true).map_err(refused)?;
    Ok(listener)
}

fn open_log(path: &Path) -> Result<Output, ProxyError> {
    Output::open(path).map_err(|error| wrong(format!("--log {}: {error}", path.display())))
}

fn start(
    common: &Arc<Common>,
    listener: Socket,
    stage: &watch::Receiver<Stage>,
) -> JoinHandle<io::Result<()>> {
    let (worker, stage) = (Worker::new(common.clone()), stage.clone());
    std::thread::spawn(move || worker.work(listener.into(), stage))
}

/// The log's first event: addresses, limits, and the effective socket and route settings of both
/// sides.
fn started_event(state: &Started) -> serde_json::Value {
    let settings = |settings: &RouteSettings| {
        json!({
            "congestion_control": settings.congestion_control,
            "initial_window": settings.path.initial_window,
            "min_rto_s": settings.path.min_rto.map(|time| time.as_secs_f64()),
        })
    };
    let side = |side: &Effective| {
        json!({
            "receive_buffer": side.receive_buffer,
            "send_buffer": side.send_buffer,
            "by_routes": side.route_settings.iter().map(settings).collect::<Vec<_>>(),
        })
    };
    json!({
        "event": "started",
        "listen": state.listen.to_string(),
        "metrics": state.metrics.map(|address| address.to_string()),
        "connections": state.limits.connections,
        "buffer": state.limits.buffer,
        "client_side": side(&state.sides[0]),
        "server_side": side(&state.sides[1]),
    })
}

/// Serves metrics and handles signals until the proxy is to end.
fn serve_until_end(
    common: &Arc<Common>,
    metrics: Option<std::net::TcpListener>,
    guard: Option<OwnedFd>,
    mut signals: Signals,
    stage_sender: &watch::Sender<Stage>,
    workers: &[JoinHandle<io::Result<()>>],
) -> Result<(), ProxyError> {
    let failed = system("cannot wait for events");
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build().map_err(&failed)?;
    runtime.block_on(async {
        if let Some(listener) = metrics {
            let listener = tokio::net::TcpListener::from_std(listener).map_err(&failed)?;
            let common = common.clone();
            tokio::spawn(metrics::serve(listener, move || {
                let open = common.open.load(Ordering::Relaxed);
                page(
                    &common.counts.totals(),
                    open,
                    common.limits.current().connections,
                    common.registry.other_ports(),
                )
            }));
        }
        let guard = guard.map(pipe::Receiver::from_owned_fd).transpose().map_err(&failed)?;
        let mut orphaned = pin!(until_closed(guard));
        unless_orphaned(end_requested(&mut signals, common), orphaned.as_mut()).await?;
        service::stopping();
        let _ = stage_sender.send(Stage::Draining);
        // Ends when all workers have finished, at a second signal, or when `drain` has passed.
        let drained = async {
            let mut second_signal = pin!(end_requested(&mut signals, common));
            let mut drain_timeout = pin!(sleep(common.limits.current().drain));
            let mut tick = tokio::time::interval(Duration::from_millis(10));
            poll_fn(|cx| {
                let is_over = workers.iter().all(JoinHandle::is_finished);
                let has_second_signal = second_signal.as_mut().poll(cx).is_ready();
                // A thread that finishes wakes no task, so this is polled every 10 ms. The tick is
                // polled until pending, so that the next tick wakes this task.
                while tick.poll_tick(cx).is_ready() {}
                if is_over || has_second_signal || drain_timeout.as_mut().poll(cx).is_ready() {
                    Poll::Ready(())
                } else {
                    Poll::Pending
                }
            })
            .await;
        };
        unless_orphaned(drained, orphaned).await
    })
}

/// Waits for a signal that ends the proxy. Reopens the log and reads the limits at other signals.
async fn end_requested(signals: &mut Signals, common: &Common) {
    while let Some(Request::Reload) = signals.arrived.recv().await {
        service::reloading();
        if let Some(log) = &common.log {
            log.reopen();
        }
        reload_limits(common);
        service::ready();
    }
}

/// Reads the file of `--limits` again, if there is one. A mistake in it is reported, and the limits
/// stay as they are.
fn reload_limits(common: &Common) {
    let Some(read) = common.limits.reload() else { return };
    let event = match read {
        Ok(limits) => json!({
            "event": "limits",
            "connections": limits.connections,
            "connect_timeout_s": limits.connect_timeout.as_secs_f64(),
            "idle_timeout_s": limits.idle_timeout.as_secs_f64(),
            "drain_s": limits.drain.as_secs_f64(),
        }),
        Err(error) => {
            eprintln!("umts: {error}; the limits stay as they are");
            json!({ "event": "limits_refused", "error": error.to_string() })
        }
    };
    if let Some(log) = &common.log {
        log.add(&event);
    }
}

/// Waits until the write end of the pipe is closed. Without a pipe, never returns.
async fn until_closed(pipe: Option<pipe::Receiver>) {
    let Some(pipe) = pipe else { return std::future::pending().await };
    loop {
        let is_open = pipe.readable().await.is_ok();
        match pipe.try_read(&mut [0; 16]) {
            Err(error) if is_open && error.kind() == io::ErrorKind::WouldBlock => {}
            Ok(1..) => {}
            Ok(0) | Err(_) => return,
        }
    }
}

/// Waits for `action`.
///
/// # Errors
/// [`ProxyError::Orphaned`] if the guard ends before `action` does.
async fn unless_orphaned(
    action: impl Future<Output = ()>,
    mut orphaned: Pin<&mut impl Future<Output = ()>>,
) -> Result<(), ProxyError> {
    let mut action = pin!(action);
    poll_fn(|cx| match (action.as_mut().poll(cx), orphaned.as_mut().poll(cx)) {
        (Poll::Ready(()), _) => Poll::Ready(Ok(())),
        (Poll::Pending, Poll::Ready(())) => Poll::Ready(Err(ProxyError::Orphaned)),
        (Poll::Pending, Poll::Pending) => Poll::Pending,
    })
    .await
}

fn finish(common: Arc<Common>, writer: Option<Writer>) -> Result<Summary, ProxyError> {
    let (totals, other_ports) = (common.counts.totals(), common.registry.other_ports());
    // The log's writer ends when the last reference to the log is dropped.
    drop(common);
    let lost_lines = writer.map(Writer::finish).transpose().map_err(system("cannot write the log"))?;
    Ok(Summary { totals, lost_lines: lost_lines.unwrap_or(0), other_ports })
}
