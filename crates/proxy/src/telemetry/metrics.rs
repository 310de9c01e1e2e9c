//! Serves metrics by a minimal subset of HTTP/1.1, sufficient for Prometheus and curl.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Maximum size of a request in bytes.
const MAX_REQUEST: usize = 8192;
/// Time limit of a client, from the connection to the end of the response.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(5);
/// Pause after a client could not be accepted.
const PAUSE: Duration = Duration::from_millis(100);
/// Maximum number of simultaneous clients. Beyond it, the oldest client is dropped, so that silent
/// clients cannot block others.
const MAX_CLIENTS: usize = 64;

/// Renders the current metrics.
type Page = dyn Fn() -> String + Send + Sync;

/// Serves the text that `page` returns at the time of each request.
pub async fn serve(listener: TcpListener, page: impl Fn() -> String + Send + Sync + 'static) {
    let page: Arc<Page> = Arc::new(page);
    let mut clients: VecDeque<JoinHandle<()>> = VecDeque::new();
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                clients.retain(|client| !client.is_finished());
                if clients.len() >= MAX_CLIENTS
                    && let Some(oldest) = clients.pop_front()
                {
                    oldest.abort();
                }
                let page = page.clone();
                clients.push_back(tokio::spawn(async move {
                    // Errors and timeouts affect only this client.
                    drop(timeout(CLIENT_TIMEOUT, answer(&stream, &*page)).await);
                }));
            }
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}

/// Reads a request up to its empty line, and responds. Only the method and the path count.
async fn answer(stream: &TcpStream, page: &Page) -> io::Result<()> {
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
        if request.len() > MAX_REQUEST {
            return send(stream, "431 Request Header Fields Too Large", "").await;
        }
    }
    let line = String::from_utf8_lossy(&request);
    let mut words = line.split_whitespace();
    match (words.next(), words.next()) {
        (Some("GET"), Some("/metrics" | "/")) => send(stream, "200 OK", &page()).await,
        (Some("GET"), _) => send(stream, "404 Not Found", "metrics are at /metrics\n").await,
        _ => send(stream, "405 Method Not Allowed", "use GET for metrics\n").await,
    }
}

/// Sends a complete HTTP response.
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

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::SocketAddr;

    use super::*;

    /// Requests the metrics and returns the whole response.
    fn request_metrics(at: SocketAddr) -> String {
        let mut stream = std::net::TcpStream::connect(at).expect("a connection");
        stream.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").expect("a request");
        let mut response = String::new();
        stream.read_to_string(&mut response).expect("an answer");
        response
    }

    #[test]
    fn silent_clients_are_bounded_and_do_not_block_others() {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build().unwrap();
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let at = listener.local_addr().unwrap();
            let client = std::thread::spawn(move || {
                let connect = |_| std::net::TcpStream::connect(at).expect("a connection");
                let silent: Vec<_> = (0..2 * MAX_CLIENTS).map(connect).collect();
                let answer = request_metrics(at);
                // The first clients were dropped before their time limit.
                let dropped = (&silent[0]).read(&mut [0]).expect("an end");
                (answer, dropped)
            });
            let serving = tokio::spawn(serve(listener, || "umts_proxy_connections 0\n".to_owned()));
            while !client.is_finished() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            serving.abort();
            let (answer, dropped) = client.join().unwrap();
            assert!(answer.starts_with("HTTP/1.1 200 OK") && answer.ends_with("connections 0\n"), "{answer}");
            assert_eq!(dropped, 0);
        });
    }
}
