//! Rules of the kernel's nftables, told over netlink, so that no tool has to be there.
//!
//! A table may be *owned*: the kernel removes it with the socket that made it, however the process ends.

use std::io;
use std::ops::RangeInclusive;

use netlink_sys::protocols::NETLINK_NETFILTER;
use netlink_sys::{Socket, SocketAddr};

/// linux/netfilter/nfnetlink.h.
const BATCH_BEGIN: u16 = 0x10;
const BATCH_END: u16 = 0x11;
const SUBSYSTEM: u16 = 10;

/// linux/netfilter/nf_tables.h.
const NEW_TABLE: u16 = 0;
const GET_TABLE: u16 = 1;
const DELETE_TABLE: u16 = 2;
const NEW_CHAIN: u16 = 3;
const NEW_RULE: u16 = 6;
const TABLE_OWNED: u32 = 2;
const REGISTER: u32 = 1;
const VERDICT: u32 = 0;

const REQUEST: u16 = 1;
const ACKNOWLEDGE: u16 = 4;
const DUMP: u16 = 0x300;
const CREATE: u16 = 0x400;
const NESTED: u16 = 0x8000;

/// linux/netlink.h: kinds of answers.
const ERROR: u16 = 2;
const DONE: u16 = 3;

/// Which packets a table sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// Of both versions of IP.
    Inet = 1,
    /// Of IPv4.
    Ipv4 = 2,
}

/// Where rules stand: the number of the hook and the priority there.
#[derive(Debug, Clone, Copy)]
pub struct Chain {
    /// Its name in the table.
    pub name: &'static str,
    /// `filter` or `nat`.
    pub kind: &'static str,
    /// Of the kernel's path of a packet.
    pub hook: u32,
    /// The smaller, the earlier.
    pub priority: i32,
}

