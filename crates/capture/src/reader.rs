//! Capture files, pcap and pcapng, read from the front in bounded memory.

use std::fs::File;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::analyser::{Analyser, Analysis, ConnectionRow};
use crate::blocks::Ending;
use crate::compressed::Fault;
use crate::reader_thread::{Next, Reading, Record};

/// Progress is told once for so many bytes.
const STEP: u64 = 8 << 20;
/// Rows are handed out when there are so many.
const ROWS_AT_ONCE: usize = 4096;

/// A capture could not be read.
#[derive(Debug, Error)]
#[error("cannot read the capture {}, byte {offset}: {reason}", path.display())]
pub struct ReadError {
    /// The file.
    pub path: PathBuf,
    /// Where in the file.
    pub offset: u64,
    /// What was wrong.
    #[source]
    pub reason: Reason,
}

/// Why a capture could not be read.
#[derive(Debug, Error)]
pub enum Reason {
    /// The system refused.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// There is nothing in it.
    #[error("the file is empty")]
    Empty,
    /// Compressed in a format that is not supported, or twice.
    #[error(
        "the file is compressed in a way that is not read here (gzip, Zstandard and LZ4 are): unpack it first"
    )]
    Compressed,
    /// Compressed, and cut off or damaged before a capture begins.
    #[error("the compressed file is cut off or damaged before a capture begins in it")]
    NotUnpacked,
    /// The clock of an interface has units that no clock has.
    #[error(
        "interface {interface} counts time in units of {resolution}, as no clock does: \
         the times of its packets are not known"
    )]
    Clock {
        /// The interface's number in its section of the file.
        interface: u32,
        /// The unit.
        resolution: String,
    },
    /// Something else.
    #[error("this is neither pcap nor pcapng")]
    NoCapture,
    /// `progress` asked for it.
    #[error("stopped")]
    Stopped,
}

/// What a capture is asked for.
#[derive(Default)]
pub struct ReadOptions<'a> {
    /// The number of a connection whose course is wanted.
    pub time_sequence: Option<u64>,
    /// The most connections that are kept at a time, and the most that have rows of their own: the first ones.
    pub most_connections: Option<usize>,
    /// The number of a connection that has a row in any case.
    pub connection: Option<u64>,
    /// Told the part of the file that is read, from 0 to 1, every few megabytes and while a source is slow; `Break` stops.
    pub progress: Option<&'a mut dyn FnMut(f64) -> ControlFlow<()>>,
    /// Takes the rows of connections that are over, so that a long capture does not keep them.
    pub finished: Option<&'a mut dyn FnMut(Vec<ConnectionRow>)>,
}

/// The name under which standard input is analysed.
const STANDARD_INPUT: &str = "-";

/// Analyses a file, or standard input if `path` is `-`. One that is cut off or damaged is analysed up to there, with a
/// warning.
///
/// # Errors
/// If the file cannot be opened or read, or does not begin as a capture.
pub fn analyse_file(path: &Path, options: ReadOptions<'_>) -> Result<Analysis, ReadError> {
    if path == Path::new(STANDARD_INPUT) {
        return analyse(path, io::stdin(), u64::MAX, options);
    }
    let at_start = |source: io::Error| ReadError { path: path.to_owned(), offset: 0, reason: source.into() };
    let file = File::open(path).map_err(at_start)?;
    let size = file.metadata().map_err(at_start)?.len();
    analyse(path, file, size, options)
}

/// Analyses what `source` holds, about `size` octets, which progress is measured by; `path` is for messages.
///
/// A thread of its own reads, and looks into the packets' headers, while this one analyses what was read before.
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
    let mut reading = Reading::start(source);
    let mut analyser = analyser(&options);
    let (mut told, mut position) = (0, 0);
    let end = loop {
        let offset = match reading.next() {
            Next::Batch(batch) => {
                for Record { time, length, read, packet } in batch.records() {
                    analyser.read(*time, *length, *read, packet);
                }
                let offset = batch.offset;
                position = batch.position;
                reading.give_back(batch);
                offset
            }
            Next::End(end) => break end,
            Next::Nothing => told,
        };
        if let Some(finished) = options.finished.as_mut()
            && analyser.finished() >= ROWS_AT_ONCE
        {
            finished(analyser.take_finished());
        }
        if offset - told >= STEP {
            told = offset;
        } else if offset > told {
            continue;
        }
        let fraction = (position as f64 / size.max(1) as f64).min(1.0);
        if let Some(progress) = options.progress.as_mut()
            && progress(fraction).is_break()
        {
            return Err(error(told, Reason::Stopped));
        }
    };
    let ending = end.ending.map_err(|reason| error(end.offset, reason))?;
    let mut analysis = match options.finished.as_mut() {
        Some(finished) => analyser.finish_with(finished),
        None => analyser.finish(),
    };
    let offset = end.offset;
    analysis.warnings.splice(0..0, damage(ending, offset).into_iter().chain(end.warnings));
    Ok(analysis)
}

/// What to say of a file that ended so.
pub(crate) fn damage(ending: Ending, offset: u64) -> Option<String> {
    match ending {
        Ending::Complete => None,
        Ending::CutOff => {
            Some(format!("the file ends inside of what begins at byte {offset}: analysed up to there"))
        }
        Ending::Damaged => Some(format!("the file is damaged at byte {offset}: analysed up to there")),
        Ending::NotUnpacked(Fault::CutOff) => {
            Some(format!("the compressed file is cut off: analysed up to byte {offset} of its content"))
        }
        Ending::NotUnpacked(Fault::Damaged) => {
            Some(format!("the compressed file is damaged: analysed up to byte {offset} of its content"))
        }
        Ending::NotUnpacked(Fault::TooMuch) => Some(format!(
            "the compressed file unpacks to more than a thousand times its size: analysed up to byte {offset} of \
             its content"
        )),
    }
}

fn analyser(options: &ReadOptions<'_>) -> Analyser {
    let mut analyser = Analyser::new();
    if let Some(connections) = options.most_connections {
        analyser = analyser.with_limit(connections);
    }
    if let Some(connection) = options.connection {
        analyser = analyser.with_row_of(connection);
    }
    match options.time_sequence {
        Some(connection) => analyser.with_time_sequence(connection),
        None => analyser,
    }
}
