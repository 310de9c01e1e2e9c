//! No connection stalls while the network delivers: all congestion controls, with and without SACK,
//! one-way and full duplex, under all kinds of impairment.

use proptest::prelude::*;
use umts_units::{BitRate, Duration, Time};

use super::pair::{Fate, MSS, Pair, config};
use crate::ids::End;
use crate::packet::Segment;
use crate::tcp::{
    ChargedOptions, FackConfig, Nagle, NewRenoConfig, Retries, RtoRule, SpuriousConfig, State, TcpConfig,
    TcpEvent, Variant, VegasConfig,
};

const VARIANTS: [Variant; 9] = [
    Variant::Tahoe,
    Variant::Reno,
    Variant::NewReno,
    Variant::Sack,
    Variant::Fack,
    Variant::Vegas,
    Variant::Westwood,
    Variant::Cubic,
    Variant::Bbr,
];

/// The limit on the time to finish after the repair of the network: two of the longest timeouts,
/// then the rest at one segment per round trip, with a reader of 40 kbit/s.
const LATEST: Duration = Duration::from_secs(200);

/// ns-2's FACK sends nothing on an ACK that leaves the forward-most segment one or two beyond the
/// oldest hole, so that each of these holes costs a timeout: up to two more. ns-2 behaves
/// identically row by row (`f2_stall` in tools/oracle-ns2/golden).
const LATEST_OF_FACK: Duration = Duration::from_secs(320);

/// The treatment of packets until the repair. `loss`, `double` and `reorder` are in parts per
/// thousand.
#[derive(Debug, Clone)]
struct Impairment {
    loss: u32,
    double: u32,
    reorder: u32,
    /// The delay of a packet that others overtake.
    hold: Duration,
    /// Transmission time of a packet on the slowest link.
    slot: Option<Duration>,
    /// All packets are lost in this interval.
    outage: (Time, Duration),
    /// From this time on all packets are delivered.
    repaired: Time,
    seed: u64,
}

impl Impairment {
    /// The fates of packets, drawn one after another.
    fn script(&self) -> impl FnMut(Time, &Segment) -> Fate + use<> {
        let impairment = self.clone();
        let mut state = impairment.seed;
        move |now, _| {
            // A linear congruential generator: any sequence suffices.
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let draw = (state >> 33) as u32 % 1000;
            let straight = impairment.slot.map_or(Fate::Deliver, Fate::Link);
            if now >= impairment.repaired {
                return straight;
            }
            let (from, length) = impairment.outage;
            if (from..from + length).contains(&now) || draw < impairment.loss {
                Fate::Drop
            } else if draw < impairment.loss + impairment.double {
                Fate::Double
            } else if draw < impairment.loss + impairment.double + impairment.reorder {
                Fate::HoldUp(impairment.hold)
            } else {
                straight
            }
        }
    }
}

fn impairment() -> impl Strategy<Value = Impairment> {
    let slot = proptest::option::weighted(0.5, 1u64..60);
    let parts = (0u32..400, 0u32..150, 0u32..300);
    (parts, 1u64..3000, slot, (0u64..8000, 0u64..20_000), 0u64..120_000, any::<u64>()).prop_map(
        |((loss, double, reorder), hold, slot, (from, length), repaired, seed)| Impairment {
            loss,
            double,
            reorder,
            hold: Duration::from_millis(hold),
            slot: slot.map(Duration::from_millis),
            outage: (super::pair::ms(from), Duration::from_millis(length)),
            repaired: super::pair::ms(repaired),
            seed,
        },
    )
}

