//! Tests of the fingerprint of the code that determines results.

#[path = "../fingerprint.rs"]
mod fingerprint;

use std::fs;
use std::path::Path;

/// Creates a workspace with a source file in each crate and the lock file of this workspace.
fn workspace(root: &Path) {
    for name in fingerprint::CRATES.iter().chain(&["capture", "emulate", "bindings"]) {
        let folder = root.join("crates").join(name);
        for part in ["src", "tests"] {
            fs::create_dir_all(folder.join(part)).unwrap();
            fs::write(folder.join(part).join("lib.rs"), "// nothing\n").unwrap();
        }
    }
    fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.lock"), root.join("Cargo.lock"))
        .unwrap();
}

#[test]
fn fingerprint_depends_only_on_code_that_determines_results() {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fingerprint");
    let _ = fs::remove_dir_all(&root);
    workspace(&root);
    let original = fingerprint::fingerprint(&root).unwrap();
    for other in ["capture/src", "emulate/src", "bindings/src", "stack/tests"] {
        fs::write(root.join("crates").join(other).join("lib.rs"), "// a comment\n").unwrap();
        assert_eq!(fingerprint::fingerprint(&root).unwrap(), original, "{other}");
    }
    for name in fingerprint::CRATES {
        let source = root.join("crates").join(name).join("src/lib.rs");
        fs::write(&source, "// a comment\n").unwrap();
        assert_ne!(fingerprint::fingerprint(&root).unwrap(), original, "{name}");
        fs::write(&source, "// nothing\n").unwrap();
    }
    assert_eq!(fingerprint::fingerprint(&root).unwrap(), original);
    let lock = fs::read_to_string(root.join("Cargo.lock")).unwrap();
    let libm = lock.find("name = \"libm\"").unwrap();
    let changed = format!("{}{}", &lock[..libm], lock[libm..].replacen("version = \"", "version = \"9", 1));
    fs::write(root.join("Cargo.lock"), changed).unwrap();
    assert_ne!(fingerprint::fingerprint(&root).unwrap(), original, "libm");
}

#[test]
fn locked_lists_dependencies_of_the_result_crates() {
    let lock = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.lock")).unwrap();
    let names: Vec<String> = fingerprint::locked(&lock).into_keys().collect();
    let has = |name: &str| names.iter().any(|key| key.split(' ').next() == Some(name));
    assert!(["umts-stack", "libm", "rand_pcg", "blake3", "hdrhistogram"].into_iter().all(has), "{names:?}");
    assert!(!["pyo3", "pcap-parser", "tun-rs", "umts-capture"].into_iter().any(has), "{names:?}");
}
