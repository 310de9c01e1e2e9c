//! Users that RRC switches between FACH and DCH: changes of cells in each state, codes and reservations.

mod hs_dsch;

use std::collections::BTreeMap;

use super::*;
use crate::radio::RrcState;
use crate::radio::phy::ovsf::TreeShare;
use crate::radio::phy::sir::CHIP_RATE;
use crate::rnc::multicell::{CodeLimit, DchUserConfig, SccpchConfig, WithoutCode};
use crate::rnc::rrc::{DchRates, RestingState, RrcConfig, SoftHandover};
use crate::trace::{CellUpdateCause, SwitchCause};
use crate::ue::SwitchingConfig;
use umts_units::BitRate;

const SOFT: SoftHandover = SoftHandover { add: Db(3.0), drop: Db(5.0), legs: 3 };

/// Cells with a FACH that loses nothing.
fn with_fach() -> MulticellConfig {
    let sccpch = SccpchConfig {
        power: 2_000.0,
        code: Code { spreading_factor: 64, number: 1 },
        processing: CHIP_RATE / 32e3,
        errors: LinkTable::logistic(ERROR_FREE, 2.5).into(),
    };
    MulticellConfig { sccpch: Some(sccpch), ..layout_cells(4.0, ERROR_FREE) }
}

fn rrc() -> RrcConfig {
    let rate = BitRate::from_bps(64_000).expect("it is positive");
    let dch_rates = vec![DchRates { rates: [rate; 2], is_hs_dsch: false, is_e_dch: false }];
    RrcConfig { dch_rates, inactivity: Duration::from_secs(1), ..RrcConfig::default() }
}

/// A user with a DCH of 64 kbit/s and this spreading factor while it has much to receive.
fn switched_user(mobility: &MobilityConfig, spreading_factor: u16, rrc: &RrcConfig) -> UeConfig {
    let dch = DchUserConfig {
        processing: CHIP_RATE / 64e3,
        spreading_factor,
        target: linear(2.25),
        errors: LinkTable::logistic(ERROR_FREE, 2.5).into(),
    };
    let dchs = vec![[channel(Channel::Dch, 4), channel(Channel::Dch, 4)]];
    UeConfig {
        channels: [channel(Channel::Fach, 2), channel(Channel::Rach, 2)],
        dchs: vec![dch.into()],
        switching: Some(SwitchingConfig { rrc: rrc.clone().into(), dchs }),
        connection: rrc.connection(true, false).into(),
        ..dsch_user(mobility)
    }
}

/// Numbers of events of all switched UEs.
struct History {
    /// Hard handovers.
    handovers: usize,
    /// Cell updates after a reselection.
    reselections: usize,
    /// Entries into each state.
    states: BTreeMap<RrcState, usize>,
}

/// Checks that no UE changes its cell during a switch, and that each cell reserves a DCH for the UEs on it that
/// have been granted one and not released it yet.
fn history(bench: &Bench) -> History {
    let mut history = History { handovers: 0, reselections: 0, states: BTreeMap::new() };
    // The cause of the current switch, by UE.
    let mut switching = BTreeMap::new();
    // Whether a UE has a DCH, by UE.
    let mut has_dch = BTreeMap::new();
    // Reserved DCHs, by cell.
    let mut reserved = BTreeMap::new();
    let mut last_instant = Time::ZERO;
    for (at, event) in &bench.trace {
        // Within an instant, events of a UE and of its cell may be out of step.
        if *at != last_instant {
            let holders = has_dch.values().filter(|&&has_dch| has_dch).count();
            let reservations: usize = reserved.values().sum();
            assert_eq!(holders, reservations, "before {at:?}: {has_dch:?}, {reserved:?}");
            last_instant = *at;
        }
        match *event {
            TraceEvent::RrcSwitch { ue, cause, .. } => {
                switching.insert(ue, cause);
            }
            TraceEvent::RrcState { ue, state } => {
                switching.remove(&ue);
                has_dch.insert(ue, state == RrcState::CellDch);
                *history.states.entry(state).or_default() += 1;
            }
            TraceEvent::DchGranted { ue, .. } => drop(has_dch.insert(ue, true)),
            TraceEvent::CellReserved { cell, dchs, .. } => drop(reserved.insert(cell, dchs as usize)),
            TraceEvent::Handover { ue, .. } => {
                assert!(!switching.contains_key(&ue), "{ue:?} changes its cell during a switch at {at:?}");
                history.handovers += 1;
            }
            TraceEvent::CellUpdateStarted { ue, cause } => {
                assert_eq!(switching.get(&ue), Some(&SwitchCause::CellUpdate), "{ue:?} at {at:?}");
                history.reselections += usize::from(cause == CellUpdateCause::CellReselection);
            }
            _ => {}
        }
    }
    history
}

