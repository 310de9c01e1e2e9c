//! Analysis of capture files, pcap and pcapng, in one pass and bounded memory.

use std::fs::File;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::analyser::{Analyser, Analysis, ConnectionRow};
use crate::blocks::Ending;
use crate::compressed::Fault;
use crate::listing::ListingRange;
use crate::reader_thread::{ReaderOutput, ReaderThread, Record};

/// Interval of progress reports, in bytes.
const PROGRESS_INTERVAL: u64 = 8 << 20;
/// Minimum number of rows that are passed to `finished` at once.
const ROWS_AT_ONCE: usize = 4096;

/// A capture could not be read.
#[derive(Debug, Error)]
#[error("cannot read the capture {}, byte {offset}: {reason}", path.display())]
pub struct ReadError {
    /// The file.
    pub path: PathBuf,
    /// Offset in the file, in bytes. For a compressed file, in its content.
    pub offset: u64,
    /// The reason.
    #[source]
    pub reason: Reason,
}

/// Why a capture could not be read.
#[derive(Debug, Error)]
pub enum Reason {
    /// An error of the operating system.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file is empty.
    #[error("the file is empty")]
    Empty,
    /// The file is compressed in a format that is not supported, or twice.
    #[error("the compression of the file is not supported (gzip, Zstandard and LZ4 are): unpack it first")]
    Compressed,
    /// The file is compressed, and cut off or damaged before a capture begins.
    #[error("the compressed file is cut off or damaged before the beginning of the capture")]
    NotUnpacked,
    /// The clock of an interface has an impossible unit.
    #[error(
        "interface {interface} counts time in units of {resolution}, which no clock has: \
         the times of its packets are not known"
    )]
    Clock {
        /// Number of the interface in its section of the file.
        interface: u32,
        /// The unit.
        resolution: String,
    },
    /// The file is neither pcap nor pcapng.
    #[error("this is neither pcap nor pcapng")]
    NoCapture,
    /// `progress` returned `Break`.
    #[error("stopped")]
    Stopped,
}

/// Options of an analysis.
#[derive(Default)]
pub struct ReadOptions<'a> {
    /// Number of a connection for which time-sequence tables are collected.
    pub time_sequence: Option<u64>,
    /// Packets to list. Takes precedence over `time_sequence`.
    pub packets: Option<ListingRange>,
    /// Maximum number of open connections, and of connections with rows of their own, which are the
    /// first ones.
    pub most_connections: Option<usize>,
    /// Number of a connection that always has a row.
    pub connection: Option<u64>,
    /// Called with the fraction of the file that has been read, from 0 to 1, every few megabytes
    /// and while a source is slow. `Break` stops the analysis.
    pub progress: Option<&'a mut dyn FnMut(f64) -> ControlFlow<()>>,
    /// Receives rows of closed connections in batches, so that they need not be kept in memory.
    pub finished: Option<&'a mut dyn FnMut(Vec<ConnectionRow>)>,
}

/// The path that stands for standard input.
const STANDARD_INPUT: &str = "-";

/// Analyses a file, or standard input if `path` is `-`. A file that is cut off or damaged is
/// analysed up to that point, with a warning.
///
/// # Errors
/// If the file cannot be opened or read, or does not begin like a capture.
pub fn analyse_file(path: &Path, options: ReadOptions<'_>) -> Result<Analysis, ReadError> {
    if path == Path::new(STANDARD_INPUT) {
        return analyse(path, io::stdin(), u64::MAX, options);
    }
    let at_start = |source: io::Error| ReadError { path: path.to_owned(), offset: 0, reason: source.into() };
    let file = File::open(path).map_err(at_start)?;
    let size = file.metadata().map_err(at_start)?.len();
    analyse(path, file, size, options)
}

/// Analyses a capture from `source`. `size` is its approximate size in octets, for progress; `path`
/// is for messages.
///
/// A separate thread reads and parses the packets while this one analyses earlier packets.
///
/// # Errors
/// As [`analyse_file`].
pub fn analyse<R: Read + Send + 'static>(
    path: &Path,
    source: R,
    size: u64,
    mut options: ReadOptions<'_>,
) -> Result<Analysis, ReadError> {
    let error = |offset: u64, reason: Reason| ReadError { path: path.to_owned(), offset, reason };
    let mut reader = ReaderThread::start(source);
    let mut analyser = new_analyser(&options);
    let (mut reported, mut position) = (0, 0);
    let end = loop {
        let offset = match reader.next() {
            ReaderOutput::Batch(batch) => {
                for Record { time, length, parsed, packet } in batch.records() {
                    analyser.process_parsed(*time, *length, *parsed, packet);
                }
                let offset = batch.offset;
                position = batch.position;
                reader.recycle(batch);
                offset
            }
            ReaderOutput::End(end) => break end,
            // No progress, but `progress` may stop the analysis.
            ReaderOutput::Pending => reported,
        };
        if let Some(finished) = options.finished.as_mut()
            && analyser.finished() >= ROWS_AT_ONCE
        {
            finished(analyser.take_finished());
        }
        if offset - reported >= PROGRESS_INTERVAL {
            reported = offset;
        } else if offset > reported {
            continue;
        }
        let fraction = (position as f64 / size.max(1) as f64).min(1.0);
        if let Some(progress) = options.progress.as_mut()
            && progress(fraction).is_break()
        {
            return Err(error(reported, Reason::Stopped));
        }
    };
    let ending = end.ending.map_err(|reason| error(end.offset, reason))?;
    let mut analysis = match options.finished.as_mut() {
        Some(finished) => analyser.finish_with(finished),
        None => analyser.finish(),
    };
    let offset = end.offset;
    analysis.warnings.splice(0..0, damage_warning(ending, offset).into_iter().chain(end.warnings));
    Ok(analysis)
}

/// Returns a warning if the file did not end properly.
pub(crate) fn damage_warning(ending: Ending, offset: u64) -> Option<String> {
    match ending {
        Ending::Complete => None,
        Ending::CutOff => Some(format!(
            "the file ends inside the record that begins at byte {offset}: analysed up to there"
        )),
        Ending::Damaged => Some(format!("the file is damaged at byte {offset}: analysed up to there")),
        Ending::NotUnpacked(Fault::CutOff) => {
            Some(format!("the compressed file is cut off: analysed up to byte {offset} of its content"))
        }
        Ending::NotUnpacked(Fault::Damaged) => {
            Some(format!("the compressed file is damaged: analysed up to byte {offset} of its content"))
        }
        Ending::NotUnpacked(Fault::TooLarge) => Some(format!(
            "the compressed file unpacks to more than a thousand times its size: analysed up to byte {offset} of \
             its content"
        )),
    }
}

fn new_analyser(options: &ReadOptions<'_>) -> Analyser {
    let mut analyser = Analyser::new();
    if let Some(connections) = options.most_connections {
        analyser = analyser.with_limit(connections);
    }
    if let Some(connection) = options.connection {
        analyser = analyser.with_row_of(connection);
    }
    match (options.packets, options.time_sequence) {
        (Some(range), _) => analyser.with_packets(range),
        (None, Some(connection)) => analyser.with_time_sequence(connection),
        (None, None) => analyser,
    }
}
