//! Sockets of both sides: made, told what TCP does there, and asked what it then does.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use socket2::{Domain, Protocol, SockRef, Socket, Type};

use crate::error::{ProxyError, wrong};
use crate::interception::Manner;
use crate::options::{Destination, Options, SideOptions};

/// Connections that wait to be accepted; the kernel has a limit of its own (`net.core.somaxconn`).
const BACKLOG: i32 = 4096;

/// What sockets of one side are told.
#[derive(Debug, Clone)]
pub struct SocketConfig {
    /// Congestion control and buffers.
    pub side: SideOptions,
    /// How long what was sent may stay unacknowledged.
    pub user_timeout: Option<Duration>,
    /// By which their packets are led to routes of their own.
    pub mark: Option<u32>,
}

/// What the kernel says of one side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effective {
    /// What the kernel does on the routes of the side: more than one where they differ.
    pub manners: Vec<Manner>,
    /// Octets of kernel memory; none: the kernel makes it as large as the path needs.
    pub receive_buffer: Option<u64>,
    /// Likewise.
    pub send_buffer: Option<u64>,
}

impl SocketConfig {
    /// `name` is the option by which the side is told, for messages.
    pub fn tell(&self, socket: &SockRef<'_>, name: &str) -> io::Result<()> {
        socket.set_tcp_nodelay(true)?;
        // What is urgent stays where it is in the stream, else it would be left out of it (RFC 6093 §3.2).
        socket.set_out_of_band_inline(true)?;
        // A reset, unless it is closed in order: see `relay`.
        socket.set_linger(Some(Duration::ZERO))?;
        if let Some(law) = &self.side.congestion_control {
            socket.set_tcp_congestion(law.as_bytes()).map_err(|error| unknown_law(name, law, &error))?;
        }
        // The kernel doubles what it is told: the rest is for its own bookkeeping.
        if let Some(octets) = self.side.receive_buffer {
            socket.set_recv_buffer_size(octets as usize / 2)?;
        }
        if let Some(octets) = self.side.send_buffer {
            socket.set_send_buffer_size(octets as usize / 2)?;
        }
        if let Some(mark) = self.mark {
            socket.set_mark(mark)?;
        }
        if self.user_timeout.is_some() {
            socket.set_tcp_user_timeout(self.user_timeout)?;
        }
        Ok(())
    }

    /// `has_local_peers`: their packets may take none of the host's routes.
    fn effective(&self, socket: &SockRef<'_>, has_local_peers: bool) -> io::Result<Effective> {
        let receive = socket.recv_buffer_size()? as u64;
        let send = socket.send_buffer_size()? as u64;
        let manners =
            manners(&law_of(socket)?, Manner::of_routes(self.mark), has_local_peers && self.mark.is_none());
        Ok(Effective {
            manners,
            receive_buffer: self.side.receive_buffer.map(|_| receive),
            send_buffer: self.side.send_buffer.map(|_| send),
        })
    }
}

/// The congestion control of a socket: once it is connected, what it does.
///
/// # Errors
/// The kernel's.
pub fn law_of(socket: &SockRef<'_>) -> io::Result<String> {
    let law = socket.tcp_congestion()?;
    let law = law.split(|&octet| octet == 0).next().unwrap_or_default();
    Ok(String::from_utf8_lossy(law).into_owned())
}

/// What is done where sockets have a law and routes may say another one, which then goes before.
fn manners(law: &str, of_routes: Vec<Manner>, has_local_peers: bool) -> Vec<Manner> {
    let is_without = has_local_peers || of_routes.is_empty();
    let mut found = Vec::new();
    for mut manner in is_without.then(Manner::default).into_iter().chain(of_routes) {
        manner.congestion_control.get_or_insert_with(|| law.to_owned());
        if !found.contains(&manner) {
            found.push(manner);
        }
    }
    found
}

