//! Users of E-DCHs: interference between cells, power, and changes of the serving cell.

use std::collections::BTreeMap;

use super::*;
use crate::environment::Environment;
use crate::mac::e::uplink_load::UplinkLoad;
use crate::mac::e::{EDchConfig, EUeConfig};
use crate::mac::hs::HsUeConfig;
use crate::radio::rlc::RlcMode;
use crate::rnc::multicell::{DownlinkConfig, HsCellConfig};
use crate::trace::ELimit;
use umts_units::{Dbm, Probability};

const SHORT_TTI: Duration = Duration::from_millis(2);

/// Cells with an HS-DSCH and an E-DCH.
fn with_e_dch() -> MulticellConfig {
    let hs_dsch = HsCellConfig { max_power: f64::INFINITY, codes: 5, users_per_tti: 1 };
    MulticellConfig { hs_dsch: Some(hs_dsch), ..layout_cells(4.0, ERROR_FREE) }
}

/// A user of an HS-DSCH and of an E-DCH of category 2 with a TTI of 2 ms, on which nothing is lost.
fn e_dch_user(mobility: &MobilityConfig, mode: RlcMode, max_power: Dbm) -> UeConfig {
    let format = |blocks| TransportFormat::up_to(blocks, SHORT_TTI);
    let downlink = ChannelConfig { format: format(22), ..channel(Channel::HsDsch, 22) };
    let uplink = ChannelConfig { format: format(8), ..channel(Channel::EDch, 8) };
    let user = dsch_user(mobility);
    let e_dch = EUeConfig {
        category: Some(2),
        attempt_errors: vec![Probability::ZERO],
        max_power,
        ..EUeConfig::default()
    };
    UeConfig {
        channels: [downlink, uplink],
        rlc: Arc::new(RlcConfig { mode, window: 2_047, ..(*user.rlc).clone() }),
        hs_dsch: Some(HsUeConfig { category: Some(6), ..HsUeConfig::default() }.into()),
        e_dch: Some(e_dch.into()),
        dchs: vec![DownlinkConfig::HsDsch],
        ..user
    }
}

/// A power that limits no block.
const AMPLE: Dbm = Dbm(60.0);

/// Users that stand at these places send packets without a pause in unacknowledged mode.
fn saturated(config: &MulticellConfig, places: &[Place], max_power: Dbm) -> Bench {
    let user = |place: &Place| e_dch_user(&standing(*place), RlcMode::Um, max_power);
    let users: Vec<_> = places.iter().map(user).collect();
    let mut bench = Bench::with_users(config, &users);
    for id in 0..300 {
        for ue in 0..places.len() as u16 {
            bench.enters(SentPacket { at_ms: 1, ue, id, octets: 1_400 }, Direction::Uplink);
        }
    }
    bench.until(Time::ZERO + Duration::from_millis(980));
    bench
}

/// The place at a part of the way from the centre of cell `from` to that of cell `to`.
fn between(config: &MulticellConfig, from: u16, to: u16, part: f64) -> Place {
    let [from, to] = [from, to].map(|cell| config.environment.layout.centre(CellId(cell)));
    Place { x: from.x + part * (to.x - from.x), y: from.y + part * (to.y - from.y) }
}

/// Path gains between a place and the cells, without shadows.
fn gains(config: &MulticellConfig, place: Place) -> Vec<f64> {
    let environment = Environment::new(&config.environment, &Streams::new(1, 0));
    let mut gains = vec![0.0; environment.cells()];
    environment.gains_at(place, &mut gains);
    gains
}

/// The last values of a run: noise rise, linear, and share of other cells by cell, power in mW and bits by UE.
#[derive(Debug, Default)]
struct Last {
    rise: BTreeMap<u16, f64>,
    share: BTreeMap<u16, f64>,
    power: [f64; 2],
    bits: [u32; 2],
    cell: [u16; 2],
    limit: [Option<ELimit>; 2],
}

fn last(bench: &Bench) -> Last {
    let mut last = Last::default();
    for (_, event) in &bench.trace {
        match *event {
            TraceEvent::ENoiseRise { cell, rise: Real(rise), .. } => {
                last.rise.insert(cell, linear(rise.into()));
            }
            TraceEvent::EFromOthers { cell, share: Real(share), .. } => {
                last.share.insert(cell, share.into());
            }
            TraceEvent::EPowerSent { ue, cell, power: Real(power), limit } => {
                last.power[ue.index()] = power.into();
                last.cell[ue.index()] = cell;
                last.limit[ue.index()] = limit;
            }
            TraceEvent::EBlockSent { ue, bits, .. } => last.bits[ue.index()] = bits,
            _ => {}
        }
    }
    last
}

