//! TS 34.123-1 §7.2.3: the formats of acknowledged mode.

use super::bits::{amd7, amd15, list, status};
use super::test_ue::{TestUe, sdu};
use super::{Case, DATA, PDU, am, case};
use crate::radio::rlc::RlcConfig;
use crate::radio::rlc::am::Piggyback;

/// Octets of a PDU of the bearer with 15-bit length indicators (payload 166 octets).
const LONG_PDU: usize = 168;

/// Test cases of length indicators in acknowledged mode.
pub fn cases() -> Vec<Case> {
    vec![
        case(
            "7.2.3",
            "AM, selection of 7- or 15-bit length indicators",
            "7 bits up to PDUs of 126 octets, 15 above (§9.2.2.8)",
            selection,
        ),
        case("7.2.3", "AM, 7-bit, padding", "LI 0x7F: the rest is padding (§9.2.2.8)", padding),
        case(
            "7.2.3",
            "AM, 7-bit, LI = 0",
            "an SDU that fills its last PDU is ended by LI 0 in the next (§9.2.2.8)",
            previous_filled,
        ),
        case(
            "7.2.3",
            "AM, 7-bit, reserved LI value",
            "the PDU is discarded and requested again (§10)",
            reserved_7,
        ),
        case(
            "7.2.3",
            "AM, 15-bit, padding or piggybacked STATUS",
            "LI 0x7FFF: padding; 0x7FFE: a STATUS takes its place (§9.2.2.8, §9.2.1.6)",
            padding_or_status,
        ),
        case("7.2.3", "AM, 15-bit, LI = 0", "as with 7 bits (§9.2.2.8)", previous_filled_15),
        case(
            "7.2.3",
            "AM, 15-bit, one octet short LI",
            "LI 0x7FFB: the SDU before ended one octet before the end of its PDU (§9.2.2.8)",
            one_short,
        ),
        case(
            "7.2.3",
            "AM, 15-bit, reserved LI value",
            "the PDU is discarded and requested again (§10)",
            reserved_15,
        ),
    ]
}

fn selection() -> TestUe {
    // PDUs with a payload of 166 octets (LONG_PDU) have 15-bit indicators, of 16 octets (PDU)
    // 7-bit.
    let mut long = TestUe::am(am(166));
    long.submits(0, 10).sends_exactly(&[amd15(0, true, &[10, 0x7FFF], &sdu(0, 10), LONG_PDU)]);
    let mut ue = TestUe::am(am(16));
    ue.submits(0, 10).sends_exactly(&[amd7(0, true, &[10, 0x7F], &sdu(0, 10), PDU)]);
    ue.lines.splice(0..0, long.lines);
    ue
}

fn padding() -> TestUe {
    let mut ue = TestUe::am(am(16));
    ue.receives_sdu_ends(amd7(0, true, &[9, 0x7F], &sdu(0, 9), PDU), &[(0, 9)]);
    assert_eq!(ue.delivers(), [0]);
    ue.submits(1, 9).sends_exactly(&[status(&[], 1, PDU), amd7(0, true, &[9, 0x7F], &sdu(1, 9), PDU)]);
    // 15 octets and their length indicator fill the PDU, so it has no indicator for padding.
    ue.at(20).receives(status(&[], 1, PDU)).submits(2, 15);
    ue.sends_exactly(&[amd7(1, true, &[15], &sdu(2, 15), PDU)]);
    ue
}

fn previous_filled() -> TestUe {
    // SDU 0 fills PDU 0 to the last octet. LI 0 in PDU 1 says so, before SDU 1 of 5 octets.
    let mut ue = TestUe::am(am(16));
    ue.receives(amd7(0, false, &[], &sdu(0, DATA), PDU));
    ue.receives_sdu_ends(amd7(1, true, &[0, 5, 0x7F], &sdu(1, 5), PDU), &[(0, 16), (1, 5)]);
    assert_eq!(ue.delivers(), [0, 1]);
    ue.submits(2, 16).submits(3, 5);
    ue.sends_exactly(&[
        status(&[], 2, PDU),
        amd7(0, false, &[], &sdu(2, DATA), PDU),
        amd7(1, true, &[0, 5, 0x7F], &sdu(3, 5), PDU),
    ]);
    ue
}

