//! One way of a connection: octets from a source to a sink, in order, each once, and the source's end after them.

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

use crate::relay::pipes::{FEW, Pipe, Pipes};

/// Times that one way moves something before others of the same worker get their turn.
const TURN: u32 = 16;

/// What is known of a way from outside, while it goes on.
#[derive(Debug, Default)]
pub struct Passed {
    /// Octets that the sink's kernel has taken.
    pub octets: AtomicU64,
    /// Octets that came from the source and are with the proxy.
    pub held: AtomicU64,
    /// Times that the sink took nothing while there was something for it.
    pub stalls: AtomicU64,
    /// How long, in nanoseconds.
    pub stalled_ns: AtomicU64,
}

/// Which of both ends an error is about.
#[derive(Debug)]
pub enum Broken {
    /// The source's.
    Source(io::Error),
    /// The sink's.
    Sink(io::Error),
    /// This host has no descriptor left.
    Own,
}

/// What is between source and sink.
#[derive(Debug, Default)]
enum Buffered {
    #[default]
    Nothing,
    /// So many octets in a pipe.
    Pipe(Pipe, usize),
    /// Octets in memory, from a place on.
    Memory(Box<[u8]>, usize),
}

/// One way.
#[derive(Debug, Default)]
pub struct Pump {
    held: Buffered,
    /// There was much last time, so there will be: it is spliced.
    is_much: bool,
    /// Of `held`: a pipe that the pool counts as full.
    is_counted: bool,
    has_source_ended: bool,
    /// The sink has got everything and, where it is not closed now, the end.
    pub is_over: bool,
    stalled_since: Option<Instant>,
}

impl Pump {
    /// Moves what can be moved, at most `chunk` octets at once. Ready when the sink got the end; `has_moved` is set if
    /// anything happened. If the other way is over already both sockets are closed now, which tells the sink of the end.
    pub fn poll(
        &mut self,
        cx: &mut Context<'_>,
        (source, sink): (&TcpStream, &TcpStream),
        (pipes, chunk): (&Pipes, usize),
        passed: &Passed,
        (is_last, has_moved): (bool, &mut bool),
    ) -> Poll<Result<(), Broken>> {
        if self.is_over {
            return Poll::Ready(Ok(()));
        }
        for _ in 0..TURN {
            if !matches!(self.held, Buffered::Nothing) {
                ready!(self.poll_write(cx, sink, pipes, passed))?;
            } else if self.has_source_ended {
                if !is_last {
                    SockRef::from(sink).shutdown(std::net::Shutdown::Write).map_err(Broken::Sink)?;
                }
                self.is_over = true;
                *has_moved = true;
                return Poll::Ready(Ok(()));
            } else if self.is_much {
                ready!(self.poll_splice(cx, (source, sink), (pipes, chunk), passed))?;
            } else {
                ready!(self.poll_copy(cx, (source, sink), (pipes, chunk), passed))?;
            }
            *has_moved = true;
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Hands a few octets on, if that can be done at once; otherwise they are held in memory.
    fn poll_copy(
        &mut self,
        cx: &mut Context<'_>,
        (source, sink): (&TcpStream, &TcpStream),
        (pipes, chunk): (&Pipes, usize),
        passed: &Passed,
    ) -> Poll<Result<(), Broken>> {
        let mut few = pipes.few();
        let few = &mut few[..chunk.min(FEW)];
        loop {
            ready!(source.poll_read_ready(cx)).map_err(Broken::Source)?;
            match source.try_read(few) {
                Ok(0) => {
                    self.has_source_ended = true;
                    return Poll::Ready(Ok(()));
                }
                Ok(octets) => {
                    self.is_much = octets == few.len();
                    return Poll::Ready(self.write_copied(&few[..octets], sink, passed));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(Broken::Source(error))),
            }
        }
    }

    /// Hands copied octets on; what the sink does not take at once is held.
    fn write_copied(&mut self, octets: &[u8], sink: &TcpStream, passed: &Passed) -> Result<(), Broken> {
        let done = match sink.try_write(octets) {
            Ok(done) => done,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
            Err(error) => return Err(Broken::Sink(error)),
        };
        passed.octets.fetch_add(done as u64, Ordering::Relaxed);
        if done < octets.len() {
            passed.held.store((octets.len() - done) as u64, Ordering::Relaxed);
            self.held = Buffered::Memory(octets[done..].into(), 0);
        }
        Ok(())
    }

    fn poll_splice(
        &mut self,
        cx: &mut Context<'_>,
        (source, sink): (&TcpStream, &TcpStream),
        (pipes, chunk): (&Pipes, usize),
        passed: &Passed,
    ) -> Poll<Result<(), Broken>> {
        loop {
            ready!(source.poll_read_ready(cx)).map_err(Broken::Source)?;
            let pipe = pipes.take().map_err(|_| Broken::Own)?;
            let mut few = pipes.few();
            let few = &mut few[..chunk.min(FEW)];
            let found = source.try_io(Interest::READABLE, || taken(source, &pipe, chunk, few));
            if let Ok(Taken::Spliced(octets)) = found {
                passed.held.store(octets as u64, Ordering::Relaxed);
                self.is_much = octets >= chunk.min(FEW);
                self.held = Buffered::Pipe(pipe, octets);
                return Poll::Ready(Ok(()));
            }
            pipes.give(pipe);
            match found {
                Ok(Taken::End) => {
                    self.has_source_ended = true;
                    return Poll::Ready(Ok(()));
                }
                Ok(Taken::Copied(octets)) => {
                    return Poll::Ready(self.write_copied(&few[..octets], sink, passed));
                }
                Ok(Taken::Spliced(_)) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(Broken::Source(error))),
            }
        }
    }

    /// Hands on what is held, or as much as the sink takes.
    fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        sink: &TcpStream,
        pipes: &Pipes,
        passed: &Passed,
    ) -> Poll<Result<(), Broken>> {
        loop {
            if sink.poll_write_ready(cx).map_err(Broken::Sink)?.is_pending() {
                self.stall(pipes, passed).map_err(|_| Broken::Own)?;
                return Poll::Pending;
            }
            let (done, left) = match &mut self.held {
                Buffered::Nothing => return Poll::Ready(Ok(())),
                Buffered::Pipe(pipe, octets) => {
                    let done = sink.try_io(Interest::WRITABLE, || moved(&pipe.read, sink, *octets));
                    *octets -= done.as_ref().map_or(0, |&done| done);
                    (done, *octets)
                }
                Buffered::Memory(octets, from) => {
                    let done = sink.try_write(&octets[*from..]);
                    *from += done.as_ref().map_or(0, |&done| done);
                    (done, octets.len() - *from)
                }
            };
            match done {
                Ok(done) => {
                    passed.octets.fetch_add(done as u64, Ordering::Relaxed);
                    passed.held.store(left as u64, Ordering::Relaxed);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
                Err(error) => return Poll::Ready(Err(Broken::Sink(error))),
            }
            if left == 0 {
                self.go_on(pipes, passed);
                return Poll::Ready(Ok(()));
            }
        }
    }

    /// The sink takes no more for now.
    fn stall(&mut self, pipes: &Pipes, passed: &Passed) -> io::Result<()> {
        if self.stalled_since.is_none() {
            self.stalled_since = Some(Instant::now());
            passed.stalls.fetch_add(1, Ordering::Relaxed);
        }
        if self.is_counted || !matches!(self.held, Buffered::Pipe(..)) {
            return Ok(());
        }
        if pipes.may_stand_full() {
            self.is_counted = true;
            return Ok(());
        }
        let Buffered::Pipe(pipe, octets) = std::mem::take(&mut self.held) else { return Ok(()) };
        let octets = drained(&pipe.read, octets)?;
        pipes.give(pipe);
        self.held = Buffered::Memory(octets, 0);
        Ok(())
    }

    /// Everything that was held is gone.
    fn go_on(&mut self, pipes: &Pipes, passed: &Passed) {
        if let Some(since) = self.stalled_since.take() {
            let waited = u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX);
            passed.stalled_ns.fetch_add(waited, Ordering::Relaxed);
        }
        if std::mem::take(&mut self.is_counted) {
            pipes.emptied();
        }
        if let Buffered::Pipe(pipe, _) = std::mem::take(&mut self.held) {
            pipes.give(pipe);
        }
    }

