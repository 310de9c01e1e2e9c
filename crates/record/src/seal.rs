//! The seal of a run's folder: the file `run.json`, the *card*, contains the digest of every other
//! file and of itself.
//!
//! ```text
//! { "digest": "…", "files": { "metrics.json": "…", "series/cwnd.parquet": "…" }, … }
//! ```
//!
//! Digests are BLAKE3 in hexadecimal. The card's digest is computed over its own text with an empty
//! digest, so that every octet of a run is covered. A seal detects damage on a disk or by hand. It
//! is not a signature: anyone can seal a changed folder again.
//!
//! Computing the digests of thousands of runs takes time. The [`state`] of a run is derived from
//! the file system's metadata. While it is unchanged, no file was written since the last check.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::{Map, Value};

/// The file that contains the digests of the other files.
const CARD: &str = "run.json";
/// Folders in which every file belongs to the run.
const SUBFOLDERS: [&str; 2] = ["series", "captures"];
/// Smallest number of folders per thread.
const MIN_FOLDERS: usize = 16;
/// Size of a read, in bytes.
const BUFFER: usize = 1 << 16;
/// Maximum size of a text file, in bytes. Larger files are not read.
const LARGEST_TEXT: u64 = 256_000_000;
/// Maximum granularity of file times: two seconds. A file that was written more recently can be
/// written again without a change of its time.
const TIME_GRANULARITY: Duration = Duration::from_secs(2);

/// A defect in a file of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flaw {
    /// Name of the file relative to the folder.
    pub file: String,
    /// The rest of a sentence that begins with the file's name, such as "is gone".
    pub description: String,
}

impl Flaw {
    fn new(file: &str, description: impl Into<String>) -> Self {
        Flaw { file: file.to_owned(), description: description.into() }
    }
}

/// The digest of `bytes`.
pub fn digest(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

/// The digests of all files in a folder except the card, by name.
///
/// # Errors
/// If a file cannot be read.
pub fn digests(folder: &Path) -> io::Result<BTreeMap<String, String>> {
    let names = files_below(folder, "")?.into_iter().filter(|name| name != CARD);
    names.map(|name| Ok((name.clone(), digest_of_file(&folder.join(&name))?))).collect()
}

/// The flaws in the folder of a run. For a folder without a seal, from an earlier version, checks
/// only that its card and metrics are JSON, and that all files are regular files.
pub fn check(folder: &Path) -> Vec<Flaw> {
    match read_card(folder) {
        Err(flaw) => vec![flaw],
        Ok(Card::Sealed(files)) => {
            let listed = files.iter().filter_map(|(name, digest)| check_file(folder, name, digest));
            listed.chain(foreign_files(folder, &files)).collect()
        }
        Ok(Card::Unsealed) => {
            let irregular = irregular_files(folder);
            read_json(folder, "metrics.json").err().into_iter().chain(irregular).collect()
        }
    }
}

/// The flaws of each folder, checked by as many threads as there are processors.
pub fn check_all(folders: &[PathBuf]) -> Vec<Vec<Flaw>> {
    on_all_processors(folders, check)
}

/// A hash of the file system's metadata of all files of a run: names, inode numbers, sizes, times.
/// While it is the same, no file was written. `None` if metadata of a file cannot be read or does
/// not show every change, or if a file was written so recently at `now` that a further write could
/// have the same time.
pub fn state(folder: &Path, now: SystemTime) -> Option<String> {
    let names = files_below(folder, "").ok()?;
    let mut newest = 0;
    let mut hasher = blake3::Hasher::new();
    for name in names {
        let metadata = fs::symlink_metadata(folder.join(&name)).ok()?;
        newest = newest.max(hash_metadata(&name, &metadata, &mut hasher)?);
    }
    // A later write to a file that was written before `settled` changes the time of the file.
    let settled = now.checked_sub(TIME_GRANULARITY)?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    (u128::try_from(newest).ok()? < settled.as_nanos()).then(|| hasher.finalize().to_hex()[..32].to_owned())
}

/// Hashes the metadata of a file. Returns the time of its last change, in ns since 1970.
#[cfg(unix)]
fn hash_metadata(name: &str, metadata: &fs::Metadata, hasher: &mut blake3::Hasher) -> Option<i64> {
    use std::os::unix::fs::MetadataExt as _;

    let changed_ns = metadata.ctime() * 1_000_000_000 + metadata.ctime_nsec();
    hasher.update(name.as_bytes());
    // Zeros separate the name from the numbers.
    for number in [0, metadata.ino(), metadata.size(), changed_ns as u64, metadata.mtime() as u64] {
        hasher.update(&number.to_le_bytes());
    }
    hasher.update(&metadata.mtime_nsec().to_le_bytes());
    Some(changed_ns)
}

/// Elsewhere programs can set all times of a file, so that metadata does not show every change.
#[cfg(not(unix))]
fn hash_metadata(_: &str, _: &fs::Metadata, _: &mut blake3::Hasher) -> Option<i64> {
    None
}

/// The states of several folders.
pub fn states(folders: &[PathBuf], now: SystemTime) -> Vec<Option<String>> {
    on_all_processors(folders, |folder| state(folder, now))
}

/// Calls `inspect` for each folder, on as many threads as there are processors. The results have
/// the order of the folders.
fn on_all_processors<T: Send>(folders: &[PathBuf], inspect: impl Fn(&Path) -> T + Sync) -> Vec<T> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let per_thread = folders.len().div_ceil(threads).max(MIN_FOLDERS);
    let inspect_all = |folders: &[PathBuf]| folders.iter().map(|folder| inspect(folder)).collect::<Vec<T>>();
    if folders.len() <= per_thread {
        return inspect_all(folders);
    }
    std::thread::scope(|scope| {
        let inspect_all = &inspect_all;
        let running: Vec<_> =
            folders.chunks(per_thread).map(|folders| scope.spawn(move || inspect_all(folders))).collect();
        running.into_iter().flat_map(|thread| thread.join().expect("the inspection does not panic")).collect()
    })
}

