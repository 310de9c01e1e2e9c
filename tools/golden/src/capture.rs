//! Digests of capture files.

use std::fs;
use std::path::Path;

use blake3::Hasher;

use crate::digest::hex;
use crate::error::{GoldenError, of_file};

/// Returns the number of octets in a file and their digest.
///
/// # Errors
/// If the file cannot be read.
pub fn octets(file: &Path) -> Result<String, GoldenError> {
    let octets = fs::read(file).map_err(of_file(file))?;
    let mut hasher = Hasher::new();
    hasher.update(&octets);
    Ok(format!("{} octets, {}", octets.len(), hex(&hasher)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_octet_changes_the_digest() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("ue.pcapng");
        let digest = |content: &[u8]| {
            fs::write(&file, content).expect("written");
            octets(&file).expect("read")
        };
        let before = digest(&[1, 2, 3]);
        assert!(before.starts_with("3 octets, "), "{before}");
        assert_ne!(digest(&[1, 2, 4]), before);
        assert_eq!(digest(&[1, 2, 3]), before);
    }
}
