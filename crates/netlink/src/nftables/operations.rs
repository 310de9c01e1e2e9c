//! The expressions of which conditions and actions consist: loads of a value into the register, and
//! tests of the value.
//!
//! Numbers are from linux/netfilter/nf_tables.h.

use super::attr;
use super::encoding::{attribute, nested, number};

/// One step of a rule.
#[derive(Debug, Clone)]
pub struct Expression {
    /// Name of the kernel's function for the expression.
    pub(super) name: &'static str,
    /// Encoded.
    pub(super) attributes: Vec<u8>,
}

impl Expression {
    pub(super) fn new(name: &'static str, attributes: &[Vec<u8>]) -> Self {
        Expression { name, attributes: attributes.concat() }
    }
}

/// The register of all rules: one step of a rule loads a value, the next one compares or stores the
/// value.
pub(super) const REGISTER: u32 = 1;

const EQUAL: u32 = 0;
const NOT_EQUAL: u32 = 1;

/// A field of a packet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field {
    pub header: Header,
    /// Octets before the field in the header.
    pub offset: u32,
    /// Octets of the field.
    pub octets: usize,
}

/// A header of a packet.
#[derive(Debug, Clone, Copy)]
pub(super) enum Header {
    /// The header of IPv4 or IPv6.
    Network = 1,
    /// The header of TCP.
    Transport = 2,
}

/// A property of a packet, which is not in the packet.
#[derive(Debug, Clone, Copy)]
pub(super) enum Meta {
    /// The packet's mark.
    Mark = 3,
    /// Index of the incoming device.
    IncomingDevice = 4,
    /// User of the packet's socket.
    SocketUser = 10,
    /// IP version, as a [`Family`](super::Family).
    IpVersion = 15,
    /// Transport protocol, as in the header of IP.
    TransportProtocol = 16,
}

/// Loads a field of the packet.
pub(super) fn load_field(field: Field) -> Expression {
    let load = [
        number(attr::payload::TARGET, REGISTER),
        number(attr::payload::HEADER, field.header as u32),
        number(attr::payload::OFFSET, field.offset),
        number(attr::payload::LENGTH, field.octets as u32),
    ];
    Expression::new("payload", &load)
}

/// Loads a property of the packet. Ends the rule if the packet does not have it.
pub(super) fn load_meta(key: Meta) -> Expression {
    let load = [number(attr::meta::TARGET, REGISTER), number(attr::meta::KEY, key as u32)];
    Expression::new("meta", &load)
}

/// Loads a constant.
pub(super) fn load_constant(value: &[u8]) -> Expression {
    let constant = nested(attr::immediate::DATA, &attribute(attr::data::VALUE, value));
    Expression::new("immediate", &[number(attr::immediate::TARGET, REGISTER), constant])
}

/// Loads the type of the destination address, by a look-up in the routes.
pub(super) fn load_type_of_destination() -> Expression {
    /// Flag: look up the destination address.
    const DESTINATION: u32 = 2;
    /// Result of the look-up: the type of the address.
    const ADDRESS_TYPE: u32 = 3;
    let look_up = [
        number(attr::fib::TARGET, REGISTER),
        number(attr::fib::RESULT, ADDRESS_TYPE),
        number(attr::fib::FLAGS, DESTINATION),
    ];
    Expression::new("fib", &look_up)
}

/// Clears the bits of the register that are not in the mask.
pub(super) fn keep_bits(mask: &[u8]) -> Expression {
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

/// Ends the rule unless the register is equal to `value`.
pub(super) fn equals(value: &[u8]) -> Expression {
    compare(EQUAL, value)
}

/// Ends the rule if the register is equal to `value`.
pub(super) fn differs_from(value: &[u8]) -> Expression {
    compare(NOT_EQUAL, value)
}

fn compare(operator: u32, value: &[u8]) -> Expression {
    let compare = [
        number(attr::compare::SOURCE, REGISTER),
        number(attr::compare::OPERATOR, operator),
        nested(attr::compare::DATA, &attribute(attr::data::VALUE, value)),
    ];
    Expression::new("cmp", &compare)
}

/// Ends the rule unless the register is from `first` to `last`. These are in network byte order.
pub(super) fn is_between(first: &[u8], last: &[u8]) -> Expression {
    let limit = |kind, value: &[u8]| nested(kind, &attribute(attr::data::VALUE, value));
    let range = [
        number(attr::range::SOURCE, REGISTER),
        number(attr::range::OPERATOR, EQUAL),
        limit(attr::range::FROM, first),
        limit(attr::range::TO, last),
    ];
    Expression::new("range", &range)
}