fn any_config() -> impl Strategy<Value = TcpConfig> {
    let nagle = prop_oneof![Just(Nagle::Off), Just(Nagle::On), Just(Nagle::Minshall)];
    let rule = prop_oneof![Just(RtoRule::Rfc6298), Just(RtoRule::Ns2), Just(RtoRule::Linux)];
    let read_rate = proptest::option::weighted(0.2, 40_000u64..2_000_000);
    let on = any::<[bool; 22]>();
    let numbers = (0..VARIANTS.len(), 0u8..=4, 1u32..12, 1u32..40, 1u64..1500);
    (numbers, on, nagle, rule, read_rate).prop_map(
        |((variant, blocks, initial_window, window, rto_min), on, nagle, rule, read_rate)| {
            let variant = VARIANTS[variant];
            let needs_sack = matches!(variant, Variant::Sack | Variant::Fack);
            let mut config = TcpConfig {
                one_way: on[0],
                delayed_ack: on[1].then(|| Duration::from_millis(200)),
                limited_transmit: on[2],
                initial_window,
                advertised_window: window * MSS,
                initial_ssthresh: on[3].then_some(window),
                sack_blocks: if needs_sack { blocks.max(1) } else { blocks },
                dsack: on[4],
                timestamps: on[5],
                window_scaling: on[6],
                prr: on[18],
                lost_retransmissions: on[19],
                rack: on[20],
                tail_loss_probes: on[20] && on[21],
                fack: FackConfig { data_smoothing: on[7], over_damping: on[8] },
                spurious: SpuriousConfig { eifel: on[9], frto: on[10], dsack: on[11] },
                abc: on[12],
                ecn: on[13],
                slow_start_restart: on[14],
                vegas: VegasConfig { ns2_no_header: on[15], ..VegasConfig::default() },
                newreno: NewRenoConfig { careful: on[16], impatient: on[17] },
                nagle,
                read_rate: read_rate.and_then(BitRate::from_bps),
                retries: Retries::FOR_EVER,
                charged_options: ChargedOptions::All,
                ..config(variant)
            };
            config.rto.rule = rule;
            config.rto.min = Duration::from_millis(rto_min);
            config
        },
    )
}

/// Writes `pieces` (bytes, and a pause in ms after them) in one direction and `up` bytes in the
/// other. Checks that all bytes are delivered, that both ends close, and that this is not long
/// after the network delivers.
fn check_completion(
    config: &TcpConfig,
    impairment: &Impairment,
    pieces: &[(u64, u64)],
    up: u64,
) -> Result<(), TestCaseError> {
    let mut pair = Pair::with_timed_script(config, impairment.script());
    let mut count = 0;
    pair.mark = Box::new(move |_| {
        count += 1;
        count % 7 == 0
    });
    pair.open(End::Server);
    if !config.one_way {
        pair.write(End::Ue, up);
        pair.close(End::Ue);
    }
    for &(bytes, pause) in pieces {
        pair.write(End::Server, bytes);
        pair.run_until(pair.now + Duration::from_millis(pause));
    }
    pair.close(End::Server);
    pair.run();
    prop_assert_eq!(pair.delivered(End::Ue), pieces.iter().map(|(bytes, _)| bytes).sum::<u64>());
    prop_assert_eq!(pair.server.outstanding_bytes(), 0);
    prop_assert_eq!(pair.event_count(End::Server, TcpEvent::Closed), 1);
    prop_assert_eq!((pair.server.poll_timeout(), pair.ue.poll_timeout()), (None, None));
    if !config.one_way {
        prop_assert_eq!((pair.delivered(End::Server), pair.ue.state()), (up, State::Closed));
    }
    let repaired = impairment.repaired.max(impairment.outage.0 + impairment.outage.1);
    let late = pair.now.saturating_since(repaired);
    let latest = if config.one_way && config.variant == Variant::Fack { LATEST_OF_FACK } else { LATEST };
    prop_assert!(late < latest, "it took {late:?} after the repair");
    // Retransmission and persist timers are bounded. A delayed ACK, a paced segment and a reader
    // wait no longer than that.
    prop_assert!(pair.longest_wait <= config.rto.max, "a timer of {:?}", pair.longest_wait);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn no_connection_stalls_while_the_network_delivers(
        config in any_config(),
        impairment in impairment(),
        pieces in proptest::collection::vec((1u64..30_000, 0u64..4000), 1..4),
        up in 0u64..20_000,
    ) {
        check_completion(&config, &impairment, &pieces, up)?;
    }
}

/// A path without impairments, as a base for others.
fn unimpaired(seed: u64) -> Impairment {
    Impairment {
        loss: 0,
        double: 0,
        reorder: 0,
        hold: Duration::ZERO,
        slot: None,
        outage: (Time::ZERO, Duration::ZERO),
        repaired: Time::ZERO,
        seed,
    }
}

fn one_way(variant: Variant, window: u32, rule: RtoRule, rto_min: u64) -> TcpConfig {
    let mut config = TcpConfig {
        one_way: true,
        advertised_window: window * MSS,
        initial_window: 1,
        sack_blocks: 1,
        slow_start_restart: false,
        retries: Retries::FOR_EVER,
        ..config(variant)
    };
    config.rto.rule = rule;
    config.rto.min = Duration::from_millis(rto_min);
    config
}

