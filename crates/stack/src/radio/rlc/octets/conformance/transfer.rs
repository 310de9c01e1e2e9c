//! TS 34.123-1 §7.2.3: sequence numbers and windows.
//!
//! Each function after [`cases`] is the conversation of a scripted peer with the UE, whose RLC entity
//! is tested. `sends_exactly` states the PDUs that the UE sends now, and `receives` gives it a PDU of
//! the peer. `small_sdu_pdu(sn, POLL, id)` is data PDU `sn` with the polling bit and the whole SDU
//! `id` of 4 octets. `status(sufis, lsn, …)` is a STATUS that acknowledges the PDUs below `lsn`,
//! except those that its SUFIs list as missing. Times (`at`) are in ms.

use super::bits::{NO_POLL, POLL, amd7, list, pdus, status, window};
use super::test_ue::{TestUe, ending, sdu};
use super::{Case, PDU_OCTETS, am, case, small_sdu_pdu};
use crate::radio::rlc::RlcConfig;
use crate::trace::{PduDrop, TraceEvent};

/// Test cases of sequence numbers and of both windows.
pub fn cases() -> Vec<Case> {
    vec![
        case(
            "7.2.3",
            "AM, correct use of sequence numbering",
            "PDUs are numbered from 0 to 4095 and again from 0, both ways (§9.4)",
            numbering,
        ),
        case(
            "7.2.3",
            "AM, control of the transmit window",
            "nothing beyond VT(MS) leaves; a WINDOW SUFI narrows and widens it (§9.4, §9.2.2.11.2)",
            transmit_window,
        ),
        case(
            "7.2.3",
            "AM, control of the receive window",
            "PDUs outside VR(R) to VR(MR) are discarded; those at its end are taken (§9.4, §11.3.4)",
            receive_window,
        ),
    ]
}

fn numbering() -> TestUe {
    let mut ue = TestUe::am(am(16));
    // More than one cycle of sequence numbers, one PDU per TTI. The reference page shows the first
    // and last PDUs.
    for n in 0..4_200_u64 {
        let sn = (n % 4096) as u16;
        ue.at(20 * n)
            .peer_sdu_starts_in(sn.into())
            .receives_sdu_ends(small_sdu_pdu(sn, POLL, n), &[ending(n, 4)]);
        assert_eq!(ue.delivers(), [n]);
        let next = (u32::from(sn) + 1) % 4096;
        ue.submits(n, 4).sends_exactly(&[status(&[], next, PDU_OCTETS), small_sdu_pdu(sn, POLL, n)]);
        ue.receives(status(&[], next, PDU_OCTETS));
    }
    let lines = ue.lines.len();
    ue.lines.splice(10..lines - 10, ["   …".to_owned()]);
    ue
}

fn transmit_window() -> TestUe {
    let mut ue = TestUe::am(RlcConfig { window: 8, poll_window: Some(99), ..am(16) });
    for id in 0..20 {
        ue.submits(id, 15);
    }
    // Eight PDUs fill the window. The eighth polls, because 99 % of the window are outstanding.
    let sent = ue.sends(20);
    assert_eq!(sent.len(), 8);
    assert_eq!(
        sent[6..],
        [amd7(6, NO_POLL, &[15], &sdu(6, 15), PDU_OCTETS), amd7(7, POLL, &[15], &sdu(7, 15), PDU_OCTETS)]
    );
    ue.at(20).sends_nothing();
    // The peer reduces the window to 4 and acknowledges PDUs 0 to 3. PDUs 4 to 7 fill the window.
    ue.at(40).receives(status(&window(4), 4, PDU_OCTETS)).sends_nothing();
    // Two more PDUs are acknowledged, so two may be sent.
    ue.at(60).receives(status(&[], 6, PDU_OCTETS));
    assert_eq!(ue.sends(20).len(), 2);
    // The window is increased to 8 again.
    ue.at(80).receives(status(&window(8), 10, PDU_OCTETS));
    assert_eq!(ue.sends(20).len(), 8);
    // A window larger than the configured one is ignored.
    ue.at(100).receives(status(&window(9), 10, PDU_OCTETS)).sends_nothing();
    ue
}

fn receive_window() -> TestUe {
    let mut ue = TestUe::am(am(16));
    // VR(MR) = 128 is the first PDU outside.
    ue.peer_sdu_starts_in(128).receives_sdu_ends(small_sdu_pdu(128, NO_POLL, 128), &[ending(128, 4)]);
    assert!(
        ue.has_recorded(|event| matches!(event, TraceEvent::PdusDropped { why: PduDrop::OutsideWindow, .. }))
    );
    ue.sends_nothing();
    ue.at(20).peer_sdu_starts_in(0).receives_sdu_ends(small_sdu_pdu(0, POLL, 0), &[ending(0, 4)]);
    ue.sends_exactly(&[status(&[], 1, PDU_OCTETS)]);
    // VR(R) is now 1. PDU 128 is the last one inside the window, and all PDUs before it are
    // missing.
    ue.at(40).peer_sdu_starts_in(128).receives_sdu_ends(small_sdu_pdu(128, NO_POLL, 128), &[ending(128, 4)]);
    // A STATUS of 18 octets has room for a LIST of seven runs, which lists all missing PDUs below
    // its LSN. The second STATUS omits the PDUs of the first one, so its LSN is VR(R)
    // (§9.2.2.11.1).
    let first_runs: Vec<_> = (0..7).map(|n| pdus(1 + 16 * n..=16 + 16 * n)).collect();
    ue.sends_exactly(&[
        status(&list(&first_runs), 113, PDU_OCTETS),
        status(&list(&[pdus(113..=127)]), 1, PDU_OCTETS),
    ]);
    assert_eq!(ue.delivers(), [0]);
    ue
}
