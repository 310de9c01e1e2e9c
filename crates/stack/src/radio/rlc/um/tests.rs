//! Unacknowledged mode: length indicators, losses, discard and suspension of one entity or of two
//! ends. A PDU has 40 octets of length indicators and data. Times are in ms.

use proptest::prelude::*;
use umts_kernel::NoTrace;
use umts_units::Duration;

use super::*;
use crate::radio::rlc::RlcMode;
use crate::radio::rlc::testing::packet;

fn ms(ms: u64) -> Time {
    Time::ZERO + Duration::from_millis(ms)
}

fn entity(timer_discard: Option<Duration>) -> UmEntity {
    let config = RlcConfig { mode: RlcMode::Um, timer_discard, buffer: None, ..RlcConfig::default() };
    UmEntity::new(UeId(0), Direction::Downlink, &config)
}

/// The upper layer sends SDU `id` of `octets` octets at `at` ms.
fn queue(um: &mut UmEntity, at: u64, id: u64, octets: u32) {
    um.handle_sdu(&mut Context::new(ms(at), &mut NoTrace), &Sdu::new(packet(id, octets), ms(at))).unwrap();
}

/// The block set that the entity sends at `at` ms in a TTI of `blocks` blocks.
fn send(um: &mut UmEntity, at: u64, blocks: u32) -> BlockSet {
    let mut set = BlockSet::default();
    um.poll_transmit(&mut Context::new(ms(at), &mut NoTrace), blocks, &mut set);
    set
}

/// Ids of the SDUs that `peer` delivers from `set` without the blocks in `lost`.
fn delivered(peer: &mut UmEntity, set: &BlockSet, lost: &[u32]) -> Vec<u64> {
    let lost = Lost(lost.iter().fold(0, |bits, block| bits | 1 << block));
    peer.handle_blocks(&mut Context::new(ms(0), &mut NoTrace), set, lost);
    std::iter::from_fn(|| peer.poll_delivered()).map(|sdu| sdu.packet.id.0).collect()
}

#[test]
fn the_start_of_an_sdu_at_the_start_of_a_pdu_costs_a_length_indicator() {
    // A PDU of 40 octets holds the length indicator 0x7C (an SDU starts here), 38 octets of the SDU,
    // and the length indicator of the SDU's end.
    for (octets, blocks) in [(38, 1), (39, 2), (40, 2), (78, 2), (79, 3)] {
        let mut um = entity(None);
        queue(&mut um, 0, 0, octets);
        assert_eq!(send(&mut um, 0, 9).blocks, blocks, "{octets} octets");
    }
    // If LI = 0 indicates the end of the previous SDU, the next SDU needs no 0x7C. The first PDU holds
    // 0x7C and the 39 octets of SDU 0. The second one holds LI 0, 38 octets and their indicator.
    let mut um = entity(None);
    queue(&mut um, 0, 0, 39);
    queue(&mut um, 0, 1, 38);
    assert_eq!(send(&mut um, 0, 9).blocks, 2);
}

#[test]
fn lost_pdu_destroys_only_its_own_sdus() {
    let mut um = entity(None);
    for id in 0..4 {
        queue(&mut um, 0, id, 60);
    }
    // In PDUs of 40 octets: SDU 0 is in PDUs 0 and 1, SDU 1 in 1 to 3, SDU 2 in 3 and 4, SDU 3 in 4
    // to 6.
    let set = send(&mut um, 0, 20);
    for (lost, expected) in [
        (vec![], vec![0, 1, 2, 3]),
        (vec![0], vec![1, 2, 3]),
        (vec![2], vec![0, 2, 3]),
        (vec![1], vec![2, 3]),
    ] {
        assert_eq!(delivered(&mut entity(None), &set, &lost), expected, "{lost:?}");
    }
}

#[test]
fn expired_sdu_leaves_a_gap_if_partly_sent() {
    let mut um = entity(Some(Duration::from_millis(100)));
    queue(&mut um, 0, 0, 100);
    queue(&mut um, 50, 1, 100);
    queue(&mut um, 60, 2, 30);
    // PDU 0 has the first part of SDU 0.
    let first = send(&mut um, 10, 1);
    assert_eq!(um.poll_timeout(), Some(ms(100)));
    // At 150 ms SDUs 0 and 1 are at least 100 ms old. SDU 2 expires at 160 ms.
    um.handle_timeout(&mut Context::new(ms(150), &mut NoTrace));
    assert_eq!((um.buffer_occupancy(), um.poll_timeout()), (Bytes(30), Some(ms(160))));
    // Number 1 is skipped, because a part of SDU 0 was sent.
    let second = send(&mut um, 155, 1);
    let Pdu::Umd(run) = second.pdus[0] else { panic!("{second:?}") };
    assert_eq!(run.first, Sn::of(2));
    let mut peer = entity(None);
    assert!(delivered(&mut peer, &first, &[]).is_empty());
    assert_eq!(delivered(&mut peer, &second, &[]), [2]);
    assert!(!um.has_work() && um.poll_timeout().is_none());
}

