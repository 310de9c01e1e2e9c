//! Digests in goldens.

use blake3::Hasher;

/// 128 bits: long enough that two results never collide by chance, and short enough for a line.
const HEX_DIGITS: usize = 32;

/// Returns the digest of the data in `hasher`, in hexadecimal.
pub fn hex(hasher: &Hasher) -> String {
    hasher.finalize().to_hex()[..HEX_DIGITS].to_owned()
}
