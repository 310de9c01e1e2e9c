//! The kernel's information about a connection (`struct tcp_info`), by its addresses over
//! `NETLINK_SOCK_DIAG`.

use std::io;
use std::net::SocketAddrV4;

use netlink_sys::{Socket, SocketAddr};

const NETLINK_SOCK_DIAG: isize = 4;
const SOCK_DIAG_BY_FAMILY: u16 = 20;
const NLM_F_REQUEST: u16 = 1;
const NLMSG_ERROR: u16 = 2;
const AF_INET: u8 = 2;
const IPPROTO_TCP: u8 = 6;
const INET_DIAG_INFO: u16 = 2;
/// Octets of the netlink header.
const HEADER: usize = 16;
/// Octets of `struct inet_diag_msg`, which follows the header.
const MESSAGE: usize = 72;
/// `TCP_INFINITE_SSTHRESH`.
const INFINITE_THRESHOLD: u32 = 0x7fff_ffff;
/// Offsets of fields of `struct tcp_info`.
const TCPI_RTO: usize = 8;
const TCPI_RTT: usize = 68;
const TCPI_SND_SSTHRESH: usize = 76;
const TCPI_SND_CWND: usize = 80;
const TCPI_TOTAL_RTO: usize = 240;

/// Information about a connection. Windows are in segments, times in microseconds.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct TcpInfo {
    /// Number of the state, for example `TCP_ESTABLISHED`.
    pub state: u8,
    pub rto: u32,
    pub srtt: u32,
    pub cwnd: u32,
    /// `None` if there is no threshold.
    pub ssthresh: Option<u32>,
    /// Number of expiries of the retransmission timer.
    pub timeouts: u16,
}

/// Names of the states in scripts, by the kernel's numbers from 1 on. A connection in TIME-WAIT is
/// `closed`, as in the model.
const STATES: [&str; 11] = [
    "established",
    "synsent",
    "synreceived",
    "finwait1",
    "finwait2",
    "closed",
    "closed",
    "closewait",
    "lastack",
    "listen",
    "closing",
];

impl TcpInfo {
    /// Returns whether this is the listening socket.
    pub fn is_listening(&self) -> bool {
        self.state_name() == "listen"
    }

    pub fn state_name(&self) -> &'static str {
        STATES.get(usize::from(self.state).wrapping_sub(1)).copied().unwrap_or("synreceived")
    }
}

/// Returns the connection between these addresses in the current namespace. `None` if there is
/// none.
pub(super) fn look_up(kernel: SocketAddrV4, peer: SocketAddrV4) -> io::Result<Option<TcpInfo>> {
    let mut socket = Socket::new(NETLINK_SOCK_DIAG)?;
    socket.bind_auto()?;
    socket.connect(&SocketAddr::new(0, 0))?;
    socket.send(&request(kernel, peer), 0)?;
    let (answer, _) = socket.recv_from_full()?;
    let kind = answer.get(4..6).map_or(NLMSG_ERROR, |kind| u16::from_ne_bytes([kind[0], kind[1]]));
    if kind == NLMSG_ERROR {
        let code = answer
            .get(HEADER..HEADER + 4)
            .map_or(0, |code| i32::from_ne_bytes(code.try_into().unwrap_or([0; 4])));
        let error = io::Error::from_raw_os_error(-code);
        return if error.kind() == io::ErrorKind::NotFound { Ok(None) } else { Err(error) };
    }
    read(&answer).map(Some).ok_or_else(|| io::Error::other("the kernel's answer about a socket is too short"))
}

/// Builds `struct nlmsghdr` and `struct inet_diag_req_v2`.
fn request(kernel: SocketAddrV4, peer: SocketAddrV4) -> Vec<u8> {
    let mut body = vec![AF_INET, IPPROTO_TCP, 1 << (INET_DIAG_INFO - 1), 0];
    // Connections in all states.
    body.extend(u32::MAX.to_ne_bytes());
    body.extend(kernel.port().to_be_bytes());
    body.extend(peer.port().to_be_bytes());
    for address in [kernel.ip(), peer.ip()] {
        // The field is long enough for IPv6.
        body.extend(address.octets());
        body.extend([0; 12]);
    }
    // Any interface.
    body.extend([0; 4]);
    // No cookie: any socket with these addresses.
    body.extend([0xff; 8]);
    let mut message = ((HEADER + body.len()) as u32).to_ne_bytes().to_vec();
    message.extend(SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    message.extend(NLM_F_REQUEST.to_ne_bytes());
    // Sequence number and port of the sender.
    message.extend([0; 8]);
    message.extend(body);
    message
}

/// Parses an answer. Returns `None` if it is too short.
fn read(answer: &[u8]) -> Option<TcpInfo> {
    let mut info = TcpInfo { state: *answer.get(HEADER + 1)?, ..TcpInfo::default() };
    let mut rest = answer.get(HEADER + MESSAGE..)?;
    while rest.len() >= 4 {
        let length = usize::from(u16::from_ne_bytes([rest[0], rest[1]])).max(4);
        let kind = u16::from_ne_bytes([rest[2], rest[3]]);
        if kind == INET_DIAG_INFO {
            info.read(rest.get(4..length)?);
        }
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Some(info)
}

impl TcpInfo {
    /// Parses `struct tcp_info`.
    fn read(&mut self, octets: &[u8]) {
        // An older kernel has fewer fields.
        let u32_at = |at: usize| {
            octets.get(at..at + 4).map_or(0, |word| u32::from_ne_bytes([word[0], word[1], word[2], word[3]]))
        };
        let u16_at =
            |at: usize| octets.get(at..at + 2).map_or(0, |half| u16::from_ne_bytes([half[0], half[1]]));
        self.rto = u32_at(TCPI_RTO);
        self.srtt = u32_at(TCPI_RTT);
        self.ssthresh = Some(u32_at(TCPI_SND_SSTHRESH)).filter(|&threshold| threshold < INFINITE_THRESHOLD);
        self.cwnd = u32_at(TCPI_SND_CWND);
        self.timeouts = u16_at(TCPI_TOTAL_RTO);
    }
}
