//! TS 34.123-1 §7.2.3: triggers and contents of status reports.

use umts_units::Duration;

use super::bits::{amd7, control, list, status};
use super::talk::{Talk, sdu};
use super::{Case, PDU, am, talks};
use crate::radio::rlc::RlcConfig;
use crate::radio::rlc::am::MissingPduIndication;
use crate::trace::TraceEvent;

pub fn cases() -> Vec<Case> {
    vec![
        talks(
            "7.2.3",
            "AM, receiver status triggers: missing PDU",
            "a gap is reported at once, named in the STATUS (§9.7.2)",
            missing,
        ),
        talks(
            "7.2.3",
            "AM, receiver status triggers: Timer_Status_Periodic",
            "each expiry brings a report (§9.5 f, §9.7.2)",
            periodic,
        ),
        talks(
            "7.2.3",
            "AM, Timer_Status_Prohibit",
            "no second report inside it; a delayed one after it (§9.5 e)",
            prohibit,
        ),
        talks(
            "7.2.3",
            "AM, STATUS with a LIST of length 0",
            "the STATUS is discarded, no RESET (§10)",
            empty_list,
        ),
        talks(
            "7.2.3",
            "AM, STATUS with a reserved SUFI type",
            "the STATUS is discarded, no RESET (§10)",
            reserved_sufi,
        ),
        talks(
            "7.2.3",
            "AM, control PDU of a reserved type",
            "it is discarded, no RESET (§10)",
            reserved_type,
        ),
    ]
}

fn small(sn: u16, poll: bool, id: u64) -> Vec<u8> {
    amd7(sn, poll, &[4, 0x7F], &sdu(id, 4), PDU)
}

/// Receives PDU `sn` of the peer with an SDU of its own.
fn hears_small(talk: &mut Talk, sn: u16, poll: bool) {
    talk.peer_begins_in(sn.into()).hears_ending(small(sn, poll, sn.into()), &[(sn.into(), 4)]);
}

fn missing() -> Talk {
    let mut talk = Talk::am(am(16));
    hears_small(&mut talk, 0, false);
    talk.is_silent();
    hears_small(talk.at(20), 3, false);
    talk.sends_just(&[status(&list(&[(1, 1)]), 4, PDU)]);
    // One of the two arrives: no new gap, no report.
    hears_small(talk.at(40), 2, false);
    talk.is_silent();
    // A report for a new gap lists all PDUs missing at that time.
    hears_small(talk.at(60), 6, false);
    talk.sends_just(&[status(&list(&[(1, 0), (4, 1)]), 7, PDU)]);
    talk
}

fn periodic() -> Talk {
    let config = RlcConfig {
        timer_status_periodic: Some(Duration::from_millis(200)),
        missing_pdu_indication: MissingPduIndication::Off,
        ..am(16)
    };
    let mut talk = Talk::am(config);
    hears_small(&mut talk, 0, false);
    talk.at(199).is_silent();
    talk.at(200).sends_just(&[status(&[], 1, PDU)]);
    hears_small(talk.at(300), 1, false);
    talk.at(400).sends_just(&[status(&[], 2, PDU)]);
    talk
}

fn prohibit() -> Talk {
    let config = RlcConfig { timer_status_prohibit: Some(Duration::from_millis(200)), ..am(16) };
    let mut talk = Talk::am(config);
    hears_small(&mut talk, 0, true);
    talk.sends_just(&[status(&[], 1, PDU)]);
    hears_small(talk.at(40), 1, true);
    talk.is_silent();
    hears_small(talk.at(80), 3, true);
    talk.is_silent();
    talk.at(199).is_silent();
    talk.at(200).sends_just(&[status(&list(&[(2, 0)]), 4, PDU)]);
    talk.at(220).is_silent();
    talk
}

fn resets(talk: &Talk) -> bool {
    talk.saw(|event| matches!(event, TraceEvent::RlcReset { .. }))
}

/// An invalid STATUS during an outstanding PDU has no effect.
fn ignores(octets: Vec<u8>) -> Talk {
    let mut talk = Talk::am(am(16));
    talk.queues(0, 4).sends_just(&[small(0, true, 0)]);
    talk.at(20).hears(octets).is_silent();
    assert!(!resets(&talk));
    // The next STATUS takes effect.
    talk.at(40).hears(status(&list(&[(0, 0)]), 1, PDU)).sends_just(&[small(0, true, 0)]);
    talk
}

fn empty_list() -> Talk {
    ignores(status(&list(&[]), 1, PDU))
}

fn reserved_sufi() -> Talk {
    // 1001 to 1111 are reserved.
    ignores(status(&[(0b1010, 4)], 1, PDU))
}

fn reserved_type() -> Talk {
    ignores(control(&[(0b0101, 4), (0, 12)], PDU))
}
