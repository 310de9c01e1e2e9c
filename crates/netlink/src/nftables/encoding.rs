//! Attributes of netlink messages: encoding, and search in the kernel's answers.
//!
//! An attribute is a header of 4 octets (length with header, number), a value, and padding to a
//! multiple of 4 octets. Header fields are in the machine's byte order, numbers of nftables in network
//! byte order.

use super::attr;

/// Octets of the header of an attribute.
const HEADER: usize = 4;
/// Attributes and messages begin at multiples of these octets.
pub const ALIGNMENT: usize = 4;
/// Flag in the number of an attribute that contains attributes (linux/netlink.h).
const NESTED: u16 = 0x8000;

// ── Encoding ────────────────────────────────────────────────────────────────────────────────────

/// Encodes an attribute.
pub fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let length = HEADER + value.len();
    let mut bytes = Vec::with_capacity(length.next_multiple_of(ALIGNMENT));
    bytes.extend((length as u16).to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(value);
    bytes.resize(length.next_multiple_of(ALIGNMENT), 0);
    bytes
}

/// Encodes an attribute that contains attributes.
pub fn nested(kind: u16, attributes: &[u8]) -> Vec<u8> {
    attribute(kind | NESTED, attributes)
}

/// Encodes an attribute with a text, which ends with a zero.
pub fn text(kind: u16, text: &str) -> Vec<u8> {
    attribute(kind, format!("{text}\0").as_bytes())
}

/// Encodes an attribute with a number in network byte order.
pub fn number(kind: u16, number: u32) -> Vec<u8> {
    attribute(kind, &number.to_be_bytes())
}

// ── Search ──────────────────────────────────────────────────────────────────────────────────────

/// Returns the value of the first attribute with this number. `None` if there is none, or if the
/// attributes are cut off before its end.
pub fn find(mut attributes: &[u8], wanted: u16) -> Option<&[u8]> {
    loop {
        let length = usize::from(u16::from_ne_bytes(attributes.get(..2)?.try_into().ok()?));
        let kind = u16::from_ne_bytes(attributes.get(2..HEADER)?.try_into().ok()?);
        if kind & !NESTED == wanted {
            return attributes.get(HEADER..length);
        }
        // A length of less than the header is wrong. The search continues after the header.
        attributes = attributes.get(length.max(HEADER).next_multiple_of(ALIGNMENT)..)?;
    }
}

/// Returns the value of a number attribute.
pub fn find_number(attributes: &[u8], kind: u16) -> Option<u32> {
    find(attributes, kind)?.first_chunk().copied().map(u32::from_be_bytes)
}

/// Returns a text attribute, up to its terminating zero.
pub fn string(attributes: &[u8], kind: u16) -> Option<String> {
    let text = find(attributes, kind)?.split(|&octet| octet == 0).next()?;
    Some(String::from_utf8_lossy(text).into_owned())
}

// ── Comments of rules ───────────────────────────────────────────────────────────────────────────

/// Encodes a comment as `nft` stores it in a rule's user data: type 0, length, text, a zero.
pub fn comment(text: &str) -> Vec<u8> {
    let mut bytes = vec![0, text.len() as u8 + 1];
    bytes.extend(text.as_bytes());
    bytes.push(0);
    bytes
}

/// Returns the comment of a rule if its user data begin with one.
pub fn comment_of(rule: &[u8]) -> Option<String> {
    let [0, length, with_zero @ ..] = find(rule, attr::rule::USER_DATA)? else { return None };
    let text = with_zero.get(..usize::from(*length).checked_sub(1)?)?;
    Some(String::from_utf8_lossy(text).into_owned())
}
