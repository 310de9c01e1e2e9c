//! Wire mode records the same trace events as block sets passed as descriptions, for all options
//! and for any losses and delays between the two ends.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use umts_units::{Bytes, Duration, Octets, Time};

use crate::Context;
use crate::ids::{Direction, UeId};
use crate::radio::phy::Lost;
use crate::radio::rlc::am::tests::config as am_config;
use crate::radio::rlc::am::{MaxDatReading, MissingPduIndication, Piggyback, StatusFormat};
use crate::radio::rlc::testing::packet;
use crate::radio::rlc::tm::ErroneousSdus;
use crate::radio::rlc::wire::{AmPdu, AmdFormat, LengthIndicator};
use crate::radio::rlc::{BlockSet, PduSize, Rlc, RlcConfig, RlcMode, Sdu, SduDiscard};
use crate::trace::TraceEvent;

/// TTI and one-way delay in ms.
const TTI: u64 = 10;
const DELAY: u64 = 30;
/// Blocks per TTI in downlink and uplink.
const BLOCKS: [u32; 2] = [6, 2];

/// An SDU of the upper layer.
#[derive(Debug, Clone, Copy)]
struct NewSdu {
    /// The end that sends it: 0 at the RNC, 1 at the UE.
    end: usize,
    octets: u32,
}

/// One step of a random exchange: the events before and in one TTI.
#[derive(Debug, Clone)]
struct Step {
    /// An SDU that an end queues.
    queue: Option<NewSdu>,
    /// Lost blocks by direction.
    lost: [u128; 2],
    /// The downlink set arrives twice.
    is_duplicated: bool,
    /// Number of TTIs for which both ends are suspended first.
    suspended_ttis: u64,
}

/// A block set in flight.
#[derive(Clone)]
struct InFlight {
    arrives_ms: u64,
    set: BlockSet,
    lost: Lost,
}

/// Two ends with their trace events and delivered SDUs.
struct Pair {
    ends: [Rlc; 2],
    /// Block sets in flight, by the end that sent them.
    pipe: [Vec<InFlight>; 2],
    now: Time,
    trace: Vec<(Time, TraceEvent)>,
    delivered: Vec<Delivered>,
}

/// A delivered SDU.
#[derive(Debug, PartialEq)]
struct Delivered {
    at: Time,
    id: u64,
    /// The SDU is delivered although it has errors.
    is_erroneous: bool,
}

impl Pair {
    fn new(end: impl Fn(Direction, u32) -> Rlc) -> Self {
        Pair {
            ends: [end(Direction::Downlink, BLOCKS[0]), end(Direction::Uplink, BLOCKS[1])],
            pipe: [Vec::new(), Vec::new()],
            now: Time::ZERO,
            trace: Vec::new(),
            delivered: Vec::new(),
        }
    }

    fn queue(&mut self, end: usize, id: u64, octets: u32) {
        let sdu = Sdu::new(packet(id, octets), self.now);
        // A full buffer rejects SDUs in both pairs.
        let _ = self.ends[end].handle_sdu(&mut Context::new(self.now, &mut self.trace), &sdu);
    }

    /// Performs TTI number `tti`: both ends receive and deliver, then both send. `lost`: lost blocks
    /// of the sets sent by each end. `is_duplicated`: the downlink set arrives twice.
    fn perform_tti(&mut self, tti: u64, lost: [u128; 2], is_duplicated: bool) {
        let now = tti * TTI;
        self.now = Time::ZERO + Duration::from_millis(now);
        for from in 0..2 {
            let arrived = self.pipe[from].partition_point(|in_flight| in_flight.arrives_ms <= now);
            for InFlight { set, lost, .. } in self.pipe[from].drain(..arrived) {
                let end = &mut self.ends[1 - from];
                end.handle_blocks(&mut Context::new(self.now, &mut self.trace), &set, lost);
                let delivery =
                    |sdu: Sdu, is_erroneous| Delivered { at: self.now, id: sdu.packet.id.0, is_erroneous };
                let correct = std::iter::from_fn(|| end.poll_delivered());
                self.delivered.extend(correct.map(|sdu| delivery(sdu, false)));
                let erroneous = std::iter::from_fn(|| end.poll_erroneous());
                self.delivered.extend(erroneous.map(|erroneous| delivery(erroneous.sdu, true)));
            }
        }
        for from in 0..2 {
            let mut set = BlockSet::default();
            self.ends[from].poll_transmit(
                &mut Context::new(self.now, &mut self.trace),
                BLOCKS[from],
                &mut set,
            );
            if set.blocks > 0 {
                let lost = Lost(lost[from] & Lost::all(set.blocks).0);
                let copies = 1 + usize::from(is_duplicated && from == 0);
                let in_flight = InFlight { arrives_ms: now + DELAY, set, lost };
                self.pipe[from].extend(std::iter::repeat_n(in_flight, copies));
            }
        }
    }
}

