//! TS 34.123-1 §7.2.3: the formats of acknowledged mode.

use super::bits::{amd7, amd15, list, status};
use super::talk::{Talk, sdu};
use super::{Case, DATA, PDU, am, talks};
use crate::radio::rlc::RlcConfig;
use crate::radio::rlc::am::Piggyback;

const LONG: usize = 168;

pub fn cases() -> Vec<Case> {
    vec![
        talks(
            "7.2.3",
            "AM, selection of 7- or 15-bit length indicators",
            "7 bits up to PDUs of 126 octets, 15 above (§9.2.2.8)",
            selection,
        ),
        talks("7.2.3", "AM, 7-bit, padding", "LI 0x7F: the rest is padding (§9.2.2.8)", padding),
        talks(
            "7.2.3",
            "AM, 7-bit, LI = 0",
            "an SDU that fills its last PDU is ended by LI 0 in the next (§9.2.2.8)",
            previous_filled,
        ),
        talks(
            "7.2.3",
            "AM, 7-bit, reserved LI value",
            "the PDU is discarded and requested again (§10)",
            reserved_7,
        ),
        talks(
            "7.2.3",
            "AM, 15-bit, padding or piggybacked STATUS",
            "LI 0x7FFF: padding; 0x7FFE: a STATUS takes its place (§9.2.2.8, §9.2.1.6)",
            padding_or_status,
        ),
        talks("7.2.3", "AM, 15-bit, LI = 0", "as with 7 bits (§9.2.2.8)", previous_filled_15),
        talks(
            "7.2.3",
            "AM, 15-bit, one octet short LI",
            "LI 0x7FFB: the SDU before ended one octet before the end of its PDU (§9.2.2.8)",
            one_short,
        ),
        talks(
            "7.2.3",
            "AM, 15-bit, reserved LI value",
            "the PDU is discarded and requested again (§10)",
            reserved_15,
        ),
    ]
}

fn selection() -> Talk {
    let mut long = Talk::am(am(166));
    long.queues(0, 10).sends_just(&[amd15(0, true, &[10, 0x7FFF], &sdu(0, 10), LONG)]);
    let mut talk = Talk::am(am(16));
    talk.queues(0, 10).sends_just(&[amd7(0, true, &[10, 0x7F], &sdu(0, 10), PDU)]);
    talk.lines.splice(0..0, long.lines);
    talk
}

fn padding() -> Talk {
    let mut talk = Talk::am(am(16));
    talk.hears_ending(amd7(0, true, &[9, 0x7F], &sdu(0, 9), PDU), &[(0, 9)]);
    assert_eq!(talk.delivers(), [0]);
    talk.queues(1, 9).sends_just(&[status(&[], 1, PDU), amd7(0, true, &[9, 0x7F], &sdu(1, 9), PDU)]);
    // 15 octets and their indicator leave nothing to say.
    talk.at(20).hears(status(&[], 1, PDU)).queues(2, 15);
    talk.sends_just(&[amd7(1, true, &[15], &sdu(2, 15), PDU)]);
    talk
}

fn previous_filled() -> Talk {
    let mut talk = Talk::am(am(16));
    talk.hears(amd7(0, false, &[], &sdu(0, DATA), PDU));
    talk.hears_ending(amd7(1, true, &[0, 5, 0x7F], &sdu(1, 5), PDU), &[(0, 16), (1, 5)]);
    assert_eq!(talk.delivers(), [0, 1]);
    talk.queues(2, 16).queues(3, 5);
    talk.sends_just(&[
        status(&[], 2, PDU),
        amd7(0, false, &[], &sdu(2, DATA), PDU),
        amd7(1, true, &[0, 5, 0x7F], &sdu(3, 5), PDU),
    ]);
    talk
}

