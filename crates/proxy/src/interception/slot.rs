//! Slots: a slot determines the marks, tables and device of a proxy in the kernel. A running proxy
//! holds its slot by an empty nftables table that the kernel removes when the process ends. Rules
//! and tables of a slot that no process holds therefore belong to a proxy that was killed. Creating
//! the table requires root.

use std::collections::BTreeSet;
use std::io;
use std::thread::sleep;
use std::time::{Duration, Instant};

use umts_netlink::nftables::{self, Family, Owner, Table};
use umts_netlink::{Netlink, Rule};

/// Maximum number of proxies in one network namespace.
const SLOTS: u32 = 64;
/// Base of the numbers of tables and marks.
const FIRST: u32 = 0x7570_0000;
/// Protocol number that identifies the proxy's rules and routes (`ip rule` shows it as `proto`).
pub const OWNER: u8 = 117;
/// Priority of the rule of slot 0. Rules of all slots precede the rule of the main table.
const PRIORITY: u32 = 100;
/// Prefix of the names of nftables tables.
const TABLE: &str = "umtslab_proxy_";
/// Longest wait of [`clean`] for processes that are ending: the kernel may take a moment to end a
/// killed process.
const LONGEST_END: Duration = Duration::from_millis(1500);

/// Purpose of a policy rule and its table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lead {
    /// Delivers intercepted packets to this host.
    Here = 0,
    /// Routes packets to clients.
    Clients = 1,
    /// Routes packets to servers.
    Servers = 2,
}

const LEADS: [Lead; 3] = [Lead::Here, Lead::Clients, Lead::Servers];

/// A slot that this process holds until it is dropped.
#[derive(Debug)]
pub struct Slot {
    number: u32,
    _held: Owner,
}

impl Slot {
    /// Takes the first slot that no process holds, and removes rules and tables that were left in
    /// it. Requires root.
    ///
    /// # Errors
    /// All slots are held, or an error of the kernel.
    pub fn free() -> io::Result<Slot> {
        let held = held()?;
        for number in (0..SLOTS).filter(|number| !held.contains(number)) {
            if let Some(slot) = Slot::take(number)? {
                slot.clean(false)?;
                return Ok(slot);
            }
        }
        Err(io::Error::other(format!(
            "there are already {SLOTS} proxies in this network namespace, the maximum"
        )))
    }

    /// Takes the slot of this number. Returns `None` if another process holds it.
    fn take(number: u32) -> io::Result<Option<Slot>> {
        match Table::new(&lock(number), Family::Inet, true).make() {
            Ok(owner) => Ok(Some(Slot { number, _held: owner })),
            Err(_) if held()?.contains(&number) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Firewall mark of the packets, and number of the routing table.
    pub fn mark(&self, lead: Lead) -> u32 {
        mark(self.number, lead)
    }

    /// Name of the nftables table.
    pub fn table(&self) -> String {
        format!("{TABLE}{}", self.number)
    }

    /// Name of the device.
    pub fn device(&self) -> String {
        device(self.number)
    }

    /// The policy rule that sends marked packets to their table.
    pub fn rule(&self, lead: Lead) -> Rule {
        let mark = self.mark(lead);
        Rule { priority: PRIORITY + self.number, mark, table: mark, owner: OWNER }
    }

    /// Removes leftover rules, routes and tables. With `keep_refusals`, keeps an nftables table
    /// that refuses connections. Returns the number of removed items.
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
        if !keep_refusals && nftables::tables(Family::Inet)?.contains(&self.table()) {
            nftables::delete(&self.table(), Family::Inet)?;
            count += 1;
        }
        Ok(count)
    }
}

fn mark(number: u32, lead: Lead) -> u32 {
    FIRST + SLOTS * lead as u32 + number
}

fn device(number: u32) -> String {
    format!("umts-proxy{number}")
}

/// Name of the nftables table that holds a slot.
fn lock(number: u32) -> String {
    format!("{TABLE}{number}_held")
}

/// Parses the slot number from the name of a table that ends with `suffix`.
fn number_of(table: &str, suffix: &str) -> Option<u32> {
    let number = table.strip_prefix(TABLE)?.strip_suffix(suffix)?.parse().ok();
    number.filter(|&number| number < SLOTS)
}

/// Slots that a process holds.
fn held() -> io::Result<BTreeSet<u32>> {
    let tables = nftables::tables(Family::Inet)?;
    Ok(tables.iter().filter_map(|table| number_of(table, "_held")).collect())
}

/// Slots that have a policy rule or an nftables table.
fn used() -> io::Result<BTreeSet<u32>> {
    let of_rule = |rule: &Rule| {
        let beyond = rule.mark.checked_sub(FIRST)?;
        (beyond < SLOTS * LEADS.len() as u32).then_some(beyond % SLOTS)
    };
    let mut found: BTreeSet<u32> = Netlink::open()?.rules(OWNER)?.iter().filter_map(of_rule).collect();
    found.extend(nftables::tables(Family::Inet)?.iter().filter_map(|table| number_of(table, "")));
    Ok(found)
}

/// Result of [`clean`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cleaned {
    /// Policy rules, routes and tables that were removed.
    pub removed: usize,
    /// Slots in use: their processes are running or have not ended yet.
    pub held: usize,
}