#[test]
fn loss_of_128_pdus_is_undetected() {
    // Sequence numbers have seven bits, so the PDU after 128 lost PDUs has the expected number. SDU 0
    // is then reassembled although parts of it are missing.
    for (lost, erroneous) in [(127, vec![]), (128, vec![0]), (129, vec![])] {
        let (mut um, mut peer) = (entity(None), entity(None));
        queue(&mut um, 0, 0, 40 * 140);
        queue(&mut um, 0, 1, 100);
        assert!(delivered(&mut peer, &send(&mut um, 0, 5), &[]).is_empty());
        // The PDUs of these two TTIs are lost.
        send(&mut um, 0, 64);
        send(&mut um, 0, lost - 64);
        assert_eq!(delivered(&mut peer, &send(&mut um, 0, 20), &[]), [1], "{lost} lost");
        let delivered_with_errors: Vec<u64> =
            std::iter::from_fn(|| peer.poll_erroneous()).map(|sdu| sdu.packet.id.0).collect();
        assert_eq!(delivered_with_errors, erroneous, "{lost} lost");
    }
}

#[test]
fn suspended_entity_keeps_its_data() {
    let mut um = entity(None);
    queue(&mut um, 0, 0, 100);
    um.suspend();
    assert!(!um.has_work() && send(&mut um, 0, 9).blocks == 0);
    um.resume();
    assert_eq!(send(&mut um, 0, 9).blocks, 3);
}

#[test]
fn suspension_with_n_permits_n_further_pdus() {
    let mut um = entity(None);
    queue(&mut um, 0, 0, 400);
    assert_eq!(send(&mut um, 0, 2).blocks, 2);
    assert_eq!(um.suspend_after(3), Sn::of(2));
    assert_eq!(send(&mut um, 0, 9).blocks, 3);
    assert!(!um.has_work());
    assert_eq!(send(&mut um, 0, 9).blocks, 0);
    um.resume();
    // 400 octets and the length indicators of start and end take 11 PDUs of 40 octets.
    assert_eq!(send(&mut um, 0, 9).blocks, 11 - 2 - 3);
}

proptest! {
    /// An SDU is delivered if and only if all its PDUs arrive, also after the seven-bit sequence
    /// number has wrapped around many times.
    #[test]
    fn exactly_the_completely_received_sdus_are_delivered(
        // For each TTI: the size of a new SDU, and two masks. The blocks in both masks are lost.
        ttis in prop::collection::vec((prop::option::of(1u32..300), any::<u128>(), any::<u128>()), 1..300)
    ) {
        let (mut um, mut peer) = (entity(None), entity(None));
        let (mut arrived, mut expected) = (Vec::new(), Vec::new());
        let mut lost_pdus = std::collections::BTreeSet::new();
        let mut pdus = 0;
        for (n, &(octets, one_mask, other_mask)) in ttis.iter().enumerate() {
            if let Some(octets) = octets {
                queue(&mut um, n as u64, n as u64, octets);
            }
            let set = send(&mut um, n as u64, 8);
            let lost: Vec<u32> =
                (0..set.blocks).filter(|block| (one_mask & other_mask) >> block & 1 == 1).collect();
            lost_pdus.extend(lost.iter().map(|block| pdus + u64::from(*block)));
            pdus += u64::from(set.blocks);
            for end in &set.ends {
                // PDUs of the SDU, numbered without wrap-around.
                let last_pdu = pdus - 1 - Sn::of(pdus - 1).steps_from(end.sn);
                let first_pdu = last_pdu - end.sn.steps_from(end.first);
                if lost_pdus.range(first_pdu..=last_pdu).next().is_none() {
                    expected.push(end.sdu.packet.id.0);
                }
            }
            arrived.extend(delivered(&mut peer, &set, &lost));
        }
        prop_assert_eq!(arrived, expected);
    }
}
