//! The log: one line of JSON for each ended connection.
//!
//! A separate thread writes the log, so that a slow disk or a blocked reader does not delay
//! connections. Lines that do not fit into its queue are lost and counted.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::libc::ENXIO;

/// Capacity of the queue to the writer, in lines.
const QUEUE_CAPACITY: usize = 16_384;

/// Longest wait for the writer at the end: a blocked reader must not keep the proxy running.
const MAX_END_WAIT: Duration = Duration::from_secs(1);

/// An order to the writer.
#[derive(Debug)]
enum Order {
    Write(String),
    /// Wakes the writer, which then sees [`Shared::reopens`].
    Reopen,
}

/// Sends lines to the writer. Clones share one writer.
#[derive(Debug, Clone)]
pub struct Log {
    orders: SyncSender<Order>,
    shared: Arc<Shared>,
}

/// State shared by the log and its writer.
#[derive(Debug, Default)]
struct Shared {
    /// Number of lines passed to [`Log::add`].
    added: AtomicU64,
    /// Number of lines written to the file.
    written: AtomicU64,
    /// The writer must reopen the file before it handles the next order. A flag, because the queue
    /// may have no space for an order.
    reopens: AtomicBool,
}

/// Waits for the thread that writes the log. The thread ends when the last [`Log`] is dropped.
#[derive(Debug)]
pub struct Writer {
    ended: Receiver<io::Result<()>>,
    shared: Arc<Shared>,
}

/// The file or standard output to which lines are appended.
#[derive(Debug)]
pub struct Output {
    file: File,
    /// `None` for standard output, which cannot be opened again.
    path: Option<PathBuf>,
}

impl Output {
    /// Opens a file for appending; `-` is standard output.
    ///
    /// # Errors
    /// An error of the system, or if no process reads a FIFO.
    pub fn open(path: &Path) -> io::Result<Self> {
        if path.as_os_str() == "-" {
            let file = File::from(io::stdout().as_fd().try_clone_to_owned()?);
            return Ok(Output { file, path: None });
        }
        Ok(Output { file: open_for_append(path)?, path: Some(path.to_owned()) })
    }
}

/// Opens a file without waiting for the reader of a FIFO. Later writes block.
fn open_for_append(path: &Path) -> io::Result<File> {
    let flags = OFlag::O_NONBLOCK.bits();
    let file =
        OpenOptions::new().create(true).append(true).custom_flags(flags).open(path).map_err(|error| {
            match error.raw_os_error() {
                Some(ENXIO) => io::Error::other("no process reads this FIFO: start the reader first"),
                _ => error,
            }
        })?;
    fcntl(&file, FcntlArg::F_SETFL(OFlag::O_APPEND))?;
    Ok(file)
}

impl Log {
    /// Starts a thread that writes lines to `out`.
    pub fn new(out: Output) -> (Log, Writer) {
        let (orders, received) = sync_channel(QUEUE_CAPACITY);
        let (end, ended) = sync_channel(1);
        let shared = Arc::<Shared>::default();
        let of_writer = shared.clone();
        std::thread::spawn(move || end.send(write(&received, out, &of_writer)));
        (Log { orders, shared: shared.clone() }, Writer { ended, shared })
    }

    /// Adds a line.
    pub fn add(&self, line: &serde_json::Value) {
        self.shared.added.fetch_add(1, Ordering::Relaxed);
        // If the queue is full, the line is lost: it counts as added and never as written.
        let _ = self.orders.try_send(Order::Write(format!("{line}\n")));
    }

    /// Reopens the file by its path, because it may have been renamed. This loses no line.
    pub fn reopen(&self) {
        self.shared.reopens.store(true, Ordering::Relaxed);
        // If the queue is full, the writer sees the flag at the next line.
        let _ = self.orders.try_send(Order::Reopen);
    }
}

impl Writer {
    /// Waits until all lines are written, for at most `MAX_END_WAIT`. Returns the number of lost
    /// lines.
    ///
    /// # Errors
    /// The error of the first write that failed; all later lines are lost.
    pub fn finish(self) -> io::Result<u64> {
        match self.ended.recv_timeout(MAX_END_WAIT) {
            Ok(ended) => ended?,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(io::Error::other("the log's writer failed")),
        }
        Ok(self.shared.added.load(Ordering::Relaxed) - self.shared.written.load(Ordering::Relaxed))
    }
}

