//! Answers whoever asks for metrics: the few words of HTTP/1.1 that Prometheus and curl speak.

use std::io;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

/// Octets of a request that are read.
const MOST: usize = 8192;
/// How long somebody may take to ask and to read.
const PATIENCE: Duration = Duration::from_secs(5);
/// Kept for somebody who cannot be accepted now.
const PAUSE: Duration = Duration::from_millis(100);

/// Answers one after the other with what `page` says then.
pub async fn serve(listener: TcpListener, page: impl Fn() -> String) {
    loop {
        match listener.accept().await {
            // Whoever is too slow, or asks what makes no sense, loses no more than his answer.
            Ok((stream, _)) => drop(timeout(PATIENCE, answer(&stream, &page)).await),
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}

async fn answer(stream: &TcpStream, page: impl Fn() -> String) -> io::Result<()> {
    let mut request = Vec::with_capacity(1024);
    while !request.windows(4).any(|octets| octets == b"\r\n\r\n") {
        stream.readable().await?;
        let mut more = [0; 1024];
        match stream.try_read(&mut more) {
            Ok(0) => return Ok(()),
            Ok(octets) => request.extend(&more[..octets]),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
        if request.len() > MOST {
            return send(stream, "431 Request Header Fields Too Large", "").await;
        }
    }
    let line = String::from_utf8_lossy(&request);
    let mut words = line.split_whitespace();
    match (words.next(), words.next()) {
        (Some("GET"), Some("/metrics" | "/")) => send(stream, "200 OK", &page()).await,
        (Some("GET"), _) => send(stream, "404 Not Found", "metrics are at /metrics\n").await,
        _ => send(stream, "405 Method Not Allowed", "metrics are asked for by GET\n").await,
    }
}

async fn send(stream: &TcpStream, status: &str, body: &str) -> io::Result<()> {
    let length = body.len();
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    let answer = [head.as_bytes(), body.as_bytes()].concat();
    let mut from = 0;
    while from < answer.len() {
        stream.writable().await?;
        match stream.try_write(&answer[from..]) {
            Ok(octets) => from += octets,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
