//! TS 34.123-1 §7.2.3: SDU discard and the Move Receiving Window procedure.
//!
//! Each function after [`cases`] is the conversation of a scripted peer with the UE, whose RLC entity
//! is tested. `sends_exactly` states the PDUs that the UE sends now, and `receives` gives it a PDU of
//! the peer. `small_sdu_pdu(sn, POLL, id)` is data PDU `sn` with the polling bit and the whole SDU
//! `id` of 4 octets. An MRW (move receiving window) names in SN_MRW the first PDU that the receiver
//! still needs, and in N_LENGTH the number of discarded SDUs that end in this PDU. Times (`at`) are
//! in ms.

use umts_units::Duration;

use super::bits::{self, NO_POLL, POLL, list, pdu, reset, status, status_without_ack};
use super::test_ue::{TestUe, ending};
use super::{Case, PDU_OCTETS, am, case, small_sdu_pdu};
use crate::radio::rlc::{RlcConfig, SduDiscard};
use crate::trace::TraceEvent;

/// Test cases of SDU discard, with their clauses of TS 34.123-1 and the requirement of TS 25.322.
pub fn cases() -> Vec<Case> {
    vec![
        case(
            "7.2.3",
            "AM, timer based discard with explicit signalling: Timer_Discard expires",
            "the MRW names the PDU from which the receiver continues; its acknowledgment ends the procedure (§9.7.3.1, §11.6)",
            timer_discard,
        ),
        case(
            "7.2.3",
            "AM, timer based discard: obsolete or corrupted MRW_ACK",
            "the MRW_ACK is ignored, and Timer_MRW keeps running (§11.6.4)",
            wrong_mrw_ack,
        ),
        case(
            "7.2.3",
            "AM, timer based discard: Timer_MRW and MaxMRW",
            "the MRW is sent MaxMRW − 1 times in total; then RLC is reset (§11.6.4)",
            mrw_fails,
        ),
        case(
            "7.2.3",
            "AM, timer based discard: an MRW is received",
            "the SDUs before the new position are discarded and VR(R) moves; the MRW_ACK repeats N_LENGTH if SN_MRW is VR(R) (§11.6.3)",
            mrw_received,
        ),
        case(
            "7.2.3",
            "AM, SDU discard after MaxDAT − 1 transmissions",
            "the SDU is given up and an MRW sent (§9.7.3.3)",
            max_dat,
        ),
        case("7.2.3", "AM, no discard after MaxDAT − 1 transmissions", "RLC is reset (§9.7.3.4)", no_discard),
    ]
}

fn by_timer() -> RlcConfig {
    RlcConfig {
        sdu_discard: SduDiscard::Timer,
        timer_discard: Some(Duration::from_millis(500)),
        max_dat: None,
        ..am(16)
    }
}

/// Fields of an MRW with one SN_MRW.
struct Mrw {
    sn_mrw: u32,
    n_length: u32,
}

/// A STATUS PDU with this MRW and no report.
fn mrw(fields: Mrw) -> Vec<u8> {
    status_without_ack(&bits::mrw(&[fields.sn_mrw], fields.n_length), PDU_OCTETS)
}

/// Fields of an MRW_ACK, the answer to an MRW.
struct MrwAck {
    /// N_LENGTH of the MRW if its SN_MRW is SN_ACK, otherwise 0.
    n: u32,
    /// VR(R), the first PDU that the receiver needs.
    sn_ack: u32,
}

/// A STATUS PDU with this MRW_ACK and no report.
fn mrw_ack(fields: MrwAck) -> Vec<u8> {
    status_without_ack(&bits::mrw_ack(fields.n, fields.sn_ack), PDU_OCTETS)
}

/// Sends SDU 0 in PDU 0, lets Timer_Discard (500 ms) expire, and expects the MRW.
fn expire_sdu(ue: &mut TestUe) {
    ue.submits(0, 4).sends_exactly(&[small_sdu_pdu(0, POLL, 0)]);
    ue.at(499).sends_nothing();
    // No other SDU begins in PDU 0, so the MRW names the PDU after it (§11.6.2.2).
    ue.at(500).sends_exactly(&[mrw(Mrw { sn_mrw: 1, n_length: 0 })]);
}

fn timer_discard() -> TestUe {
    let mut ue = TestUe::am(by_timer());
    expire_sdu(&mut ue);
    assert!(ue.has_recorded(|event| matches!(event, TraceEvent::SduDiscarded { .. })));
    ue.at(540).receives(mrw_ack(MrwAck { n: 0, sn_ack: 1 })).sends_nothing();
    ue.at(1_500).sends_nothing();
    // Data continue with the next sequence number.
    ue.submits(1, 4).sends_exactly(&[small_sdu_pdu(1, POLL, 1)]);
    ue
}

