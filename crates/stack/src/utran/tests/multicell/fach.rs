//! Users of the FACH (forward access channel): power of the S-CCPCH, the physical channel that carries
//! it, block errors, and cell reselection.

use super::*;
use crate::radio::phy::sir::CHIP_RATE;
use crate::rnc::multicell::SccpchConfig;
use crate::trace::CellUpdateCause;

/// Cells with a FACH of 32 kbit/s, which loses 1 % of the blocks at `target_db`, and an S-CCPCH of this
/// power in mW.
fn with_fach(power: f64, target_db: f64) -> MulticellConfig {
    let sccpch = SccpchConfig {
        power,
        code: Code { spreading_factor: 64, number: 1 },
        processing: CHIP_RATE / 32e3,
        errors: LinkTable::logistic(target_db, 2.5).into(),
    };
    MulticellConfig { sccpch: Some(sccpch), ..layout_cells(4.0, ERROR_FREE) }
}

/// A user of the FACH and the RACH, with two blocks of 40 octets per TTI in the downlink.
fn fach_user(mobility: &MobilityConfig) -> UeConfig {
    UeConfig { channels: [channel(Channel::Fach, 2), channel(Channel::Rach, 2)], ..dsch_user(mobility) }
}

/// A TTI in which a cell sends its S-CCPCH.
#[derive(Debug)]
struct SccpchTti {
    at: Time,
    cell: u16,
    power_mw: f64,
}

fn sccpch_ttis(bench: &Bench) -> Vec<SccpchTti> {
    let tti = |&(at, event): &(Time, TraceEvent)| match event {
        TraceEvent::SccpchSent { cell, power: Real(power) } => {
            Some(SccpchTti { at, cell, power_mw: f64::from(power) })
        }
        _ => None,
    };
    bench.trace.iter().filter_map(tti).collect()
}

#[test]
fn sccpch_is_sent_only_with_data_and_adds_to_the_power_of_its_cell() {
    let config = with_fach(2_000.0, ERROR_FREE);
    let place = config.environment.layout.centre(CellId(3));
    let mut bench = Bench::with_users(&config, &[fach_user(&standing(place))]);
    bench.sends(SentPacket { at_ms: 1_000, ue: 0, id: 1, octets: 570 });
    bench.seconds(4);
    assert_eq!(bench.delivered_ids(), [1]);
    let sent = sccpch_ttis(&bench);
    // 15 blocks with their headers take 8 TTIs. Polls and acknowledgments may need a few more.
    assert!((8..16).contains(&sent.len()), "{sent:?}");
    assert!(sent.iter().all(|tti| tti.at.as_secs() >= 1.0 && tti.cell == 3 && tti.power_mw == 2_000.0));
    for (at, event) in &bench.trace {
        if let TraceEvent::CellPower { cell, power: Real(power), .. } = *event {
            let is_on = sent.iter().any(|tti| tti.at == *at && tti.cell == cell);
            let common = config.power.common + if is_on { 2_000.0 } else { 0.0 };
            assert!((f64::from(power) - common).abs() < 1e-3, "{at:?}, cell {cell}: {power} mW");
        }
    }
}

#[test]
fn block_errors_follow_the_eb_n0_at_the_place_of_the_user() {
    // Between two cells, and with little power: about 4 dB half-way between cells that send 10 mW each.
    let config = with_fach(0.3, 5.0);
    let table = LinkTable::logistic(5.0, 2.5);
    let layout = &config.environment.layout;
    let (here, there) = (layout.centre(CellId(0)), layout.centre(CellId(1)));
    let at =
        |share: f64| Place { x: here.x + share * (there.x - here.x), y: here.y + share * (there.y - here.y) };
    let users: Vec<_> = (0..20).map(|n| fach_user(&standing(at(f64::from(n) / 40.0)))).collect();
    let mut bench = Bench::with_users(&config, &users);
    for n in 0..4_000 {
        bench.sends(SentPacket { at_ms: 20 * n, ue: (n % 20) as u16, id: n, octets: 40 });
    }
    bench.seconds(100);
    let (mut ebn0s, mut expected) = (vec![0.0; users.len()], 0.0);
    let (mut blocks, mut lost) = (0, 0);
    for (_, event) in &bench.trace {
        match *event {
            TraceEvent::FachSent { ue, ebn0: Real(ebn0), .. } => ebn0s[ue.index()] = f64::from(ebn0),
            TraceEvent::BlocksReceived {
                ue, direction: Direction::Downlink, blocks: sent, errors, ..
            } => {
                expected += f64::from(sent) * table.ratio(ebn0s[ue.index()]);
                (blocks, lost) = (blocks + sent, lost + errors);
            }
            _ => {}
        }
    }
    let deviation = expected.sqrt();
    assert!(blocks > 4_000 && expected > 100.0, "{blocks} blocks, {expected} losses expected");
    assert!((f64::from(lost) - expected).abs() < 4.0 * deviation, "{lost} losses, {expected} expected");
}

#[test]
fn user_who_selects_another_cell_updates_it_and_loses_nothing() {
    let config = with_fach(2_000.0, ERROR_FREE);
    let mut bench = Bench::with_users(&config, &[fach_user(&commuter(&config))]);
    for n in 0..1_000 {
        bench.sends(SentPacket { at_ms: 200 * n, ue: 0, id: n, octets: 100 });
    }
    bench.seconds(210);
    assert_eq!(bench.delivered_ids(), (0..1_000).collect::<Vec<_>>(), "all of them, in order");
    let (mut updates, mut since) = (0, None);
    let mut cells: Vec<u16> = Vec::new();
    for (at, event) in &bench.trace {
        match event {
            TraceEvent::CellUpdateStarted { cause, .. } => {
                assert_eq!(*cause, CellUpdateCause::CellReselection);
                (updates, since) = (updates + 1, Some(*at));
            }
            TraceEvent::CellUpdateEnded { .. } => {
                let delay = ConnectionConfig::default().delay;
                assert_eq!(since.take().map(|since| *at - since), Some(delay));
            }
            TraceEvent::IubSent { .. } => assert_eq!(since, None, "nothing leaves during a cell update"),
            TraceEvent::SccpchSent { cell, .. } => cells.push(*cell),
            TraceEvent::RlcReestablished { .. } => panic!("RLC continues"),
            _ => {}
        }
    }
    cells.dedup();
    // There and back, three times in 190 s.
    assert!(updates >= 3 && since.is_none(), "{updates} cell updates");
    assert_eq!(cells.len(), updates + 1, "the FACH of the new cell is used after each: {cells:?}");
}
