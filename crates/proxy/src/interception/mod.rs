//! Interception by TPROXY: redirects connections that arrive on a device and are addressed to other
//! hosts into the proxy. The proxy answers with the addresses of the original destinations.
//!
//! ```text
//!   device ── nftables: tproxy to listener ── mark ── policy rule ── table: local, over own device ── listener
//! ```
//!
//! This process owns the nftables table, and the route uses a device of this process. The kernel
//! removes both when the process ends, however it ends. After a kill only the policy rule remains,
//! which leads to an empty table and has no effect. The next proxy removes it, or [`clean`].
//!
//! A redirected packet passes the hook `input` of the host's firewall instead of the hook
//! `forward`. Rules in the hook `input` enforce the [`Policy`].

mod paths;
mod privileges;
mod slot;

use std::io;
use std::ops::RangeInclusive;
use std::sync::Arc;

use nix::libc::EMSGSIZE;
use tun_rs::{DeviceBuilder, SyncDevice};
use umts_netlink::nftables::{
    Chain, Expression, Family, Owner, PortSet, Rule, Table as Rules, delete, steps,
};
use umts_netlink::{Netlink, Route, Table};

use crate::error::{ProxyError, wrong};
use crate::interception::slot::{OWNER, Purpose};
use crate::policy::{Destinations, Policy};

pub use crate::interception::paths::{PathSettings, Paths, RouteSettings};
pub use crate::interception::privileges::{KeptPrivileges, drop_privileges};
pub use crate::interception::slot::{Cleaned, Slot, active_slots, clean, leftover_slots};

/// Runs before destination NAT.
const CHAIN: Chain = Chain { name: "prerouting", kind: "filter", hook: 0, priority: -150 };
/// Hook of packets that are delivered to the listener.
const POLICY: Chain = Chain { name: "input", kind: "filter", hook: 1, priority: 0 };
/// Hook of packets that this host sends.
const ANSWERS: Chain = Chain { name: "output", kind: "filter", hook: 3, priority: 0 };
/// Ports from which the kernel has sent SYN cookies. An entry lasts two minutes, the time for which
/// the kernel accepts the answer to a cookie.
const COOKIES: PortSet = PortSet { name: "cookies", timeout_ms: 120_000 };

/// Handling of new connections after the proxy was killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IfDead {
    /// They reach their destination without the proxy.
    Pass,
    /// They are reset until [`clean`] runs or another proxy starts.
    Refuse,
}

/// Selects the connections that the proxy intercepts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// Names of the devices on which clients' packets arrive.
    pub devices: Vec<String>,
    /// Destination ports. An empty list selects all ports.
    pub ports: Vec<RangeInclusive<u16>>,
    /// Handling of connections after the proxy was killed.
    pub if_dead: IfDead,
    /// Destinations that clients may reach.
    pub policy: Policy,
}

/// Redirects connections until it is dropped.
#[derive(Debug)]
pub struct Interception {
    _owner: Owner,
    _device: Device,
    slot: Arc<Slot>,
    if_dead: IfDead,
}

struct Device(#[expect(dead_code, reason = "the device exists as long as it is open")] SyncDevice);

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Device")
    }
}

impl Interception {
    /// Redirects the connections of `selection` to the listener at `port`. Marks and names come
    /// from `slot`.
    ///
    /// # Errors
    /// [`ProxyError::Wrong`] if a device is missing, privileges are missing, or the kernel lacks a
    /// feature. Nothing is left changed.
    pub fn new(slot: Arc<Slot>, selection: &Selection, port: u16) -> Result<Self, ProxyError> {
        let mut netlink = Netlink::open().map_err(refused)?;
        let index =
            |netlink: &mut Netlink, name: &String| netlink.index(name).map_err(|_| no_such_device(name));
        let from: Vec<u32> =
            selection.devices.iter().map(|name| index(&mut netlink, name)).collect::<Result<_, _>>()?;
        let device = create_redirect(&mut netlink, &slot).map_err(refused)?;
        netlink.add_rule(slot.rule(Purpose::Local)).map_err(refused)?;
        let result = rules(&slot, selection, &from, port).make();
        let if_dead = selection.if_dead;
        match result {
            Ok(owner) => Ok(Interception { _owner: owner, _device: Device(device), slot, if_dead }),
            Err(error) => {
                netlink.remove_rule(slot.rule(Purpose::Local));
                Err(refused(error))
            }
        }
    }
}

impl Drop for Interception {
    fn drop(&mut self) {
        // Without CAP_NET_ADMIN this fails; the parent process then cleans up.
        if let Ok(mut netlink) = Netlink::open() {
            netlink.remove_rule(self.slot.rule(Purpose::Local));
        }
        if self.if_dead == IfDead::Refuse {
            let _ = delete(&self.slot.table(), Family::Inet);
        }
    }
}

/// Creates a device of this process, and a routing table that treats every address as local to this
/// host.
fn create_redirect(netlink: &mut Netlink, slot: &Slot) -> io::Result<SyncDevice> {
    let device = DeviceBuilder::new().name(slot.device()).enable(false).build_sync()?;
    let index = device.if_index()?;
    netlink.set_up(index)?;
    for unspecified in [[0; 4].into(), [0_u16; 8].into()] {
        let table = Table::Own(slot.mark(Purpose::Local), OWNER);
        netlink.add_route(&Route { is_local: true, table, ..Route::default(unspecified, index) })?;
    }
    Ok(device)
}

