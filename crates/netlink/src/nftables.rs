//! Rules of the kernel's nftables, set over netlink, so that no tool is needed.
//!
//! A table may be *owned*: the kernel removes it with the socket that created it, however the
//! process ends.
//!
//! A [`Table`] has chains of rules. A rule is a sequence of [`Expression`]s ([`steps`]):
//! conditions, which load a value into a register and compare the value, and then actions. A
//! message to the kernel consists of attributes with a number (module `attr`) and a value.

use std::io;
use std::net::IpAddr;
use std::ops::RangeInclusive;

use netlink_sys::protocols::NETLINK_NETFILTER;
use netlink_sys::{Socket, SocketAddr};

/// Octets of the header of netlink.
const NETLINK_HEADER: usize = 16;
/// Octets of both headers of a message: netlink's, and 4 octets of nfnetlink.
const HEADERS: usize = NETLINK_HEADER + 4;

/// From linux/netfilter/nfnetlink.h.
const BATCH_BEGIN: u16 = 0x10;
const BATCH_END: u16 = 0x11;
const SUBSYSTEM: u16 = 10;

/// From linux/netfilter/nf_tables.h.
const NEW_TABLE: u16 = 0;
const GET_TABLE: u16 = 1;
const DELETE_TABLE: u16 = 2;
const NEW_CHAIN: u16 = 3;
const GET_CHAIN: u16 = 4;
const NEW_RULE: u16 = 6;
const GET_RULE: u16 = 7;
const NEW_SET: u16 = 9;
const TABLE_OWNED: u32 = 2;
/// Hook of forwarded packets.
const FORWARD: u32 = 2;
/// The register of all rules: one step of a rule loads a value, the next one compares or stores the
/// value.
const REGISTER: u32 = 1;
/// The register of the verdict on a packet.
const VERDICT: u32 = 0;

/// From linux/netlink.h: flags of messages and of attributes.
const REQUEST: u16 = 1;
const ACKNOWLEDGE: u16 = 4;
const DUMP: u16 = 0x300;
const EXCLUSIVE: u16 = 0x200;
const CREATE: u16 = 0x400;
const APPEND: u16 = 0x800;
const NESTED: u16 = 0x8000;

/// Numbers of attributes: the enumerations `nft_*_attributes` of linux/netfilter/nf_tables.h.
mod attr {
    pub mod table {
        pub const NAME: u16 = 1;
        pub const FLAGS: u16 = 2;
    }
    pub mod chain {
        pub const TABLE: u16 = 1;
        pub const NAME: u16 = 3;
        pub const HOOK: u16 = 4;
        pub const TYPE: u16 = 7;
        /// Within `HOOK`.
        pub const HOOK_NUMBER: u16 = 1;
        /// Within `HOOK`.
        pub const HOOK_PRIORITY: u16 = 2;
    }
    pub mod rule {
        pub const TABLE: u16 = 1;
        pub const CHAIN: u16 = 2;
        pub const EXPRESSIONS: u16 = 4;
        pub const USER_DATA: u16 = 7;
        /// An element of `EXPRESSIONS`.
        pub const EXPRESSION: u16 = 1;
        /// Within `EXPRESSION`.
        pub const EXPRESSION_NAME: u16 = 1;
        /// Within `EXPRESSION`.
        pub const EXPRESSION_DATA: u16 = 2;
    }
    pub mod set {
        pub const TABLE: u16 = 1;
        pub const NAME: u16 = 2;
        pub const FLAGS: u16 = 3;
        pub const ELEMENT_TYPE: u16 = 4;
        pub const ELEMENT_LENGTH: u16 = 5;
        pub const DESCRIPTION: u16 = 9;
        /// Number of the set in a transaction.
        pub const ID: u16 = 10;
        pub const TIMEOUT: u16 = 11;
        /// Within `DESCRIPTION`: maximum number of elements.
        pub const SIZE: u16 = 1;
    }
    /// Constants in expressions.
    pub mod data {
        pub const VALUE: u16 = 1;
        pub const VERDICT: u16 = 2;
        /// Within `VERDICT`.
        pub const VERDICT_CODE: u16 = 1;
    }
    pub mod payload {
        pub const TARGET: u16 = 1;
        pub const HEADER: u16 = 2;
        pub const OFFSET: u16 = 3;
        pub const LENGTH: u16 = 4;
    }
    pub mod meta {
        pub const TARGET: u16 = 1;
        pub const KEY: u16 = 2;
        pub const SOURCE: u16 = 3;
    }
    pub mod fib {
        pub const TARGET: u16 = 1;
        pub const RESULT: u16 = 2;
        pub const FLAGS: u16 = 3;
    }
    pub mod bitwise {
        pub const SOURCE: u16 = 1;
        pub const TARGET: u16 = 2;
        pub const LENGTH: u16 = 3;
        pub const MASK: u16 = 4;
        pub const EXCLUSIVE_OR: u16 = 5;
    }
    pub mod compare {
        pub const SOURCE: u16 = 1;
        pub const OPERATOR: u16 = 2;
        pub const DATA: u16 = 3;
    }
    pub mod range {
        pub const SOURCE: u16 = 1;
        pub const OPERATOR: u16 = 2;
        pub const FROM: u16 = 3;
        pub const TO: u16 = 4;
    }
    pub mod immediate {
        pub const TARGET: u16 = 1;
        pub const DATA: u16 = 2;
    }
    pub mod lookup {
        pub const SET_NAME: u16 = 1;
        pub const SOURCE: u16 = 2;
    }
    /// Update of a set by a rule.
    pub mod dynset {
        pub const SET_NAME: u16 = 1;
        pub const OPERATION: u16 = 3;
        pub const ELEMENT_SOURCE: u16 = 4;
    }
    pub mod socket {
        pub const KEY: u16 = 1;
        pub const TARGET: u16 = 2;
    }
    pub mod tproxy {
        pub const FAMILY: u16 = 1;
        pub const PORT_SOURCE: u16 = 3;
    }
    pub mod reject {
        pub const TYPE: u16 = 1;
        pub const ICMP_CODE: u16 = 2;
    }
}

