//! The reference page of `umts analyse`, generated from the definitions.

use std::fmt::Write;
use std::path::Path;

use umts_capture::{Definition, definitions};

const INTRODUCTION: &str = "\
# Metrics of captures

<!-- Generated from crates/capture/src/metrics.rs by `UMTS_BLESS=1 cargo test --release -p umts-capture`. -->

`umts analyse` reads captures of any origin:

- **Files**: pcap (also Kuznetzov's \"modified\" format) and pcapng (also the obsolete Packet Block), in either byte order,
  with any resolution of time, several sections and interfaces; as they are or compressed by gzip, Zstandard or LZ4 (`.gz`,
  `.zst`, `.lz4`; known by their content). A compressed file is unpacked as a stream, at most to a thousand times its size,
  or 256 MiB.
- **Links**: Ethernet (VLAN, PPPoE, LLC/SNAP), raw IP, Linux cooked 1 and 2, PPP and Cisco HDLC, MPLS, ATM with LLC, and
  loopback.
- **Tunnels**, also in each other, up to 32 headers: GTP-U (with extension headers), GRE (also PPTP and ERSPAN), VXLAN,
  Geneve, MPLS (also pseudowires), IP in IP, and IPsec's AH. A connection in GTP-U has the TEIDs of both directions beside it
  (`client_teid` and `server_teid`, by the end that sent the packets); connections between the same addresses and ports in
  different tunnels are told apart.

Packets may be cut behind their TCP headers, since lengths come from the IP header; a length beyond the end of the frame
counts as the length of the frame, with a warning. IP fragments are counted and left out. All other packets are counted by protocol
(`passed_over`; protocols beyond the 64th together), with a warning if they may carry TCP: ESP or L2TP, for example. A file that is cut off or damaged is
analysed up to there, with a warning; one that is no capture, or whose times have a unit that no clock has, is an error (exit
status 2).

Packets are put into the order of their times within a window of 4,096 packets. A packet that is farther from its place
gets the time of the packet before it, with a warning. Behind a clock that was set back by more than 10 s, packets keep the
order of the file.

**UDP flows** have rows of their own: packets, payload, rate, mean and longest gap of the end that sent more, and in columns
with `reverse_` the same of the other end. In a flow of QUIC, `spin_rtt_s` is the mean time between changes of the spin bit
(RFC 9000 §17.4): a round trip, if packets are frequent enough to show each change. It has no value where the bit is constant or random.

Metrics have the [names of the simulation](metrics.md) and mean the same. What differs is what can be known:

- **Window**: from the capture's first packet to its last, for connections too. `goodput_active_kbps` is the rate while
  data were outstanding.
- **Active time**: the time in which data are outstanding, until they are acknowledged, the connection is reset or the
  capture ends. Data that the application has not sent yet are not seen.
- **Sender**: a connection's row is about the data of the end that sent more; `reverse_…` counts the other end's.
- **Capture point**: `position` says where the capture was taken, told from how soon each end answers in the handshake.
  Round-trip times and outstanding data are the sender's own only at `sender`. At `receiver` and `between` they lack the
  path before the capture point.
- **Holes**: octets that did not pass although later sequence numbers, also of segments without data, show that they were
  sent. A segment that fills a hole was sent again if its timestamp is later than that of the segment which showed the hole.
  It was only late if its timestamp is earlier. Without timestamps, a segment that fills a hole later than 3 ms counts as sent
  again, and a warning has the number of these segments. A first copy that is captured at most 3 ms after its acknowledgment
  was not sent again either.
- **Copies**: packets that are equal down to the IP identification, at most 10 ms apart, were captured twice (by a mirror
  port, or on two interfaces) and count once. Without identification (IPv6), data are copies if they come sooner than a round
  trip after the first, and acknowledgments alone if at least half of the connection's data come twice.
- **Acceptance**: a segment whose acknowledgment cannot belong to the connection is left out, and so is a reset with such a
  number. That is an acknowledgment of more than the SYN before the SYN was answered, of more than the window allows, or of
  data older than the largest window. A warning counts these segments. If the capture missed packets, a second
  acknowledgment beyond the first is accepted.
- A metric without a value (`null`) is not known: there was no handshake, no acknowledgment was captured, or packets do
  not tell.

Why a segment was sent again is told from what preceded it, by the rules that a sender may have for it:

- **Fast retransmission**: in answer to an acknowledgment (within 10 ms, or twice the time that the sender needed in the
  handshake), the oldest outstanding segment after three duplicates (RFC 5681), or one with selective acknowledgments
  above it (RFC 6675); or one that is lost by RACK (RFC 8985 §6): something that left later has arrived, and a round trip
  and the reordering window have passed. The reordering window is that of the RFC: none in a recovery or after three
  duplicates, unless the path reorders; else a quarter of the shortest round trip, wider with each round trip in which
  the receiver reported second copies, at most SRTT.
- **Tail loss probe** (RFC 8985 §7): the last segment after silence, while nothing is known to be missing. Where it is the
  only one outstanding, the timeout of the sender would repeat it too. It is a probe if both ends permit selective
  acknowledgments, if it comes no later than a quarter after 2·SRTT + 200 ms, if no other probe is unanswered, unless
  the next one comes after twice the time (as timeouts do), and unless the sender was seen to let its timer expire where a
  probe would have come before. New data that are sent as a
  probe look like any others; they are counted apart where the sender had more to send and waited as long as a probe does.
- **Expiry** of the retransmission timer (RFC 6298): the oldest outstanding segment without any of these reasons.

What is repeated until all is acknowledged that was outstanding then belongs to the same recovery. There are three
exceptions, since senders make them. After an expiry, a repetition that RACK finds to be lost begins a fast recovery. So
does what is lost after the sender has taken a recovery back, as timestamps (RFC 4015), F-RTO (RFC 5682) or reports of
second copies (RFC 3708) allow it to, and as new data or unanswered acknowledgments show; of a sender that is known to go
by RACK it is believed at once. And where a recovery ends while segments that were repeated in it are outstanding, another
one begins at once. A sender that paces is waited for as long as no retransmission timer can have expired, 200 ms. What fits none of the rules, and what is
repeated where nobody acknowledges, has the cause `unknown`.

These are the rules of Linux. Of senders without RACK or probes the same is told from what they do, with two limits. A
timer that expires when RACK's would is taken for RACK's. And the only segment, repeated when a probe is due, is a probe
until the sender has let its timer expire over several segments without one: nothing in the packet tells. Where the kernel
counts a recovery or an expiry without sending anything again, no packet shows it.
`tests/python/test_emulate_causes.py` compares these counts with those of the kernel, over the emulator.

A retransmission counts as unneeded if a DSACK, an older timestamp, or an acknowledgment that comes too early says so, and
else as needed.

On captures at the server of our own runs, counts of segments, retransmissions and their causes, expiries and the
round-trip times equal the simulation's exactly. Not so, and why: rates (the window), time averages (data that wait for
the handshake, and silence after the last packet), unneeded retransmissions (the simulation knows what arrived), runs of
duplicates of ns-2's Tahoe (it goes on counting over an expiry), and `acks_received` of one-way connections (the first
acknowledgment is written as the SYN+ACK that real TCP has).

A connection ends with a new SYN at the same ports; it is kept for 120 s after both ends have closed it.

| name | unit | meaning |
|---|---|---|
";

fn page() -> String {
    let mut page = INTRODUCTION.to_owned();
    for Definition { name, unit, meaning } in definitions() {
        writeln!(page, "| `{name}` | {unit} | {meaning} |").expect("a string takes all");
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
    let found = std::fs::read_to_string(&path).expect("docs/reference/capture-metrics.md exists");
    assert_eq!(found, page(), "regenerate it: UMTS_BLESS=1 cargo test --release -p umts-capture");
}
