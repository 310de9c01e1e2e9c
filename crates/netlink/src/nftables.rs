//! Rules of the kernel's nftables, set over netlink, so that no tool is needed.
//!
//! A [`Table`] has chains of rules. A rule is a sequence of [`Expression`]s, which the functions of
//! [`steps`] return: conditions, which load a value into a register and compare the value, and then
//! actions. A table may be *owned*: the kernel removes it with the socket that created it, however
//! the process ends.
//!
//! A message to the kernel (`messages.rs`) consists of headers and attributes. An attribute has a
//! number (`attr.rs`) and a value (`encoding.rs`).

mod attr;
mod encoding;
mod messages;
mod operations;
mod queries;
pub mod steps;

#[cfg(test)]
mod tests;

use std::io;

use netlink_sys::Socket;

use encoding::{attribute, comment, nested, number, text};
use messages::{Request, commit, encode, flag};

pub use operations::Expression;
pub use queries::{comments, forward_chains, tables};

/// The packets to which a table applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// Packets of IPv4 and IPv6.
    Inet = 1,
    /// Packets of IPv4.
    Ipv4 = 2,
    /// Packets of IPv6.
    Ipv6 = 10,
}

/// A chain of rules: hook and priority.
#[derive(Debug, Clone, Copy)]
pub struct Chain {
    /// Name of the chain in the table.
    pub name: &'static str,
    /// Type of the chain: `filter` or `nat`.
    pub kind: &'static str,
    /// Number of the hook in the kernel's packet path.
    pub hook: u32,
    /// Chains with smaller numbers run earlier.
    pub priority: i32,
}

/// Hook of forwarded packets, for [`Chain::hook`] (`NF_INET_FORWARD` of linux/netfilter.h).
const FORWARD: u32 = 2;

/// A rule of a chain.
#[derive(Debug, Clone)]
pub struct Rule {
    /// Shown by `nft list`; at most 254 bytes.
    pub comment: &'static str,
    /// Conditions, then actions.
    pub steps: Vec<Expression>,
}

impl Rule {
    /// Creates a rule of these steps, in this order.
    pub fn new(comment: &'static str, parts: &[&[Expression]]) -> Self {
        Rule { comment, steps: parts.concat() }
    }
}

/// A set of ports that rules fill. Its elements expire. It has room for all 65,536 ports.
#[derive(Debug, Clone, Copy)]
pub struct PortSet {
    /// Name of the set in the table.
    pub name: &'static str,
    /// Time in milliseconds after which an unused element expires.
    pub timeout_ms: u64,
}

/// Owner of a table. An owned table is removed when the owner is dropped.
#[derive(Debug)]
pub struct Owner {
    _socket: Socket,
}

/// A table under construction.
#[derive(Debug)]
pub struct Table {
    name: String,
    family: Family,
    /// Messages that create the table and the contents.
    messages: Vec<Vec<u8>>,
}

impl Table {
    /// Creates an empty table. If `is_owned`, the kernel removes the table with the [`Owner`].
    pub fn new(name: &str, family: Family, is_owned: bool) -> Self {
        /// Flag of an owned table (linux/netfilter/nf_tables.h).
        const OWNED: u32 = 2;
        let mut table = Table { name: name.to_owned(), family, messages: Vec::new() };
        let flags = if is_owned { OWNED } else { 0 };
        let attributes = [text(attr::table::NAME, name), number(attr::table::FLAGS, flags)];
        table.add(Request::NewTable, flag::EXCLUSIVE, &attributes.concat());
        table
    }

    /// Adds a chain. The kernel evaluates its rules in this order.
    pub fn chain(&mut self, chain: Chain, rules: &[Rule]) {
        let hook = [
            number(attr::chain::HOOK_NUMBER, chain.hook),
            number(attr::chain::HOOK_PRIORITY, chain.priority as u32),
        ];
        let attributes = [
            text(attr::chain::TABLE, &self.name),
            text(attr::chain::NAME, chain.name),
            nested(attr::chain::HOOK, &hook.concat()),
            text(attr::chain::TYPE, chain.kind),
        ];
        self.add(Request::NewChain, 0, &attributes.concat());
        for rule in rules {
            self.rule(chain.name, rule);
        }
    }

    /// Adds a rule behind the other rules of a chain.
    fn rule(&mut self, chain: &str, rule: &Rule) {
        let encode_step = |step: &Expression| {
            let name = text(attr::rule::EXPRESSION_NAME, step.name);
            let data = nested(attr::rule::EXPRESSION_DATA, &step.attributes);
            nested(attr::rule::EXPRESSION, &[name, data].concat())
        };
        let expressions: Vec<u8> = rule.steps.iter().flat_map(encode_step).collect();
        let attributes = [
            text(attr::rule::TABLE, &self.name),
            text(attr::rule::CHAIN, chain),
            nested(attr::rule::EXPRESSIONS, &expressions),
            attribute(attr::rule::USER_DATA, &comment(rule.comment)),
        ];
        // Without this flag, the kernel inserts each rule in front of the others.
        self.add(Request::NewRule, flag::APPEND, &attributes.concat());
    }

    /// Adds a set, for use by chains that are added later.
    pub fn port_set(&mut self, set: PortSet) {
        /// Flag of a set (linux/netfilter/nf_tables.h): elements expire.
        const EXPIRES: u32 = 0x10;
        /// Flag of a set: rules add elements.
        const FILLED_BY_RULES: u32 = 0x20;
        /// Type of the elements, for `nft list`: ports.
        const PORT: u32 = 13;
        /// Octets of a port.
        const PORT_LENGTH: u32 = 2;
        /// Number of ports.
        const ALL_PORTS: u32 = 1 << 16;
        let attributes = [
            text(attr::set::TABLE, &self.name),
            text(attr::set::NAME, set.name),
            number(attr::set::FLAGS, EXPIRES | FILLED_BY_RULES),
            number(attr::set::ELEMENT_TYPE, PORT),
            number(attr::set::ELEMENT_LENGTH, PORT_LENGTH),
            nested(attr::set::DESCRIPTION, &number(attr::set::SIZE, ALL_PORTS)),
            number(attr::set::ID, 1),
            attribute(attr::set::TIMEOUT, &set.timeout_ms.to_be_bytes()),
        ];
        self.add(Request::NewSet, 0, &attributes.concat());
    }

    /// Adds a message that creates an object.
    fn add(&mut self, request: Request, flags: u16, attributes: &[u8]) {
        let flags = flag::REQUEST | flag::CREATE | flags;
        self.messages.push(encode(request, flags, self.family, attributes));
    }

    /// Creates the table in the current namespace, completely or not at all.
    ///
    /// # Errors
    /// Errors of the kernel, for example if a table of this name and family exists.
    pub fn make(self) -> io::Result<Owner> {
        commit(self.messages).map(|socket| Owner { _socket: socket })
    }
}

/// Removes a table with its contents.
///
/// # Errors
/// Errors of the kernel: the table does not exist, or another socket owns it.
pub fn delete(name: &str, family: Family) -> io::Result<()> {
    let delete = encode(Request::DeleteTable, flag::REQUEST, family, &text(attr::table::NAME, name));
    commit(vec![delete]).map(drop)
}