/// From linux/netlink.h: types of answers.
const ERROR: u16 = 2;
const DONE: u16 = 3;

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

/// One step of a rule.
#[derive(Debug, Clone)]
pub struct Expression {
    name: &'static str,
    /// Encoded.
    attributes: Vec<u8>,
}

impl Expression {
    fn new(name: &'static str, attributes: &[Vec<u8>]) -> Self {
        Expression { name, attributes: attributes.concat() }
    }
}

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
    messages: Vec<Vec<u8>>,
}

impl Table {
    /// Creates an empty table. If `is_owned`, the kernel removes the table with the [`Owner`].
    pub fn new(name: &str, family: Family, is_owned: bool) -> Self {
        let mut table = Table { name: name.to_owned(), family, messages: Vec::new() };
        let flags = if is_owned { TABLE_OWNED } else { 0 };
        table.add(
            NEW_TABLE,
            EXCLUSIVE,
            &[text(attr::table::NAME, name), number(attr::table::FLAGS, flags)].concat(),
        );
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
        self.add(NEW_CHAIN, 0, &attributes.concat());
        for rule in rules {
            let encode = |expression: &Expression| {
                let name = text(attr::rule::EXPRESSION_NAME, expression.name);
                let data = nested(attr::rule::EXPRESSION_DATA, &expression.attributes);
                nested(attr::rule::EXPRESSION, &[name, data].concat())
            };
            let expressions: Vec<u8> = rule.steps.iter().flat_map(encode).collect();
            let attributes = [
                text(attr::rule::TABLE, &self.name),
                text(attr::rule::CHAIN, chain.name),
                nested(attr::rule::EXPRESSIONS, &expressions),
                attribute(attr::rule::USER_DATA, &comment(rule.comment)),
            ];
            // Without this flag, the kernel inserts each rule in front of the others.
            self.add(NEW_RULE, APPEND, &attributes.concat());
        }
    }

