//! One direction of a connection: copies data in order from a source to a sink, then the end of the
//! stream.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Instant;

use nix::fcntl::{SpliceFFlags, splice};
use nix::unistd::read;
use socket2::SockRef;
use tokio::io::Interest;
use tokio::net::TcpStream;

use crate::relay::pipes::{COPY_LIMIT, Pipe, Pipes};

/// Moves of one direction before other tasks of the worker run.
const MAX_MOVES_PER_POLL: u32 = 16;

/// Progress of one direction. Other threads read it while the relay runs.
#[derive(Debug, Default)]
pub struct Progress {
    /// Bytes that the kernel accepted for the sink.
    pub octets: AtomicU64,
    /// Bytes that were read from the source and not yet written to the sink.
    pub held: AtomicU64,
    /// Number of stalls: the send buffer towards the sink was full.
    pub stalls: AtomicU64,
    /// Duration of all stalls, in nanoseconds.
    pub stalled_ns: AtomicU64,
}

/// The sockets of one direction, and the means by which its data move.
#[derive(Debug, Clone, Copy)]
pub struct Direction<'a> {
    pub source: &'a TcpStream,
    pub sink: &'a TcpStream,
    /// Pipes of the worker.
    pub pipes: &'a Pipes,
    /// Bytes that one call moves at most.
    pub chunk: usize,
    pub progress: &'a Progress,
}

/// An error of a relay, by the socket that it concerns.
#[derive(Debug)]
pub enum RelayError {
    /// An error of the source.
    Source(io::Error),
    /// An error of the sink.
    Sink(io::Error),
    /// No pipe is available, for example because this host has no free descriptor.
    NoPipe,
}

/// Data between the source and the sink.
#[derive(Debug, Default)]
enum Buffered {
    #[default]
    Nothing,
    /// Data in a pipe.
    Pipe {
        pipe: Pipe,
        /// Number of bytes in the pipe.
        octets: usize,
    },
    /// Data in memory.
    Memory {
        octets: Box<[u8]>,
        /// Offset of the first byte that is not written.
        from: usize,
    },
}

/// State of one direction.
#[derive(Debug, Default)]
pub struct Pump {
    /// Data that were read from the source and not yet written to the sink.
    held: Buffered,
    /// The last read filled the buffer, so the next data are spliced.
    splices_next: bool,
    /// Whether the pool counts the pipe in `held` as full.
    is_counted_as_full: bool,
    /// The source has sent the end of its stream.
    has_source_ended: bool,
    /// The sink has received all data and the end of the stream. If this direction is the last to
    /// end, closing the socket sends that end.
    pub has_ended: bool,
    /// Since when the sink accepts no data because its send buffer is full.
    stalled_since: Option<Instant>,
}

