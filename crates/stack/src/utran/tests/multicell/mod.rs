//! Tests of the cells of a layout, which share a carrier and interfere: grants on DSCHs, handovers,
//! calls, DCH bearers, FACH, switched users. A [`Bench`] has the cells and their UEs, from the packets
//! that enter RLC at the RNC to the packets that RLC delivers at the UE.

mod dch_bearers;
mod dedicated;
mod e_dch;
mod fach;
mod handover;
mod phases;
mod switched;

use std::sync::Arc;

use umts_kernel::EventQueue;
use umts_kernel::random::Streams;
use umts_units::{Bytes, Db, Duration, Erlang, Time};

use crate::EventContext;
use crate::environment::{
    Border, EnvironmentConfig, Layout, MobilityConfig, Place, PropagationConfig, ShadowingConfig, Track,
};
use crate::event::Event;
use crate::ids::{CellId, Direction, PacketId, UeId};
use crate::nodeb::{Iub, IubTiming};
use crate::packet::{Content, Packet};
use crate::radio::mac::PowerFormat;
use crate::radio::mac::{Channel, TransportFormat};
use crate::radio::pdcp::PdcpConfig;
use crate::radio::phy::ovsf::Code;
use crate::radio::phy::power_control::{OuterLoopConfig, PowerConfig, PowerControl};
use crate::radio::phy::{ErrorModel, LinkTable};
use crate::radio::rlc::RlcConfig;
use crate::rnc::calls::{CallsConfig, Offered};
use crate::rnc::mac_sh::{Decision, MacShConfig, RatePolicy};
use crate::rnc::multicell::{
    BufferAtHandover, CallClassConfig, DchConfig, HandoverConfig, MulticellConfig, RlcAtHandover,
};
use crate::rnc::rrc::ConnectionConfig;
use crate::rnc::{Limits, Reserved};
use crate::scheduling::{
    Accrual, CreditConfig, Debit, Expired, LooksAt, QosConfig, SchedulerKind, TimeoutConfig,
};
use crate::trace::{Real, TraceEvent};
use crate::ue::{ChannelConfig, UeConfig};
use crate::utran::{CellConfig, FachMode, RachMode, Utran};

const TTI: Duration = Duration::from_millis(20);

fn linear(db: f64) -> f64 {
    libm::exp10(db / 10.0)
}

/// The 36 cells of Rendón et al. (2004), in a torus without shadowing. `guaranteed_blocks`: service
/// credit of a DSCH user per TTI, in blocks. The DSCH loses 1 % of the blocks at an Eb/N0 of
/// `target_db`.
fn layout_cells(guaranteed_blocks: f64, target_db: f64) -> MulticellConfig {
    let format = |(blocks, spreading_factor)| PowerFormat {
        blocks,
        spreading_factor,
        target: linear(2.25),
        errors: Arc::new(LinkTable::logistic(target_db, 2.5)),
    };
    let formats = [(1, 128), (2, 64), (4, 32), (8, 16), (12, 8), (16, 8)];
    MulticellConfig {
        environment: EnvironmentConfig {
            layout: Layout::lattice([3, 4], 500.0, Border::Torus, None),
            propagation: PropagationConfig {
                shadowing: ShadowingConfig { deviation: Db(0.0), ..ShadowingConfig::default() },
                ..PropagationConfig::default()
            },
        },
        power: PowerConfig::default(),
        dsch: MacShConfig {
            tti: TTI,
            decision: Decision::EachTti,
            block: Bytes(40),
            formats: formats.map(format).into(),
            codes: Code { spreading_factor: 4, number: 3 },
            requirement: RatePolicy::ServiceCredit,
            priority: SchedulerKind::ServiceCredit,
            capped_by_backlog: false,
            credit: CreditConfig {
                per_tti: guaranteed_blocks,
                max_blocks: f64::max(16.0, 2.0 * guaranteed_blocks),
                accrues: Accrual::Backlogged,
                debit: Debit::Sent,
            },
            timeout: TimeoutConfig {
                timeout: Duration::from_millis(300),
                of_size: Some(Bytes(570)),
                expired: Expired::Largest,
                looks_at: LooksAt::All,
            },
            mean_over: Duration::from_secs(1),
        },
        handover: HandoverConfig::default(),
        dch: DchConfig::default(),
        admission_power: None,
        sccpch: None,
        hs_dsch: None,
        calls: Vec::new(),
    }
}

