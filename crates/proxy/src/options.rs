//! What was typed behind `umts proxy`, checked: nothing below asks again.

use std::fmt::Display;
use std::net::{IpAddr, SocketAddr, TcpListener, ToSocketAddrs};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use umts_units::{Bytes, Duration as Time, UnitError};

use crate::error::{ProxyError, wrong};
use crate::interception::{IfDead, Manner, PathSettings, Selection};

/// Where clients want to go, and who says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination {
    /// All to one server, whose addresses are tried in their order.
    Fixed(Vec<SocketAddr>),
    /// Each says it by SOCKS5.
    Socks5,
    /// Their packets say it: connections are intercepted.
    Original(Selection),
}

/// What TCP does at one side; none is the kernel's own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SideOptions {
    /// Name of a congestion control.
    pub congestion_control: Option<String>,
    /// Kernel memory for what was received, in octets.
    pub receive_buffer: Option<u64>,
    /// Kernel memory for what is to be sent, in octets.
    pub send_buffer: Option<u64>,
    /// What belongs to its routes.
    pub path: PathSettings,
}

impl SideOptions {
    /// What routes may be told of it.
    pub fn manner(&self) -> Manner {
        Manner { congestion_control: self.congestion_control.clone(), path: self.path }
    }
}

/// All of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Where clients connect.
    pub listen: SocketAddr,
    /// Where they are led to.
    pub destination: Destination,
    /// Servers are told the client's address, by the PROXY protocol.
    pub tells_client: bool,
    /// TCP towards clients.
    pub client: SideOptions,
    /// TCP towards servers.
    pub server: SideOptions,
    /// Octets that a connection may have in the proxy each way, kernel memory included.
    pub buffer: Option<u64>,
    /// Octets that all connections may have there.
    pub memory: Option<u64>,
    /// Connections at once.
    pub connections: Option<usize>,
    /// Threads that relay.
    pub workers: usize,
    /// How long a server may take to answer a SYN, and a client to say where to.
    pub connect_timeout: Duration,
    /// How long a connection may be silent.
    pub idle_timeout: Duration,
    /// How long what was sent may stay unacknowledged (RFC 5482).
    pub user_timeout: Option<Duration>,
    /// How long connections may go on after the first signal.
    pub drain: Duration,
    /// Where metrics are asked for.
    pub metrics: Option<SocketAddr>,
    /// Where a line for every connection goes; `-` is standard output.
    pub log: Option<PathBuf>,
}

/// Least of `--buffer`: a segment or two in each of its three parts.
pub const LEAST_BUFFER: u64 = 16_000;
/// Least of one socket's.
const LEAST_SOCKET_BUFFER: u64 = 4_000;
/// Most of a buffer: the kernel counts in 32 bits with a sign, and doubles.
pub const MOST_BUFFER: u64 = 1_000_000_000;
const MOST_WORKERS: usize = 256;

impl Options {
    /// From pairs as they were typed: `--listen` and its value.
    ///
    /// # Errors
    /// [`ProxyError::Wrong`], with what would be right.
    pub fn from_pairs(pairs: &[(String, String)]) -> Result<Self, ProxyError> {
        let typed = Typed(pairs);
        let listen = match (typed.get("--listen"), typed.is_set("--transparent")) {
            (Some(text), _) => listening_address("--listen", text)?,
            (None, true) => SocketAddr::from(([0_u16; 8], 0)),
            (None, false) => {
                return Err(wrong("--listen is missing, where clients connect: --listen 127.0.0.1:8080"));
            }
        };
        let destination = destination(listen, &typed)?;
        let options = Options {
            listen,
            destination,
            tells_client: typed.is_set("--proxy-protocol"),
            client: side("--client-set", &typed)?,
            server: side("--server-set", &typed)?,
            buffer: typed.size("--buffer")?.map(|octets| most(octets, "--buffer")).transpose()?,
            memory: typed.size("--memory")?,
            connections: typed.count("--connections", usize::MAX)?,
            workers: typed.count("--workers", MOST_WORKERS)?.unwrap_or_else(processors),
            connect_timeout: typed.time("--connect-timeout")?.unwrap_or(Duration::from_secs(30)),
            idle_timeout: typed.time("--idle-timeout")?.unwrap_or(Duration::from_secs(3600)),
            user_timeout: user_timeout(&typed)?,
            drain: typed.time_or_none("--drain")?.unwrap_or(Duration::from_secs(30)),
            metrics: typed.get("--metrics").map(|text| listening_address("--metrics", text)).transpose()?,
            log: typed.get("--log").map(PathBuf::from),
        };
        Ok(options)
    }
}