    /// Whatever is held is lost; a pipe with octets in it is of no use to anybody.
    pub fn abandon(&mut self, pipes: &Pipes) {
        if std::mem::take(&mut self.is_counted) {
            pipes.emptied();
        }
        self.held = Buffered::Nothing;
    }
}

/// What was taken from a source.
enum Taken {
    /// So many octets, into the pipe.
    Spliced(usize),
    /// So many octets, into memory.
    Copied(usize),
    /// Its end.
    End,
}

/// Takes octets from a source into the pipe, or into memory where the kernel does not splice: it stops at a mark of
/// urgent data, and then says that there is nothing, or after a FIN that this is the end (`tcp_read_sock`). Only a
/// read that finds nothing either is to be believed.
fn taken(source: &TcpStream, pipe: &Pipe, chunk: usize, few: &mut [u8]) -> io::Result<Taken> {
    match moved(source, &pipe.write, chunk) {
        Ok(octets @ 1..) => return Ok(Taken::Spliced(octets)),
        Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Err(error),
        Ok(0) | Err(_) => {}
    }
    match read(source, few).map_err(io::Error::from)? {
        0 => Ok(Taken::End),
        octets => Ok(Taken::Copied(octets)),
    }
}

/// Moves octets inside the kernel. Never with `SPLICE_F_MORE`: it holds a last partial segment back for 200 ms.
fn moved(from: impl std::os::fd::AsFd, to: impl std::os::fd::AsFd, octets: usize) -> io::Result<usize> {
    let flags = SpliceFFlags::SPLICE_F_NONBLOCK | SpliceFFlags::SPLICE_F_MOVE;
    splice(from, None, to, None, octets, flags).map_err(io::Error::from)
}

/// The octets of a pipe.
fn drained(pipe: &OwnedFd, octets: usize) -> io::Result<Box<[u8]>> {
    let mut found = vec![0; octets];
    let mut from = 0;
    while from < octets {
        match read(pipe, &mut found[from..])? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            more => from += more,
        }
    }
    Ok(found.into_boxed_slice())
}