fn offered_calls(offered: f64, per: Offered, holding: Duration) -> CallsConfig {
    let offered = Erlang::new(offered).expect("it is not negative");
    CallsConfig { offered, per, holding, ..CallsConfig::default() }
}

/// A class of calls that do not move. They lose 1 % of the blocks at an Eb/N0 of 2.25 dB.
fn call_class(calls: CallsConfig) -> CallClassConfig {
    let (target, errors) = (linear(2.25), LinkTable::logistic(2.25, 2.5).into());
    CallClassConfig { calls, mobility: MobilityConfig::Still, target, errors }
}

/// A UE that stands at `place`. With `MobilityConfig::Still` the place would be random.
fn standing(place: Place) -> MobilityConfig {
    let day = Duration::from_secs(86_400);
    MobilityConfig::Track(
        Track::new(&[(Duration::ZERO, place), (day, place)]).expect("its times rise").into(),
    )
}

/// A UE that moves from the centre of cell 0 to the centre of cell 1 and back, again and again, at 50
/// km/h. One way takes 63 s.
fn commuter(config: &MulticellConfig) -> MobilityConfig {
    let layout = &config.environment.layout;
    let (here, there) = (layout.centre(CellId(0)), layout.centre(CellId(1)));
    let points = (0..20).map(|n| {
        let at = Duration::from_millis(63_000) * n;
        (at, if n % 2 == 0 { here } else { there })
    });
    let track = Track::new(&points.collect::<Vec<_>>()).expect("its times rise");
    MobilityConfig::Track(track.into())
}

/// `target_db` of [`layout_cells`] at which no block is lost.
const ERROR_FREE: f64 = -30.0;

/// A packet that enters RLC at the RNC.
struct SentPacket {
    at_ms: u64,
    ue: u16,
    id: u64,
    octets: u32,
}

/// A packet that RLC delivers at the UE.
#[derive(Debug, Clone, PartialEq)]
struct DeliveredPacket {
    at: Time,
    ue: u16,
    id: u64,
}

/// A grant on a DSCH.
#[derive(Debug, Clone, Copy, PartialEq)]
struct DschGrant {
    sent_blocks: u8,
    spreading_factor: u16,
}

/// A handover of a UE between two cells.
#[derive(Debug, Clone, Copy, PartialEq)]
struct CellChange {
    at: Time,
    from: u16,
    to: u16,
}

/// Cells, users and recorded events.
struct Bench {
    access: Utran,
    agenda: EventQueue<Event>,
    trace: Vec<(Time, TraceEvent)>,
    delivered: Vec<DeliveredPacket>,
}

/// A channel of a user with up to `blocks` blocks in a TTI.
fn channel(channel: Channel, blocks: u32) -> ChannelConfig {
    ChannelConfig {
        channel,
        number: 0,
        scheduler: SchedulerKind::default(),
        format: TransportFormat::up_to(blocks, TTI),
        block_bits: 336,
    }
}

/// A user of a DSCH.
fn dsch_user(mobility: &MobilityConfig) -> UeConfig {
    UeConfig {
        cell: 0,
        mobility: Some(mobility.clone()),
        qos: QosConfig::default(),
        pdcp: PdcpConfig::default(),
        rlc: Arc::new(RlcConfig { max_dat: None, buffer: None, ..RlcConfig::default() }),
        wire_mode: false,
        channels: [channel(Channel::Dsch, 16), channel(Channel::Dch, 4)],
        hs_dsch: None,
        e_dch: None,
        dchs: Vec::new(),
        connection: ConnectionConfig::default().into(),
        switching: None,
        errors: [ErrorModel::ErrorFree, ErrorModel::ErrorFree],
        substitute: None,
    }
}

impl Bench {
    fn new(config: &MulticellConfig, mobilities: &[MobilityConfig]) -> Self {
        let ues: Vec<_> = mobilities.iter().map(dsch_user).collect();
        Bench::with_users(config, &ues)
    }

    fn with_users(config: &MulticellConfig, ues: &[UeConfig]) -> Self {
        Bench::with_limits(config, ues, &Limits::default())
    }

