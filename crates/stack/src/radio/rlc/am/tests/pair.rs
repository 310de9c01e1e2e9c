//! Two entities of acknowledged mode, at the RNC and at the UE, joined by a pipe in each direction. A
//! pipe delays, loses and duplicates block sets, as the test orders for each TTI.

use super::*;

/// TTI and one-way delay in ms.
const TTI: u64 = 10;
const DELAY: u64 = 35;

/// Effect of the pipe on the block set of one TTI and direction.
#[derive(Debug, Clone, Copy)]
pub(super) struct Impairment {
    /// Bit n is set if block n is lost.
    pub lost: u128,
    /// Additional delay in TTIs. Block sets do not overtake each other.
    pub extra_delay_ttis: u64,
    /// The block set arrives twice.
    pub is_duplicated: bool,
}

impl Impairment {
    pub const GOOD: Impairment = Impairment { lost: 0, extra_delay_ttis: 0, is_duplicated: false };
}

/// A block set in a pipe.
#[derive(Clone)]
struct InFlight {
    arrives_ms: u64,
    set: BlockSet,
    lost: Lost,
}

/// Entities of an RNC (end 0) and a UE (end 1), and the pipes between them. Arrays are indexed by
/// the sending end.
pub(super) struct Pair {
    pub ends: [TestEntity; 2],
    pipe: [Vec<InFlight>; 2],
    /// Blocks per TTI.
    blocks: [u32; 2],
    /// Ids of the SDUs delivered at the other end.
    pub delivered: [Vec<u64>; 2],
    /// Number of the current TTI.
    tti: u64,
}

impl Pair {
    pub fn new(config: &RlcConfig, blocks: [u32; 2]) -> Self {
        let end = |sends| {
            let am = AmEntity::new(UeId(0), sends, config.clone());
            TestEntity { am, now: Time::ZERO, trace: Vec::new() }
        };
        Pair {
            ends: [end(Direction::Downlink), end(Direction::Uplink)],
            pipe: [Vec::new(), Vec::new()],
            blocks,
            delivered: [Vec::new(), Vec::new()],
            tti: 0,
        }
    }

    /// Performs one TTI: both ends receive and deliver, then both send.
    pub fn step(&mut self, impairments: [Impairment; 2]) {
        let now = self.tti * TTI;
        for from in 0..2 {
            let arrived = self.pipe[from].partition_point(|in_flight| in_flight.arrives_ms <= now);
            for InFlight { set, lost, .. } in self.pipe[from].drain(..arrived).collect::<Vec<_>>() {
                let end = &mut self.ends[1 - from];
                end.now = ms(now);
                end.am.handle_blocks(&mut Context::new(end.now, &mut end.trace), &set, lost);
                let delivered = end.delivers();
                self.delivered[from].extend(delivered);
            }
        }
        for (from, impairment) in impairments.into_iter().enumerate() {
            self.ends[from].now = ms(now);
            let set = self.ends[from].sends_set(self.blocks[from]);
            if set.blocks > 0 {
                let earliest = self.pipe[from].last().map_or(0, |previous| previous.arrives_ms);
                let arrives_ms = (now + DELAY + impairment.extra_delay_ttis * TTI).max(earliest);
                let lost = Lost(impairment.lost & Lost::all(set.blocks).0);
                let copies = 1 + usize::from(impairment.is_duplicated);
                self.pipe[from].extend(std::iter::repeat_n(InFlight { arrives_ms, set, lost }, copies));
            }
            self.check_timers(from);
        }
        self.tti += 1;
    }

    /// Changes the transport channel: both ends are suspended for `ttis` while PDUs in flight
    /// arrive, and continue with `blocks` per TTI.
    pub fn switch(&mut self, ttis: u64, blocks: [u32; 2]) {
        self.ends.iter_mut().for_each(|end| end.am.suspend());
        for _ in 0..ttis {
            self.step([Impairment::GOOD; 2]);
        }
        self.ends.iter_mut().for_each(|end| end.am.resume());
        self.blocks = blocks;
    }

    /// Suspends one end with N = `n` for `ttis` TTIs, and checks that it sends at most `n` new PDUs.
    pub fn suspend_after(&mut self, end: usize, n: u32, ttis: u64) {
        self.ends[end].am.suspend_after(n);
        let events_before = self.ends[end].trace.len();
        for _ in 0..ttis {
            self.step([Impairment::GOOD; 2]);
        }
        self.ends[end].am.resume();
        let new_pdus = |(_, event): &(Time, TraceEvent)| match *event {
            TraceEvent::PdusSent { retransmission: false, count, .. } => count,
            _ => 0,
        };
        let sent: u32 = self.ends[end].trace[events_before..].iter().map(new_pdus).sum();
        assert!(sent <= n, "{sent} new PDUs, {n} were allowed");
    }

    /// RRC re-establishes both ends. PDUs in flight are lost.
    pub fn reestablish(&mut self) {
        self.pipe.iter_mut().for_each(Vec::clear);
        for end in &mut self.ends {
            end.now = ms(self.tti * TTI);
            end.am.reestablish(&mut Context::new(end.now, &mut end.trace));
        }
    }

    /// Number of elements that an end stores, without trace and pipe.
    pub fn stored_elements(&self, end: usize) -> usize {
        self.ends[end].am.sender.stored_elements() + self.ends[end].am.receiver.stored_elements()
    }

    /// Asserts that no timer of an end is due after the end has sent.
    fn check_timers(&self, end: usize) {
        let TestEntity { am, now, .. } = &self.ends[end];
        assert!(am.poll_timeout().is_none_or(|at| at > *now), "{:?} at {now}", am.poll_timeout());
    }

    /// Whether nothing is in flight, to be sent or to be acknowledged, and no timer runs. Periodic
    /// reports may continue.
    fn is_quiet(&self) -> bool {
        let now = ms(self.tti * TTI);
        let has_periodic_reports = self.ends[0].am.config.timer_status_periodic.is_some();
        let is_idle = |end: &TestEntity| {
            let sender = &end.am.sender;
            end.am.buffer_occupancy() == Bytes(0)
                && sender.vt_a == sender.vt_s
                && !sender.has_work(now)
                && !end.am.reset.is_blocking()
                && (has_periodic_reports || (!end.am.has_work(now) && end.am.poll_timeout().is_none()))
        };
        self.ends.iter().all(is_idle) && (has_periodic_reports || self.pipe.iter().all(Vec::is_empty))
    }

    /// Runs with ideal pipes until both ends are quiet, for at most 6000 TTIs (60 s).
    pub fn settle(&mut self) {
        let first_tti = self.tti;
        while !self.is_quiet() {
            assert!(self.tti - first_tti < 6_000, "the pair does not become quiet");
            self.step([Impairment::GOOD; 2]);
        }
    }
}
