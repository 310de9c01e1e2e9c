//! The fingerprint of the code that determines results: sources of the crates that produce them,
//! and versions of the packages they depend on.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Crates that determine results. The others analyse captures, run real programs or serve Python;
/// they affect no result that has a key.
pub const CRATES: [&str; 6] = ["units", "kernel", "stack", "scenario", "record", "simulate"];

/// Folders of a crate that do not affect results.
const EXCLUDED_FOLDERS: [&str; 3] = ["tests", "benches", "examples"];

/// Folders of these crates below the root of the workspace.
pub fn folders(root: &Path) -> impl Iterator<Item = PathBuf> {
    CRATES.map(|name| root.join("crates").join(name)).into_iter()
}

/// Returns the fingerprint of the workspace at `root`.
pub fn fingerprint(root: &Path) -> io::Result<String> {
    let mut files = Vec::new();
    for folder in folders(root) {
        collect(&folder, &mut files)?;
    }
    // Sorted, because the order of the file system is undefined.
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
            if !EXCLUDED_FOLDERS.iter().any(|name| entry.file_name() == *name) {
                collect(&path, files)?;
            }
        } else if path.extension().is_some_and(|extension| extension == "rs" || extension == "toml") {
            files.push(path);
        }
    }
    Ok(())
}

/// Names and versions of all packages on which the crates depend, from a `Cargo.lock`. Packages
/// that only tests need are included, because the file does not distinguish them.
pub fn locked(lock: &str) -> BTreeMap<String, String> {
    let packages: Vec<Package> = lock.split("[[package]]").skip(1).map(Package::read).collect();
    let mut versions = BTreeMap::new();
    let mut queue: Vec<String> = CRATES.iter().map(|name| format!("umts-{name}")).collect();
    while let Some(name) = queue.pop() {
        // A dependency includes its version if the lock file has several versions of the package.
        let (name, version) = match name.split_once(' ') {
            Some((name, version)) => (name, Some(version)),
            None => (name.as_str(), None),
        };
        let is_named = |package: &&Package| {
            package.name == name && version.is_none_or(|version| package.version == version)
        };
        for package in packages.iter().filter(is_named) {
            let key = format!("{} {}", package.name, package.version);
            if versions.insert(key, package.version.clone()).is_none() {
                queue.extend(package.dependencies.iter().cloned());
            }
        }
    }
    versions
}

/// A package of a `Cargo.lock`.
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
