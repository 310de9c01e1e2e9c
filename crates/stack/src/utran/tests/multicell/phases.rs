//! The DSCH is scheduled in each frame. TTIs of two frames start with even frames for half of the
//! users and with odd frames for the others. These are the two phases.

use super::*;
use crate::environment::Environment;
use crate::radio::phy::power_control::Load;
use crate::radio::phy::sir::{CHIP_RATE, Link};

fn ms(ms: u64) -> Time {
    Time::ZERO + Duration::from_millis(ms)
}

fn in_phases(mut config: MulticellConfig) -> MulticellConfig {
    config.dsch.decision = Decision::EachFrame;
    config
}

/// Times of a packet that `ue` receives alone.
#[derive(Debug, PartialEq)]
struct PacketTimes {
    grants: Vec<Time>,
    delivery: Time,
}

/// One packet for `ue` at 20 ms with service credits of two blocks per TTI.
fn alone(config: &MulticellConfig, ue: u16) -> PacketTimes {
    let mut bench = Bench::new(config, &[MobilityConfig::Still, MobilityConfig::Still]);
    bench.sends(SentPacket { at_ms: 20, ue, id: 1, octets: 570 });
    bench.seconds(1);
    let granted =
        |(at, event): &(Time, TraceEvent)| matches!(event, TraceEvent::DschGranted { .. }).then_some(*at);
    assert_eq!(bench.grants()[..8], grants_of_two_blocks_per_tti());
    let grants = bench.trace.iter().filter_map(granted).take(8).collect();
    PacketTimes { grants, delivery: bench.delivered[0].at }
}

#[test]
fn a_lone_user_has_the_same_grants_in_its_phase() {
    // Eight successive TTIs of 20 ms. The delivery is at the end of the last one.
    let eight_ttis_from = |first: u64| PacketTimes {
        grants: (0..8).map(|tti| ms(first + 20 * tti)).collect(),
        delivery: ms(first + 8 * 20),
    };
    let config = layout_cells(2.0, ERROR_FREE);
    assert_eq!(alone(&config, 0), eight_ttis_from(20));
    let config = in_phases(config);
    assert_eq!(alone(&config, 0), eight_ttis_from(20));
    assert_eq!(alone(&config, 1), eight_ttis_from(30));
}

/// One user between the centres of cells 0 and 1, a little nearer to 0, and one at the edge of cell 1.
fn neighbours(config: &MulticellConfig) -> [Place; 2] {
    let layout = &config.environment.layout;
    let [here, there] = [CellId(0), CellId(1)].map(|cell| layout.centre(cell));
    let on_the_way = |from: Place, to: Place, share: f64| Place {
        x: from.x + share * (to.x - from.x),
        y: from.y + share * (to.y - from.y),
    };
    [on_the_way(here, there, 0.48), on_the_way(here, there, 1.2)]
}

#[test]
fn tti_starts_with_the_next_frame_if_any_frame_is_allowed() {
    let mut config = layout_cells(2.0, ERROR_FREE);
    config.dsch.decision = Decision::AnyFrame;
    for ue in [0, 1] {
        let mut bench = Bench::new(&config, &[MobilityConfig::Still, MobilityConfig::Still]);
        bench.sends(SentPacket { at_ms: 25, ue, id: 1, octets: 60 });
        bench.seconds(1);
        // The packet arrives at 25 ms. Its TTI lasts from 30 to 50 ms.
        assert_eq!(bench.delivered, [DeliveredPacket { at: ms(50), ue, id: 1 }]);
    }
}

/// Two UEs with the DSCH of a cell each: UE 0 has the DSCH of cell 0 from 20 to 40 ms, UE 1 the DSCH of
/// cell 1 from 30 ms on. The power for UE 0 does not change, so its Eb/N0 falls half-way.
struct TwoNeighbours {
    config: MulticellConfig,
    places: [Place; 2],
    /// Gains from all cells at each place.
    gains: [Vec<f64>; 2],
}

/// Eb/N0 of UE 0 in dB.
struct EbN0 {
    first_frame_db: f64,
    second_frame_db: f64,
    /// Of the linear mean.
    mean_db: f64,
}

impl TwoNeighbours {
    fn new() -> Self {
        let config = in_phases(layout_cells(16.0, ERROR_FREE));
        let places = neighbours(&config);
        let environment = Environment::new(&config.environment, &Streams::new(1, 0));
        let gains = places.map(|place| {
            let mut gains = vec![0.0; environment.cells()];
            environment.gains_at(place, &mut gains);
            gains
        });
        TwoNeighbours { config, places, gains }
    }

