//! Two entities joined by a pipe that delays, loses and duplicates.

use super::*;

const TTI: u64 = 10;
const DELAY: u64 = 35;

/// Effect of the pipe on one TTI of one direction.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fate {
    pub lost: u128,
    /// Extra delay in TTIs. Order is kept.
    pub late: u64,
    /// The set arrives twice.
    pub doubled: bool,
}

impl Fate {
    pub const GOOD: Fate = Fate { lost: 0, late: 0, doubled: false };
}

/// Entities of an RNC and a UE, and the pipe between them.
pub(super) struct Pair {
    pub ends: [Talk; 2],
    pipe: [Vec<(u64, BlockSet, Lost)>; 2],
    blocks: [u32; 2],
    pub delivered: [Vec<u64>; 2],
    tti: u64,
}

impl Pair {
    pub fn new(config: &RlcConfig, blocks: [u32; 2]) -> Self {
        let end = |sends| {
            let am = AmEntity::new(UeId(0), sends, config.clone());
            Talk { am, now: Time::ZERO, trace: Vec::new() }
        };
        Pair {
            ends: [end(Direction::Downlink), end(Direction::Uplink)],
            pipe: [Vec::new(), Vec::new()],
            blocks,
            delivered: [Vec::new(), Vec::new()],
            tti: 0,
        }
    }

    /// One TTI: both ends receive, then send.
    pub fn step(&mut self, fates: [Fate; 2]) {
        let now = self.tti * TTI;
        for from in 0..2 {
            let arrived = self.pipe[from].partition_point(|&(at, ..)| at <= now);
            for (_, set, lost) in self.pipe[from].drain(..arrived).collect::<Vec<_>>() {
                let end = &mut self.ends[1 - from];
                end.now = ms(now);
                end.am.handle_blocks(&mut Context::new(end.now, &mut end.trace), &set, lost);
                let delivered = end.delivers();
                self.delivered[from].extend(delivered);
            }
        }
        for (from, fate) in fates.into_iter().enumerate() {
            self.ends[from].now = ms(now);
            let set = self.ends[from].transmits(self.blocks[from]);
            if set.blocks > 0 {
                let earliest = self.pipe[from].last().map_or(0, |&(at, ..)| at);
                let at = (now + DELAY + fate.late * TTI).max(earliest);
                let lost = Lost(fate.lost & Lost::all(set.blocks).0);
                let copies = 1 + usize::from(fate.doubled);
                self.pipe[from].extend(std::iter::repeat_n((at, set, lost), copies));
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
            self.step([Fate::GOOD; 2]);
        }
        self.ends.iter_mut().for_each(|end| end.am.resume());
        self.blocks = blocks;
    }

    /// One end sends only `n` further new PDUs for `ttis` TTIs.
    pub fn suspend_after(&mut self, end: usize, n: u32, ttis: u64) {
        self.ends[end].am.suspend_after(n);
        let before = self.ends[end].trace.len();
        for _ in 0..ttis {
            self.step([Fate::GOOD; 2]);
        }
        self.ends[end].am.resume();
        let new = |(_, event): &(Time, TraceEvent)| match *event {
            TraceEvent::PdusSent { retransmission: false, count, .. } => count,
            _ => 0,
        };
        let sent: u32 = self.ends[end].trace[before..].iter().map(new).sum();
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
    pub fn held(&self, end: usize) -> usize {
        self.ends[end].am.sender.held() + self.ends[end].am.receiver.held()
    }

    /// After a drain no deadline is in the past.
    fn check_timers(&self, end: usize) {
        let Talk { am, now, .. } = &self.ends[end];
        assert!(am.poll_timeout().is_none_or(|at| at > *now), "{:?} at {now}", am.poll_timeout());
    }

    /// Whether nothing is in flight, to be sent, to be acknowledged or to be waited for. Only
    /// periodic reports may continue.
    fn is_quiet(&self) -> bool {
        let now = ms(self.tti * TTI);
        let periodic = self.ends[0].am.config.timer_status_periodic.is_some();
        let rests = |end: &Talk| {
            let sender = &end.am.sender;
            end.am.buffer_occupancy() == Bytes(0)
                && sender.vt_a == sender.vt_s
                && !sender.has_work(now)
                && !end.am.reset.blocks()
                && (periodic || (!end.am.has_work(now) && end.am.poll_timeout().is_none()))
        };
        self.ends.iter().all(rests) && (periodic || self.pipe.iter().all(Vec::is_empty))
    }

    /// Runs an ideal pipe until both ends rest, for at most 60 s.
    pub fn settle(&mut self) {
        let from = self.tti;
        while !self.is_quiet() {
            assert!(self.tti - from < 6_000, "the pair never rests");
            self.step([Fate::GOOD; 2]);
        }
    }
}
