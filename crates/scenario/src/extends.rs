//! Files that extend other files: `extends = "other.toml"`.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::error::{Problem, ScenarioError};
use crate::tree::{Node, Origin, Reader, Source, merge};

/// Keys that are not inherited from the extended file.
const NOT_INHERITED: [&str; 2] = ["name", "title"];

/// Reads a chain of files into one tree.
pub(crate) struct Files {
    pub sources: Vec<Source>,
    /// The files that are being read, the outermost first.
    open: Vec<PathBuf>,
}

/// Largest size of a scenario file, a trace or a recording, in octets. A trace of blocks of 10 ms
/// then lasts two days.
const LARGEST_FILE: u64 = 16_000_000;

/// Largest length of a chain of files.
const LONGEST_CHAIN: usize = 100;

/// Reads the octets of a file. Devices are refused without opening them; endless files such as
/// pipes are refused at [`LARGEST_FILE`].
pub(crate) fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
    if is_device(fs::metadata(path)?.file_type()) {
        return Err(io::Error::other("it is a device, not a file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(LARGEST_FILE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST_FILE {
        return Err(io::Error::other(format!("it has more than {LARGEST_FILE} octets")));
    }
    Ok(bytes)
}

#[cfg(unix)]
fn is_device(kind: fs::FileType) -> bool {
    use std::os::unix::fs::FileTypeExt as _;

    kind.is_char_device() || kind.is_block_device()
}

#[cfg(not(unix))]
fn is_device(_: fs::FileType) -> bool {
    false
}

/// Reads the text of a file.
pub(crate) fn read_text(path: &Path) -> Result<String, Problem> {
    let bytes = read_bytes(path).map_err(|error| {
        let help = "check the path; it is relative to the folder in which the command runs";
        Problem::new(format!("cannot read {}: {}", path.display(), reason(&error))).help(help)
    })?;
    String::from_utf8(bytes).map_err(|error| {
        let position = error.utf8_error().valid_up_to();
        Problem::new(format!(
            "{} is not UTF-8 text: byte {position} does not begin a character",
            path.display()
        ))
    })
}

/// The operating system's message without its error number.
pub(crate) fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_lowercase()
}

impl Files {
    /// `path` is the file of the outermost text, or `None` if the text is not from a file.
    pub fn new(path: Option<&Path>) -> Self {
        Files { sources: Vec::new(), open: path.map(identity).into_iter().collect() }
    }

    /// Reads `source` and merges it over the files that it extends.
    pub fn read(&mut self, source: Source) -> Result<Node, ScenarioError> {
        let (text, folder, relative) =
            (source.text.clone(), source.folder.clone(), source.relative_folder.clone());
        let reader = Reader { source: self.sources.len(), by_override: false, shift: 0 };
        self.sources.push(source);
        let mut tree = reader.read(&text).map_err(|problem| ScenarioError::new(problem, &self.sources))?;
        let Some(extends) = tree.as_table_mut().and_then(|table| table.remove("extends")) else {
            return Ok(tree);
        };
        let at = extends.at;
        let fail = |files: &Self, problem: Problem| {
            Err(ScenarioError::new(problem.at(at).path("extends").label("this file"), &files.sources))
        };
        let Some(name) = extends.as_text() else {
            return fail(
                self,
                Problem::new(format!("a file name is expected here, not {}", extends.describe())),
            );
        };
        let path = folder.join(name);
        if self.open.contains(&identity(&path)) {
            let help = "remove `extends` from one of the files in the circle";
            return fail(self, Problem::new(format!("{name} extends itself in a circle")).help(help));
        }
        if self.open.len() >= LONGEST_CHAIN {
            let problem = Problem::new(format!("{LONGEST_CHAIN} files extend one another"));
            return fail(self, problem.help("remove `extends` from one of the files in the chain"));
        }
        let base = match read_text(&path) {
            Ok(text) => self.read_base(&path, &relative.join(name), text)?,
            Err(problem) => {
                let help = "the name is relative to the folder of the file that contains it";
                return fail(self, problem.help(help));
            }
        };
        Ok(merge(base, tree))
    }

    fn read_base(&mut self, path: &Path, relative: &Path, text: String) -> Result<Node, ScenarioError> {
        let folder = |path: &Path| path.parent().map(Path::to_owned).unwrap_or_default();
        self.open.push(identity(path));
        let mut base = self.read(Source {
            name: path.display().to_string(),
            text,
            folder: folder(path),
            relative_folder: folder(relative),
        })?;
        self.open.pop();
        if let Some(table) = base.as_table_mut() {
            table.retain(|key, _| !NOT_INHERITED.contains(&key.as_str()));
        }
        Ok(base)
    }

    /// Adds a text that is not a file. Returns its index.
    pub fn add(&mut self, name: &str, text: String) -> usize {
        let (folder, relative_folder) =
            self.sources.first().map(|main| (main.folder.clone(), PathBuf::new())).unwrap_or_default();
        self.sources.push(Source { name: name.to_owned(), text, folder, relative_folder });
        self.sources.len() - 1
    }

    /// The start of the first source: location of mistakes that concern no written value.
    pub fn beginning(&self) -> Origin {
        Origin { source: 0, start: 0, end: 0, by_override: false }
    }
}

/// One name per file, for any path that leads to it.
fn identity(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
