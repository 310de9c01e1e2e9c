//! Frames between RNC and Node B for common transport channels: TS 25.435.

pub mod hs_dsch;

/// Why a frame is not valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    #[error("the frame ends within a field")]
    Truncated,
    #[error("the CRC of the header is {found:#04x}, not {computed:#04x}")]
    HeaderCrc { found: u8, computed: u8 },
    #[error("the CRC of the payload is {found:#06x}, not {computed:#06x}")]
    PayloadCrc { found: u16, computed: u16 },
    #[error("a frame of another type")]
    Type,
    #[error("a value that the field cannot have")]
    Value,
}

/// The 7-bit CRC over a header without its first seven bits, which hold the CRC.
fn header_crc(header: &[u8]) -> u8 {
    remainder(bits(header).skip(7), 0x45, 7) as u8
}

/// The 16-bit CRC over the payload.
fn payload_crc(payload: &[u8]) -> u16 {
    remainder(bits(payload), 0x8005, 16) as u16
}

fn bits(octets: &[u8]) -> impl Iterator<Item = u8> + '_ {
    octets.iter().flat_map(|octet| (0..8).map(move |bit| octet >> (7 - bit) & 1))
}

/// The remainder of `bits` divided by a polynomial of degree `width`.
fn remainder(bits: impl Iterator<Item = u8>, polynomial: u32, width: u32) -> u32 {
    bits.fold(0, |register, bit| {
        let top = register >> (width - 1) & 1;
        let shifted = register << 1 & ((1 << width) - 1);
        if top ^ u32::from(bit) == 1 { shifted ^ polynomial } else { shifted }
    })
}