/// Packets that a commuter receives: ten of a burst, and one more 6.5 s later, every ten seconds.
const PACKETS: u64 = 20 * 11;

/// A commuter receives [`PACKETS`] in 200 s.
fn commute(config: &MulticellConfig, rrc: &RrcConfig) -> Bench {
    let mut bench = Bench::with_users(config, &[switched_user(&commuter(config), 32, rrc)]);
    for id in 0..PACKETS {
        let (cycle, number) = (id / 11, id % 11);
        let after_burst_ms = if number < 10 { 0 } else { 6_500 };
        bench.sends(SentPacket { at_ms: 100 + 10_000 * cycle + after_burst_ms, ue: 0, id, octets: 570 });
    }
    bench.seconds(240);
    bench
}

#[test]
fn user_changes_its_cell_on_the_fach_and_on_the_dch_and_loses_nothing() {
    for soft in [None, Some(SOFT)] {
        let mut config = with_fach();
        config.environment.propagation.shadowing = ShadowingConfig::default();
        config.handover.soft = soft;
        let bench = commute(&config, &rrc());
        assert_eq!(bench.delivered_ids(), (0..PACKETS).collect::<Vec<_>>(), "all of them, in order");
        let history = history(&bench);
        assert!(history.reselections > 10, "{}", history.reselections);
        assert_eq!(history.handovers > 2, soft.is_none(), "{} handovers", history.handovers);
        // Each of the 20 bursts leads to the DCH, and the user comes back.
        assert!(history.states[&RrcState::CellDch] >= 20);
        assert!(!bench.trace.iter().any(|(_, event)| matches!(event, TraceEvent::RlcReestablished { .. })));
    }
}

#[test]
fn user_informs_the_network_of_its_cell_in_cell_pch_and_not_in_ura_pch() {
    let mut config = with_fach();
    config.environment.propagation.shadowing = ShadowingConfig::default();
    let resting = RrcConfig { fach_inactivity: Some(Duration::from_secs(1)), ..rrc() };
    for state in [RestingState::CellPch, RestingState::UraPch] {
        let bench = commute(&config, &RrcConfig { after_fach: state, ..resting.clone() });
        assert_eq!(bench.delivered_ids(), (0..PACKETS).collect::<Vec<_>>(), "all of them, in order");
        assert!(history(&bench).reselections > 0, "on the FACH");
        let state = RrcState::from(state);
        let mut updates = 0;
        let mut is_updating = false;
        for (at, event) in &bench.trace {
            match *event {
                TraceEvent::RrcSwitch { from, cause, .. } if from == state => {
                    is_updating = cause == SwitchCause::CellUpdate;
                    updates += usize::from(is_updating);
                }
                TraceEvent::RrcState { state: entered, .. } if is_updating => {
                    assert_eq!(entered, state, "at {at:?}");
                    is_updating = false;
                }
                _ => {}
            }
        }
        assert_eq!(updates > 0, state == RrcState::CellPch, "{updates} in {state:?}");
    }
}

/// Cells with one free code of spreading factor 4: the DSCH has a quarter of the tree, and the common
/// channels have half of it.
fn one_code() -> MulticellConfig {
    let dch = DchConfig { codes: CodeLimit::OneTree, common: Some(TreeShare::of(2)), ..DchConfig::default() };
    MulticellConfig { dch, ..with_fach() }
}

/// Share of the code tree that DCHs use in each turn of a cell.
fn codes_of(bench: &Bench, of: u16) -> Vec<f64> {
    let codes = |(_, event): &(Time, TraceEvent)| match *event {
        TraceEvent::CellDchs { cell, codes: Real(codes), .. } if cell == of => Some(f64::from(codes)),
        _ => None,
    };
    bench.trace.iter().filter_map(codes).collect()
}