fn reserved_7() -> TestUe {
    let mut ue = TestUe::am(am(16));
    // 0x7C and 0x7D are reserved in acknowledged mode.
    ue.receives(amd7(0, false, &[0x7D], &[0; 15], PDU));
    ue.peer_sdu_starts_in(1).receives_sdu_ends(amd7(1, true, &[4, 0x7F], &sdu(1, 4), PDU), &[(1, 4)]);
    // PDU 0 was discarded, so SDU 1 waits, and the STATUS reports PDU 0 as missing.
    assert_eq!(ue.delivers(), [] as [u64; 0]);
    ue.sends_exactly(&[status(&list(&[(0, 0)]), 2, PDU)]);
    ue.at(20).peer_sdu_starts_in(0).receives_sdu_ends(amd7(0, false, &[6, 0x7F], &sdu(0, 6), PDU), &[(0, 6)]);
    assert_eq!(ue.delivers(), [0, 1]);
    ue
}

fn padding_or_status() -> TestUe {
    let mut ue = TestUe::am(RlcConfig { piggyback: Piggyback::Padding, ..am(166) });
    ue.receives_sdu_ends(amd15(0, true, &[9, 0x7FFF], &sdu(0, 9), LONG_PDU), &[(0, 9)]);
    assert_eq!(ue.delivers(), [0]);
    // The UE loops the SDU back, with a STATUS instead of padding. Its three octets are R2 and the
    // PDU type (0), the SUFI type ACK (2) and LSN 1.
    ue.submits(1, 9);
    let data = [sdu(1, 9), vec![0x02, 0x00, 0x10]].concat();
    ue.sends_exactly(&[amd15(0, true, &[9, 0x7FFE], &data, LONG_PDU)]);
    // The peer's acknowledgment is piggybacked, too.
    let data = [sdu(2, 9), vec![0x02, 0x00, 0x10]].concat();
    ue.at(20)
        .peer_sdu_starts_in(1)
        .receives_sdu_ends(amd15(1, false, &[9, 0x7FFE], &data, LONG_PDU), &[(2, 9)]);
    assert_eq!(ue.delivers(), [2]);
    ue.sends_nothing();
    ue
}

fn previous_filled_15() -> TestUe {
    let mut ue = TestUe::am(am(166));
    ue.receives(amd15(0, false, &[], &sdu(0, 166), LONG_PDU));
    ue.receives_sdu_ends(amd15(1, true, &[0, 5, 0x7FFF], &sdu(1, 5), LONG_PDU), &[(0, 166), (1, 5)]);
    assert_eq!(ue.delivers(), [0, 1]);
    ue.submits(2, 166).submits(3, 5);
    ue.sends_exactly(&[
        status(&[], 2, LONG_PDU),
        amd15(0, false, &[], &sdu(2, 166), LONG_PDU),
        amd15(1, true, &[0, 5, 0x7FFF], &sdu(3, 5), LONG_PDU),
    ]);
    ue
}

fn one_short() -> TestUe {
    // SDU 0 leaves one octet of PDU 0 free, which is too short for an indicator of two octets.
    let mut ue = TestUe::am(am(166));
    ue.receives(amd15(0, false, &[], &sdu(0, 165), LONG_PDU));
    ue.receives_sdu_ends(amd15(1, true, &[0x7FFB, 5, 0x7FFF], &sdu(1, 5), LONG_PDU), &[(0, 165), (1, 5)]);
    assert_eq!(ue.delivers(), [0, 1]);
    ue.submits(2, 165).submits(3, 5);
    ue.sends_exactly(&[
        status(&[], 2, LONG_PDU),
        amd15(0, false, &[], &sdu(2, 165), LONG_PDU),
        amd15(1, true, &[0x7FFB, 5, 0x7FFF], &sdu(3, 5), LONG_PDU),
    ]);
    ue
}

fn reserved_15() -> TestUe {
    let mut ue = TestUe::am(am(166));
    ue.receives(amd15(0, false, &[0x7FFC], &[0; 100], LONG_PDU));
    ue.peer_sdu_starts_in(1).receives_sdu_ends(amd15(1, true, &[4, 0x7FFF], &sdu(1, 4), LONG_PDU), &[(1, 4)]);
    assert_eq!(ue.delivers(), [] as [u64; 0]);
    ue.sends_exactly(&[status(&list(&[(0, 0)]), 2, LONG_PDU)]);
    ue.at(20)
        .peer_sdu_starts_in(0)
        .receives_sdu_ends(amd15(0, false, &[6, 0x7FFF], &sdu(0, 6), LONG_PDU), &[(0, 6)]);
    assert_eq!(ue.delivers(), [0, 1]);
    ue
}
