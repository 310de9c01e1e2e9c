//! Users of DCH bearers: power and cells, soft and hard handover, lack of codes.

use super::*;
use crate::radio::phy::ovsf::TreeShare;
use crate::radio::phy::sir::CHIP_RATE;
use crate::rnc::multicell::{CodeLimit, DchUserConfig};
use crate::rnc::rrc::SoftHandover;

/// Soft handover: a cell within 3 dB of the best one is added, and removed beyond 5 dB.
const SOFT: SoftHandover = SoftHandover { add: Db(3.0), drop: Db(5.0), legs: 3 };

/// A user of a bearer of 64 kbit/s that loses 1 % of the blocks at an Eb/N0 of `target_db`. Power control
/// aims at 2.25 dB.
fn dch_user(mobility: &MobilityConfig, spreading_factor: u16, target_db: f64) -> UeConfig {
    let dch = DchUserConfig {
        processing: CHIP_RATE / 64e3,
        spreading_factor,
        target: linear(2.25),
        errors: LinkTable::logistic(target_db, 2.5).into(),
    };
    let channels = [channel(Channel::Dch, 4), channel(Channel::Dch, 4)];
    UeConfig { channels, dchs: vec![dch.into()], ..dsch_user(mobility) }
}

/// The power for the DCH of a UE in a TTI of the cells.
struct DchTti {
    at: Time,
    ue: u16,
    /// The best cell.
    cell: u16,
    /// Number of cells that send to the UE.
    legs: u8,
    /// Power in the best cell, in mW.
    power: f64,
    /// Power in the other cells, in mW.
    further_power: f64,
    /// Linear.
    ebn0: f64,
}

fn dch_ttis(bench: &Bench) -> Vec<DchTti> {
    let dch_tti = |&(at, event): &(Time, TraceEvent)| match event {
        TraceEvent::DchSent { ue, cell, legs, power, further_power, ebn0 } => {
            let [power, further_power, ebn0] = [power, further_power, ebn0].map(|real| f64::from(real.0));
            Some(DchTti { at, ue: ue.0, cell, legs, power, further_power, ebn0 })
        }
        _ => None,
    };
    bench.trace.iter().filter_map(dch_tti).collect()
}

/// Times at which blocks of a UE left in the downlink.
fn departures(bench: &Bench, of: u16) -> Vec<Time> {
    let sent = |(at, event): &(Time, TraceEvent)| match event {
        TraceEvent::IubSent { ue, direction: Direction::Downlink, .. } if ue.0 == of => Some(*at),
        _ => None,
    };
    bench.trace.iter().filter_map(sent).collect()
}

/// Number of runs of retransmitted PDUs.
fn retransmissions(bench: &Bench) -> usize {
    let is_retransmission =
        |event: &TraceEvent| matches!(event, TraceEvent::PdusSent { retransmission: true, .. });
    bench.trace.iter().filter(|(_, event)| is_retransmission(event)).count()
}

/// A commuter with 64 kbit/s that receives a packet every 100 ms for 200 s.
fn commute(config: &MulticellConfig) -> Bench {
    let mut bench = Bench::with_users(config, &[dch_user(&commuter(config), 32, ERROR_FREE)]);
    for n in 0..2_000 {
        bench.sends(SentPacket { at_ms: 100 * n, ue: 0, id: n, octets: 570 });
    }
    bench.seconds(240);
    bench
}

#[test]
fn soft_handover_loses_and_repeats_nothing() {
    for control in [PowerControl::Frame, PowerControl::Ideal, PowerControl::Steps] {
        let mut config = layout_cells(4.0, ERROR_FREE);
        config.power.control = control;
        config.handover.soft = Some(SOFT);
        // A hard handover would be interrupted. A soft one is not.
        config.handover.interruption = Duration::from_millis(500);
        let bench = commute(&config);
        assert_eq!(bench.delivered_ids(), (0..2_000).collect::<Vec<_>>(), "all of them, in order");
        assert_eq!((bench.handovers(), retransmissions(&bench)), (vec![], 0));
        let ttis = dch_ttis(&bench);
        let cells: Vec<u16> = ttis.iter().map(|tti| tti.cell).collect();
        let changes = cells.windows(2).filter(|pair| pair[0] != pair[1]).count();
        assert!(changes >= 3 && cells.iter().all(|&cell| cell < 2), "{changes} changes");
        let soft = ttis.iter().filter(|tti| tti.legs == 2).count();
        assert!((0.02..0.5).contains(&(soft as f64 / ttis.len() as f64)), "{soft} of {}", ttis.len());
        // Both cells of a set send the same power, and no other cell sends.
        for DchTti { at, legs, power, further_power, .. } in ttis {
            if legs == 1 {
                assert_eq!(further_power, 0.0, "{at:?}");
            } else {
                assert!((further_power / power - 1.0).abs() < 0.1, "{at:?}");
            }
        }
    }
}

