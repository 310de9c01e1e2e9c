//! Voice and video calls in the cells of a layout: Poisson arrivals at uniform places, exponential
//! lengths (Rendón et al. 2004, §3.2). They take codes and power from the users of packet data.
//!
//! A call has no events and no RLC entity. It has a place, radio links from one cell or several, and two
//! blocks in each TTI, which the TTI of its cell handles. The blocks come from the circuit-switched
//! domain at the RNC.
//!
//! [`Calls`] is the process of arrivals and ends, `call.rs` a call in progress.

mod call;
#[cfg(test)]
mod tests;

use umts_kernel::random::{Stream, Streams};
use umts_units::{Db, Duration, Erlang, Time};

pub use self::call::{Call, CallLocation, EbN0Average, PowerControlLoops, RadioLink};
use crate::options::options;
use crate::traffic::laws::exponential;

/// Blocks of a call per TTI.
pub const BLOCKS: u32 = 2;
/// Bits of a block.
pub const BLOCK_BITS: u32 = 640;
/// The TTI of a call.
pub const TTI: Duration = Duration::from_millis(20);
/// The rate of a call in bit/s: two blocks of 640 bits in 20 ms.
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

/// The calls of one class in the order of arrival. In each TTI the caller first ends calls
/// ([`Calls::end_until`]) and then begins calls ([`Calls::begin_until`]).
#[derive(Debug)]
pub struct Calls {
    /// The calls in progress.
    under_way: Vec<Call>,
    /// The end of the first call to end, or earlier.
    first_end: Time,

    // The process of arrivals.
    /// Offered traffic of each cell, or of all cells together.
    offered: Erlang,
    /// Number of cells if `offered` is the traffic of each cell, otherwise 1.
    cells: f64,
    /// Mean time between arrivals. 0 if no call arrives.
    mean_gap: Duration,
    /// Mean length of a call.
    mean_length: Duration,
    /// The next arrival. `None`: no call arrives.
    next_arrival: Option<Time>,
    /// Number of the next call.
    next_number: u64,
    /// Number of calls in progress at the start of the run that did not begin yet.
    at_start: u64,
    /// Draws of the times between arrivals.
    arrivals: Stream,
    /// Draws of the lengths of calls.
    lengths: Stream,
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
        let mean_calls = config.offered.value() * cells;
        let mut arrivals = stream("arrivals");
        let at_start = poisson(mean_calls, &mut stream("start"));
        let mean_gap = mean_gap(mean_calls, config.holding);
        let next_arrival = mean_gap.map(|gap| Time::ZERO + exponential(gap, &mut arrivals));
        Calls {
            under_way: Vec::new(),
            first_end: Time::NEVER,
            offered: config.offered,
            cells,
            mean_gap: mean_gap.unwrap_or_default(),
            mean_length: config.holding,
            next_arrival,
            next_number: 0,
            at_start,
            arrivals,
            lengths: stream("lengths"),
        }
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

    /// Begins the calls that arrive until `now`. `place` receives the number of a call, and returns its
    /// place, or `None` if the call is blocked.
    pub fn begin_until(&mut self, now: Time, mut place: impl FnMut(u64) -> Option<CallLocation>) {
        for _ in 0..std::mem::take(&mut self.at_start) {
            // The remaining length of a call with an exponential length has the same distribution as
            // the whole length.
            self.begin(Time::ZERO, now, &mut place);
        }
        while let Some(arrival) = self.next_arrival.filter(|&next| next <= now) {
            self.next_arrival = Some(arrival + exponential(self.mean_gap, &mut self.arrivals));
            self.begin(arrival, now, &mut place);
        }
    }

    /// Begins a call that arrived at `arrival`, unless it has ended by `now` or is blocked.
    fn begin(&mut self, arrival: Time, now: Time, place: &mut impl FnMut(u64) -> Option<CallLocation>) {
        let ends = arrival + exponential(self.mean_length, &mut self.lengths);
        let number = self.next_number;
        self.next_number += 1;
        if ends <= now {
            return;
        }
        let Some(at) = place(number) else { return };
        self.first_end = self.first_end.min(ends);
        self.under_way.push(Call {
            number,
            ends,
            at,
            loops: PowerControlLoops::default(),
            ebn0_average: EbN0Average::default(),
        });
    }

    /// The calls in progress in the order of arrival.
    pub fn under_way(&self) -> &[Call] {
        &self.under_way
    }

    pub fn under_way_mut(&mut self) -> &mut [Call] {
        &mut self.under_way
    }

    pub fn offered(&self) -> Erlang {
        self.offered
    }

    /// Changes the offered traffic from `now` on. Calls in progress continue.
    pub fn set_offered(&mut self, now: Time, offered: Erlang) {
        let new_gap = mean_gap(offered.value() * self.cells, self.mean_length);
        self.next_arrival = new_gap.map(|new_gap| match self.next_arrival {
            None => now + exponential(new_gap, &mut self.arrivals),
            // The call has arrived and begins with the next `begin_until`.
            Some(next) if next <= now => next,
            // The time to the next arrival is exponential with the old mean. It is scaled to the new
            // mean.
            Some(next) => {
                let scale = new_gap.as_secs() / self.mean_gap.as_secs();
                now + Duration::from_secs_f64((next - now).as_secs() * scale)
            }
        });
        self.offered = offered;
        self.mean_gap = new_gap.unwrap_or_default();
    }
}

/// Mean time between arrivals, so that `mean_calls` calls of this mean length are in progress on average
/// (Little's law). `None`: no call arrives.
fn mean_gap(mean_calls: f64, mean_length: Duration) -> Option<Duration> {
    (mean_calls > 0.0).then(|| Duration::from_secs_f64(mean_length.as_secs() / mean_calls))
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
