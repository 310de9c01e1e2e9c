//! Checks captures of the Iub with tshark: it must decode every frame of an HS-DSCH and of an E-DCH with
//! correct CRCs, and the same fields as the events of the run have. Skipped with a message if tshark is not
//! installed.

use std::collections::BTreeMap;
use std::path::Path;

use umts_kernel::TraceSink;
use umts_scenario::Scenario;
use umts_simulate::{RunOptions, run};
use umts_stack::detail::{Detail, Stage};
use umts_stack::ids::{Direction, UeId};
use umts_stack::trace::{Channel, TraceEvent};
use umts_units::{Duration, Time};

use crate::common::{observed, scenario, tshark};

/// Lowest severity that counts as a complaint: a warning. tshark reports a wrong CRC as one.
const WARNING: u32 = 0x60_0000;

/// From docs/hspa.md: MAC is not decoded, because the capture does not name the logical channels of an
/// E-DCH in a way that Wireshark evaluates.
const OPTIONS: [&str; 2] = ["-o", "fp.call_mac:FALSE"];

const FIELDS: [&str; 12] = [
    "frame.number",
    "frame.interface_name",
    "frame.protocols",
    "_ws.expert.severity",
    "_ws.expert.message",
    "fp.ft",
    "fp.hsdsch.num-of-pdu",
    "fp.no-pdus-in-block",
    "fp.hsdsch-credits",
    "fp.edch.number-of-mac-d-pdus",
    "fp.edch.no-of-harq-retransmissions",
    "fp.edch-tsn",
];

/// An E-DCH data frame.
#[derive(Debug, PartialEq, Eq)]
struct EDchFrame {
    /// Number of PDUs.
    pdus: u32,
    /// Number of HARQ retransmissions.
    retransmissions: u32,
}

/// Frames of a UE.
#[derive(Debug, Default, PartialEq, Eq)]
struct Frames {
    /// Number of Capacity Requests.
    requests: usize,
    /// Credits of each Capacity Allocation.
    credits: Vec<u32>,
    /// Number of PDUs in all HS-DSCH data frames.
    hs_pdus: u32,
    /// The E-DCH data frames.
    e_dch: Vec<EDchFrame>,
}

/// The frames of a capture.
struct Decoded {
    /// Number of all frames.
    count: usize,
    by_ue: BTreeMap<u16, Frames>,
}

/// Decodes the frames of `file`. `None` if tshark is not installed.
fn decode(file: &Path) -> Option<Decoded> {
    let mut by_ue: BTreeMap<u16, Frames> = BTreeMap::new();
    let mut tsns: BTreeMap<u16, Vec<u32>> = BTreeMap::new();
    let mut count = 0;
    for line in tshark(file, &OPTIONS, &FIELDS)? {
        count += 1;
        let values: Vec<_> = line.split('|').collect();
        let [
            number,
            interface,
            protocols,
            severities,
            messages,
            frame_type,
            pdus,
            block_pdus,
            credits,
            e_pdus,
            retransmissions,
            tsn,
        ] = values[..]
        else {
            panic!("{} fields: {line}", FIELDS.len())
        };
        let is_warning = |severity: &str| severity.parse::<u32>().is_ok_and(|severity| severity >= WARNING);
        let complains = severities.split(',').any(is_warning) || !protocols.ends_with(":fp");
        assert!(!complains, "frame {number}: {protocols} {messages}");
        let number = |field: &str| field.parse::<u32>().unwrap_or_else(|_| panic!("{line}"));
        let ue = interface.trim_start_matches("ue").parse().expect("an interface is a UE");
        let frames = by_ue.entry(ue).or_default();
        match (frame_type, pdus, block_pdus, credits, e_pdus) {
            ("0x01", "", "", "", "") => frames.requests += 1,
            ("0x01", "", "", credits, "") => frames.credits.push(number(credits)),
            ("0x00", pdus, "", "", "") => frames.hs_pdus += number(pdus),
            // A frame of type 2 has a number for each of its blocks.
            ("0x00", "", pdus, "", "") => frames.hs_pdus += pdus.split(',').map(number).sum::<u32>(),
            ("0x00", "", "", "", pdus) => {
                let (pdus, retransmissions) = (number(pdus), number(retransmissions));
                frames.e_dch.push(EDchFrame { pdus, retransmissions });
                tsns.entry(ue).or_default().push(number(tsn));
            }
            _ => panic!("an unexpected combination of fields: {line}"),
        }
    }
    // In sequence each TSN is the successor of the one before. HARQ exchanges neighbours, and a block that is
    // lost leaves a gap, but no TSN is repeated within a window of 32.
    for tsns in tsns.values() {
        for (at, tsn) in tsns.iter().enumerate() {
            let before = &tsns[at.saturating_sub(16)..at];
            assert!(!before.contains(tsn), "TSN {tsn} is used again after {before:?}");
        }
    }
    Some(Decoded { count, by_ue })
}

/// The events that the capture must show, by UE.
#[derive(Debug, Default)]
struct Expected {
    frames: BTreeMap<u16, Frames>,
    /// Starts of the TTIs in which the Node B decoded the blocks of E-DCHs.
    decoded: BTreeMap<u16, Vec<Time>>,
}

impl Expected {
    fn of(&mut self, ue: UeId) -> &mut Frames {
        self.frames.entry(ue.0).or_default()
    }
}

impl TraceSink<TraceEvent> for Expected {
    const WANTS_DETAIL: bool = true;

