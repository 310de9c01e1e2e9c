//! TS 34.123-1 §7.2.2: unacknowledged mode.
//!
//! Each function after [`cases`] is the conversation of a scripted peer with the UE, whose RLC entity
//! is tested. `umd7(0, &[0x7C, 20, 0x7F], data, octets)` is data PDU 0 with the 7-bit length
//! indicators 0x7C (an SDU begins with the first octet), 20 (it ends after 20 octets) and 0x7F
//! (padding), and these data. `ending(0, 20)` states that SDU 0 of 20 octets ends in a received PDU.
//! `sdu(0, 20)` are the octets of this SDU.

use super::bits::{umd7, umd15};
use super::test_ue::{TestUe, ending, sdu};
use super::{Case, case, um};

/// Octets of a PDU of the bearers with 7-bit and with 15-bit length indicators.
const SHORT_PDU: usize = 42;
const LONG_PDU: usize = 168;

/// Test cases of length indicators in unacknowledged mode.
pub fn cases() -> Vec<Case> {
    vec![
        case(
            "7.2.2",
            "UM, selection of 7- or 15-bit length indicators",
            "7 bits up to PDUs of 125 octets, 15 above (§9.2.2.8)",
            selection,
        ),
        case("7.2.2", "UM, 7-bit, padding", "LI 0x7F: the rest is padding (§9.2.2.8)", padding),
        case(
            "7.2.2",
            "UM, 7-bit, LI = 0",
            "an SDU that fills its last PDU is ended by LI 0 in the next (§9.2.2.8)",
            previous_filled,
        ),
        case(
            "7.2.2",
            "UM, 7-bit, invalid LI value",
            "the PDU is discarded, and the SDUs with a part in it (§11.2.4.2, §10)",
            invalid_7,
        ),
        case("7.2.2", "UM, 15-bit, LI = 0", "as with 7 bits (§9.2.2.8)", previous_filled_15),
        case(
            "7.2.2",
            "UM, 15-bit, one octet short LI",
            "LI 0x7FFB: the SDU before ended one octet before the end of its PDU (§9.2.2.8)",
            one_short,
        ),
        case(
            "7.2.2",
            "UM, 15-bit, invalid LI value",
            "the PDU is discarded, and the SDUs with a part in it (§11.2.4.2, §10)",
            invalid_15,
        ),
    ]
}

fn selection() -> TestUe {
    let mut long = TestUe::um(um(167));
    long.submits(0, 10).sends_exactly(&[umd15(0, &[0x7FFC, 10, 0x7FFF], &sdu(0, 10), LONG_PDU)]);
    let mut ue = TestUe::um(um(41));
    ue.submits(0, 10).sends_exactly(&[umd7(0, &[0x7C, 10, 0x7F], &sdu(0, 10), SHORT_PDU)]);
    ue.lines.splice(0..0, long.lines);
    ue
}

fn padding() -> TestUe {
    let mut ue = TestUe::um(um(41));
    ue.receives_sdu_ends(umd7(0, &[0x7C, 20, 0x7F], &sdu(0, 20), SHORT_PDU), &[ending(0, 20)]);
    assert_eq!(ue.delivers(), [0]);
    // The UE loops the SDU back. In a received PDU the padding may have any content.
    ue.at(40).submits(0, 20).sends_exactly(&[umd7(0, &[0x7C, 20, 0x7F], &sdu(0, 20), SHORT_PDU)]);
    let mut padded = umd7(1, &[0x7C, 20, 0x7F], &sdu(1, 20), SHORT_PDU);
    padded[30..].fill(0xA5);
    ue.at(80).peer_sdu_starts_in(1).receives_sdu_ends(padded, &[ending(1, 20)]);
    assert_eq!(ue.delivers(), [1]);
    ue
}

fn previous_filled() -> TestUe {
    let mut ue = TestUe::um(um(41));
    // The PDU has no indicator for the start of an SDU, as in the test case. According to the
    // sequence numbers no PDU is missing, so the SDU is delivered.
    ue.receives(umd7(0, &[], &sdu(0, 41), SHORT_PDU));
    assert_eq!(ue.delivers(), [] as [u64; 0]);
    ue.receives_sdu_ends(umd7(1, &[0, 10, 0x7F], &sdu(1, 10), SHORT_PDU), &[ending(0, 41), ending(1, 10)]);
    assert_eq!(ue.delivers(), [0, 1]);
    // LI 0x7C (the start of an SDU) and 40 octets fill a PDU.
    ue.at(40).submits(2, 40).submits(3, 5);
    ue.sends_exactly(&[
        umd7(0, &[0x7C], &sdu(2, 40), SHORT_PDU),
        umd7(1, &[0, 5, 0x7F], &sdu(3, 5), SHORT_PDU),
    ]);
    ue
}

fn invalid_7() -> TestUe {
    let mut ue = TestUe::um(um(41));
    ue.receives(umd7(0, &[0x7C], &sdu(0, 40), SHORT_PDU));
    // The first indicator points beyond the end of the PDU, the second one is reserved.
    ue.receives(umd7(1, &[60], &[0; 40], SHORT_PDU)).receives(umd7(2, &[0x7E], &[0; 40], SHORT_PDU));
    ue.peer_sdu_starts_in(3)
        .receives_sdu_ends(umd7(3, &[0x7C, 9, 0x7F], &sdu(1, 9), SHORT_PDU), &[ending(1, 9)]);
    assert_eq!(ue.delivers(), [1]);
    ue
}

fn previous_filled_15() -> TestUe {
    let mut ue = TestUe::um(um(167));
    ue.receives(umd15(0, &[], &sdu(0, 167), LONG_PDU));
    ue.receives_sdu_ends(umd15(1, &[0, 10, 0x7FFF], &sdu(1, 10), LONG_PDU), &[ending(0, 167), ending(1, 10)]);
    assert_eq!(ue.delivers(), [0, 1]);
    ue
}

fn one_short() -> TestUe {
    let mut ue = TestUe::um(um(167));
    ue.receives(umd15(0, &[], &sdu(0, 166), LONG_PDU));
    ue.receives_sdu_ends(
        umd15(1, &[0x7FFB, 10, 0x7FFF], &sdu(1, 10), LONG_PDU),
        &[ending(0, 166), ending(1, 10)],
    );
    assert_eq!(ue.delivers(), [0, 1]);
    // LI 0x7FFC (the start of an SDU) takes two of the 167 octets. With 164 octets of data one octet
    // remains.
    ue.at(40).submits(2, 164).submits(3, 5);
    ue.sends_exactly(&[
        umd15(0, &[0x7FFC], &sdu(2, 164), LONG_PDU),
        umd15(1, &[0x7FFB, 5, 0x7FFF], &sdu(3, 5), LONG_PDU),
    ]);
    ue
}

fn invalid_15() -> TestUe {
    let mut ue = TestUe::um(um(167));
    ue.receives(umd15(0, &[0x7FFC], &sdu(0, 160), LONG_PDU));
    ue.receives(umd15(1, &[400], &[0; 160], LONG_PDU)).receives(umd15(2, &[0x7FFE], &[0; 160], LONG_PDU));
    ue.peer_sdu_starts_in(3)
        .receives_sdu_ends(umd15(3, &[0x7FFC, 9, 0x7FFF], &sdu(1, 9), LONG_PDU), &[ending(1, 9)]);
    assert_eq!(ue.delivers(), [1]);
    ue
}