fn reserved_7() -> Talk {
    let mut talk = Talk::am(am(16));
    // 0x7C and 0x7D mean nothing in acknowledged mode.
    talk.hears(amd7(0, false, &[0x7D], &[0; 15], PDU));
    talk.peer_begins_in(1).hears_ending(amd7(1, true, &[4, 0x7F], &sdu(1, 4), PDU), &[(1, 4)]);
    assert_eq!(talk.delivers(), [] as [u64; 0]);
    talk.sends_just(&[status(&list(&[(0, 0)]), 2, PDU)]);
    talk.at(20).peer_begins_in(0).hears_ending(amd7(0, false, &[6, 0x7F], &sdu(0, 6), PDU), &[(0, 6)]);
    assert_eq!(talk.delivers(), [0, 1]);
    talk
}

fn padding_or_status() -> Talk {
    let mut talk = Talk::am(RlcConfig { piggyback: Piggyback::Padding, ..am(166) });
    talk.hears_ending(amd15(0, true, &[9, 0x7FFF], &sdu(0, 9), LONG), &[(0, 9)]);
    assert_eq!(talk.delivers(), [0]);
    // Looped back, with the acknowledgment in the padding: R2, type, ACK and LSN.
    talk.queues(1, 9);
    let data = [sdu(1, 9), vec![0x02, 0x00, 0x10]].concat();
    talk.sends_just(&[amd15(0, true, &[9, 0x7FFE], &data, LONG)]);
    // The peer's acknowledgment comes the same way.
    let data = [sdu(2, 9), vec![0x02, 0x00, 0x10]].concat();
    talk.at(20).peer_begins_in(1).hears_ending(amd15(1, false, &[9, 0x7FFE], &data, LONG), &[(2, 9)]);
    assert_eq!(talk.delivers(), [2]);
    talk.is_silent();
    talk
}

fn previous_filled_15() -> Talk {
    let mut talk = Talk::am(am(166));
    talk.hears(amd15(0, false, &[], &sdu(0, 166), LONG));
    talk.hears_ending(amd15(1, true, &[0, 5, 0x7FFF], &sdu(1, 5), LONG), &[(0, 166), (1, 5)]);
    assert_eq!(talk.delivers(), [0, 1]);
    talk.queues(2, 166).queues(3, 5);
    talk.sends_just(&[
        status(&[], 2, LONG),
        amd15(0, false, &[], &sdu(2, 166), LONG),
        amd15(1, true, &[0, 5, 0x7FFF], &sdu(3, 5), LONG),
    ]);
    talk
}

fn one_short() -> Talk {
    let mut talk = Talk::am(am(166));
    talk.hears(amd15(0, false, &[], &sdu(0, 165), LONG));
    talk.hears_ending(amd15(1, true, &[0x7FFB, 5, 0x7FFF], &sdu(1, 5), LONG), &[(0, 165), (1, 5)]);
    assert_eq!(talk.delivers(), [0, 1]);
    talk.queues(2, 165).queues(3, 5);
    talk.sends_just(&[
        status(&[], 2, LONG),
        amd15(0, false, &[], &sdu(2, 165), LONG),
        amd15(1, true, &[0x7FFB, 5, 0x7FFF], &sdu(3, 5), LONG),
    ]);
    talk
}

fn reserved_15() -> Talk {
    let mut talk = Talk::am(am(166));
    talk.hears(amd15(0, false, &[0x7FFC], &[0; 100], LONG));
    talk.peer_begins_in(1).hears_ending(amd15(1, true, &[4, 0x7FFF], &sdu(1, 4), LONG), &[(1, 4)]);
    assert_eq!(talk.delivers(), [] as [u64; 0]);
    talk.sends_just(&[status(&list(&[(0, 0)]), 2, LONG)]);
    talk.at(20).peer_begins_in(0).hears_ending(amd15(0, false, &[6, 0x7FFF], &sdu(0, 6), LONG), &[(0, 6)]);
    assert_eq!(talk.delivers(), [0, 1]);
    talk
}