    /// Adds a set, for use by chains that are added later.
    pub fn port_set(&mut self, set: PortSet) {
        /// Elements expire, and rules add them.
        const FLAGS: u32 = 0x10 | 0x20;
        /// Type of the elements, for `nft list`: ports.
        const PORT: u32 = 13;
        /// Octets of a port.
        const PORT_LENGTH: u32 = 2;
        /// Number of ports.
        const ALL_PORTS: u32 = 1 << 16;
        let attributes = [
            text(attr::set::TABLE, &self.name),
            text(attr::set::NAME, set.name),
            number(attr::set::FLAGS, FLAGS),
            number(attr::set::ELEMENT_TYPE, PORT),
            number(attr::set::ELEMENT_LENGTH, PORT_LENGTH),
            nested(attr::set::DESCRIPTION, &number(attr::set::SIZE, ALL_PORTS)),
            number(attr::set::ID, 1),
            attribute(attr::set::TIMEOUT, &set.timeout_ms.to_be_bytes()),
        ];
        self.add(NEW_SET, 0, &attributes.concat());
    }

    /// Adds a message that creates an object.
    fn add(&mut self, kind: u16, flags: u16, attributes: &[u8]) {
        self.messages.push(message(
            SUBSYSTEM << 8 | kind,
            REQUEST | CREATE | flags,
            self.family as u8,
            0,
            attributes,
        ));
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
    let delete =
        message(SUBSYSTEM << 8 | DELETE_TABLE, REQUEST, family as u8, 0, &text(attr::table::NAME, name));
    commit(vec![delete]).map(drop)
}

/// Returns the names of the tables of a family.
///
/// # Errors
/// Errors of the kernel.
pub fn tables(family: Family) -> io::Result<Vec<String>> {
    let tables = list(GET_TABLE, family, &[])?;
    Ok(tables.iter().filter_map(|table| string(table, attr::table::NAME)).collect())
}

/// Returns the comments of the rules of a chain, in the order of evaluation. The comment is empty
/// for a rule without one.
///
/// # Errors
/// Errors of the kernel.
pub fn comments(table: &str, chain: &str, family: Family) -> io::Result<Vec<String>> {
    let filter = [text(attr::rule::TABLE, table), text(attr::rule::CHAIN, chain)];
    let rules = list(GET_RULE, family, &filter.concat())?;
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
    for (family, name) in [(Family::Inet, "inet"), (Family::Ipv4, "ip"), (Family::Ipv6, "ip6")] {
        for chain in list(GET_CHAIN, family, &[])? {
            let hook = find(&chain, attr::chain::HOOK);
            let hook_number = hook.and_then(|hook| find(hook, attr::chain::HOOK_NUMBER));
            let hook_number = hook_number.and_then(|octets| octets.first_chunk());
            if hook_number.copied().map(u32::from_be_bytes) == Some(FORWARD)
                && let Some(table) = string(&chain, attr::chain::TABLE)
                && let Some(chain) = string(&chain, attr::chain::NAME)
            {
                names.push(format!("{name} {table} {chain}"));
            }
        }
    }
    Ok(names)
}

/// Returns the attributes of each object of a type.
fn list(kind: u16, family: Family, attributes: &[u8]) -> io::Result<Vec<Vec<u8>>> {
    let socket = open()?;
    socket.send(&message(SUBSYSTEM << 8 | kind, REQUEST | DUMP, family as u8, 0, attributes), 0)?;
    let mut messages = Vec::new();
    loop {
        let (answer, _) = socket.recv_from_full()?;
        let mut unread = &answer[..];
        while let Some(MessageHead { length, kind }) = MessageHead::read(unread) {
            match kind {
                DONE => return Ok(messages),
                ERROR => return Err(error(unread).unwrap_or_else(cut_off)),
                _ => messages.extend(unread.get(HEADERS..length).map(<[u8]>::to_vec)),
            }
            // Each message begins at a multiple of four octets.
            unread = &unread[length.next_multiple_of(4).min(unread.len())..];
        }
    }
}

/// The first fields of a netlink message.
struct MessageHead {
    /// Octets of the message, headers included.
    length: usize,
    /// Type of the message.
    kind: u16,
}

impl MessageHead {
    /// Reads the message at the beginning of `octets`. `None` if it is cut off.
    fn read(octets: &[u8]) -> Option<Self> {
        let length = u32::from_ne_bytes(octets.get(..4)?.try_into().ok()?) as usize;
        let kind = u16::from_ne_bytes(octets.get(4..6)?.try_into().ok()?);
        (NETLINK_HEADER..=octets.len()).contains(&length).then_some(MessageHead { length, kind })
    }
}

/// Returns the value of the first attribute of a type.
fn find(mut attributes: &[u8], wanted: u16) -> Option<&[u8]> {
    loop {
        let length = usize::from(u16::from_ne_bytes(attributes.get(..2)?.try_into().ok()?));
        let kind = u16::from_ne_bytes(attributes.get(2..4)?.try_into().ok()?);
        if kind & !NESTED == wanted {
            return attributes.get(4..length);
        }
        attributes = attributes.get(length.max(4).next_multiple_of(4)..)?;
    }
}

/// Returns a text attribute, up to its terminating zero.
fn string(attributes: &[u8], kind: u16) -> Option<String> {
    let text = find(attributes, kind)?.split(|&octet| octet == 0).next()?;
    Some(String::from_utf8_lossy(text).into_owned())
}

/// Encodes a comment as `nft` stores it in a rule's user data: type 0, length, text, a zero.
fn comment(text: &str) -> Vec<u8> {
    let mut bytes = vec![0, text.len() as u8 + 1];
    bytes.extend(text.as_bytes());
    bytes.push(0);
    bytes
}

/// Returns the comment of a rule if its user data begin with one.
fn comment_of(rule: &[u8]) -> Option<String> {
    let [0, length, with_zero @ ..] = find(rule, attr::rule::USER_DATA)? else { return None };
    let text = with_zero.get(..usize::from(*length).checked_sub(1)?)?;
    Some(String::from_utf8_lossy(text).into_owned())
}

/// Opens a socket for nftables in the current namespace.
fn open() -> io::Result<Socket> {
    let mut socket = Socket::new(NETLINK_NETFILTER)?;
    socket.bind_auto()?;
    socket.connect(&SocketAddr::new(0, 0))?;
    Ok(socket)
}

/// Sends messages as one transaction.
fn commit(mut messages: Vec<Vec<u8>>) -> io::Result<Socket> {
    let socket = open()?;
    // If a message fails, the kernel answers it first. If all succeed, it answers only the last
    // one, which requests it.
    if let Some(last) = messages.last_mut() {
        let flags = u16::from_ne_bytes([last[6], last[7]]) | ACKNOWLEDGE;
        last[6..8].copy_from_slice(&flags.to_ne_bytes());
    }
    let begin = message(BATCH_BEGIN, REQUEST, 0, SUBSYSTEM, &[]);
    let end = message(BATCH_END, REQUEST, 0, SUBSYSTEM, &[]);
    socket.send(&[vec![begin], messages, vec![end]].concat().concat(), 0)?;
    let (answer, _) = socket.recv_from_full()?;
    match answer.get(16..20).map(|code| i32::from_ne_bytes([code[0], code[1], code[2], code[3]])) {
        Some(0) => Ok(socket),
        Some(_) => Err(error(&answer).unwrap_or_else(cut_off)),
        None => Err(cut_off()),
    }
}

/// Returns the error that the kernel reports in an answer.
fn error(answer: &[u8]) -> Option<io::Error> {
    let code = i32::from_ne_bytes(answer.get(16..20)?.try_into().ok()?);
    Some(io::Error::from_raw_os_error(-code))
}

/// The error for an answer that is shorter than its type requires.
fn cut_off() -> io::Error {
    io::Error::other("the reply of nftables is cut off")
}

/// Conditions and actions of rules.
pub mod steps {
    use super::*;