/// Removes rules, routes and tables that killed proxies left in this network namespace. With
/// `keep_refusals`, keeps tables that refuse connections. With `waits`, waits up to `LONGEST_END`
/// for processes that are ending.
///
/// # Errors
/// An error of the kernel. Requires root.
pub fn clean(keep_refusals: bool, waits: bool) -> io::Result<Cleaned> {
    let deadline = Instant::now() + if waits { LONGEST_END } else { Duration::ZERO };
    let mut removed = 0;
    loop {
        let mut held = 0;
        for number in used()? {
            match Slot::take(number)? {
                Some(slot) => removed += slot.clean(keep_refusals)?,
                None => held += 1,
            }
        }
        if held == 0 || Instant::now() >= deadline {
            return Ok(Cleaned { removed, held });
        }
        sleep(Duration::from_millis(20));
    }
}

/// Number of slots with a policy rule but without a device, because their proxies were killed.
/// Requires no privileges.
///
/// # Errors
/// An error of the kernel.
pub fn left_behind() -> io::Result<usize> {
    interceptions(|has_device| !has_device)
}

/// Number of proxies that intercept in this network namespace. Requires no privileges.
///
/// # Errors
/// An error of the kernel.
pub fn at_work() -> io::Result<usize> {
    interceptions(|has_device| has_device)
}

/// Number of slots with a policy rule for which `wanted` returns true. Its argument is whether the
/// slot's device exists.
fn interceptions(wanted: impl Fn(bool) -> bool) -> io::Result<usize> {
    let mut netlink = Netlink::open()?;
    let rules = netlink.rules(OWNER)?;
    let numbers =
        rules.iter().filter_map(|rule| rule.mark.checked_sub(FIRST)).filter(|&number| number < SLOTS);
    let numbers: BTreeSet<u32> = numbers.collect();
    Ok(numbers.into_iter().filter(|&number| wanted(netlink.index(&device(number)).is_ok())).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slot_number_is_parsed_from_table_names() {
        assert_eq!(number_of(&lock(7), "_held"), Some(7));
        assert_eq!(number_of(&lock(7), ""), None);
        assert_eq!(number_of("umtslab_proxy_63", ""), Some(63));
        assert_eq!(number_of("umtslab_proxy_64", ""), None);
        assert_eq!(number_of("host", ""), None);
    }

    #[test]
    fn marks_of_slots_and_leads_differ() {
        let marks: BTreeSet<u32> =
            (0..SLOTS).flat_map(|number| LEADS.map(|lead| mark(number, lead))).collect();
        assert_eq!(marks.len(), SLOTS as usize * LEADS.len());
    }
}
