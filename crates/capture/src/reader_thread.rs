//! The thread that reads a capture ahead of the analysis. It parses the packets, sorts them by time
//! within a window, and passes them in batches. Batches are returned and filled again, so memory is
//! bounded and no packet needs an allocation.

use std::io::Read;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use umts_units::Time;

use crate::blocks::{Blocks, Ending};
use crate::headers::parse;
use crate::order::TimeWindow;
use crate::packet::{Packet, Protocol, SkipReason};
use crate::reader::Reason;

/// Number of packets in a batch: fits into the processor's shared cache.
const BATCH_PACKETS: usize = 1024;
/// A batch is passed on when it covers this number of octets of the file, even if it is not full.
const BATCH_OCTETS: u64 = 1 << 20;
/// Number of batches in circulation.
const BATCH_COUNT: usize = 4;
/// Time to wait for a slow source before [`ReaderThread::next`] returns `Pending`.
const MAX_WAIT: Duration = Duration::from_millis(100);

/// A packet of the capture.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Record {
    pub time: Time,
    /// Octets on the link.
    pub length: u32,
    /// The protocol of `packet`, or why it could not be parsed.
    pub parsed: Result<Protocol, SkipReason>,
    pub packet: Packet,
}

impl Record {
    fn empty() -> Self {
        Record { time: Time::ZERO, length: 0, parsed: Err(SkipReason::Short), packet: Packet::default() }
    }
}

/// Packets in the order of their times.
#[derive(Debug)]
pub(crate) struct Batch {
    /// The packets, then unused records.
    records: Vec<Record>,
    /// Number of packets.
    used: usize,
    /// Octets of the decompressed file that have been read.
    pub offset: u64,
    /// Octets of the file itself that have been read.
    pub position: u64,
}

impl Batch {
    fn new() -> Self {
        Batch { records: vec![Record::empty(); BATCH_PACKETS], used: 0, offset: 0, position: 0 }
    }

    pub fn records(&self) -> &[Record] {
        &self.records[..self.used]
    }
}

/// How reading ended.
#[derive(Debug)]
pub(crate) struct End {
    pub ending: Result<Ending, Reason>,
    pub offset: u64,
    pub warnings: Vec<String>,
}

/// The next output of a [`ReaderThread`].
#[derive(Debug)]
pub(crate) enum ReaderOutput {
    Batch(Batch),
    /// The source is slow: no batch is ready yet.
    Pending,
    End(End),
}

/// The thread that reads a capture.
#[derive(Debug)]
pub(crate) struct ReaderThread {
    full: Receiver<Result<Batch, End>>,
    empty: SyncSender<Batch>,
}

impl ReaderThread {
    /// Starts the thread. It ends with the capture, or after the `ReaderThread` is dropped.
    pub fn start(source: impl Read + Send + 'static) -> Self {
        let (to_full, full) = sync_channel(BATCH_COUNT);
        let (empty, from_empty) = sync_channel(BATCH_COUNT + 1);
        for _ in 0..BATCH_COUNT {
            empty.send(Batch::new()).expect("both ends of the channel are here");
        }
        thread::spawn(move || {
            let end = read_all(source, &to_full, &from_empty);
            // The receiver may have been dropped.
            let _ = to_full.send(Err(end));
        });
        ReaderThread { full, empty }
    }

    /// Returns the next output. Must not be called after `End`.
    pub fn next(&mut self) -> ReaderOutput {
        match self.full.recv_timeout(MAX_WAIT) {
            Ok(Ok(batch)) => ReaderOutput::Batch(batch),
            Ok(Err(end)) => ReaderOutput::End(end),
            Err(RecvTimeoutError::Timeout) => ReaderOutput::Pending,
            Err(RecvTimeoutError::Disconnected) => {
                unreachable!("the thread sends its end and does not panic")
            }
        }
    }

    /// Returns a batch to be filled again.
    pub fn recycle(&mut self, batch: Batch) {
        // Fails if the thread has ended, which needs no batch.
        let _ = self.empty.send(batch);
    }
}

/// Reads the capture into empty batches, and sends the full ones.
fn read_all(
    source: impl Read + Send + 'static,
    full: &SyncSender<Result<Batch, End>>,
    empty: &Receiver<Batch>,
) -> End {
    let blocks = match Blocks::open(source) {
        Ok(blocks) => blocks,
        Err(reason) => return End { ending: Err(reason), offset: 0, warnings: Vec::new() },
    };
    let mut capture = OpenCapture { blocks, window: TimeWindow::new(Record::empty), ending: None };
    let ending = capture.pass_on(full, empty);
    let OpenCapture { blocks, window, .. } = &capture;
    let warnings = match ending {
        Ok(_) => blocks.warnings().chain(reordering_warning(window.moved)).collect(),
        Err(_) => Vec::new(),
    };
    End { ending, offset: blocks.offset(), warnings }
}

/// A capture that is being read.
struct OpenCapture {
    blocks: Blocks,
    /// The packets that were read last. A packet leaves when the window is full, or after the end
    /// of the file.
    window: TimeWindow<Record>,
    /// How the file ended.
    ending: Option<Ending>,
}

impl OpenCapture {
    /// Fills and sends batches until the capture ends. The last batch is empty. Fails with
    /// [`Reason::Stopped`] if the `ReaderThread` was dropped.
    fn pass_on(
        &mut self,
        full: &SyncSender<Result<Batch, End>>,
        empty: &Receiver<Batch>,
    ) -> Result<Ending, Reason> {
        loop {
            let mut batch = empty.recv().map_err(|_| Reason::Stopped)?;
            self.fill(&mut batch)?;
            let is_empty = batch.used == 0;
            full.send(Ok(batch)).map_err(|_| Reason::Stopped)?;
            if let Some(ending) = self.ending.filter(|_| is_empty) {
                return Ok(ending);
            }
        }
    }

    /// Fills a batch. The batch may be empty while the window fills, and is empty after the end.
    fn fill(&mut self, batch: &mut Batch) -> Result<(), Reason> {
        let OpenCapture { blocks, window, ending } = self;
        batch.used = 0;
        let limit = blocks.offset() + BATCH_OCTETS;
        while batch.used < BATCH_PACKETS && (blocks.offset() < limit || ending.is_some()) {
            if window.is_full() || ending.is_some() {
                let Some(record) = window.pop() else { break };
                batch.records[batch.used] = *record;
                batch.used += 1;
            }
            if ending.is_none() {
                *ending = blocks.next(|captured| {
                    let record = window.next_slot();
                    (record.time, record.length) = (captured.time, captured.length);
                    record.parsed = parse(captured.link, captured.bytes, captured.length, &mut record.packet);
                    window.push(captured.time);
                })?;
            }
        }
        (batch.offset, batch.position) = (blocks.offset(), blocks.position());
        Ok(())
    }
}

/// Returns a warning if packets were sorted by time.
pub(crate) fn reordering_warning(packets: u64) -> Option<String> {
    (packets > 0).then(|| {
        format!("{packets} packets were not in the order of their times in the file and were reordered")
    })
}
