//! Cyclic redundancy checks of frames of the Iub: TS 25.427 §6.2, §7.2; TS 25.435 §7.2. The register
//! begins with zeros, so the bits of a CRC at the start of a header count as zeros.

/// A check by division.
#[derive(Debug, Clone, Copy)]
pub struct Crc {
    /// The polynomial without its highest term.
    polynomial: u16,
    /// Degree of the polynomial.
    width: u32,
}

/// Header of a data frame, and control frame: x^7 + x^6 + x^2 + 1.
pub const HEADER: Crc = Crc { polynomial: 0x45, width: 7 };
/// Payload of a data frame: x^16 + x^15 + x^2 + 1.
pub const PAYLOAD: Crc = Crc { polynomial: 0x8005, width: 16 };
/// Header of an E-DCH data frame: x^11 + x^9 + x^8 + x^2 + x + 1.
pub const E_DCH_HEADER: Crc = Crc { polynomial: 0x307, width: 11 };

impl Crc {
    /// Remainder of all bits of `octets`.
    pub fn of(self, octets: &[u8]) -> u16 {
        let (polynomial, top) = (u32::from(self.polynomial), 1 << self.width);
        let bits = octets.iter().flat_map(|octet| (0..8).rev().map(move |bit| octet >> bit & 1));
        let register = bits.fold(0_u32, |register, bit| {
            let shifted = register << 1 ^ u32::from(bit) << self.width;
            if shifted & top == 0 { shifted } else { shifted ^ top ^ polynomial }
        });
        register as u16
    }
}
