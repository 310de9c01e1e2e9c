//! A client's own words about where it wants to go, read from its connection; and answers to it.

use std::io;
use std::net::SocketAddr;

use tokio::net::{TcpStream, lookup_host};

use crate::asked::socks5::{Socks5, Step, Target};
use crate::relay::ended::{Ended, Side};

/// Reads a request of SOCKS5 to its end and finds addresses of what it names.
///
/// # Errors
/// How the connection ends: it is no such request, or the client went away, or nobody knows the name; the client was told.
pub async fn socks5(client: &TcpStream) -> Result<Vec<SocketAddr>, Ended> {
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
                say(client, &words).await.map_err(gone)?;
                wanted = more;
            }
            Step::Done(target) => return addresses(target).await,
            Step::Over(words) => {
                say(client, &words).await.map_err(gone)?;
                return Err(Ended::BadRequest);
            }
        }
    }
}

async fn addresses(target: Target) -> Result<Vec<SocketAddr>, Ended> {
    match target {
        Target::Address(address) => Ok(vec![address]),
        Target::Name(name, port) => match lookup_host((name, port)).await {
            Ok(found) => Ok(found.collect()),
            Err(_) => Err(Ended::Unreachable),
        },
    }
}

/// So many octets, and no more.
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

/// Sends all of it.
///
/// # Errors
/// The kernel's.
pub async fn say(stream: &TcpStream, words: &[u8]) -> io::Result<()> {
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
