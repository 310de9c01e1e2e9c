//! TS 34.123-1 §7.2.2: unacknowledged mode.

use super::bits::{umd7, umd15};
use super::talk::{Talk, sdu};
use super::{Case, talks, um};

/// PDUs of the bearers: 42 octets with 7-bit, 168 with 15-bit length indicators.
const SHORT: usize = 42;
const LONG: usize = 168;

pub fn cases() -> Vec<Case> {
    vec![
        talks(
            "7.2.2",
            "UM, selection of 7- or 15-bit length indicators",
            "7 bits up to PDUs of 125 octets, 15 above (§9.2.2.8)",
            selection,
        ),
        talks("7.2.2", "UM, 7-bit, padding", "LI 0x7F: the rest is padding (§9.2.2.8)", padding),
        talks(
            "7.2.2",
            "UM, 7-bit, LI = 0",
            "an SDU that fills its last PDU is ended by LI 0 in the next (§9.2.2.8)",
            previous_filled,
        ),
        talks(
            "7.2.2",
            "UM, 7-bit, invalid LI value",
            "the PDU is discarded, and the SDUs with a part in it (§11.2.4.2, §10)",
            invalid_7,
        ),
        talks("7.2.2", "UM, 15-bit, LI = 0", "as with 7 bits (§9.2.2.8)", previous_filled_15),
        talks(
            "7.2.2",
            "UM, 15-bit, one octet short LI",
            "LI 0x7FFB: the SDU before ended one octet before the end of its PDU (§9.2.2.8)",
            one_short,
        ),
        talks(
            "7.2.2",
            "UM, 15-bit, invalid LI value",
            "the PDU is discarded, and the SDUs with a part in it (§11.2.4.2, §10)",
            invalid_15,
        ),
    ]
}

fn selection() -> Talk {
    let mut long = Talk::um(um(167));
    long.queues(0, 10).sends_just(&[umd15(0, &[0x7FFC, 10, 0x7FFF], &sdu(0, 10), LONG)]);
    let mut talk = Talk::um(um(41));
    talk.queues(0, 10).sends_just(&[umd7(0, &[0x7C, 10, 0x7F], &sdu(0, 10), SHORT)]);
    talk.lines.splice(0..0, long.lines);
    talk
}

fn padding() -> Talk {
    let mut talk = Talk::um(um(41));
    talk.hears_ending(umd7(0, &[0x7C, 20, 0x7F], &sdu(0, 20), SHORT), &[(0, 20)]);
    assert_eq!(talk.delivers(), [0]);
    // Looped back, and its octets behind the padding may be anything.
    talk.at(40).queues(0, 20).sends_just(&[umd7(0, &[0x7C, 20, 0x7F], &sdu(0, 20), SHORT)]);
    let mut padded = umd7(1, &[0x7C, 20, 0x7F], &sdu(1, 20), SHORT);
    padded[30..].fill(0xA5);
    talk.at(80).peer_begins_in(1).hears_ending(padded, &[(1, 20)]);
    assert_eq!(talk.delivers(), [1]);
    talk
}

fn previous_filled() -> Talk {
    let mut talk = Talk::um(um(41));
    // Without the indicator for the start of an SDU, as in the test case: according to the numbers
    // nothing is missing.
    talk.hears(umd7(0, &[], &sdu(0, 41), SHORT));
    assert_eq!(talk.delivers(), [] as [u64; 0]);
    talk.hears_ending(umd7(1, &[0, 10, 0x7F], &sdu(1, 10), SHORT), &[(0, 41), (1, 10)]);
    assert_eq!(talk.delivers(), [0, 1]);
    // 40 octets behind 0x7C fill a PDU.
    talk.at(40).queues(2, 40).queues(3, 5);
    talk.sends_just(&[umd7(0, &[0x7C], &sdu(2, 40), SHORT), umd7(1, &[0, 5, 0x7F], &sdu(3, 5), SHORT)]);
    talk
}

fn invalid_7() -> Talk {
    let mut talk = Talk::um(um(41));
    talk.hears(umd7(0, &[0x7C], &sdu(0, 40), SHORT));
    // An offset behind the end of the PDU; a reserved value.
    talk.hears(umd7(1, &[60], &[0; 40], SHORT)).hears(umd7(2, &[0x7E], &[0; 40], SHORT));
    talk.peer_begins_in(3).hears_ending(umd7(3, &[0x7C, 9, 0x7F], &sdu(1, 9), SHORT), &[(1, 9)]);
    assert_eq!(talk.delivers(), [1]);
    talk
}

fn previous_filled_15() -> Talk {
    let mut talk = Talk::um(um(167));
    talk.hears(umd15(0, &[], &sdu(0, 167), LONG));
    talk.hears_ending(umd15(1, &[0, 10, 0x7FFF], &sdu(1, 10), LONG), &[(0, 167), (1, 10)]);
    assert_eq!(talk.delivers(), [0, 1]);
    talk
}

fn one_short() -> Talk {
    let mut talk = Talk::um(um(167));
    talk.hears(umd15(0, &[], &sdu(0, 166), LONG));
    talk.hears_ending(umd15(1, &[0x7FFB, 10, 0x7FFF], &sdu(1, 10), LONG), &[(0, 166), (1, 10)]);
    assert_eq!(talk.delivers(), [0, 1]);
    // 0x7FFC takes two octets of 167, 164 leave one.
    talk.at(40).queues(2, 164).queues(3, 5);
    talk.sends_just(&[
        umd15(0, &[0x7FFC], &sdu(2, 164), LONG),
        umd15(1, &[0x7FFB, 5, 0x7FFF], &sdu(3, 5), LONG),
    ]);
    talk
}

fn invalid_15() -> Talk {
    let mut talk = Talk::um(um(167));
    talk.hears(umd15(0, &[0x7FFC], &sdu(0, 160), LONG));
    talk.hears(umd15(1, &[400], &[0; 160], LONG)).hears(umd15(2, &[0x7FFE], &[0; 160], LONG));
    talk.peer_begins_in(3).hears_ending(umd15(3, &[0x7FFC, 9, 0x7FFF], &sdu(1, 9), LONG), &[(1, 9)]);
    assert_eq!(talk.delivers(), [1]);
    talk
}
