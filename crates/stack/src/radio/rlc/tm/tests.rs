//! Transparent mode: segmentation, erroneous SDUs, discard and suspension of one entity. A PDU has 40
//! octets, and the buffer has room for 1,000 octets.

use umts_kernel::NoTrace;
use umts_units::Duration;

use super::*;
use crate::radio::rlc::RlcMode;
use crate::radio::rlc::testing::packet;

fn config() -> RlcConfig {
    RlcConfig { mode: RlcMode::Tm, buffer: Some(Bytes(1_000)), ..RlcConfig::default() }
}

/// An entity with at most 12 blocks of 40 octets in a TTI.
fn entity(config: &RlcConfig) -> TmEntity {
    TmEntity::new(UeId(0), Direction::Downlink, config, 12)
}

fn ms(ms: u64) -> Time {
    Time::ZERO + Duration::from_millis(ms)
}

/// The upper layer sends SDU `id` of `octets` octets.
fn queue(tm: &mut TmEntity, id: u64, octets: u32) -> Result<(), BufferFull> {
    tm.handle_sdu(&mut Context::new(ms(0), &mut NoTrace), &Sdu::new(packet(id, octets), ms(0)))
}

/// The block set that the entity sends in a TTI of `blocks` blocks.
fn send(tm: &mut TmEntity, blocks: u32) -> BlockSet {
    let mut set = BlockSet::default();
    tm.poll_transmit(&mut Context::new(ms(0), &mut NoTrace), blocks, &mut set);
    set
}

#[test]
fn with_segmentation_a_tti_holds_one_sdu() {
    let mut tm = entity(&config());
    queue(&mut tm, 0, 100).unwrap();
    queue(&mut tm, 1, 40).unwrap();
    let blocks_of_ttis: Vec<u32> = (0..3).map(|_| send(&mut tm, 12).blocks).collect();
    assert_eq!(blocks_of_ttis, [3, 1, 0]);
}

#[test]
fn without_segmentation_an_sdu_is_a_pdu() {
    let mut tm = entity(&RlcConfig { tm_segmentation: false, ..config() });
    for (id, octets) in [(0, 40), (1, 41), (2, 10), (3, 40)] {
        queue(&mut tm, id, octets).unwrap();
    }
    let set = send(&mut tm, 2);
    // SDU 1 is larger than a PDU and is discarded.
    assert_eq!(set.ends.iter().map(|end| end.sdu.packet.id.0).collect::<Vec<_>>(), [0, 2]);
    assert_eq!(tm.buffer_occupancy(), Bytes(40));
}

#[test]
fn sdu_waits_for_enough_blocks_and_is_discarded_if_the_channel_has_too_few() {
    let mut tm = entity(&config());
    queue(&mut tm, 0, 400).unwrap();
    // One octet more than 12 blocks hold.
    queue(&mut tm, 1, 481).unwrap();
    assert_eq!(queue(&mut tm, 2, 200), Err(BufferFull));
    assert_eq!((send(&mut tm, 9).blocks, tm.has_work()), (0, true));
    assert_eq!(send(&mut tm, 12).blocks, 10);
    assert_eq!((send(&mut tm, 12).blocks, tm.has_work()), (0, false));
}

#[test]
fn an_erroneous_sdu_is_dropped_marked_or_passed() {
    for (erroneous_sdus, expected_mark) in [
        (ErroneousSdus::Dropped, None),
        (ErroneousSdus::Marked, Some(true)),
        (ErroneousSdus::Undetected, Some(false)),
    ] {
        let mut tm = entity(&RlcConfig { tm_erroneous_sdus: erroneous_sdus, ..config() });
        queue(&mut tm, 0, 100).unwrap();
        let set = send(&mut tm, 12);
        // Of the three blocks of the SDU the second one has errors.
        tm.handle_blocks(&mut Context::new(ms(0), &mut NoTrace), &set, Lost(0b010));
        assert_eq!(tm.poll_delivered(), None);
        let erroneous = tm.poll_erroneous();
        assert_eq!(erroneous.map(|erroneous| erroneous.is_marked), expected_mark);
        assert!(erroneous.is_none_or(|erroneous| erroneous.sdu.packet.id.0 == 0));
        // The set has only three blocks, 0 to 2, so the loss of block 3 has no effect.
        tm.handle_blocks(&mut Context::new(ms(0), &mut NoTrace), &set, Lost(0b1000));
        assert_eq!(tm.poll_delivered().map(|sdu| sdu.packet.id.0), Some(0));
    }
}

#[test]
fn sdu_is_discarded_when_timer_discard_expires() {
    let mut tm = entity(&RlcConfig { timer_discard: Some(Duration::from_millis(50)), ..config() });
    queue(&mut tm, 0, 100).unwrap();
    assert_eq!(tm.poll_timeout(), Some(ms(50)));
    tm.handle_timeout(&mut Context::new(ms(50), &mut NoTrace));
    assert_eq!((tm.has_work(), tm.poll_timeout()), (false, None));
}

#[test]
fn resumed_entity_uses_the_blocks_per_tti_of_the_new_channel() {
    let mut tm = entity(&config());
    queue(&mut tm, 0, 500).unwrap();
    tm.suspend();
    assert_eq!(send(&mut tm, 12).blocks, 0);
    tm.resume(24);
    assert_eq!(send(&mut tm, 24).blocks, 13);
}
