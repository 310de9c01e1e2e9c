//! Stamps the extension with the commit and the fingerprint of the sources that it is built from.
//!
//! The commit is for people and is "unknown" outside git. The fingerprint is for run keys: it needs no git, and it
//! changes with every source of the core, committed or not, so that no stored result of other code is taken for one
//! of this code.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

/// What decides a run's results, relative to the root of the workspace.
const SOURCES: [&str; 3] = ["Cargo.toml", "Cargo.lock", "crates"];

/// Folders of a crate that do not.
const NO_SOURCES: [&str; 3] = ["tests", "benches", "examples"];

fn main() -> io::Result<()> {
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let root = manifest.parent().and_then(Path::parent).expect("crates/bindings has a workspace above it");

    let mut files = Vec::new();
    for source in SOURCES {
        println!("cargo::rerun-if-changed={}", root.join(source).display());
        collect(&root.join(source), &mut files)?;
    }
    println!("cargo::rustc-env=UMTS_CODE={}", fingerprint(root, &mut files)?);
    println!("cargo::rustc-env=UMTS_COMMIT={}", commit(root));
    Ok(())
}

/// Adds `path`, or the Rust sources and manifests below it, to `files`.
fn collect(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            if !NO_SOURCES.iter().any(|name| entry.file_name() == *name) {
                collect(&entry.path(), files)?;
            }
        }
    } else if path.extension().is_some_and(|e| e == "rs" || e == "toml" || e == "lock") {
        files.push(path.to_path_buf());
    }
    Ok(())
}

/// The hash of names and contents, in an order that does not depend on the file system.
fn fingerprint(root: &Path, files: &mut [PathBuf]) -> io::Result<String> {
    files.sort();
    let mut hash = blake3::Hasher::new();
    for file in files.iter() {
        let name = file.strip_prefix(root).expect("found below it").to_string_lossy();
        let content = fs::read(file)?;
        hash.update(&(name.len() as u64).to_le_bytes()).update(name.as_bytes());
        hash.update(&(content.len() as u64).to_le_bytes()).update(&content);
    }
    Ok(hash.finalize().to_hex()[..16].to_owned())
}

/// `UMTS_COMMIT` from whoever builds a package, else what git says, else "unknown".
fn commit(root: &Path) -> String {
    println!("cargo::rerun-if-env-changed=UMTS_COMMIT");
    if let Ok(commit) = env::var("UMTS_COMMIT") {
        return commit;
    }
    let git = |args: &[&str]| {
        let out = Command::new("git").arg("-C").arg(root).args(args).output().ok()?;
        out.status.success().then(|| String::from_utf8_lossy(&out.stdout).trim().to_owned())
    };
    // The log of HEAD grows with every commit and checkout; a worktree has its own.
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