    fn record(&mut self, at: Time, event: &TraceEvent) {
        if let TraceEvent::EBlockSent { ue, attempt, pdus, is_decoded: true, .. } = *event
            && pdus > 0
        {
            self.of(ue).e_dch.push(EDchFrame { pdus, retransmissions: u32::from(attempt) - 1 });
            self.decoded.entry(ue.0).or_default().push(at);
        }
    }

    fn show(&mut self, _: Time, detail: &Detail<'_>) {
        match *detail {
            Detail::HsRequest { ue, .. } => self.of(ue).requests += 1,
            // A frame has 11 bits for the credits, of which the largest value means "unlimited".
            Detail::HsCredits { ue, credits, .. } => self.of(ue).credits.push(credits.min(2_046)),
            Detail::Blocks {
                ue,
                direction: Direction::Downlink,
                channel: Channel::HsDsch,
                set,
                stage: Stage::Leaves,
            } => self.of(ue).hs_pdus += set.blocks,
            _ => {}
        }
    }
}

/// Runs a scenario twice, with captures and with a sink for its events, and compares both. Returns the
/// number of frames. `None` if tshark is not installed.
fn compare(scenario: &Scenario) -> Option<usize> {
    let folder = tempfile::tempdir().expect("a temporary folder can be created");
    let options = RunOptions { seed: 1, pcap_dir: Some(folder.path().to_owned()), ..RunOptions::default() };
    run(scenario, options).expect("no callback stops the run");
    let Expected { frames: expected, decoded } = observed(scenario, Expected::default());
    let Decoded { count, by_ue: mut frames } = decode(&folder.path().join("iub.pcapng"))?;
    // Blocks that the Node B decoded after this instant may not have reached the RNC.
    let nearly_end = Time::ZERO + scenario.duration - Duration::from_millis(50);
    for (ue, mut expected) in expected {
        let frames = frames.remove(&ue).unwrap_or_default();
        let decoded = decoded.get(&ue).map_or(&[][..], Vec::as_slice);
        let arrived = decoded.partition_point(|at| *at < nearly_end);
        assert!(frames.e_dch.len() >= arrived, "UE {ue}: {} of {arrived} frames", frames.e_dch.len());
        expected.e_dch.truncate(frames.e_dch.len());
        assert_eq!(frames, expected, "UE {ue}");
    }
    assert!(frames.is_empty(), "{frames:?}");
    Some(count)
}

#[test]
fn frames_of_an_hs_dsch_have_the_credits_and_pdus_of_the_run() {
    let frames = compare(&scenario("hsdpa", &[("duration", "10 s"), ("measure.from", "0 s")]));
    assert!(frames.is_none_or(|frames| frames > 2_000), "{frames:?}");
}

#[test]
fn frames_of_e_dchs_have_the_blocks_that_the_node_b_decoded() {
    let frames = compare(&scenario("hspa", &[("duration", "10 s"), ("measure.from", "0 s")]));
    assert!(frames.is_none_or(|frames| frames > 5_000), "{frames:?}");
}

/// 100,000 frames of an HS-DSCH with MAC-hs or MAC-ehs, of its flow control, and of E-DCHs.
#[test]
fn a_hundred_thousand_frames_are_decoded() {
    let frames_with = |mac: &str| {
        let keys = [("duration", "30 s"), ("measure.from", "0 s"), ("ue.download.hs_dsch.mac", mac)];
        compare(&scenario("hspa", &keys))
    };
    let (Some(type_1), Some(type_2)) = (frames_with("mac_hs"), frames_with("mac_ehs")) else { return };
    assert!(type_1 + type_2 > 100_000, "{type_1} and {type_2} frames");
}

/// PDUs of flexible and of fixed size for MAC-ehs. Timer_Poll expires before reports arrive.
#[test]
fn frames_for_mac_ehs_are_decoded() {
    for (pdu_size, poll_sufi) in [("fixed", "false"), ("flexible", "false"), ("flexible", "true")] {
        let keys = [
            ("duration", "5 s"),
            ("measure.from", "0 s"),
            ("rlc.pdu_size", pdu_size),
            ("rlc.poll_sufi", poll_sufi),
            ("rlc.timer_poll", "20 ms"),
            ("ue.user.hs_dsch.mac", "mac_ehs"),
        ];
        let frames = compare(&scenario("hsdpa", &keys));
        assert!(frames.is_none_or(|frames| frames > 200), "{pdu_size}: {frames:?}");
    }
}

/// More PDUs than a frame can have, PDUs of 656 bits, and blocks that fail for good.
#[test]
fn frames_of_large_allocations_and_other_sizes_are_decoded() {
    let large = [
        ("duration", "5 s"),
        ("measure.from", "0 s"),
        ("cell.cell.hs_dsch.queue_time", "200 ms"),
        ("ue.user.bearer", "hsdpa-14.4"),
        ("ue.user.hs_dsch.snr", "30 dB"),
    ];
    compare(&scenario("hsdpa", &large));
    let wide = [("duration", "5 s"), ("measure.from", "0 s"), ("rlc.pdu_payload", "80 B")];
    compare(&scenario("hsdpa", &wide));
    let lossy = [
        ("duration", "5 s"),
        ("measure.from", "0 s"),
        ("cell.cell.e_dch.max_transmissions", "2"),
        ("ue.upload.e_dch.attempt_errors", "[0.3, 0.2]"),
    ];
    compare(&scenario("hspa", &lossy));
}
