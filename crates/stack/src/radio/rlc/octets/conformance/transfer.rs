//! TS 34.123-1 §7.2.3: sequence numbers and windows.

use super::bits::{amd7, list, status, window};
use super::talk::{Talk, sdu};
use super::{Case, PDU, am, talks};
use crate::radio::rlc::RlcConfig;
use crate::trace::{PduDrop, TraceEvent};

pub fn cases() -> Vec<Case> {
    vec![
        talks(
            "7.2.3",
            "AM, correct use of sequence numbering",
            "PDUs are numbered from 0 to 4095 and again from 0, both ways (§9.4)",
            numbering,
        ),
        talks(
            "7.2.3",
            "AM, control of the transmit window",
            "nothing beyond VT(MS) leaves; a WINDOW SUFI narrows and widens it (§9.4, §9.2.2.11.2)",
            transmit_window,
        ),
        talks(
            "7.2.3",
            "AM, control of the receive window",
            "PDUs outside VR(R) to VR(MR) are discarded; those at its end are taken (§9.4, §11.3.4)",
            receive_window,
        ),
    ]
}

/// A PDU with one SDU of four octets that ends in it.
fn small(sn: u16, poll: bool, id: u64) -> Vec<u8> {
    amd7(sn, poll, &[4, 0x7F], &sdu(id, 4), PDU)
}

fn numbering() -> Talk {
    let mut talk = Talk::am(am(16));
    // More than one cycle of sequence numbers, one PDU per TTI. The reference page shows the first
    // and last PDUs.
    for n in 0..4_200_u64 {
        let sn = (n % 4096) as u16;
        talk.at(20 * n).peer_begins_in(sn.into()).hears_ending(small(sn, true, n), &[(n, 4)]);
        assert_eq!(talk.delivers(), [n]);
        let next = (u32::from(sn) + 1) % 4096;
        talk.queues(n, 4).sends_just(&[status(&[], next, PDU), small(sn, true, n)]);
        talk.hears(status(&[], next, PDU));
    }
    let lines = talk.lines.len();
    talk.lines.splice(10..lines - 10, ["   …".to_owned()]);
    talk
}

fn transmit_window() -> Talk {
    let mut talk = Talk::am(RlcConfig { window: 8, poll_window: Some(99), ..am(16) });
    for id in 0..20 {
        talk.queues(id, 15);
    }
    // Eight PDUs fill the window. The last one polls, because no other may be sent.
    let sent = talk.sends(20);
    assert_eq!(sent.len(), 8);
    assert_eq!(sent[6..], [amd7(6, false, &[15], &sdu(6, 15), PDU), amd7(7, true, &[15], &sdu(7, 15), PDU)]);
    talk.at(20).is_silent();
    // The peer reduces the window to 4 and acknowledges 4: no room is left.
    talk.at(40).hears(status(&window(4), 4, PDU)).is_silent();
    // Two more are acknowledged: two may be sent.
    talk.at(60).hears(status(&[], 6, PDU));
    assert_eq!(talk.sends(20).len(), 2);
    // The window is increased to 8 again.
    talk.at(80).hears(status(&window(8), 10, PDU));
    assert_eq!(talk.sends(20).len(), 8);
    // A window larger than the configured one is ignored.
    talk.at(100).hears(status(&window(9), 10, PDU)).is_silent();
    talk
}

fn receive_window() -> Talk {
    let mut talk = Talk::am(am(16));
    // VR(MR) = 128 is the first PDU outside.
    talk.peer_begins_in(128).hears_ending(small(128, false, 128), &[(128, 4)]);
    assert!(talk.saw(|event| matches!(event, TraceEvent::PdusDropped { why: PduDrop::OutsideWindow, .. })));
    talk.is_silent();
    talk.at(20).peer_begins_in(0).hears_ending(small(0, true, 0), &[(0, 4)]);
    talk.sends_just(&[status(&[], 1, PDU)]);
    // Now it is the last PDU inside, and all PDUs before it are missing.
    talk.at(40).peer_begins_in(128).hears_ending(small(128, false, 128), &[(128, 4)]);
    // A STATUS of 18 octets has room for a LIST of seven runs, which lists all missing PDUs below
    // its LSN. The second STATUS omits the PDUs of the first one, so its LSN is VR(R)
    // (§9.2.2.11.1).
    let first: Vec<(u32, u32)> = (0..7).map(|n| (1 + 16 * n, 15)).collect();
    talk.sends_just(&[status(&list(&first), 113, PDU), status(&list(&[(113, 14)]), 1, PDU)]);
    assert_eq!(talk.delivers(), [0]);
    talk
}
