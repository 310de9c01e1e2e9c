//! Voice and video calls in the cells of a layout: Poisson arrivals at uniform places, exponential
//! lengths (Rendón et al. 2004, §3.2). They take codes and power from the users of packet data.
//!
//! A call has no events and no RLC entity. It has a place, radio links from one cell or several, and two
//! blocks in each TTI, which the TTI of its cell handles. The blocks come from the circuit-switched
//! domain at the RNC.

use umts_kernel::random::{Stream, Streams};
use umts_units::{Db, Duration, Erlang, Time};

use crate::environment::{Gains, Mobile};
use crate::ids::CellId;
use crate::options::options;
use crate::radio::phy::ovsf::Code;
use crate::radio::phy::power_control::{InnerLoop, OuterLoop, PowerConfig};
use crate::traffic::laws::exponential;

/// Blocks of a call per TTI: 64 kbit/s.
pub const BLOCKS: u32 = 2;
/// Bits of a block.
pub const BLOCK_BITS: u32 = 640;
/// The TTI of a call.
pub const TTI: Duration = Duration::from_millis(20);
/// The rate of a call, in bit/s.
pub const RATE: f64 = 64_000.0;

/// Reference of the offered traffic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Offered {
    /// Each cell, in the mean: calls are anywhere, and their cell is the best one.
    #[default]
    Cell,
    /// All cells together.
    Network,
}

options! {
    /// Calls of 64 kbit/s: two blocks of 640 bits in each TTI of 20 ms, from the RNC's circuit domain.
    /// They arrive as a Poisson process at uniformly distributed places. No call is refused unless
    /// codes are limited (`cell.dch`).
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct CallsConfig as "Calls" {
        /// Mean number of calls in progress.
        [label = "Calls offered", max = "1000 Erl", source = "Rendon et al. (2004), §3.2: 24 Erl per cell"]
        pub offered: Erlang = Erlang::new(24.0).expect("it is not negative"),
        /// Whether `offered` applies to each cell or to all cells together.
        [label = "Reference of the offered calls"]
        pub per: Offered = Offered::Cell,
        /// Mean length of a call; lengths are exponential.
        [label = "Mean length of a call", min = "1 s", max = "1000 h",
            source = "Rendon et al. (2004), §3.2: 120 s"]
        pub holding: Duration = Duration::from_secs(120),
        /// Eb/N0 at which 1 % of the blocks of a call are lost, unless `cell.power.tables` has a table
        /// for calls.
        [label = "Eb/N0 of calls", range = "-30 dB to 30 dB",
            source = "calibrated: load 0.80 with calls alone (Rendon et al. 2004, §4.1)"]
        pub ebn0: Db = Db(2.25),
        /// Spreading factor of the code of a call.
        [label = "Spreading factor of calls", range = "a power of two from 4 to 512",
            source = "Rendon et al. (2004), Table 1"]
        pub spreading_factor: u16 = 32,
    }
}

/// A call under way.
#[derive(Debug)]
pub struct Call {
    /// Number in the order of arrival from 0. It addresses the draws of the call.
    pub number: u64,
    /// Time of its end.
    ends: Time,
    /// Its place and radio links.
    pub at: CallLocation,
    /// State of its power control.
    pub loops: PowerControlLoops,
    /// Mean Eb/N0 of the current TTI so far, if a TTI of the call lasts several scheduling intervals of
    /// the cells.
    pub ebn0_average: EbN0Average,
}

/// Mean Eb/N0 of a TTI so far, over its scheduling intervals.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct EbN0Average {
    /// Sum of the linear Eb/N0 of all intervals.
    sum: f64,
    /// Number of intervals.
    intervals: u32,
}

impl EbN0Average {
    /// Adds the linear Eb/N0 of an interval. Returns the mean so far, linear.
    pub fn mean_with(&mut self, ebn0: f64) -> f64 {
        self.sum += ebn0;
        self.intervals += 1;
        self.sum / f64::from(self.intervals)
    }
}

impl Call {
    /// Ends the call now.
    pub fn drop_at(&mut self, now: Time) {
        self.ends = now;
    }
}

/// Power control loops of one user.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PowerControlLoops {
    /// The outer loop.
    outer: OuterLoop,
    /// Factor of the outer loop on the target.
    pub target_scale: f64,
    /// The inner loop, from its first slot on.
    pub inner: Option<InnerLoop>,
    /// With an inner loop: mean Eb/N0 over the slots of the last TTI.
    pub achieved: f64,
}

