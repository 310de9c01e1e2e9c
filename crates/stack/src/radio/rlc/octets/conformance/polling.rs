//! TS 34.123-1 §7.2.3: polls and their timers.
//!
//! Each function after [`cases`] is the conversation of a scripted peer with the UE, whose RLC entity
//! is tested. `sends_exactly` states the PDUs that the UE sends now, and `receives` gives it a PDU of
//! the peer. `full_pdu(sn, POLL, id)` is data PDU `sn` with the polling bit and the whole SDU `id`.
//! `status(&list(&[pdu(2)]), 4, …)` is a STATUS with LSN 4: the PDUs below 4 have arrived, except PDU
//! 2. Times (`at`) are in ms.

use umts_units::Duration;

use super::bits::{NO_POLL, POLL, amd7, list, pdu, status};
use super::test_ue::{TestUe, sdu};
use super::{Case, PDU_OCTETS, am, case, small_sdu_pdu};
use crate::radio::rlc::RlcConfig;

/// Test cases of polling.
pub fn cases() -> Vec<Case> {
    vec![
        case(
            "7.2.3",
            "AM, polling: last PDU in transmission queue",
            "the PDU that empties the transmission buffer polls, no other (§9.7.1)",
            last_pdu,
        ),
        case(
            "7.2.3",
            "AM, polling: last PDU in retransmission queue",
            "the PDU that empties the retransmission buffer polls (§9.7.1)",
            last_retransmitted,
        ),
        case("7.2.3", "AM, polling: every Poll_PDU", "every n-th PDU polls (§9.7.1)", poll_pdu),
        case(
            "7.2.3",
            "AM, polling: every Poll_SDU",
            "the PDU that ends every n-th SDU polls (§9.7.1)",
            poll_sdu,
        ),
        case(
            "7.2.3",
            "AM, polling: Timer_Poll_Periodic",
            "while data is sent or to be acknowledged, each expiry polls (§9.5, §9.7.1)",
            poll_periodic,
        ),
        case(
            "7.2.3",
            "AM, polling: Poll_Window",
            "new PDUs from that share of the window on poll (§9.6, §9.7.1)",
            poll_window,
        ),
        case("7.2.3", "AM, Timer_Poll expires", "the last PDU is sent again and polls (§9.5 a)", timer_poll),
        case(
            "7.2.3",
            "AM, Timer_Poll: stop and restart",
            "the awaited acknowledgment stops it, a new poll restarts it (§9.5 a)",
            timer_poll_stops,
        ),
        case(
            "7.2.3",
            "AM, Timer_Poll_Prohibit",
            "polls triggered inside it are delayed; one is sent after it (§9.5 b)",
            timer_poll_prohibit,
        ),
    ]
}

fn without_polls() -> RlcConfig {
    RlcConfig { poll_last_pdu: false, poll_last_retransmitted_pdu: false, ..am(16) }
}

/// An AMD PDU with one SDU of 15 octets, which fills it together with the length indicator.
fn full_pdu(sn: u16, poll: bool, id: u64) -> Vec<u8> {
    amd7(sn, poll, &[15], &sdu(id, 15), PDU_OCTETS)
}

/// A UE with `count` SDUs to send, each of which fills a PDU.
fn with_sdus(config: RlcConfig, count: u64) -> TestUe {
    let mut ue = TestUe::am(config);
    for id in 0..count {
        ue.submits(id, 15);
    }
    ue
}

fn last_pdu() -> TestUe {
    let mut ue = with_sdus(am(16), 3);
    ue.sends_exactly(&[full_pdu(0, NO_POLL, 0), full_pdu(1, NO_POLL, 1), full_pdu(2, POLL, 2)]);
    ue
}

fn last_retransmitted() -> TestUe {
    let mut ue = with_sdus(RlcConfig { poll_last_pdu: false, ..am(16) }, 4);
    ue.sends(9);
    ue.at(20).receives(status(&list(&[pdu(0), pdu(2)]), 4, PDU_OCTETS));
    ue.sends_exactly(&[full_pdu(0, NO_POLL, 0), full_pdu(2, POLL, 2)]);
    ue
}

fn poll_pdu() -> TestUe {
    let mut ue = with_sdus(RlcConfig { poll_pdu: Some(2), ..without_polls() }, 5);
    ue.sends_exactly(&[
        full_pdu(0, NO_POLL, 0),
        full_pdu(1, POLL, 1),
        full_pdu(2, NO_POLL, 2),
        full_pdu(3, POLL, 3),
        full_pdu(4, NO_POLL, 4),
    ]);
    // Retransmissions count, too.
    ue.at(20).receives(status(&list(&[pdu(0)]), 5, PDU_OCTETS));
    ue.sends_exactly(&[full_pdu(0, POLL, 0)]);
    ue
}