/// The mechanisms that occurred, to check that the comparison covers all of them.
#[derive(Debug, Default)]
struct Coverage {
    names: BTreeSet<String>,
}

impl Coverage {
    /// Counts the formats and procedures that a random exchange has covered.
    fn record(&mut self, pair: &Pair, config: &RlcConfig) {
        for (_, event) in &pair.trace {
            match event {
                TraceEvent::StatusSent { piggybacked: true, .. } => self.add("piggybacked STATUS"),
                TraceEvent::StatusSent { mrw: true, .. } => self.add("MRW"),
                TraceEvent::RlcInitialState { .. } => self.add("RESET"),
                TraceEvent::RlcUnrecoverable { .. } => self.add("MaxRST"),
                TraceEvent::PdusSent { retransmission: true, .. } => self.add("retransmission"),
                _ => {}
            }
        }
        // PDUs of flexible size have neither length indicators nor padding.
        if config.mode != RlcMode::Am || config.pdu_size == PduSize::Flexible {
            return;
        }
        let format = AmdFormat::of_size(usize::from(config.pdu_payload.0) + 2);
        for octets in pair.pipe.iter().flatten().flat_map(|in_flight| &in_flight.set.octets) {
            match AmPdu::parse(octets, format).expect("it was composed") {
                AmPdu::Data(pdu) => {
                    let width = format.width;
                    let indicators = pdu.payload().indicators().iter();
                    indicators.filter(|li| !matches!(li, LengthIndicator::End(_))).for_each(|li| {
                        self.add(&format!("{li:?} in {width:?}"));
                    });
                    if pdu.payload().rest().len() == 1 {
                        self.add(&format!("one octet left in {width:?}"));
                    }
                }
                AmPdu::Status(pdu) => pdu.sufis().iter().for_each(|sufi| {
                    let name = format!("{sufi:?}");
                    self.add(name.split('(').next().expect("a name"));
                }),
                AmPdu::Reset(_) => {}
            }
        }
    }

    fn add(&mut self, mechanism: &str) {
        self.names.insert(mechanism.to_owned());
    }
}

/// Performs the same steps in both modes and compares their events and delivered SDUs.
fn perform(config: &Arc<RlcConfig>, steps: &[Step]) {
    perform_and_record(config, steps, &mut Coverage::default());
}

/// Like [`perform`], and adds the mechanisms that occurred to `coverage`. After the steps the pair
/// runs for 400 TTIs without losses.
fn perform_and_record(config: &Arc<RlcConfig>, steps: &[Step], coverage: &mut Coverage) {
    let ue = UeId(0);
    let mut described = Pair::new(|sends, blocks| Rlc::new(ue, sends, config, blocks));
    let mut wired =
        Pair::new(|sends, blocks| Rlc::wired(ue, sends, config, blocks).expect("it has an encoding"));
    let mut tti = 0;
    let undisturbed = Step { queue: None, lost: [0; 2], is_duplicated: false, suspended_ttis: 0 };
    for (id, step) in steps.iter().chain(std::iter::repeat_n(&undisturbed, 400)).enumerate() {
        for pair in [&mut described, &mut wired] {
            if let Some(NewSdu { end, octets }) = step.queue {
                pair.queue(end, id as u64, octets);
            }
            if step.suspended_ttis > 0 {
                pair.ends.iter_mut().for_each(Rlc::suspend);
                (0..step.suspended_ttis).for_each(|n| pair.perform_tti(tti + n, [0; 2], false));
                pair.ends.iter_mut().zip(BLOCKS).for_each(|(end, blocks)| end.resume(blocks));
            }
            pair.perform_tti(tti + step.suspended_ttis, step.lost, step.is_duplicated);
        }
        tti += step.suspended_ttis + 1;
        assert_eq!(described.trace, wired.trace, "before TTI {tti}");
        assert_eq!(described.delivered, wired.delivered);
        coverage.record(&wired, config);
        described.trace.clear();
        wired.trace.clear();
    }
}

