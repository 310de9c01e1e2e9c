//! Tests of the backlog of an entity in each mode. All times are in ms. PDUs have 40 octets of payload,
//! unless a test says otherwise.

use std::sync::Arc;

use proptest::prelude::*;
use umts_kernel::NoTrace;
use umts_units::{Duration, Octets};

use super::*;
use crate::Context;
use crate::ids::{Direction, UeId};
use crate::radio::mac::{TransportFormat, TransportFormatSet};
use crate::radio::phy::Lost;
use crate::radio::rlc::am::Piggyback;
use crate::radio::rlc::testing::packet;
use crate::radio::rlc::{BlockSet, Rlc, RlcConfig, RlcMode, Sdu};

fn ms(ms: u64) -> Time {
    Time::ZERO + Duration::from_millis(ms)
}

/// An entity with PDUs of 40 octets of payload, on a channel with four blocks per TTI, with two
/// SDUs of 100 octets that arrived at 0 and 10 ms.
fn with_two_sdus(config: &Arc<RlcConfig>, sends: Direction) -> Rlc {
    let mut rlc = Rlc::new(UeId(0), sends, config, 4);
    enqueue(&mut rlc, 0, 100);
    enqueue(&mut rlc, 10, 100);
    rlc
}

/// Enqueues an SDU of `octets` octets at `at_ms`, which is also its number.
fn enqueue(rlc: &mut Rlc, at_ms: u64, octets: u32) {
    let sdu = Sdu::new(packet(at_ms, octets), ms(at_ms));
    rlc.handle_sdu(&mut Context::new(ms(at_ms), &mut NoTrace), &sdu).expect("there is room");
}

/// The block set that the entity sends at `at_ms` in a TTI of `blocks` blocks.
fn send(rlc: &mut Rlc, at_ms: u64, blocks: u32) -> BlockSet {
    let mut set = BlockSet::default();
    rlc.poll_transmit(&mut Context::new(ms(at_ms), &mut NoTrace), blocks, &mut set);
    set
}

/// The entity receives a block set at `at_ms` without the blocks in `lost`.
fn receive(rlc: &mut Rlc, at_ms: u64, set: &BlockSet, lost: Lost) {
    rlc.handle_blocks(&mut Context::new(ms(at_ms), &mut NoTrace), set, lost);
}

/// The peer of an entity that sends in the downlink.
fn peer(config: &Arc<RlcConfig>) -> Rlc {
    Rlc::new(UeId(0), Direction::Uplink, config, 4)
}

/// No block is lost.
const NONE_LOST: Lost = Lost(0);

/// The second block is lost.
const SECOND_LOST: Lost = Lost(0b10);

/// The main fields of a [`Backlog`].
#[derive(Debug, PartialEq)]
struct Summary {
    octets: u64,
    /// Arrival of the oldest SDU in ms.
    since: Option<u64>,
    pdus: u32,
}

fn summary(rlc: &Rlc) -> Summary {
    let Backlog { octets, since, pdus, .. } = rlc.backlog();
    Summary { octets: octets.0, since: since.map(|at| at.as_nanos() / 1_000_000), pdus }
}

#[test]
fn am_backlog_has_new_data_and_retransmissions() {
    let config = RlcConfig::default().into();
    let mut rlc = with_two_sdus(&config, Direction::Downlink);
    // 200 octets and two length indicators of one octet take six PDUs of 40 octets.
    assert_eq!(summary(&rlc), Summary { octets: 200, since: Some(0), pdus: 6 });
    let first = send(&mut rlc, 20, 2);
    assert_eq!(summary(&rlc), Summary { octets: 120, since: Some(0), pdus: 4 });
    let rest = send(&mut rlc, 30, 9);
    assert_eq!(summary(&rlc), Summary { octets: 0, since: None, pdus: 0 });
    // The second PDU was lost, and the peer reports this.
    let mut peer = peer(&config);
    receive(&mut peer, 40, &first, SECOND_LOST);
    receive(&mut peer, 50, &rest, NONE_LOST);
    let report = send(&mut peer, 60, 1);
    receive(&mut rlc, 70, &report, NONE_LOST);
    assert_eq!(summary(&rlc), Summary { octets: 40, since: Some(0), pdus: 1 });
}

