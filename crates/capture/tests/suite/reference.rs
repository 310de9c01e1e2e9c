//! The reference page of `umts analyse`, generated from the definitions.

use std::fmt::Write;
use std::path::Path;

use umts_capture::{Definition, definitions};

const INTRODUCTION: &str = "\
# Metrics of captures

<!-- Generated from crates/capture/src/metrics.rs by `UMTS_BLESS=1 cargo test --release -p umts-capture`. -->

`umts analyse` reads captures of any origin:

- **Files**: pcap (also Kuznetzov's \"modified\" format) and pcapng (also the obsolete Packet Block), in either byte order,
  with any time resolution, several sections and interfaces, uncompressed or compressed by gzip, Zstandard or LZ4 (`.gz`,
  `.zst`, `.lz4`; recognised by content). A compressed file is unpacked as a stream, to at most a thousand times its size,
  or 256 MiB.
- **Links**: Ethernet (VLAN, PPPoE, LLC/SNAP), raw IP, Linux cooked 1 and 2, PPP and Cisco HDLC, MPLS, ATM with LLC, and
  loopback.
- **Tunnels**, also nested, up to 32 headers: GTP-U (with extension headers), GRE (also PPTP and ERSPAN), VXLAN (also
  GPE), Geneve, MPLS (also pseudowires), IP in IP, and IPsec's AH. The row of a connection in GTP-U contains the TEIDs of
  both directions (`client_teid` and `server_teid`, by the end that sent the packets). Connections between the same addresses
  and ports in different tunnels are separate.

Packets may be cut off after their TCP headers, because lengths come from the IP header. A length beyond the end of the
frame counts as the length of the frame, with a warning. IP fragments are counted and ignored. All other packets are
counted by protocol (`passed_over`; protocols beyond the 64th together), with a warning if they may carry TCP, for example
ESP or L2TP. A file that is cut off or damaged is analysed up to that point, with a warning. A file that is not a capture,
or whose time unit no clock has, is an error (exit status 2).

Packets are sorted by time within a window of 4,096 packets. A packet that is farther from its place gets the time of the
packet before it, with a warning. If a clock was set back by more than 10 s, the packets after it keep the order of the
file.

**UDP flows** have separate rows: packets, payload, rate, mean and maximum gap of the end that sent more, and the same
columns with the prefix `reverse_` for the other end. In a QUIC flow, `spin_rtt_s` is the mean time between changes of the
spin bit (RFC 9000 §17.4): a round trip, if packets are frequent enough to show each change. It has no value if the bit is
constant or random.

Metrics have the [names of the simulation](metrics.md) and the same meaning. A capture shows less, with these differences:

- **Window**: from the capture's first packet to its last, for connections too. `goodput_active_kbps` is the rate while
  data were outstanding.
- **Active time**: the time in which data are outstanding, until they are acknowledged, the connection is reset or the
  capture ends. Data that the application has not sent yet are not visible.
- **Sender**: a connection's row describes the data of the end that sent more; `reverse_…` counts the data of the other end.
- **Capture point**: `position` is the place of the capture, derived from the response times of both ends in the handshake.
  Round-trip times and outstanding data equal the sender's own only at `sender`. At `receiver` and `between` they lack the
  path before the capture point.
- **Holes**: octets that were not captured although later sequence numbers, also of segments without data, show that they
  were sent. A segment that fills a hole was retransmitted if its timestamp is later than the timestamp of the segment that
  showed the hole, and was only late if its timestamp is earlier. Without timestamps, a segment that fills a hole more than
  3 ms later counts as retransmitted, and a warning has the number of these segments. A first copy that is captured at most
  3 ms after its acknowledgment does not count as retransmitted either.
- **Copies**: packets that are equal down to the IP identification, at most 10 ms apart, were captured twice (by a mirror
  port, or on two interfaces) and count once. Without identification (IPv6), data are copies if they follow within less
  than a round trip, and acknowledgments only if at least half of the connection's data are captured twice.
- **Acceptance**: a segment whose acknowledgment cannot belong to the connection is ignored, and so is a reset with such a
  number: an acknowledgment of more than the SYN before the SYN was answered, of more than the window allows, or of data
  older than the largest window. A warning counts these segments. If the capture missed packets, a second acknowledgment
  beyond the first is accepted.
- A metric without a value (`null`) is unknown: there was no handshake, no acknowledgment was captured, or packets do not
  show it.

The cause of a retransmission is derived from the preceding packets, by the rules that allow a sender to retransmit:

- **Fast retransmission**: in response to an acknowledgment (within 10 ms, or twice the time that the sender needed in the
  handshake), the oldest outstanding segment after three duplicates (RFC 5681), or a segment with selective acknowledgments
  above it (RFC 6675), or a segment that is lost by RACK (RFC 8985 §6): a segment sent later has arrived, and a round trip
  and the reordering window have passed. The reordering window follows the RFC: none in a recovery or after three
  duplicates, unless the path reorders; otherwise a quarter of the minimum round trip, wider after each round trip in which
  the receiver reported second copies, at most SRTT.
- **Tail loss probe** (RFC 8985 §7): the last segment after silence, while no segment is known to be missing. If it is the
  only outstanding segment, the sender's timeout would retransmit it too. It is a probe if all of these hold: both ends
  permit selective acknowledgments; it comes no later than a quarter after 2·SRTT + 200 ms; no other probe is unanswered,
  unless the next one comes after twice the time (as timeouts do); and the sender has not let its timer expire where a probe
  would have come before. Probes with new data look like other data. They are counted separately if the sender had more to
  send and waited as long as a probe does.
- **Expiry** of the retransmission timer (RFC 6298): the oldest outstanding segment without any of these reasons.

Retransmissions belong to the same recovery until all data that were outstanding at its beginning are acknowledged. There
are three exceptions, which follow the behaviour of senders. After an expiry, a retransmission that RACK finds lost begins
a fast recovery. A loss also begins a recovery after the sender has undone the previous one, as timestamps (RFC 4015),
F-RTO (RFC 5682) or reports of second copies (RFC 3708) allow, and as new data or unanswered acknowledgments show; if the
sender is known to use RACK, this is assumed at once. If a recovery ends while segments that it retransmitted are
outstanding, another one begins at once. For a sender with pacing, the analysis waits 200 ms, in which no retransmission
timer can expire. Retransmissions that match no rule, and retransmissions that no end acknowledges, have the cause
`unknown`.

These are the rules of Linux. For senders without RACK or probes the causes are derived from their behaviour, with two
limits. A timer that expires when RACK's timer would expire counts as RACK. The only outstanding segment, retransmitted
when a probe is due, counts as a probe until the sender has let its timer expire over several segments without a probe,
because the packet does not show the difference. If the kernel counts a recovery or an expiry without a retransmission, no
packet shows it. `tests/python/test_emulate_causes.py` compares these counts with the counters of the kernel, in the
emulator.

A retransmission counts as unneeded if a DSACK, an older timestamp, or an acknowledgment that comes too early shows it,
and otherwise as needed.

On captures at the server of simulated runs, the counts of segments, retransmissions and their causes, expiries and the
round-trip times equal the metrics of the simulation exactly. These metrics differ: rates (the window), time averages (data
that wait for the handshake, and silence after the last packet), unneeded retransmissions (the simulation knows which
packets arrived), runs of duplicates of ns-2's Tahoe (it continues to count after an expiry), and `acks_received` of
one-way connections (the capture contains the first acknowledgment as the SYN+ACK of a real TCP).

A connection ends with a new SYN at the same ports. It is kept for 120 s after both ends have closed it.

| name | unit | meaning |
|---|---|---|
";

fn page() -> String {
    let mut page = INTRODUCTION.to_owned();
    for Definition { name, unit, meaning } in definitions() {
        writeln!(page, "| `{name}` | {unit} | {meaning} |").expect("writing to a String cannot fail");
    }
    page
}

/// `UMTS_BLESS=1` writes the page instead of comparing it.
#[test]
fn docs_page_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/capture-metrics.md");
    if std::env::var_os("UMTS_BLESS").is_some() {
        std::fs::write(&path, page()).expect("the page can be written");
    }
    let stored = std::fs::read_to_string(&path).expect("docs/reference/capture-metrics.md exists");
    assert_eq!(stored, page(), "regenerate it: UMTS_BLESS=1 cargo test --release -p umts-capture");
}
