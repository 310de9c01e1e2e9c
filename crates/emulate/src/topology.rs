//! The namespaces of an emulation: one for the server side, one for each UE, and no way between them but this process.

use std::io;
use std::net::IpAddr;

use netlink_packet_route::route::RouteMetric;

use crate::addresses;
use crate::net_namespace::{LOOPBACK, NetNamespace, set_sysctl};
use crate::netlink::{Netlink, Route};
use crate::tun::Tun;

/// Which port the server side has.
pub const SERVER_PORT: usize = 0;

/// The port of a UE.
pub fn ue_port(ue: usize) -> usize {
    ue + 1
}

/// The port behind which an address is; a UE reaches another UE as it reaches a server, by way of the core network.
pub fn port_of(address: IpAddr) -> usize {
    addresses::ue_of(address).map_or(SERVER_PORT, ue_port)
}

/// What the kernel's TCP is told, in every namespace alike.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TcpSettings {
    /// Variables below `net/ipv4`, with values.
    pub variables: Vec<(String, String)>,
    /// What belongs to a route: congestion control, initial window, least timeout.
    pub metrics: Vec<RouteMetric>,
}

impl TcpSettings {
    /// From names and values: `tcp_sack = 0` is a variable below `net/ipv4`, `route.initcwnd = 3` belongs to a route.
    ///
    /// # Errors
    /// A sentence about the pair that makes no sense.
    pub fn from_pairs(pairs: &[(String, String)]) -> Result<Self, String> {
        let mut settings = TcpSettings::default();
        for (name, value) in pairs {
            match name.strip_prefix("route.") {
                None if name.starts_with("tcp_") && !name.contains('/') => {
                    settings.variables.push((name.clone(), value.clone()));
                }
                None => return Err(format!("{name} is no variable of TCP: tcp_sack and the like are")),
                Some(metric) => settings.metrics.push(route_metric(metric, value)?),
            }
        }
        Ok(settings)
    }
}

fn route_metric(name: &str, value: &str) -> Result<RouteMetric, String> {
    let number = || value.parse::<u32>().map_err(|_| format!("route.{name} takes a number, not {value:?}"));
    Ok(match name {
        "congctl" => RouteMetric::CcAlgo(value.to_owned()),
        "initcwnd" => RouteMetric::InitCwnd(number()?),
        "initrwnd" => RouteMetric::InitRwnd(number()?),
        "advmss" => RouteMetric::Advmss(number()?),
        // The kernel takes milliseconds.
        "rto_min" => RouteMetric::RtoMin(number()?),
        "quickack" => RouteMetric::QuickAck(number()?),
        _ => {
            let known = "congctl, initcwnd, initrwnd, advmss, rto_min (milliseconds) and quickack";
            return Err(format!("routes have no {name} here: they have {known}"));
        }
    })
}

/// Makes the server side and `ues` UEs; the devices in the order of their ports.
///
/// Hermetic: in the server side's namespace the kernel takes every address but the UEs' for its own, so that a server
/// there answers whatever a program asks for. Nothing leads out of it.
///
/// # Errors
/// If the kernel refuses something.
pub fn build(ues: usize, tcp: &TcpSettings) -> io::Result<Vec<Tun>> {
    let mut tuns = vec![server_side(ues, tcp)?];
    for ue in 0..ues {
        tuns.push(ue_side(ue, tcp)?);
    }
    Ok(tuns)
}

fn server_side(ues: usize, tcp: &TcpSettings) -> io::Result<Tun> {
    let namespace = prepared(tcp)?;
    namespace.within(|| {
        let mut netlink = Netlink::open()?;
        for like in addresses::SERVER {
            netlink.add_route(&Route { is_local: true, ..Route::default(like, LOOPBACK) })?;
        }
        Ok(())
    })?;
    let tun = Tun::new(namespace, "gi", &addresses::SERVER)?;
    let to_ues: Vec<Route> = (0..ues)
        .flat_map(addresses::of_ue)
        .map(|address| Route { metrics: tcp.metrics.clone(), ..Route::host(address, tun.index()) })
        .collect();
    tun.add_routes(&to_ues)?;
    Ok(tun)
}

