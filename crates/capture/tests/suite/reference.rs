//! The reference page of `umts analyse`, generated from the definitions.

use std::fmt::Write;
use std::path::Path;

use umts_capture::{Definition, definitions};

const INTRODUCTION: &str = "\
# Metrics of captures

<!-- Generated from crates/capture/src/metrics.rs by `UMTS_BLESS=1 cargo test --release -p umts-capture`. -->

`umts analyse` reads pcap and pcapng files of any origin: Ethernet (VLAN, PPPoE), raw IP, Linux cooked 1 and 2, PPP and
loopback; IPv4 and IPv6; either byte order, any resolution of time, several sections and interfaces. Packets may be cut
behind their TCP headers, since lengths come from the IP header. IP fragments are counted and left out. A file that is
cut off or damaged is analysed up to there, with a warning; one that is no capture is an error (exit status 2).

Metrics have the [names of the simulation](metrics.md) and mean the same. What differs is what can be known:

- **Window**: from the capture's first packet to its last, for connections too. `goodput_active_kbps` is the rate while
  data were outstanding.
- **Active time**: the time in which data are outstanding, until they are acknowledged, the connection is reset or the
  capture ends. Data that the application has not sent yet are not seen.
- **Sender**: a connection's row is about the data of the end that sent more; `reverse_…` counts the other end's.
- **Capture point**: `position` says where the capture was taken, told from how soon each end answers in the handshake.
  Round-trip times and outstanding data are the sender's own only at `sender`. At `receiver` and `between` they lack the
  path before the capture point; a segment lost before it shows as a hole, and whatever fills the hole later than 3 ms
  counts as sent again.
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
  acknowledgments, if it comes no later than a quarter after 2·SRTT + 200 ms, if no other probe is unanswered, and
  unless the sender was seen to let its timer expire where a probe would have come before. New data that are sent as a
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
counts a recovery or an expiry without sending anything again, no packet shows it. `benches/causes.py` holds these counts
against those of the kernel, over the emulator.

A retransmission counts as unneeded if a DSACK, an older timestamp, or an acknowledgment that comes too early says so, and
else as needed.

On captures at the server of our own runs, counts of segments, retransmissions and their causes, expiries and the
round-trip times equal the simulation's exactly. Not so, and why: rates (the window), time averages (data that wait for
the handshake, and silence after the last packet), unneeded retransmissions (the simulation knows what arrived), runs of
duplicates of ns-2's Tahoe (it goes on counting over an expiry), and `acks_received` of one-way connections (the first
acknowledgment is written as the SYN+ACK that real TCP has).

Two packets in a row that are the same down to the IP identification were captured twice and count once. Packets with
earlier times than those before them count as of the same time. A connection ends with a new SYN at the same ports; it is
kept for 120 s after both ends have closed it.

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
fn the_page_in_the_docs_is_the_generated_one() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/capture-metrics.md");
    if std::env::var_os("UMTS_BLESS").is_some() {
        std::fs::write(&path, page()).expect("the page can be written");
    }
    let found = std::fs::read_to_string(&path).expect("docs/reference/capture-metrics.md exists");
    assert_eq!(found, page(), "regenerate it: UMTS_BLESS=1 cargo test --release -p umts-capture");
}