    const NETWORK_HEADER: u32 = 1;
    const TCP_HEADER: u32 = 2;
    /// Offsets of the ports in the header of TCP, and octets of a port.
    const SOURCE_PORT: u32 = 0;
    const DESTINATION_PORT: u32 = 2;
    const PORT: usize = 2;
    const EQUAL: u32 = 0;
    const NOT_EQUAL: u32 = 1;
    /// Key of a packet's mark.
    const MARK: u32 = 3;
    /// Key of the index of the incoming device.
    const INCOMING_DEVICE: u32 = 4;
    /// Key of the transport protocol.
    const TRANSPORT_PROTOCOL: u32 = 16;
    const TCP: u8 = 6;
    /// Key of a packet's IP version, as a family.
    const IP_VERSION: u32 = 15;
    /// Key of the user of a packet's socket.
    const SOCKET_USER: u32 = 10;
    /// Flag of a route look-up by the destination address.
    const DESTINATION: u32 = 2;
    /// Result of the look-up: the type of the address.
    const KIND_OF_ADDRESS: u32 = 3;
    /// Type of an address of one other host.
    const UNICAST: u32 = 1;
    /// Type of an address of this host.
    const LOCAL: u32 = 2;
    /// Code of ICMP destination unreachable (RFC 1812 §5.2.7.1): communication administratively
    /// prohibited.
    const PROHIBITED: u8 = 13;
    const ACCEPT: u32 = 1;

