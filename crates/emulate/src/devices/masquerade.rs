//! Masquerading by the kernel's nftables, told over netlink, so that no tool has to be there.
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

const POSTROUTING: u32 = 4;
/// Where source addresses are translated.
const PRIORITY: i32 = 100;
/// Of the source address in an IPv4 header.
const SOURCE_OFFSET: u32 = 12;

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
    /// table, of which there must be no other.
    ///
    /// # Errors
    /// If the kernel has no nftables with masquerading, or this process may not tell it.
    pub fn new(table: &str, prefix: &[u8]) -> io::Result<Self> {
        let mut socket = Socket::new(NETLINK_NETFILTER)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        let batch = [
            message(BATCH_BEGIN, REQUEST, 0, SUBSYSTEM, &[]),
            message(SUBSYSTEM << 8 | NEW_TABLE, REQUEST | CREATE, IPV4, 0, &table_of(table)),
            message(SUBSYSTEM << 8 | NEW_CHAIN, REQUEST | CREATE, IPV4, 0, &chain_of(table)),
            message(
                SUBSYSTEM << 8 | NEW_RULE,
                REQUEST | CREATE | ACKNOWLEDGE,
                IPV4,
                0,
                &rule_of(table, prefix),
            ),
            message(BATCH_END, REQUEST, 0, SUBSYSTEM, &[]),
        ]
        .concat();
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
    let help = "addresses cannot be translated: the kernel needs nftables with masquerading (nf_tables, nft_masq) of \
                Linux 5.12 or later, and this process root's rights";
    io::Error::new(error.kind(), format!("{help}: {error}"))
}

fn table_of(table: &str) -> Vec<u8> {
    [text(1, table), number(2, TABLE_OWNED)].concat()
}

const CHAIN: &str = "postrouting";

fn chain_of(table: &str) -> Vec<u8> {
    let hook = nested(4, &[number(1, POSTROUTING), number(2, PRIORITY as u32)].concat());
    [text(1, table), text(3, CHAIN), hook, text(7, "nat")].concat()
}

/// Loads the first octets of the source address, compares them, and translates.
fn rule_of(table: &str, prefix: &[u8]) -> Vec<u8> {
    let load = [
        number(1, REGISTER),
        number(2, NETWORK_HEADER),
        number(3, SOURCE_OFFSET),
        number(4, prefix.len() as u32),
    ];
    let compare = [number(1, REGISTER), number(2, 0), nested(3, &attribute(1, prefix))];
    let expressions =
        [("payload", load.concat()), ("cmp", compare.concat()), ("masq", Vec::new())].map(|(name, data)| {
            let data = nested(2, &data);
            nested(1, &[text(1, name), data].concat())
        });
    [text(1, table), text(2, CHAIN), nested(4, &expressions.concat())].concat()
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
