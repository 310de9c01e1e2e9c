//! All transitions between RRC states with their delays, and the orders that they cause.

use umts_kernel::NoTrace;
use umts_units::{BitRate, Bytes, Probability};

use super::*;

mod failure;

/// RRC of one UE with a clock. Requests for a DCH are answered with `answer`.
struct Bench {
    rrc: Rrc,
    now: Time,
    measured: Measured,
    /// Orders with their times in ms.
    orders: Vec<(u64, Order)>,
    /// Answer of admission to the next requests.
    answer: Answer,
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn rate(kbps: u64) -> BitRate {
    BitRate::from_bps(kbps * 1000).unwrap()
}

/// A bearer with 64 kbit/s in the uplink.
fn dch(downlink: u64) -> DchRates {
    DchRates { rates: [rate(downlink), rate(64)], is_hs_dsch: false, is_e_dch: false }
}

/// All delays differ, so that a test detects which one was used.
fn config() -> RrcConfig {
    RrcConfig {
        dch_rates: vec![dch(384), dch(64)],
        upswitch_threshold_uplink: Some(Bytes(200)),
        inactivity: ms(2000),
        preemptive_inactivity: ms(4000),
        fach_inactivity: Some(ms(12_000)),
        cell_pch_inactivity: Some(ms(60_000)),
        ura_pch_inactivity: Some(ms(600_000)),
        fach_to_dch: ms(901),
        dch_to_fach: ms(502),
        dch_to_dch: ms(403),
        pch_to_fach: ms(304),
        pch_to_dch: ms(1205),
        idle_to_fach: ms(606),
        idle_to_dch: ms(2007),
        fach_to_pch: ms(108),
        paging_cycle: Duration::ZERO,
        ..RrcConfig::default()
    }
}

const FREE: Answer = Answer::Granted { dch: 0, after: Duration::ZERO };

impl Bench {
    fn new(config: RrcConfig) -> Self {
        let rrc = Rrc::new(UeId(0), Arc::new(config));
        let measured = Measured { buffered: [Bytes(0); 2], active_until: Time::ZERO, carried: [0; 2] };
        let mut bench = Bench { rrc, now: Time::ZERO, measured, orders: Vec::new(), answer: FREE };
        bench.rrc.handle_start(&mut Context::new(bench.now, &mut NoTrace), measured);
        bench.take_orders();
        bench
    }

    fn take_orders(&mut self) {
        while let Some(order) = self.rrc.poll_order() {
            self.orders.push((self.now.as_nanos() / 1_000_000, order));
            if let Order::RequestDch { .. } = order {
                let answer = self.answer;
                self.rrc.handle_answer(&mut Context::new(self.now, &mut NoTrace), answer);
            }
        }
    }

    /// Advances the time to `ms` and handles each timer when it expires.
    fn until(&mut self, ms: u64) -> &mut Self {
        let end = Time::ZERO + Duration::from_millis(ms);
        while let Some(at) = self.rrc.poll_timeout().filter(|&at| at <= end) {
            assert!(at >= self.now, "a timer expired in the past");
            self.now = at;
            let measured = self.measured;
            self.rrc.handle_timeout(&mut Context::new(self.now, &mut NoTrace), measured);
            self.take_orders();
        }
        self.now = end;
        self
    }

    /// Sets the octets in the RLC buffers.
    fn buffers(&mut self, downlink: u64, uplink: u64) -> &mut Self {
        self.measured.buffered = [Bytes(downlink), Bytes(uplink)];
        let measured = self.measured;
        self.rrc.handle_buffers(&mut Context::new(self.now, &mut NoTrace), measured);
        self.take_orders();
        self
    }

    /// A block was sent just now.
    fn active(&mut self) -> &mut Self {
        self.measured.active_until = self.now;
        self
    }

    /// Brings the UE into CELL_DCH at 901 ms, with nothing left to send.
    fn on_dch(&mut self) -> &mut Self {
        self.buffers(501, 0).until(901).buffers(0, 0).active();
        assert_eq!(self.rrc.state(), Some(RrcState::CellDch));
        self.orders.clear();
        self
    }

    fn state(&self) -> Option<RrcState> {
        self.rrc.state()
    }

