//! Transparent mode: segmentation, erroneous SDUs, discard and suspension of one entity.

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

fn queue(tm: &mut TmEntity, id: u64, octets: u32) -> Result<(), BufferFull> {
    tm.handle_sdu(&mut Context::new(ms(0), &mut NoTrace), &Sdu::new(packet(id, octets), ms(0)))
}

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
    assert_eq!([send(&mut tm, 12).blocks, send(&mut tm, 12).blocks, send(&mut tm, 12).blocks], [3, 1, 0]);
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
    for (erroneous_sdus, expected) in [
        (ErroneousSdus::Dropped, None),
        (ErroneousSdus::Marked, Some((0, true))),
        (ErroneousSdus::Undetected, Some((0, false))),
    ] {
        let mut tm = entity(&RlcConfig { tm_erroneous_sdus: erroneous_sdus, ..config() });
        queue(&mut tm, 0, 100).unwrap();
        let set = send(&mut tm, 12);
        tm.handle_blocks(&mut Context::new(ms(0), &mut NoTrace), &set, Lost(0b010));
        assert_eq!(tm.poll_delivered(), None);
        assert_eq!(tm.poll_erroneous().map(|(sdu, is_marked)| (sdu.packet.id.0, is_marked)), expected);
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
