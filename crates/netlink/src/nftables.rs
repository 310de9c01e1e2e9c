//! Rules of the kernel's nftables, set over netlink, so that no tool is needed.
//!
//! A table may be *owned*: the kernel removes it with the socket that created it, however the
//! process ends.
//!
//! Messages consist of attributes with a number and a value. The numbers that this module passes to
//! `text`, `number`, `nested` and `attribute` are those of the enumerations `nft_*_attributes`
//! in `linux/netfilter/nf_tables.h`, counted from 1.

use std::io;
use std::net::IpAddr;
use std::ops::RangeInclusive;

use netlink_sys::protocols::NETLINK_NETFILTER;
use netlink_sys::{Socket, SocketAddr};

/// Length of the headers of a message: 16 octets of netlink, 4 of nfnetlink.
const HEADERS: usize = 20;

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

/// One step of a rule: name and encoded attributes.
pub type Expression = (&'static str, Vec<u8>);

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
    /// Time in milliseconds from the last use of an element until it expires.
    pub timeout_ms: u64,
}

/// Owner of a table. Dropping it removes the table, if the table is owned.
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
        table.add(NEW_TABLE, EXCLUSIVE, &[text(1, name), number(2, flags)].concat());
        table
    }

    /// Adds a chain. The kernel evaluates its rules in this order.
    pub fn chain(&mut self, chain: Chain, rules: &[Rule]) {
        // Attributes of a chain: table, name, hook (number, priority), type.
        let hook = nested(4, &[number(1, chain.hook), number(2, chain.priority as u32)].concat());
        let attributes = [text(1, &self.name), text(3, chain.name), hook, text(7, chain.kind)];
        self.add(NEW_CHAIN, 0, &attributes.concat());
        for rule in rules {
            let expression =
                |(name, data): &Expression| nested(1, &[text(1, name), nested(2, data)].concat());
            // Attributes of a rule: table, chain, expressions (name, data), user data.
            let expressions: Vec<u8> = rule.steps.iter().flat_map(expression).collect();
            let attributes = [
                text(1, &self.name),
                text(2, chain.name),
                nested(4, &expressions),
                attribute(7, &comment(rule.comment)),
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
        // Table, name, flags, type and length of the elements, maximum number of elements, number of
        // the set in this transaction, timeout.
        let attributes = [
            text(1, &self.name),
            text(2, set.name),
            number(3, FLAGS),
            number(4, PORT),
            number(5, 2),
            nested(9, &number(1, 1 << 16)),
            number(10, 1),
            attribute(11, &set.timeout_ms.to_be_bytes()),
        ];
        self.add(NEW_SET, 0, &attributes.concat());
    }

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
    let delete = message(SUBSYSTEM << 8 | DELETE_TABLE, REQUEST, family as u8, 0, &text(1, name));
    commit(vec![delete]).map(drop)
}

/// Returns the names of the tables of a family.
///
/// # Errors
/// Errors of the kernel.
pub fn tables(family: Family) -> io::Result<Vec<String>> {
    let tables = list(GET_TABLE, family, &[])?;
    Ok(tables.iter().filter_map(|table| string(table, 1)).collect())
}

/// Returns the comments of the rules of a chain, in the order of evaluation. The comment is empty
/// for a rule without one.
///
/// # Errors
/// Errors of the kernel.
pub fn comments(table: &str, chain: &str, family: Family) -> io::Result<Vec<String>> {
    let rules = list(GET_RULE, family, &[text(1, table), text(2, chain)].concat())?;
    let is_of_chain = |rule: &&Vec<u8>| {
        string(rule, 1).as_deref() == Some(table) && string(rule, 2).as_deref() == Some(chain)
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
            let hook = find(&chain, 4).and_then(|hook| find(hook, 1)).and_then(|hook| hook.first_chunk());
            if hook.copied().map(u32::from_be_bytes) == Some(FORWARD)
                && let (Some(table), Some(chain)) = (string(&chain, 1), string(&chain, 3))
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
        let mut rest = &answer[..];
        while let Some((length, kind)) = head(rest) {
            match kind {
                DONE => return Ok(messages),
                ERROR => return Err(error(rest).unwrap_or_else(cut_off)),
                _ => messages.extend(rest.get(HEADERS..length).map(<[u8]>::to_vec)),
            }
            rest = &rest[length.next_multiple_of(4).min(rest.len())..];
        }
    }
}

/// Returns length and type of the message at the beginning of `octets`.
fn head(octets: &[u8]) -> Option<(usize, u16)> {
    let length = u32::from_ne_bytes(octets.get(..4)?.try_into().ok()?) as usize;
    let kind = u16::from_ne_bytes(octets.get(4..6)?.try_into().ok()?);
    (16..=octets.len()).contains(&length).then_some((length, kind))
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
    let [0, length, rest @ ..] = find(rule, 7)? else { return None };
    let text = rest.get(..usize::from(*length).checked_sub(1)?)?;
    Some(String::from_utf8_lossy(text).into_owned())
}

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
        let end = |kind, port: u16| nested(kind, &attribute(1, &port.to_be_bytes()));
        // Register, operator, first value, last value.
        let range = [number(1, REGISTER), number(2, EQUAL), end(3, *ports.start()), end(4, *ports.end())];
        [payload(TCP_HEADER, 2, 2), ("range", range.concat())]
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
        [payload(TCP_HEADER, 13, 1), masked(&[MASK]), compare(EQUAL, &[flags])]
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
        [payload(TCP_HEADER, 2, 2), ("lookup", [text(1, set.name), number(2, REGISTER)].concat())]
    }

    /// Action: adds the TCP source port to the set, or restarts its timeout.
    pub fn record_source_port(set: &PortSet) -> [Expression; 2] {
        const UPDATE: u32 = 1;
        // Name of the set, operation, register of the element.
        let into = [text(1, set.name), number(3, UPDATE), number(4, REGISTER)];
        [payload(TCP_HEADER, 0, 2), ("dynset", into.concat())]
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
        // Key, register.
        [("socket", [number(1, TRANSPARENT), number(2, REGISTER)].concat()), compare(EQUAL, &[1])]
    }

    /// Action: sets the mark.
    pub fn mark(value: u32) -> [Expression; 2] {
        // Key, register of the new value.
        [load(&value.to_ne_bytes()), ("meta", [number(2, MARK), number(3, REGISTER)].concat())]
    }

    /// Action: delivers the packet to the socket that listens at a port of this host. Without a
    /// listener, the rule ends here.
    pub fn deliver_to(port: u16) -> [Expression; 2] {
        /// Both versions of IP.
        const ANY: u32 = 0;
        // IP version, register of the port.
        [load(&port.to_be_bytes()), ("tproxy", [number(1, ANY), number(3, REGISTER)].concat())]
    }

    /// Action: accepts the packet in this chain; later chains still see it.
    pub fn accept() -> [Expression; 1] {
        // Register, data that contain a verdict with its code.
        let verdict = nested(2, &nested(2, &number(1, ACCEPT)));
        [("immediate", [number(1, VERDICT), verdict].concat())]
    }

    /// Action: rejects the packet with an ICMP message to the sender.
    pub fn prohibit() -> [Expression; 1] {
        /// Type of a rejection by an ICMP message.
        const BY_ICMP: u32 = 0;
        [("reject", [number(1, BY_ICMP), attribute(2, &[PROHIBITED])].concat())]
    }

    /// Action: rejects the packet with a TCP reset.
    pub fn reset() -> [Expression; 1] {
        /// Type of a rejection by a TCP reset, which has no code.
        const BY_RESET: u32 = 1;
        [("reject", [number(1, BY_RESET), attribute(2, &[0])].concat())]
    }

    /// Action: replaces the source address by the address of the outgoing device.
    pub fn masquerade() -> [Expression; 1] {
        [("masq", Vec::new())]
    }

    /// Loads `octets` octets at this offset of a header into the register.
    fn payload(header: u32, offset: u32, octets: usize) -> Expression {
        // Register, header, offset, length.
        let parameters =
            [number(1, REGISTER), number(2, header), number(3, offset), number(4, octets as u32)];
        ("payload", parameters.concat())
    }

    /// Loads a property of the packet into the register.
    fn meta(key: u32) -> Expression {
        // Register, key.
        ("meta", [number(1, REGISTER), number(2, key)].concat())
    }

    /// Loads the type of the destination address into the register.
    fn kind_of_address() -> Expression {
        // Register, result, flags.
        ("fib", [number(1, REGISTER), number(2, KIND_OF_ADDRESS), number(3, DESTINATION)].concat())
    }

    /// Clears the bits of the register that are not in the mask.
    fn masked(mask: &[u8]) -> Expression {
        let data = |kind, octets: &[u8]| nested(kind, &attribute(1, octets));
        let zeros = vec![0; mask.len()];
        let length = number(3, mask.len() as u32);
        // Source register, target register, length, mask (and), value (exclusive or).
        let parts = [number(1, REGISTER), number(2, REGISTER), length, data(4, mask), data(5, &zeros)];
        ("bitwise", parts.concat())
    }

    /// Ends the rule unless the register is equal, or not equal, to `value`.
    fn compare(operator: u32, value: &[u8]) -> Expression {
        // Register, operator, value.
        ("cmp", [number(1, REGISTER), number(2, operator), nested(3, &attribute(1, value))].concat())
    }

    /// Loads a constant into the register.
    fn load(value: &[u8]) -> Expression {
        // Register, data.
        ("immediate", [number(1, REGISTER), nested(2, &attribute(1, value))].concat())
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

    const CHAIN: Chain = Chain { name: "prerouting", kind: "filter", hook: 0, priority: -150 };

    #[test]
    fn rules_are_listed_in_the_given_order() {
        let listed = in_own_network(|| {
            let mut table = Table::new("order", Family::Inet, true);
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
            let make = || Table::new("once", Family::Inet, true).make();
            let owner = make()?;
            let second = make().map(drop);
            let while_owned = tables(Family::Inet)?;
            drop(owner);
            io::Result::Ok((second.is_err(), while_owned, tables(Family::Inet)?))
        });
        if let Some(found) = found {
            assert_eq!(found.expect("a kernel with nftables"), (true, vec!["once".to_owned()], vec![]));
        }
    }

    #[test]
    fn only_forward_chains_are_listed() {
        let found = in_own_network(|| {
            let mut table = Table::new("host", Family::Ipv4, true);
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
            let mut table = Table::new("steps", Family::Inet, true);
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
        let whole = [text(1, "name"), number(2, 7)].concat();
        assert_eq!(string(&whole, 1).as_deref(), Some("name"));
        assert_eq!(find(&whole, 2), Some(&7_u32.to_be_bytes()[..]));
        for end in 0..whole.len() {
            assert_eq!(find(&whole[..end], 2), None, "{end}");
        }
    }
}
