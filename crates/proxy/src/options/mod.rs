//! Options of `umts proxy`. They are checked here; other modules rely on that.

mod addresses;
mod destination;
mod sides;
mod values;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use crate::error::{ProxyError, wrong};
use crate::interception::{PathSettings, RouteSettings, Selection};
use crate::options::addresses::listening_address;
use crate::options::destination::{destination, listening_by_default};
use crate::options::sides::side;
use crate::options::values::{check_max_buffer, user_timeout};
use crate::policy::Policy;

pub use crate::options::addresses::{canonical, is_of_this_host, unmapped};
pub use crate::options::values::{GivenOptions, MAX_BUFFER, MIN_BUFFER};

/// How the destination of a client is chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination {
    /// One server for all clients; its addresses are tried in this order.
    Fixed(Vec<SocketAddr>),
    /// Each client requests a destination by SOCKS5; the policy limits the choice.
    Socks5(Policy),
    /// The original destination of an intercepted connection.
    Original(Selection),
}

/// TCP settings of one side. `None` is the default of the kernel.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SideOptions {
    /// Name of the congestion control.
    pub congestion_control: Option<String>,
    /// Kernel memory for received data, in bytes.
    pub receive_buffer: Option<u64>,
    /// Kernel memory for data to send, in bytes.
    pub send_buffer: Option<u64>,
    /// Settings that belong to routes.
    pub path: PathSettings,
}

impl SideOptions {
    /// The settings that routes can have.
    pub fn settings(&self) -> RouteSettings {
        RouteSettings { congestion_control: self.congestion_control.clone(), path: self.path }
    }
}

/// Options of a proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Address at which clients connect.
    pub listen: SocketAddr,
    pub destination: Destination,
    /// Whether the proxy sends the client's address to servers (PROXY protocol).
    pub sends_proxy_header: bool,
    /// TCP settings towards clients.
    pub client: SideOptions,
    /// TCP settings towards servers.
    pub server: SideOptions,
    /// Bytes that a connection may hold in the proxy per direction, kernel memory included.
    pub buffer: Option<u64>,
    /// Bytes that all connections together may hold in the proxy.
    pub memory: Option<u64>,
    /// Maximum number of simultaneous connections.
    pub connections: Option<usize>,
    /// Number of threads that relay.
    pub workers: usize,
    /// Time limit for a connection to a server, and for a SOCKS5 request.
    pub connect_timeout: Duration,
    /// How long a connection may transfer nothing.
    pub idle_timeout: Duration,
    /// How long sent data may stay unacknowledged (RFC 5482).
    pub user_timeout: Option<Duration>,
    /// How long open connections may continue after the first signal.
    pub drain: Duration,
    /// File with limits that replace those above, read again at SIGHUP.
    pub limits: Option<PathBuf>,
    /// Address at which metrics are served.
    pub metrics: Option<SocketAddr>,
    /// File for the log; `-` is standard output.
    pub log: Option<PathBuf>,
}

const MAX_WORKERS: usize = 256;

impl Options {
    /// Parses pairs of an option, for example `--listen`, and its value.
    ///
    /// # Errors
    /// [`ProxyError::Wrong`] with a correct example.
    pub fn from_pairs(pairs: &[(String, String)]) -> Result<Self, ProxyError> {
        let given = GivenOptions(pairs);
        let listen = match (given.get("--listen"), given.is_set("--transparent")) {
            (Some(text), _) => {
                listening_by_default(listening_address("--listen", text)?, text, given.is_set("--socks5"))
            }
            (None, true) => SocketAddr::from(([0_u16; 8], 0)),
            (None, false) => {
                return Err(wrong(
                    "--listen is missing: give the address to which clients connect, as in --listen 127.0.0.1:8080",
                ));
            }
        };
        let destination = destination(listen, &given)?;
        let options = Options {
            listen,
            destination,
            sends_proxy_header: given.is_set("--proxy-protocol"),
            client: side("--client-set", &given)?,
            server: side("--server-set", &given)?,
            buffer: given
                .buffer_size("--buffer")?
                .map(|octets| check_max_buffer(octets, "--buffer"))
                .transpose()?,
            memory: given.buffer_size("--memory")?,
            connections: given.count("--connections", usize::MAX)?,
            workers: given.count("--workers", MAX_WORKERS)?.unwrap_or_else(processors),
            connect_timeout: given.positive_time("--connect-timeout")?.unwrap_or(Duration::from_secs(30)),
            idle_timeout: given.positive_time("--idle-timeout")?.unwrap_or(Duration::from_secs(3600)),
            user_timeout: user_timeout(&given)?,
            drain: given.time_or_zero("--drain")?.unwrap_or(Duration::from_secs(30)),
            limits: given.get("--limits").map(PathBuf::from),
            metrics: given.get("--metrics").map(|text| listening_address("--metrics", text)).transpose()?,
            log: given.get("--log").map(PathBuf::from),
        };
        Ok(options)
    }
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interception::IfDead;