    fn with_limits(config: &MulticellConfig, ues: &[UeConfig], limits: &Limits) -> Self {
        let lead = Duration::ZERO;
        let iub = Iub { rate: None, delay: Duration::ZERO, timing: IubTiming::JustInTime, lead };
        let cell = CellConfig {
            iub,
            fach: FachMode::Pull,
            rach: RachMode::Shared,
            limits: *limits,
            reserved: Reserved::default(),
            hs_dsch: Arc::default(),
            e_dch: Arc::default(),
            tdd: None,
        };
        let cells = vec![cell; config.environment.layout.cells()];
        let mut access = Utran::new(&cells, Some(config), ues, &Streams::new(1, 0));
        let mut agenda = EventQueue::new();
        access.start(&mut agenda);
        Bench { access, agenda, trace: Vec::new(), delivered: Vec::new() }
    }

    /// Handles the events before `at_ms`, then a packet for the UE enters RLC.
    fn sends(&mut self, packet: SentPacket) {
        self.enters(packet, Direction::Downlink);
    }

    /// Handles the events before `at_ms`, then a packet enters RLC: at the RNC for the downlink, at the UE for
    /// the uplink.
    fn enters(&mut self, packet: SentPacket, direction: Direction) {
        let SentPacket { at_ms, ue, id, octets } = packet;
        let at = Time::ZERO + Duration::from_millis(at_ms);
        self.until(at);
        let mut packet =
            Packet { id: PacketId(id), ue: UeId(ue), ..crate::radio::rlc::testing::packet(id, octets) };
        if let Content::Segment(segment) = &mut packet.content {
            segment.direction = direction;
        }
        let mut ctx = EventContext::new(at, &mut self.trace, &mut self.agenda);
        self.access.enter(&mut ctx, &packet);
    }

    /// Handles the events before `end`.
    fn until(&mut self, end: Time) {
        while self.agenda.next_time().is_some_and(|at| at < end) {
            let (now, event) = self.agenda.pop().expect("it was seen");
            let mut ctx = EventContext::new(now, &mut self.trace, &mut self.agenda);
            match event {
                Event::MacTimeout(id, timer) => self.access.mac_timeout(&mut ctx, id, timer),
                Event::RlcWake(ue, direction) => self.access.rlc_wake(&mut ctx, ue, direction),
                Event::ConnectionWake(ue) => self.access.connection_wake(&mut ctx, ue),
                Event::RrcWake(ue) => self.access.rrc_wake(&mut ctx, ue),
                Event::CellWake(cell) => self.access.cell_wake(&mut ctx, cell),
                Event::CellOpens(cell) => self.access.cell_opens(&mut ctx, cell),
                Event::BlocksArrive(transmission) => {
                    let transmission = self.access.receive(transmission);
                    for sent in transmission.sets() {
                        assert!(self.access.deliver(&mut ctx, &transmission, sent).is_some());
                        while let Some(packet) = self.access.next_sdu(sent.ue, transmission.direction) {
                            let (ue, id) = (packet.ue.0, packet.id.0);
                            self.delivered.push(DeliveredPacket { at: now, ue, id });
                        }
                        self.access.finish_delivery(&mut ctx, sent.ue, transmission.direction);
                    }
                }
                other => panic!("{other:?} is not of these cells"),
            }
        }
    }

    /// Handles the events of the first `seconds` seconds.
    fn seconds(&mut self, seconds: u64) {
        self.until(Time::ZERO + Duration::from_secs(seconds));
    }

    /// Grants on all DSCHs in order.
    fn grants(&self) -> Vec<DschGrant> {
        let grant = |(_, event): &(Time, TraceEvent)| match *event {
            TraceEvent::DschGranted { sent, spreading_factor, .. } => {
                Some(DschGrant { sent_blocks: sent, spreading_factor })
            }
            _ => None,
        };
        self.trace.iter().filter_map(grant).collect()
    }

    fn handovers(&self) -> Vec<CellChange> {
        let cell_change = |&(at, event): &(Time, TraceEvent)| match event {
            TraceEvent::Handover { from, to, .. } => Some(CellChange { at, from, to }),
            _ => None,
        };
        self.trace.iter().filter_map(cell_change).collect()
    }

    /// Ids of the delivered packets in order.
    fn delivered_ids(&self) -> Vec<u64> {
        self.delivered.iter().map(|packet| packet.id).collect()
    }
}