/// Pairs, by name.
struct Typed<'a>(&'a [(String, String)]);

impl<'a> Typed<'a> {
    fn get(&self, name: &str) -> Option<&'a str> {
        self.0.iter().find(|(typed, _)| typed == name).map(|(_, value)| value.as_str())
    }

    fn is_set(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    fn size(&self, name: &str) -> Result<Option<u64>, ProxyError> {
        let text = self.get(name).filter(|text| *text != "unlimited");
        text.map(|text| size(name, text, LEAST_BUFFER)).transpose()
    }

    fn count(&self, name: &str, most: usize) -> Result<Option<usize>, ProxyError> {
        let read = |text: &str| match text.parse() {
            Ok(count) if (1..=most).contains(&count) => Ok(count),
            _ => Err(wrong(format!("{name} takes a whole number, at least 1, not {text:?}"))),
        };
        self.get(name).map(read).transpose()
    }

    /// A time above zero.
    fn time(&self, name: &str) -> Result<Option<Duration>, ProxyError> {
        match self.time_or_none(name)? {
            Some(Duration::ZERO) => Err(wrong(format!("{name} takes a time above zero, as in \"30 s\""))),
            found => Ok(found),
        }
    }

    fn time_or_none(&self, name: &str) -> Result<Option<Duration>, ProxyError> {
        let read = |text: &str| {
            let time: Time = text.parse().map_err(|error: UnitError| wrong(format!("{name}: {error}")))?;
            Ok(Duration::from_nanos(time.as_nanos()))
        };
        self.get(name).map(read).transpose()
    }
}

fn size(name: &str, text: &str, least: u64) -> Result<u64, ProxyError> {
    let Bytes(octets) = text.parse().map_err(|error: UnitError| wrong(format!("{name}: {error}")))?;
    if octets < least {
        let least = Bytes(least);
        return Err(wrong(format!("{name} {text}: less than {least} leaves no room for a segment")));
    }
    Ok(octets)
}

/// A buffer that is not too large for the kernel.
fn most(octets: u64, what: &str) -> Result<u64, ProxyError> {
    match octets <= MOST_BUFFER {
        true => Ok(octets),
        false => Err(wrong(format!("{what} {}: at most {}", Bytes(octets), Bytes(MOST_BUFFER)))),
    }
}

/// The keys of one side, each as `key=value`.
fn side(option: &str, typed: &Typed<'_>) -> Result<SideOptions, ProxyError> {
    let mut side = SideOptions::default();
    for (_, pair) in typed.0.iter().filter(|(name, _)| name == option) {
        let Some((key, value)) = pair.split_once('=') else {
            return Err(wrong(format!(
                "{option} takes KEY=VALUE, as in congestion_control=reno, not {pair:?}"
            )));
        };
        let buffer = || {
            let name = format!("{option} {key}");
            most(size(&name, value, LEAST_SOCKET_BUFFER)?, &name).map(Some)
        };
        match key.trim() {
            "congestion_control" => side.congestion_control = Some(value.trim().to_owned()),
            "receive_buffer" => side.receive_buffer = buffer()?,
            "send_buffer" => side.send_buffer = buffer()?,
            "initial_window" => side.path.initial_window = Some(segments(option, pair, value)?),
            "min_rto" => side.path.min_rto = Some(timeout(option, pair, value)?),
            _ => {
                let known = "congestion_control, initial_window, min_rto, receive_buffer and send_buffer";
                return Err(wrong(format!("{option} {pair}: there is no {key}; there are {known}")));
            }
        }
    }
    Ok(side)
}

/// The kernel counts it in milliseconds, with 31 bits.
fn user_timeout(typed: &Typed<'_>) -> Result<Option<Duration>, ProxyError> {
    let most = Duration::from_millis(i32::MAX as u64);
    match typed.time("--user-timeout")? {
        Some(time) if time > most || time < Duration::from_millis(1) => {
            Err(wrong("--user-timeout takes 1 ms to 596 h, what the kernel can count"))
        }
        found => Ok(found),
    }
}