impl Pump {
    /// Moves data. Returns ready when the stream has ended; sets `has_moved` on progress. With
    /// `is_last`, the other direction has already ended: the caller then closes both sockets, which
    /// signals the end to the sink.
    pub fn poll(
        &mut self,
        cx: &mut Context<'_>,
        direction: Direction<'_>,
        is_last: bool,
        has_moved: &mut bool,
    ) -> Poll<Result<(), RelayError>> {
        if self.has_ended {
            return Poll::Ready(Ok(()));
        }
        for _ in 0..MAX_MOVES_PER_POLL {
            if !matches!(self.held, Buffered::Nothing) {
                ready!(self.poll_write(cx, direction))?;
            } else if self.has_source_ended {
                if !is_last {
                    let sink = SockRef::from(direction.sink);
                    sink.shutdown(std::net::Shutdown::Write).map_err(RelayError::Sink)?;
                }
                self.has_ended = true;
                *has_moved = true;
                return Poll::Ready(Ok(()));
            } else if self.splices_next {
                ready!(self.poll_splice(cx, direction))?;
            } else {
                ready!(self.poll_copy(cx, direction))?;
            }
            *has_moved = true;
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Copies a small amount of data. Data that the sink does not accept at once are held in
    /// memory.
    fn poll_copy(&mut self, cx: &mut Context<'_>, direction: Direction<'_>) -> Poll<Result<(), RelayError>> {
        let Direction { source, pipes, chunk, .. } = direction;
        let mut copy_buffer = pipes.copy_buffer();
        let copy_buffer = &mut copy_buffer[..chunk.min(COPY_LIMIT)];
        loop {
            ready!(source.poll_read_ready(cx)).map_err(RelayError::Source)?;
            match source.try_read(copy_buffer) {
                Ok(0) => {
                    self.has_source_ended = true;
                    return Poll::Ready(Ok(()));
                }
                Ok(octets) => {
                    self.splices_next = octets == copy_buffer.len();
                    return Poll::Ready(self.write_copied(&copy_buffer[..octets], direction));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(RelayError::Source(error))),
            }
        }
    }

    /// Writes copied data to the sink, and holds the rest in memory.
    fn write_copied(&mut self, octets: &[u8], direction: Direction<'_>) -> Result<(), RelayError> {
        let Direction { sink, progress, .. } = direction;
        let written = match sink.try_write(octets) {
            Ok(written) => written,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
            Err(error) => return Err(RelayError::Sink(error)),
        };
        progress.octets.fetch_add(written as u64, Ordering::Relaxed);
        if written < octets.len() {
            progress.held.store((octets.len() - written) as u64, Ordering::Relaxed);
            self.held = Buffered::Memory { octets: octets[written..].into(), from: 0 };
        }
        Ok(())
    }

    /// Moves octets from the source into a pipe, without copying, or copies them if the kernel
    /// splices none. Returns when some octets have moved or the source has ended.
    fn poll_splice(
        &mut self,
        cx: &mut Context<'_>,
        direction: Direction<'_>,
    ) -> Poll<Result<(), RelayError>> {
        let Direction { source, pipes, chunk, progress, .. } = direction;
        loop {
            ready!(source.poll_read_ready(cx)).map_err(RelayError::Source)?;
            let pipe = pipes.take().map_err(|_| RelayError::NoPipe)?;
            let mut copy_buffer = pipes.copy_buffer();
            let copy_buffer = &mut copy_buffer[..chunk.min(COPY_LIMIT)];
            let outcome =
                source.try_io(Interest::READABLE, || read_source(source, &pipe, chunk, copy_buffer));
            if let Ok(ReadOutcome::Spliced(octets)) = outcome {
                progress.held.store(octets as u64, Ordering::Relaxed);
                self.splices_next = octets >= chunk.min(COPY_LIMIT);
                self.held = Buffered::Pipe { pipe, octets };
                return Poll::Ready(Ok(()));
            }
            pipes.put_back(pipe);
            match outcome {
                Ok(ReadOutcome::End) => {
                    self.has_source_ended = true;
                    return Poll::Ready(Ok(()));
                }
                Ok(ReadOutcome::Copied(octets)) => {
                    return Poll::Ready(self.write_copied(&copy_buffer[..octets], direction));
                }
                Ok(ReadOutcome::Spliced(_)) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(RelayError::Source(error))),
            }
        }
    }

    /// Writes the held data until none is left or the sink's send buffer is full.
    fn poll_write(&mut self, cx: &mut Context<'_>, direction: Direction<'_>) -> Poll<Result<(), RelayError>> {
        let Direction { sink, pipes, progress, .. } = direction;
        loop {
            if sink.poll_write_ready(cx).map_err(RelayError::Sink)?.is_pending() {
                self.stall(pipes, progress).map_err(|_| RelayError::NoPipe)?;
                return Poll::Pending;
            }
            let (written, remaining) = match &mut self.held {
                Buffered::Nothing => return Poll::Ready(Ok(())),
                Buffered::Pipe { pipe, octets } => {
                    let written = sink.try_io(Interest::WRITABLE, || splice_bytes(&pipe.read, sink, *octets));
                    *octets -= written.as_ref().map_or(0, |&written| written);
                    (written, *octets)
                }
                Buffered::Memory { octets, from } => {
                    let written = sink.try_write(&octets[*from..]);
                    *from += written.as_ref().map_or(0, |&written| written);
                    (written, octets.len() - *from)
                }
            };
            match written {
                Ok(written) => {
                    progress.octets.fetch_add(written as u64, Ordering::Relaxed);
                    progress.held.store(remaining as u64, Ordering::Relaxed);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
                Err(error) => return Poll::Ready(Err(RelayError::Sink(error))),
            }
            if remaining == 0 {
                self.finish_write(pipes, progress);
                return Poll::Ready(Ok(()));
            }
        }
    }

    /// Records a stall. If the maximum number of stalled directions hold a pipe already, moves the
    /// data to memory and returns the pipe to the pool.
    fn stall(&mut self, pipes: &Pipes, progress: &Progress) -> io::Result<()> {
        if self.stalled_since.is_none() {
            self.stalled_since = Some(Instant::now());
            progress.stalls.fetch_add(1, Ordering::Relaxed);
        }
        if self.is_counted_as_full || !matches!(self.held, Buffered::Pipe { .. }) {
            return Ok(());
        }
        if pipes.reserve_full() {
            self.is_counted_as_full = true;
            return Ok(());
        }
        let Buffered::Pipe { pipe, octets } = std::mem::take(&mut self.held) else { return Ok(()) };
        let octets = read_pipe(&pipe.read, octets)?;
        pipes.put_back(pipe);
        self.held = Buffered::Memory { octets, from: 0 };
        Ok(())
    }

    /// Ends a stall after all held data are written, and returns the pipe.
    fn finish_write(&mut self, pipes: &Pipes, progress: &Progress) {
        if let Some(since) = self.stalled_since.take() {
            let waited = u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX);
            progress.stalled_ns.fetch_add(waited, Ordering::Relaxed);
        }
        if std::mem::take(&mut self.is_counted_as_full) {
            pipes.release_full();
        }
        if let Buffered::Pipe { pipe, .. } = std::mem::take(&mut self.held) {
            pipes.put_back(pipe);
        }
    }

    /// Discards the held data. A pipe that contains data cannot be used again.
    pub fn discard(&mut self, pipes: &Pipes) {
        if std::mem::take(&mut self.is_counted_as_full) {
            pipes.release_full();
        }
        self.held = Buffered::Nothing;
    }
}

/// Result of reading from a source.
enum ReadOutcome {
    /// Number of bytes moved into the pipe.
    Spliced(usize),
    /// Number of bytes read into memory.
    Copied(usize),
    /// End of the stream.
    End,
}

/// Reads from a source into the pipe, or into memory if the kernel does not splice. `splice` stops
/// at a mark of urgent data: it then reports that there are no data, or the end if a FIN follows
/// (`tcp_read_sock`). Only a read distinguishes these cases.
fn read_source(
    source: &TcpStream,
    pipe: &Pipe,
    chunk: usize,
    copy_buffer: &mut [u8],
) -> io::Result<ReadOutcome> {
    match splice_bytes(source, &pipe.write, chunk) {
        Ok(octets @ 1..) => return Ok(ReadOutcome::Spliced(octets)),
        Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Err(error),
        Ok(0) | Err(_) => {}
    }
    match read(source, copy_buffer).map_err(io::Error::from)? {
        0 => Ok(ReadOutcome::End),
        octets => Ok(ReadOutcome::Copied(octets)),
    }
}

/// Moves bytes inside the kernel. Without `SPLICE_F_MORE`, which delays a last partial segment by
/// up to 200 ms.
fn splice_bytes(
    from: impl std::os::fd::AsFd,
    to: impl std::os::fd::AsFd,
    octets: usize,
) -> io::Result<usize> {
    let flags = SpliceFFlags::SPLICE_F_NONBLOCK | SpliceFFlags::SPLICE_F_MOVE;
    splice(from, None, to, None, octets, flags).map_err(io::Error::from)
}

/// Reads all `octets` bytes of a pipe.
fn read_pipe(pipe: &OwnedFd, octets: usize) -> io::Result<Box<[u8]>> {
    let mut content = vec![0; octets];
    let mut filled = 0;
    while filled < octets {
        match read(pipe, &mut content[filled..])? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => filled += count,
        }
    }
    Ok(content.into_boxed_slice())
}
