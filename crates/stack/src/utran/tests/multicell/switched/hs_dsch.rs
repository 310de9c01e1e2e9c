//! Users that RRC switches between FACH, HS-DSCH and DCH: changes of cells, lost PDUs, codes and limits.

use super::*;
use crate::mac::hs::HsUeConfig;
use crate::rnc::multicell::{AssociatedConfig, DownlinkConfig, HsCellConfig};
use crate::rnc::rrc::DataWhileSwitching;

/// Cells with a FACH and an HS-DSCH of five codes.
fn with_hs_dsch() -> MulticellConfig {
    let hs_dsch = HsCellConfig { max_power: f64::INFINITY, codes: 5, users_per_tti: 1 };
    MulticellConfig { hs_dsch: Some(hs_dsch), ..with_fach() }
}

fn rrc_with_hs_dsch() -> RrcConfig {
    let [largest, rate] = [3_600_000, 64_000].map(|bps| BitRate::from_bps(bps).expect("it is positive"));
    let hs_dsch = DchRates { rates: [largest, rate], is_hs_dsch: true, is_e_dch: false };
    RrcConfig { dch_rates: [vec![hs_dsch], rrc().dch_rates].concat(), ..rrc() }
}

/// A user that RRC switches to an HS-DSCH or, if that has no room, to a DCH of spreading factor 32.
fn hs_user(mobility: &MobilityConfig, rrc: &RrcConfig) -> UeConfig {
    let mut user = switched_user(mobility, 32, rrc);
    let format = TransportFormat::up_to(22, Duration::from_millis(2));
    let hs_dsch = ChannelConfig { format, ..channel(Channel::HsDsch, 22) };
    let switching = user.switching.as_mut().expect("it is switched");
    switching.dchs.insert(0, [hs_dsch, channel(Channel::Dch, 4)]);
    user.dchs.insert(0, DownlinkConfig::HsDsch);
    UeConfig { hs_dsch: Some(HsUeConfig { category: Some(6), ..HsUeConfig::default() }.into()), ..user }
}

/// A commuter receives `packets` packets, one every `interval_ms` from 1 s on, with a pause of 8 s after every
/// thousand.
fn commute(config: &MulticellConfig, rrc: &RrcConfig, packets: u64, interval_ms: u64) -> Bench {
    let mut bench = Bench::with_users(config, &[hs_user(&commuter(config), rrc)]);
    for n in 0..packets {
        let at_ms = 1_000 + interval_ms * n + 8_000 * (n / 1_000);
        bench.sends(SentPacket { at_ms, ue: 0, id: n, octets: 570 });
    }
    bench.seconds(240);
    bench
}

fn count(bench: &Bench, is_counted: impl Fn(&TraceEvent) -> bool) -> usize {
    bench.trace.iter().filter(|(_, event)| is_counted(event)).count()
}

#[test]
fn user_changes_its_cell_on_the_fach_and_on_the_hs_dsch_and_loses_nothing() {
    let mut config = with_hs_dsch();
    config.environment.propagation.shadowing = ShadowingConfig::default();
    config.handover.interruption = Duration::from_millis(100);
    for data_while_switching in [DataWhileSwitching::Suspended, DataWhileSwitching::Continues] {
        let rrc = RrcConfig { data_while_switching, ..rrc_with_hs_dsch() };
        let bench = commute(&config, &rrc, 10_000, 12);
        assert_eq!(bench.delivered_ids(), (0..10_000).collect::<Vec<_>>(), "all of them, in order");
        let history = history(&bench);
        let changes = bench.handovers();
        assert!(history.handovers > 10 && history.reselections > 3, "{changes:?}, {}", history.reselections);
        assert!(history.states[&RrcState::CellDch] >= 8);
        // MAC-hs is reset at each handover, and RLC sends again what it held.
        assert_eq!(count(&bench, |event| matches!(event, TraceEvent::HsCellChanged { .. })), changes.len());
        let [mut held, mut lost] = [0; 2];
        for (_, event) in &bench.trace {
            if let TraceEvent::HsCellChanged { queued, in_harq, .. } = *event {
                (held, lost) = (held + queued, lost + in_harq);
            }
        }
        assert!(held + lost > 0, "{held} PDUs in queues and {lost} in HARQ");
        // No block is sent while the handover interrupts the user.
        let mut silent_until = Time::ZERO;
        for (at, event) in &bench.trace {
            match event {
                TraceEvent::Handover { interruption, .. } => silent_until = *at + *interruption,
                TraceEvent::HsBlockSent { cqi, .. } => {
                    assert!(*at >= silent_until && *cqi > 0, "a block at {at:?} with CQI {cqi}");
                }
                _ => {}
            }
        }
    }
}

