//! Slots: numbers of the marks, tables and devices of a proxy in the kernel. A running proxy holds its slot by an empty
//! table of nftables that the kernel removes with its process. So rules and tables of a slot that no process holds were
//! left by a proxy that was killed. Only root can make such a table.

use std::collections::BTreeSet;
use std::io;
use std::thread::sleep;
use std::time::{Duration, Instant};

use umts_netlink::nftables::{self, Family, Owner, Table};
use umts_netlink::{Netlink, Rule};

/// Proxies of one network at once.
const SLOTS: u32 = 64;
/// The first table and mark.
const FIRST: u32 = 0x7570_0000;
/// By which rules and routes are known as ours (`ip rule` shows it as `proto`).
pub const OWNER: u8 = 117;
/// Of a slot's rule: before the rule that leads to the main table.
const PRIORITY: u32 = 100;
/// Prefix of the names of tables.
const TABLE: &str = "umtslab_proxy_";
/// Longest wait of [`clean`] for processes that are ending: the kernel may still be ending a process that was killed.
const LONGEST_END: Duration = Duration::from_millis(1500);

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
    _held: Owner,
}

impl Slot {
    /// Takes the first slot that no process holds, and removes rules and tables that were left in it. It takes root.
    ///
    /// # Errors
    /// All slots are held, or the kernel's.
    pub fn free() -> io::Result<Slot> {
        let held = held()?;
        for number in (0..SLOTS).filter(|number| !held.contains(number)) {
            if let Some(slot) = Slot::take(number)? {
                slot.clean(false)?;
                return Ok(slot);
            }
        }
        Err(io::Error::other(format!("there are {SLOTS} proxies in this network already")))
    }

    /// Takes the slot of this number. Returns `None` if another process holds it.
    fn take(number: u32) -> io::Result<Option<Slot>> {
        match Table::new(&lock(number), Family::Inet, true).make() {
            Ok(owner) => Ok(Some(Slot { number, _held: owner })),
            Err(_) if held()?.contains(&number) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The mark of what is to be led, and the table that leads it.
    pub fn mark(&self, lead: Lead) -> u32 {
        mark(self.number, lead)
    }

    /// The name of its table of nftables.
    pub fn table(&self) -> String {
        format!("{TABLE}{}", self.number)
    }

    /// The name of its device.
    pub fn device(&self) -> String {
        device(self.number)
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

/// The name of the table by which a slot is held.
fn lock(number: u32) -> String {
    format!("{TABLE}{number}_held")
}

/// The number of the slot in the name of a table that ends with `suffix`.
fn number_of(table: &str, suffix: &str) -> Option<u32> {
    let number = table.strip_prefix(TABLE)?.strip_suffix(suffix)?.parse().ok();
    number.filter(|&number| number < SLOTS)
}

/// Slots that a process holds.
fn held() -> io::Result<BTreeSet<u32>> {
    let tables = nftables::tables(Family::Inet)?;
    Ok(tables.iter().filter_map(|table| number_of(table, "_held")).collect())
}

/// Slots that have a policy rule or a table.
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
    /// Slots in use: their processes run, or have not ended yet.
    pub held: usize,
}

/// Removes rules, routes and tables that proxies of this network left when they were killed. With `keep_refusals`, tables
/// that refuse connections instead of a proxy stay. With `waits`, waits for processes that are ending, for at most
/// `LONGEST_END`.
///
/// # Errors
/// The kernel's: it takes root.
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

/// Number of policy rules that lead to a missing device, because their proxies were killed. It takes no privileges.
///
/// # Errors
/// The kernel's.
pub fn left_behind() -> io::Result<usize> {
    interceptions(|has_device| !has_device)
}

/// Number of proxies that intercept in this network. It takes no privileges.
///
/// # Errors
/// The kernel's.
pub fn at_work() -> io::Result<usize> {
    interceptions(|has_device| has_device)
}

/// Number of slots with a policy rule for which `wanted` returns true, given whether their device exists.
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
    fn the_number_of_a_slot_is_read_from_the_names_of_its_tables() {
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
