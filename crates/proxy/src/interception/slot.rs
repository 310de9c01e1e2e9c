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

/// What rules of one slot lead to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lead {
    /// Into this host, what is intercepted.
    Here = 0,
    /// To clients.
    Clients = 1,
    /// To servers.
    Servers = 2,
}

const LEADS: [Lead; 3] = [Lead::Here, Lead::Clients, Lead::Servers];

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
        slot.clean(false)?;
        Ok(slot)
    }

    fn held(number: u32) -> Option<Slot> {
        let name = format!("umtslab-proxy-{number}");
        let address = SocketAddr::from_abstract_name(name).ok()?;
        UnixListener::bind_addr(&address).ok().map(|held| Slot { number, _held: held })
    }

    /// The mark of what is to be led, and the table that leads it.
    pub fn mark(&self, lead: Lead) -> u32 {
        FIRST + SLOTS * lead as u32 + self.number
    }

    /// The name of its table of nftables.
    pub fn table(&self) -> String {
        format!("umtslab_proxy_{}", self.number)
    }

    /// The name of its device.
    pub fn device(&self) -> String {
        format!("umts-pep{}", self.number)
    }

    /// The rule that leads marked packets to their table.
    pub fn rule(&self, lead: Lead) -> Rule {
        let mark = self.mark(lead);
        Rule { priority: PRIORITY + self.number, mark, table: mark, owner: OWNER }
    }

    /// Removes what was left, `keep_refusals` but for a table that refuses: how many things.
    pub fn clean(&self, keep_refusals: bool) -> io::Result<usize> {
        let mut netlink = Netlink::open()?;
        let marks = LEADS.map(|lead| self.mark(lead));
        let rules: Vec<_> =
            netlink.rules(OWNER)?.into_iter().filter(|rule| marks.contains(&rule.mark)).collect();
        let mut count = rules.len();
        for rule in rules {
            netlink.remove_rule(rule);
            count += netlink.clear_table(rule.table)?;
        }
        // Without nftables in the kernel there is no table either.
        let tables = nftables::tables(Family::Inet).unwrap_or_default();
        if !keep_refusals && tables.contains(&self.table()) {
            nftables::delete(&self.table(), Family::Inet)?;
            count += 1;
        }
        Ok(count)
    }
}

/// Removes what proxies of this network left when they were killed; `keep_refusals`: but for tables that refuse what a proxy
/// does no more take. How many things.
///
/// # Errors
/// The kernel's: it takes root.
pub fn clean(keep_refusals: bool) -> io::Result<usize> {
    (0..SLOTS).filter_map(Slot::held).map(|slot| slot.clean(keep_refusals)).sum()
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