/// `10 segments`.
fn segments(option: &str, pair: &str, value: &str) -> Result<u32, ProxyError> {
    let number = value.trim().trim_end_matches("segments").trim_end_matches("segment").trim();
    match number.parse() {
        Ok(segments @ 1..=1000) => Ok(segments),
        _ => Err(wrong(format!("{option} {pair}: takes 1 to 1000 segments, as in initial_window=10"))),
    }
}

/// A time of whole milliseconds, up to the minute that RFC 6298 sets as the most.
fn timeout(option: &str, pair: &str, value: &str) -> Result<Duration, ProxyError> {
    let time: Time = value.parse().map_err(|error: UnitError| wrong(format!("{option} {pair}: {error}")))?;
    let time = Duration::from_nanos(time.as_nanos());
    match (Duration::from_millis(1)..=Duration::from_secs(60)).contains(&time) {
        true => Ok(time),
        false => Err(wrong(format!("{option} {pair}: takes 1 ms to 60 s"))),
    }
}

/// An address to listen at: `127.0.0.1:8080`, `[::1]:8080`, or a port alone for every address.
fn listening_address(option: &str, text: &str) -> Result<SocketAddr, ProxyError> {
    let port = text.strip_prefix(':').unwrap_or(text);
    if let Ok(port) = u16::from_str(port) {
        return Ok(SocketAddr::from(([0_u16; 8], port)));
    }
    let found = text.parse().ok().or_else(|| scoped(text));
    found.filter(|found: &SocketAddr| is_of_one_host(found.ip())).ok_or_else(|| {
        wrong(format!(
            "{option} takes an address of this host and a port, as in 127.0.0.1:8080 or [::1]:8080, not {text:?}"
        ))
    })
}

/// `[fe80::1%eth0]:8080`: an address that is one's only by the device, whose name the system's resolver reads.
fn scoped(text: &str) -> Option<SocketAddr> {
    let (host, port) = text.strip_prefix('[')?.split_once("]:")?;
    let (_address, _device) = host.split_once('%')?;
    (host, u16::from_str(port).ok()?).to_socket_addrs().ok()?.next()
}

/// One host has it, or it stands for all that this host has.
fn is_of_one_host(address: IpAddr) -> bool {
    let is_broadcast = matches!(address, IpAddr::V4(address) if address.is_broadcast());
    !address.is_multicast() && !is_broadcast
}

/// Where to: exactly one of the ways to say it.
fn destination(listen: SocketAddr, typed: &Typed<'_>) -> Result<Destination, ProxyError> {
    let ways: Vec<&str> =
        ["--to", "--socks5", "--transparent"].into_iter().filter(|name| typed.is_set(name)).collect();
    let of_transparent = ["--from", "--ports", "--if-dead"].into_iter().find(|name| typed.is_set(name));
    if let (Some(name), false) = (of_transparent, ways.contains(&"--transparent")) {
        return Err(wrong(format!("{name} goes with --transparent")));
    }
    match ways[..] {
        ["--to"] => {
            let to = typed.get("--to").unwrap_or_default();
            let servers = server_addresses(to)?;
            refuse_itself(listen, &servers, to)?;
            Ok(Destination::Fixed(servers))
        }
        ["--socks5"] => Ok(Destination::Socks5),
        [_] => selection(typed).map(Destination::Original),
        [] => Err(wrong(
            "--to is missing, the server: --to 192.0.2.1:80; or --socks5 or --transparent, by which each client says it",
        )),
        [first, second, ..] => {
            Err(wrong(format!("{first} and {second} both say where to: give one of them")))
        }
    }
}

/// Which connections are intercepted.
fn selection(typed: &Typed<'_>) -> Result<Selection, ProxyError> {
    let Some(devices) = typed.get("--from") else {
        return Err(wrong("--from is missing, the device by which clients' packets come: --from eth1"));
    };
    let ports = typed.get("--ports").map(port_ranges).transpose()?.unwrap_or_default();
    let if_dead = match typed.get("--if-dead") {
        None | Some("pass") => IfDead::Pass,
        Some("refuse") => IfDead::Refuse,
        Some(other) => return Err(wrong(format!("--if-dead takes pass or refuse, not {other:?}"))),
    };
    let devices: Vec<String> = devices.split(',').map(|name| name.trim().to_owned()).collect();
    if devices.iter().any(String::is_empty) {
        return Err(wrong("--from takes names of devices, as in eth1 or eth1,eth2"));
    }
    Ok(Selection { devices, ports, if_dead })
}

