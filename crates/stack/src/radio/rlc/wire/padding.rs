//! Padding of control PDUs. It may have any content, and is stored so that a parsed PDU is written
//! with the same bytes.

/// Padding of a control PDU after its last field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Padding<'a> {
    /// The bits between the last field and the end of its octet, as a number.
    bits: u8,
    /// The whole octets after them.
    octets: Octets<'a>,
}

/// Whole octets of padding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Octets<'a> {
    Zeros(usize),
    /// Not all zero.
    Any(&'a [u8]),
}

impl Default for Octets<'_> {
    fn default() -> Self {
        Octets::Zeros(0)
    }
}

impl<'a> Padding<'a> {
    /// `octets` octets of zeros.
    pub fn zeros(octets: usize) -> Self {
        Padding { bits: 0, octets: Octets::Zeros(octets) }
    }

    /// Padding with these bits and octets of a received PDU.
    pub(super) fn read(bits: u8, octets: &'a [u8]) -> Self {
        let zero = octets.iter().all(|&octet| octet == 0);
        Padding { bits, octets: if zero { Octets::Zeros(octets.len()) } else { Octets::Any(octets) } }
    }

    /// Number of whole octets.
    pub fn octets(&self) -> usize {
        match self.octets {
            Octets::Zeros(octets) => octets,
            Octets::Any(octets) => octets.len(),
        }
    }

    /// Writes the padding after fields that left `free` bits of the last octet.
    pub(super) fn emit(&self, free: u32, out: &mut Vec<u8>) {
        if let Some(last) = out.last_mut().filter(|_| free > 0) {
            *last |= self.bits & ((1 << free) - 1);
        }
        match self.octets {
            Octets::Zeros(octets) => out.resize(out.len() + octets, 0),
            Octets::Any(octets) => out.extend_from_slice(octets),
        }
    }
}
