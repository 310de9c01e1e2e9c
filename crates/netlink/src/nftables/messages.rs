//! Messages to the kernel over a netlink socket, and its answers.
//!
//! A message has a header of netlink (length, type, flags, sequence number, port), a header of
//! nfnetlink (family, version, resource), and attributes.

use std::io;

use netlink_sys::protocols::NETLINK_NETFILTER;
use netlink_sys::{Socket, SocketAddr};

use super::Family;
use super::encoding::ALIGNMENT;

/// Octets of the header of netlink.
const NETLINK_HEADER: usize = 16;
/// Octets of both headers of a message.
const HEADERS: usize = NETLINK_HEADER + 4;

// Types of messages that begin and end a transaction, and the number of nftables among the
// subsystems of netfilter, from linux/netfilter/nfnetlink.h.
const BATCH_BEGIN: u16 = 0x10;
const BATCH_END: u16 = 0x11;
const NFTABLES: u16 = 10;

// Types of answers, from linux/netlink.h.
const ERROR: u16 = 2;
const DONE: u16 = 3;

/// Types of messages of nftables, from linux/netfilter/nf_tables.h.
#[derive(Debug, Clone, Copy)]
pub enum Request {
    NewTable = 0,
    GetTable = 1,
    DeleteTable = 2,
    NewChain = 3,
    GetChain = 4,
    NewRule = 6,
    GetRule = 7,
    NewSet = 9,
}

/// Flags of messages, from linux/netlink.h.
pub mod flag {
    pub const REQUEST: u16 = 1;
    /// The kernel answers although the message succeeds.
    pub const ACKNOWLEDGE: u16 = 4;
    /// Of a query: all objects.
    pub const DUMP: u16 = 0x300;
    /// Of a new object: an error if it exists.
    pub const EXCLUSIVE: u16 = 0x200;
    pub const CREATE: u16 = 0x400;
    /// Of a new rule: behind the others of its chain.
    pub const APPEND: u16 = 0x800;
}

/// Encodes a message to nftables.
pub fn encode(request: Request, flags: u16, family: Family, attributes: &[u8]) -> Vec<u8> {
    encode_message(NFTABLES << 8 | request as u16, flags, family as u8, 0, attributes)
}

fn encode_message(kind: u16, flags: u16, family: u8, resource: u16, attributes: &[u8]) -> Vec<u8> {
    let length = (HEADERS + attributes.len()) as u32;
    let mut bytes = Vec::with_capacity(length as usize);
    bytes.extend(length.to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(flags.to_ne_bytes());
    // Sequence number and port: there is one batch at a time, and the kernel sets the port.
    bytes.extend([0; 8]);
    let version = 0;
    bytes.extend([family, version]);
    bytes.extend(resource.to_be_bytes());
    bytes.extend(attributes);
    bytes
}

/// Sends messages as one transaction. Returns the socket, which owns an owned table.
pub fn commit(mut messages: Vec<Vec<u8>>) -> io::Result<Socket> {
    let socket = open()?;
    // If a message fails, the kernel answers it first. If all succeed, it answers only the last
    // one, which requests it.
    if let Some(last) = messages.last_mut() {
        request_acknowledgment(last);
    }
    let begin = encode_message(BATCH_BEGIN, flag::REQUEST, 0, NFTABLES, &[]);
    let end = encode_message(BATCH_END, flag::REQUEST, 0, NFTABLES, &[]);
    socket.send(&[vec![begin], messages, vec![end]].concat().concat(), 0)?;
    let (answer, _) = socket.recv_from_full()?;
    match error_code(&answer) {
        Some(0) => Ok(socket),
        Some(code) => Err(io::Error::from_raw_os_error(-code)),
        None => Err(cut_off()),
    }
}

fn request_acknowledgment(message: &mut [u8]) {
    let flags = &mut message[6..8];
    let with_acknowledge = u16::from_ne_bytes([flags[0], flags[1]]) | flag::ACKNOWLEDGE;
    flags.copy_from_slice(&with_acknowledge.to_ne_bytes());
}

/// Returns the attributes of each object that a query finds.
pub fn query(request: Request, family: Family, attributes: &[u8]) -> io::Result<Vec<Vec<u8>>> {
    let socket = open()?;
    socket.send(&encode(request, flag::REQUEST | flag::DUMP, family, attributes), 0)?;
    let mut objects = Vec::new();
    loop {
        let (answer, _) = socket.recv_from_full()?;
        let mut unread = &answer[..];
        while let Some(MessageHead { length, kind }) = MessageHead::read(unread) {
            match kind {
                DONE => return Ok(objects),
                ERROR => {
                    let from_code = |code: i32| io::Error::from_raw_os_error(-code);
                    return Err(error_code(unread).map_or_else(cut_off, from_code));
                }
                _ => objects.extend(unread.get(HEADERS..length).map(<[u8]>::to_vec)),
            }
            unread = &unread[length.next_multiple_of(ALIGNMENT).min(unread.len())..];
        }
    }
}

/// Opens a socket for nftables in the current namespace.
fn open() -> io::Result<Socket> {
    let mut socket = Socket::new(NETLINK_NETFILTER)?;
    socket.bind_auto()?;
    socket.connect(&SocketAddr::new(0, 0))?;
    Ok(socket)
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

/// Returns the error code of an answer: 0 for success, otherwise a negative error number. The code
/// follows the header of netlink.
fn error_code(answer: &[u8]) -> Option<i32> {
    Some(i32::from_ne_bytes(answer.get(NETLINK_HEADER..NETLINK_HEADER + 4)?.try_into().ok()?))
}

/// The error for an answer that is shorter than its type requires.
fn cut_off() -> io::Error {
    io::Error::other("the reply of nftables is cut off")
}
