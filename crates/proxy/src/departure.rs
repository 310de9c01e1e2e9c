//! Connections that the proxy opens: to servers, from an address of this host or, where clients are intercepted, from the
//! client's own address and port.

use std::collections::BTreeSet;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use nix::libc::{EADDRINUSE, EADDRNOTAVAIL, EINPROGRESS};
use socket2::{Domain, Protocol, SockRef, Socket, Type};
use tokio::net::TcpStream;

use crate::sockets::Told;

/// The proxy's own connections, as those who accept them see them: where from, and where to.
#[derive(Debug, Default)]
pub struct Outgoing {
    known: Mutex<BTreeSet<(SocketAddr, SocketAddr)>>,
    other_ports: AtomicU64,
}

impl Outgoing {
    /// Whether a client is the proxy itself: it would connect to itself for ever. Its address alone does not say: a client
    /// on this host may have the same port towards the proxy as the proxy has towards a server.
    pub fn has(&self, client: SocketAddr, own: SocketAddr) -> bool {
        self.known().contains(&(client, own))
    }

    /// Connections in the client's name whose port is not the client's: that one was taken.
    pub fn other_ports(&self) -> u64 {
        self.other_ports.load(Ordering::Relaxed)
    }

    fn known(&self) -> MutexGuard<'_, BTreeSet<(SocketAddr, SocketAddr)>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection to a server, known to come from the proxy as long as this lives.
#[derive(Debug)]
pub struct Departure<'a> {
    ends: Option<(SocketAddr, SocketAddr)>,
    known: &'a Outgoing,
}

impl Drop for Departure<'_> {
    fn drop(&mut self) {
        if let Some(ends) = self.ends {
            self.known.known().remove(&ends);
        }
    }
}

/// Connects to a server, in the name of a client if one is given.
///
/// # Errors
/// The kernel's: it is refused, or there is no way.
pub async fn connect<'a>(
    to: SocketAddr,
    server: &Told,
    known: &'a Outgoing,
    client: Option<SocketAddr>,
) -> io::Result<(TcpStream, Departure<'a>)> {
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
    let ends = if client.is_none() { Some((stream.local_addr()?, to)) } else { None };
    known.known().extend(ends);
    let departure = Departure { ends, known };
    stream.writable().await?;
    stream.take_error()?.map_or(Ok((stream, departure)), Err)
}

/// A socket that is on its way.
fn open(to: SocketAddr, server: &Told, from: Option<SocketAddr>) -> io::Result<Socket> {
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
            let known = Outgoing::default();
            let told = Told { side: SideOptions::default(), user_timeout: None, mark: None };
            let own = listener.local_addr().unwrap();
            let connecting = connect(own, &told, &known, None);
            let (_stream, departure) = connecting.await.unwrap();
            let (_accepted, client) = listener.accept().await.unwrap();
            assert!(known.has(client, own));
            let other = "127.0.0.1:9".parse().unwrap();
            assert!(
                !known.has(client, other),
                "a port of its own may be a client's too, towards another end"
            );
            drop(departure);
            assert!(!known.has(client, own));
        });
    }
}
