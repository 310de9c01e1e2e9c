//! Numbers of what a proxy has in the kernel. A proxy that lives holds its slot by a name that goes with its process, so what
//! has the numbers of a slot that nobody holds was left by one that was killed.

use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};

use umts_netlink::nftables::{self, Family};
use umts_netlink::{Netlink, Rule};

/// Proxies of one network at once.
const SLOTS: u32 = 64;
/// The first table and mark.
const FIRST: u32 = 0x7570_0000;
/// By which rules and routes are known as ours (`ip rule` shows it as `proto`).
pub const OWNER: u8 = 117;
/// Of a slot's rule: before the rule that leads to the main table.
const PRIORITY: u32 = 100;

/// One of them, held.
#[derive(Debug)]
pub struct Slot {
    number: u32,
    _held: UnixListener,
}

impl Slot {
    /// The first that nobody holds, cleaned of what was left in it.
    ///
    /// # Errors
    /// If all are held, or the kernel does not let go of what was left.
    pub fn free() -> io::Result<Slot> {
        let slot = (0..SLOTS).find_map(Slot::held);
        let slot = slot.ok_or_else(|| io::Error::other("there are 64 proxies in this network already"))?;
        slot.clean()?;
        Ok(slot)
    }

    fn held(number: u32) -> Option<Slot> {
        let name = format!("umtslab-proxy-{number}");
        let address = SocketAddr::from_abstract_name(name).ok()?;
        UnixListener::bind_addr(&address).ok().map(|held| Slot { number, _held: held })
    }

    /// The mark of what is to be led here, and the table that leads it.
    pub fn mark(&self) -> u32 {
        FIRST + self.number
    }

    /// The name of its table of nftables.
    pub fn table(&self) -> String {
        format!("umtslab_proxy_{}", self.number)
    }

    /// The name of its device.
    pub fn device(&self) -> String {
        format!("umts-pep{}", self.number)
    }

    /// The rule that leads marked packets to its table.
    pub fn rule(&self) -> Rule {
        let mark = self.mark();
        Rule { priority: PRIORITY + self.number, mark, table: mark, owner: OWNER }
    }

    /// Removes what was left: how many things.
    fn clean(&self) -> io::Result<usize> {
        let mut netlink = Netlink::open()?;
        let rules: Vec<_> =
            netlink.rules(OWNER)?.into_iter().filter(|rule| rule.mark == self.mark()).collect();
        rules.iter().for_each(|&rule| netlink.remove_rule(rule));
        // Without nftables in the kernel there is no table either.
        let tables = nftables::tables(Family::Inet).unwrap_or_default();
        let is_left = tables.contains(&self.table());
        if is_left {
            nftables::delete(&self.table(), Family::Inet)?;
        }
        Ok(rules.len() + usize::from(is_left))
    }
}

/// Removes what proxies of this network left when they were killed; `keep_refusals`: but for tables that refuse what a proxy
/// does no more take. How many things.
///
/// # Errors
/// The kernel's: it takes root.
pub fn clean(keep_refusals: bool) -> io::Result<usize> {
    let left = |slot: &Slot| match keep_refusals {
        true => {
            let mut netlink = Netlink::open()?;
            let rules = netlink.rules(OWNER)?;
            let own: Vec<_> = rules.into_iter().filter(|rule| rule.mark == slot.mark()).collect();
            own.iter().for_each(|&rule| netlink.remove_rule(rule));
            Ok(own.len())
        }
        false => slot.clean(),
    };
    (0..SLOTS).filter_map(Slot::held).map(|slot| left(&slot)).sum()
}

/// Proxies that intercept in this network.
///
/// # Errors
/// The kernel's.
pub fn at_work() -> io::Result<usize> {
    let rules = Netlink::open()?.rules(OWNER)?;
    let is_held =
        |rule: &Rule| rule.mark.checked_sub(FIRST).is_some_and(|number| Slot::held(number).is_none());
    Ok(rules.iter().filter(|rule| is_held(rule)).count())
}