#[test]
fn buffer_occupancy_excludes_sent_pdus_without_a_nack() {
    let config = RlcConfig::default().into();
    let occupancy = |rlc: &Rlc, at: u64| rlc.available_for_transmission(ms(at)).0;
    let mut rlc = with_two_sdus(&config, Direction::Downlink);
    assert_eq!(occupancy(&rlc, 10), 200);
    let first = send(&mut rlc, 20, 2);
    assert_eq!(occupancy(&rlc, 20), 120);
    let rest = send(&mut rlc, 30, 9);
    assert_eq!((occupancy(&rlc, 30), rlc.buffer_occupancy()), (0, Bytes(200)));
    // The second PDU was lost. The peer's report waits as a control PDU of 42 octets.
    let mut peer = peer(&config);
    receive(&mut peer, 40, &first, SECOND_LOST);
    receive(&mut peer, 50, &rest, NONE_LOST);
    assert_eq!(occupancy(&peer, 50), 42);
    let report = send(&mut peer, 60, 1);
    assert_eq!(occupancy(&peer, 60), 0);
    // The PDU must be retransmitted with its header.
    receive(&mut rlc, 70, &report, NONE_LOST);
    assert_eq!(occupancy(&rlc, 70), 42);
}

#[test]
fn buffer_occupancy_includes_data_beyond_the_window() {
    let config = RlcConfig { window: 3, ..RlcConfig::default() };
    let mut rlc = with_two_sdus(&config.into(), Direction::Downlink);
    send(&mut rlc, 20, 9);
    // Three PDUs were sent. They hold 100 + 19 octets of data and one length indicator.
    assert_eq!(rlc.available_for_transmission(ms(20)), Bytes(200 - 119));
}

#[test]
fn um_buffer_occupancy_is_the_unsent_data() {
    let config = RlcConfig { mode: RlcMode::Um, buffer: None, ..RlcConfig::default() };
    let mut rlc = with_two_sdus(&config.into(), Direction::Uplink);
    send(&mut rlc, 20, 1);
    // One PDU of 40 octets was sent: with the length indicator of the start, 39 octets of data.
    let occupancy = rlc.available_for_transmission(ms(20));
    assert!((Bytes(160)..=Bytes(165)).contains(&occupancy), "{occupancy}");
}

/// An SDU of `octets` octets that entered at `entered_ms` and waits with `blocks` blocks.
fn sdu(entered_ms: u64, octets: u64, blocks: u32) -> WaitingSdu {
    WaitingSdu { entered: ms(entered_ms), size: Bytes(octets), blocks }
}

fn waiting(rlc: &Rlc) -> Vec<WaitingSdu> {
    let mut sdus = Vec::new();
    rlc.waiting_sdus(&mut sdus);
    sdus
}

#[test]
fn am_lists_waiting_sdus() {
    let config = RlcConfig::default().into();
    let mut rlc = with_two_sdus(&config, Direction::Downlink);
    // The third block of 40 octets holds the last 20 octets of the first SDU, its length
    // indicator, and 19 octets of the second SDU.
    assert_eq!(waiting(&rlc), [sdu(0, 100, 3), sdu(10, 100, 3)]);
    let first = send(&mut rlc, 20, 2);
    assert_eq!(waiting(&rlc), [sdu(0, 100, 1), sdu(10, 100, 3)]);
    let rest = send(&mut rlc, 30, 9);
    assert_eq!(waiting(&rlc), []);
    enqueue(&mut rlc, 35, 90);
    // Two PDUs are lost: the second of all PDUs, which belongs to the first SDU, and the last but
    // one, which belongs to the second SDU.
    let last = rest.blocks - 1;
    let mut peer = peer(&config);
    receive(&mut peer, 40, &first, SECOND_LOST);
    receive(&mut peer, 50, &rest, Lost(1 << (last - 1)));
    let report = send(&mut peer, 60, 1);
    receive(&mut rlc, 70, &report, NONE_LOST);
    assert_eq!(waiting(&rlc), [sdu(0, 100, 1), sdu(10, 100, 1), sdu(35, 90, 3)]);
    let total: u32 = waiting(&rlc).iter().map(|sdu| sdu.blocks).sum();
    assert_eq!(total, rlc.backlog().pdus);
}

