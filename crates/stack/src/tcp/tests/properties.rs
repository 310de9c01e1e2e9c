//! Properties of transfers in which the fates of the first packets are arbitrary (lost, duplicated,
//! delayed) and all later packets are delivered, for arbitrary configurations of TCP.

use proptest::prelude::*;
use umts_units::{BitRate, Duration};

use super::pair::{Fate, Pair, config, ms};
use crate::ids::End;
use crate::tcp::{
    ChargedOptions, Nagle, RtoRule, State, TcpConfig, TcpConnection, TcpEvent, Variant, WindowSize,
};

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        4 => Just(Fate::Deliver),
        3 => Just(Fate::Drop),
        1 => Just(Fate::Duplicate),
        2 => (1u64..2000).prop_map(|ms| Fate::Delay(Duration::from_millis(ms))),
    ]
}

/// A configuration with any congestion control and random windows.
fn any_config() -> impl Strategy<Value = TcpConfig> {
    let variant = prop_oneof![
        Just(Variant::Tahoe),
        Just(Variant::Reno),
        Just(Variant::NewReno),
        Just(Variant::Westwood),
        Just(Variant::Cubic),
        Just(Variant::Bbr),
        Just(Variant::Sack),
        Just(Variant::Fack),
        Just(Variant::Vegas),
    ];
    (variant, any::<bool>(), any::<bool>(), any::<bool>(), 1u32..12, 1u32..30, any::<bool>()).prop_map(
        |(variant, one_way, delayed_ack, limited_transmit, initial_window, window, has_ns2_timer)| {
            let mut config = TcpConfig {
                connection: if one_way { TcpConnection::OneWay } else { TcpConnection::FullDuplex },
                delayed_ack,
                delayed_ack_timeout: Duration::from_millis(100),
                limited_transmit,
                initial_window: WindowSize::Segments(initial_window),
                advertised_window: WindowSize::Segments(window),
                initial_ssthresh: limited_transmit.then_some(WindowSize::Segments(window)),
                ..config(variant)
            };
            config.rto_rule = if has_ns2_timer { RtoRule::Ns2 } else { RtoRule::Rfc6298 };
            config
        },
    )
}

/// A configuration of `any_config` with random further options.
fn with_options() -> impl Strategy<Value = TcpConfig> {
    let nagle = prop_oneof![Just(Nagle::Off), Just(Nagle::On), Just(Nagle::Minshall)];
    let rule = prop_oneof![Just(RtoRule::Rfc6298), Just(RtoRule::Ns2), Just(RtoRule::Linux)];
    let read_rate = proptest::option::weighted(0.3, 40_000u64..2_000_000);
    let parts = (any_config(), 0u8..5, any::<[bool; 14]>(), nagle, rule, read_rate);
    parts.prop_map(|(config, blocks, switches, nagle, rule, read_rate)| {
        let [
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
            prr,
            lost_retransmissions,
            rack,
            probes,
        ] = switches;
        TcpConfig {
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
            nagle,
            rto_rule: if config.is_one_way() { config.rto_rule } else { rule },
            read_rate: read_rate.and_then(BitRate::from_bps),
            // No limit on retransmissions: the network delivers eventually.
            syn_retries: None,
            syn_ack_retries: None,
            data_retries: None,
            charged_options: ChargedOptions::All,
            ..config
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Every byte is delivered once and in order, both ends close, and no timer is left. (The
    /// receiver counts only bytes in order, so the sum suffices.) `Pair` asserts that after a
    /// timeout the next one lies in the future.
    #[test]
    fn every_byte_is_delivered_once_and_both_ends_close(
        config in with_options(),
        // Not 0: a close in SYN-SENT of an end that has written nothing deletes the connection (RFC
        // 9293 §3.10.4).
        down in 1u64..60_000,
        up in 0u64..20_000,
        fates in proptest::collection::vec(fate(), 0..150),
    ) {
        // The packet with index n has `fates[n]`. Every seventh packet has an ECN mark.
        let mut fates = fates.into_iter();
        let mut pair = Pair::with_script(&config, move |_| fates.next().unwrap_or(Fate::Deliver));
        let mut packet_count = 0;
        pair.mark = Box::new(move |_| {
            packet_count += 1;
            packet_count % 7 == 0
        });
        pair.open(End::Server);
        pair.write(End::Server, down);
        if !config.is_one_way() {
            pair.write(End::Ue, up);
            pair.close(End::Ue);
        }
        pair.close(End::Server);
        pair.run();
        prop_assert_eq!(pair.delivered(End::Ue), down);
        prop_assert_eq!(pair.server.state(), State::Closed);
        prop_assert_eq!(pair.event_count(End::Server, TcpEvent::Closed), 1);
        prop_assert_eq!(pair.server.outstanding_bytes(), 0);
        prop_assert_eq!(pair.server.poll_timeout(), None);
        prop_assert_eq!(pair.ue.poll_timeout(), None);
        if !config.is_one_way() {
            prop_assert_eq!(pair.delivered(End::Server), up);
            prop_assert_eq!(pair.ue.state(), State::Closed);
            prop_assert_eq!(pair.event_count(End::Ue, TcpEvent::PeerClosed), 1);
        }
    }

    /// The outstanding data never exceeds the receiver's window (and the FIN behind it).
    #[test]
    fn outstanding_data_fits_the_window_under_loss(
        config in with_options(),
        fates in proptest::collection::vec(fate(), 0..100),
    ) {
        let window = u64::from(config.receive_window()) + 1;
        let mut fates = fates.into_iter();
        let mut pair = Pair::sending(&config, 40_000, move |_| fates.next().unwrap_or(Fate::Deliver));
        for count in 1..400 {
            pair.run_until(ms(50 * count));
            prop_assert!(pair.server.outstanding_bytes() <= window);
        }
    }
}