fn ue_side(ue: usize, tcp: &TcpSettings) -> io::Result<Tun> {
    let tun = Tun::new(prepared(tcp)?, "umts0", &addresses::of_ue(ue))?;
    let out = |like: IpAddr| Route { metrics: tcp.metrics.clone(), ..Route::default(like, tun.index()) };
    tun.add_routes(&addresses::SERVER.map(out))?;
    Ok(tun)
}

fn prepared(tcp: &TcpSettings) -> io::Result<NetNamespace> {
    let namespace = NetNamespace::new()?;
    namespace.within(|| {
        // What one connection learnt would be the start of the next.
        set_sysctl("net/ipv4/tcp_no_metrics_save", "1")?;
        tcp.variables.iter().try_for_each(|(key, value)| set_sysctl(&format!("net/ipv4/{key}"), value))
    })?;
    Ok(namespace)
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;
    use std::thread::sleep;
    use std::time::{Duration, Instant};

    use super::*;
    use crate::foreign;

    /// Carries packets between the devices until `done`, or for ten seconds.
    fn ferry(tuns: &[Tun], mut done: impl FnMut() -> bool) -> bool {
        let deadline = Instant::now() + Duration::from_secs(10);
        let mut packet = [0; 2000];
        while !done() {
            for tun in tuns {
                while let Some(length) = tun.read(&mut packet).expect("the device is there") {
                    let (_, to) = foreign::addresses(&packet[..length]).expect("the kernel made it");
                    assert!(tuns[port_of(to)].write(&packet[..length]));
                }
            }
            if Instant::now() > deadline {
                return false;
            }
            sleep(Duration::from_millis(1));
        }
        true
    }

    fn socket(tun: &Tun, address: &str) -> UdpSocket {
        let socket = tun.namespace().within(|| UdpSocket::bind(address)).expect("the address is local");
        socket.set_nonblocking(true).unwrap();
        socket
    }

    /// The devices, or a message where this user may not make them.
    fn tuns(ues: usize) -> Option<Vec<Tun>> {
        match build(ues, &TcpSettings::default()) {
            Ok(tuns) => Some(tuns),
            Err(error) => {
                eprintln!("SKIPPED: {error}");
                None
            }
        }
    }

    #[test]
    fn every_address_answers_on_the_server_side() {
        let Some(tuns) = tuns(2) else { return };
        for (any, server, to) in
            [("0.0.0.0:0", "0.0.0.0:7", "93.184.216.34:7"), ("[::]:0", "[::]:7", "[2001:db8::7]:7")]
        {
            let ue = socket(&tuns[ue_port(1)], any);
            let server = socket(&tuns[SERVER_PORT], server);
            ue.send_to(b"question", to).unwrap();
            let (mut buffer, mut asker) = ([0; 100], None);
            assert!(ferry(&tuns, || {
                asker = server.recv_from(&mut buffer).ok();
                asker.is_some()
            }));
            let (length, from) = asker.unwrap();
            assert_eq!(&buffer[..length], b"question");
            assert_eq!(addresses::ue_of(from.ip()), Some(1));
            server.send_to(b"answer", from).unwrap();
            assert!(ferry(&tuns, || ue.recv(&mut buffer).is_ok_and(|length| &buffer[..length] == b"answer")));
        }
    }

    #[test]
    fn a_ue_reaches_another() {
        let Some(tuns) = tuns(2) else { return };
        let [from, to] = [0, 1].map(|ue| socket(&tuns[ue_port(ue)], "0.0.0.0:9000"));
        from.send_to(b"hello", (addresses::of_ue(1)[0], 9000)).unwrap();
        let mut buffer = [0; 100];
        assert!(ferry(&tuns, || to.recv(&mut buffer).is_ok_and(|length| &buffer[..length] == b"hello")));
    }

    #[test]
    fn nothing_is_sent_that_nobody_asked_for() {
        let Some(tuns) = tuns(1) else { return };
        let mut packet = [0; 2000];
        // A router solicitation would come at once and again after four seconds.
        let silent_since = Instant::now();
        while silent_since.elapsed() < Duration::from_secs(1) {
            for tun in &tuns {
                assert_eq!(tun.read(&mut packet).unwrap(), None, "{:02x?}", &packet[..64]);
                assert_eq!(tun.dropped().unwrap(), 0);
            }
            sleep(Duration::from_millis(20));
        }
    }
}
