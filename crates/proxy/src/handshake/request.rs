//! Reads the request of a client from its connection, and writes the replies.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;

use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use crate::handshake::socks5::{Socks5, Step, Target};
use crate::relay::ended::{Ended, Side};

/// Reads a SOCKS5 request and answers its greeting.
///
/// # Errors
/// The outcome of the connection: the request is invalid, which the client is informed of where
/// SOCKS5 has a reply, or the client has gone.
pub async fn socks5(client: &TcpStream) -> Result<Target, Ended> {
    let gone = |error: io::Error| match error.kind() {
        io::ErrorKind::UnexpectedEof => Ended::BadRequest,
        _ => Ended::of_error(Side::Client, &error),
    };
    let (mut request, mut wanted) = Socks5::new();
    loop {
        let octets = read(client, wanted).await.map_err(gone)?;
        match request.handle(&octets) {
            Step::More(more) => wanted = more,
            Step::Say(words, more) => {
                write_all(client, &words).await.map_err(gone)?;
                wanted = more;
            }
            Step::Done(target) => return Ok(target),
            Step::Over(words) => {
                write_all(client, &words).await.map_err(gone)?;
                return Err(Ended::BadRequest);
            }
        }
    }
}

/// Resolves a target. The semaphore limits the number of names being resolved, including names of
/// requests that have timed out: an unanswered name occupies a thread for several seconds.
///
/// # Errors
/// `HostUnreachable` if the name cannot be resolved.
pub async fn addresses(target: Target, asking: &Arc<Semaphore>) -> io::Result<Vec<SocketAddr>> {
    let (name, port) = match target {
        Target::Address(address) => return Ok(vec![address]),
        Target::Name(name, port) => (name, port),
    };
    let permit = asking.clone().acquire_owned().await.map_err(io::Error::other)?;
    let found = spawn_blocking(move || {
        let _permit = permit;
        (name.as_str(), port).to_socket_addrs().map(Iterator::collect)
    });
    let unknown = |_| io::Error::from(io::ErrorKind::HostUnreachable);
    found.await.map_err(io::Error::other)?.map_err(unknown)
}

/// Reads and discards received data. Closing a socket with unread data resets the connection, and
/// the reset could overtake the last reply.
pub fn discard_received(stream: &TcpStream) {
    /// Maximum number of bytes to read.
    const MOST: usize = 1 << 16;
    let (mut left, mut room) = (MOST, [0; 4096]);
    while let Ok(octets @ 1..) = stream.try_read(&mut room) {
        match left.checked_sub(octets) {
            Some(more) => left = more,
            None => return,
        }
    }
}

/// Reads exactly `octets` bytes.
async fn read(stream: &TcpStream, octets: usize) -> io::Result<Vec<u8>> {
    let mut found = vec![0; octets];
    let mut from = 0;
    while from < octets {
        stream.readable().await?;
        match stream.try_read(&mut found[from..]) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(more) => from += more,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

/// Writes all of `words`.
///
/// # Errors
/// An error of the kernel.
pub async fn write_all(stream: &TcpStream, words: &[u8]) -> io::Result<()> {
    let mut from = 0;
    while from < words.len() {
        stream.writable().await?;
        match stream.try_write(&words[from..]) {
            Ok(more) => from += more,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
