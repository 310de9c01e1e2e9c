//! TS 34.123-1 §7.2.3: the reset procedure and reconfiguration.

use super::bits::{amd7, list, reset, reset_ack, status};
use super::talk::{Talk, sdu};
use super::{Case, How, PDU, am, talks};
use crate::trace::TraceEvent;

pub fn cases() -> Vec<Case> {
    vec![
        talks(
            "7.2.3",
            "AM, RESET by the terminal: erroneous sequence number",
            "a STATUS outside VT(A) to VT(S) leads to a RESET; its answer ends it, numbers begin at 0 (§10, §11.4)",
            erroneous_sn,
        ),
        talks(
            "7.2.3",
            "AM, RESET by the terminal: MaxRST",
            "Timer_RST repeats it; after MaxRST − 1 an unrecoverable error is reported to the upper layer (§11.4.4)",
            max_rst,
        ),
        talks(
            "7.2.3",
            "AM, RESET by the peer",
            "answered at once; numbers begin at 0; earlier SDUs are lost, later SDUs are delivered (§11.4.3)",
            by_peer,
        ),
        talks(
            "7.2.3",
            "AM, RESET by the peer, repeated",
            "the same RSN again: the same answer, no second reset (§11.4.3)",
            repeated,
        ),
        Case {
            clause: "7.2.3",
            purpose: "AM, RESET: the hyper frame number is taken over",
            requirement: "the HFN of the peer's RESET plus one ciphers the following PDUs (§11.4.3)",
            how: How::NotApplicable("ciphering is not modelled; HFNI is encoded as 0 and ignored"),
        },
        talks(
            "7.2.3",
            "AM, reconfiguration: re-establishment in the middle of data",
            "both ends start again; SDUs of which any part was sent are lost, others are delivered (§9.7.7)",
            reestablishment,
        ),
        Case {
            clause: "7.2.3",
            purpose: "AM, reconfiguration of the PDU size, of one side or both",
            requirement: "an entity is re-established with the new size (§9.7.7, TS 25.331 §8.6.4.9)",
            how: How::NotApplicable(
                "a bearer keeps its PDU size: RRC's reconfiguration of the size is not modelled",
            ),
        },
    ]
}

fn small(sn: u16, poll: bool, id: u64) -> Vec<u8> {
    amd7(sn, poll, &[4, 0x7F], &sdu(id, 4), PDU)
}

fn erroneous_sn() -> Talk {
    let mut talk = Talk::am(am(16));
    talk.queues(0, 4).sends_just(&[small(0, true, 0)]);
    // VT(S) = 1, and the peer acknowledges all PDUs below 10.
    talk.at(20).hears(status(&[], 10, PDU)).sends_just(&[reset(0, 0, PDU)]);
    // Data and reports are neither sent nor received until the answer.
    talk.at(40).queues(1, 4).is_silent();
    talk.at(60).hears(reset_ack(0, 0, PDU)).sends_just(&[small(0, true, 1)]);
    // The next one has the other RSN.
    talk.at(80).hears(status(&list(&[(9, 0)]), 10, PDU)).sends_just(&[reset(1, 0, PDU)]);
    talk
}

fn max_rst() -> Talk {
    let mut talk = Talk::am(am(16));
    talk.queues(0, 4).sends_just(&[small(0, true, 0)]);
    talk.at(20).hears(status(&[], 10, PDU)).sends_just(&[reset(0, 0, PDU)]);
    for at in [520, 1_020] {
        talk.at(at).sends_just(&[reset(0, 0, PDU)]);
    }
    // MaxRST = 4.
    talk.at(1_520).is_silent();
    assert!(talk.saw(|event| matches!(event, TraceEvent::RlcUnrecoverable { .. })));
    talk
}

fn by_peer() -> Talk {
    let mut talk = Talk::am(am(16));
    // The terminal has sent one PDU. Of the peer's SDU the first half has arrived.
    talk.queues(0, 4).sends_just(&[small(0, true, 0)]);
    talk.at(20).hears(amd7(0, false, &[], &sdu(7, 16), PDU));
    talk.at(40).hears(reset(0, 0, PDU)).sends_just(&[reset_ack(0, 0, PDU)]);
    assert_eq!(talk.delivers(), [] as [u64; 0]);
    talk.at(60).peer_begins_in(0).hears_ending(small(0, true, 8), &[(8, 4)]);
    assert_eq!(talk.delivers(), [8]);
    talk.queues(1, 4).sends_just(&[status(&[], 1, PDU), small(0, true, 1)]);
    talk
}

fn repeated() -> Talk {
    let mut talk = Talk::am(am(16));
    talk.hears(reset(0, 0, PDU)).sends_just(&[reset_ack(0, 0, PDU)]);
    talk.at(20).queues(0, 4).sends_just(&[small(0, true, 0)]);
    // The answer was lost, and the peer repeats the RESET: PDU 0 stays outstanding, so the next PDU
    // is number 1.
    talk.at(40).hears(reset(0, 0, PDU)).sends_just(&[reset_ack(0, 0, PDU)]);
    talk.at(60).queues(1, 4).sends_just(&[small(1, true, 1)]);
    // Another procedure has the other RSN and resets the entity.
    talk.at(80).hears(reset(1, 0, PDU)).sends_just(&[reset_ack(1, 0, PDU)]);
    talk.at(100).queues(2, 4).sends_just(&[small(0, true, 2)]);
    talk
}

fn reestablishment() -> Talk {
    let mut talk = Talk::am(am(16));
    talk.queues(0, 40).queues(1, 4);
    // One PDU of SDU 0 has been sent.
    assert_eq!(talk.sends(1), [amd7(0, false, &[], &sdu(0, 40)[..16], PDU)]);
    talk.at(20).is_reestablished();
    talk.at(40).sends_just(&[small(0, true, 1)]);
    talk.at(60).hears_ending(small(0, true, 5), &[(5, 4)]);
    assert_eq!(talk.delivers(), [5]);
    talk.sends_just(&[status(&[], 1, PDU)]);
    talk
}