/// One step of a rule: its name and what it is told.
pub type Expression = (&'static str, Vec<u8>);

/// Keeps an owned table: it is gone with this value.
#[derive(Debug)]
pub struct Owner {
    _socket: Socket,
}

/// A table that is being put together.
#[derive(Debug)]
pub struct Table {
    name: String,
    family: Family,
    messages: Vec<Vec<u8>>,
}

impl Table {
    /// An empty one; `is_owned` by the socket that will make it.
    pub fn new(name: &str, family: Family, is_owned: bool) -> Self {
        let mut table = Table { name: name.to_owned(), family, messages: Vec::new() };
        let flags = if is_owned { TABLE_OWNED } else { 0 };
        table.add(NEW_TABLE, &[text(1, name), number(2, flags)].concat());
        table
    }

    /// Adds a chain, and rules that are asked in this order.
    pub fn chain(&mut self, chain: Chain, rules: &[Vec<Expression>]) {
        let hook = nested(4, &[number(1, chain.hook), number(2, chain.priority as u32)].concat());
        self.add(NEW_CHAIN, &[text(1, &self.name), text(3, chain.name), hook, text(7, chain.kind)].concat());
        for rule in rules {
            let expression =
                |(name, data): &Expression| nested(1, &[text(1, name), nested(2, data)].concat());
            let expressions: Vec<u8> = rule.iter().flat_map(expression).collect();
            let rule = [text(1, &self.name), text(2, chain.name), nested(4, &expressions)].concat();
            self.add(NEW_RULE, &rule);
        }
    }

    fn add(&mut self, kind: u16, attributes: &[u8]) {
        self.messages.push(message(
            SUBSYSTEM << 8 | kind,
            REQUEST | CREATE,
            self.family as u8,
            0,
            attributes,
        ));
    }

    /// Makes it in the present namespace, whole or not at all.
    ///
    /// # Errors
    /// The kernel's.
    pub fn make(self) -> io::Result<Owner> {
        commit(self.messages).map(|socket| Owner { _socket: socket })
    }
}

/// Removes a table with all that is in it.
///
/// # Errors
/// The kernel's: there is none, or it is owned by another socket.
pub fn delete(name: &str, family: Family) -> io::Result<()> {
    let delete = message(SUBSYSTEM << 8 | DELETE_TABLE, REQUEST, family as u8, 0, &text(1, name));
    commit(vec![delete]).map(drop)
}

/// The names of the tables of a family.
///
/// # Errors
/// The kernel's.
pub fn tables(family: Family) -> io::Result<Vec<String>> {
    let socket = open()?;
    socket.send(&message(SUBSYSTEM << 8 | GET_TABLE, REQUEST | DUMP, family as u8, 0, &[]), 0)?;
    let mut found = Vec::new();
    loop {
        let (answer, _) = socket.recv_from_full()?;
        let mut rest = &answer[..];
        while let Some((length, kind)) = head(rest) {
            match kind {
                DONE => return Ok(found),
                ERROR => return Err(error(rest).unwrap_or_else(cut_off)),
                _ => found.extend(rest.get(20..length).and_then(name_of)),
            }
            rest = &rest[length.next_multiple_of(4).min(rest.len())..];
        }
    }
}

/// Length and kind of the message that begins here.
fn head(octets: &[u8]) -> Option<(usize, u16)> {
    let length = u32::from_ne_bytes(octets.get(..4)?.try_into().ok()?) as usize;
    let kind = u16::from_ne_bytes(octets.get(4..6)?.try_into().ok()?);
    (16..=octets.len()).contains(&length).then_some((length, kind))
}

/// The attribute of kind 1, as text.
fn name_of(mut attributes: &[u8]) -> Option<String> {
    loop {
        let length = usize::from(u16::from_ne_bytes(attributes.get(..2)?.try_into().ok()?));
        let kind = u16::from_ne_bytes(attributes.get(2..4)?.try_into().ok()?);
        if kind == 1 {
            let name = attributes.get(4..length)?.split(|&octet| octet == 0).next()?;
            return Some(String::from_utf8_lossy(name).into_owned());
        }
        attributes = attributes.get(length.max(4).next_multiple_of(4)..)?;
    }
}

fn open() -> io::Result<Socket> {
    let mut socket = Socket::new(NETLINK_NETFILTER)?;
    socket.bind_auto()?;
    socket.connect(&SocketAddr::new(0, 0))?;
    Ok(socket)
}

/// Has messages done together.
fn commit(mut messages: Vec<Vec<u8>>) -> io::Result<Socket> {
    let socket = open()?;
    // What fails is answered first; what succeeds is answered for the last message alone.
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

fn error(answer: &[u8]) -> Option<io::Error> {
    let code = i32::from_ne_bytes(answer.get(16..20)?.try_into().ok()?);
    Some(io::Error::from_raw_os_error(-code))
}

fn cut_off() -> io::Error {
    io::Error::other("nftables gave an answer that was cut off")
}

/// What rules are made of.
pub mod steps {
    use super::*;

    const IPV4_HEADER: u32 = 1;
    const TCP_HEADER: u32 = 2;
    const EQUAL: u32 = 0;
    const NOT_EQUAL: u32 = 1;
    /// Of a packet: its mark, the index of the device by which it came, what it carries.
    const MARK: u32 = 3;
    const CAME_BY: u32 = 4;
    const CARRIES: u32 = 16;
    const TCP: u8 = 6;
    /// By the destination: what the kernel's routes say of it.
    const DESTINATION: u32 = 2;
    const KIND_OF_ADDRESS: u32 = 3;
    /// It leads on to one host, and is not of this one.
    const UNICAST: u32 = 1;
    /// It is of this host.
    const LOCAL: u32 = 2;
    /// RFC 1812, 5.2.7.1: code of ICMP's destination unreachable.
    const PROHIBITED: u8 = 13;
    const ACCEPT: u32 = 1;

    /// It begins with these octets of the source address of IPv4.
    pub fn is_from(prefix: &[u8]) -> [Expression; 2] {
        /// Of the source address in the header.
        const OFFSET: u32 = 12;
        [payload(IPV4_HEADER, OFFSET, prefix.len()), compare(EQUAL, prefix)]
    }

    /// It came by the device of this index.
    pub fn came_by(device: u32) -> [Expression; 2] {
        [meta(CAME_BY), compare(EQUAL, &device.to_ne_bytes())]
    }

    /// It carries TCP.
    pub fn is_tcp() -> [Expression; 2] {
        [meta(CARRIES), compare(EQUAL, &[TCP])]
    }

    /// It is TCP for one of these ports.
    pub fn is_for(ports: &RangeInclusive<u16>) -> [Expression; 2] {
        let end = |kind, port: u16| nested(kind, &attribute(1, &port.to_be_bytes()));
        let range = [number(1, REGISTER), number(2, EQUAL), end(3, *ports.start()), end(4, *ports.end())];
        [payload(TCP_HEADER, 2, 2), ("range", range.concat())]
    }

    /// It is TCP and opens a connection.
    pub fn is_syn() -> [Expression; 3] {
        /// SYN, of FIN, SYN, RST and ACK.
        const FLAGS: [u8; 2] = [0x02, 0x17];
        let data = |kind, octet: u8| nested(kind, &attribute(1, &[octet]));
        let mask = [number(1, REGISTER), number(2, REGISTER), number(3, 1), data(4, FLAGS[1]), data(5, 0)];
        [payload(TCP_HEADER, 13, 1), ("bitwise", mask.concat()), compare(EQUAL, &FLAGS[..1])]
    }

    /// It is not for one host beyond this one.
    pub fn is_not_for_one_beyond() -> [Expression; 2] {
        [kind_of_address(), compare(NOT_EQUAL, &UNICAST.to_ne_bytes())]
    }

    /// It is for this host itself.
    pub fn is_for_this_host() -> [Expression; 2] {
        [kind_of_address(), compare(EQUAL, &LOCAL.to_ne_bytes())]
    }

    /// It belongs to a socket that may have other hosts' addresses.
    pub fn has_transparent_socket() -> [Expression; 2] {
        [("socket", [number(1, 0), number(2, REGISTER)].concat()), compare(EQUAL, &[1])]
    }

    /// Marks it.
    pub fn mark(value: u32) -> [Expression; 2] {
        [load(&value.to_ne_bytes()), ("meta", [number(2, MARK), number(3, REGISTER)].concat())]
    }

    /// Hands it to whoever listens at a port of this host; the rule ends here where nobody does.
    pub fn hand_to(port: u16) -> [Expression; 2] {
        /// Whichever version of IP it is.
        const ANY: u32 = 0;
        [load(&port.to_be_bytes()), ("tproxy", [number(1, ANY), number(3, REGISTER)].concat())]
    }

    /// Leaves it to what comes after this chain.
    pub fn accept() -> [Expression; 1] {
        let verdict = nested(2, &nested(2, &number(1, ACCEPT)));
        [("immediate", [number(1, VERDICT), verdict].concat())]
    }

    /// Refuses it, with a word to the sender.
    pub fn prohibit() -> [Expression; 1] {
        [("reject", [number(1, 0), attribute(2, &[PROHIBITED])].concat())]
    }

    /// Refuses it with a reset.
    pub fn reset() -> [Expression; 1] {
        [("reject", [number(1, 1), attribute(2, &[0])].concat())]
    }

    /// Gives it the address of the device by which it leaves.
    pub fn masquerade() -> [Expression; 1] {
        [("masq", Vec::new())]
    }

    fn payload(header: u32, offset: u32, octets: usize) -> Expression {
        let place = [number(1, REGISTER), number(2, header), number(3, offset), number(4, octets as u32)];
        ("payload", place.concat())
    }

    fn meta(what: u32) -> Expression {
        ("meta", [number(1, REGISTER), number(2, what)].concat())
    }

    fn kind_of_address() -> Expression {
        ("fib", [number(1, REGISTER), number(2, KIND_OF_ADDRESS), number(3, DESTINATION)].concat())
    }

    fn compare(how: u32, value: &[u8]) -> Expression {
        ("cmp", [number(1, REGISTER), number(2, how), nested(3, &attribute(1, value))].concat())
    }

    fn load(value: &[u8]) -> Expression {
        ("immediate", [number(1, REGISTER), nested(2, &attribute(1, value))].concat())
    }
}

fn message(kind: u16, flags: u16, family: u8, resource: u16, attributes: &[u8]) -> Vec<u8> {
    let length = 20 + attributes.len() as u32;
    let mut bytes = Vec::with_capacity(length as usize);
    bytes.extend(length.to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(flags.to_ne_bytes());
    // Number and port of the message: one batch at a time, the kernel fills in the port.
    bytes.extend([0; 8]);
    bytes.extend([family, 0]);
    bytes.extend(resource.to_be_bytes());
    bytes.extend(attributes);
    bytes
}

fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(value.len() + 8);
    bytes.extend((value.len() as u16 + 4).to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

fn nested(kind: u16, attributes: &[u8]) -> Vec<u8> {
    attribute(kind | NESTED, attributes)
}

fn text(kind: u16, text: &str) -> Vec<u8> {
    attribute(kind, format!("{text}\0").as_bytes())
}

fn number(kind: u16, number: u32) -> Vec<u8> {
    attribute(kind, &number.to_be_bytes())
}
