//! The namespaces of an emulation: one for the server side and one per UE. Only this process
//! connects them.

use std::io;
use std::net::IpAddr;

use crate::devices::addresses;
use crate::devices::net_namespace::{LOOPBACK, NetNamespace, set_sysctl};
use crate::devices::tcp_settings::{Effective, TcpSettings, read_back};
use crate::devices::tun::Tun;
use crate::error::wrong;
use umts_netlink::{Netlink, Route};

/// Port of the server side.
pub const SERVER_PORT: usize = 0;

/// Port of a UE.
pub fn ue_port(ue: usize) -> usize {
    ue + 1
}

/// Port whose hosts have this address. A UE reaches another UE through the core network, like a
/// server.
pub fn port_of(address: IpAddr) -> usize {
    addresses::ue_of(address).map_or(SERVER_PORT, ue_port)
}

/// Creates the devices of the server side and of the UEs in `networks`, in the order of their
/// ports.
///
/// With `is_hermetic`, the kernel in the server side's namespace treats every address except those
/// of the UEs as local, so that a server answers at any address, and no packet leaves the
/// namespace. Otherwise it has only its own addresses, and the caller must provide a route to the
/// host's network.
///
/// # Errors
/// An error of the kernel.
pub fn build(networks: Vec<NetNamespace>, tcp: &TcpSettings, is_hermetic: bool) -> io::Result<Vec<Tun>> {
    let ues = networks.len() - ue_port(0);
    let create = |(port, network): (usize, NetNamespace)| match port.checked_sub(ue_port(0)) {
        None => server_side(network, ues, tcp, is_hermetic),
        Some(ue) => ue_side(network, ue, tcp, is_hermetic),
    };
    networks.into_iter().enumerate().map(create).collect()
}

