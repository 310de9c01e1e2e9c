//! Long transfers with random losses (`f3_runs.csv`), replayed with the same losses
//! (`f3_losslists.csv`).

use umts_units::Duration;

use crate::replay::{Totals, replay};
use crate::run::{self, Run, Skip};

/// Capacity of the links' queues, in packets: more than any window, so that only the losses of the
/// lists occur.
const QUEUE: u64 = 2000;

/// A line of `f3_losslists.csv`: the packets on the link that are lost.
#[derive(Debug, Clone, PartialEq)]
pub struct LossList {
    /// Loss rate, as in the file.
    loss: String,
    /// Seed of the losses, as in the file.
    seed: String,
    /// Indices of the lost packets, from 0, ascending.
    pub indices: Vec<u64>,
}

impl LossList {
    /// Parses the file. Its first line is a header. An invalid line is returned as the error.
    pub fn parse_all(text: &str) -> Result<Vec<LossList>, String> {
        text.lines().skip(1).map(|line| Self::parse(line).ok_or_else(|| line.to_owned())).collect()
    }

    fn parse(line: &str) -> Option<LossList> {
        let (loss, rest) = line.split_once(',')?;
        let (seed, indices) = rest.split_once(',')?;
        let indices = indices.split_whitespace().map(|text| text.parse().ok()).collect::<Option<_>>()?;
        Some(LossList { loss: loss.to_owned(), seed: seed.to_owned(), indices })
    }

    /// Returns whether this is the list for a loss rate and seed.
    pub fn is_named(&self, loss: &str, seed: &str) -> bool {
        (self.loss.as_str(), self.seed.as_str()) == (loss, seed)
    }
}

/// A line of `f3_runs.csv`. Its parameters are as in the file.
#[derive(Debug, Clone)]
pub struct LongRun {
    /// The agent, by its name in ns-2.
    pub algo: String,
    /// In bit/s.
    rate: String,
    /// One-way delay, in seconds.
    delay: String,
    /// In packets.
    window: String,
    /// End of the run, in seconds.
    stop: String,
    /// Loss rate.
    loss: String,
    seed: String,
    /// Phase of the agent's clock, in seconds.
    phase: String,
    /// Totals of ns-2.
    pub expected: Totals,
}

impl LongRun {
    /// Parses the file. Its first line is a header. An invalid line is returned as the error.
    pub fn parse_all(text: &str) -> Result<Vec<LongRun>, String> {
        text.lines().skip(1).map(|line| Self::parse(line).ok_or_else(|| line.to_owned())).collect()
    }

    fn parse(line: &str) -> Option<LongRun> {
        let fields: Vec<&str> = line.split(',').collect();
        let &[algo, rate, delay, window, stop, loss, seed, phase, acked_through, _, ref counts @ ..] =
            fields.as_slice()
        else {
            return None;
        };
        let &[sent, sent_again, timeouts, ..] = counts else { return None };
        Some(LongRun {
            algo: algo.to_owned(),
            rate: rate.to_owned(),
            delay: delay.to_owned(),
            window: window.to_owned(),
            stop: stop.to_owned(),
            loss: loss.to_owned(),
            seed: seed.to_owned(),
            phase: phase.to_owned(),
            expected: Totals {
                sent: sent.parse().ok()?,
                sent_again: sent_again.parse().ok()?,
                timeouts: timeouts.parse().ok()?,
                acked_through: acked_through.parse().ok()?,
            },
        })
    }

    /// Returns the name: agent, rate, delay, loss rate and seed.
    pub fn name(&self) -> String {
        format!("{} {} bit/s {} s loss {} seed {}", self.algo, self.rate, self.delay, self.loss, self.seed)
    }

    /// Replays the transfer with the losses of the lists, and returns the totals.
    pub fn totals(&self, lists: &[LossList]) -> Result<Totals, Skip> {
        Ok(replay(&self.run(lists)?, |_| ()))
    }

    /// Returns how a tie must be broken to give the totals of ns-2: links that are a few
    /// nanoseconds longer or shorter, or Vegas' queued segments rounded slightly earlier or later.
    /// ns-2's clock is a binary fraction; its noise decides ties. `None` if no such change helps.
    pub fn tie(&self, lists: &[LossList]) -> Result<Option<String>, Skip> {
        let run = self.run(lists)?;
        for nanoseconds in [1, 2, 5, 10] {
            for (sign, change) in [(1.0, "longer"), (-1.0, "shorter")] {
                let delay_s = run.delay_s + sign * 1e-9 * f64::from(nanoseconds);
                if replay(&Run { delay_s, ..run.clone() }, |_| ()) == self.expected {
                    return Ok(Some(format!("links {nanoseconds} ns {change}")));
                }
            }
        }
        for rounding in [0.499_999, 0.500_001] {
            let mut nudged = run.clone();
            nudged.config.vegas_rounding = rounding;
            if replay(&nudged, |_| ()) == self.expected {
                return Ok(Some(format!("segments in queues rounded from {rounding}")));
            }
        }
        Ok(None)
    }

    /// Returns the run of this line, with the losses that `lists` has for it.
    fn run(&self, lists: &[LossList]) -> Result<Run, Skip> {
        fn read<T: std::str::FromStr>(name: &'static str, text: &str) -> Result<T, Skip> {
            text.parse().map_err(|_| Skip::Malformed(name, text.to_owned()))
        }
        let variant = run::variant(&self.algo)?;
        let phase = Duration::from_secs_f64(read::<f64>("boot_time_s", &self.phase)?.clamp(0.0, 1.0));
        let list = lists.iter().find(|list| list.is_named(&self.loss, &self.seed));
        let crossing_losses = match list {
            Some(list) => list.indices.clone(),
            None if self.loss == "0" => Vec::new(),
            None => return Err(Skip::NoLosses(format!("{},{}", self.loss, self.seed))),
        };
        Ok(Run {
            config: run::one_way(variant, read("window_pkts", &self.window)?, phase),
            packets: None,
            rate_bps: read("bw_bps", &self.rate)?,
            delay_s: read("owd_s", &self.delay)?,
            stop_s: read("stop_s", &self.stop)?,
            queue: QUEUE,
            drops: Vec::new(),
            ack_drops: Vec::new(),
            crossing_losses,
            spike: None,
            fifo: true,
        })
    }
}
