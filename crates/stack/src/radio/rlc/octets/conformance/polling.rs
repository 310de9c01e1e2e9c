//! TS 34.123-1 §7.2.3: polls and their timers.

use umts_units::Duration;

use super::bits::{amd7, list, status};
use super::talk::{Talk, sdu};
use super::{Case, PDU, am, talks};
use crate::radio::rlc::RlcConfig;

pub fn cases() -> Vec<Case> {
    vec![
        talks(
            "7.2.3",
            "AM, polling: last PDU in transmission queue",
            "the PDU that empties the transmission buffer polls, no other (§9.7.1)",
            last_pdu,
        ),
        talks(
            "7.2.3",
            "AM, polling: last PDU in retransmission queue",
            "the PDU that empties the retransmission buffer polls (§9.7.1)",
            last_retransmitted,
        ),
        talks("7.2.3", "AM, polling: every Poll_PDU", "every n-th PDU polls (§9.7.1)", poll_pdu),
        talks(
            "7.2.3",
            "AM, polling: every Poll_SDU",
            "the PDU that ends every n-th SDU polls (§9.7.1)",
            poll_sdu,
        ),
        talks(
            "7.2.3",
            "AM, polling: Timer_Poll_Periodic",
            "while data is sent or to be acknowledged, each expiry polls (§9.5, §9.7.1)",
            poll_periodic,
        ),
        talks(
            "7.2.3",
            "AM, polling: Poll_Window",
            "new PDUs from that share of the window on poll (§9.6, §9.7.1)",
            poll_window,
        ),
        talks("7.2.3", "AM, Timer_Poll expires", "the last PDU is sent again and polls (§9.5 a)", timer_poll),
        talks(
            "7.2.3",
            "AM, Timer_Poll: stop and restart",
            "the awaited acknowledgment stops it, a new poll restarts it (§9.5 a)",
            timer_poll_stops,
        ),
        talks(
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

/// An SDU of four octets that fills a PDU.
fn small(sn: u16, poll: bool, id: u64) -> Vec<u8> {
    amd7(sn, poll, &[4, 0x7F], &sdu(id, 4), PDU)
}

/// An SDU of 15 octets, after which nothing fits.
fn full(sn: u16, poll: bool, id: u64) -> Vec<u8> {
    amd7(sn, poll, &[15], &sdu(id, 15), PDU)
}

fn with_sdus(config: RlcConfig, count: u64) -> Talk {
    let mut talk = Talk::am(config);
    for id in 0..count {
        talk.queues(id, 15);
    }
    talk
}

fn last_pdu() -> Talk {
    let mut talk = with_sdus(am(16), 3);
    talk.sends_just(&[full(0, false, 0), full(1, false, 1), full(2, true, 2)]);
    talk
}

fn last_retransmitted() -> Talk {
    let mut talk = with_sdus(RlcConfig { poll_last_pdu: false, ..am(16) }, 4);
    talk.sends(9);
    talk.at(20).hears(status(&list(&[(0, 0), (2, 0)]), 4, PDU));
    talk.sends_just(&[full(0, false, 0), full(2, true, 2)]);
    talk
}

fn poll_pdu() -> Talk {
    let mut talk = with_sdus(RlcConfig { poll_pdu: Some(2), ..without_polls() }, 5);
    talk.sends_just(&[
        full(0, false, 0),
        full(1, true, 1),
        full(2, false, 2),
        full(3, true, 3),
        full(4, false, 4),
    ]);
    // Retransmissions count, too.
    talk.at(20).hears(status(&list(&[(0, 0)]), 5, PDU));
    talk.sends_just(&[full(0, true, 0)]);
    talk
}

fn poll_sdu() -> Talk {
    let mut talk = Talk::am(RlcConfig { poll_sdu: Some(2), ..without_polls() });
    talk.queues(0, 20).queues(1, 4).queues(2, 10);
    // SDU 0: one whole PDU and 4 octets. SDU 1 ends after it in the second PDU.
    let second = [sdu(0, 20)[16..].to_vec(), sdu(1, 4)].concat();
    let sent = talk.sends(9);
    assert_eq!(sent[0], amd7(0, false, &[], &sdu(0, 20)[..16], PDU));
    assert_eq!(sent[1][..2], amd7(1, true, &[4, 8], &second, PDU)[..2], "the second SDU ends here");
    assert_eq!(sent.len(), 3);
    assert_eq!(sent[2][1] & 0b100, 0, "the third does not poll");
    talk
}

fn poll_periodic() -> Talk {
    let every = Duration::from_millis(100);
    let mut talk = with_sdus(RlcConfig { timer_poll_periodic: Some(every), ..without_polls() }, 1);
    talk.sends_just(&[full(0, false, 0)]);
    talk.at(100).sends_just(&[full(0, true, 0)]);
    talk.at(200).sends_just(&[full(0, true, 0)]);
    talk.at(220).hears(status(&[], 1, PDU));
    talk.at(300).is_silent();
    talk
}

fn poll_window() -> Talk {
    let config = RlcConfig { window: 10, poll_window: Some(50), ..without_polls() };
    let mut talk = with_sdus(config, 6);
    talk.sends_just(&[
        full(0, false, 0),
        full(1, false, 1),
        full(2, false, 2),
        full(3, false, 3),
        full(4, true, 4),
        full(5, true, 5),
    ]);
    talk
}

fn timer_poll() -> Talk {
    let mut talk = with_sdus(RlcConfig { timer_poll: Some(Duration::from_millis(200)), ..am(16) }, 1);
    talk.sends_just(&[full(0, true, 0)]);
    talk.at(199).is_silent();
    talk.at(200).sends_just(&[full(0, true, 0)]);
    talk.at(400).sends_just(&[full(0, true, 0)]);
    talk.at(420).hears(status(&[], 1, PDU));
    talk.at(600).is_silent();
    talk
}

fn timer_poll_stops() -> Talk {
    let mut talk = with_sdus(RlcConfig { timer_poll: Some(Duration::from_millis(200)), ..am(16) }, 1);
    talk.sends_just(&[full(0, true, 0)]);
    // A new poll at 100 ms restarts the timer …
    talk.at(100).queues(1, 4).sends_just(&[small(1, true, 1)]);
    talk.at(200).is_silent();
    // … and a report that acknowledges only earlier PDUs does not stop it.
    talk.at(220).hears(status(&[], 1, PDU));
    talk.at(300).sends_just(&[small(1, true, 1)]);
    // A NACK of the PDU that polled stops the timer. The PDU is retransmitted and polls.
    talk.at(320).hears(status(&list(&[(1, 0)]), 2, PDU)).sends_just(&[small(1, true, 1)]);
    talk.at(340).hears(status(&[], 2, PDU));
    talk.at(540).is_silent();
    talk
}

fn timer_poll_prohibit() -> Talk {
    let mut talk =
        with_sdus(RlcConfig { timer_poll_prohibit: Some(Duration::from_millis(200)), ..am(16) }, 1);
    talk.sends_just(&[full(0, true, 0)]);
    // Two polls are triggered during the prohibit time.
    talk.at(40).queues(1, 15).sends_just(&[full(1, false, 1)]);
    talk.at(80).queues(2, 15).sends_just(&[full(2, false, 2)]);
    // One is sent afterwards.
    talk.at(199).is_silent();
    talk.at(200).sends_just(&[full(2, true, 2)]);
    talk.at(220).is_silent();
    talk
}