    /// Condition: the IPv4 source address begins with these octets.
    pub fn is_from(prefix: &[u8]) -> [Expression; 2] {
        /// Offset of the source address in the header.
        const OFFSET: u32 = 12;
        [payload(NETWORK_HEADER, OFFSET, prefix.len()), compare(EQUAL, prefix)]
    }

    /// Condition: the packet came in by this device.
    pub fn is_from_device(device: u32) -> [Expression; 2] {
        [meta(INCOMING_DEVICE), compare(EQUAL, &device.to_ne_bytes())]
    }

    /// Condition: the packet carries TCP.
    pub fn is_tcp() -> [Expression; 2] {
        [meta(TRANSPORT_PROTOCOL), compare(EQUAL, &[TCP])]
    }

    /// Condition: the TCP destination port is in this range.
    pub fn is_for(ports: &RangeInclusive<u16>) -> [Expression; 2] {
        let limit = |kind, port: &u16| nested(kind, &attribute(attr::data::VALUE, &port.to_be_bytes()));
        let range = [
            number(attr::range::SOURCE, REGISTER),
            number(attr::range::OPERATOR, EQUAL),
            limit(attr::range::FROM, ports.start()),
            limit(attr::range::TO, ports.end()),
        ];
        [payload(TCP_HEADER, DESTINATION_PORT, PORT), Expression::new("range", &range)]
    }

    /// Condition: a TCP segment with SYN and without ACK, FIN and RST.
    pub fn is_syn() -> [Expression; 3] {
        flags(SYN)
    }

    /// Condition: a TCP segment with SYN and ACK and without FIN and RST.
    pub fn is_syn_ack() -> [Expression; 3] {
        flags(SYN | ACK)
    }

    /// Condition: a TCP segment with ACK and without SYN, FIN and RST.
    pub fn is_ack() -> [Expression; 3] {
        flags(ACK)
    }

    const SYN: u8 = 0x02;
    const ACK: u8 = 0x10;

    /// Condition: of FIN, SYN, RST and ACK, exactly these flags are set.
    fn flags(flags: u8) -> [Expression; 3] {
        /// FIN, SYN, RST and ACK.
        const MASK: u8 = 0x17;
        /// Offset of the octet with the flags.
        const OFFSET: u32 = 13;
        [payload(TCP_HEADER, OFFSET, 1), masked(&[MASK]), compare(EQUAL, &[flags])]
    }

    /// Condition: the destination address and `network` have the same first `length` bits.
    pub fn is_to(network: IpAddr, length: u8) -> Vec<Expression> {
        /// Offsets of the destination address in the headers of IPv4 and IPv6.
        const OFFSETS: [u32; 2] = [16, 24];
        let (family, offset, address) = match network {
            IpAddr::V4(network) => (Family::Ipv4, OFFSETS[0], network.octets().to_vec()),
            IpAddr::V6(network) => (Family::Ipv6, OFFSETS[1], network.octets().to_vec()),
        };
        let mask = mask_of(length, address.len());
        let prefix: Vec<u8> = address.iter().zip(&mask).map(|(octet, mask)| octet & mask).collect();
        vec![
            meta(IP_VERSION),
            compare(EQUAL, &[family as u8]),
            payload(NETWORK_HEADER, offset, address.len()),
            masked(&mask),
            compare(EQUAL, &prefix),
        ]
    }

