//! TS 34.123-1 §7.2.3: the formats of acknowledged mode.
//!
//! Each function after [`cases`] is the conversation of a scripted peer with the UE, whose RLC entity
//! is tested. `amd7(0, POLL, &[9, 0x7F], data, octets)` is data PDU 0 with the polling bit, the 7-bit
//! length indicators 9 (an SDU ends after 9 octets) and 0x7F (padding), and these data. `ending(0,
//! 9)` states that SDU 0 of 9 octets ends in a received PDU. `sdu(0, 9)` are the octets of this SDU.

use super::bits::{NO_POLL, POLL, amd7, amd15, list, pdu, status};
use super::test_ue::{TestUe, ending, sdu};
use super::{Case, DATA_OCTETS, PDU_OCTETS, am, case};
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
    // PDUs with a payload of 166 octets have 15-bit indicators, PDUs with 16 octets 7-bit ones.
    let mut long = TestUe::am(am(166));
    long.submits(0, 10).sends_exactly(&[amd15(0, POLL, &[10, 0x7FFF], &sdu(0, 10), LONG_PDU)]);
    let mut ue = TestUe::am(am(16));
    ue.submits(0, 10).sends_exactly(&[amd7(0, POLL, &[10, 0x7F], &sdu(0, 10), PDU_OCTETS)]);
    ue.lines.splice(0..0, long.lines);
    ue
}

fn padding() -> TestUe {
    let mut ue = TestUe::am(am(16));
    ue.receives_sdu_ends(amd7(0, POLL, &[9, 0x7F], &sdu(0, 9), PDU_OCTETS), &[ending(0, 9)]);
    assert_eq!(ue.delivers(), [0]);
    ue.submits(1, 9)
        .sends_exactly(&[status(&[], 1, PDU_OCTETS), amd7(0, POLL, &[9, 0x7F], &sdu(1, 9), PDU_OCTETS)]);
    // 15 octets and their length indicator fill the PDU, so it has no indicator for padding.
    ue.at(20).receives(status(&[], 1, PDU_OCTETS)).submits(2, 15);
    ue.sends_exactly(&[amd7(1, POLL, &[15], &sdu(2, 15), PDU_OCTETS)]);
    ue
}

fn previous_filled() -> TestUe {
    // SDU 0 fills PDU 0 to the last octet. LI 0 in PDU 1 says so, before SDU 1 of 5 octets.
    let mut ue = TestUe::am(am(16));
    ue.receives(amd7(0, NO_POLL, &[], &sdu(0, DATA_OCTETS), PDU_OCTETS));
    ue.receives_sdu_ends(
        amd7(1, POLL, &[0, 5, 0x7F], &sdu(1, 5), PDU_OCTETS),
        &[ending(0, 16), ending(1, 5)],
    );
    assert_eq!(ue.delivers(), [0, 1]);
    ue.submits(2, 16).submits(3, 5);
    ue.sends_exactly(&[
        status(&[], 2, PDU_OCTETS),
        amd7(0, NO_POLL, &[], &sdu(2, DATA_OCTETS), PDU_OCTETS),
        amd7(1, POLL, &[0, 5, 0x7F], &sdu(3, 5), PDU_OCTETS),
    ]);
    ue
}

fn reserved_7() -> TestUe {
    let mut ue = TestUe::am(am(16));
    // 0x7C and 0x7D are reserved in acknowledged mode.
    ue.receives(amd7(0, NO_POLL, &[0x7D], &[0; 15], PDU_OCTETS));
    ue.peer_sdu_starts_in(1)
        .receives_sdu_ends(amd7(1, POLL, &[4, 0x7F], &sdu(1, 4), PDU_OCTETS), &[ending(1, 4)]);
    // PDU 0 was discarded, so SDU 1 waits, and the STATUS reports PDU 0 as missing.
    assert_eq!(ue.delivers(), [] as [u64; 0]);
    ue.sends_exactly(&[status(&list(&[pdu(0)]), 2, PDU_OCTETS)]);
    ue.at(20)
        .peer_sdu_starts_in(0)
        .receives_sdu_ends(amd7(0, NO_POLL, &[6, 0x7F], &sdu(0, 6), PDU_OCTETS), &[ending(0, 6)]);
    assert_eq!(ue.delivers(), [0, 1]);
    ue
}

