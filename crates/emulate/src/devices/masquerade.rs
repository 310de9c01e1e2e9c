//! Masquerading by the kernel's nftables, told over netlink, so that no tool has to be there; and a fence in front of the
//! host, whose own addresses are no part of the Internet.
//!
//! The table is *owned*: the kernel removes it with the socket that made it, however the process ends.

use std::io;

use netlink_sys::protocols::NETLINK_NETFILTER;
use netlink_sys::{Socket, SocketAddr};

/// linux/netfilter/nfnetlink.h.
const BATCH_BEGIN: u16 = 0x10;
const BATCH_END: u16 = 0x11;
const SUBSYSTEM: u16 = 10;

/// linux/netfilter/nf_tables.h.
const NEW_TABLE: u16 = 0;
const NEW_CHAIN: u16 = 3;
const NEW_RULE: u16 = 6;
const TABLE_OWNED: u32 = 2;
const REGISTER: u32 = 1;
const NETWORK_HEADER: u32 = 1;

/// Of the source address in an IPv4 header.
const SOURCE_OFFSET: u32 = 12;
/// Of a packet: the index of the device by which it came.
const CAME_BY: u32 = 4;
/// By the destination: what the kernel's routes say of it.
const DESTINATION: u32 = 2;
const KIND_OF_ADDRESS: u32 = 3;
/// It leads on to one host, and is not of this one.
const UNICAST: u32 = 1;
const EQUAL: u32 = 0;
const NOT_EQUAL: u32 = 1;
/// RFC 1812, 5.2.7.1: code of ICMP's destination unreachable.
const PROHIBITED: u8 = 13;

/// Where rules stand: the number of the hook and the priority there.
struct Chain {
    name: &'static str,
    kind: &'static str,
    hook: u32,
    priority: i32,
}

/// Where source addresses are translated.
const TRANSLATION: Chain = Chain { name: "postrouting", kind: "nat", hook: 4, priority: 100 };

/// Before anybody translates destinations (at -100): a port of the host that stands for a container is the host's too.
const FENCE: Chain = Chain { name: "prerouting", kind: "filter", hook: 0, priority: -150 };

const IPV4: u8 = 2;
const REQUEST: u16 = 1;
const ACKNOWLEDGE: u16 = 4;
const CREATE: u16 = 0x400;
const NESTED: u16 = 0x8000;

/// Packets from some addresses leave this namespace with the address of the device that they leave by. As long as this
/// value lives.
pub struct Masquerade {
    _owner: Socket,
}

impl Masquerade {
    /// Of the IPv4 addresses that begin with the octets `prefix`, in the present namespace; `table` is the name of the
    /// table, of which there must be no other. What comes by the device of index `fenced` and is for no other single host is
    /// refused.
    ///
    /// # Errors
    /// If the kernel has no nftables with masquerading, or this process may not tell it.
    pub fn new(table: &str, prefix: &[u8], fenced: Option<u32>) -> io::Result<Self> {
        let mut socket = Socket::new(NETLINK_NETFILTER)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        let ask = |kind, flags, attributes: &[u8]| {
            message(SUBSYSTEM << 8 | kind, REQUEST | CREATE | flags, IPV4, 0, attributes)
        };
        let mut batch = message(BATCH_BEGIN, REQUEST, 0, SUBSYSTEM, &[]);
        batch.extend(ask(NEW_TABLE, 0, &[text(1, table), number(2, TABLE_OWNED)].concat()));
        if let Some(device) = fenced {
            batch.extend(ask(NEW_CHAIN, 0, &FENCE.within(table)));
            batch.extend(ask(NEW_RULE, 0, &FENCE.rule(table, &fence(device))));
        }
        batch.extend(ask(NEW_CHAIN, 0, &TRANSLATION.within(table)));
        batch.extend(ask(NEW_RULE, ACKNOWLEDGE, &TRANSLATION.rule(table, &translation(prefix))));
        batch.extend(message(BATCH_END, REQUEST, 0, SUBSYSTEM, &[]));
        socket.send(&batch, 0)?;
        // What fails is answered first; what succeeds is answered for the last message alone.
        let (answer, _) = socket.recv_from_full()?;
        match answer.get(16..20).map(|code| i32::from_ne_bytes([code[0], code[1], code[2], code[3]])) {
            Some(0) => Ok(Masquerade { _owner: socket }),
            Some(code) => Err(refused(io::Error::from_raw_os_error(-code))),
            None => Err(io::Error::other("nftables gave an answer that was cut off")),
        }
    }
}

fn refused(error: io::Error) -> io::Error {
    let help = "addresses cannot be translated: the kernel needs nftables with masquerading (nf_tables, nft_masq, \
                nft_fib_ipv4, nft_reject_ipv4) of Linux 5.12 or later, and this process root's rights";
    io::Error::new(error.kind(), format!("{help}: {error}"))
}

impl Chain {
    fn within(&self, table: &str) -> Vec<u8> {
        let hook = nested(4, &[number(1, self.hook), number(2, self.priority as u32)].concat());
        [text(1, table), text(3, self.name), hook, text(7, self.kind)].concat()
    }

    fn rule(&self, table: &str, expressions: &[(&str, Vec<u8>)]) -> Vec<u8> {
        let expression =
            |(name, data): &(&str, Vec<u8>)| nested(1, &[text(1, name), nested(2, data)].concat());
        let expressions: Vec<u8> = expressions.iter().flat_map(expression).collect();
        [text(1, table), text(2, self.name), nested(4, &expressions)].concat()
    }
}

/// Loads the first octets of the source address, compares them, and translates.
fn translation(prefix: &[u8]) -> [(&'static str, Vec<u8>); 3] {
    let load = [
        number(1, REGISTER),
        number(2, NETWORK_HEADER),
        number(3, SOURCE_OFFSET),
        number(4, prefix.len() as u32),
    ];
    [("payload", load.concat()), ("cmp", comparison(EQUAL, prefix)), ("masq", Vec::new())]
}

/// Refuses, with a word to the sender, what came by the device and is not for one host beyond this one.
fn fence(device: u32) -> [(&'static str, Vec<u8>); 5] {
    [
        ("meta", [number(1, REGISTER), number(2, CAME_BY)].concat()),
        ("cmp", comparison(EQUAL, &device.to_ne_bytes())),
        ("fib", [number(1, REGISTER), number(2, KIND_OF_ADDRESS), number(3, DESTINATION)].concat()),
        ("cmp", comparison(NOT_EQUAL, &UNICAST.to_ne_bytes())),
        ("reject", [number(1, 0), attribute(2, &[PROHIBITED])].concat()),
    ]
}

fn comparison(how: u32, value: &[u8]) -> Vec<u8> {
    [number(1, REGISTER), number(2, how), nested(3, &attribute(1, value))].concat()
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
