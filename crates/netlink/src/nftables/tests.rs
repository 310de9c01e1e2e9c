//! The tests with a kernel run in network namespaces of their own. They end early if the user may
//! not create one.

use nix::sched::{CloneFlags, unshare};

use super::encoding::{find, string};
use super::*;

const OWNED: bool = true;
const CHAIN: Chain = Chain { name: "prerouting", kind: "filter", hook: 0, priority: -150 };

/// Runs `action` on a thread in its own network namespace. Returns `None` if the user may not
/// create one.
fn in_own_network<R: Send + 'static>(action: impl FnOnce() -> io::Result<R> + Send + 'static) -> Option<R> {
    let thread = std::thread::spawn(move || unshare(CloneFlags::CLONE_NEWNET).ok().map(|()| action()));
    let result = thread.join().expect("the action does not panic");
    result.map(|result| result.expect("a kernel with nftables"))
}

#[test]
fn rules_are_listed_in_the_given_order() {
    let Some(listed) = in_own_network(|| {
        let mut table = Table::new("order", Family::Inet, OWNED);
        let rule = |comment| Rule::new(comment, &[&steps::is_tcp(), &steps::accept()]);
        table.chain(CHAIN, &["first", "second", "third"].map(rule));
        let _owner = table.make()?;
        comments("order", CHAIN.name, Family::Inet)
    }) else {
        return;
    };
    assert_eq!(listed, ["first", "second", "third"]);
}

#[test]
fn owned_table_is_removed_with_its_owner() {
    let Some((while_owned, after_drop)) = in_own_network(|| {
        let owner = Table::new("once", Family::Inet, OWNED).make()?;
        let while_owned = tables(Family::Inet)?;
        drop(owner);
        Ok((while_owned, tables(Family::Inet)?))
    }) else {
        return;
    };
    assert_eq!(while_owned, ["once"]);
    assert_eq!(after_drop, [""; 0]);
}

#[test]
fn second_table_of_a_name_is_refused() {
    let Some(second) = in_own_network(|| {
        let make = || Table::new("once", Family::Inet, OWNED).make();
        let _owner = make()?;
        Ok(make().map(drop))
    }) else {
        return;
    };
    assert!(second.is_err());
}

#[test]
fn only_forward_chains_are_listed() {
    let Some(chains) = in_own_network(|| {
        let mut table = Table::new("host", Family::Ipv4, OWNED);
        table.chain(CHAIN, &[]);
        table.chain(Chain { name: "forward", kind: "filter", hook: FORWARD, priority: 0 }, &[]);
        let _owner = table.make()?;
        forward_chains()
    }) else {
        return;
    };
    assert_eq!(chains, ["ip host forward"]);
}

#[test]
fn kernel_accepts_conditions_on_every_length_of_prefix() {
    // Both families, a prefix within an octet, the empty prefix and a whole address.
    let networks = [("a", "192.0.2.0", 24), ("b", "0.0.0.0", 0), ("c", "2001:db8::", 33), ("d", "::1", 128)];
    in_own_network(move || {
        let mut table = Table::new("prefixes", Family::Inet, OWNED);
        for (name, network, length) in networks {
            let to = steps::is_to(network.parse().expect("the address is valid"), length);
            let chain = Chain { name, ..CHAIN };
            table.chain(chain, &[Rule::new("to", &[&to, &steps::accept()])]);
        }
        table.make().map(drop)
    });
}

#[test]
fn kernel_accepts_rules_that_fill_and_use_a_set_of_ports() {
    const PORTS: PortSet = PortSet { name: "ports", timeout_ms: 1000 };
    /// Hook of packets that this host sends (`NF_INET_LOCAL_OUT` of linux/netfilter.h).
    const OUTPUT: u32 = 3;
    in_own_network(|| {
        let mut table = Table::new("steps", Family::Inet, OWNED);
        table.port_set(PORTS);
        let fill = [&steps::is_syn_ack()[..], &steps::has_socket(), &steps::record_source_port(&PORTS)];
        let look_up = [&steps::is_ack()[..], &steps::is_for_port_in(&PORTS), &steps::has_mark(7)];
        let chain = Chain { name: "output", hook: OUTPUT, priority: 0, ..CHAIN };
        table.chain(chain, &[Rule::new("fill", &fill), Rule::new("look up", &look_up)]);
        table.make().map(drop)
    });
}

#[test]
fn attributes_are_found_by_their_numbers() {
    let attributes = [text(NAME, "name"), number(COUNT, 7)].concat();
    assert_eq!(string(&attributes, NAME).as_deref(), Some("name"));
    assert_eq!(find(&attributes, COUNT), Some(&7_u32.to_be_bytes()[..]));
}

#[test]
fn truncated_attributes_are_not_found() {
    let attributes = [text(NAME, "name"), number(COUNT, 7)].concat();
    for end in 0..attributes.len() {
        assert_eq!(find(&attributes[..end], COUNT), None, "{end}");
    }
}

/// Numbers of attributes.
const NAME: u16 = 1;
const COUNT: u16 = 2;