/// Two users in different cells send their largest blocks. Their loads L follow from the size of the blocks
/// alone, and the noise rises R are the solution of `R_k (1 - L_k) = 1 + L_j R_j f_jk`, where f_jk is the gain of
/// user j to cell k relative to its own cell. The power that a cell receives is the sum of the powers of both
/// users times their gains, and of the noise.
#[test]
fn noise_rise_of_two_cells_follows_from_the_gains() {
    let config = with_e_dch();
    let places = [between(&config, 0, 3, 0.1), between(&config, 0, 3, 0.3)];
    let last = last(&saturated(&config, &places, AMPLE));
    let cells = last.cell.map(usize::from);
    assert_ne!(cells[0], cells[1]);
    let gains = places.map(|place| gains(&config, place));
    let uplink = UplinkLoad::new(&EDchConfig::default());
    let load = last.bits.map(|bits| uplink.load(uplink.ratio(bits, SHORT_TTI)));
    let share = |user: usize| gains[user][cells[1 - user]] / gains[user][cells[user]];
    let coupling = [0, 1].map(|user| load[user] * share(user));
    assert!(coupling.iter().all(|coupling| (0.001..0.5).contains(coupling)), "{coupling:?}");
    let determinant = (1.0 - load[0]) * (1.0 - load[1]) - coupling[0] * coupling[1];
    let noise_mw = linear(EDchConfig::default().noise.0);
    for user in [0, 1] {
        let (cell, other) = (cells[user], 1 - user);
        let expected = (1.0 - load[other] + coupling[other]) / determinant;
        let rise = last.rise[&last.cell[user]];
        assert!((rise / expected - 1.0).abs() < 1e-5, "{rise} and {expected} in cell {cell}");
        let received = [user, other].map(|user| last.power[user] * gains[user][cell]);
        let sum = (noise_mw + received[0] + received[1]) / noise_mw;
        assert!((rise / sum - 1.0).abs() < 1e-5, "{rise} and {sum} in cell {cell}");
        let from_other = received[1] / (noise_mw * rise);
        assert!((last.share[&last.cell[user]] / from_other - 1.0).abs() < 1e-5, "{last:?}");
    }
}

/// A user without power for the blocks of its category sends smaller ones. Its headroom is reported in whole dB, and
/// grants and blocks have steps, so the blocks take less than all of its power.
#[test]
fn power_of_the_ue_limits_its_blocks() {
    let config = with_e_dch();
    let place = between(&config, 0, 3, 0.3);
    let gain = gains(&config, place).into_iter().fold(0.0, f64::max);
    let EDchConfig { noise, dpcch_ec_n0, .. } = EDchConfig::default();
    let uplink = UplinkLoad::new(&EDchConfig::default());
    // A lone user with x = Ec/N0 is received with x times the noise.
    let expected_mw = |bits| {
        let x = linear(dpcch_ec_n0.0) * (1.0 + uplink.ratio(bits, SHORT_TTI));
        linear(noise.0) * x / gain
    };
    let assert_power = |last: &Last| {
        let (power, expected) = (last.power[0], expected_mw(last.bits[0]));
        assert!((power / expected - 1.0).abs() < 1e-5, "{power} and {expected} mW");
    };
    let strong = last(&saturated(&config, &[place], AMPLE));
    assert_eq!((strong.bits[0] > 2_600, strong.limit[0]), (true, Some(ELimit::Category)));
    assert_power(&strong);
    let max_mw = strong.power[0] / 2.0;
    let weak = last(&saturated(&config, &[place], Dbm(10.0 * libm::log10(max_mw))));
    assert_eq!(weak.limit[0], Some(ELimit::Power));
    assert_power(&weak);
    assert!((0.3..1.0).contains(&(weak.power[0] / max_mw)), "{} of {max_mw} mW", weak.power[0]);
}

/// MAC-e/es is reset at each change of the serving cell. RLC sends again all that was lost.
#[test]
fn upload_continues_in_each_cell_after_the_interruption() {
    let mut config = with_e_dch();
    config.handover.interruption = Duration::from_millis(100);
    let user = e_dch_user(&commuter(&config), RlcMode::Am, AMPLE);
    let mut bench = Bench::with_users(&config, &[user]);
    for id in 0..8_000 {
        bench.enters(SentPacket { at_ms: 1_000 + 20 * id, ue: 0, id, octets: 1_400 }, Direction::Uplink);
    }
    bench.seconds(180);
    assert_eq!(bench.delivered_ids(), (0..8_000).collect::<Vec<_>>(), "all of them, in order");
    let changes = bench.handovers();
    assert!(changes.len() >= 2, "{changes:?}");
    let mut silent_until = Time::ZERO;
    let mut cell = bench.handovers()[0].from;
    for (at, event) in &bench.trace {
        match *event {
            TraceEvent::Handover { to, interruption, .. } => {
                silent_until = *at + interruption;
                cell = to;
            }
            TraceEvent::EPowerSent { cell: sent, .. } => {
                assert!(*at >= silent_until && sent == cell, "a block to cell {sent} at {at:?}");
            }
            _ => {}
        }
    }
}