fn unknown_law(option: &str, law: &str, error: &io::Error) -> io::Error {
    let known = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
    let known = known.unwrap_or_default();
    let help = match error.kind() {
        io::ErrorKind::PermissionDenied => {
            "it takes root, or net.ipv4.tcp_allowed_congestion_control".to_owned()
        }
        _ => format!("this kernel has {}", known.split_whitespace().collect::<Vec<_>>().join(", ")),
    };
    io::Error::new(error.kind(), format!("{option} congestion_control={law}: {help}"))
}

/// Listens for clients; every worker has a socket of its own for the same address. What it is told its connections have.
///
/// # Errors
/// [`ProxyError::Wrong`]: the port is taken, or not for this user; or the kernel does not know what it is told.
pub fn listen(options: &Options, at: SocketAddr, client: &SocketConfig) -> Result<Socket, ProxyError> {
    let refused = |error: io::Error| wrong(format!("--listen {at}: {}", refusal(at, &error)));
    let socket = Socket::new(Domain::for_address(at), Type::STREAM.nonblocking(), Some(Protocol::TCP));
    let socket = socket.map_err(refused)?;
    client.tell(&SockRef::from(&socket), "--client-set").map_err(|error| wrong(error.to_string()))?;
    if matches!(options.destination, Destination::Original(_)) {
        // That of IPv4 is the same bit for both versions.
        socket.set_ip_transparent_v4(true).map_err(|error| {
            wrong(format!("--transparent takes root, to have other hosts' addresses ({error})"))
        })?;
    }
    let listen = || {
        if at.ip().is_unspecified() && at.is_ipv6() {
            socket.set_only_v6(false)?;
        }
        socket.set_reuse_address(true)?;
        socket.set_reuse_port(options.workers > 1)?;
        socket.bind(&at.into())?;
        socket.listen(BACKLOG)
    };
    listen().map_err(refused)?;
    Ok(socket)
}

/// Why nobody can listen at an address, with what to do.
pub fn refusal(at: SocketAddr, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::AddrInUse => {
            format!("port {} is taken: `ss -ltnp` says by whom; choose another one", at.port())
        }
        io::ErrorKind::PermissionDenied => {
            format!("port {} is root's: choose one from 1024 on", at.port())
        }
        io::ErrorKind::AddrNotAvailable => format!("this host has no address {}", at.ip()),
        _ => error.to_string(),
    }
}

/// What the kernel says of connections to clients, and of those to servers. Those that are intercepted go on beyond this host.
///
/// # Errors
/// [`ProxyError::Wrong`] if it does not know what it is told.
pub fn effective(
    listener: &Socket,
    [client, server]: [&SocketConfig; 2],
    are_intercepted: bool,
) -> Result<[Effective; 2], ProxyError> {
    let ask = || {
        let other = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
        server.tell(&SockRef::from(&other), "--server-set")?;
        let sides = [(client, SockRef::from(listener)), (server, SockRef::from(&other))];
        let [client, server] = sides.map(|(told, socket)| told.effective(&socket, !are_intercepted));
        let effective = [client?, server?];
        // Nobody is connected: there is nothing to reset.
        other.set_linger(None)?;
        Ok(effective)
    };
    ask().map_err(|error: io::Error| wrong(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interception::PathSettings;

    fn manner(law: Option<&str>, initial_window: Option<u32>) -> Manner {
        let path = PathSettings { initial_window, min_rto: None };
        Manner { congestion_control: law.map(str::to_owned), path }
    }

    #[test]
    fn the_law_of_a_route_goes_before_that_of_a_socket() {
        let routes = vec![manner(Some("cubic"), None), manner(None, Some(3)), manner(Some("bbr"), Some(3))];
        let beyond = [manner(Some("cubic"), None), manner(Some("bbr"), Some(3))];
        assert_eq!(manners("bbr", routes.clone(), false), beyond);
        let own = manner(Some("bbr"), None);
        assert_eq!(manners("bbr", routes, true), [&[own.clone()][..], &beyond].concat());
        assert_eq!(manners("bbr", vec![], false), [own]);
    }
}