#[test]
fn hard_handover_interrupts_the_dch() {
    let mut config = layout_cells(4.0, ERROR_FREE);
    config.handover.interruption = Duration::from_millis(200);
    let bench = commute(&config);
    assert_eq!(bench.delivered_ids(), (0..2_000).collect::<Vec<_>>(), "all of them, in order");
    let departures = departures(&bench, 0);
    let has_data = |at: &Time| at.as_secs() < 199.0;
    let handovers: Vec<_> = bench.handovers().into_iter().filter(|handover| has_data(&handover.at)).collect();
    assert!(handovers.len() >= 3, "{handovers:?}");
    for CellChange { at, from, to } in handovers {
        assert!(from < 2 && to < 2 && from != to);
        let end = at + config.handover.interruption;
        assert!(!departures.iter().any(|&sent| at <= sent && sent < end), "silent from {at:?}");
        // A packet of every 100 ms waits for the end.
        assert!(departures.contains(&end), "{end:?}");
    }
}

#[test]
fn powers_of_users_and_cells_add_up_in_every_tti() {
    for (control, soft) in [
        (PowerControl::Frame, None),
        (PowerControl::Frame, Some(SOFT)),
        (PowerControl::Ideal, Some(SOFT)),
        (PowerControl::Steps, Some(SOFT)),
    ] {
        let mut config = layout_cells(4.0, ERROR_FREE);
        config.power.control = control;
        config.handover.soft = soft;
        config.environment.propagation.shadowing = ShadowingConfig::default();
        let mobility = MobilityConfig::Legs(crate::environment::Legs::vehicular(50.0 / 3.6));
        let mut bench = Bench::with_users(&config, &vec![dch_user(&mobility, 32, 2.25); 60]);
        for n in 0..6_000 {
            bench.sends(SentPacket { at_ms: n, ue: (n % 60) as u16, id: n, octets: 570 });
        }
        bench.seconds(8);
        /// Sums of the powers in a TTI, in mW.
        #[derive(Default)]
        struct Powers {
            /// As the cells report them, without their common channels.
            of_cells: f64,
            /// As the users report them.
            of_users: f64,
        }
        let mut sums = std::collections::BTreeMap::<Time, Powers>::new();
        for (at, event) in &bench.trace {
            if let TraceEvent::CellPower { power: Real(power), .. } = *event {
                sums.entry(*at).or_default().of_cells += f64::from(power) - config.power.common;
            }
        }
        let (mut sum_of_ebn0_db, mut ttis) = (0.0, 0.0);
        for DchTti { at, power, further_power, ebn0, .. } in dch_ttis(&bench) {
            sums.entry(at).or_default().of_users += power + further_power;
            (sum_of_ebn0_db, ttis) = (sum_of_ebn0_db + 10.0 * libm::log10(ebn0), ttis + 1.0);
        }
        assert!(ttis > 3_000.0, "{ttis}");
        for (at, Powers { of_cells, of_users }) in sums {
            let difference = (of_cells - of_users).abs();
            assert!(difference < 1e-4 * (1.0 + of_cells), "{control:?} at {at:?}: {of_cells}, {of_users}");
        }
        // Power control aims at 2.25 dB. Without interference of calls it comes close in every TTI.
        let mean_ebn0_db = sum_of_ebn0_db / ttis;
        assert!((mean_ebn0_db - 2.25).abs() < 0.6, "{control:?}: {mean_ebn0_db} dB");
    }
}

#[test]
fn blocks_are_lost_at_the_target_rate() {
    let mut config = layout_cells(4.0, ERROR_FREE);
    config.power.control = PowerControl::Ideal;
    let mut bench = Bench::with_users(&config, &vec![dch_user(&MobilityConfig::Still, 32, 2.25); 20]);
    for n in 0..20_000 {
        bench.sends(SentPacket { at_ms: n, ue: (n % 20) as u16, id: n, octets: 100 });
    }
    bench.seconds(30);
    let (mut blocks, mut lost) = (0, 0);
    for (_, event) in &bench.trace {
        if let TraceEvent::BlocksReceived { direction: Direction::Downlink, blocks: sent, errors, .. } = event
        {
            (blocks, lost) = (blocks + sent, lost + errors);
        }
    }
    let ratio = f64::from(lost) / f64::from(blocks);
    // About 60,000 blocks: the standard error is 0.04 %.
    assert!(blocks > 50_000 && (ratio - 0.01).abs() < 0.0015, "{lost} of {blocks}");
    assert_eq!(bench.delivered_ids().len(), 20_000);
}

#[test]
fn user_without_a_code_neither_sends_nor_receives() {
    let mut config = layout_cells(4.0, ERROR_FREE);
    // The DSCH has a quarter of the tree and the common channels have half of it: one code of SF 4 is
    // free.
    config.dch =
        DchConfig { codes: CodeLimit::OneTree, common: Some(TreeShare::of(2)), ..DchConfig::default() };
    let place = config.environment.layout.centre(CellId(0));
    let mut bench = Bench::with_users(&config, &vec![dch_user(&standing(place), 4, ERROR_FREE); 2]);
    for n in 0..20 {
        bench.sends(SentPacket { at_ms: 100 * n, ue: (n % 2) as u16, id: n, octets: 570 });
    }
    bench.seconds(4);
    let first_user: Vec<_> = (0..10).map(|n| 2 * n).collect();
    assert_eq!(bench.delivered_ids(), first_user, "all SDUs of the first user and no others");
    assert!(dch_ttis(&bench).iter().all(|tti| tti.ue == 0));
    let used = bench.trace.iter().filter_map(|(_, event)| match *event {
        TraceEvent::CellDchs { cell: 0, codes: Real(codes), .. } => Some(codes),
        _ => None,
    });
    assert!(used.into_iter().all(|codes| codes == 0.25));
}