/// A step with an SDU of at most `largest` octets.
fn step(mode: RlcMode, largest: u32) -> impl Strategy<Value = Step> {
    let size = prop_oneof![1..largest, 38u32..42, 157u32..163, 1u32..6];
    let new_sdu = (0usize..2, size).prop_map(move |(end, size)| NewSdu { end, octets: size.min(largest) });
    let queue = prop::option::weighted(0.6, new_sdu);
    let lost = || prop_oneof![3 => Just(0u128), 2 => any::<u128>(), 1 => Just(u128::MAX)];
    let suspended_ttis = prop_oneof![30 => Just(0u64), 1 => 1u64..30];
    (queue, [lost(), lost()], prop::bool::weighted(0.05), suspended_ttis).prop_map(
        move |(queue, lost, is_duplicated, suspended_ttis)| {
            // Only acknowledged mode detects duplicates.
            Step { queue, lost, is_duplicated: is_duplicated && mode == RlcMode::Am, suspended_ttis }
        },
    )
}

/// Acknowledged mode with any options that have an encoding. Each group of options is drawn as a
/// configuration, from which `any_am` takes the fields of the group.
fn any_am() -> impl Strategy<Value = RlcConfig> {
    (any_formats_and_window(), any_discard(), any_polls_and_reports()).prop_map(
        |(formats, discard, polls)| RlcConfig {
            pdu_payload: formats.pdu_payload,
            status_format: formats.status_format,
            piggyback: formats.piggyback,
            window: formats.window,
            granted_window: formats.granted_window,
            poll_pdu: formats.poll_pdu,
            in_sequence: formats.in_sequence,
            sdu_discard: discard.sdu_discard,
            timer_discard: discard.timer_discard,
            max_dat: discard.max_dat,
            max_dat_reading: discard.max_dat_reading,
            send_mrw: discard.send_mrw,
            max_mrw: discard.max_mrw,
            max_rst: 4,
            ..polls
        },
    )
}

fn any_formats_and_window() -> impl Strategy<Value = RlcConfig> {
    // Length indicators have 7 bits with a payload of up to 124 octets, otherwise 15.
    let payload = prop_oneof![Just(40u16), Just(14), Just(16), Just(124), Just(125), Just(160)];
    let format = prop_oneof![Just(StatusFormat::Bitmap), Just(StatusFormat::List), Just(StatusFormat::Rlist)];
    let piggyback = prop_oneof![Just(Piggyback::Off), Just(Piggyback::Padding)];
    let window = prop_oneof![Just(8u32), Just(64), Just(2047)];
    let (in_sequence, grants_window) = (any::<bool>(), any::<bool>());
    (payload, format, piggyback, window, in_sequence, grants_window).prop_map(
        |(payload, status_format, piggyback, window, in_sequence, grants_window)| RlcConfig {
            pdu_payload: Octets(payload),
            status_format,
            piggyback,
            window,
            granted_window: grants_window.then_some(window.min(32)),
            poll_pdu: Some(window.min(32) / 2),
            in_sequence,
            ..am_config()
        },
    )
}

fn any_discard() -> impl Strategy<Value = RlcConfig> {
    let discard = prop_oneof![
        Just((SduDiscard::MaxDat, None)),
        Just((SduDiscard::Never, None)),
        (50u64..500).prop_map(|ms| (SduDiscard::Timer, Some(Duration::from_millis(ms))))
    ];
    let max_dat = prop::option::of(2u32..5);
    let reading = prop_oneof![Just(MaxDatReading::Ts25322), Just(MaxDatReading::Transmissions)];
    let (send_mrw, max_mrw) = (any::<bool>(), prop::option::of(2u32..5));
    (discard, max_dat, reading, send_mrw, max_mrw).prop_map(
        |((sdu_discard, timer_discard), max_dat, max_dat_reading, send_mrw, max_mrw)| RlcConfig {
            sdu_discard,
            timer_discard,
            max_dat,
            max_dat_reading,
            send_mrw,
            max_mrw,
            ..am_config()
        },
    )
}