fn wrong_mrw_ack() -> TestUe {
    let mut ue = TestUe::am(by_timer());
    expire_sdu(&mut ue);
    // One MRW_ACK has another N_LENGTH, the other an SN that was never in the window.
    ue.at(540).receives(mrw_ack(MrwAck { n: 2, sn_ack: 1 })).sends_nothing();
    ue.at(560).receives(mrw_ack(MrwAck { n: 0, sn_ack: 700 })).sends_nothing();
    assert!(!ue.has_recorded(|event| matches!(event, TraceEvent::RlcReset { .. })));
    ue.at(1_000).sends_exactly(&[mrw(Mrw { sn_mrw: 1, n_length: 0 })]);
    ue.at(1_040).receives(mrw_ack(MrwAck { n: 0, sn_ack: 1 }));
    ue.at(2_000).sends_nothing();
    ue
}

fn mrw_fails() -> TestUe {
    let mut ue = TestUe::am(by_timer());
    expire_sdu(&mut ue);
    for at in [1_000, 1_500] {
        ue.at(at).sends_exactly(&[mrw(Mrw { sn_mrw: 1, n_length: 0 })]);
    }
    // MaxMRW is 4, so the MRW is sent three times and then RLC is reset.
    let sent = ue.at(2_000).sends(4);
    assert_eq!(sent, [reset(0, PDU_OCTETS)]);
    ue
}

fn mrw_received() -> TestUe {
    let mut ue = TestUe::am(am(16));
    // PDU 0 with SDU 0, PDU 2 with SDU 2; PDU 1 is missing.
    ue.receives_sdu_ends(small_sdu_pdu(0, NO_POLL, 0), &[ending(0, 4)]);
    assert_eq!(ue.delivers(), [0]);
    ue.peer_sdu_starts_in(2).receives_sdu_ends(small_sdu_pdu(2, NO_POLL, 2), &[ending(2, 4)]);
    ue.sends_exactly(&[status(&list(&[pdu(1)]), 3, PDU_OCTETS)]);
    // The peer discards SDU 1, which ends at the first length indicator of PDU 1.
    ue.at(40).receives(mrw(Mrw { sn_mrw: 1, n_length: 1 }));
    // PDU 1 has not arrived, so VR(R) = SN_MRW, and N of the answer is N_LENGTH.
    let answer = ue.sends(3);
    assert_eq!(answer, [mrw_ack(MrwAck { n: 1, sn_ack: 1 })]);
    assert_eq!(ue.delivers(), [] as [u64; 0]);
    // The UE still waits for PDU 1, because it may contain the start of an SDU that was not
    // discarded.
    ue.at(60).peer_sdu_starts_in(1).receives_sdu_ends(small_sdu_pdu(1, NO_POLL, 1), &[ending(1, 4)]);
    assert_eq!(ue.delivers(), [2]);
    // A repetition of the MRW, now obsolete, is answered again and does not move the window.
    ue.at(80).receives(mrw(Mrw { sn_mrw: 1, n_length: 1 }));
    assert_eq!(ue.sends(3), [mrw_ack(MrwAck { n: 0, sn_ack: 3 })]);
    ue
}

/// The peer reports PDU 0 missing until MaxDAT (4) permits no further transmission. The UE sends it
/// three times, because the action for VT(DAT) = MaxDAT replaces the fourth transmission.
fn reach_max_dat(ue: &mut TestUe) {
    ue.submits(0, 4).sends_exactly(&[small_sdu_pdu(0, POLL, 0)]);
    for at in [40, 80] {
        ue.at(at)
            .receives(status(&list(&[pdu(0)]), 1, PDU_OCTETS))
            .sends_exactly(&[small_sdu_pdu(0, POLL, 0)]);
    }
    ue.at(120).receives(status(&list(&[pdu(0)]), 1, PDU_OCTETS));
}

fn max_dat() -> TestUe {
    let mut ue = TestUe::am(am(16));
    reach_max_dat(&mut ue);
    ue.sends_exactly(&[mrw(Mrw { sn_mrw: 1, n_length: 0 })]);
    ue.at(160).receives(mrw_ack(MrwAck { n: 0, sn_ack: 1 })).submits(1, 4);
    ue.sends_exactly(&[small_sdu_pdu(1, POLL, 1)]);
    ue
}

fn no_discard() -> TestUe {
    let mut ue = TestUe::am(RlcConfig { sdu_discard: SduDiscard::Never, ..am(16) });
    reach_max_dat(&mut ue);
    ue.sends_exactly(&[reset(0, PDU_OCTETS)]);
    ue
}
