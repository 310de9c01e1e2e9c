//! Properties of two entities of acknowledged mode that exchange random SDUs over a pipe in each
//! direction. For any configuration, and any losses, delays and duplicates in the pipes, every SDU is
//! delivered once and in order, or is recorded as discarded, and the memory stays bounded.

use proptest::prelude::*;

use super::pair::{Impairment, Pair};
use super::*;

/// One step of a random exchange between the two ends.
#[derive(Debug, Clone)]
enum Step {
    /// An end (0 or 1) submits an SDU.
    Queue { end: usize, octets: u32 },
    /// A TTI passes.
    Tti([Impairment; 2]),
    /// The transport channel changes: both ends are suspended for a number of TTIs, and continue
    /// with other blocks per TTI.
    Switch { ttis: u64, blocks: [u32; 2] },
    /// An end may send only `n` further new PDUs for a number of TTIs.
    Suspend { end: usize, n: u32, ttis: u64 },
    /// Both ends are re-established.
    Reestablish,
}

fn impairment() -> impl Strategy<Value = Impairment> {
    let lost = prop_oneof![3 => Just(0u128), 2 => any::<u128>(), 1 => Just(u128::MAX)];
    let extra_delay_ttis = prop_oneof![4 => Just(0u64), 1 => 0u64..12];
    (lost, extra_delay_ttis, prop::bool::weighted(0.1)).prop_map(|(lost, extra_delay_ttis, is_duplicated)| {
        Impairment { lost, extra_delay_ttis, is_duplicated }
    })
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => (0usize..2, prop_oneof![1u32..200, Just(40), Just(39), Just(41), 1u32..2000])
            .prop_map(|(end, octets)| Step::Queue { end, octets }),
        8 => [impairment(), impairment()].prop_map(Step::Tti),
        1 => (0usize..2, 0u32..20, 1u64..30).prop_map(|(end, n, ttis)| Step::Suspend { end, n, ttis }),
        1 => (0u64..40, [1u32..13, 1u32..5]).prop_map(|(ttis, blocks)| Step::Switch { ttis, blocks }),
    ]
}

/// `None`, or twice as rarely a duration of `ms` milliseconds.
fn optional_timer(ms: std::ops::Range<u64>) -> impl Strategy<Value = Option<Duration>> {
    prop_oneof![2 => Just(None), 1 => ms.prop_map(|ms| Some(Duration::from_millis(ms)))]
}

/// Options that any configuration has: formats of 3GPP or EURANE, sizes, windows and delivery.
fn formats_and_windows() -> impl Strategy<Value = RlcConfig> {
    let base = prop_oneof![Just(config()), Just(eurane())];
    let format = prop_oneof![Just(StatusFormat::Bitmap), Just(StatusFormat::List), Just(StatusFormat::Rlist)];
    let payload = prop_oneof![Just(Octets(40)), Just(Octets(16)), Just(Octets(160))];
    let window = prop_oneof![Just(8u32), Just(64), Just(1024), Just(2047)];
    let piggyback = prop_oneof![Just(Piggyback::Off), Just(Piggyback::Padding), Just(Piggyback::BuildAround)];
    (base, format, payload, window, piggyback, any::<bool>()).prop_map(
        |(base, format, pdu_payload, window, piggyback, in_sequence)| RlcConfig {
            status_format: if follows_3gpp(&base) { format } else { base.status_format },
            pdu_payload,
            window,
            piggyback,
            in_sequence,
            ..base
        },
    )
}

/// Whether the PDUs have the formats of TS 25.322, not of EURANE.
fn follows_3gpp(config: &RlcConfig) -> bool {
    config.header == Header::Counted
}

/// `base` with any polls.
fn with_any_polls(base: RlcConfig) -> impl Strategy<Value = RlcConfig> {
    let poll_sdu = prop_oneof![2 => Just(None), 1 => (1u32..5).prop_map(Some)];
    let poll_window = prop_oneof![2 => Just(None), 1 => (1u32..100).prop_map(Some)];
    (poll_sdu, poll_window, optional_timer(10..300), optional_timer(10..300)).prop_map(
        move |(poll_sdu, poll_window, timer_poll_prohibit, timer_poll_periodic)| RlcConfig {
            // Poll_PDU is less than the window. Without it a full window would deadlock, because the
            // last PDU of the buffer, which polls, is beyond the window.
            poll_pdu: Some(base.window.min(32) / 2),
            poll_sdu,
            poll_window,
            timer_poll_prohibit,
            timer_poll_periodic,
            ..base.clone()
        },
    )
}