    /// Returns a mask of `octets` octets with the first `length` bits set.
    fn mask_of(length: u8, octets: usize) -> Vec<u8> {
        let bits = |octet: usize| usize::from(length).saturating_sub(8 * octet).min(8) as u32;
        (0..octets).map(|octet| !u8::MAX.checked_shr(bits(octet)).unwrap_or(0)).collect()
    }

    /// Condition: the packet has this mark.
    pub fn has_mark(value: u32) -> [Expression; 2] {
        [meta(MARK), compare(EQUAL, &value.to_ne_bytes())]
    }

    /// Condition: a socket sent the packet. The kernel sends SYN cookies without a socket.
    pub fn has_socket() -> [Expression; 1] {
        [meta(SOCKET_USER)]
    }

    /// Condition: the TCP destination port is in the set.
    pub fn is_for_port_in(set: &PortSet) -> [Expression; 2] {
        let lookup = [text(attr::lookup::SET_NAME, set.name), number(attr::lookup::SOURCE, REGISTER)];
        [payload(TCP_HEADER, DESTINATION_PORT, PORT), Expression::new("lookup", &lookup)]
    }

    /// Action: adds the TCP source port to the set, or restarts its timeout.
    pub fn record_source_port(set: &PortSet) -> [Expression; 2] {
        const UPDATE: u32 = 1;
        let update = [
            text(attr::dynset::SET_NAME, set.name),
            number(attr::dynset::OPERATION, UPDATE),
            number(attr::dynset::ELEMENT_SOURCE, REGISTER),
        ];
        [payload(TCP_HEADER, SOURCE_PORT, PORT), Expression::new("dynset", &update)]
    }

    /// Condition: the destination is not a unicast address of another host, but for example a
    /// broadcast or multicast address or an address of this host.
    pub fn is_not_for_another_host() -> [Expression; 2] {
        [kind_of_address(), compare(NOT_EQUAL, &UNICAST.to_ne_bytes())]
    }

    /// Condition: the destination is an address of this host.
    pub fn is_for_this_host() -> [Expression; 2] {
        [kind_of_address(), compare(EQUAL, &LOCAL.to_ne_bytes())]
    }

    /// Condition: the packet belongs to a transparent socket, which may have an address of another
    /// host.
    pub fn has_transparent_socket() -> [Expression; 2] {
        /// Key of the flag of a transparent socket.
        const TRANSPARENT: u32 = 0;
        let socket = [number(attr::socket::KEY, TRANSPARENT), number(attr::socket::TARGET, REGISTER)];
        [Expression::new("socket", &socket), compare(EQUAL, &[1])]
    }

    /// Action: sets the mark.
    pub fn mark(value: u32) -> [Expression; 2] {
        let set_mark = [number(attr::meta::KEY, MARK), number(attr::meta::SOURCE, REGISTER)];
        [load(&value.to_ne_bytes()), Expression::new("meta", &set_mark)]
    }

    /// Action: delivers the packet to the socket that listens at a port of this host. Without a
    /// listener, the rule ends here.
    pub fn deliver_to(port: u16) -> [Expression; 2] {
        /// Both versions of IP.
        const ANY: u32 = 0;
        let deliver = [number(attr::tproxy::FAMILY, ANY), number(attr::tproxy::PORT_SOURCE, REGISTER)];
        [load(&port.to_be_bytes()), Expression::new("tproxy", &deliver)]
    }

    /// Action: accepts the packet in this chain; later chains still see it.
    pub fn accept() -> [Expression; 1] {
        let verdict = nested(attr::data::VERDICT, &number(attr::data::VERDICT_CODE, ACCEPT));
        let set_verdict = [number(attr::immediate::TARGET, VERDICT), nested(attr::immediate::DATA, &verdict)];
        [Expression::new("immediate", &set_verdict)]
    }

    /// Action: rejects the packet with an ICMP message to the sender.
    pub fn prohibit() -> [Expression; 1] {
        /// Type of a rejection by an ICMP message.
        const BY_ICMP: u32 = 0;
        let reject = [number(attr::reject::TYPE, BY_ICMP), attribute(attr::reject::ICMP_CODE, &[PROHIBITED])];
        [Expression::new("reject", &reject)]
    }