/// Creates the device of the server side.
fn server_side(namespace: NetNamespace, ues: usize, tcp: &TcpSettings, is_hermetic: bool) -> io::Result<Tun> {
    namespace.within(|| {
        let mut netlink = Netlink::open()?;
        for address in addresses::SERVER.into_iter().filter(|_| is_hermetic) {
            netlink.add_route(&Route { is_local: true, ..Route::default(address, LOOPBACK) })?;
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

/// Creates the device of a UE.
fn ue_side(namespace: NetNamespace, ue: usize, tcp: &TcpSettings, is_hermetic: bool) -> io::Result<Tun> {
    let tun = Tun::new(namespace, "umts0", &addresses::of_ue(ue))?;
    let default_route =
        |address: IpAddr| Route { metrics: tcp.metrics.clone(), ..Route::default(address, tun.index()) };
    // Access to the host's network is IPv4 only: without an IPv6 route, programs detect this at
    // once.
    let versions = addresses::SERVER.into_iter().filter(|address| is_hermetic || address.is_ipv4());
    tun.add_routes(&versions.map(default_route).collect::<Vec<_>>())?;
    Ok(tun)
}

/// Effective TCP settings in the namespaces, all of which have the same settings.
///
/// # Errors
/// An error if the settings cannot be read, or if the server side and the first UE differ.
pub fn effective(tuns: &[Tun], tcp: &TcpSettings) -> io::Result<Effective> {
    let [server, ue] = [SERVER_PORT, ue_port(0)].map(|port| {
        let tun = &tuns[port];
        tun.namespace().within(|| read_back(tun.index(), tcp))
    });
    let (server, ue) = (server?, ue?);
    if server != ue {
        return Err(io::Error::other("the TCP settings of the server side and of the UEs differ"));
    }
    Ok(ue)
}

/// Sets the TCP sysctls in all namespaces.
///
/// # Errors
/// An error if the kernel rejects a value. Errors about a setting in `tcp` are for the user.
pub fn apply_tcp_sysctls(networks: &[NetNamespace], tcp: &TcpSettings) -> io::Result<()> {
    let set = |key: &str, value: &str| set_sysctl(&format!("net/ipv4/{key}"), value);
    networks.iter().try_for_each(|network| {
        network.within(|| {
            // Without cached metrics, so that a connection does not influence later ones.
            set("tcp_no_metrics_save", "1")?;
            tcp.variables
                .iter()
                .try_for_each(|(key, value)| set(key, value).map_err(|error| rejected(key, value, &error)))
        })
    })
}

/// The error for a setting that the kernel does not accept.
fn rejected(key: &str, value: &str, error: &io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::NotFound => wrong(format!("{key}={value}: this kernel has no setting net/ipv4/{key}")),
        _ => wrong(format!("{key}={value}: the kernel rejects this value of net/ipv4/{key}")),
    }
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;
    use std::thread::sleep;
    use std::time::{Duration, Instant};

    use super::*;
    use crate::packets::foreign;

    /// Carries packets between the devices until `done` returns true, for at most 10 s. Returns
    /// whether it did.
    fn carry_packets(tuns: &[Tun], mut done: impl FnMut() -> bool) -> bool {
        let deadline = Instant::now() + Duration::from_secs(10);
        let mut packet = [0; 2000];
        while !done() {
            for tun in tuns {
                while let Some(length) = tun.read(&mut packet).expect("the device exists") {
                    let (_, to) =
                        foreign::addresses(&packet[..length]).expect("the kernel sends valid packets");
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

    fn networks(ues: usize) -> io::Result<Vec<NetNamespace>> {
        (0..=ues).map(|_| NetNamespace::new()).collect()
    }

    /// Creates the devices. Prints a message and returns `None` if this user may not.
    fn tuns(ues: usize) -> Option<Vec<Tun>> {
        match networks(ues).and_then(|networks| build(networks, &TcpSettings::default(), true)) {
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
        // Any address of the version, the address of the server's socket, and a foreign address.
        for (any, server, to) in
            [("0.0.0.0:0", "0.0.0.0:7", "93.184.216.34:7"), ("[::]:0", "[::]:7", "[2001:db8::7]:7")]
        {
            let ue = socket(&tuns[ue_port(1)], any);
            let server = socket(&tuns[SERVER_PORT], server);
            ue.send_to(b"question", to).unwrap();
            let (mut buffer, mut client) = ([0; 100], None);
            assert!(carry_packets(&tuns, || {
                client = server.recv_from(&mut buffer).ok();
                client.is_some()
            }));
            let (length, from) = client.unwrap();
            assert_eq!(&buffer[..length], b"question");
            assert_eq!(addresses::ue_of(from.ip()), Some(1));
            server.send_to(b"answer", from).unwrap();
            assert!(carry_packets(&tuns, || ue
                .recv(&mut buffer)
                .is_ok_and(|length| &buffer[..length] == b"answer")));
        }
    }

    #[test]
    fn tcp_settings_are_effective() {
        if tuns(1).is_none() {
            return;
        }
        let pairs = [
            ("tcp_sack", "0"),
            ("tcp_rmem", "4096 65536 65536"),
            ("tcp_fin_timeout", "7"),
            ("route.congctl", "reno"),
            ("route.initcwnd", "3"),
            ("route.rto_min", "300"),
        ];
        let pairs = pairs.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let settings = TcpSettings::from_pairs(&pairs).unwrap();
        let networks = networks(1).unwrap();
        apply_tcp_sysctls(&networks, &settings).unwrap();
        let tuns = build(networks, &settings, true).unwrap();
        let in_force = effective(&tuns, &settings).unwrap();
        for pair in pairs {
            assert!(in_force.contains(&pair), "{pair:?} is not among {in_force:?}");
        }
        assert!(in_force.contains(&("tcp_no_metrics_save".to_owned(), "1".to_owned())));
    }

    #[test]
    fn rejected_setting_is_reported_as_typed() {
        let Ok(networks) = networks(1) else { return eprintln!("SKIPPED: no namespaces") };
        for (name, value, expected) in [
            ("tcp_rmem", "evil", "tcp_rmem=evil: the kernel rejects this value"),
            ("tcp_none", "1", "tcp_none=1: this kernel has no setting"),
        ] {
            let settings = TcpSettings::from_pairs(&[(name.to_owned(), value.to_owned())]).unwrap();
            let error = apply_tcp_sysctls(&networks, &settings).unwrap_err();
            assert!(error.to_string().starts_with(expected), "{error}");
        }
        let settings = TcpSettings::from_pairs(&[("route.congctl".to_owned(), "evil".to_owned())]).unwrap();
        let error = build(networks, &settings, true).err().expect("no such congestion control");
        assert!(error.to_string().starts_with("route.congctl=evil: "), "{error}");
    }

    #[test]
    fn ue_reaches_another_ue() {
        let Some(tuns) = tuns(2) else { return };
        let [from, to] = [0, 1].map(|ue| socket(&tuns[ue_port(ue)], "0.0.0.0:9000"));
        from.send_to(b"hello", (addresses::of_ue(1)[0], 9000)).unwrap();
        let mut buffer = [0; 100];
        assert!(carry_packets(&tuns, || to
            .recv(&mut buffer)
            .is_ok_and(|length| &buffer[..length] == b"hello")));
    }

    #[test]
    fn idle_namespaces_send_no_packets() {
        let Some(tuns) = tuns(1) else { return };
        let mut packet = [0; 2000];
        // A router solicitation would be sent at once and repeated after 4 s.
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
