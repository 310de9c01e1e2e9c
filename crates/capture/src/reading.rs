//! The thread that reads a capture ahead of the analysis: packets in batches, which go back to be filled again, so that
//! memory is bounded and nothing is allocated for a packet.

use std::io::Read;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use umts_units::Time;

use crate::blocks::{Blocks, Ending};
use crate::packet::{Packet, Skipped, parse};
use crate::reader::Reason;

/// Packets in a batch: what fits into the cache that processors share.
const BATCH: usize = 1024;
/// A batch is handed over when it covers so many octets of the file, full or not.
const MOST_OCTETS: u64 = 1 << 20;
/// Batches on their way.
const AHEAD: usize = 4;
/// How long to wait for a slow source before saying that there is nothing.
const PATIENCE: Duration = Duration::from_millis(100);

/// A packet that was read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Record {
    pub time: Time,
    /// Octets on the link.
    pub length: u32,
    /// Whether `packet` holds it.
    pub read: Result<(), Skipped>,
    pub packet: Packet,
}

/// Packets in the order of the file.
#[derive(Debug)]
pub(crate) struct Batch {
    records: Vec<Record>,
    used: usize,
    /// Where in the file reading went on after them.
    pub offset: u64,
}

impl Batch {
    fn new() -> Self {
        let empty =
            Record { time: Time::ZERO, length: 0, read: Err(Skipped::Short), packet: Packet::default() };
        Batch { records: vec![empty; BATCH], used: 0, offset: 0 }
    }

    /// The packets.
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

/// What comes next of a capture.
#[derive(Debug)]
pub(crate) enum Next {
    Batch(Batch),
    /// The source is slow.
    Nothing,
    End(End),
}

/// A capture that is being read.
#[derive(Debug)]
pub(crate) struct Reading {
    full: Receiver<Result<Batch, End>>,
    empty: SyncSender<Batch>,
}

impl Reading {
    /// Begins to read. The thread ends with the capture, or when nobody takes what it reads.
    pub fn start(source: impl Read + Send + 'static) -> Self {
        let (to_full, full) = sync_channel(AHEAD);
        let (empty, from_empty) = sync_channel(AHEAD + 1);
        (0..AHEAD).for_each(|_| empty.send(Batch::new()).expect("both ends of the channel are here"));
        thread::spawn(move || {
            let end = read(source, &to_full, &from_empty);
            // Nobody may be there any more to hear it.
            let _ = to_full.send(Err(end));
        });
        Reading { full, empty }
    }

    /// What comes next; not to be asked after the end.
    pub fn next(&mut self) -> Next {
        match self.full.recv_timeout(PATIENCE) {
            Ok(Ok(batch)) => Next::Batch(batch),
            Ok(Err(end)) => Next::End(end),
            Err(RecvTimeoutError::Timeout) => Next::Nothing,
            Err(RecvTimeoutError::Disconnected) => {
                unreachable!("the thread tells its end, and does not panic")
            }
        }
    }

    /// Gives a batch back to be filled again.
    pub fn give_back(&mut self, batch: Batch) {
        // The thread takes none any more when it is through.
        let _ = self.empty.send(batch);
    }
}

fn read(source: impl Read, full: &SyncSender<Result<Batch, End>>, empty: &Receiver<Batch>) -> End {
    let mut blocks = match Blocks::open(source) {
        Ok(blocks) => blocks,
        Err(reason) => return End { ending: Err(reason), offset: 0, warnings: Vec::new() },
    };
    let stopped = |offset| End { ending: Err(Reason::Stopped), offset, warnings: Vec::new() };
    loop {
        let Ok(mut batch) = empty.recv() else { return stopped(blocks.offset()) };
        let ending = fill(&mut batch, &mut blocks);
        if full.send(Ok(batch)).is_err() {
            return stopped(blocks.offset());
        }
        if let Some(ending) = ending.transpose() {
            let warnings = blocks.warnings().collect();
            return End { ending: ending.map_err(Reason::Io), offset: blocks.offset(), warnings };
        }
    }
}

/// Fills a batch; tells how the capture ended if it did.
fn fill(batch: &mut Batch, blocks: &mut Blocks<impl Read>) -> std::io::Result<Option<Ending>> {
    batch.used = 0;
    let limit = blocks.offset() + MOST_OCTETS;
    let mut ending = Ok(None);
    while batch.used < BATCH && blocks.offset() < limit && matches!(ending, Ok(None)) {
        ending = blocks.next(|captured| {
            let record = &mut batch.records[batch.used];
            (record.time, record.length) = (captured.time, captured.length);
            record.read = parse(captured.link, captured.bytes, captured.length, &mut record.packet);
            batch.used += 1;
        });
    }
    batch.offset = blocks.offset();
    ending
}
