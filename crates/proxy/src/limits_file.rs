//! The file of `--limits`: limits that take the place of those on the command line. It is read at
//! the start, and again at SIGHUP.

use std::fs::OpenOptions;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use nix::fcntl::OFlag;
use toml::{Table, Value};

use crate::error::{ProxyError, wrong};
use crate::options::{GivenOptions, Options};

/// Largest file in bytes.
const MAX_SIZE: u64 = 64_000;

const KEYS: [&str; 4] = ["connections", "connect_timeout", "idle_timeout", "drain"];

/// The limits in a file. `None`: the file does not set the limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FileLimits {
    connections: Option<usize>,
    connect_timeout: Option<Duration>,
    idle_timeout: Option<Duration>,
    drain: Option<Duration>,
}

impl FileLimits {
    /// Reads a file.
    ///
    /// # Errors
    /// [`ProxyError::Wrong`] if the file cannot be read, is no regular file, is too large, or has an
    /// unknown key or an invalid value.
    pub fn read(path: &Path) -> Result<Self, ProxyError> {
        let text = text_of(path).and_then(|text| Self::parse(&text));
        text.map_err(|message| wrong(format!("--limits {}: {message}", path.display())))
    }

    fn parse(text: &str) -> Result<Self, String> {
        let table: Table = toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(1, |span| text[..span.start].matches('\n').count() + 1);
            format!("line {line}: {}", error.message())
        })?;
        let pairs = table.into_iter().map(|(key, value)| pair(key, &value)).collect::<Result<Vec<_>, _>>()?;
        let given = GivenOptions(&pairs);
        let read = || {
            Ok(FileLimits {
                connections: given.count("connections", usize::MAX)?,
                connect_timeout: given.positive_time("connect_timeout")?,
                idle_timeout: given.positive_time("idle_timeout")?,
                drain: given.time_or_zero("drain")?,
            })
        };
        read().map_err(|error: ProxyError| error.to_string())
    }

    /// The options with the limits of the file.
    pub fn replace_in(self, options: Options) -> Options {
        Options {
            connections: self.connections.or(options.connections),
            connect_timeout: self.connect_timeout.unwrap_or(options.connect_timeout),
            idle_timeout: self.idle_timeout.unwrap_or(options.idle_timeout),
            drain: self.drain.unwrap_or(options.drain),
            ..options
        }
    }
}

/// The text of a regular file of at most [`MAX_SIZE`].
fn text_of(path: &Path) -> Result<String, String> {
    let failed = |error: std::io::Error| format!("cannot be read: {error}");
    // Opening a FIFO must not wait for its writer.
    let nonblocking = OFlag::O_NONBLOCK.bits();
    let file = OpenOptions::new().read(true).custom_flags(nonblocking).open(path).map_err(failed)?;
    if !file.metadata().map_err(failed)?.is_file() {
        return Err("is not a regular file".to_owned());
    }
    let mut bytes = Vec::new();
    file.take(MAX_SIZE + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MAX_SIZE {
        return Err(format!("is larger than {} kB", MAX_SIZE / 1000));
    }
    String::from_utf8(bytes).map_err(|_| "is not text in UTF-8".to_owned())
}

/// A key and its value as on the command line.
fn pair(key: String, value: &Value) -> Result<(String, String), String> {
    if !KEYS.contains(&key.as_str()) {
        let (last, first) = KEYS.split_last().expect("there are keys");
        return Err(format!("there is no limit {key:?}: the limits are {} and {last}", first.join(", ")));
    }
    let text = match (key.as_str(), value) {
        ("connections", Value::Integer(count)) => count.to_string(),
        ("connections", _) => {
            return Err("connections takes a whole number, as in connections = 100".to_owned());
        }
        (_, Value::String(text)) => text.clone(),
        _ => return Err(format!("{key} takes a time in quotes, as in {key} = \"30 s\"")),
    };
    Ok((key, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_the_file_replace_those_of_the_command_line() {
        let pairs = [
            ("--listen", "127.0.0.1:1"),
            ("--to", "127.0.0.1:2"),
            ("--connections", "9"),
            ("--drain", "1 s"),
        ];
        let pairs = pairs.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let options = Options::from_pairs(&pairs).expect("options");
        let file =
            FileLimits::parse("# a comment\nconnections = 3\nidle_timeout = \"10 min\"\n").expect("limits");
        let replaced = file.replace_in(options.clone());
        assert_eq!((replaced.connections, replaced.idle_timeout), (Some(3), Duration::from_secs(600)));
        assert_eq!((replaced.connect_timeout, replaced.drain), (options.connect_timeout, options.drain));
        assert_eq!(FileLimits::parse("").expect("an empty file").replace_in(options.clone()), options);
    }

    #[test]
    fn invalid_files_are_refused_with_a_correction() {
        for (text, expected) in [
            ("connections = 0", "connections takes a whole number, at least 1"),
            ("connections = \"3\"", "connections takes a whole number, as in connections = 100"),
            ("idle_timeout = 30", "idle_timeout takes a time in quotes, as in idle_timeout = \"30 s\""),
            ("idle_timeout = \"0 s\"", "idle_timeout takes a time above zero"),
            ("drain = \"soon\"", "drain: "),
            (
                "buffer = \"64 kB\"",
                "there is no limit \"buffer\": the limits are connections, connect_timeout, idle_timeout and drain",
            ),
            ("\n\nconnections =", "line 3: "),
        ] {
            let error = FileLimits::parse(text).expect_err(text);
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn only_regular_files_of_64_kb_are_read() {
        let error = |path: &str| FileLimits::read(Path::new(path)).expect_err(path).to_string();
        assert!(error("/dev/null").ends_with("is not a regular file"), "{}", error("/dev/null"));
        assert!(error("/").ends_with("is not a regular file"));
        assert!(error("/nowhere").contains("cannot be read"));
        let large = std::env::temp_dir().join(format!("umts-limits-{}", std::process::id()));
        std::fs::write(&large, "#".repeat(64_001)).expect("a file");
        let refused = FileLimits::read(&large).expect_err("too large").to_string();
        std::fs::remove_file(&large).expect("the file");
        assert!(refused.ends_with("is larger than 64 kB"), "{refused}");
    }
}