    /// The link of UE `ue` from cell `ue` while all other cells send only their pilots.
    fn link(&self, ue: usize) -> Link {
        let others = self.gains[ue].iter().enumerate().filter(|(cell, _)| *cell != ue);
        let interference = others.map(|(_, gain)| gain * self.config.power.common).sum();
        // W/R: chips of a TTI of 20 ms over the bits of 16 blocks.
        let processing = CHIP_RATE * 0.02 / (16.0 * 320.0);
        Link { processing, target: linear(2.25), gain: self.gains[ue][ue], interference }
    }

    /// Eb/N0 = W/R · received power / (interference of the own cell + noise + interference of the
    /// others).
    fn expected_ebn0(&self) -> EbN0 {
        let power_config = &self.config.power;
        let [first_cell, second_cell] = [0, 1].map(|ue| {
            let sent = Load::of(power_config, &self.link(ue)).sent(power_config);
            assert_eq!(sent.factor, 1.0);
            sent
        });
        let link = self.link(0);
        let power = first_cell.power_of(power_config, &link);
        let own_interference = power_config.own_share * (first_cell.total - power) * link.gain;
        // From 30 ms on cell 1 sends more than its pilot.
        let increase = (second_cell.total - power_config.common) * self.gains[0][1];
        let ebn0 = |from_others: f64| {
            link.processing * power * link.gain / (own_interference + power_config.noise + from_others)
        };
        let [first, second] = [ebn0(link.interference), ebn0(link.interference + increase)];
        let db = |linear: f64| 10.0 * libm::log10(linear);
        EbN0 { first_frame_db: db(first), second_frame_db: db(second), mean_db: db((first + second) / 2.0) }
    }

    /// When UE 0 receives its packet. All blocks are lost a tenth of a dB below the threshold, and none
    /// above.
    fn delivery(&self, threshold_db: f64) -> Option<Time> {
        let mut config = self.config.clone();
        let steep: Arc<LinkTable> = LinkTable::logistic(threshold_db, 1000.0).into();
        config.dsch.formats.iter_mut().for_each(|format| format.errors = steep.clone());
        let mut bench = Bench::new(&config, &self.places.map(standing));
        bench.sends(SentPacket { at_ms: 20, ue: 0, id: 1, octets: 570 });
        bench.sends(SentPacket { at_ms: 25, ue: 1, id: 2, octets: 570 });
        bench.seconds(1);
        bench.delivered.iter().find(|packet| packet.ue == 0).map(|packet| packet.at)
    }
}

#[test]
fn losses_follow_the_mean_ebn0_of_both_frames() {
    let cells = TwoNeighbours::new();
    let EbN0 { first_frame_db, second_frame_db, mean_db } = cells.expected_ebn0();
    // Power control reaches the target of 2.25 dB in the first frame.
    assert!((first_frame_db - 2.25).abs() < 1e-9, "{first_frame_db}");
    assert!(second_frame_db < mean_db - 0.2, "{second_frame_db}, {mean_db}");
    assert!(mean_db < first_frame_db - 0.2, "{mean_db}, {first_frame_db}");
    // The mean is above the threshold, although the second frame alone would lose all blocks.
    assert_eq!(cells.delivery(mean_db - 0.1), Some(ms(40)));
    // The mean is below the threshold, although the first frame alone would lose none.
    assert!(cells.delivery(mean_db + 0.1).is_none_or(|at| at > ms(40)));
}

/// 36 cells with `calls` calls each and overloaded DSCHs for `users` users, scheduled as `decision` says.
fn crowd(decision: Decision, control: PowerControl, users: u16, calls: f64) -> Bench {
    let mut config = layout_cells(8.0, 2.25);
    config.dsch.decision = decision;
    config.power.control = control;
    config.environment.propagation.shadowing = ShadowingConfig::default();
    let holding = Duration::from_secs(120);
    config.calls = vec![call_class(offered_calls(calls, Offered::Cell, holding))];
    let mut bench = Bench::new(&config, &vec![MobilityConfig::Still; usize::from(users)]);
    for n in 0..2_000 {
        bench.sends(SentPacket { at_ms: 2 * n, ue: (n * 7 % u64::from(users)) as u16, id: n, octets: 570 });
    }
    bench.seconds(5);
    bench
}