#[test]
fn um_lists_waiting_sdus() {
    let um = RlcConfig { mode: RlcMode::Um, buffer: None, ..RlcConfig::default() };
    let rlc = with_two_sdus(&um.into(), Direction::Downlink);
    // The first three PDUs hold the indicators of start and end and 100 octets of the first SDU,
    // and 18 octets of the second. The next three hold the other 82 octets and the indicator of
    // their end.
    assert_eq!(waiting(&rlc), [sdu(0, 100, 3), sdu(10, 100, 3)]);
}

/// If an SDU fills its PDUs exactly, one more PDU indicates its end. EURANE needs none.
#[test]
fn blocks_of_an_sdu_include_its_length_indicators() {
    let am = |length_indicators| Arc::new(RlcConfig { length_indicators, ..RlcConfig::default() });
    let um = Arc::new(RlcConfig { mode: RlcMode::Um, buffer: None, ..RlcConfig::default() });
    for (config, octets, blocks) in [
        (am(LengthIndicators::Ts25322), 159, 4),
        (am(LengthIndicators::Ts25322), 160, 5),
        (am(LengthIndicators::Eurane), 160, 4),
        (um.clone(), 158, 4),
        (um, 159, 5),
    ] {
        let mut rlc = Rlc::new(UeId(0), Direction::Downlink, &config, 4);
        enqueue(&mut rlc, 0, octets);
        assert_eq!(waiting(&rlc)[0].blocks, blocks, "{octets} octets");
        assert_eq!(rlc.backlog().pdus, blocks, "{octets} octets");
        assert_eq!(send(&mut rlc, 10, 99).blocks, blocks, "{octets} octets");
    }
}

proptest! {
    /// For any waiting SDUs, and any number of blocks sent before.
    #[test]
    fn predicted_blocks_of_waiting_sdus_equal_the_sent_blocks(
        sizes in prop::collection::vec(1_u32..400, 1..12),
        sent_before in 0_u32..20,
        payload in prop_oneof![Just(16_u16), Just(40), Just(130)],
        mode in 0..3,
    ) {
        let am = |length_indicators| RlcConfig {
            length_indicators, pdu_payload: Octets(payload), piggyback: Piggyback::Off, ..RlcConfig::default()
        };
        let config = match mode {
            0 => am(LengthIndicators::Ts25322).into(),
            1 => am(LengthIndicators::Eurane).into(),
            _ => RlcConfig { mode: RlcMode::Um, buffer: None, ..am(LengthIndicators::Ts25322) }.into(),
        };
        let mut rlc = Rlc::new(UeId(0), Direction::Downlink, &config, 4);
        for (size, id) in sizes.into_iter().zip(0..) {
            enqueue(&mut rlc, id, size);
        }
        send(&mut rlc, 20, sent_before);
        let (waiting, backlog) = (waiting(&rlc), rlc.backlog().pdus);
        let mut end_pdus = Vec::new();
        let mut sent = 0;
        while rlc.backlog().octets > Bytes(0) || rlc.backlog().sdus > 0 {
            let set = send(&mut rlc, 30, 1);
            prop_assert_eq!(set.blocks, 1);
            sent += 1;
            end_pdus.extend(set.ends.iter().map(|_| sent));
        }
        // Each SDU ends in the last of its blocks, counted after the blocks of the SDUs before.
        let mut blocks_before = 0;
        let completed_after: Vec<u32> =
            waiting.iter().map(|sdu| { blocks_before += sdu.blocks; blocks_before }).collect();
        prop_assert_eq!(&completed_after, &end_pdus);
        let is_exact = mode == 0 && payload < 125;
        prop_assert!(if is_exact { backlog == sent } else { backlog <= sent }, "{} of {}", backlog, sent);
    }
}