    /// Asserts that a switch to `state` ends at `at` ms.
    fn enters(&mut self, state: RrcState, at: u64) -> &mut Self {
        self.until(at - 1);
        assert_eq!(self.state(), None, "at {} ms", at - 1);
        self.until(at);
        assert_eq!(self.state(), Some(state), "at {at} ms");
        self
    }
}

#[test]
fn the_buffer_must_exceed_its_threshold_in_either_direction() {
    for (downlink, uplink, requests_dch) in [(500, 200, false), (501, 0, true), (0, 201, true)] {
        let mut bench = Bench::new(config());
        bench.buffers(downlink, uplink);
        assert_eq!(bench.state().is_none(), requests_dch, "{downlink} and {uplink} octets");
    }
    let mut uplink_off = config();
    uplink_off.upswitch_threshold_uplink = None;
    let mut bench = Bench::new(uplink_off);
    bench.buffers(0, 1_000_000);
    assert_eq!(bench.state(), Some(RrcState::CellFach));
}

#[test]
fn nothing_is_sent_from_the_decision_to_the_new_channel() {
    let mut bench = Bench::new(config());
    bench.until(100).buffers(501, 0).enters(RrcState::CellDch, 1001);
    let orders: Vec<_> = bench.orders.iter().skip(1).copied().collect();
    let request = Order::RequestDch { instead_of: None };
    assert_eq!(orders, [(100, request), (100, Order::Suspend), (1001, Order::UseDch(0))]);
    // No block is sent from 1001 ms on. Both timers (2 s and 4 s) and the release (502 ms) end at
    // 7503 ms.
    bench.buffers(0, 0).active().until(7000).orders.clear();
    bench.enters(RrcState::CellFach, 7503);
    let [(_, first), release, use_common] = bench.orders[..] else { panic!("{:?}", bench.orders) };
    assert_eq!(first, Order::Suspend);
    assert_eq!((release, use_common), ((7503, Order::ReleaseDch), (7503, Order::UseCommon)));
}

#[test]
fn data_continue_on_the_old_channel_if_configured() {
    let mut bench = Bench::new(RrcConfig { data_while_switching: DataWhileSwitching::Continues, ..config() });
    bench.buffers(501, 0).until(901).buffers(0, 0).active().until(8000);
    assert_eq!(bench.state(), Some(RrcState::CellFach));
    assert!(bench.orders.iter().all(|(_, order)| *order != Order::Suspend), "{:?}", bench.orders);
    // A switch to a state without a channel suspends the UE.
    bench.until(60_000);
    assert!(bench.orders.iter().any(|(_, order)| *order == Order::Suspend));
}

#[test]
fn rlc_is_reestablished_where_configured_and_after_idle_mode() {
    let reestablishments = |config: RrcConfig| {
        let mut bench = Bench::new(config);
        bench.buffers(501, 0).until(901).buffers(0, 0).active().until(10_000);
        bench.orders.iter().filter(|(_, order)| *order == Order::Reestablish).count()
    };
    assert_eq!(reestablishments(config()), 0);
    assert_eq!(reestablishments(RrcConfig { rlc_at_switch: RlcAtSwitch::Reestablished, ..config() }), 2);
    let mut bench = Bench::new(config());
    bench.until(800_000);
    assert_eq!(bench.state(), Some(RrcState::Idle));
    assert_eq!(bench.orders.iter().filter(|(_, order)| *order == Order::Reestablish).count(), 1);
}

#[test]
fn any_block_restarts_the_inactivity_timer() {
    let mut bench = Bench::new(config());
    bench.on_dch().until(6900).active().until(12_899);
    assert_eq!(bench.state(), Some(RrcState::CellDch));
    bench.until(12_900);
    assert_eq!(bench.state(), None);
}

#[test]
fn a_dch_can_be_preempted_only_after_the_inactivity_timer() {
    let mut bench = Bench::new(config());
    bench.on_dch();
    let active_until = bench.measured.active_until;
    assert!(bench.rrc.gives_unused_dch());
    let from = bench.rrc.dch_used_until(active_until).unwrap();
    assert!(from > Time::ZERO + ms(2901) && from < Time::ZERO + ms(2902), "{from}");
    bench.until(3000);
    bench.rrc.handle_preemption(&mut Context::new(bench.now, &mut NoTrace));
    bench.take_orders();
    assert_eq!(bench.rrc.dch_used_until(active_until), None, "it can be preempted only once");
    bench.enters(RrcState::CellFach, 3502);
    let mut never = config();
    never.preemptive_inactivity = Duration::ZERO;
    let mut bench = Bench::new(never);
    bench.on_dch();
    assert!(!bench.rrc.gives_unused_dch());
}

#[test]
fn allocation_after_a_release_takes_the_time_of_both_switches() {
    let mut bench = Bench::new(config());
    bench.answer = Answer::Granted { dch: 1, after: ms(502) };
    bench.buffers(501, 0).enters(RrcState::CellDch, 1403);
    assert_eq!(bench.orders.last(), Some(&(1403, Order::UseDch(1))));
}

#[test]
fn a_refused_ue_stays_on_the_common_channels_and_repeats_its_request() {
    let mut bench = Bench::new(config());
    bench.answer = Answer::Refused;
    bench.buffers(501, 0).until(600);
    let requests = |bench: &Bench| {
        let all = bench.orders.iter().filter(|(_, order)| matches!(order, Order::RequestDch { .. }));
        all.map(|(at, _)| *at).collect::<Vec<_>>()
    };
    assert_eq!(requests(&bench), [0, 250, 500]);
    assert_eq!(bench.state(), Some(RrcState::CellFach));
    assert!(bench.orders.iter().all(|(_, order)| *order != Order::Suspend));
    // The buffer falls below the threshold before the next request at 750 ms, and exceeds it again
    // at 2000 ms.
    bench.buffers(400, 0).until(2000);
    assert_eq!(requests(&bench), [0, 250, 500]);
    bench.answer = FREE;
    bench.buffers(600, 0);
    assert_eq!(requests(&bench).last(), Some(&2000));
    assert_eq!(bench.state(), None);
}

#[test]
fn a_queued_ue_waits_for_the_answer_and_withdraws_when_its_buffer_empties() {
    let mut bench = Bench::new(config());
    bench.answer = Answer::Queued;
    bench.buffers(501, 0).until(5000);
    assert_eq!(bench.orders.len(), 2, "there is no second request: {:?}", bench.orders);
    bench.rrc.handle_answer(&mut Context::new(bench.now, &mut NoTrace), FREE);
    bench.take_orders();
    bench.enters(RrcState::CellDch, 5901);

    let mut bench = Bench::new(config());
    bench.answer = Answer::Queued;
    bench.buffers(501, 0).until(5000).buffers(0, 0);
    assert_eq!(bench.orders.last(), Some(&(5000, Order::Withdraw)));
}

#[test]
fn the_need_must_last_for_the_time_to_trigger() {
    let mut lasting = config();
    lasting.time_to_trigger = ms(100);
    let mut bench = Bench::new(lasting);
    bench.until(10).buffers(501, 0).until(109).buffers(500, 0).until(109).buffers(501, 0).until(208);
    assert_eq!(bench.state(), Some(RrcState::CellFach));
    bench.until(209);
    assert_eq!(bench.state(), None);
}

#[test]
fn traffic_volume_is_measured_at_multiples_of_the_interval() {
    let mut sampled = config();
    sampled.measurement_interval = ms(10);
    let mut bench = Bench::new(sampled);
    bench.until(13).buffers(501, 0).until(19);
    assert_eq!(bench.state(), Some(RrcState::CellFach));
    bench.until(20);
    assert_eq!(bench.state(), None);
}

#[test]
fn timers_lead_down_state_by_state() {
    let mut bench = Bench::new(config());
    bench.until(11_999);
    assert_eq!(bench.state(), Some(RrcState::CellFach));
    bench.enters(RrcState::CellPch, 12_108).until(72_107);
    assert_eq!(bench.state(), Some(RrcState::CellPch));
    bench.until(72_108);
    assert_eq!(bench.state(), Some(RrcState::UraPch), "the switch from CELL_PCH to URA_PCH takes no time");
    bench.until(672_108);
    assert_eq!(bench.state(), Some(RrcState::Idle));
    assert_eq!(bench.rrc.poll_timeout(), None, "an idle UE has no timer");
}

#[test]
fn a_ue_that_waits_on_the_common_channels_is_not_inactive() {
    let mut bench = Bench::new(config());
    bench.buffers(100, 0).until(50_000);
    assert_eq!(bench.state(), Some(RrcState::CellFach));
}

#[test]
fn uplink_data_promotes_at_once_and_downlink_data_at_the_paging_occasion() {
    for (initial, delay) in
        [(RestingState::CellPch, 304), (RestingState::UraPch, 304), (RestingState::Idle, 606)]
    {
        let paged = RrcConfig { initial_state: initial, paging_cycle: ms(640), ..config() };
        let mut bench = Bench::new(paged.clone());
        bench.until(100).buffers(0, 1).enters(RrcState::CellFach, 100 + delay);
        let mut bench = Bench::new(paged);
        bench.until(100).buffers(1, 0).until(639);
        assert_eq!(bench.state(), Some(initial.into()), "not yet paged");
        bench.enters(RrcState::CellFach, 640 + delay);
    }
}

#[test]
fn paging_occasions_of_ues_differ() {
    let at = |ue| {
        let config = RrcConfig { initial_state: RestingState::Idle, paging_cycle: ms(640), ..config() };
        let rrc = Rrc::new(UeId(ue), Arc::new(config));
        (rrc.paging_occasion(Time::ZERO + ms(1)), rrc.paging_occasion(Time::ZERO + ms(1000)))
    };
    let (first, second) = at(1);
    // UE 1 listens in frame 37 of each cycle of 64 frames.
    assert_eq!((first, second), (Time::ZERO + ms(370), Time::ZERO + ms(370 + 640)));
    assert_ne!(at(2).0, first);
    // An occasion at the current time is used.
    let config = RrcConfig { paging_cycle: ms(640), ..config() };
    assert_eq!(Rrc::new(UeId(1), Arc::new(config)).paging_occasion(first), first);
}

#[test]
fn promotion_may_lead_to_a_dch_and_falls_back_to_the_common_channels() {
    for (initial, delay) in [(RestingState::CellPch, 1205), (RestingState::Idle, 2007)] {
        let direct = RrcConfig { initial_state: initial, promotion: Promotion::CellDch, ..config() };
        Bench::new(direct.clone()).buffers(0, 1).enters(RrcState::CellDch, delay);
        let common = if initial == RestingState::Idle { 606 } else { 304 };
        for answer in [Answer::Refused, Answer::Queued] {
            let mut bench = Bench::new(direct.clone());
            bench.answer = answer;
            bench.buffers(0, 1).enters(RrcState::CellFach, common);
            let withdrawn = bench.orders.iter().any(|(_, order)| *order == Order::Withdraw);
            assert_eq!(withdrawn, answer == Answer::Queued);
        }
    }
}

#[test]
fn data_during_a_release_requests_a_dch_when_the_release_ends() {
    let mut bench = Bench::new(config());
    bench.on_dch().until(7000).buffers(501, 0).until(7402);
    bench.orders.clear();
    bench.enters(RrcState::CellDch, 7403 + 901);
    let request = Order::RequestDch { instead_of: None };
    let orders = [Order::ReleaseDch, Order::UseCommon, request, Order::Suspend].map(|order| (7403, order));
    assert_eq!(bench.orders[..4], orders);
}

#[test]
fn larger_dch_is_requested_and_low_utilisation_leads_to_a_smaller_one() {
    let mut bench = Bench::new(RrcConfig {
        rate_upswitch_threshold: Some(Bytes(1000)),
        rate_downswitch_utilisation: Probability::new(0.5),
        rate_downswitch_window: ms(1000),
        ..config()
    });
    bench.answer = Answer::Granted { dch: 1, after: Duration::ZERO };
    bench.buffers(501, 0).until(901);
    bench.answer = FREE;
    bench.buffers(1000, 0);
    assert_eq!(bench.state(), Some(RrcState::CellDch));
    bench.buffers(1001, 0).enters(RrcState::CellDch, 901 + 403);
    let change = Order::RequestDch { instead_of: Some(1) };
    assert!(bench.orders.contains(&(901, change)), "{:?}", bench.orders);
    // In the window from 1304 to 2304 ms 33 kbit are sent, more than half of 64 kbit/s · 1 s. In the
    // next window 31 kbit are sent, which is less.
    bench.buffers(0, 0).active().measured.carried = [33_000, 0];
    bench.until(2400).active().measured.carried = [64_000, 0];
    bench.enters(RrcState::CellDch, 3304 + 403);
    assert_eq!(
        bench.orders[bench.orders.len() - 2..],
        [(3707, Order::ChangeDch(1)), (3707, Order::UseDch(1))]
    );
}

#[test]
fn the_need_of_a_dch_ends_when_the_buffer_falls_during_the_time_to_trigger() {
    let mut lasting = config();
    lasting.time_to_trigger = ms(100);
    let mut bench = Bench::new(lasting.clone());
    assert!(!bench.rrc.awaits_fall());
    bench.buffers(501, 0);
    assert!(bench.rrc.awaits_fall());
    bench.until(50).buffers(400, 0);
    assert!(!bench.rrc.awaits_fall());
    lasting.traffic_volume = TrafficVolume::Unacknowledged;
    let mut bench = Bench::new(lasting);
    assert!(!bench.buffers(501, 0).rrc.awaits_fall(), "sent blocks do not change this traffic volume");
}