/// Grants of a packet of 570 octets with service credits of two blocks per TTI: 15 blocks at a spreading
/// factor of 64, the format of two blocks.
fn grants_of_two_blocks_per_tti() -> [DschGrant; 8] {
    [2, 2, 2, 2, 2, 2, 2, 1].map(|sent_blocks| DschGrant { sent_blocks, spreading_factor: 64 })
}

#[test]
fn credits_send_a_packet_in_eight_ttis() {
    let mut bench = Bench::new(&layout_cells(2.0, ERROR_FREE), &[MobilityConfig::Still]);
    bench.sends(SentPacket { at_ms: 20, ue: 0, id: 1, octets: 570 });
    bench.seconds(1);
    assert_eq!(bench.grants()[..8], grants_of_two_blocks_per_tti());
    // The packet enters at 20 ms, before the MAC schedules the TTI that starts then. It takes eight
    // TTIs, and the Iub has no delay.
    let at = Time::ZERO + Duration::from_millis(20 + 8 * 20);
    assert_eq!(bench.delivered[0], DeliveredPacket { at, ue: 0, id: 1 });
}

/// 160 octets fill four blocks of 40, and a fifth block has the length indicator of their end. A scheduler
/// that counts four blocks sends the fifth one too late.
#[test]
fn timeout_scheduler_counts_the_length_indicator() {
    let mut config = layout_cells(2.0, ERROR_FREE);
    config.dsch.requirement = RatePolicy::Timeout;
    config.dsch.priority = SchedulerKind::Timeout;
    // 28 ms for 160 of 570 octets: one TTI.
    config.dsch.timeout.timeout = Duration::from_millis(100);
    let mut bench = Bench::new(&config, &[MobilityConfig::Still]);
    for n in 0..10 {
        bench.sends(SentPacket { at_ms: 20 + 200 * n, ue: 0, id: n, octets: 160 });
    }
    bench.seconds(3);
    assert_eq!(bench.delivered_ids(), (0..10).collect::<Vec<_>>());
    for &DeliveredPacket { at, id, .. } in &bench.delivered {
        let sent = Time::ZERO + Duration::from_millis(20 + 200 * id);
        assert!(at - sent <= Duration::from_millis(28), "packet {id} took {}", at - sent);
    }
    // The formats with a spreading factor of 8 are the largest ones.
    let is_largest_format = |grant: &DschGrant| grant.spreading_factor == 8;
    assert!(!bench.grants().iter().any(is_largest_format), "{:?}", bench.grants());
}

/// Averages over all cells and TTIs of a run with calls.
struct CallAverages {
    load: f64,
    block_error_ratio: f64,
}

/// Cells with calls and without DSCH users.
fn calls_alone(control: PowerControl, seconds: u64) -> CallAverages {
    let mut config = layout_cells(4.0, ERROR_FREE);
    config.power.control = control;
    config.environment.propagation.shadowing = ShadowingConfig::default();
    let calls = offered_calls(24.0, Offered::Cell, Duration::from_secs(120));
    config.calls = vec![call_class(calls)];
    let mut bench = Bench::new(&config, &[]);
    bench.seconds(seconds);
    call_averages(&bench.trace)
}

fn call_averages(trace: &[(Time, TraceEvent)]) -> CallAverages {
    let (mut sum_of_loads, mut ttis) = (0.0, 0.0);
    let (mut sent_blocks, mut lost_blocks) = (0.0, 0.0);
    for (_, event) in trace {
        if let TraceEvent::CellPower { load: Real(load), sent, lost, .. } = event {
            sum_of_loads += f64::from(*load);
            ttis += 1.0;
            sent_blocks += f64::from(*sent);
            lost_blocks += f64::from(*lost);
        }
    }
    CallAverages { load: sum_of_loads / ttis, block_error_ratio: lost_blocks / sent_blocks }
}

#[test]
fn ideal_control_holds_one_percent_of_losses() {
    let CallAverages { load, block_error_ratio } = calls_alone(PowerControl::Ideal, 60);
    // Calls are long, so even the mean number of calls in 36 cells has a deviation of 3 %. The load
    // changes more than in proportion to it.
    assert!((0.70..0.92).contains(&load), "{load}");
    // 5 million blocks. Saturated cells lose more, but there are few.
    assert!((0.0097..0.0125).contains(&block_error_ratio), "{block_error_ratio}");
}

