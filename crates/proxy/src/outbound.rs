//! Connections that the proxy opens: to servers, from an address of this host or, where clients are intercepted, from the
//! client's own address and port.

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

/// The proxy's own connections that may come back to it, as those who accept them see them: where from, and where to.
#[derive(Debug)]
pub struct OutboundRegistry {
    listen: u16,
    known: Mutex<BTreeSet<(SocketAddr, SocketAddr)>>,
    other_ports: AtomicU64,
}

impl OutboundRegistry {
    /// None yet, of a proxy whose clients connect to this port.
    pub fn new(listen: u16) -> Self {
        OutboundRegistry { listen, known: Mutex::default(), other_ports: AtomicU64::new(0) }
    }

    /// Whether there are any: as a rule there are none, and nobody has to be asked where a client came to.
    pub fn are_any(&self) -> bool {
        !self.known().is_empty()
    }

    /// Whether a client is the proxy itself: it would connect to itself for ever. Its address alone does not say: a client
    /// on this host may have the same port towards the proxy as the proxy has towards a server.
    pub fn has(&self, client: SocketAddr, own: SocketAddr) -> bool {
        self.known().contains(&(client, own))
    }

    /// Connections in the client's name whose port is not the client's: that one was taken.
    pub fn other_ports(&self) -> u64 {
        self.other_ports.load(Ordering::Relaxed)
    }

    fn depart(self: &Arc<Self>, from: SocketAddr, to: SocketAddr) -> Registration {
        self.known().insert((from, to));
        Registration { ends: (from, to), known: self.clone() }
    }

    fn known(&self) -> MutexGuard<'_, BTreeSet<(SocketAddr, SocketAddr)>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection to a server, known to come from the proxy as long as this lives.
#[derive(Debug)]
pub struct Registration {
    ends: (SocketAddr, SocketAddr),
    known: Arc<OutboundRegistry>,
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.known.known().remove(&self.ends);
    }
}

/// A connection on its way to a server.
#[derive(Debug)]
pub struct Outbound {
    stream: TcpStream,
    departure: Option<Registration>,
}

/// Sets out to a server, in the name of a client if one is given.
///
/// # Errors
/// The kernel's: there is no way.
pub fn start_connect(
    to: SocketAddr,
    server: &SocketConfig,
    known: &Arc<OutboundRegistry>,
    client: Option<SocketAddr>,
) -> io::Result<Outbound> {
    let to = canonical(to);
    let socket = match client {
        None => open(to, server, None)?,
        Some(client) => open(to, server, Some(client)).or_else(|error| {
            // Of the client's last connection of this port the kernel may still wait for stray segments.
            if !matches!(error.raw_os_error(), Some(EADDRINUSE | EADDRNOTAVAIL)) {
                return Err(error);
            }
            known.other_ports.fetch_add(1, Ordering::Relaxed);
            open(to, server, Some(SocketAddr::new(client.ip(), 0)))
        })?,
    };
    let stream = TcpStream::from_std(socket.into())?;
    let may_come_back = client.is_none() && to.port() == known.listen;
    let departure = if may_come_back { Some(known.depart(stream.local_addr()?, to)) } else { None };
    Ok(Outbound { stream, departure })
}

impl Outbound {
    /// The connection, when the server has answered.
    ///
    /// # Errors
    /// The kernel's: it is refused, or there is no way.
    pub async fn arrived(self) -> io::Result<(TcpStream, Option<Registration>)> {
        let Outbound { stream, departure } = self;
        let ready = stream.ready(Interest::WRITABLE | Interest::ERROR).await?;
        // Whoever is only writable is connected: there is nothing to be asked.
        let has_failed = ready.is_error() || ready.is_write_closed();
        match if has_failed { stream.take_error()? } else { None } {
            Some(error) => Err(error),
            None => Ok((stream, departure)),
        }
    }
}

/// A socket that is on its way.
fn open(to: SocketAddr, server: &SocketConfig, from: Option<SocketAddr>) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(to), Type::STREAM.nonblocking(), Some(Protocol::TCP))?;
    server.tell(&SockRef::from(&socket), "--server-set")?;
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
    fn the_proxy_knows_its_own_connections_as_long_as_they_are_there() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let own = listener.local_addr().unwrap();
            let known = Arc::new(OutboundRegistry::new(own.port()));
            let told = SocketConfig { side: SideOptions::default(), user_timeout: None, mark: None };
            let departing = start_connect(own, &told, &known, None).unwrap();
            let (_stream, departure) = departing.arrived().await.unwrap();
            let (_accepted, client) = listener.accept().await.unwrap();
            assert!(known.are_any() && known.has(client, own));
            let other = "127.0.0.1:9".parse().unwrap();
            assert!(
                !known.has(client, other),
                "a port of its own may be a client's too, towards another end"
            );
            drop(departure);
            assert!(!known.are_any());
        });
    }

    #[test]
    fn the_proxy_knows_a_connection_to_itself_by_the_address_that_the_kernel_took() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let own = listener.local_addr().unwrap();
            let told = SocketConfig { side: SideOptions::default(), user_timeout: None, mark: None };
            for ip in ["0.0.0.0", "::ffff:127.0.0.1", "::ffff:0.0.0.0"] {
                let known = Arc::new(OutboundRegistry::new(own.port()));
                let to = SocketAddr::new(ip.parse().unwrap(), own.port());
                let (_stream, departure) =
                    start_connect(to, &told, &known, None).unwrap().arrived().await.unwrap();
                let (_accepted, client) = listener.accept().await.unwrap();
                assert!(departure.is_some() && known.has(client, own), "{ip}");
            }
        });
    }

    #[test]
    fn what_goes_to_another_port_cannot_come_back_to_the_proxy() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let there = listener.local_addr().unwrap();
            let known = Arc::new(OutboundRegistry::new(there.port() ^ 1));
            let told = SocketConfig { side: SideOptions::default(), user_timeout: None, mark: None };
            let (_stream, departure) =
                start_connect(there, &told, &known, None).unwrap().arrived().await.unwrap();
            assert!(departure.is_none() && !known.are_any());
        });
    }

    #[test]
    fn who_is_refused_hears_of_it() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
        runtime.block_on(async {
            let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
            let told = SocketConfig { side: SideOptions::default(), user_timeout: None, mark: None };
            let known = Arc::new(OutboundRegistry::new(1));
            let refused = match start_connect(closed, &told, &known, None) {
                Ok(departing) => departing.arrived().await.map(drop),
                Err(error) => Err(error),
            };
            assert_eq!(refused.map_err(|error| error.kind()), Err(io::ErrorKind::ConnectionRefused));
        });
    }
}