/// The content of a card.
enum Card {
    /// The digests of the other files, by name.
    Sealed(BTreeMap<String, String>),
    /// The card was written by an earlier version, without digests.
    Unsealed,
}

/// Reads the card, and checks its own digest.
fn read_card(folder: &Path) -> Result<Card, Flaw> {
    let (text, card) = read_json(folder, CARD)?;
    let changed = || Flaw::new(CARD, "is not as it was written");
    let (Some(own_digest), Some(files)) = (card.get("digest"), card.get("files")) else {
        let has = |key: &str| card.contains_key(key);
        let is_older = !has("digest") && !has("files") && has("format") && has("scenario_hash");
        return if is_older { Ok(Card::Unsealed) } else { Err(changed()) };
    };
    let own_digest = own_digest.as_str().ok_or_else(changed)?;
    let digested_text = text.replacen(&format!("\"digest\": \"{own_digest}\""), "\"digest\": \"\"", 1);
    if own_digest.is_empty() || digest(digested_text.as_bytes()) != own_digest {
        return Err(changed());
    }
    let entry = |(name, digest): (&String, &Value)| Some((name.clone(), digest.as_str()?.to_owned()));
    let files = files.as_object().and_then(|files| files.iter().map(entry).collect());
    files.map(Card::Sealed).ok_or_else(changed)
}

/// Returns the text of a JSON file and its parsed content.
fn read_json(folder: &Path, name: &str) -> Result<(String, Map<String, Value>), Flaw> {
    let mut bytes = Vec::new();
    open(&folder.join(name))
        .and_then(|file| file.take(LARGEST_TEXT + 1).read_to_end(&mut bytes))
        .map_err(|error| Flaw::new(name, unreadable(&error)))?;
    let broken = || Flaw::new(name, "is not as it was written");
    if bytes.len() as u64 > LARGEST_TEXT {
        return Err(broken());
    }
    let text = String::from_utf8(bytes).map_err(|_| broken())?;
    let content = serde_json::from_str(&text).map_err(|_| broken())?;
    Ok((text, content))
}

/// Compares a file with the digest on the card.
fn check_file(folder: &Path, name: &str, expected_digest: &str) -> Option<Flaw> {
    let is_text = name.ends_with(".json") || name.ends_with(".toml");
    if is_text && fs::metadata(folder.join(name)).is_ok_and(|metadata| metadata.len() > LARGEST_TEXT) {
        return Some(Flaw::new(name, "is not as it was written"));
    }
    match digest_of_file(&folder.join(name)) {
        Err(error) => Some(Flaw::new(name, unreadable(&error))),
        Ok(digest) => (digest != expected_digest).then(|| Flaw::new(name, "is not as it was written")),
    }
}

/// Flaws of a run without digests: pipes, devices and links to them instead of files.
fn irregular_files(folder: &Path) -> Vec<Flaw> {
    let names = files_below(folder, "").unwrap_or_default();
    let is_irregular =
        |name: &String| fs::metadata(folder.join(name)).is_ok_and(|metadata| !metadata.is_file());
    names.into_iter().filter(is_irregular).map(|name| Flaw::new(&name, "is not a file")).collect()
}

