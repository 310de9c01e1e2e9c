//! Creates the sockets of both sides, sets their options, and reads the effective values from the
//! kernel.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use socket2::{Domain, Protocol, SockRef, Socket, Type};

use crate::error::{ProxyError, wrong};
use crate::interception::RouteSettings;
use crate::options::{Destination, Options, SideOptions};

/// Backlog of the listener; the kernel applies its own limit (`net.core.somaxconn`).
const BACKLOG: i32 = 4096;

/// Options of the sockets of one side.
#[derive(Debug, Clone)]
pub struct SocketConfig {
    /// Congestion control and buffers.
    pub side: SideOptions,
    /// How long sent data may stay unacknowledged.
    pub user_timeout: Option<Duration>,
    /// Firewall mark of the packets. Policy rules select the side's routes by it.
    pub mark: Option<u32>,
}

/// Settings of one side as the kernel reports them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effective {
    /// TCP settings on the routes of the side, without duplicates.
    pub route_settings: Vec<RouteSettings>,
    /// Receive buffer in bytes of kernel memory. `None`: the kernel sizes it automatically.
    pub receive_buffer: Option<u64>,
    /// Send buffer in bytes of kernel memory. `None`: the kernel sizes it automatically.
    pub send_buffer: Option<u64>,
}

impl SocketConfig {
    /// Sets the options on a socket. `name` is the command-line option of the side, for error
    /// messages.
    pub fn apply(&self, socket: &SockRef<'_>, name: &str) -> io::Result<()> {
        socket.set_tcp_nodelay(true)?;
        // Urgent data stays at its position in the stream; otherwise the stream would lack it (RFC
        // 6093 §3.2).
        socket.set_out_of_band_inline(true)?;
        // Closing the socket resets the connection, unless the relay closes it in order: see
        // `relay`.
        socket.set_linger(Some(Duration::ZERO))?;
        if let Some(algorithm) = &self.side.congestion_control {
            socket
                .set_tcp_congestion(algorithm.as_bytes())
                .map_err(|error| unknown_congestion_control(name, algorithm, &error))?;
        }
        // The kernel doubles the value for its own bookkeeping.
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

    /// Reads the effective settings. `has_local_peers`: peers may be on this host, and packets to
    /// them use none of the host's routes.
    fn effective(&self, socket: &SockRef<'_>, has_local_peers: bool) -> io::Result<Effective> {
        let receive = socket.recv_buffer_size()? as u64;
        let send = socket.send_buffer_size()? as u64;
        let route_settings = route_settings(
            &congestion_control(socket)?,
            RouteSettings::of_routes(self.mark),
            has_local_peers && self.mark.is_none(),
        );
        Ok(Effective {
            route_settings,
            receive_buffer: self.side.receive_buffer.map(|_| receive),
            send_buffer: self.side.send_buffer.map(|_| send),
        })
    }
}

/// Name of the congestion control of a socket.
///
/// # Errors
/// The error of `getsockopt`.
pub fn congestion_control(socket: &SockRef<'_>) -> io::Result<String> {
    let algorithm = socket.tcp_congestion()?;
    let algorithm = algorithm.split(|&octet| octet == 0).next().unwrap_or_default();
    Ok(String::from_utf8_lossy(algorithm).into_owned())
}

/// Combines the congestion control of the sockets with the settings of routes. The congestion
/// control of a route takes precedence.
fn route_settings(
    algorithm: &str,
    of_routes: Vec<RouteSettings>,
    has_local_peers: bool,
) -> Vec<RouteSettings> {
    let includes_sockets = has_local_peers || of_routes.is_empty();
    let mut distinct = Vec::new();
    for mut settings in includes_sockets.then(RouteSettings::default).into_iter().chain(of_routes) {
        settings.congestion_control.get_or_insert_with(|| algorithm.to_owned());
        if !distinct.contains(&settings) {
            distinct.push(settings);
        }
    }
    distinct
}

fn unknown_congestion_control(option: &str, algorithm: &str, error: &io::Error) -> io::Error {
    let known = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
    let known = known.unwrap_or_default();
    let help = match error.kind() {
        io::ErrorKind::PermissionDenied => {
            "this requires root, or an entry in net.ipv4.tcp_allowed_congestion_control".to_owned()
        }
        _ => format!(
            "not in this kernel, which has {}",
            known.split_whitespace().collect::<Vec<_>>().join(", ")
        ),
    };
    io::Error::new(error.kind(), format!("{option} congestion_control={algorithm}: {help}"))
}

/// Opens a listener. Each worker has its own listener at the same address. Accepted connections
/// inherit the options of the listener.
///
/// # Errors
/// [`ProxyError::Wrong`] if the port is taken or privileged, or if the kernel rejects an option.
pub fn listen(options: &Options, at: SocketAddr, client: &SocketConfig) -> Result<Socket, ProxyError> {
    let refused = |error: io::Error| wrong(format!("--listen {at}: {}", listen_error(at, &error)));
    let socket = Socket::new(Domain::for_address(at), Type::STREAM.nonblocking(), Some(Protocol::TCP));
    let socket = socket.map_err(refused)?;
    client.apply(&SockRef::from(&socket), "--client-set").map_err(|error| wrong(error.to_string()))?;
    if matches!(options.destination, Destination::Original(_)) {
        // The IPv4 option sets the same flag for both versions.
        socket.set_ip_transparent_v4(true).map_err(|error| {
            wrong(format!("--transparent requires root to use the addresses of other hosts ({error})"))
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

/// Explains why the proxy cannot listen at an address, with a repair if there is one.
pub fn listen_error(at: SocketAddr, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::AddrInUse => {
            format!(
                "port {} is already in use (`ss -ltnp` shows the process): choose another port",
                at.port()
            )
        }
        io::ErrorKind::PermissionDenied => {
            format!("port {} requires root: choose a port of at least 1024", at.port())
        }
        io::ErrorKind::AddrNotAvailable => format!("this host has no address {}", at.ip()),
        _ => error.to_string(),
    }
}

/// Returns the effective settings of the client side and of the server side. Peers of intercepted
/// connections are other hosts.
///
/// # Errors
/// [`ProxyError::Wrong`] if the kernel rejects an option.
pub fn effective(
    listener: &Socket,
    [client, server]: [&SocketConfig; 2],
    are_intercepted: bool,
) -> Result<[Effective; 2], ProxyError> {
    let query = || {
        let server_socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
        server.apply(&SockRef::from(&server_socket), "--server-set")?;
        let sides = [(client, SockRef::from(listener)), (server, SockRef::from(&server_socket))];
        let [client, server] = sides.map(|(config, socket)| config.effective(&socket, !are_intercepted));
        let effective = [client?, server?];
        // The socket is not connected: closing it has nothing to reset.
        server_socket.set_linger(None)?;
        Ok(effective)
    };
    query().map_err(|error: io::Error| wrong(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interception::PathSettings;

    fn settings(algorithm: Option<&str>, initial_window: Option<u32>) -> RouteSettings {
        let path = PathSettings { initial_window, min_rto: None };
        RouteSettings { congestion_control: algorithm.map(str::to_owned), path }
    }

    #[test]
    fn congestion_control_of_a_route_takes_precedence() {
        let routes =
            vec![settings(Some("cubic"), None), settings(None, Some(3)), settings(Some("bbr"), Some(3))];
        let expected = [settings(Some("cubic"), None), settings(Some("bbr"), Some(3))];
        assert_eq!(route_settings("bbr", routes.clone(), false), expected);
        let of_sockets = settings(Some("bbr"), None);
        assert_eq!(route_settings("bbr", routes, true), [&[of_sockets.clone()][..], &expected].concat());
        assert_eq!(route_settings("bbr", vec![], false), [of_sockets]);
    }
}
