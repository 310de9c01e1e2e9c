//! Queries: the tables, chains and rules of the current namespace.

use std::io;

use super::encoding::{comment_of, find, find_number, string, text};
use super::messages::{Request, query};
use super::{FORWARD, Family, attr};

/// Returns the names of the tables of a family.
///
/// # Errors
/// Errors of the kernel.
pub fn tables(family: Family) -> io::Result<Vec<String>> {
    let tables = query(Request::GetTable, family, &[])?;
    Ok(tables.iter().filter_map(|table| string(table, attr::table::NAME)).collect())
}

/// Returns the comments of the rules of a chain, in the order of evaluation. The comment is empty
/// for a rule without one.
///
/// # Errors
/// Errors of the kernel.
pub fn comments(table: &str, chain: &str, family: Family) -> io::Result<Vec<String>> {
    let filter = [text(attr::rule::TABLE, table), text(attr::rule::CHAIN, chain)];
    let rules = query(Request::GetRule, family, &filter.concat())?;
    let is_of_chain = |rule: &&Vec<u8>| {
        string(rule, attr::rule::TABLE).as_deref() == Some(table)
            && string(rule, attr::rule::CHAIN).as_deref() == Some(chain)
    };
    Ok(rules.iter().filter(is_of_chain).map(|rule| comment_of(rule).unwrap_or_default()).collect())
}

/// Returns the chains of this namespace with the forward hook, for example as `inet TABLE CHAIN`.
///
/// # Errors
/// Errors of the kernel.
pub fn forward_chains() -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for (family, family_name) in [(Family::Inet, "inet"), (Family::Ipv4, "ip"), (Family::Ipv6, "ip6")] {
        for chain in query(Request::GetChain, family, &[])? {
            if hook_of(&chain) == Some(FORWARD)
                && let Some(table) = string(&chain, attr::chain::TABLE)
                && let Some(chain) = string(&chain, attr::chain::NAME)
            {
                names.push(format!("{family_name} {table} {chain}"));
            }
        }
    }
    Ok(names)
}

/// Returns the hook of a chain. `None` for a chain that only other chains call.
fn hook_of(chain: &[u8]) -> Option<u32> {
    find_number(find(chain, attr::chain::HOOK)?, attr::chain::HOOK_NUMBER)
}