impl Default for PowerControlLoops {
    fn default() -> Self {
        PowerControlLoops { outer: OuterLoop::default(), target_scale: 1.0, inner: None, achieved: 0.0 }
    }
}

impl PowerControlLoops {
    /// Updates the outer loop: `lost` of `blocks` blocks were lost.
    #[inline]
    pub fn handle_blocks(&mut self, power: &PowerConfig, blocks: u32, lost: u32) {
        if let Some(config) = &power.outer_loop {
            self.outer.handle_blocks(config, blocks, lost);
            self.target_scale = self.outer.factor();
        }
    }
}

/// The place of a call and its radio links.
#[derive(Debug)]
pub struct CallLocation {
    /// The calling UE.
    pub mobile: Mobile,
    /// Link from its cell; in soft handover from the best of its cells.
    pub main: RadioLink,
    /// Links from further cells of the active set.
    pub further: Vec<RadioLink>,
    /// Whether the call is in compressed mode, in which some TTIs have a gap.
    pub is_compressed: bool,
    /// Factor by which compressed mode raises the target Eb/N0 in this TTI: above 1 if the TTI has a
    /// gap, otherwise 1.
    pub raise: f64,
}

/// Radio link of a call from one cell, also called a leg.
#[derive(Debug, Clone, Copy)]
pub struct RadioLink {
    pub cell: CellId,
    /// Code of the call in this cell.
    pub code: Code,
    /// Path gain, as last measured.
    pub gain: f64,
    /// Power received from other cells in mW, as of their last TTI.
    pub interference: f64,
    /// Share of this leg in the target Eb/N0. 1 for a single leg.
    pub share: f64,
}

impl CallLocation {
    pub fn new(mobile: Mobile, main: RadioLink) -> Self {
        CallLocation { mobile, main, further: Vec::new(), is_compressed: false, raise: 1.0 }
    }

    /// All radio links, the best one first.
    pub fn legs(&self) -> impl Iterator<Item = &RadioLink> {
        std::iter::once(&self.main).chain(&self.further)
    }

    pub fn legs_mut(&mut self) -> impl Iterator<Item = &mut RadioLink> {
        std::iter::once(&mut self.main).chain(&mut self.further)
    }
}

impl RadioLink {
    /// The only link of a call, not measured yet.
    pub fn new(cell: CellId, code: Code) -> Self {
        RadioLink { cell, code, gain: 0.0, interference: 0.0, share: 1.0 }
    }

    /// Updates path gain and interference when the cells send `powers`.
    pub fn measure(&mut self, gains: &Gains, powers: &[f64]) {
        self.gain = gains.of(self.cell);
        self.interference = gains.from_others(powers, self.cell);
    }
}

/// The calls of one class in the order of arrival.
#[derive(Debug)]
pub struct Calls {
    under_way: Vec<Call>,
    /// The end of the first call to end, or earlier.
    first_end: Time,
    arrivals: Stream,
    lengths: Stream,
    /// Offered traffic of each cell, or of all cells together.
    offered: Erlang,
    /// Number of cells if `offered` is the traffic of each cell, otherwise 1.
    cells: f64,
    /// Mean time between arrivals. 0 if no call arrives.
    gap: Duration,
    /// Mean length of a call.
    holding: Duration,
    /// The next arrival.
    next: Option<Time>,
    /// Number of the next call.
    number: u64,
    /// Number of calls at the start of the run.
    at_start: u64,
}

impl Calls {
    /// Calls in `cells` cells. The process is stationary from the start of the run: some calls are in
    /// progress then. `group` is the number of the class of calls, for its random streams.
    pub fn new(config: &CallsConfig, group: usize, cells: usize, streams: &Streams) -> Self {
        let stream = |purpose: &str| streams.stream(&format!("calls{group}/{purpose}"));
        let cells = match config.per {
            Offered::Cell => cells as f64,
            Offered::Network => 1.0,
        };
        let mean = config.offered.value() * cells;
        let mut arrivals = stream("arrivals");
        let at_start = poisson(mean, &mut stream("start"));
        let gap = mean_gap(mean, config.holding);
        let next = gap.map(|gap| Time::ZERO + exponential(gap, &mut arrivals));
        Calls {
            under_way: Vec::new(),
            first_end: Time::NEVER,
            lengths: stream("lengths"),
            arrivals,
            offered: config.offered,
            cells,
            gap: gap.unwrap_or_default(),
            holding: config.holding,
            next,
            number: 0,
            at_start,
        }
    }

