//! Files to which a scenario refers by name, such as traces. Their names are relative to the folder
//! of the file that contains them.

use std::path::PathBuf;

use crate::check;
use crate::error::Problem;
use crate::extends::{read_bytes, reason};
use crate::tree::{Node, Source};

/// The first wrong line of a text file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WrongLine {
    /// Number of the line, from 1.
    pub number: usize,
    pub message: String,
}

/// A file that a scenario names, with its content.
pub(crate) struct NamedFile<'a> {
    pub bytes: Vec<u8>,
    /// Name relative to the folder of the scenario file that the user opened, not of a file that it
    /// extends.
    pub name: String,
    /// Path at which the file is read.
    file_path: PathBuf,
    /// Path of the key that names the file, for messages.
    key_path: &'a str,
    tree: &'a Node,
}

impl<'a> NamedFile<'a> {
    /// Reads the file named `file` in the key at `key_path`.
    pub fn read(file: &str, key_path: &'a str, tree: &'a Node, sources: &[Source]) -> Result<Self, Problem> {
        let source = &sources[tree.find(key_path).0.at.source];
        let name = source.relative_folder.join(file).display().to_string();
        let mut named_file =
            NamedFile { bytes: Vec::new(), name, file_path: source.folder.join(file), key_path, tree };
        named_file.bytes = read_bytes(&named_file.file_path).map_err(|error| {
            let message = format!("cannot read {}: {}", named_file.file_path.display(), reason(&error));
            check::problem(tree, key_path, message)
                .label("this file")
                .help("the name is relative to the folder of the file that contains it")
        })?;
        Ok(named_file)
    }

    /// The content as text. Invalid UTF-8 is replaced by U+FFFD.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// A problem with the file. `wrong` is appended to the file's name, as in ` has no line to send`
    /// or `, line 3: …`.
    pub fn problem(&self, wrong: &str) -> Problem {
        check::problem(self.tree, self.key_path, format!("{}{wrong}", self.file_path.display()))
            .label("this file")
    }

    /// A problem with one line of the file.
    pub fn wrong_line(&self, wrong: &WrongLine) -> Problem {
        self.problem(&format!(", line {}: {}", wrong.number, wrong.message))
    }
}
