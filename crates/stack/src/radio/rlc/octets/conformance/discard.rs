//! TS 34.123-1 §7.2.3: SDU discard and the Move Receiving Window procedure.

use umts_units::Duration;

use super::bits::{amd7, list, mrw, mrw_ack, status, status_without_ack};
use super::talk::{Talk, sdu};
use super::{Case, PDU, am, talks};
use crate::radio::rlc::{RlcConfig, SduDiscard};
use crate::trace::TraceEvent;

pub fn cases() -> Vec<Case> {
    vec![
        talks(
            "7.2.3",
            "AM, timer based discard with explicit signalling: Timer_Discard expires",
            "an MRW says where the receiver goes on; its acknowledgment ends it (§9.7.3.1, §11.6)",
            timer_discard,
        ),
        talks(
            "7.2.3",
            "AM, timer based discard: obsolete or corrupted MRW_ACK",
            "it is ignored; Timer_MRW runs on (§11.6.4)",
            wrong_mrw_ack,
        ),
        talks(
            "7.2.3",
            "AM, timer based discard: Timer_MRW and MaxMRW",
            "the MRW is repeated, MaxMRW − 1 times sent; then RLC is reset (§11.6.4)",
            mrw_fails,
        ),
        talks(
            "7.2.3",
            "AM, timer based discard: an MRW is received",
            "SDUs up to it are gone, VR(R) moves, MRW_ACK answers, with N_LENGTH where SN_MRW is VR(R) (§11.6.3)",
            mrw_received,
        ),
        talks(
            "7.2.3",
            "AM, SDU discard after MaxDAT − 1 transmissions",
            "the SDU is given up and an MRW sent (§9.7.3.3)",
            max_dat,
        ),
        talks(
            "7.2.3",
            "AM, no discard after MaxDAT − 1 transmissions",
            "RLC is reset (§9.7.3.4)",
            no_discard,
        ),
    ]
}

fn small(sn: u16, poll: bool, id: u64) -> Vec<u8> {
    amd7(sn, poll, &[4, 0x7F], &sdu(id, 4), PDU)
}

fn by_timer() -> RlcConfig {
    RlcConfig {
        sdu_discard: SduDiscard::Timer,
        timer_discard: Some(Duration::from_millis(500)),
        max_dat: None,
        ..am(16)
    }
}

/// SDU 0 was sent in PDU 0 and is too old: the MRW.
fn after_expiry(talk: &mut Talk) {
    talk.queues(0, 4).sends_just(&[small(0, true, 0)]);
    talk.at(499).is_silent();
    // No other SDU begins in PDU 0, so the MRW names the PDU after it (§11.6.2.2).
    talk.at(500).sends_just(&[status_without_ack(&mrw(&[1], 0), PDU)]);
}

fn timer_discard() -> Talk {
    let mut talk = Talk::am(by_timer());
    after_expiry(&mut talk);
    assert!(talk.saw(|event| matches!(event, TraceEvent::SduDiscarded { .. })));
    talk.at(540).hears(status_without_ack(&mrw_ack(0, 1), PDU)).is_silent();
    talk.at(1_500).is_silent();
    // Data goes on with the next number.
    talk.queues(1, 4).sends_just(&[small(1, true, 1)]);
    talk
}

fn wrong_mrw_ack() -> Talk {
    let mut talk = Talk::am(by_timer());
    after_expiry(&mut talk);
    // Another N_LENGTH; a number that the window never held.
    talk.at(540).hears(status_without_ack(&mrw_ack(2, 1), PDU)).is_silent();
    talk.at(560).hears(status_without_ack(&mrw_ack(0, 700), PDU)).is_silent();
    assert!(!talk.saw(|event| matches!(event, TraceEvent::RlcReset { .. })));
    talk.at(1_000).sends_just(&[status_without_ack(&mrw(&[1], 0), PDU)]);
    talk.at(1_040).hears(status_without_ack(&mrw_ack(0, 1), PDU));
    talk.at(2_000).is_silent();
    talk
}

fn mrw_fails() -> Talk {
    let mut talk = Talk::am(by_timer());
    after_expiry(&mut talk);
    for at in [1_000, 1_500] {
        talk.at(at).sends_just(&[status_without_ack(&mrw(&[1], 0), PDU)]);
    }
    // MaxMRW = 4.
    let sent = talk.at(2_000).sends(4);
    assert_eq!(sent, [super::bits::reset(0, 0, PDU)]);
    talk
}

fn mrw_received() -> Talk {
    let mut talk = Talk::am(am(16));
    // PDU 0 with SDU 0, PDU 2 with SDU 2; PDU 1 is missing.
    talk.hears_ending(small(0, false, 0), &[(0, 4)]);
    assert_eq!(talk.delivers(), [0]);
    talk.peer_begins_in(2).hears_ending(small(2, false, 2), &[(2, 4)]);
    talk.sends_just(&[status(&list(&[(1, 0)]), 3, PDU)]);
    // The peer gives SDU 1 up, which ends with the first indicator of PDU 1.
    talk.at(40).hears(status_without_ack(&mrw(&[1], 1), PDU));
    // PDU 1 is not here: VR(R) = SN_MRW, and N is N_LENGTH.
    let answer = talk.sends(3);
    assert_eq!(answer, [status_without_ack(&mrw_ack(1, 1), PDU)]);
    assert_eq!(talk.delivers(), [] as [u64; 0]);
    // The rest of PDU 1 is waited for: it may hold the beginning of an SDU that is wanted.
    talk.at(60).peer_begins_in(1).hears_ending(small(1, false, 1), &[(1, 4)]);
    assert_eq!(talk.delivers(), [2]);
    // A repetition of the MRW, now obsolete, is answered again, and moves nothing.
    talk.at(80).hears(status_without_ack(&mrw(&[1], 1), PDU));
    assert_eq!(talk.sends(3), [status_without_ack(&mrw_ack(0, 3), PDU)]);
    talk
}

/// PDU 0 is sent, and reported missing until MaxDAT permits no further transmission: the action for
/// VT(DAT) = MaxDAT replaces a transmission.
fn until_max_dat(talk: &mut Talk) {
    talk.queues(0, 4).sends_just(&[small(0, true, 0)]);
    for at in [40, 80] {
        talk.at(at).hears(status(&list(&[(0, 0)]), 1, PDU)).sends_just(&[small(0, true, 0)]);
    }
    talk.at(120).hears(status(&list(&[(0, 0)]), 1, PDU));
}

fn max_dat() -> Talk {
    let mut talk = Talk::am(am(16));
    until_max_dat(&mut talk);
    talk.sends_just(&[status_without_ack(&mrw(&[1], 0), PDU)]);
    talk.at(160).hears(status_without_ack(&mrw_ack(0, 1), PDU)).queues(1, 4);
    talk.sends_just(&[small(1, true, 1)]);
    talk
}

fn no_discard() -> Talk {
    let mut talk = Talk::am(RlcConfig { sdu_discard: SduDiscard::Never, ..am(16) });
    until_max_dat(&mut talk);
    talk.sends_just(&[super::bits::reset(0, 0, PDU)]);
    talk
}