/// `80,443,8000-8100`.
fn port_ranges(text: &str) -> Result<Vec<RangeInclusive<u16>>, ProxyError> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        (0 < first && first <= last).then_some(first..=last)
    };
    text.split(',')
        .map(|part| {
            range(part)
                .ok_or_else(|| wrong(format!("--ports takes ports as in 80,443,8000-8100, not {text:?}")))
        })
        .collect()
}

fn server_addresses(text: &str) -> Result<Vec<SocketAddr>, ProxyError> {
    let is_complete = text
        .rsplit_once(':')
        .is_some_and(|(host, port)| !host.is_empty() && u16::from_str(port).is_ok_and(|port| port > 0));
    if !is_complete {
        return Err(wrong(format!("--to takes a host and a port, as in server.example:80, not {text:?}")));
    }
    let found: Vec<SocketAddr> = match scoped(text) {
        Some(address) => vec![address],
        None => text.to_socket_addrs().map_err(|error| unknown(text, error))?.collect(),
    };
    if let Some(group) = found.iter().find(|address| !is_of_one_host(address.ip())) {
        return Err(wrong(format!("--to {text}: {} is no one host's: TCP has two ends", group.ip())));
    }
    match found.is_empty() {
        true => Err(unknown(text, "it has no address")),
        false => Ok(found),
    }
}

fn unknown(text: &str, why: impl Display) -> ProxyError {
    wrong(format!("--to {text}: nobody knows this host ({why})"))
}

/// A proxy that leads to itself would go round for ever.
fn refuse_itself(listen: SocketAddr, servers: &[SocketAddr], typed: &str) -> Result<(), ProxyError> {
    let is_own = |server: &SocketAddr| {
        server.port() == listen.port()
            && (server.ip() == listen.ip() || listen.ip().is_unspecified() && is_of_this_host(server.ip()))
    };
    match servers.iter().any(is_own) {
        true => {
            Err(wrong(format!("--to {typed} is where this proxy listens itself: name the server behind it")))
        }
        false => Ok(()),
    }
}