/// `base` with any triggers and contents of reports.
fn with_any_reports(base: RlcConfig) -> impl Strategy<Value = RlcConfig> {
    let indication = prop_oneof![
        Just(MissingPduIndication::Off),
        Just(MissingPduIndication::NewGap),
        Just(MissingPduIndication::EveryPdu)
    ];
    let prohibit = prop_oneof![Just(None), Just(Some(Duration::from_millis(100)))];
    // A report in every TTI would leave no room for data with one block per TTI.
    let periodic = optional_timer(40..300);
    let grants_and_sends_mrw = any::<bool>();
    (indication, prohibit, periodic, optional_timer(50..300), grants_and_sends_mrw, 1u32..2047).prop_map(
        move |(
            missing_pdu_indication,
            timer_status_prohibit,
            timer_status_periodic,
            timer_epc,
            grants_and_sends_mrw,
            grant,
        )| {
            RlcConfig {
                missing_pdu_indication,
                timer_status_prohibit,
                timer_status_periodic,
                timer_epc,
                arrivals: [Arrivals { pdus: 6, tti: Duration::from_millis(10) }; 2],
                send_mrw: grants_and_sends_mrw,
                granted_window: (grants_and_sends_mrw && follows_3gpp(&base)).then_some(grant),
                // A granted window limits Poll_PDU, too.
                poll_pdu: base.poll_pdu.map(|poll_pdu| poll_pdu.min(grant)),
                ..base.clone()
            }
        },
    )
}

fn any_config() -> impl Strategy<Value = RlcConfig> {
    formats_and_windows().prop_flat_map(with_any_polls).prop_flat_map(with_any_reports)
}

/// The options of SDU discard.
#[derive(Debug, Clone, Copy)]
struct DiscardMode {
    sdu_discard: SduDiscard,
    timer_discard: Option<Duration>,
    max_dat_reading: MaxDatReading,
    max_mrw: Option<u32>,
}

fn discard() -> impl Strategy<Value = DiscardMode> {
    let discard = prop_oneof![
        2 => Just((SduDiscard::MaxDat, None)),
        1 => (50u64..1000).prop_map(|ms| (SduDiscard::Timer, Some(Duration::from_millis(ms)))),
        1 => Just((SduDiscard::Never, None)),
    ];
    let reading = prop_oneof![Just(MaxDatReading::Transmissions), Just(MaxDatReading::Ts25322)];
    (discard, reading, prop_oneof![Just(None), Just(Some(3))]).prop_map(
        |((sdu_discard, timer_discard), max_dat_reading, max_mrw)| DiscardMode {
            sdu_discard,
            timer_discard,
            max_dat_reading,
            max_mrw,
        },
    )
}

impl RlcConfig {
    /// This configuration with another discard mode, and unlimited RESETs.
    fn with(self, discard: DiscardMode) -> Self {
        let DiscardMode { sdu_discard, timer_discard, max_dat_reading, max_mrw } = discard;
        RlcConfig { sdu_discard, timer_discard, max_dat_reading, max_mrw, max_rst: u32::MAX, ..self }
    }
}

/// Performs the steps, then runs until the pair is quiet. Returns the ids of the SDUs submitted at
/// each end, in order.
fn perform(pair: &mut Pair, steps: &[Step]) -> [Vec<u64>; 2] {
    let mut queued = [Vec::new(), Vec::new()];
    for (id, step) in steps.iter().enumerate() {
        match *step {
            Step::Queue { end, octets } => {
                if pair.ends[end].submits(id as u64, octets).is_ok() {
                    queued[end].push(id as u64);
                }
            }
            Step::Tti(impairments) => pair.step(impairments),
            Step::Switch { ttis, blocks } => pair.switch(ttis, blocks),
            Step::Suspend { end, n, ttis } => pair.suspend_after(end, n, ttis),
            Step::Reestablish => pair.reestablish(),
        }
    }
    pair.settle();
    queued
}

/// The configuration with downlink PDUs of flexible size, with or without POLL SUFIs.
fn with_flexible_pdus(config: RlcConfig) -> impl Strategy<Value = RlcConfig> {
    let largest = prop_oneof![16u16..60, Just(1503)];
    (largest, any::<bool>()).prop_map(move |(octets, poll_sufi)| RlcConfig {
        pdu_size: PduSize::Flexible,
        largest_pdu: Octets(octets),
        poll_sufi,
        ..config.clone()
    })
}

