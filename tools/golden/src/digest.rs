//! Digests in goldens.

use blake3::Hasher;

/// Length of a digest: 128 bits, so that two results never have the same digest by chance.
const HEX_DIGITS: usize = 32;

/// Returns the digest of the data in `hasher`, in hexadecimal.
pub fn hex(hasher: &Hasher) -> String {
    hasher.finalize().to_hex()[..HEX_DIGITS].to_owned()
}
