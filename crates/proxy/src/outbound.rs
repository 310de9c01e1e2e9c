//! Opens connections to servers, and recognises the proxy's own connections when they come back.
//!
//! A connection starts from an address of this host. In transparent mode it starts from the
//! client's address and port.

use std::collections::BTreeSet;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nix::libc::{EADDRINUSE, EADDRNOTAVAIL, EINPROGRESS};
use socket2::{Domain, Protocol, SockRef, Socket, Type};
use tokio::io::Interest;
use tokio::net::TcpStream;

use crate::options::canonical;
use crate::sockets::SocketConfig;

/// The ends of a connection that the proxy opened. The accepting side sees `from` as the address of
/// its peer and `to` as its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Ends {
    from: SocketAddr,
    to: SocketAddr,
}

/// Registry of connections that could loop: those the proxy opened to its own listening port.
#[derive(Debug)]
pub struct OutboundRegistry {
    listen_port: u16,
    open: Mutex<BTreeSet<Ends>>,
    other_ports: AtomicU64,
}

impl OutboundRegistry {
    /// Creates an empty registry for a proxy that listens on port `listen_port`.
    pub fn new(listen_port: u16) -> Self {
        OutboundRegistry { listen_port, open: Mutex::default(), other_ports: AtomicU64::new(0) }
    }

    /// Whether a registered connection is open. Usually there is none, and callers then skip the
    /// system call for the own address of an accepted socket.
    pub fn has_open(&self) -> bool {
        !self.open().is_empty()
    }

    /// Whether the connection from `client` to `own` was opened by the proxy. Relaying such a
    /// connection would make the proxy connect to itself without end.
    ///
    /// Both addresses are compared: a client on this host may use the same port towards the proxy
    /// that the proxy uses towards a server.
    pub fn contains(&self, client: SocketAddr, own: SocketAddr) -> bool {
        self.open().contains(&Ends { from: client, to: own })
    }

    /// Number of transparent connections that could not use the client's port because it was taken.
    pub fn other_ports(&self) -> u64 {
        self.other_ports.load(Ordering::Relaxed)
    }

    fn register(self: &Arc<Self>, ends: Ends) -> Registration {
        self.open().insert(ends);
        Registration { ends, registry: self.clone() }
    }

    fn open(&self) -> MutexGuard<'_, BTreeSet<Ends>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps a connection in the [`OutboundRegistry`]. Dropping the guard removes the entry.
#[derive(Debug)]
pub struct Registration {
    ends: Ends,
    registry: Arc<OutboundRegistry>,
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.registry.open().remove(&self.ends);
    }
}

/// A connection attempt: the SYN is sent, the server has not answered.
#[derive(Debug)]
pub struct Outbound {
    stream: TcpStream,
    registration: Option<Registration>,
}

/// Starts to connect to `to`. With `client`, the connection starts from the client's address.
///
/// If the client's port is taken, the kernel chooses another port of the client's address.
///
/// # Errors
/// The error of `socket`, `bind` or `connect`, for example no route to the server.
pub fn start_connect(
    to: SocketAddr,
    server: &SocketConfig,
    registry: &Arc<OutboundRegistry>,
    client: Option<SocketAddr>,
) -> io::Result<Outbound> {
    let to = canonical(to);
    let socket = match client {
        None => open(to, server, None)?,
        Some(client) => open(to, server, Some(client)).or_else(|error| {
            // The kernel may hold the client's last connection from this port in TIME-WAIT.
            if !matches!(error.raw_os_error(), Some(EADDRINUSE | EADDRNOTAVAIL)) {
                return Err(error);
            }
            registry.other_ports.fetch_add(1, Ordering::Relaxed);
            open(to, server, Some(SocketAddr::new(client.ip(), 0)))
        })?,
    };
    let stream = TcpStream::from_std(socket.into())?;
    let may_loop = client.is_none() && to.port() == registry.listen_port;
    let registration =
        if may_loop { Some(registry.register(Ends { from: stream.local_addr()?, to })) } else { None };
    Ok(Outbound { stream, registration })
}

