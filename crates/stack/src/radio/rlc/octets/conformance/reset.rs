//! TS 34.123-1 §7.2.3: the reset procedure and reconfiguration.
//!
//! Each function after [`cases`] is the conversation of a scripted peer with the UE, whose RLC entity
//! is tested. `sends_exactly` states the PDUs that the UE sends now, and `receives` gives it a PDU of
//! the peer. `small_sdu_pdu(sn, POLL, id)` is data PDU `sn` with the polling bit and the whole SDU
//! `id` of 4 octets. `reset(rsn, …)` is a RESET with reset sequence number `rsn`, and `status(&[],
//! lsn, …)` acknowledges all PDUs below `lsn`. Times (`at`) are in ms.

use super::bits::{NO_POLL, POLL, amd7, list, pdu, reset, reset_ack, status};
use super::test_ue::{TestUe, ending, sdu};
use super::{Case, Method, PDU_OCTETS, am, case, small_sdu_pdu};
use crate::trace::TraceEvent;

/// Test cases of the RESET procedure and of re-establishment.
pub fn cases() -> Vec<Case> {
    vec![
        case(
            "7.2.3",
            "AM, RESET by the terminal: erroneous sequence number",
            "a STATUS outside VT(A) to VT(S) leads to a RESET; its answer ends it, numbers begin at 0 (§10, §11.4)",
            erroneous_sn,
        ),
        case(
            "7.2.3",
            "AM, RESET by the terminal: MaxRST",
            "Timer_RST repeats it; after MaxRST − 1 an unrecoverable error is reported to the upper layer (§11.4.4)",
            max_rst,
        ),
        case(
            "7.2.3",
            "AM, RESET by the peer",
            "answered at once; numbers begin at 0; earlier SDUs are lost, later SDUs are delivered (§11.4.3)",
            by_peer,
        ),
        case(
            "7.2.3",
            "AM, RESET by the peer, repeated",
            "the same RSN again: the same answer, no second reset (§11.4.3)",
            repeated,
        ),
        Case {
            clause: "7.2.3",
            purpose: "AM, RESET: the hyper frame number is taken over",
            requirement: "the HFN of the peer's RESET plus one ciphers the following PDUs (§11.4.3)",
            method: Method::NotApplicable("ciphering is not modelled; HFNI is encoded as 0 and ignored"),
        },
        case(
            "7.2.3",
            "AM, reconfiguration: re-establishment in the middle of data",
            "both ends start again; SDUs of which any part was sent are lost, others are delivered (§9.7.7)",
            reestablishment,
        ),
        Case {
            clause: "7.2.3",
            purpose: "AM, reconfiguration of the PDU size, of one side or both",
            requirement: "an entity is re-established with the new size (§9.7.7, TS 25.331 §8.6.4.9)",
            method: Method::NotApplicable(
                "a bearer keeps its PDU size: RRC's reconfiguration of the size is not modelled",
            ),
        },
    ]
}

fn erroneous_sn() -> TestUe {
    let mut ue = TestUe::am(am(16));
    ue.submits(0, 4).sends_exactly(&[small_sdu_pdu(0, POLL, 0)]);
    // VT(S) = 1, and the peer acknowledges all PDUs below 10.
    ue.at(20).receives(status(&[], 10, PDU_OCTETS)).sends_exactly(&[reset(0, PDU_OCTETS)]);
    // Data and reports are neither sent nor received until the answer.
    ue.at(40).submits(1, 4).sends_nothing();
    ue.at(60).receives(reset_ack(0, PDU_OCTETS)).sends_exactly(&[small_sdu_pdu(0, POLL, 1)]);
    // The next RESET has the other RSN.
    ue.at(80).receives(status(&list(&[pdu(9)]), 10, PDU_OCTETS)).sends_exactly(&[reset(1, PDU_OCTETS)]);
    ue
}

fn max_rst() -> TestUe {
    let mut ue = TestUe::am(am(16));
    ue.submits(0, 4).sends_exactly(&[small_sdu_pdu(0, POLL, 0)]);
    ue.at(20).receives(status(&[], 10, PDU_OCTETS)).sends_exactly(&[reset(0, PDU_OCTETS)]);
    for at in [520, 1_020] {
        ue.at(at).sends_exactly(&[reset(0, PDU_OCTETS)]);
    }
    // MaxRST is 4, so the RESET was sent three times.
    ue.at(1_520).sends_nothing();
    assert!(ue.has_recorded(|event| matches!(event, TraceEvent::RlcUnrecoverable { .. })));
    ue
}

fn by_peer() -> TestUe {
    let mut ue = TestUe::am(am(16));
    // The UE has sent one PDU, and has received the first part of an SDU of the peer.
    ue.submits(0, 4).sends_exactly(&[small_sdu_pdu(0, POLL, 0)]);
    ue.at(20).receives(amd7(0, NO_POLL, &[], &sdu(7, 16), PDU_OCTETS));
    ue.at(40).receives(reset(0, PDU_OCTETS)).sends_exactly(&[reset_ack(0, PDU_OCTETS)]);
    assert_eq!(ue.delivers(), [] as [u64; 0]);
    ue.at(60).peer_sdu_starts_in(0).receives_sdu_ends(small_sdu_pdu(0, POLL, 8), &[ending(8, 4)]);
    assert_eq!(ue.delivers(), [8]);
    ue.submits(1, 4).sends_exactly(&[status(&[], 1, PDU_OCTETS), small_sdu_pdu(0, POLL, 1)]);
    ue
}

fn repeated() -> TestUe {
    let mut ue = TestUe::am(am(16));
    ue.receives(reset(0, PDU_OCTETS)).sends_exactly(&[reset_ack(0, PDU_OCTETS)]);
    ue.at(20).submits(0, 4).sends_exactly(&[small_sdu_pdu(0, POLL, 0)]);
    // The answer was lost, and the peer repeats the RESET. The UE is not reset again: PDU 0 stays
    // outstanding, and the next PDU has number 1.
    ue.at(40).receives(reset(0, PDU_OCTETS)).sends_exactly(&[reset_ack(0, PDU_OCTETS)]);
    ue.at(60).submits(1, 4).sends_exactly(&[small_sdu_pdu(1, POLL, 1)]);
    // Another procedure has the other RSN and resets the entity.
    ue.at(80).receives(reset(1, PDU_OCTETS)).sends_exactly(&[reset_ack(1, PDU_OCTETS)]);
    ue.at(100).submits(2, 4).sends_exactly(&[small_sdu_pdu(0, POLL, 2)]);
    ue
}

fn reestablishment() -> TestUe {
    let mut ue = TestUe::am(am(16));
    ue.submits(0, 40).submits(1, 4);
    // One PDU of SDU 0 has been sent.
    assert_eq!(ue.sends(1), [amd7(0, NO_POLL, &[], &sdu(0, 40)[..16], PDU_OCTETS)]);
    ue.at(20).reestablishes();
    ue.at(40).sends_exactly(&[small_sdu_pdu(0, POLL, 1)]);
    ue.at(60).receives_sdu_ends(small_sdu_pdu(0, POLL, 5), &[ending(5, 4)]);
    assert_eq!(ue.delivers(), [5]);
    ue.sends_exactly(&[status(&[], 1, PDU_OCTETS)]);
    ue
}