#[test]
fn control_in_steps_stays_near_the_target() {
    let CallAverages { load, block_error_ratio } = calls_alone(PowerControl::Steps, 6);
    // Steps of 1 dB, one slot late: the power is sometimes a little too high and sometimes too low.
    // The Eb/N0 is averaged over the thirty slots of a TTI.
    assert!((0.65..0.95).contains(&load), "{load}");
    assert!((0.003..0.03).contains(&block_error_ratio), "{block_error_ratio}");
}

/// With too many calls, power control in steps would raise the powers for ever. A cell never sends more
/// than 43 dBm, 19,953 mW.
#[test]
fn calls_out_of_reach_do_not_exceed_the_power_limit() {
    let mut config = layout_cells(4.0, ERROR_FREE);
    config.power.control = PowerControl::Steps;
    config.environment.propagation.shadowing = ShadowingConfig::default();
    let holding = Duration::from_secs(120);
    config.calls = vec![call_class(offered_calls(45.0, Offered::Cell, holding))];
    let mut bench = Bench::new(&config, &[]);
    bench.seconds(4);
    // Cells and TTIs in all, and with nearly the maximum power.
    let (mut limited, mut ttis) = (0, 0);
    for (_, event) in &bench.trace {
        if let TraceEvent::CellPower { power: Real(power), load: Real(load), .. } = event {
            assert!(power.is_finite() && load.is_finite() && *power <= 19_953.0, "{event:?}");
            limited += u32::from(*power > 19_900.0);
            ttis += 1;
        }
    }
    assert!(limited > ttis / 4, "the network is overloaded: {limited} of {ttis}");
}

/// Each cell sets its powers with the interference of the previous TTI, so bursts of other cells' DSCH
/// users cause losses above the 1 % of the targets. The outer loop of calls moves the targets until 1 %
/// is reached.
#[test]
fn outer_loop_holds_one_percent_despite_late_powers() {
    let run_with = |outer_loop| {
        let mut config = layout_cells(16.0, 2.25);
        config.power.outer_loop = outer_loop;
        let calls = offered_calls(20.0, Offered::Cell, Duration::from_secs(600));
        config.calls = vec![call_class(calls)];
        config.environment.propagation.shadowing = ShadowingConfig::default();
        let mut bench = Bench::new(&config, &vec![MobilityConfig::Still; 36]);
        for n in 0..9_000 {
            bench.sends(SentPacket { at_ms: 10 * n, ue: (n % 36) as u16, id: n, octets: 570 });
        }
        bench.seconds(90);
        // The first 30 s are left out, in which the outer loop finds the targets.
        let steady = bench.trace.partition_point(|(at, _)| at.as_secs() <= 30.0);
        call_averages(&bench.trace[steady..]).block_error_ratio
    };
    let fixed_targets = run_with(None);
    let outer_loop = run_with(Some(OuterLoopConfig { up_db: 0.5, ratio: 0.01 }));
    assert!(
        fixed_targets > 1.02 * outer_loop,
        "losses by bursts of other users are compensated: {fixed_targets}, {outer_loop}"
    );
    // 4.3 million blocks.
    assert!((outer_loop - 0.01).abs() < 0.0004, "{outer_loop}");
}

#[test]
fn calls_do_not_depend_on_the_scheduler() {
    let calls_and_grants = |per_tti: f64| {
        let mut config = layout_cells(per_tti, 2.25);
        let calls = offered_calls(5.0, Offered::Cell, Duration::from_secs(10));
        config.calls = vec![call_class(calls)];
        let mut bench = Bench::new(&config, &[MobilityConfig::Still, MobilityConfig::Still]);
        for n in 0..200 {
            bench.sends(SentPacket { at_ms: 50 * n, ue: (n % 2) as u16, id: n, octets: 570 });
        }
        bench.seconds(12);
        let calls = bench.trace.iter().filter_map(|(_, event)| match event {
            TraceEvent::CellPower { cell, calls, .. } => Some((*cell, *calls)),
            _ => None,
        });
        (calls.collect::<Vec<_>>(), bench.grants())
    };
    let (calls_with_low_credit, grants_with_low_credit) = calls_and_grants(1.0);
    let (calls_with_high_credit, grants_with_high_credit) = calls_and_grants(16.0);
    assert_eq!(calls_with_low_credit, calls_with_high_credit);
    assert_ne!(grants_with_low_credit, grants_with_high_credit);
}