/// The bandwidth estimate was below one segment per round trip, and so was the window after the
/// recovery.
#[test]
fn westwood_continues_after_a_recovery_with_a_low_estimate() {
    let config = TcpConfig { limited_transmit: true, ..one_way(Variant::Westwood, 5, RtoRule::Ns2, 1) };
    let impairment = Impairment {
        loss: 10,
        double: 4,
        reorder: 188,
        hold: Duration::from_millis(2130),
        slot: Some(Duration::from_millis(4)),
        outage: (super::pair::ms(981), Duration::from_millis(6954)),
        repaired: super::pair::ms(24_613),
        ..unimpaired(12_295_128_814_752_223_007)
    };
    check_completion(&config, &impairment, &[(19_001, 0)], 0).expect("it goes on");
}

/// ns-2's FACK had stopped until the timer would expire, but the timer no longer ran because all
/// sent data was acknowledged.
#[test]
fn fack_continues_after_it_has_stopped() {
    let config = one_way(Variant::Fack, 4, RtoRule::Rfc6298, 384);
    let impairment = Impairment {
        loss: 198,
        double: 39,
        reorder: 190,
        hold: Duration::from_millis(435),
        repaired: super::pair::ms(301),
        ..unimpaired(15_478_238_836_257_214_015)
    };
    check_completion(&config, &impairment, &[(6001, 0)], 0).expect("it goes on");
}

/// Three holes, each of which costs a timeout of a minute: the connection continues, as slowly as
/// in ns-2.
#[test]
fn fack_repairs_one_hole_per_timeout() {
    let config = TcpConfig {
        delayed_ack: Some(Duration::from_millis(200)),
        limited_transmit: true,
        fack: FackConfig { data_smoothing: false, over_damping: true },
        abc: true,
        nagle: Nagle::Minshall,
        ..one_way(Variant::Fack, 4, RtoRule::Rfc6298, 974)
    };
    let impairment = Impairment {
        loss: 158,
        double: 97,
        reorder: 260,
        hold: Duration::from_millis(2462),
        slot: Some(Duration::from_millis(52)),
        outage: (super::pair::ms(3555), Duration::from_millis(15_218)),
        repaired: super::pair::ms(101_266),
        ..unimpaired(4_170_163_510_002_795_728)
    };
    check_completion(&config, &impairment, &[(7122, 0), (21_879, 0)], 0).expect("it goes on");
}

/// Duplicates after a timeout had closed the window, and an ACK with ECE reverted what reopened it.
#[test]
fn vegas_continues_after_a_timeout_and_a_mark() {
    let mut config = TcpConfig {
        advertised_window: 4 * MSS,
        sack_blocks: 1,
        slow_start_restart: false,
        dsack: false,
        window_scaling: false,
        ecn: true,
        retries: Retries::FOR_EVER,
        charged_options: ChargedOptions::All,
        ..config(Variant::Vegas)
    };
    config.rto.rule = RtoRule::Linux;
    config.rto.min = Duration::from_millis(325);
    let impairment = Impairment {
        loss: 142,
        double: 108,
        reorder: 179,
        hold: Duration::from_millis(1151),
        outage: (super::pair::ms(3235), Duration::from_millis(3068)),
        repaired: super::pair::ms(30_655),
        ..unimpaired(17_381_151_828_513_657_254)
    };
    check_completion(&config, &impairment, &[(23_001, 0)], 9001).expect("it goes on");
}

/// The reader opens the window with each ACK, so that no ACK is a duplicate and F-RTO does not
/// decide. Only the first timeout of a recovery may cost that wait, not the timeout of each hole.
#[test]
fn bbr_continues_when_frto_does_not_decide() {
    let mut config = TcpConfig {
        initial_window: 10,
        advertised_window: 18 * MSS,
        sack_blocks: 0,
        timestamps: false,
        window_scaling: false,
        slow_start_restart: false,
        spurious: SpuriousConfig { frto: true, ..SpuriousConfig::default() },
        newreno: NewRenoConfig { careful: false, impatient: false },
        read_rate: BitRate::from_bps(841_413),
        retries: Retries::FOR_EVER,
        charged_options: ChargedOptions::All,
        ..config(Variant::Bbr)
    };
    config.rto.rule = RtoRule::Ns2;
    config.rto.min = Duration::from_millis(1);
    let impairment = Impairment {
        loss: 343,
        double: 84,
        reorder: 141,
        hold: Duration::from_millis(319),
        slot: Some(Duration::from_millis(19)),
        outage: (super::pair::ms(1754), Duration::from_millis(1316)),
        repaired: super::pair::ms(66_092),
        ..unimpaired(6_965_935_005_063_238_741)
    };
    check_completion(&config, &impairment, &[(27_720, 0), (14_281, 0)], 2001).expect("it goes on");
}