    fn parse(pairs: &[(&str, &str)]) -> Result<Options, String> {
        let pairs: Vec<_> = pairs.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
        Options::from_pairs(&pairs).map_err(|error| error.to_string())
    }

    const LISTEN: (&str, &str) = ("--listen", "127.0.0.1:8080");
    const TO: (&str, &str) = ("--to", "127.0.0.1:80");

    #[test]
    fn port_alone_means_every_address() {
        let options = parse(&[("--listen", ":8080"), TO]).unwrap();
        assert_eq!(options.listen, "[::]:8080".parse().unwrap());
        assert_eq!(parse(&[("--listen", "8080"), TO]).unwrap().listen, options.listen);
    }

    #[test]
    fn address_may_include_its_device() {
        let options = parse(&[("--listen", "[fe80::1%lo]:8080"), ("--to", "[fe80::2%lo]:80")]).unwrap();
        let SocketAddr::V6(listen) = options.listen else { panic!("{options:?}") };
        assert_eq!((listen.port(), listen.scope_id()), (8080, 1), "lo is the first of all");
        let Destination::Fixed(servers) = options.destination else { panic!("{options:?}") };
        assert!(matches!(servers[..], [SocketAddr::V6(server)] if server.scope_id() == 1), "{servers:?}");
    }

    #[test]
    fn options_are_parsed() {
        let more = [
            ("--buffer", "64 kB"),
            ("--memory", "unlimited"),
            ("--connections", "100"),
            ("--idle-timeout", "10 min"),
            ("--drain", "0 s"),
            ("--client-set", "congestion_control=reno"),
            ("--client-set", "send_buffer=100 kB"),
            ("--client-set", "initial_window=10 segments"),
            ("--client-set", "min_rto=200 ms"),
        ];
        let options = parse(&[&[LISTEN, TO][..], &more].concat()).unwrap();
        assert_eq!((options.buffer, options.memory, options.connections), (Some(64_000), None, Some(100)));
        assert_eq!((options.idle_timeout, options.drain), (Duration::from_secs(600), Duration::ZERO));
        assert_eq!(options.client.congestion_control.as_deref(), Some("reno"));
        let path = PathSettings { initial_window: Some(10), min_rto: Some(Duration::from_millis(200)) };
        assert_eq!((options.client.path, options.server.path), (path, PathSettings::default()));
        assert_eq!((options.client.send_buffer, options.server.send_buffer), (Some(100_000), None));
    }

    #[test]
    fn socks5_and_proxy_protocol_are_accepted() {
        let options = parse(&[LISTEN, ("--socks5", ""), ("--proxy-protocol", "")]).unwrap();
        assert_eq!(
            (options.destination, options.sends_proxy_header),
            (Destination::Socks5(Policy::default()), true)
        );
    }

    #[test]
    fn port_alone_means_loopback_with_socks5() {
        for typed in ["1080", ":1080"] {
            let options = parse(&[("--listen", typed), ("--socks5", "")]).unwrap();
            assert_eq!(options.listen, "127.0.0.1:1080".parse().unwrap());
        }
        let options = parse(&[("--listen", "0.0.0.0:1080"), ("--socks5", "")]).unwrap();
        assert_eq!(options.listen, "0.0.0.0:1080".parse().unwrap());
    }

    #[test]
    fn destinations_may_be_allowed_and_denied() {
        let pairs =
            [LISTEN, ("--socks5", ""), ("--allow", "192.0.2.0/24"), ("--allow", ":80"), ("--deny", ":25")];
        let Destination::Socks5(policy) = parse(&pairs).unwrap().destination else { panic!("{pairs:?}") };
        assert_eq!((policy.allowed.len(), policy.denied.len()), (2, 1));
        let pairs = [("--transparent", ""), ("--from", "eth1"), ("--deny", "7000")];
        let Destination::Original(selection) = parse(&pairs).unwrap().destination else {
            panic!("{pairs:?}")
        };
        assert_eq!(selection.policy.denied[0].ports, 7000..=7000);
    }

