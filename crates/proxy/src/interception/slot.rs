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
const BASE_NUMBER: u32 = 0x7570_0000;
/// Protocol number that identifies the proxy's rules and routes (`ip rule` shows it as `proto`).
pub const OWNER: u8 = 117;
/// Priority of the rule of slot 0. Rules of all slots precede the rule of the main table.
const PRIORITY: u32 = 100;
/// Prefix of the names of nftables tables.
const TABLE: &str = "umtslab_proxy_";
/// Longest wait of [`clean`] for processes that are ending: the kernel may take a moment to end a
/// killed process.
const MAX_END_WAIT: Duration = Duration::from_millis(1500);

/// Purpose of a policy rule and its table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Delivers intercepted packets to this host.
    Local = 0,
    /// Routes packets to clients.
    Clients = 1,
    /// Routes packets to servers.
    Servers = 2,
}

const PURPOSES: [Purpose; 3] = [Purpose::Local, Purpose::Clients, Purpose::Servers];

/// A slot that this process holds until it is dropped.
#[derive(Debug)]
pub struct Slot {
    number: u32,
    /// The slot is reserved while this exists.
    _lock: Owner,
}

impl Slot {
    /// Takes the first slot that no process holds, and removes rules and tables that were left in
    /// it. Requires root.
    ///
    /// # Errors
    /// All slots are held, or an error of the kernel.
    pub fn free() -> io::Result<Slot> {
        let held = held_slots()?;
        for number in (0..SLOTS).filter(|number| !held.contains(number)) {
            if let Some(slot) = Slot::take(number)? {
                let keep_refusals = false;
                slot.clean(keep_refusals)?;
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
            Ok(owner) => Ok(Some(Slot { number, _lock: owner })),
            Err(_) if held_slots()?.contains(&number) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Firewall mark of the packets, and number of the routing table.
    pub fn mark(&self, purpose: Purpose) -> u32 {
        mark(self.number, purpose)
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
    pub fn rule(&self, purpose: Purpose) -> Rule {
        let mark = self.mark(purpose);
        Rule { priority: PRIORITY + self.number, mark, table: mark, owner: OWNER }
    }

    /// Removes leftover rules, routes and tables. With `keep_refusals`, keeps an nftables table
    /// that refuses connections. Returns the number of removed items.
    pub fn clean(&self, keep_refusals: bool) -> io::Result<usize> {
        let mut netlink = Netlink::open()?;
        let marks = PURPOSES.map(|purpose| self.mark(purpose));
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

fn mark(number: u32, purpose: Purpose) -> u32 {
    BASE_NUMBER + SLOTS * purpose as u32 + number
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
fn held_slots() -> io::Result<BTreeSet<u32>> {
    let tables = nftables::tables(Family::Inet)?;
    Ok(tables.iter().filter_map(|table| number_of(table, "_held")).collect())
}

/// Slots that have a policy rule or an nftables table.
fn used_slots() -> io::Result<BTreeSet<u32>> {
    let of_rule = |rule: &Rule| {
        let offset = rule.mark.checked_sub(BASE_NUMBER)?;
        (offset < SLOTS * PURPOSES.len() as u32).then_some(offset % SLOTS)
    };
    let mut used_slots: BTreeSet<u32> = Netlink::open()?.rules(OWNER)?.iter().filter_map(of_rule).collect();
    used_slots.extend(nftables::tables(Family::Inet)?.iter().filter_map(|table| number_of(table, "")));
    Ok(used_slots)
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
/// `keep_refusals`, keeps tables that refuse connections. With `waits`, waits up to `MAX_END_WAIT`
/// for processes that are ending.
///
/// # Errors
/// An error of the kernel. Requires root.
pub fn clean(keep_refusals: bool, waits: bool) -> io::Result<Cleaned> {
    let deadline = Instant::now() + if waits { MAX_END_WAIT } else { Duration::ZERO };
    let mut removed = 0;
    loop {
        let mut held_count = 0;
        for number in used_slots()? {
            match Slot::take(number)? {
                Some(slot) => removed += slot.clean(keep_refusals)?,
                None => held_count += 1,
            }
        }
        if held_count == 0 || Instant::now() >= deadline {
            return Ok(Cleaned { removed, held: held_count });
        }
        sleep(Duration::from_millis(20));
    }
}

/// Number of slots with a policy rule but without a device, because their proxies were killed.
/// Requires no privileges.
///
/// # Errors
/// An error of the kernel.
pub fn leftover_slots() -> io::Result<usize> {
    interceptions(|has_device| !has_device)
}

/// Number of proxies that intercept in this network namespace. Requires no privileges.
///
/// # Errors
/// An error of the kernel.
pub fn active_slots() -> io::Result<usize> {
    interceptions(|has_device| has_device)
}

/// Number of slots with a policy rule for which `counts` returns true. Its argument is whether the
/// slot's device exists.
fn interceptions(counts: impl Fn(bool) -> bool) -> io::Result<usize> {
    let mut netlink = Netlink::open()?;
    let rules = netlink.rules(OWNER)?;
    // The marks of `Purpose::Local` are the first `SLOTS` marks.
    let numbers =
        rules.iter().filter_map(|rule| rule.mark.checked_sub(BASE_NUMBER)).filter(|&number| number < SLOTS);
    let numbers: BTreeSet<u32> = numbers.collect();
    Ok(numbers.into_iter().filter(|&number| counts(netlink.index(&device(number)).is_ok())).count())
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
            (0..SLOTS).flat_map(|number| PURPOSES.map(|purpose| mark(number, purpose))).collect();
        assert_eq!(marks.len(), SLOTS as usize * PURPOSES.len());
    }
}
