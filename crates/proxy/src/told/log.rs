//! The log: one JSON object in a line for every connection that is over.
//!
//! A thread of its own writes it, so that a slow disk or a reader that stands still delays no octet; lines that it cannot
//! take are lost and counted.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

/// Lines that wait for the writer.
const WAITING: usize = 16_384;

/// Where lines go in.
#[derive(Debug, Clone)]
pub struct Log {
    lines: SyncSender<String>,
    lost: Arc<AtomicU64>,
}

/// Writes until the last [`Log`] is gone.
#[derive(Debug)]
pub struct Writer(JoinHandle<io::Result<()>>);

/// Opens a file to which lines are added; `-` is standard output.
///
/// # Errors
/// The system's.
pub fn open(path: &Path) -> io::Result<Box<dyn Write + Send>> {
    Ok(match path.as_os_str() == "-" {
        true => Box::new(io::stdout()),
        false => Box::new(OpenOptions::new().create(true).append(true).open(path)?),
    })
}

impl Log {
    /// Lines that are written to `out`.
    pub fn new(out: Box<dyn Write + Send>) -> (Log, Writer) {
        let (lines, written) = sync_channel(WAITING);
        let log = Log { lines, lost: Arc::default() };
        (log, Writer(std::thread::spawn(move || write(&written, out))))
    }

    /// Adds a line.
    pub fn add(&self, line: &serde_json::Value) {
        if self.lines.try_send(format!("{line}\n")).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Lines that could not be taken.
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }
}

impl Writer {
    /// Waits until all is written.
    ///
    /// # Errors
    /// The system's, of the first line that could not be written; those after it are lost.
    pub fn finish(self) -> io::Result<()> {
        self.0.join().unwrap_or_else(|_| Err(io::Error::other("the log's writer failed")))
    }
}

fn write(lines: &Receiver<String>, mut out: Box<dyn Write + Send>) -> io::Result<()> {
    for line in lines {
        out.write_all(line.as_bytes())?;
        out.flush()?;
    }
    Ok(())
}