    /// Action: rejects the packet with a TCP reset.
    pub fn reset() -> [Expression; 1] {
        /// Type of a rejection by a TCP reset, which has no code.
        const BY_RESET: u32 = 1;
        let reject = [number(attr::reject::TYPE, BY_RESET), attribute(attr::reject::ICMP_CODE, &[0])];
        [Expression::new("reject", &reject)]
    }

    /// Action: replaces the source address by the address of the outgoing device.
    pub fn masquerade() -> [Expression; 1] {
        [Expression::new("masq", &[])]
    }

    /// Loads `octets` octets at this offset of a header into the register.
    fn payload(header: u32, offset: u32, octets: usize) -> Expression {
        let load = [
            number(attr::payload::TARGET, REGISTER),
            number(attr::payload::HEADER, header),
            number(attr::payload::OFFSET, offset),
            number(attr::payload::LENGTH, octets as u32),
        ];
        Expression::new("payload", &load)
    }

    /// Loads a property of the packet into the register.
    fn meta(key: u32) -> Expression {
        Expression::new("meta", &[number(attr::meta::TARGET, REGISTER), number(attr::meta::KEY, key)])
    }

    /// Loads the type of the destination address into the register.
    fn kind_of_address() -> Expression {
        let look_up = [
            number(attr::fib::TARGET, REGISTER),
            number(attr::fib::RESULT, KIND_OF_ADDRESS),
            number(attr::fib::FLAGS, DESTINATION),
        ];
        Expression::new("fib", &look_up)
    }

    /// Clears the bits of the register that are not in the mask.
    fn masked(mask: &[u8]) -> Expression {
        let data = |kind, octets: &[u8]| nested(kind, &attribute(attr::data::VALUE, octets));
        let zeros = vec![0; mask.len()];
        let apply = [
            number(attr::bitwise::SOURCE, REGISTER),
            number(attr::bitwise::TARGET, REGISTER),
            number(attr::bitwise::LENGTH, mask.len() as u32),
            data(attr::bitwise::MASK, mask),
            data(attr::bitwise::EXCLUSIVE_OR, &zeros),
        ];
        Expression::new("bitwise", &apply)
    }

    /// Ends the rule unless the register is equal, or not equal, to `value`.
    fn compare(operator: u32, value: &[u8]) -> Expression {
        let compare = [
            number(attr::compare::SOURCE, REGISTER),
            number(attr::compare::OPERATOR, operator),
            nested(attr::compare::DATA, &attribute(attr::data::VALUE, value)),
        ];
        Expression::new("cmp", &compare)
    }