/// The SNR of a cell that a user has left on the FACH is not used for its first CQIs on the next HS-DSCH.
#[test]
fn first_cqi_after_a_switch_is_the_one_of_the_present_place() {
    let mut config = with_hs_dsch();
    // Less than the 10 mW of the pilots, and no noise: the SNRs are below those of the largest CQI, and at the edge
    // the other cell is the main interference.
    config.power.noise = 1e-20;
    config.hs_dsch.iter_mut().for_each(|hs_dsch| hs_dsch.max_power = 4.0);
    let layout = &config.environment.layout;
    let (near, far) = (layout.centre(CellId(0)), layout.centre(CellId(1)));
    // Half way between the centres both cells are equally strong.
    let edge = Place { x: (near.x + far.x) / 2.0, y: (near.y + far.y) / 2.0 };
    let points = [(0, near), (20, near), (30, edge), (600, edge)];
    let points = points.map(|(second, place)| (Duration::from_secs(second), place));
    let track = Track::new(&points).expect("its times rise");
    let mut bench =
        Bench::with_users(&config, &[hs_user(&MobilityConfig::Track(track.into()), &rrc_with_hs_dsch())]);
    for n in 0..80 {
        let second = if n < 40 { 10 } else { 40 };
        bench.sends(SentPacket { at_ms: 1_000 * second + n, ue: 0, id: n, octets: 570 });
    }
    bench.seconds(60);
    let cqis = |from: f64, to: f64| {
        let cqi = |(at, event): &(Time, TraceEvent)| match event {
            TraceEvent::HsBlockSent { cqi, .. } if (from..to).contains(&at.as_secs()) => Some(*cqi),
            _ => None,
        };
        bench.trace.iter().filter_map(cqi).collect::<Vec<_>>()
    };
    let (near, edge) = (cqis(0.0, 30.0), cqis(30.0, 60.0));
    assert!(near.len() > 5 && edge.len() > 5, "{near:?} and {edge:?}");
    // Without fading and without other users the SNR of a place is constant.
    let spread = |cqis: &[u8]| cqis.iter().max().zip(cqis.iter().min()).map(|(max, min)| max - min);
    assert!(spread(&near) <= Some(1) && spread(&edge) <= Some(1), "{near:?} and {edge:?}");
    assert!(near[0] > edge[0], "{near:?} and {edge:?}");
}

#[test]
fn dch_beside_the_hs_dsch_has_its_code_from_the_grant_to_the_release() {
    let associated = Some(AssociatedConfig::default());
    let mut config = with_hs_dsch();
    config.dch = DchConfig { codes: CodeLimit::OneTree, associated, ..DchConfig::default() };
    let place = config.environment.layout.centre(CellId(0));
    let mut bench = Bench::with_users(&config, &[hs_user(&standing(place), &rrc_with_hs_dsch())]);
    for n in 0..200 {
        bench.sends(SentPacket { at_ms: 1_000 + n, ue: 0, id: n, octets: 570 });
    }
    bench.seconds(30);
    assert_eq!(bench.delivered_ids(), (0..200).collect::<Vec<_>>());
    let code = 1.0 / 256.0;
    let (mut has_dch, mut charged) = (false, 0);
    for (at, event) in &bench.trace {
        match *event {
            TraceEvent::DchGranted { .. } => has_dch = true,
            TraceEvent::RrcState { state, .. } => has_dch = state == RrcState::CellDch,
            TraceEvent::CellDchs { cell: 0, codes, associated, associated_power: Real(power), .. } => {
                assert_eq!(f64::from(codes.0), if has_dch { code } else { 0.0 }, "{at:?}");
                assert_eq!(associated > 0, power > 0.0);
                charged += associated;
            }
            _ => {}
        }
    }
    // It has power in turns that begin with data.
    assert!(charged > 5 && !has_dch, "{charged}");
}

#[test]
fn cell_with_the_most_users_of_its_hs_dsch_gives_a_dch_also_after_handovers() {
    let config = with_hs_dsch();
    let places = [CellId(0), CellId(0), CellId(1)].map(|cell| config.environment.layout.centre(cell));
    let rrc = rrc_with_hs_dsch();
    let mut users: Vec<_> = places.iter().map(|place| hs_user(&standing(*place), &rrc)).collect();
    users[0] = hs_user(&commuter(&config), &rrc);
    let limits = Limits { hs_users: Some(1), ..Limits::default() };
    let mut bench = Bench::with_limits(&config, &users, &limits);
    for n in 0..9_000 {
        bench.sends(SentPacket { at_ms: 1_000 + 10 * n, ue: (n % 3) as u16, id: n, octets: 570 });
    }
    bench.seconds(100);
    // The first request in cell 0 takes its HS-DSCH, and the second user there gets a DCH. The commuter keeps its
    // HS-DSCH in cell 1 although another user has it there.
    let mut on_hs_dsch = [[0; 2]; 3];
    for (at, event) in &bench.trace {
        match *event {
            TraceEvent::HsBlockSent { ue, .. } => {
                on_hs_dsch[ue.index()][usize::from(at.as_secs() > 60.0)] += 1
            }
            TraceEvent::DchSent { ue, .. } => assert_eq!(ue, UeId(1), "{at:?}"),
            _ => {}
        }
    }
    assert!(on_hs_dsch[0].iter().chain(&on_hs_dsch[2]).all(|&blocks| blocks > 50), "{on_hs_dsch:?}");
    assert_eq!(on_hs_dsch[1], [0; 2]);
    assert_eq!(history(&bench).handovers, 1);
}

#[test]
fn admission_by_power_reserves_the_fixed_power_of_an_hs_dsch() {
    // The pilot has 10 mW, and the S-CCPCH 1 mW.
    for (max_power, is_admitted) in [(f64::INFINITY, true), (1.0, true), (10.0, false)] {
        let mut config = MulticellConfig { admission_power: Some(20.0), ..with_hs_dsch() };
        config.hs_dsch.iter_mut().for_each(|hs_dsch| hs_dsch.max_power = max_power);
        config.sccpch.iter_mut().for_each(|sccpch| sccpch.power = 1.0);
        let place = config.environment.layout.centre(CellId(0));
        let mut bench = Bench::with_users(&config, &[switched_user(&standing(place), 32, &rrc())]);
        for n in 0..20 {
            bench.sends(SentPacket { at_ms: 1_000 + n, ue: 0, id: n, octets: 570 });
        }
        bench.seconds(10);
        let granted = count(&bench, |event| matches!(event, TraceEvent::DchGranted { .. }));
        let refused = count(&bench, |event| matches!(event, TraceEvent::DchRefused { .. }));
        assert_eq!((granted > 0, refused > 0), (is_admitted, !is_admitted), "with {max_power} mW");
    }
}