#[test]
fn request_without_a_free_code_is_refused_until_one_is_released() {
    let config = one_code();
    let place = config.environment.layout.centre(CellId(0));
    let user = switched_user(&standing(place), 4, &rrc());
    let mut bench = Bench::with_users(&config, &[user.clone(), user]);
    for n in 0..40 {
        bench.sends(SentPacket { at_ms: 100 + n, ue: (n % 2) as u16, id: n, octets: 570 });
    }
    bench.seconds(60);
    let mut delivered = bench.delivered_ids();
    delivered.sort_unstable();
    assert_eq!(delivered, (0..40).collect::<Vec<_>>());
    let (mut has_dch, mut refused) = ([false; 2], 0);
    for (at, event) in &bench.trace {
        match *event {
            TraceEvent::DchGranted { ue, .. } => {
                has_dch[ue.index()] = true;
                assert_ne!(has_dch, [true; 2], "{at:?}");
            }
            TraceEvent::RrcState { ue, state: RrcState::CellFach } => has_dch[ue.index()] = false,
            TraceEvent::DchRefused { .. } => refused += 1,
            _ => {}
        }
    }
    assert!(refused > 0);
    // The code is held from the grant to the end of the release.
    let codes = codes_of(&bench, 0);
    assert!(codes.iter().all(|&codes| codes == 0.0 || codes == 0.25) && codes.contains(&0.25));
    assert_eq!(codes.last(), Some(&0.0));
    history(&bench);
}

#[test]
fn user_that_waits_for_a_code_gets_it_when_a_call_ends() {
    let mut config = one_code();
    let place = config.environment.layout.centre(CellId(0));
    let calls = offered_calls(3.0, Offered::Network, Duration::from_secs(2));
    config.calls = vec![CallClassConfig {
        mobility: standing(place),
        ..call_class(CallsConfig { spreading_factor: 4, ..calls })
    }];
    let rrc = RrcConfig { retry: Duration::from_secs(3600), ..rrc() };
    let mut bench = Bench::with_limits(
        &config,
        &[switched_user(&standing(place), 4, &rrc)],
        &Limits { queue: 1, ..Limits::default() },
    );
    for n in 0..200 {
        bench.sends(SentPacket { at_ms: 1_000 + n, ue: 0, id: n, octets: 570 });
    }
    bench.seconds(60);
    let is_queued = |event: &TraceEvent| matches!(event, TraceEvent::DchQueued { .. });
    let is_granted = |event: &TraceEvent| matches!(event, TraceEvent::DchGranted { .. });
    let count = |is: &dyn Fn(&TraceEvent) -> bool| bench.trace.iter().filter(|(_, event)| is(event)).count();
    assert!(count(&is_queued) > 0 && count(&is_granted) > 0);
    assert_eq!(bench.delivered_ids(), (0..200).collect::<Vec<_>>());
}

#[test]
fn user_whose_next_cell_has_no_code_returns_to_the_fach_by_a_cell_update() {
    let mut config = one_code();
    config.dch.without_code = WithoutCode::Dropped;
    let there = config.environment.layout.centre(CellId(1));
    // A user with a DCH for the whole run has the only code of cell 1.
    let holder = UeConfig {
        channels: [channel(Channel::Dch, 4), channel(Channel::Dch, 4)],
        switching: None,
        ..switched_user(&standing(there), 4, &rrc())
    };
    let mut bench = Bench::with_users(&config, &[holder, switched_user(&commuter(&config), 4, &rrc())]);
    for n in 0..1_000 {
        bench.sends(SentPacket { at_ms: 100 + 60 * n, ue: 1, id: n, octets: 570 });
    }
    bench.seconds(120);
    let failures = bench.trace.iter().filter(|(_, event)| {
        matches!(event, TraceEvent::CellUpdateStarted { cause: CellUpdateCause::RadioLinkFailure, .. })
    });
    assert_eq!(failures.count(), 1, "on the way to cell 1");
    // In cell 1 it is refused, and it stays on the FACH.
    assert!(bench.trace.iter().any(|(_, event)| matches!(event, TraceEvent::DchRefused { .. })));
    assert!(bench.trace.iter().any(|(_, event)| matches!(event, TraceEvent::FachSent { cell: 1, .. })));
    assert!(codes_of(&bench, 1).iter().all(|&codes| codes == 0.25));
}