    /// Loads a constant into the register.
    fn load(value: &[u8]) -> Expression {
        let constant = nested(attr::immediate::DATA, &attribute(attr::data::VALUE, value));
        Expression::new("immediate", &[number(attr::immediate::TARGET, REGISTER), constant])
    }
}

/// Encodes a netlink message: the header of 16 octets, the nfnetlink header of 4 octets, attributes.
fn message(kind: u16, flags: u16, family: u8, resource: u16, attributes: &[u8]) -> Vec<u8> {
    let length = (HEADERS + attributes.len()) as u32;
    let mut bytes = Vec::with_capacity(length as usize);
    bytes.extend(length.to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(flags.to_ne_bytes());
    // Sequence number and port: there is one batch at a time, and the kernel sets the port.
    bytes.extend([0; 8]);
    bytes.extend([family, 0]);
    bytes.extend(resource.to_be_bytes());
    bytes.extend(attributes);
    bytes
}

/// Encodes an attribute: length, number, value, padding to a multiple of four octets.
fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(value.len() + 8);
    bytes.extend((value.len() as u16 + 4).to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

/// Encodes an attribute that contains attributes.
fn nested(kind: u16, attributes: &[u8]) -> Vec<u8> {
    attribute(kind | NESTED, attributes)
}

/// Encodes an attribute with a text, which ends with a zero.
fn text(kind: u16, text: &str) -> Vec<u8> {
    attribute(kind, format!("{text}\0").as_bytes())
}

/// Encodes an attribute with a number in network byte order.
fn number(kind: u16, number: u32) -> Vec<u8> {
    attribute(kind, &number.to_be_bytes())
}

#[cfg(test)]
mod tests {
    use nix::sched::{CloneFlags, unshare};

    use super::*;

    /// Runs `action` on a thread in its own network namespace. Returns `None` if the user may not
    /// create one.
    fn in_own_network<R: Send + 'static>(action: impl FnOnce() -> R + Send + 'static) -> Option<R> {
        let thread = std::thread::spawn(move || unshare(CloneFlags::CLONE_NEWNET).ok().map(|()| action()));
        thread.join().expect("the action does not panic")
    }

    const OWNED: bool = true;
    const CHAIN: Chain = Chain { name: "prerouting", kind: "filter", hook: 0, priority: -150 };

    #[test]
    fn rules_are_listed_in_the_given_order() {
        let listed = in_own_network(|| {
            let mut table = Table::new("order", Family::Inet, OWNED);
            let rule = |comment| Rule::new(comment, &[&steps::is_tcp(), &steps::accept()]);
            table.chain(CHAIN, &["first", "second", "third"].map(rule));
            let _owner = table.make()?;
            comments("order", CHAIN.name, Family::Inet)
        });
        if let Some(listed) = listed {
            assert_eq!(listed.expect("a kernel with nftables"), ["first", "second", "third"]);
        }
    }

    #[test]
    fn owned_table_is_removed_with_its_owner() {
        let found = in_own_network(|| {
            let make = || Table::new("once", Family::Inet, OWNED).make();
            let owner = make()?;
            let second = make().map(drop);
            let while_owned = tables(Family::Inet)?;
            drop(owner);
            let after_drop = tables(Family::Inet)?;
            assert!(second.is_err(), "a table of this name exists");
            assert_eq!(while_owned, ["once"]);
            assert_eq!(after_drop, [""; 0]);
            io::Result::Ok(())
        });
        if let Some(found) = found {
            found.expect("a kernel with nftables");
        }
    }

    #[test]
    fn only_forward_chains_are_listed() {
        let found = in_own_network(|| {
            let mut table = Table::new("host", Family::Ipv4, OWNED);
            table.chain(CHAIN, &[]);
            table.chain(Chain { name: "forward", kind: "filter", hook: FORWARD, priority: 0 }, &[]);
            let _owner = table.make()?;
            forward_chains()
        });
        if let Some(found) = found {
            assert_eq!(found.expect("a kernel with nftables"), ["ip host forward"]);
        }
    }

    #[test]
    fn kernel_accepts_every_step() {
        let made = in_own_network(|| {
            const SET: PortSet = PortSet { name: "ports", timeout_ms: 1000 };
            let mut table = Table::new("steps", Family::Inet, OWNED);
            table.port_set(SET);
            let networks =
                [("a", "192.0.2.0", 24), ("b", "0.0.0.0", 0), ("c", "2001:db8::", 33), ("d", "::1", 128)];
            for (name, network, length) in networks {
                let to = steps::is_to(network.parse().expect("the address is valid"), length);
                let chain = Chain { name, ..CHAIN };
                table.chain(chain, &[Rule::new("to", &[&to, &steps::accept()])]);
            }
            let record = [&steps::is_syn_ack()[..], &steps::has_socket(), &steps::record_source_port(&SET)];
            let look_up = [&steps::is_ack()[..], &steps::is_for_port_in(&SET), &steps::has_mark(7)];
            let chain = Chain { name: "output", hook: 3, priority: 0, ..CHAIN };
            table.chain(chain, &[Rule::new("record", &record), Rule::new("look up", &look_up)]);
            table.make().map(drop)
        });
        if let Some(made) = made {
            made.expect("a kernel with nftables");
        }
    }

    #[test]
    fn truncated_attributes_are_not_found() {
        const NAME: u16 = 1;
        const COUNT: u16 = 2;
        let attributes = [text(NAME, "name"), number(COUNT, 7)].concat();
        assert_eq!(string(&attributes, NAME).as_deref(), Some("name"));
        assert_eq!(find(&attributes, COUNT), Some(&7_u32.to_be_bytes()[..]));
        for end in 0..attributes.len() {
            assert_eq!(find(&attributes[..end], COUNT), None, "{end}");
        }
    }
}
