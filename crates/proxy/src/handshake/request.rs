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
/// [`Ended::BadRequest`] if the request is invalid; the client has then received a reply if SOCKS5
/// has one for the error. Otherwise the outcome for the error of the client's connection.
pub async fn socks5(client: &TcpStream) -> Result<Target, Ended> {
    let outcome_of_error = |error: io::Error| match error.kind() {
        io::ErrorKind::UnexpectedEof => Ended::BadRequest,
        _ => Ended::of_error(Side::Client, &error),
    };
    let (mut request, mut needed) = Socks5::new();
    loop {
        let octets = read(client, needed).await.map_err(outcome_of_error)?;
        match request.handle(&octets) {
            Step::Need(more) => needed = more,
            Step::Reply { reply, needed: more } => {
                write_all(client, &reply).await.map_err(outcome_of_error)?;
                needed = more;
            }
            Step::Done(target) => return Ok(target),
            Step::Reject(reply) => {
                write_all(client, &reply).await.map_err(outcome_of_error)?;
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
pub async fn addresses(target: Target, permits: &Arc<Semaphore>) -> io::Result<Vec<SocketAddr>> {
    let (name, port) = match target {
        Target::Address(address) => return Ok(vec![address]),
        Target::Name(name, port) => (name, port),
    };
    let permit = permits.clone().acquire_owned().await.map_err(io::Error::other)?;
    let resolved = spawn_blocking(move || {
        let _permit = permit;
        (name.as_str(), port).to_socket_addrs().map(Iterator::collect)
    });
    let unknown = |_| io::Error::from(io::ErrorKind::HostUnreachable);
    resolved.await.map_err(io::Error::other)?.map_err(unknown)
}

/// Reads and discards received data. Closing a socket with unread data resets the connection, and
/// the reset could overtake the last reply.
pub fn discard_received(stream: &TcpStream) {
    /// Maximum number of bytes to read.
    const MAX_DISCARDED: usize = 1 << 16;
    let (mut remaining, mut buffer) = (MAX_DISCARDED, [0; 4096]);
    while let Ok(octets @ 1..) = stream.try_read(&mut buffer) {
        match remaining.checked_sub(octets) {
            Some(more) => remaining = more,
            None => return,
        }
    }
}

/// Reads exactly `octets` bytes.
async fn read(stream: &TcpStream, octets: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; octets];
    let mut from = 0;
    while from < octets {
        stream.readable().await?;
        match stream.try_read(&mut bytes[from..]) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(more) => from += more,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Ok(bytes)
}

/// Writes all octets of `reply`.
///
/// # Errors
/// An error of the kernel.
pub async fn write_all(stream: &TcpStream, reply: &[u8]) -> io::Result<()> {
    let mut from = 0;
    while from < reply.len() {
        stream.writable().await?;
        match stream.try_write(&reply[from..]) {
            Ok(more) => from += more,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