    pub fn offered(&self) -> Erlang {
        self.offered
    }

    /// Changes the offered traffic from `now` on. Calls in progress continue.
    pub fn set_offered(&mut self, now: Time, offered: Erlang) {
        let old_gap = self.gap;
        let new_gap = mean_gap(offered.value() * self.cells, self.holding);
        self.next = new_gap.map(|new_gap| match self.next {
            Some(next) if next <= now => next,
            // The time to the next arrival is exponential with the old mean. It is scaled to the new
            // mean.
            Some(next) => {
                let scale = new_gap.as_secs() / old_gap.as_secs();
                now + Duration::from_secs_f64((next - now).as_secs() * scale)
            }
            None => now + exponential(new_gap, &mut self.arrivals),
        });
        self.offered = offered;
        self.gap = new_gap.unwrap_or_default();
    }

    /// Ends the calls that end by `now`. Calls `ended` for each.
    pub fn end_until(&mut self, now: Time, ended: impl FnMut(&Call)) {
        if self.first_end <= now {
            self.sweep(now, ended);
        }
    }

    /// Like [`end_until`](Self::end_until), after calls were dropped.
    pub fn sweep(&mut self, now: Time, mut ended: impl FnMut(&Call)) {
        let mut first_end = Time::NEVER;
        self.under_way.retain(|call| {
            let stays = call.ends > now;
            if stays {
                first_end = first_end.min(call.ends);
            } else {
                ended(call);
            }
            stays
        });
        self.first_end = first_end;
    }

    /// Begins the calls that arrive until `now`. `place` returns the place of a call, or `None` if the
    /// call is blocked.
    pub fn begin_until(&mut self, now: Time, mut place: impl FnMut(u64) -> Option<CallLocation>) {
        for _ in 0..std::mem::take(&mut self.at_start) {
            // The remaining length of a call with an exponential length has the same distribution as
            // the whole length.
            self.begin(Time::ZERO, now, &mut place);
        }
        while let Some(begun) = self.next.filter(|&next| next <= now) {
            self.next = Some(begun + exponential(self.gap, &mut self.arrivals));
            self.begin(begun, now, &mut place);
        }
    }

    /// Begins a call that arrived at `begun`, unless it has ended by `now` or is blocked.
    fn begin(&mut self, begun: Time, now: Time, place: &mut impl FnMut(u64) -> Option<CallLocation>) {
        let ends = begun + exponential(self.holding, &mut self.lengths);
        let number = self.number;
        self.number += 1;
        if ends > now
            && let Some(at) = place(number)
        {
            self.first_end = self.first_end.min(ends);
            self.under_way.push(Call {
                number,
                ends,
                at,
                loops: PowerControlLoops::default(),
                ebn0_average: EbN0Average::default(),
            });
        }
    }

    /// The calls in progress in the order of arrival.
    pub fn under_way(&self) -> &[Call] {
        &self.under_way
    }

    pub fn under_way_mut(&mut self) -> &mut [Call] {
        &mut self.under_way
    }
}

/// Mean time between arrivals, so that `mean` calls of mean length `holding` are in progress on average
/// (Little's law). `None`: no call arrives.
fn mean_gap(mean: f64, holding: Duration) -> Option<Duration> {
    (mean > 0.0).then(|| Duration::from_secs_f64(holding.as_secs() / mean))
}