fn write(orders: &Receiver<Order>, mut out: Output, shared: &Shared) -> io::Result<()> {
    for order in orders {
        if shared.reopens.swap(false, Ordering::Relaxed) {
            reopen(&mut out);
        }
        if let Order::Write(line) = order {
            out.file.write_all(line.as_bytes())?;
            shared.written.fetch_add(1, Ordering::Relaxed);
        }
    }
    Ok(())
}

fn reopen(out: &mut Output) {
    let Some(path) = &out.path else { return };
    match open_for_append(path) {
        Ok(file) => out.file = file,
        Err(error) => {
            eprintln!(
                "umts: --log {}: cannot reopen it ({error}): the log continues in the old file",
                path.display()
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use nix::sys::stat::Mode;
    use nix::unistd::mkfifo;
    use serde_json::json;

    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("umts-log-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        folder
    }

    #[test]
    fn reopened_log_writes_to_a_new_file() {
        let folder = folder("reopen");
        let (path, old) = (folder.join("log"), folder.join("log.1"));
        let (log, writer) = Log::new(Output::open(&path).expect("a file"));
        log.add(&json!(1));
        while fs::read_to_string(&path).expect("a file") != "1\n" {
            std::thread::yield_now();
        }
        fs::rename(&path, &old).expect("the file can be renamed");
        log.reopen();
        log.add(&json!(2));
        drop(log);
        assert_eq!(writer.finish().expect("all lines are written"), 0);
        assert_eq!(fs::read_to_string(&old).expect("a file"), "1\n");
        assert_eq!(fs::read_to_string(&path).expect("a file"), "2\n");
        fs::remove_dir_all(folder).expect("a folder");
    }

    #[test]
    fn log_is_reopened_with_a_full_queue() {
        let folder = folder("full");
        let (path, old) = (folder.join("log"), folder.join("log.1"));
        let output = Output::open(&path).expect("a file");
        let (orders, received) = sync_channel(1);
        let log = Log { orders, shared: Arc::default() };
        log.add(&json!(1));
        fs::rename(&path, &old).expect("the file can be renamed");
        // The queue has no space for this order.
        log.reopen();
        let shared = log.shared.clone();
        drop(log);
        write(&received, output, &shared).expect("all lines are written");
        assert_eq!(fs::read_to_string(&old).expect("a file"), "");
        assert_eq!(fs::read_to_string(&path).expect("a file"), "1\n");
        fs::remove_dir_all(folder).expect("a folder");
    }

    #[test]
    fn blocked_reader_does_not_delay_the_end() {
        let (reader, writer) = nix::unistd::pipe().expect("a pipe");
        let (log, written) = Log::new(Output { file: File::from(writer), path: None });
        const LINES: u64 = 2000;
        for _ in 0..LINES {
            log.add(&json!("x".repeat(1000)));
        }
        drop(log);
        let lost = written.finish().expect("nothing failed");
        assert!((1..LINES).contains(&lost), "{lost}");
        drop(reader);
    }

    #[test]
    fn fifo_is_written_only_with_a_reader() {
        let folder = folder("fifo");
        let path = folder.join("fifo");
        mkfifo(&path, Mode::S_IRWXU).expect("a FIFO");
        let error = Output::open(&path).expect_err("without a reader").to_string();
        assert!(error.starts_with("no process reads this FIFO"), "{error}");
        let flags = OFlag::O_NONBLOCK.bits();
        let mut reader = OpenOptions::new().read(true).custom_flags(flags).open(&path).expect("a reader");
        let (log, writer) = Log::new(Output::open(&path).expect("the FIFO has a reader"));
        log.add(&json!("line"));
        drop(log);
        assert_eq!(writer.finish().expect("all lines are written"), 0);
        let mut received = String::new();
        io::Read::read_to_string(&mut reader, &mut received).expect("the written line");
        assert_eq!(received, "\"line\"\n");
        fs::remove_dir_all(folder).expect("a folder");
    }
}