fn padding_or_status() -> TestUe {
    let mut ue = TestUe::am(RlcConfig { piggyback: Piggyback::Padding, ..am(166) });
    ue.receives_sdu_ends(amd15(0, POLL, &[9, 0x7FFF], &sdu(0, 9), LONG_PDU), &[ending(0, 9)]);
    assert_eq!(ue.delivers(), [0]);
    // The UE loops the SDU back, with a STATUS instead of padding. Its three octets are R2 and the
    // PDU type (0), the SUFI type ACK (2) and LSN 1.
    ue.submits(1, 9);
    let data = [sdu(1, 9), vec![0x02, 0x00, 0x10]].concat();
    ue.sends_exactly(&[amd15(0, POLL, &[9, 0x7FFE], &data, LONG_PDU)]);
    // The peer's acknowledgment is piggybacked, too.
    let data = [sdu(2, 9), vec![0x02, 0x00, 0x10]].concat();
    ue.at(20)
        .peer_sdu_starts_in(1)
        .receives_sdu_ends(amd15(1, NO_POLL, &[9, 0x7FFE], &data, LONG_PDU), &[ending(2, 9)]);
    assert_eq!(ue.delivers(), [2]);
    ue.sends_nothing();
    ue
}

fn previous_filled_15() -> TestUe {
    let mut ue = TestUe::am(am(166));
    ue.receives(amd15(0, NO_POLL, &[], &sdu(0, 166), LONG_PDU));
    ue.receives_sdu_ends(
        amd15(1, POLL, &[0, 5, 0x7FFF], &sdu(1, 5), LONG_PDU),
        &[ending(0, 166), ending(1, 5)],
    );
    assert_eq!(ue.delivers(), [0, 1]);
    ue.submits(2, 166).submits(3, 5);
    ue.sends_exactly(&[
        status(&[], 2, LONG_PDU),
        amd15(0, NO_POLL, &[], &sdu(2, 166), LONG_PDU),
        amd15(1, POLL, &[0, 5, 0x7FFF], &sdu(3, 5), LONG_PDU),
    ]);
    ue
}

fn one_short() -> TestUe {
    // SDU 0 leaves one octet of PDU 0 free, which is too short for an indicator of two octets.
    let mut ue = TestUe::am(am(166));
    ue.receives(amd15(0, NO_POLL, &[], &sdu(0, 165), LONG_PDU));
    ue.receives_sdu_ends(
        amd15(1, POLL, &[0x7FFB, 5, 0x7FFF], &sdu(1, 5), LONG_PDU),
        &[ending(0, 165), ending(1, 5)],
    );
    assert_eq!(ue.delivers(), [0, 1]);
    ue.submits(2, 165).submits(3, 5);
    ue.sends_exactly(&[
        status(&[], 2, LONG_PDU),
        amd15(0, NO_POLL, &[], &sdu(2, 165), LONG_PDU),
        amd15(1, POLL, &[0x7FFB, 5, 0x7FFF], &sdu(3, 5), LONG_PDU),
    ]);
    ue
}

fn reserved_15() -> TestUe {
    let mut ue = TestUe::am(am(166));
    // 0x7FFC is reserved in acknowledged mode.
    ue.receives(amd15(0, NO_POLL, &[0x7FFC], &[0; 100], LONG_PDU));
    ue.peer_sdu_starts_in(1)
        .receives_sdu_ends(amd15(1, POLL, &[4, 0x7FFF], &sdu(1, 4), LONG_PDU), &[ending(1, 4)]);
    assert_eq!(ue.delivers(), [] as [u64; 0]);
    ue.sends_exactly(&[status(&list(&[pdu(0)]), 2, LONG_PDU)]);
    ue.at(20)
        .peer_sdu_starts_in(0)
        .receives_sdu_ends(amd15(0, NO_POLL, &[6, 0x7FFF], &sdu(0, 6), LONG_PDU), &[ending(0, 6)]);
    assert_eq!(ue.delivers(), [0, 1]);
    ue
}
