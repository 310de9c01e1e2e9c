//! No connection stalls for ever: after the network has been repaired, every transfer completes in
//! bounded time. A property test draws the congestion control, the other options of TCP and the
//! impairments. The tests below it repeat failures that it has found.

use proptest::prelude::*;
use umts_units::{BitRate, Duration, Time};

use super::pair::{Fate, Pair, ms, unlimited_retries};
use crate::ids::End;
use crate::packet::Segment;
use crate::tcp::{
    ChargedOptions, Nagle, RtoRule, State, TcpConfig, TcpConnection, TcpEvent, Variant, WindowSize,
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

/// Maximum time from the repair of the network to the end of the transfer: two of the longest
/// timeouts (60 s each), then 80 s for the remaining data at one segment per round trip, to an
/// application that reads 40 kbit/s.
const MAX_COMPLETION: Duration = Duration::from_secs(200);

/// The maximum for ns-2's FACK, which may need two more timeouts of 60 s. ns-2's FACK sends nothing
/// on an ACK if the forward-most SACKed segment is only one or two segments beyond the oldest hole,
/// so that each of these holes costs a timeout. ns-2 behaves in the same way (`f2_stall` in
/// tools/oracle-ns2/golden).
const MAX_COMPLETION_OF_FACK: Duration = Duration::from_secs(320);

/// How the network treats packets until its repair. `loss`, `duplicate` and `reorder` are
/// probabilities in parts per thousand.
#[derive(Debug, Clone)]
struct Impairment {
    loss: u32,
    duplicate: u32,
    reorder: u32,
    /// The additional delay of a reordered packet.
    delay: Duration,
    /// Transmission time of a packet on a link that sends one packet after another. `None`: there
    /// is no such link.
    slot: Option<Duration>,
    /// All packets are lost from this time on, for `outage_length`.
    outage_start: Time,
    outage_length: Duration,
    /// From this time on all packets are delivered.
    repaired: Time,
    seed: u64,
}

impl Impairment {
    fn outage_end(&self) -> Time {
        self.outage_start + self.outage_length
    }

    /// Returns the script for [`Pair`], which draws the fate of each packet.
    fn script(&self) -> impl FnMut(Time, &Segment) -> Fate + use<> {
        let impairment = self.clone();
        let mut state = impairment.seed;
        move |now, _| {
            // A linear congruential generator: any sequence suffices.
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let draw = (state >> 33) as u32 % 1000;
            let undisturbed = impairment.slot.map_or(Fate::Deliver, Fate::Link);
            if now >= impairment.repaired {
                return undisturbed;
            }
            let is_outage = (impairment.outage_start..impairment.outage_end()).contains(&now);
            if is_outage || draw < impairment.loss {
                Fate::Drop
            } else if draw < impairment.loss + impairment.duplicate {
                Fate::Duplicate
            } else if draw < impairment.loss + impairment.duplicate + impairment.reorder {
                Fate::Delay(impairment.delay)
            } else {
                undisturbed
            }
        }
    }
}

/// An impairment with up to 40 % loss, 15 % duplicates and 30 % reordering, an outage of up to 20 s
/// and a repair within 2 min.
fn impairment() -> impl Strategy<Value = Impairment> {
    let slot = proptest::option::weighted(0.5, 1u64..60);
    let per_thousand = (0u32..400, 0u32..150, 0u32..300);
    (per_thousand, 1u64..3000, slot, (0u64..8000, 0u64..20_000), 0u64..120_000, any::<u64>()).prop_map(
        |((loss, duplicate, reorder), delay, slot, (outage_start, outage_length), repaired, seed)| {
            Impairment {
                loss,
                duplicate,
                reorder,
                delay: Duration::from_millis(delay),
                slot: slot.map(Duration::from_millis),
                outage_start: ms(outage_start),
                outage_length: Duration::from_millis(outage_length),
                repaired: ms(repaired),
                seed,
            }
        },
    )
}

/// A configuration with any congestion control and any combination of options. Connections never
/// give up.
fn any_config() -> impl Strategy<Value = TcpConfig> {
    let nagle = prop_oneof![Just(Nagle::Off), Just(Nagle::On), Just(Nagle::Minshall)];
    let rule = prop_oneof![Just(RtoRule::Rfc6298), Just(RtoRule::Ns2), Just(RtoRule::Linux)];
    let read_rate = proptest::option::weighted(0.2, 40_000u64..2_000_000);
    // One switch for each option that can be on or off.
    let switches = any::<[bool; 22]>();
    let numbers = (0..VARIANTS.len(), 0u8..=4, 1u32..12, 1u32..40, 1u64..1500);
    (numbers, switches, nagle, rule, read_rate).prop_map(
        |((variant, blocks, initial_window, window, rto_min_ms), switches, nagle, rule, read_rate)| {
            let [
                one_way,
                delayed_ack,
                limited_transmit,
                has_initial_ssthresh,
                dsack,
                timestamps,
                window_scaling,
                fack_data_smoothing,
                fack_over_damping,
                eifel,
                frto,
                dsack_undo,
                abc,
                ecn,
                slow_start_restart,
                ns2_vegas_no_header,
                newreno_careful,
                newreno_impatient,
                prr,
                lost_retransmissions,
                rack,
                probes,
            ] = switches;
            let variant = VARIANTS[variant];
            let mut config = TcpConfig {
                connection: if one_way { TcpConnection::OneWay } else { TcpConnection::FullDuplex },
                delayed_ack,
                limited_transmit,
                initial_window: WindowSize::Segments(initial_window),
                advertised_window: WindowSize::Segments(window),
                initial_ssthresh: has_initial_ssthresh.then_some(WindowSize::Segments(window)),
                sack: blocks > 0,
                sack_blocks: blocks.max(1),
                dsack,
                timestamps,
                window_scaling,
                prr,
                lost_retransmissions,
                rack,
                tail_loss_probes: rack && probes,
                fack_data_smoothing,
                fack_over_damping,
                eifel,
                frto,
                dsack_undo,
                abc,
                ecn,
                slow_start_restart,
                ns2_vegas_no_header,
                newreno_careful,
                newreno_impatient,
                nagle,
                read_rate: read_rate.and_then(BitRate::from_bps),
                charged_options: ChargedOptions::All,
                ..unlimited_retries(variant)
            };
            config.rto_rule = rule;
            config.rto_min = Duration::from_millis(rto_min_ms);
            config
        },
    )
}

/// Data that the server's application writes at once, and the pause that follows.
#[derive(Debug, Clone)]
struct Write {
    bytes: u64,
    pause_ms: u64,
}

/// The data of both directions. The UE writes all of its data at the start.
#[derive(Debug, Clone)]
struct Transfer {
    server_writes: Vec<Write>,
    uplink_bytes: u64,
}

/// A transfer without pauses between the server's writes.
fn transfer(server_writes: &[u64], uplink_bytes: u64) -> Transfer {
    let server_writes = server_writes.iter().map(|&bytes| Write { bytes, pause_ms: 0 }).collect();
    Transfer { server_writes, uplink_bytes }
}

fn any_transfer() -> impl Strategy<Value = Transfer> {
    let write = (1u64..30_000, 0u64..4000).prop_map(|(bytes, pause_ms)| Write { bytes, pause_ms });
    (proptest::collection::vec(write, 1..4), 0u64..20_000)
        .prop_map(|(server_writes, uplink_bytes)| Transfer { server_writes, uplink_bytes })
}

/// Transfers the data over the impaired network. Checks that all bytes are delivered and both ends
/// close within the maximum time after the repair of the network. With ECN, every seventh packet is
/// marked as if by a congested router.
fn check_completion(
    config: &TcpConfig,
    impairment: &Impairment,
    transfer: &Transfer,
) -> Result<(), TestCaseError> {
    let mut pair = Pair::with_timed_script(config, impairment.script());
    let mut packet_count = 0;
    pair.mark = Box::new(move |_| {
        packet_count += 1;
        packet_count % 7 == 0
    });
    pair.open(End::Server);
    if !config.is_one_way() {
        pair.write(End::Ue, transfer.uplink_bytes);
        pair.close(End::Ue);
    }
    for write in &transfer.server_writes {
        pair.write(End::Server, write.bytes);
        pair.run_until(pair.now + Duration::from_millis(write.pause_ms));
    }
    pair.close(End::Server);
    pair.run();
    let downlink_bytes: u64 = transfer.server_writes.iter().map(|write| write.bytes).sum();
    prop_assert_eq!(pair.delivered(End::Ue), downlink_bytes);
    prop_assert_eq!(pair.server.outstanding_bytes(), 0);
    prop_assert_eq!(pair.event_count(End::Server, TcpEvent::Closed), 1);
    prop_assert_eq!(pair.server.poll_timeout(), None);
    prop_assert_eq!(pair.ue.poll_timeout(), None);
    if !config.is_one_way() {
        prop_assert_eq!(pair.delivered(End::Server), transfer.uplink_bytes);
        prop_assert_eq!(pair.ue.state(), State::Closed);
    }
    let repaired = impairment.repaired.max(impairment.outage_end());
    let elapsed = pair.now.saturating_since(repaired);
    let max_completion = if config.is_one_way() && config.variant == Variant::Fack {
        MAX_COMPLETION_OF_FACK
    } else {
        MAX_COMPLETION
    };
    prop_assert!(elapsed < max_completion, "completed {elapsed:?} after the repair");
    // No timer runs longer than the maximum RTO, which bounds the retransmission and persist
    // timers: delayed ACKs, pacing and reading take less.
    prop_assert!(pair.longest_wait <= config.rto_max, "a timer of {:?}", pair.longest_wait);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn no_connection_stalls_while_the_network_delivers(
        config in any_config(),
        impairment in impairment(),
        transfer in any_transfer(),
    ) {
        check_completion(&config, &impairment, &transfer)?;
    }
}

/// The base of the impairments in the tests below. The numbers of those tests are taken from
/// failures that the property test found, and have no other meaning.
fn unimpaired(seed: u64) -> Impairment {
    Impairment {
        loss: 0,
        duplicate: 0,
        reorder: 0,
        delay: Duration::ZERO,
        slot: None,
        outage_start: Time::ZERO,
        outage_length: Duration::ZERO,
        repaired: Time::ZERO,
        seed,
    }
}

/// A one-way connection, as in ns-2, with the advertised window `window`.
fn one_way(variant: Variant, window: WindowSize, rule: RtoRule, rto_min: Duration) -> TcpConfig {
    let mut config = TcpConfig {
        connection: TcpConnection::OneWay,
        advertised_window: window,
        initial_window: WindowSize::Segments(1),
        sack: true,
        sack_blocks: 1,
        slow_start_restart: false,
        ..unlimited_retries(variant)
    };
    config.rto_rule = rule;
    config.rto_min = rto_min;
    config
}

/// Westwood's bandwidth estimate falls below one segment per round trip. The window after the
/// recovery must still be at least one segment.
#[test]
fn westwood_continues_after_a_recovery_with_a_low_estimate() {
    let config = TcpConfig {
        limited_transmit: true,
        ..one_way(Variant::Westwood, WindowSize::Segments(5), RtoRule::Ns2, Duration::from_millis(1))
    };
    let impairment = Impairment {
        loss: 10,
        duplicate: 4,
        reorder: 188,
        delay: Duration::from_millis(2130),
        slot: Some(Duration::from_millis(4)),
        outage_start: ms(981),
        outage_length: Duration::from_millis(6954),
        repaired: ms(24_613),
        ..unimpaired(12_295_128_814_752_223_007)
    };
    check_completion(&config, &impairment, &transfer(&[19_001], 0)).expect("the transfer completes");
}

/// ns-2's FACK may stop sending until the retransmission timer expires. It must not stop when all
/// sent data is acknowledged, because the timer does not run then.
#[test]
fn fack_does_not_stop_without_a_running_timer() {
    let config =
        one_way(Variant::Fack, WindowSize::Segments(4), RtoRule::Rfc6298, Duration::from_millis(384));
    let impairment = Impairment {
        loss: 198,
        duplicate: 39,
        reorder: 190,
        delay: Duration::from_millis(435),
        repaired: ms(301),
        ..unimpaired(15_478_238_836_257_214_015)
    };
    check_completion(&config, &impairment, &transfer(&[6001], 0)).expect("the transfer completes");
}

/// Each of three holes costs a timeout of 60 s, as in ns-2. The connection must continue
/// nevertheless.
#[test]
fn fack_repairs_one_hole_per_timeout() {
    let config = TcpConfig {
        delayed_ack: true,
        limited_transmit: true,
        fack_over_damping: true,
        abc: true,
        nagle: Nagle::Minshall,
        ..one_way(Variant::Fack, WindowSize::Segments(4), RtoRule::Rfc6298, Duration::from_millis(974))
    };
    let impairment = Impairment {
        loss: 158,
        duplicate: 97,
        reorder: 260,
        delay: Duration::from_millis(2462),
        slot: Some(Duration::from_millis(52)),
        outage_start: ms(3555),
        outage_length: Duration::from_millis(15_218),
        repaired: ms(101_266),
        ..unimpaired(4_170_163_510_002_795_728)
    };
    check_completion(&config, &impairment, &transfer(&[7122, 21_879], 0)).expect("the transfer completes");
}

/// Duplicate ACKs after a timeout close Vegas's window. When a later event reopens it, an ACK with
/// ECE must not close it again.
#[test]
fn vegas_continues_after_a_timeout_and_a_mark() {
    let mut config = TcpConfig {
        advertised_window: WindowSize::Segments(4),
        sack: true,
        sack_blocks: 1,
        slow_start_restart: false,
        dsack: false,
        window_scaling: false,
        ecn: true,
        charged_options: ChargedOptions::All,
        ..unlimited_retries(Variant::Vegas)
    };
    config.rto_rule = RtoRule::Linux;
    config.rto_min = Duration::from_millis(325);
    let impairment = Impairment {
        loss: 142,
        duplicate: 108,
        reorder: 179,
        delay: Duration::from_millis(1151),
        outage_start: ms(3235),
        outage_length: Duration::from_millis(3068),
        repaired: ms(30_655),
        ..unimpaired(17_381_151_828_513_657_254)
    };
    check_completion(&config, &impairment, &transfer(&[23_001], 9001)).expect("the transfer completes");
}

/// The application reads slowly, so each ACK changes the advertised window and none counts as a
/// duplicate. F-RTO (RFC 5682) then waits for an ACK that decides and never comes. Only the first
/// timeout of a recovery may cost this wait, not the timeout of each hole.
#[test]
fn bbr_continues_when_frto_does_not_decide() {
    let mut config = TcpConfig {
        initial_window: WindowSize::Segments(10),
        advertised_window: WindowSize::Segments(18),
        sack: false,
        timestamps: false,
        window_scaling: false,
        slow_start_restart: false,
        frto: true,
        newreno_careful: false,
        newreno_impatient: false,
        read_rate: BitRate::from_bps(841_413),
        charged_options: ChargedOptions::All,
        ..unlimited_retries(Variant::Bbr)
    };
    config.rto_rule = RtoRule::Ns2;
    config.rto_min = Duration::from_millis(1);
    let impairment = Impairment {
        loss: 343,
        duplicate: 84,
        reorder: 141,
        delay: Duration::from_millis(319),
        slot: Some(Duration::from_millis(19)),
        outage_start: ms(1754),
        outage_length: Duration::from_millis(1316),
        repaired: ms(66_092),
        ..unimpaired(6_965_935_005_063_238_741)
    };
    check_completion(&config, &impairment, &transfer(&[27_720, 14_281], 2001))
        .expect("the transfer completes");
}
