//! The fingerprint of what decides a run's results: the sources of the crates that make them, and the versions of the
//! packages that these are built on.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The crates that make results. The others look at captures, run real programs or serve Python: what they do is in no
/// result that has a key.
pub const CRATES: [&str; 6] = ["units", "kernel", "stack", "scenario", "record", "simulate"];

/// Folders of a crate that decide nothing.
const NO_SOURCES: [&str; 3] = ["tests", "benches", "examples"];

/// Where those crates are, below the root of the workspace.
pub fn folders(root: &Path) -> impl Iterator<Item = PathBuf> {
    CRATES.map(|name| root.join("crates").join(name)).into_iter()
}

/// The fingerprint of the workspace at `root`.
pub fn fingerprint(root: &Path) -> io::Result<String> {
    let mut files = Vec::new();
    for folder in folders(root) {
        collect(&folder, &mut files)?;
    }
    // In an order that does not depend on the file system.
    files.sort();
    let mut hash = blake3::Hasher::new();
    let mut add = |name: &str, content: &[u8]| {
        hash.update(&(name.len() as u64).to_le_bytes()).update(name.as_bytes());
        hash.update(&(content.len() as u64).to_le_bytes()).update(content);
    };
    for file in &files {
        let name = file.strip_prefix(root).expect("found below it").to_string_lossy();
        add(&name, &fs::read(file)?);
    }
    for (name, version) in locked(&fs::read_to_string(root.join("Cargo.lock"))?) {
        add(&name, version.as_bytes());
    }
    Ok(hash.finalize().to_hex()[..16].to_owned())
}

/// Adds the Rust sources and manifests below `folder` to `files`.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if path.is_dir() {
            if !NO_SOURCES.iter().any(|name| entry.file_name() == *name) {
                collect(&path, files)?;
            }
        } else if path.extension().is_some_and(|e| e == "rs" || e == "toml") {
            files.push(path);
        }
    }
    Ok(())
}

/// Names and versions of all packages that the crates are built on, read from a `Cargo.lock`. It does not tell which of
/// them are for tests alone.
pub fn locked(lock: &str) -> BTreeMap<String, String> {
    let packages: Vec<Package> = lock.split("[[package]]").skip(1).map(Package::read).collect();
    let mut found = BTreeMap::new();
    let mut wanted: Vec<String> = CRATES.iter().map(|name| format!("umts-{name}")).collect();
    while let Some(name) = wanted.pop() {
        // A dependency is written with its version where there are several.
        let (name, version) = name.split_once(' ').map_or((name.as_str(), None), |(n, v)| (n, Some(v)));
        for package in packages.iter().filter(|p| p.name == name && version.is_none_or(|v| p.version == v)) {
            let key = format!("{} {}", package.name, package.version);
            if found.insert(key, package.version.clone()).is_none() {
                wanted.extend(package.dependencies.iter().cloned());
            }
        }
    }
    found
}

/// One package of a `Cargo.lock`.
struct Package {
    name: String,
    version: String,
    dependencies: Vec<String>,
}

impl Package {
    fn read(text: &str) -> Self {
        let quoted = |line: &str| line.split('"').nth(1).unwrap_or_default().to_owned();
        let value =
            |key: &str| text.lines().find(|line| line.starts_with(key)).map(quoted).unwrap_or_default();
        let listed = text.split_once("dependencies = [").and_then(|(_, rest)| rest.split_once(']'));
        let dependencies = listed.map_or("", |(list, _)| list).lines().filter(|line| line.contains('"'));
        Package {
            name: value("name = "),
            version: value("version = "),
            dependencies: dependencies.map(quoted).collect(),
        }
    }
}