/// Draws a Poisson number with this mean: the number of exponential times of mean 1 that fit into
/// `mean`.
fn poisson(mean: f64, stream: &mut Stream) -> u64 {
    let (mut sum, mut number) = (stream.exponential(), 0);
    while sum <= mean {
        sum += stream.exponential();
        number += 1;
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::{
        Border, Environment, EnvironmentConfig, Layout, MobilityConfig, PropagationConfig,
    };

    fn erlang(value: f64) -> Erlang {
        Erlang::new(value).expect("it is not negative")
    }

    /// Simulates the calls in `cells` cells for `end_s` seconds. Every 100 ms `observe` receives the
    /// calls in progress.
    fn with_calls(config: CallsConfig, cells: usize, end_s: u64, mut observe: impl FnMut(&[Call])) -> Calls {
        let streams = Streams::new(1, 0);
        let environment = Environment::new(&torus(), &streams);
        let mut calls = Calls::new(&config, 0, cells, &streams);
        for tick in 0..end_s * 10 {
            let now = Time::ZERO + Duration::from_millis(100 * tick);
            calls.end_until(now, |_| {});
            calls.begin_until(now, |number| {
                let mobile = environment.appear(number, &MobilityConfig::Still, None, now);
                Some(CallLocation::new(mobile, RadioLink::new(CellId(0), Code::last(32))))
            });
            observe(calls.under_way());
        }
        calls
    }

    fn torus() -> EnvironmentConfig {
        EnvironmentConfig {
            layout: Layout::lattice([3, 4], 500.0, Border::Torus, None),
            propagation: PropagationConfig::default(),
        }
    }

    /// The offered traffic of 10 Erl changes after one mean length of a call. From 20 mean lengths on,
    /// the mean number of calls is the new offered traffic.
    #[test]
    fn changed_offered_traffic_is_reached_after_some_holding_times() {
        let config = CallsConfig { offered: erlang(10.0), per: Offered::Network, ..CallsConfig::default() };
        let environment = Environment::new(&torus(), &Streams::new(1, 0));
        for offered in [40.0, 0.0] {
            let mut calls = Calls::new(&config, 0, 1, &Streams::new(1, 0));
            let holding = config.holding.as_secs() as u64;
            let (mut sum, mut samples) = (0, 0);
            for second in 0..100 * holding {
                let now = Time::ZERO + Duration::from_secs(second);
                if second == holding {
                    calls.set_offered(now, erlang(offered));
                }
                calls.end_until(now, |_| {});
                calls.begin_until(now, |number| {
                    let mobile = environment.appear(number, &MobilityConfig::Still, None, now);
                    Some(CallLocation::new(mobile, RadioLink::new(CellId(0), Code::last(32))))
                });
                if second > 20 * holding {
                    sum += calls.under_way().len();
                    samples += 1;
                }
            }
            let mean = sum as f64 / f64::from(samples);
            // The number of calls is Poisson, so its variance is `offered`. The 80 mean lengths count
            // like 40 independent samples. The limit is four standard errors.
            let limit = 4.0 * (offered / 40.0_f64).sqrt();
            assert!((mean - offered).abs() <= limit, "{mean} instead of {offered}");
            // Calls begin again after a time without any.
            calls.set_offered(Time::ZERO + Duration::from_secs(100 * holding), erlang(10.0));
            assert!(calls.next.is_some());
        }
    }

    #[test]
    fn offered_traffic_is_reached_from_the_start() {
        // Sums over the ticks of the first and of the second half of the run.
        let (mut sums, mut ticks) = ([0.0; 2], 0);
        let calls = with_calls(CallsConfig::default(), 36, 2_400, |calls| {
            sums[usize::from(ticks >= 12_000)] += calls.len() as f64;
            ticks += 1;
        });
        // The number of calls is Poisson with mean 36 · 24 = 864. Its average over ten mean lengths (120
        // s) has a standard deviation of sqrt(864 · 2 / 10) = 13.2.
        for sum in sums {
            assert!((sum / 12_000.0 - 864.0).abs() < 4.0 * 13.2, "{}", sum / 12_000.0);
        }
        // 864 calls at the start, and 864 / 120 s = 7.2 arrivals per second.
        let expected = 864.0 + 7.2 * 2_400.0;
        assert!((calls.number as f64 - expected).abs() < 4.0 * expected.sqrt(), "{}", calls.number);
    }

    #[test]
    fn calls_keep_their_order_and_end_in_time() {
        let mut tick = 0;
        let config = CallsConfig { offered: erlang(40.0), per: Offered::Network, ..CallsConfig::default() };
        with_calls(config, 36, 600, |calls| {
            let now = Time::ZERO + Duration::from_millis(100 * tick);
            assert!(calls.is_sorted_by(|a, b| a.number < b.number));
            assert!(calls.iter().all(|call| call.ends > now));
            tick += 1;
        });
    }

    #[test]
    fn no_traffic_means_no_calls() {
        let calls =
            with_calls(CallsConfig { offered: erlang(0.0), ..CallsConfig::default() }, 36, 60, |calls| {
                assert!(calls.is_empty())
            });
        assert_eq!(calls.number, 0);
    }
}