/// Builds the nftables table. Rules are in the order of evaluation. Packets of connections that the
/// proxy does not own and must not intercept pass unchanged.
fn rules(slot: &Slot, selection: &Selection, from: &[u32], port: u16) -> Rules {
    let mut table = Rules::new(&slot.table(), Family::Inet, selection.if_dead == IfDead::Pass);
    table.port_set(COOKIES);
    table.chain(CHAIN, &redirect_rules(slot, selection, from, port));
    table.chain(ANSWERS, &cookie_rules());
    let policy = policy_rules(&selection.policy, slot.mark(Purpose::Local));
    if !policy.is_empty() {
        table.chain(POLICY, &policy);
    }
    table
}

/// Rules that redirect packets into the proxy.
fn redirect_rules(slot: &Slot, selection: &Selection, from: &[u32], port: u16) -> Vec<Rule> {
    let deliver = [&steps::mark(slot.mark(Purpose::Local))[..], &steps::accept()].concat();
    let arrives_from = |from: u32| [&steps::is_from_device(from)[..], &steps::is_tcp()].concat();
    let every = vec![0..=u16::MAX];
    let ports = if selection.ports.is_empty() { &every } else { &selection.ports };
    let selected: Vec<Vec<Expression>> = from
        .iter()
        .flat_map(|&from| {
            ports.iter().map(move |range| [arrives_from(from), steps::is_for(range).into()].concat())
        })
        .collect();
    let mut all = Vec::new();
    for &from in from {
        let for_this_host = [&arrives_from(from)[..], &steps::is_for_this_host(), &steps::accept()];
        all.push(Rule::new("services of this host", &for_this_host));
    }
    for selected in &selected {
        // Matches SYNs even if a connection with the same addresses and ports is in TIME-WAIT.
        let opens = [selected, &steps::is_syn()[..], &steps::deliver_to(port), &deliver];
        all.push(Rule::new("new connections", &opens));
        if selection.if_dead == IfDead::Refuse {
            // Reached only without a listener: otherwise the previous rule accepts the packet.
            all.push(Rule::new("without a proxy", &[selected, &steps::is_syn(), &steps::reset()]));
        }
    }
    let of_proxy = [&steps::is_tcp()[..], &steps::has_transparent_socket(), &deliver];
    all.push(Rule::new("connections of the proxy, from both sides", &of_proxy));
    for selected in &selected {
        let answers = [
            selected,
            &steps::is_ack()[..],
            &steps::is_for_port_in(&COOKIES),
            &steps::deliver_to(port),
            &deliver,
        ];
        all.push(Rule::new("answers to SYN cookies, which have no socket yet", &answers));
    }
    all
}

/// Rules that record the ports from which the kernel sends SYN cookies. Only for these ports can a
/// packet without a socket belong to the proxy.
fn cookie_rules() -> [Rule; 2] {
    let accepts = [&steps::is_tcp()[..], &steps::is_syn_ack()].concat();
    [
        Rule::new("not a SYN cookie", &[&accepts, &steps::has_socket(), &steps::accept()]),
        Rule::new("SYN cookie", &[&accepts, &steps::record_source_port(&COOKIES)]),
    ]
}

/// Rules that reset new connections to the listener if `policy` forbids their destination. Denied
/// destinations take precedence.
fn policy_rules(policy: &Policy, mark: u32) -> Vec<Rule> {
    let opens = [&steps::has_mark(mark)[..], &steps::is_tcp(), &steps::is_syn()].concat();
    let to = |destination: &Destinations| {
        let network = destination.network.map(|network| steps::is_to(network.address, network.length));
        [network.unwrap_or_default(), steps::is_for(&destination.ports).into()].concat()
    };
    let mut all: Vec<Rule> = Vec::new();
    for denied in &policy.denied {
        all.push(Rule::new("--deny", &[&opens, &to(denied), &steps::reset()]));
    }
    for allowed in &policy.allowed {
        all.push(Rule::new("--allow", &[&opens, &to(allowed), &steps::accept()]));
    }
    if !policy.allowed.is_empty() {
        all.push(Rule::new("not among --allow", &[&opens, &steps::reset()]));
    }
    all
}

fn no_such_device(name: &str) -> ProxyError {
    wrong(format!("--from {name}: there is no such device; `ip link` lists them"))
}

fn refused(error: io::Error) -> ProxyError {
    let help = match error.kind() {
        io::ErrorKind::PermissionDenied => "this requires root, or CAP_NET_ADMIN and /dev/net/tun",
        io::ErrorKind::NotFound => {
            "the kernel needs nftables with nft_tproxy, nft_socket and nft_fib_inet, and /dev/net/tun"
        }
        _ if error.raw_os_error() == Some(EMSGSIZE) => {
            "the list is too long for the kernel: give fewer --ports, as ranges, or fewer devices"
        }
        _ => "`umts doctor` shows missing components of this host",
    };
    wrong(format!("--transparent: cannot redirect connections ({error}): {help}"))
}
