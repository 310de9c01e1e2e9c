//! State of a TCP connection from `TCP_INFO`, limited to the fields of all kernels since Linux 4.1.

use nix::libc;
use nix::sys::socket::getsockopt;
use tokio::net::TcpStream;

/// The beginning of the kernel's `struct tcp_info` (linux/tcp.h). Newer kernels only append fields.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct RawTcpInfo {
    state_and_flags: [u8; 8],
    rto: u32,
    ato: u32,
    segments: [u32; 2],
    outstanding: [u32; 5],
    last: [u32; 4],
    path_mtu: u32,
    receive_threshold: u32,
    rtt: u32,
    rtt_variation: u32,
    send_threshold: u32,
    cwnd: u32,
    advertised: u32,
    reordering: u32,
    receive_rtt: u32,
    receive_space: u32,
    retransmissions: u32,
    pacing_rates: [u64; 2],
    acknowledged: u64,
}

#[derive(Debug, Clone, Copy)]
struct Info;

nix::getsockopt_impl!(
    Info,
    libc::IPPROTO_TCP,
    libc::TCP_INFO,
    RawTcpInfo,
    nix::sys::socket::sockopt::GetStruct<RawTcpInfo>
);

/// State of one of the two connections of a transfer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Leg {
    /// Smoothed round-trip time in seconds. `None` before the first measurement.
    pub rtt_s: Option<f64>,
    /// Congestion window in segments.
    pub cwnd_segments: u32,
    /// Segments retransmitted so far.
    pub retransmissions: u32,
}

impl Leg {
    /// Reads the state of a socket. Returns `None` if the kernel reports an error.
    pub fn of(stream: &TcpStream) -> Option<Leg> {
        let info = getsockopt(stream, Info).ok()?;
        Some(Leg {
            rtt_s: (info.rtt > 0).then(|| f64::from(info.rtt) / 1e6),
            cwnd_segments: info.cwnd,
            retransmissions: info.retransmissions,
        })
    }
}

/// Delivery state of a connection after its sending direction was closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delivery {
    /// The peer has acknowledged all data and the FIN, or the connection is closed.
    pub is_complete: bool,
    /// Bytes that the peer has acknowledged.
    pub acknowledged: u64,
}

impl Delivery {
    /// Reads the state of a socket. Returns `None` if the kernel reports an error.
    pub fn of(stream: &TcpStream) -> Option<Delivery> {
        /// States in which the peer has acknowledged the FIN: FIN-WAIT-2, TIME-WAIT, CLOSED
        /// (net/tcp_states.h).
        const ACKNOWLEDGED: [u8; 3] = [5, 6, 7];
        let info = getsockopt(stream, Info).ok()?;
        let is_complete = ACKNOWLEDGED.contains(&info.state_and_flags[0]);
        Some(Delivery { is_complete, acknowledged: info.acknowledged })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delivery_is_complete_when_the_peer_has_read_all_data() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
        runtime.block_on(async {
            let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            let stream = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
            let (mut peer, _) = listener.accept().unwrap();
            // Fill the buffers of the peer, which does not read.
            let data = vec![0; 1 << 16];
            let mut sent = 0;
            loop {
                match stream.try_write(&data) {
                    Ok(octets) => sent += octets,
                    Err(_) if sent > 0 => break,
                    Err(_) => stream.writable().await.unwrap(),
                }
            }
            socket2::SockRef::from(&stream).shutdown(std::net::Shutdown::Write).unwrap();
            assert!(!Delivery::of(&stream).unwrap().is_complete);
            let mut received = Vec::new();
            std::io::Read::read_to_end(&mut peer, &mut received).unwrap();
            assert_eq!(received.len(), sent);
            // The acknowledgment of the FIN may take a moment.
            while !Delivery::of(&stream).unwrap().is_complete {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            assert!(Delivery::of(&stream).unwrap().acknowledged >= sent as u64);
        });
    }

    #[test]
    fn tcp_info_of_loopback_has_rtt_and_window() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let stream = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
            let leg = Leg::of(&stream).expect("the kernel has TCP_INFO");
            assert!(leg.rtt_s.is_some_and(|rtt| rtt > 0.0 && rtt < 10.0), "{leg:?}");
            assert!((1..1000).contains(&leg.cwnd_segments), "{leg:?}");
            assert_eq!(leg.retransmissions, 0);
        });
    }
}