/// A grant whose TTI of two frames has not ended.
struct RunningGrant {
    from: Time,
    cell: u16,
    ue: UeId,
    code: Code,
}

#[test]
fn grants_last_two_frames_within_codes_and_power_of_each() {
    let cases = [
        (Decision::EachFrame, PowerControl::Frame),
        (Decision::EachFrame, PowerControl::Ideal),
        (Decision::EachFrame, PowerControl::Steps),
        (Decision::AnyFrame, PowerControl::Frame),
    ];
    for (decision, control) in cases {
        let bench = crowd(decision, control, 400, 20.0);
        let mut of_other_phase = 0;
        let mut running: Vec<RunningGrant> = Vec::new();
        let (mut held, mut grants) = (0.0, 0);
        for (at, event) in &bench.trace {
            match *event {
                TraceEvent::DschGranted { ue, cell, spreading_factor, code, .. } => {
                    let code = Code { spreading_factor, number: code };
                    of_other_phase += u32::from(at.as_nanos() / 10_000_000 % 2 != u64::from(ue.0 % 2));
                    running.retain(|grant| grant.from + TTI > *at);
                    let beside = running.iter().filter(|grant| grant.cell == cell);
                    // The share of the code tree that codes take is the sum of 1/SF, here at most 1/4.
                    let share: f64 =
                        beside.clone().map(|grant| 1.0 / f64::from(grant.code.spreading_factor)).sum();
                    assert!(share + 1.0 / f64::from(spreading_factor) <= 0.25);
                    assert!(beside.clone().all(|grant| grant.ue != ue && !grant.code.meets(code)));
                    running.push(RunningGrant { from: *at, cell, ue, code });
                    grants += 1;
                }
                TraceEvent::DschHeld { users, codes, .. } => {
                    assert!(users > 0 && codes.0 > 0.0 && codes.0 <= 0.25);
                    held += f64::from(users);
                }
                TraceEvent::CellPower { power, .. } => assert!(power.0 <= 19_953.0),
                _ => {}
            }
        }
        assert!(grants > 2_000, "{grants}");
        assert_eq!(of_other_phase > 0, decision == Decision::AnyFrame, "{of_other_phase}");
        // Each grant lasts for a second frame, except grants that the end of the run cuts off.
        assert!((0.0..100.0).contains(&(f64::from(grants) - held)), "{grants}, {held}");
    }
}

#[test]
fn scheduling_per_frame_is_repeatable() {
    let [first, second] = [(), ()].map(|()| crowd(Decision::EachFrame, PowerControl::Frame, 100, 10.0));
    assert_eq!(first.trace, second.trace);
    assert_eq!(first.delivered, second.delivered);
}

#[test]
fn calls_in_two_phases_lose_one_percent_under_ideal_control() {
    let bench = crowd(Decision::EachFrame, PowerControl::Ideal, 2, 20.0);
    let (mut blocks, mut losses, mut blocks_of_phase) = (0.0, 0.0, [0.0; 2]);
    for (at, event) in &bench.trace {
        if let TraceEvent::CellPower { sent, lost, .. } = event {
            (blocks, losses) = (blocks + f64::from(*sent), losses + f64::from(*lost));
            blocks_of_phase[(at.as_nanos() / 10_000_000 % 2) as usize] += f64::from(*sent);
        }
    }
    // 360,000 blocks: the ratio has a standard deviation of 0.0002.
    assert!(blocks > 300_000.0 && (losses / blocks - 0.01).abs() < 0.001, "{losses} of {blocks}");
    let [even, odd] = blocks_of_phase;
    assert!((even / odd - 1.0).abs() < 0.2, "half of the calls in each phase: {even}, {odd}");
}

#[test]
fn handover_between_phases_loses_nothing() {
    for (ue, decision) in [(0, Decision::EachFrame), (1, Decision::EachFrame), (0, Decision::AnyFrame)] {
        let mut config = layout_cells(4.0, ERROR_FREE);
        config.dsch.decision = decision;
        let mobility = commuter(&config);
        let mut bench = Bench::new(&config, &[mobility.clone(), mobility]);
        for n in 0..2_000 {
            bench.sends(SentPacket { at_ms: 100 * n, ue, id: n, octets: 570 });
        }
        bench.seconds(240);
        assert!(bench.handovers().len() >= 3, "{:?}", bench.handovers());
        assert_eq!(bench.delivered_ids(), (0..2_000).collect::<Vec<_>>(), "all of them, in order");
    }
}