/// Flaws of a sealed run: files in its subfolders that the card does not list.
fn foreign_files(folder: &Path, files: &BTreeMap<String, String>) -> Vec<Flaw> {
    let flaws = SUBFOLDERS.into_iter().filter(|subfolder| folder.join(subfolder).is_dir()).map(|subfolder| {
        // Subfolders are not entered: a link may lead to a whole disk.
        match names_in(folder, subfolder) {
            // A listed file, or a folder that contains one, belongs to the run.
            Ok(names) => names
                .into_iter()
                .filter(|name| !files.keys().any(|file| file.starts_with(name)))
                .map(|name| Flaw::new(&name, "does not belong to this run"))
                .collect(),
            Err(error) => vec![Flaw::new(subfolder, unreadable(&error))],
        }
    });
    flaws.flatten().collect()
}

/// Names of the files in `folder`/`subfolder` and its subfolders, relative to `folder`, sorted.
fn files_below(folder: &Path, subfolder: &str) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder.join(subfolder))? {
        let entry = entry?;
        let file_name = entry.file_name().to_string_lossy().into_owned();
        let name = if subfolder.is_empty() { file_name } else { format!("{subfolder}/{file_name}") };
        if entry.file_type()?.is_dir() {
            names.append(&mut files_below(folder, &name)?);
        } else {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// Names of the entries of `folder`/`subfolder`, relative to `folder`, sorted.
fn names_in(folder: &Path, subfolder: &str) -> io::Result<Vec<String>> {
    let name = |entry: fs::DirEntry| format!("{subfolder}/{}", entry.file_name().to_string_lossy());
    let mut names =
        fs::read_dir(folder.join(subfolder))?.map(|entry| entry.map(name)).collect::<io::Result<Vec<_>>>()?;
    names.sort();
    Ok(names)
}

fn digest_of_file(path: &Path) -> io::Result<String> {
    let mut file = open(path)?;
    let mut hasher = blake3::Hasher::new();
    let mut buffer = [0; BUFFER];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hasher.finalize().to_hex().to_string()),
            read => hasher.update(&buffer[..read]),
        };
    }
}

/// Opens a regular file. Anything else, such as a pipe without a writer, is refused before reading.
fn open(path: &Path) -> io::Result<File> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    File::open(path)
}