/// Whether an address is one of this host's own.
pub fn is_of_this_host(address: IpAddr) -> bool {
    address.is_unspecified() || address.is_loopback() || TcpListener::bind((address, 0)).is_ok()
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[(&str, &str)]) -> Result<Options, String> {
        let pairs: Vec<_> = words.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
        Options::from_pairs(&pairs).map_err(|error| error.to_string())
    }

    const LEAST: [(&str, &str); 2] = [("--listen", "127.0.0.1:8080"), ("--to", "127.0.0.1:80")];

    #[test]
    fn a_port_alone_is_every_address() {
        let options = read(&[("--listen", ":8080"), LEAST[1]]).unwrap();
        assert_eq!(options.listen, "[::]:8080".parse().unwrap());
        assert_eq!(read(&[("--listen", "8080"), LEAST[1]]).unwrap().listen, options.listen);
    }

    #[test]
    fn an_address_may_name_its_device() {
        let options = read(&[("--listen", "[fe80::1%lo]:8080"), ("--to", "[fe80::2%lo]:80")]).unwrap();
        let SocketAddr::V6(listen) = options.listen else { panic!("{options:?}") };
        assert_eq!((listen.port(), listen.scope_id()), (8080, 1), "lo is the first of all");
        let Destination::Fixed(servers) = options.destination else { panic!("{options:?}") };
        assert!(matches!(servers[..], [SocketAddr::V6(server)] if server.scope_id() == 1), "{servers:?}");
    }

    #[test]
    fn what_is_typed_is_what_is_done() {
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
        let options = read(&[&LEAST[..], &more].concat()).unwrap();
        assert_eq!((options.buffer, options.memory, options.connections), (Some(64_000), None, Some(100)));
        assert_eq!((options.idle_timeout, options.drain), (Duration::from_secs(600), Duration::ZERO));
        assert_eq!(options.client.congestion_control.as_deref(), Some("reno"));
        let path = PathSettings { initial_window: Some(10), min_rto: Some(Duration::from_millis(200)) };
        assert_eq!((options.client.path, options.server.path), (path, PathSettings::default()));
        assert_eq!((options.client.send_buffer, options.server.send_buffer), (Some(100_000), None));
    }

    #[test]
    fn clients_may_say_where_to() {
        let options = read(&[LEAST[0], ("--socks5", ""), ("--proxy-protocol", "")]).unwrap();
        assert_eq!((options.destination, options.tells_client), (Destination::Socks5, true));
    }

    #[test]
    fn connections_may_be_intercepted() {
        let words = [("--transparent", ""), ("--from", "eth1"), ("--ports", "80,8000-8100")];
        let options = read(&words).unwrap();
        assert_eq!(options.listen, "[::]:0".parse().unwrap());
        let Destination::Original(selection) = options.destination else { panic!("{options:?}") };
        assert_eq!((&selection.devices[..], selection.if_dead), (&["eth1".to_owned()][..], IfDead::Pass));
        assert_eq!(selection.ports, [80..=80, 8000..=8100]);
    }

    #[test]
    fn what_makes_no_sense_is_told_with_what_would() {
        for (words, said) in [
            (vec![LEAST[1]], "--listen is missing, where clients connect"),
            (vec![LEAST[0]], "--to is missing, the server"),
            (vec![("--listen", "here"), LEAST[1]], "--listen takes an address of this host and a port"),
            (vec![LEAST[0], LEAST[1], ("--socks5", "")], "--to and --socks5 both say where to"),
            (vec![("--transparent", "")], "--from is missing, the device"),
            (
                vec![("--transparent", ""), ("--from", "lo"), ("--ports", "90-80")],
                "--ports takes ports as in",
            ),
            (vec![("--transparent", ""), ("--from", "lo"), ("--if-dead", "wait")], "--if-dead takes pass or"),
            (vec![LEAST[0], LEAST[1], ("--from", "lo")], "--from goes with --transparent"),
            (vec![LEAST[0], ("--to", "127.0.0.1")], "--to takes a host and a port"),
            (vec![LEAST[0], ("--to", "127.0.0.1:0")], "--to takes a host and a port"),
            (vec![LEAST[0], ("--to", "127.0.0.1:8080")], "--to 127.0.0.1:8080 is where this proxy listens"),
            (vec![("--listen", "80"), LEAST[1]], "--to 127.0.0.1:80 is where this proxy listens"),
            (
                vec![LEAST[0], LEAST[1], ("--buffer", "100 B")],
                "--buffer 100 B: less than 16 kB leaves no room",
            ),
            (vec![LEAST[0], LEAST[1], ("--buffer", "64")], "--buffer: "),
            (vec![LEAST[0], LEAST[1], ("--connections", "0")], "--connections takes a whole number"),
            (vec![LEAST[0], LEAST[1], ("--idle-timeout", "0 s")], "--idle-timeout takes a time above zero"),
            (vec![LEAST[0], LEAST[1], ("--client-set", "reno")], "--client-set takes KEY=VALUE"),
            (
                vec![LEAST[0], LEAST[1], ("--client-set", "window=3")],
                "--client-set window=3: there is no window",
            ),
            (
                vec![LEAST[0], LEAST[1], ("--server-set", "send_buffer=1 B")],
                "--server-set send_buffer 1 B: less",
            ),
            (
                vec![LEAST[0], LEAST[1], ("--server-set", "send_buffer=3 GB")],
                "--server-set send_buffer 3 GB: at most 1 GB",
            ),
            (vec![LEAST[0], LEAST[1], ("--buffer", "16 GB")], "--buffer 16 GB: at most 1 GB"),
            (vec![LEAST[0], LEAST[1], ("--user-timeout", "600 h")], "--user-timeout takes 1 ms to 596 h"),
            (vec![LEAST[0], LEAST[1], ("--user-timeout", "1 us")], "--user-timeout takes 1 ms to 596 h"),
            (vec![LEAST[0], ("--to", "224.0.0.1:80")], "--to 224.0.0.1:80: 224.0.0.1 is no one host's"),
            (vec![("--listen", "255.255.255.255:80"), LEAST[1]], "--listen takes an address of this host"),
            (vec![("--listen", "[fe80::1%nowhere]:80"), LEAST[1]], "--listen takes an address of this host"),
        ] {
            let error = read(&words).unwrap_err();
            assert!(error.starts_with(said), "{error}");
        }
    }
}