proptest! {
    /// For any traffic, losses and mode, an entity fills the transport format that was chosen
    /// from `pdus_ready`.
    #[test]
    fn every_tti_holds_a_transport_format(
        steps in prop::collection::vec((0_u64..4, prop::option::of(1_u32..900), any::<u128>(), any::<bool>()), 1..60),
        piggyback in prop_oneof![Just(Piggyback::Off), Just(Piggyback::Padding), Just(Piggyback::BuildAround)],
        is_eurane in any::<bool>(),
        is_um in any::<bool>(),
        payload in prop_oneof![Just(40_u16), Just(130)],
        window in 2_u32..40,
    ) {
        let length_indicators = if is_eurane { LengthIndicators::Eurane } else { LengthIndicators::Ts25322 };
        let am = RlcConfig { piggyback, pdu_payload: Octets(payload), window, length_indicators, ..RlcConfig::default() };
        let um = RlcConfig { mode: RlcMode::Um, ..RlcConfig::default() };
        let (config, counts) = (Arc::new(if is_um { um } else { am }), [1, 2, 4, 8, 12]);
        let tti = Duration::from_millis(10);
        let set = TransportFormatSet::new(counts);
        let format = TransportFormat { set, ..TransportFormat::up_to(12, tti) };
        let mut ends = [Direction::Downlink, Direction::Uplink].map(|sends| Rlc::new(UeId(0), sends, &config, 12));
        let mut now = 0;
        for (ttis, sdu, lost, is_uplink) in steps {
            now += 10 * ttis;
            let mut trace = NoTrace;
            let cx = &mut Context::new(ms(now), &mut trace);
            let [first, second] = &mut ends;
            let (sender, receiver) = if is_uplink { (second, first) } else { (first, second) };
            if let Some(octets) = sdu {
                // A full buffer discards the SDU.
                let _ = sender.handle_sdu(cx, &Sdu::new(packet(now, octets), ms(now)));
            }
            sender.handle_timeout(cx);
            let blocks = send(sender, now, format.blocks_for(sender.pdus_ready(ms(now))));
            prop_assert!(blocks.blocks == 0 || counts.contains(&blocks.blocks), "{} blocks", blocks.blocks);
            receiver.handle_blocks(cx, &blocks, Lost(lost & lost >> 1));
            while receiver.poll_delivered().is_some() {}
        }
    }
}

#[test]
fn acknowledged_mode_counts_blocks_within_its_window() {
    let config = RlcConfig { window: 3, ..RlcConfig::default() };
    let mut rlc = with_two_sdus(&config.into(), Direction::Downlink);
    assert_eq!(summary(&rlc), Summary { octets: 200, since: Some(0), pdus: 3 });
    send(&mut rlc, 20, 9);
    // The window is closed: waiting data cannot be sent yet.
    assert_eq!(rlc.backlog().pdus, 0);
    assert!(rlc.backlog().octets > Bytes(0));
}

#[test]
fn um_backlog_is_the_unsent_data() {
    let config = RlcConfig { mode: RlcMode::Um, buffer: None, ..RlcConfig::default() };
    let mut rlc = with_two_sdus(&config.into(), Direction::Uplink);
    assert_eq!(summary(&rlc), Summary { octets: 200, since: Some(0), pdus: 6 });
    while rlc.backlog().since == Some(ms(0)) {
        assert!(send(&mut rlc, 20, 1).blocks > 0);
    }
    assert_eq!(rlc.backlog().since, Some(ms(10)));
    send(&mut rlc, 30, 9);
    assert_eq!(summary(&rlc), Summary { octets: 0, since: None, pdus: 0 });
}

#[test]
fn tm_backlog_is_limited_to_one_tti() {
    let config = RlcConfig { mode: RlcMode::Tm, buffer: None, ..RlcConfig::default() };
    let mut rlc = with_two_sdus(&config.into(), Direction::Downlink);
    assert_eq!(summary(&rlc), Summary { octets: 200, since: Some(0), pdus: 4 });
    send(&mut rlc, 20, 4);
    assert_eq!(summary(&rlc), Summary { octets: 100, since: Some(10), pdus: 3 });
}
