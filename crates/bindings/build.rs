//! Stamps the extension with the commit and the fingerprint of its sources.
//!
//! The commit is for users and is "unknown" outside git. The fingerprint is part of run keys. It
//! needs no git, and changes with every source that affects results, committed or not, so that
//! stored results of other code are never reused.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, io};

mod fingerprint;

fn main() -> io::Result<()> {
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let root = manifest.parent().and_then(Path::parent).expect("crates/bindings has a workspace above it");

    println!("cargo::rerun-if-changed={}", root.join("Cargo.lock").display());
    for folder in fingerprint::folders(root) {
        println!("cargo::rerun-if-changed={}", folder.display());
    }
    println!("cargo::rustc-env=UMTS_CODE={}", fingerprint::fingerprint(root)?);
    println!("cargo::rustc-env=UMTS_COMMIT={}", commit(root));
    Ok(())
}

/// The environment variable `UMTS_COMMIT` of a package build, otherwise the commit of git,
/// otherwise "unknown".
fn commit(root: &Path) -> String {
    println!("cargo::rerun-if-env-changed=UMTS_COMMIT");
    if let Ok(commit) = env::var("UMTS_COMMIT") {
        return commit;
    }
    let git = |args: &[&str]| {
        let out = Command::new("git").arg("-C").arg(root).args(args).output().ok()?;
        out.status.success().then(|| String::from_utf8_lossy(&out.stdout).trim().to_owned())
    };
    // HEAD's log grows with each commit and checkout. Each worktree has its own.
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]).map(|log| root.join(log))
        && log.exists()
    {
        println!("cargo::rerun-if-changed={}", log.display());
    }
    let Some(commit) = git(&["rev-parse", "--short=12", "HEAD"]) else { return "unknown".to_owned() };
    match git(&["status", "--porcelain", "--", "Cargo.lock", "crates"]) {
        Some(changes) if !changes.is_empty() => format!("{commit}-dirty"),
        _ => commit,
    }
}