impl Outbound {
    /// Waits for the server's answer and returns the established connection.
    ///
    /// # Errors
    /// The kernel's error if the server refuses the connection or cannot be reached.
    pub async fn connected(self) -> io::Result<(TcpStream, Option<Registration>)> {
        let Outbound { stream, registration } = self;
        let ready = stream.ready(Interest::WRITABLE | Interest::ERROR).await?;
        // A socket that is writable without an error is connected: skip the SO_ERROR query.
        let has_failed = ready.is_error() || ready.is_write_closed();
        match if has_failed { stream.take_error()? } else { None } {
            Some(error) => Err(error),
            None => Ok((stream, registration)),
        }
    }
}

/// Creates a socket with the options of the server side and starts a non-blocking `connect`.
fn open(to: SocketAddr, server: &SocketConfig, from: Option<SocketAddr>) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(to), Type::STREAM.nonblocking(), Some(Protocol::TCP))?;
    server.apply(&SockRef::from(&socket), "--server-set")?;
    if let Some(from) = from {
        socket.set_ip_transparent_v4(true)?;
        socket.set_reuse_address(true)?;
        socket.bind(&from.into())?;
    }
    match socket.connect(&to.into()) {
        Err(error) if error.raw_os_error() != Some(EINPROGRESS) => Err(error),
        _ => Ok(socket),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::SideOptions;

    #[test]
    fn registers_loop_candidates_until_they_close() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let own = listener.local_addr().unwrap();
            let registry = Arc::new(OutboundRegistry::new(own.port()));
            let config = SocketConfig { side: SideOptions::default(), user_timeout: None, mark: None };
            let outbound = start_connect(own, &config, &registry, None).unwrap();
            let (_stream, registration) = outbound.connected().await.unwrap();
            let (_accepted, client) = listener.accept().await.unwrap();
            assert!(registry.has_open() && registry.contains(client, own));
            let other = "127.0.0.1:9".parse().unwrap();
            assert!(!registry.contains(client, other), "same source port, other destination");
            drop(registration);
            assert!(!registry.has_open());
        });
    }

    #[test]
    fn registers_loops_with_the_address_that_the_kernel_chose() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let own = listener.local_addr().unwrap();
            let config = SocketConfig { side: SideOptions::default(), user_timeout: None, mark: None };
            for ip in ["0.0.0.0", "::ffff:127.0.0.1", "::ffff:0.0.0.0"] {
                let registry = Arc::new(OutboundRegistry::new(own.port()));
                let to = SocketAddr::new(ip.parse().unwrap(), own.port());
                let (_stream, registration) =
                    start_connect(to, &config, &registry, None).unwrap().connected().await.unwrap();
                let (_accepted, client) = listener.accept().await.unwrap();
                assert!(registration.is_some() && registry.contains(client, own), "{ip}");
            }
        });
    }

    #[test]
    fn does_not_register_connections_to_other_ports() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let server = listener.local_addr().unwrap();
            let registry = Arc::new(OutboundRegistry::new(server.port() ^ 1));
            let config = SocketConfig { side: SideOptions::default(), user_timeout: None, mark: None };
            let (_stream, registration) =
                start_connect(server, &config, &registry, None).unwrap().connected().await.unwrap();
            assert!(registration.is_none() && !registry.has_open());
        });
    }

    #[test]
    fn returns_connection_refused() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
        runtime.block_on(async {
            let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
            let config = SocketConfig { side: SideOptions::default(), user_timeout: None, mark: None };
            let registry = Arc::new(OutboundRegistry::new(1));
            let refused = match start_connect(closed, &config, &registry, None) {
                Ok(outbound) => outbound.connected().await.map(drop),
                Err(error) => Err(error),
            };
            assert_eq!(refused.map_err(|error| error.kind()), Err(io::ErrorKind::ConnectionRefused));
        });
    }
}