/// Describes why a file could not be read, without the number of the operating system's error.
fn unreadable(error: &io::Error) -> String {
    if error.kind() == io::ErrorKind::NotFound {
        return "is gone".to_owned();
    }
    let text = error.to_string();
    format!("cannot be read: {}", text.split(" (os error").next().unwrap_or_default().to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sealed folder with metrics and a series.
    fn sealed_folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("series")).unwrap();
        fs::write(folder.path().join("metrics.json"), "{\"goodput_kbps\": 30.5}\n").unwrap();
        fs::write(folder.path().join("series/cwnd.parquet"), vec![7; 100_000]).unwrap();
        let card = serde_json::json!({"digest": "", "files": digests(folder.path()).unwrap(), "run": 3});
        let text = serde_json::to_string_pretty(&card).unwrap();
        let own = digest(text.as_bytes());
        fs::write(
            folder.path().join(CARD),
            text.replace("\"digest\": \"\"", &format!("\"digest\": \"{own}\"")),
        )
        .unwrap();
        folder
    }

    #[test]
    fn unchanged_folder_has_no_flaw() {
        assert_eq!(check(sealed_folder().path()), []);
    }

    #[test]
    fn folders_are_checked_in_parallel_with_the_same_results() {
        let folders: Vec<_> = (0..50).map(|_| sealed_folder()).collect();
        fs::remove_file(folders[41].path().join("metrics.json")).unwrap();
        let paths: Vec<PathBuf> = folders.iter().map(|folder| folder.path().to_owned()).collect();
        let each: Vec<_> = paths.iter().map(|folder| check(folder)).collect();
        assert_eq!(check_all(&paths), each);
        assert_eq!(each.iter().filter(|flaws| !flaws.is_empty()).count(), 1);
    }

    #[test]
    fn linked_folder_is_listed_but_not_entered() {
        let folder = sealed_folder();
        fs::remove_dir_all(folder.path().join("series")).unwrap();
        std::os::unix::fs::symlink("/proc", folder.path().join("series")).unwrap();
        let flaws = check(folder.path());
        assert!(flaws.contains(&Flaw::new("series/cwnd.parquet", "is gone")));
        assert!(flaws.iter().all(|flaw| flaw.file.matches('/').count() <= 1), "{flaws:?}");
    }

    #[test]
    fn device_in_an_unsealed_run_is_a_flaw() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("series")).unwrap();
        fs::write(folder.path().join(CARD), "{\"format\": 1, \"scenario_hash\": \"0\"}").unwrap();
        fs::write(folder.path().join("metrics.json"), "{}").unwrap();
        assert_eq!(check(folder.path()), []);
        std::os::unix::fs::symlink("/dev/zero", folder.path().join("series/cwnd.parquet")).unwrap();
        assert_eq!(check(folder.path()), [Flaw::new("series/cwnd.parquet", "is not a file")]);
    }

    #[test]
    fn state_changes_when_a_file_is_written_added_or_removed() {
        let folder = sealed_folder();
        let written = fs::metadata(folder.path()).unwrap().modified().unwrap();
        let later = || state(folder.path(), written + Duration::from_secs(3_600));
        let metrics = folder.path().join("metrics.json");
        let mut states = vec![later()];
        assert_eq!(later(), states[0]);
        fs::write(&metrics, "{}").unwrap();
        states.push(later());
        fs::rename(folder.path().join("series/cwnd.parquet"), folder.path().join("series/rtt.parquet"))
            .unwrap();
        states.push(later());
        fs::write(folder.path().join("series/cwnd.parquet"), "").unwrap();
        states.push(later());
        fs::remove_file(&metrics).unwrap();
        states.push(later());
        assert!(states.iter().all(Option::is_some));
        states.sort();
        states.dedup();
        assert_eq!(states.len(), 5, "the first state, and another one after each of four changes");
    }

    #[test]
    fn recently_written_files_have_no_state() {
        let folder = sealed_folder();
        let now = fs::metadata(folder.path()).unwrap().modified().unwrap();
        assert_eq!(states(&[folder.path().to_owned()], now), [None]);
        assert!(state(folder.path(), now + 2 * TIME_GRANULARITY).is_some());
        assert_eq!(state(&folder.path().join("nowhere"), now), None);
    }

    #[test]
    fn every_changed_octet_is_found() {
        let folder = sealed_folder();
        for name in [CARD, "metrics.json"] {
            let path = folder.path().join(name);
            let content = fs::read(&path).unwrap();
            for position in 0..content.len() {
                let mut changed = content.clone();
                changed[position] ^= 1 << (position % 8);
                fs::write(&path, changed).unwrap();
                assert_eq!(check(folder.path()), [Flaw::new(name, "is not as it was written")], "{position}");
            }
            fs::write(&path, content).unwrap();
        }
    }

    #[test]
    fn missing_truncated_and_foreign_files_are_reported() {
        let folder = sealed_folder();
        fs::remove_file(folder.path().join("metrics.json")).unwrap();
        fs::write(folder.path().join("series/cwnd.parquet"), vec![7; 99_999]).unwrap();
        fs::write(folder.path().join("series/rtt.parquet"), "").unwrap();
        fs::write(folder.path().join("note.txt"), "mine").unwrap();
        let flaws = [
            Flaw::new("metrics.json", "is gone"),
            Flaw::new("series/cwnd.parquet", "is not as it was written"),
            Flaw::new("series/rtt.parquet", "does not belong to this run"),
        ];
        assert_eq!(check(folder.path()), flaws);
    }

    #[test]
    fn folder_instead_of_a_file_is_a_flaw() {
        let folder = sealed_folder();
        fs::remove_file(folder.path().join("metrics.json")).unwrap();
        fs::create_dir(folder.path().join("metrics.json")).unwrap();
        assert_eq!(check(folder.path()), [Flaw::new("metrics.json", "cannot be read: it is not a file")]);
    }

    #[test]
    fn unsealed_folder_is_checked_for_valid_json() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(CARD), "{\"format\": 1, \"scenario_hash\": \"0\"}").unwrap();
        fs::write(folder.path().join("metrics.json"), "{}").unwrap();
        assert_eq!(check(folder.path()), []);
        fs::write(folder.path().join("metrics.json"), "{").unwrap();
        assert_eq!(check(folder.path()), [Flaw::new("metrics.json", "is not as it was written")]);
    }

    #[test]
    fn empty_card_is_a_flaw() {
        let folder = sealed_folder();
        fs::write(folder.path().join(CARD), "{}").unwrap();
        assert_eq!(check(folder.path()), [Flaw::new(CARD, "is not as it was written")]);
    }
}
