//! Digests as they stand in a golden.

use blake3::Hasher;

/// 128 bits: no two results meet by chance, and a line stays short.
const HEX_DIGITS: usize = 32;

/// The digest of what `hasher` was given.
pub fn hex(hasher: &Hasher) -> String {
    hasher.finalize().to_hex()[..HEX_DIGITS].to_owned()
}
