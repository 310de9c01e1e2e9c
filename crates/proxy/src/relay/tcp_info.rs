//! What the kernel's TCP tells of a connection: `TCP_INFO`, of which the part that every kernel has.

use nix::libc;
use nix::sys::socket::getsockopt;
use tokio::net::TcpStream;

/// The beginning of the kernel's `struct tcp_info` (linux/tcp.h), which only ever grows at its end.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct Told {
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
}

#[derive(Debug, Clone, Copy)]
struct Info;

nix::getsockopt_impl!(
    Info,
    libc::IPPROTO_TCP,
    libc::TCP_INFO,
    Told,
    nix::sys::socket::sockopt::GetStruct<Told>
);

/// Of one leg, at one instant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Leg {
    /// Smoothed round-trip time in seconds; none as long as nothing was measured.
    pub rtt_s: Option<f64>,
    /// Congestion window.
    pub cwnd_segments: u32,
    /// Segments sent again so far.
    pub retransmissions: u32,
}

impl Leg {
    /// What the kernel says of a socket; none if it does not.
    pub fn of(stream: &TcpStream) -> Option<Leg> {
        let told = getsockopt(stream, Info).ok()?;
        Some(Leg {
            rtt_s: (told.rtt > 0).then(|| f64::from(told.rtt) / 1e6),
            cwnd_segments: told.cwnd,
            retransmissions: told.retransmissions,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_over_loopback_tells_its_window() {
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