/// The configuration with downlink PDUs of one size or of flexible size.
fn with_any_pdus(config: RlcConfig) -> impl Strategy<Value = RlcConfig> {
    prop_oneof![Just(config.clone()), with_flexible_pdus(config)]
}

/// Steps that include re-establishments.
fn steps_with_reestablishment(max_elements: usize) -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(prop_oneof![30 => step(), 1 => Just(Step::Reestablish)], 1..max_elements)
}

/// The configuration with all triggers of polls and reports switched off, except one set that
/// suffices to recover from any loss.
fn with_one_recovery_trigger(config: RlcConfig) -> impl Strategy<Value = RlcConfig> {
    let off = RlcConfig {
        poll_last_pdu: false,
        poll_last_retransmitted_pdu: false,
        poll_pdu: None,
        poll_sdu: None,
        poll_window: None,
        timer_poll: None,
        timer_poll_prohibit: None,
        timer_poll_periodic: None,
        timer_status_periodic: None,
        missing_pdu_indication: MissingPduIndication::Off,
        granted_window: None,
        ..config
    };
    let timer = Some(Duration::from_millis(200));
    let poll_last = RlcConfig {
        poll_last_pdu: true,
        poll_last_retransmitted_pdu: true,
        timer_poll: timer,
        ..off.clone()
    };
    prop_oneof![
        // Timer_Poll repeats a lost poll. Two other triggers are needed. One must poll before the
        // window closes (Poll_Window or Poll_PDU). The other must poll with the last retransmitted
        // PDU, because the NACK has stopped the timer.
        Just(RlcConfig { poll_window: Some(50), ..poll_last.clone() }),
        Just(RlcConfig { poll_pdu: Some(poll_last.window.min(32) / 2), ..poll_last }),
        Just(RlcConfig { timer_poll_periodic: timer, ..off }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn without_discard_every_sdu_arrives_once_and_in_order(
        config in any_config(), blocks in [1u32..13, 1u32..5], steps in prop::collection::vec(step(), 1..150)
    ) {
        let mut pair = Pair::new(&config, blocks);
        let queued = perform(&mut pair, &steps);
        if !config.in_sequence {
            pair.delivered.iter_mut().for_each(|delivered| delivered.sort_unstable());
        }
        prop_assert_eq!(&pair.delivered, &queued);
        for end in &pair.ends {
            prop_assert_eq!(end.am.buffer_occupancy(), Bytes(0));
            prop_assert_eq!(end.discarded(), Vec::<u64>::new());
        }
    }

    #[test]
    fn without_discard_every_sdu_in_flexible_pdus_arrives_once_and_in_order(
        config in any_config().prop_flat_map(with_flexible_pdus), blocks in [1u32..13, 1u32..5],
        steps in prop::collection::vec(step(), 1..150)
    ) {
        let mut pair = Pair::new(&config, blocks);
        let queued = perform(&mut pair, &steps);
        if !config.in_sequence {
            pair.delivered.iter_mut().for_each(|delivered| delivered.sort_unstable());
        }
        prop_assert_eq!(&pair.delivered, &queued);
    }

    #[test]
    fn with_discard_every_sdu_arrives_in_order_or_is_reported(
        config in any_config().prop_flat_map(with_any_pdus), discard in discard(), max_dat in 2u32..5, blocks in [1u32..13, 1u32..5],
        steps in steps_with_reestablishment(150)
    ) {
        let mut pair = Pair::new(&RlcConfig { max_dat: Some(max_dat), ..config.clone().with(discard) }, blocks);
        let queued = perform(&mut pair, &steps);
        for (end, queued) in queued.iter().enumerate() {
            let delivered = &mut pair.delivered[end];
            if !config.in_sequence {
                delivered.sort_unstable();
            }
            prop_assert!(delivered.windows(2).all(|ids| ids[0] < ids[1]), "{:?}", delivered);
            let discarded = pair.ends[end].discarded();
            for id in queued {
                prop_assert!(delivered.contains(id) || discarded.contains(id), "SDU {} vanished", id);
            }
            prop_assert!(delivered.iter().chain(&discarded).all(|id| queued.contains(id)));
            prop_assert_eq!(pair.ends[end].am.buffer_occupancy(), Bytes(0));
        }
    }

    /// When the pair is quiet, all sent PDUs are acknowledged, and both ends have the same window.
    #[test]
    fn windows_agree_when_the_pair_is_quiet(
        config in any_config().prop_flat_map(with_any_pdus), discard in discard(), max_dat in prop::option::of(2u32..5),
        steps in steps_with_reestablishment(100)
    ) {
        let mut pair = Pair::new(&RlcConfig { max_dat, ..config.clone().with(discard) }, [6, 2]);
        perform(&mut pair, &steps);
        let [rnc, ue] = &pair.ends;
        for (from, to) in [(rnc, ue), (ue, rnc)] {
            prop_assert_eq!(from.am.sender.vt_a, from.am.sender.vt_s);
            prop_assert_eq!(from.am.sender.vt_a, to.am.receiver.vr_r);
            prop_assert_eq!(to.am.receiver.vr_r, to.am.receiver.vr_h);
        }
    }

    /// One recovery trigger is enough: `settle` ends, and all SDUs are delivered.
    #[test]
    fn no_deadlock_with_any_one_recovery_trigger(
        config in any_config().prop_flat_map(with_any_pdus).prop_flat_map(with_one_recovery_trigger), blocks in [1u32..13, 1u32..5],
        steps in prop::collection::vec(step(), 1..150)
    ) {
        let mut pair = Pair::new(&config, blocks);
        let queued = perform(&mut pair, &steps);
        for (delivered, queued) in pair.delivered.iter().zip(&queued) {
            prop_assert_eq!(delivered.len(), queued.len());
        }
    }

    /// The memory of an entity is bounded by its windows and its buffer, for any losses and any
    /// duration. SDUs have at least 20 octets here, so that at most three end in a PDU.
    #[test]
    fn memory_is_bounded(
        config in any_config(), discard in discard(), max_dat in prop::option::of(2u32..5),
        sizes in prop::collection::vec(20u32..300, 1..20), impairments in prop::collection::vec([impairment(), impairment()], 1..60)
    ) {
        let (room, window) = (10_000, 64);
        let config = RlcConfig {
            window,
            rx_window: Some(window),
            pdu_payload: Octets(40),
            buffer: Some(Bytes(room)),
            buffer_counts: BufferCounts::Unacknowledged,
            max_dat,
            ..config.with(discard)
        };
        // An SDU in the buffer has at least 20 octets. In addition, each PDU of the window has at
        // most eight elements: SDU ends at both sides, discarded or not, padding, missing runs.
        let max_elements = (room / 20 + 8 * u64::from(window)) as usize;
        let mut pair = Pair::new(&config, [12, 3]);
        for tti in 0..1_500 {
            for end in 0..2 {
                let octets = sizes[tti % sizes.len()];
                while pair.ends[end].submits(tti as u64, octets).is_ok() {}
                pair.ends[end].trace.clear();
            }
            pair.step(impairments[tti % impairments.len()]);
            pair.delivered.iter_mut().for_each(Vec::clear);
            for end in 0..2 {
                prop_assert!(pair.stored_elements(end) <= max_elements, "{} elements at TTI {}", pair.stored_elements(end), tti);
            }
        }
    }
}

/// A NACK of the PDU that polled stops Timer_Poll. If the retransmitted PDU does not poll, its loss
/// is not detected.
#[test]
fn lost_retransmission_is_detected_only_if_it_polls() {
    for polls in [false, true] {
        let mut entity = TestEntity::new(RlcConfig { poll_last_retransmitted_pdu: polls, ..config() });
        entity.submits(0, 79).unwrap();
        assert_eq!(entity.at(10).sends(4), ["0-1 P"]);
        entity.at(80).receives_status(2, &[1]);
        assert_eq!(entity.at(90).sends_set(4).blocks, 1);
        // The retransmission is lost.
        assert_eq!(entity.am.poll_timeout().is_some(), polls);
        assert_eq!(entity.at(10_000).sends_set(4).blocks > 0, polls);
    }
}

/// Reports by the receiver alone are not a recovery trigger: it cannot detect the loss of the last
/// PDU.
#[test]
fn periodic_reports_alone_do_not_recover_a_lost_tail() {
    let period = Some(Duration::from_millis(100));
    let mut entity = TestEntity::new(RlcConfig { poll_last_pdu: false, timer_poll: None, ..config() });
    entity.submits(0, 79).unwrap();
    let set = entity.at(10).sends_set(4);
    let mut peer = TestEntity::new(RlcConfig { timer_status_periodic: period, ..config() });
    peer.at(50).receives(&set, &[1]);
    let report = peer.at(150).sends_set(1);
    assert_eq!((describe(&report.pdus[0]).as_str(), missing(&report)), ("STATUS ack 1", vec![]));
    entity.at(200).receives(&report, &[]);
    assert!(!entity.am.has_work(ms(10_000)) && entity.am.buffer_occupancy() == Bytes(79));
}