fn poll_sdu() -> TestUe {
    let mut ue = TestUe::am(RlcConfig { poll_sdu: Some(2), ..without_polls() });
    ue.submits(0, 20).submits(1, 4).submits(2, 10);
    // SDU 0 fills one PDU and 4 octets of the second. SDU 1 follows in the second PDU, which
    // therefore ends two SDUs.
    let second = [sdu(0, 20)[16..].to_vec(), sdu(1, 4)].concat();
    let sent = ue.sends(9);
    assert_eq!(sent[0], amd7(0, NO_POLL, &[], &sdu(0, 20)[..16], PDU_OCTETS));
    assert_eq!(sent[1][..2], amd7(1, POLL, &[4, 8], &second, PDU_OCTETS)[..2], "the second SDU ends here");
    assert_eq!(sent.len(), 3);
    assert_eq!(sent[2][1] & 0b100, 0, "the polling bit of the third PDU is not set");
    ue
}

fn poll_periodic() -> TestUe {
    let every = Duration::from_millis(100);
    let mut ue = with_sdus(RlcConfig { timer_poll_periodic: Some(every), ..without_polls() }, 1);
    ue.sends_exactly(&[full_pdu(0, NO_POLL, 0)]);
    ue.at(100).sends_exactly(&[full_pdu(0, POLL, 0)]);
    ue.at(200).sends_exactly(&[full_pdu(0, POLL, 0)]);
    ue.at(220).receives(status(&[], 1, PDU_OCTETS));
    ue.at(300).sends_nothing();
    ue
}

/// With a window of 10 and Poll_Window 50 %, the fifth outstanding PDU and those after it poll.
fn poll_window() -> TestUe {
    let config = RlcConfig { window: 10, poll_window: Some(50), ..without_polls() };
    let mut ue = with_sdus(config, 6);
    ue.sends_exactly(&[
        full_pdu(0, NO_POLL, 0),
        full_pdu(1, NO_POLL, 1),
        full_pdu(2, NO_POLL, 2),
        full_pdu(3, NO_POLL, 3),
        full_pdu(4, POLL, 4),
        full_pdu(5, POLL, 5),
    ]);
    ue
}

fn timer_poll() -> TestUe {
    let mut ue = with_sdus(RlcConfig { timer_poll: Some(Duration::from_millis(200)), ..am(16) }, 1);
    ue.sends_exactly(&[full_pdu(0, POLL, 0)]);
    ue.at(199).sends_nothing();
    ue.at(200).sends_exactly(&[full_pdu(0, POLL, 0)]);
    ue.at(400).sends_exactly(&[full_pdu(0, POLL, 0)]);
    ue.at(420).receives(status(&[], 1, PDU_OCTETS));
    ue.at(600).sends_nothing();
    ue
}

fn timer_poll_stops() -> TestUe {
    let mut ue = with_sdus(RlcConfig { timer_poll: Some(Duration::from_millis(200)), ..am(16) }, 1);
    ue.sends_exactly(&[full_pdu(0, POLL, 0)]);
    // A new poll at 100 ms restarts the timer …
    ue.at(100).submits(1, 4).sends_exactly(&[small_sdu_pdu(1, POLL, 1)]);
    ue.at(200).sends_nothing();
    // … and a report that acknowledges only earlier PDUs does not stop it.
    ue.at(220).receives(status(&[], 1, PDU_OCTETS));
    ue.at(300).sends_exactly(&[small_sdu_pdu(1, POLL, 1)]);
    // A NACK of the PDU that polled stops the timer. The PDU is retransmitted and polls.
    ue.at(320).receives(status(&list(&[pdu(1)]), 2, PDU_OCTETS)).sends_exactly(&[small_sdu_pdu(1, POLL, 1)]);
    ue.at(340).receives(status(&[], 2, PDU_OCTETS));
    ue.at(540).sends_nothing();
    ue
}

fn timer_poll_prohibit() -> TestUe {
    let mut ue = with_sdus(RlcConfig { timer_poll_prohibit: Some(Duration::from_millis(200)), ..am(16) }, 1);
    ue.sends_exactly(&[full_pdu(0, POLL, 0)]);
    // Two polls are triggered during the prohibit time.
    ue.at(40).submits(1, 15).sends_exactly(&[full_pdu(1, NO_POLL, 1)]);
    ue.at(80).submits(2, 15).sends_exactly(&[full_pdu(2, NO_POLL, 2)]);
    // One is sent afterwards.
    ue.at(199).sends_nothing();
    ue.at(200).sends_exactly(&[full_pdu(2, POLL, 2)]);
    ue.at(220).sends_nothing();
    ue
}