fn any_polls_and_reports() -> impl Strategy<Value = RlcConfig> {
    let optional_timer =
        |from_ms: u64, to_ms: u64| prop::option::of((from_ms..to_ms).prop_map(Duration::from_millis));
    let (poll_sdu, poll_window) = (prop::option::of(1u32..5), prop::option::of(1u32..100));
    let (poll_prohibit, poll_periodic) = (optional_timer(10, 300), optional_timer(10, 300));
    let (status_periodic, status_prohibit) = (optional_timer(40, 300), optional_timer(50, 200));
    let indication = prop_oneof![Just(MissingPduIndication::Off), Just(MissingPduIndication::NewGap)];
    (poll_sdu, poll_window, poll_prohibit, poll_periodic, status_periodic, status_prohibit, indication)
        .prop_map(
            |(
                poll_sdu,
                poll_window,
                timer_poll_prohibit,
                timer_poll_periodic,
                timer_status_periodic,
                timer_status_prohibit,
                missing_pdu_indication,
            )| RlcConfig {
                poll_sdu,
                poll_window,
                timer_poll_prohibit,
                timer_poll_periodic,
                timer_status_periodic,
                timer_status_prohibit,
                missing_pdu_indication,
                ..am_config()
            },
        )
}

fn any_tm() -> impl Strategy<Value = RlcConfig> {
    let erroneous = prop_oneof![
        Just(ErroneousSdus::Dropped),
        Just(ErroneousSdus::Marked),
        Just(ErroneousSdus::Undetected)
    ];
    (any::<bool>(), erroneous, prop::option::of(30u64..200)).prop_map(
        |(segmentation, erroneous_sdus, age)| {
            let timer_discard = age.map(Duration::from_millis);
            RlcConfig {
                mode: RlcMode::Tm,
                tm_segmentation: segmentation,
                tm_erroneous_sdus: erroneous_sdus,
                timer_discard,
                buffer: Some(Bytes(2000)),
                ..RlcConfig::default()
            }
        },
    )
}

/// The random exchanges of this file use every format and procedure of acknowledged mode.
#[test]
fn random_options_cover_every_mechanism() {
    let mut runner = TestRunner::deterministic();
    let mut coverage = Coverage::default();
    for _ in 0..150 {
        let config = any_am().new_tree(&mut runner).expect("no filter").current().into();
        let steps = prop::collection::vec(step(RlcMode::Am, 1500), 150).new_tree(&mut runner);
        perform_and_record(&config, &steps.expect("no filter").current(), &mut coverage);
    }
    for expected in [
        "Bitmap",
        "List",
        "MRW",
        "MaxRST",
        "Mrw",
        "MrwAck { n",
        "Padding in Fifteen",
        "Padding in Seven",
        "PiggybackedStatus in Fifteen",
        "PiggybackedStatus in Seven",
        "PreviousFilled in Fifteen",
        "PreviousFilled in Seven",
        "PreviousOneShort in Fifteen",
        "RESET",
        "Rlist",
        "Window",
        "one octet left in Fifteen",
        "piggybacked STATUS",
        "retransmission",
    ] {
        assert!(coverage.names.iter().any(|name| name.starts_with(expected)), "{expected} in {coverage:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn wire_mode_does_not_change_acknowledged_mode(
        config in any_am(), steps in prop::collection::vec(step(RlcMode::Am, 1500), 1..150)
    ) {
        perform(&config.into(), &steps);
    }

    #[test]
    fn wire_mode_does_not_change_pdus_of_flexible_size(
        config in any_am(), largest in prop_oneof![16u16..60, Just(1503)], poll_sufi: bool,
        steps in prop::collection::vec(step(RlcMode::Am, 1500), 1..150)
    ) {
        let (pdu_size, largest_pdu) = (PduSize::Flexible, Octets(largest));
        perform(&RlcConfig { pdu_size, largest_pdu, poll_sufi, ..config }.into(), &steps);
    }

    #[test]
    fn wire_mode_does_not_change_unacknowledged_mode(
        pdu_payload in prop_oneof![Just(40u16), Just(16), Just(124), Just(125), Just(160)],
        age in prop::option::of(30u64..300), steps in prop::collection::vec(step(RlcMode::Um, 600), 1..200)
    ) {
        let timer_discard = age.map(Duration::from_millis);
        let pdu_payload = Octets(pdu_payload);
        let config = RlcConfig { mode: RlcMode::Um, pdu_payload, timer_discard, buffer: None, ..RlcConfig::default() };
        perform(&config.into(), &steps);
    }

    #[test]
    fn wire_mode_does_not_change_transparent_mode(
        config in any_tm(), steps in prop::collection::vec(step(RlcMode::Tm, 300), 1..100)
    ) {
        perform(&config.into(), &steps);
    }
}
