//! SDU discard after MaxDAT, and the move of the receiving window.

use super::*;

fn twice() -> AmConfig {
    AmConfig { max_dat: Some(2), ..config() }
}

#[test]
fn an_sdu_is_given_up_when_a_pdu_was_sent_max_dat_times() {
    let mut talk = Talk::new(twice());
    for id in 0..3 {
        talk.queues(id, 79).unwrap();
    }
    assert_eq!(talk.at(10).sends(10), ["0-5 P"]);
    talk.at(80).hears_status(6, &[2]);
    assert_eq!(talk.at(90).sends(10), ["2 R P"]);
    talk.at(160).hears_status(6, &[2]);
    // The first SDU is acknowledged; the window moves to the first PDU of the third.
    assert_eq!(talk.discarded(), [1]);
    assert_eq!(talk.at(170).sends(10), ["STATUS MRW 4"]);
}

#[test]
fn max_dat_of_one_means_no_retransmission() {
    let mut talk = Talk::new(AmConfig { max_dat: Some(1), ..config() });
    talk.queues(0, 79).unwrap();
    assert_eq!(talk.at(10).sends(10), ["0-1 P"]);
    talk.at(80).hears_status(2, &[1]);
    assert_eq!(talk.discarded(), [0]);
    assert_eq!(talk.at(90).sends(10), ["STATUS MRW 2"]);
}

#[test]
fn a_repeated_poll_counts_as_a_transmission() {
    let mut talk = Talk::new(twice());
    talk.queues(0, 30).unwrap();
    assert_eq!(talk.at(10).sends(10), ["0 P"]);
    assert_eq!(talk.at(180).sends(10), ["0 R P"]);
    assert!(talk.at(350).sends(10).is_empty());
    assert_eq!(talk.discarded(), [0]);
    assert_eq!(talk.at(360).sends(10), ["STATUS MRW 1"]);
}

#[test]
fn an_sdu_that_is_only_half_sent_is_given_up_whole() {
    let mut talk = Talk::new(AmConfig { max_dat: Some(1), ..config() });
    talk.queues(0, 1000).unwrap();
    talk.queues(1, 39).unwrap();
    assert_eq!(talk.at(10).sends(4), ["0-3"]);
    talk.at(80).hears_status(4, &[1]);
    assert_eq!(talk.discarded(), [0]);
    assert_eq!(talk.at(90).sends(4), ["STATUS MRW 4", "4 P"]);
    assert_eq!(talk.am.buffer_occupancy(), Bytes(39));
}

#[test]
fn a_pdu_with_the_start_of_the_next_sdu_is_kept() {
    let mut talk = Talk::new(AmConfig { max_dat: Some(1), ..config() });
    talk.queues(0, 60).unwrap();
    talk.queues(1, 60).unwrap();
    // PDU 1 holds the end of the first and the start of the second.
    assert_eq!(talk.at(10).sends(10), ["0-3 P"]);
    talk.at(80).hears_status(4, &[0]);
    assert_eq!(talk.discarded(), [0]);
    assert_eq!(talk.at(90).sends(10), ["STATUS MRW 1/1"]);
}

#[test]
fn an_mrw_is_repeated_until_it_is_acknowledged() {
    let mut talk = Talk::new(AmConfig { max_dat: Some(1), ..config() });
    talk.queues(0, 30).unwrap();
    talk.at(10).sends(10);
    talk.at(80).hears_status(1, &[0]);
    assert_eq!(talk.at(90).sends(10), ["STATUS MRW 1"]);
    assert_eq!(talk.am.poll_timeout(), Some(ms(590)));
    assert_eq!(talk.at(590).sends(10), ["STATUS MRW 1"]);
    talk.at(650).hears_status(1, &[]);
    assert_eq!((talk.am.poll_timeout(), talk.am.has_work(ms(650))), (None, false));
}

fn mrw(sn: u64) -> BlockSet {
    let mut set = BlockSet::default();
    let mrw = Some(Mrw { sn: Sn::of(sn), n_length: 0 });
    set.push_status(Status { mrw, octets: 4, ..Status::default() });
    set
}

#[test]
fn a_moved_window_hands_up_what_is_whole_and_drops_the_rest() {
    for (mrw_acknowledgment, answer) in [
        (MrwAcknowledgment::Explicit, "STATUS MRW ACK 6 ack 6"),
        (MrwAcknowledgment::Implicit, "STATUS ack 6"),
    ] {
        let mut talk = Talk::new(AmConfig { mrw_acknowledgment, ..config() });
        let sdus = [(1, 0, 1), (2, 2, 3), (3, 4, 5)];
        talk.at(10).hears(&data(0, 5, false, &sdus), &[0]);
        assert!(talk.delivers().is_empty());
        talk.at(20).hears(&mrw(2), &[]);
        assert_eq!(talk.delivers(), [2, 3]);
        assert_eq!(talk.at(30).sends(1), [answer]);
    }
}

#[test]
fn an_sdu_that_reaches_above_the_new_window_is_dropped_when_its_end_comes() {
    let mut talk = Talk::new(config());
    talk.at(10).hears(&data(2, 3, false, &[(2, 3, 3)]), &[]);
    talk.at(20).hears(&mrw(2), &[]);
    assert_eq!(talk.delivers(), [2]);
    let mut talk = Talk::new(config());
    talk.at(20).hears(&mrw(2), &[]);
    talk.at(30).hears(&data(2, 3, false, &[(1, 0, 2), (2, 3, 3)]), &[]);
    assert_eq!(talk.delivers(), [2]);
}

#[test]
fn an_old_mrw_moves_nothing_and_is_answered() {
    let mut talk = Talk::new(config());
    talk.at(10).hears(&data(0, 5, false, &[]), &[]);
    talk.at(20).hears(&mrw(2), &[]);
    assert_eq!(talk.at(30).sends(1), ["STATUS MRW ACK 6"]);
}