    #[test]
    fn transparent_mode_selects_devices_and_ports() {
        let pairs = [("--transparent", ""), ("--from", "eth1"), ("--ports", "80,8000-8100")];
        let options = parse(&pairs).unwrap();
        assert_eq!(options.listen, "[::]:0".parse().unwrap());
        let Destination::Original(selection) = options.destination else { panic!("{options:?}") };
        assert_eq!((&selection.devices[..], selection.if_dead), (&["eth1".to_owned()][..], IfDead::Pass));
        assert_eq!(selection.ports, [80..=80, 8000..=8100]);
    }

    #[test]
    fn invalid_options_are_refused_with_a_correction() {
        for (pairs, expected) in [
            (vec![TO], "--listen is missing: give the address"),
            (vec![LISTEN], "--to is missing: give the server"),
            (vec![("--listen", "here"), TO], "--listen takes an address of this host and a port"),
            (vec![LISTEN, TO, ("--socks5", "")], "--to and --socks5 exclude each other"),
            (vec![("--transparent", "")], "--from is missing: give the device"),
            (
                vec![("--transparent", ""), ("--from", "lo"), ("--ports", "90-80")],
                "--ports takes ports as in",
            ),
            (vec![("--transparent", ""), ("--from", "lo"), ("--if-dead", "wait")], "--if-dead takes pass or"),
            (vec![LISTEN, TO, ("--from", "lo")], "--from requires --transparent"),
            (vec![LISTEN, TO, ("--allow", ":80")], "--allow requires --socks5 or --transparent"),
            (
                vec![LISTEN, ("--socks5", ""), ("--deny", "here")],
                "--deny takes addresses, networks and ports",
            ),
            (
                vec![LISTEN, ("--to", "0.0.0.0:8080")],
                "--to 0.0.0.0:8080 is an address on which this proxy listens",
            ),
            (
                vec![LISTEN, ("--to", "[::ffff:127.0.0.1]:8080")],
                "--to [::ffff:127.0.0.1]:8080 is an address on which",
            ),
            (vec![LISTEN, ("--to", "127.0.0.1")], "--to takes a host and a port"),
            (vec![LISTEN, ("--to", "127.0.0.1:0")], "--to takes a host and a port"),
            (
                vec![LISTEN, ("--to", "127.0.0.1:8080")],
                "--to 127.0.0.1:8080 is an address on which this proxy listens",
            ),
            (vec![("--listen", "80"), TO], "--to 127.0.0.1:80 is an address on which this proxy listens"),
            (
                vec![LISTEN, TO, ("--buffer", "100 B")],
                "--buffer 100 B: a buffer of less than 16 kB is too small",
            ),
            (vec![LISTEN, TO, ("--buffer", "64")], "--buffer: "),
            (vec![LISTEN, TO, ("--connections", "0")], "--connections takes a whole number, at least 1"),
            (vec![LISTEN, TO, ("--workers", "257")], "--workers takes a whole number from 1 to 256"),
            (vec![LISTEN, TO, ("--idle-timeout", "0 s")], "--idle-timeout takes a time above zero"),
            (vec![LISTEN, TO, ("--client-set", "reno")], "--client-set takes KEY=VALUE"),
            (
                vec![LISTEN, TO, ("--client-set", "window=3")],
                "--client-set window=3: there is no setting window",
            ),
            (
                vec![LISTEN, TO, ("--server-set", "send_buffer=1 B")],
                "--server-set send_buffer 1 B: a buffer of less",
            ),
            (
                vec![LISTEN, TO, ("--server-set", "send_buffer=3 GB")],
                "--server-set send_buffer 3 GB: at most 1 GB",
            ),
            (vec![LISTEN, TO, ("--buffer", "16 GB")], "--buffer 16 GB: at most 1 GB"),
            (vec![LISTEN, TO, ("--user-timeout", "600 h")], "--user-timeout takes 1 ms to 596 h"),
            (vec![LISTEN, TO, ("--user-timeout", "1 us")], "--user-timeout takes 1 ms to 596 h"),
            (vec![LISTEN, ("--to", "224.0.0.1:80")], "--to 224.0.0.1:80: 224.0.0.1 is not the address"),
            (vec![("--listen", "255.255.255.255:80"), TO], "--listen takes an address of this host"),
            (vec![("--listen", "[fe80::1%nowhere]:80"), TO], "--listen takes an address of this host"),
        ] {
            let error = parse(&pairs).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
