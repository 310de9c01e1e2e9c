//! The namespace in which a proxy splits the TCP connections of programs. It has one device towards
//! the servers and one towards the users. It has no address of its own and does not forward: other
//! packets pass it in the model.
//!
//! ```text
//!   server side ═ links ═ TUN `servers` ─ kernel's TCP ─ proxy ─ kernel's TCP ─ TUN `users` ═ links, radio ═ UEs
//! ```

use std::io;

use crate::devices::addresses;
use crate::devices::net_namespace::{NetNamespace, set_sysctl};
use crate::devices::tcp_settings::{Effective, TcpSettings, read_back};
use crate::devices::topology::apply_tcp_sysctls;
use crate::devices::tun::Tun;
use umts_netlink::Route;

/// Names of the devices: towards the servers, towards the users.
pub const DEVICES: [&str; 2] = ["servers", "users"];

/// The namespace of the proxy, with devices in the order of [`DEVICES`].
pub struct ProxyNode {
    /// Network namespace of the proxy.
    pub namespace: NetNamespace,
    pub tuns: [Tun; 2],
    /// Effective TCP settings towards the servers, and towards the users.
    pub tcp: [Effective; 2],
}

impl ProxyNode {
    /// Creates the namespace between the servers and `ues` UEs. Routes carry the TCP settings of
    /// their side. There are IPv6 routes only if `is_hermetic`, because access to the host's
    /// network is IPv4 only.
    ///
    /// # Errors
    /// An error of the kernel.
    pub fn new(ues: usize, sides: &[TcpSettings; 2], is_hermetic: bool) -> io::Result<Self> {
        let namespace = NetNamespace::new()?;
        // Sysctls apply to both sides alike; the sides differ only in their route settings.
        apply_tcp_sysctls(std::slice::from_ref(&namespace), &sides[0])?;
        // The reverse-path filter would drop packets, because their source addresses belong to
        // other hosts.
        namespace.within(|| set_sysctl("net/ipv4/conf/default/rp_filter", "0"))?;
        namespace.within(|| set_sysctl("net/ipv4/conf/all/rp_filter", "0"))?;
        let [servers, users] = DEVICES.map(|name| Tun::new(namespace.again()?, name, &[]));
        let tuns = [servers?, users?];
        // Adds the routes that `to` makes for the index of a device, with the settings of the side.
        let routes = |at: usize, to: &mut dyn FnMut(u32) -> Vec<Route>| {
            let metrics = &sides[at].metrics;
            let routes = to(tuns[at].index()).into_iter();
            tuns[at].add_routes(
                &routes.map(|route| Route { metrics: metrics.clone(), ..route }).collect::<Vec<_>>(),
            )
        };
        routes(0, &mut |index| {
            let versions = addresses::SERVER.into_iter().filter(|address| is_hermetic || address.is_ipv4());
            versions.map(|address| Route::default(address, index)).collect()
        })?;
        routes(1, &mut |index| {
            (0..ues).flat_map(addresses::of_ue).map(|address| Route::host(address, index)).collect()
        })?;
        let effective = |at: usize| namespace.within(|| read_back(tuns[at].index(), &sides[at]));
        let tcp = [effective(0)?, effective(1)?];
        Ok(ProxyNode { namespace, tuns, tcp })
    }
}
