//! Plays a conversation: acts for the application and the other end, and compares the segments that
//! leave.

use std::collections::VecDeque;
use std::path::Path;

use umts_scenario::Scenario;
use umts_stack::ids::{ConnectionId, End};
use umts_stack::packet::{Ecn, Flags, Options, SackBlocks, Segment};
use umts_stack::tcp::TcpConfig;
use umts_units::{Duration, Time};

use crate::problem::Mistake;
use crate::script::{Claim, Line, Moment, Script, Setting, Step, StepTime};
use crate::segment::{Arriving, Bits, Leaving, Words};
use crate::tested_end::{Action, Departure, TestedEnd, Value, WaitFor};

/// A minimal scenario. The settings override its table `[tcp]`.
const SCENARIO: &str = "version = 1\nduration = \"1 s\"\n[[ue]]\nname = \"ue\"\n[[flow]]\nue = \"ue\"\n";

/// The largest unscaled window (RFC 7323 §2.2).
const MAX_UNSCALED: u32 = 65_535;
/// The largest shift (RFC 7323 §2.3).
const MAX_SHIFT: u8 = 14;

/// Plays `script` with `end`.
pub(crate) fn run(script: &Script, end: impl TestedEnd) -> Result<(), Mistake> {
    let mut player = Player::new(script, end);
    for line in &script.lines {
        player.line(line)?;
    }
    let last = script.lines.last().map_or(0, |line| line.number);
    match player.next_departure() {
        Some(departure) => {
            Err(Mistake::new(last, format!("unexpected segment at the end: {}", describe(&departure))))
        }
        None => Ok(()),
    }
}

/// Plays `script` with `end`, and returns a line for each event, whatever the script expects.
pub(crate) fn protocol(script: &Script, end: impl TestedEnd) -> Result<Vec<String>, Mistake> {
    let mut player = Player::new(script, end);
    let mut lines = Vec::new();
    for line in &script.lines {
        player.record(line, &mut lines)?;
    }
    Ok(lines)
}

/// Returns the configuration for the settings, obtained in the same way as from a scenario file.
pub(crate) fn config(settings: &[Setting]) -> Result<TcpConfig, Mistake> {
    let overrides: Vec<_> =
        settings.iter().map(|set| (format!("tcp.{}", set.key), set.value.clone())).collect();
    let loaded = Scenario::parse(SCENARIO, "script", Path::new(""), &overrides).map_err(|error| {
        let line = settings.iter().find(|set| error.key().ends_with(&set.key)).map_or(1, |set| set.line);
        let help = error.help().map_or_else(String::new, |help| format!(" ({help})"));
        Mistake::new(line, format!("{}{help}", error.message()))
    })?;
    Ok(loaded.scenario.tcp.clone())
}

struct Player<E> {
    end: E,
    /// The time of the current line.
    written: Time,
    /// Segments that have left and that no line has mentioned yet.
    pending: VecDeque<Departure>,
    /// Next sequence number of the other end.
    seq: u64,
    /// Last acknowledgment of the other end.
    ack: Option<u64>,
    /// Window of the other end, in bytes.
    window: u32,
    /// Shift of the other end's windows. 0 if no window in the script needs one.
    shift: u8,
    /// The other end's segments carry timestamps.
    timestamps: bool,
}

impl<E: TestedEnd> Player<E> {
    fn new(script: &Script, end: E) -> Self {
        let windows = script.lines.iter().filter_map(|line| match &line.step {
            Step::Arrives(arriving) => arriving.window,
            _ => None,
        });
        let largest = windows.max().unwrap_or(0);
        Player {
            end,
            written: Time::ZERO,
            pending: VecDeque::new(),
            seq: 0,
            ack: None,
            window: MAX_UNSCALED,
            shift: (0..MAX_SHIFT).find(|&shift| largest >> shift <= MAX_UNSCALED).unwrap_or(MAX_SHIFT),
            timestamps: false,
        }
    }

    /// Sets the time of the line. Returns half of the last digit if the line has a time.
    fn set_time(&mut self, when: StepTime) -> Option<Duration> {
        match when {
            StepTime::Same => {
                self.written = self.written.max(self.end.now());
                None
            }
            StepTime::At(Moment { time, half_digit }) => {
                self.written = Time::ZERO + time;
                Some(half_digit)
            }
            StepTime::After(Moment { time, half_digit }) => {
                self.written += time;
                Some(half_digit)
            }
        }
    }

    /// Plays a line, and compares what it expects.
    fn line(&mut self, line: &Line) -> Result<(), Mistake> {
        let wrong = |message: String| Mistake::new(line.number, message);
        let half_digit = self.set_time(line.when);
        if let Step::Leaves(expected) = &line.step {
            return self.leaves(expected, half_digit).map_err(wrong);
        }
        if half_digit.is_some() && self.is_over() {
            return Err(wrong(format!("{} has already passed", ms(self.written))));
        }
        self.end.pass(self.written, WaitFor::Time).map_err(wrong)?;
        if let Step::Is(claims) = &line.step {
            return claims.iter().try_for_each(|claim| self.check(claim)).map_err(wrong);
        }
        if let Some(departure) = self.next_departure() {
            return Err(wrong(format!("unexpected segment before this line: {}", describe(&departure))));
        }
        self.act(&line.step).map_err(wrong)
    }

    /// Returns whether the time of the line has passed by more than the end's clock may be late.
    fn is_over(&self) -> bool {
        self.written + self.end.tolerance(self.written).late < self.end.now()
    }

    /// As [`line`](Self::line), but records the segments that leave instead of comparing them.
    fn record(&mut self, line: &Line, lines: &mut Vec<String>) -> Result<(), Mistake> {
        let wrong = |message: String| Mistake::new(line.number, message);
        self.set_time(line.when);
        self.end.pass(self.written, WaitFor::Time).map_err(wrong)?;
        while let Some(departure) = self.next_departure() {
            lines.push(format!("{:>10} > {}", ms(departure.at), Words(&departure.segment)));
        }
        match &line.step {
            Step::Leaves(_) => {}
            Step::Is(claims) => {
                for claim in claims {
                    let value = self.end.value(claim.quantity).map_err(wrong)?;
                    lines.push(format!("{:>10} is {} {value:?}", ms(self.end.now()), claim.quantity));
                }
            }
            step => {
                lines.push(format!("{:>10} line {}", ms(self.end.now()), line.number));
                self.act(step).map_err(wrong)?;
            }
        }
        Ok(())
    }

    /// Performs an action of the script. Checks are no actions.
    fn act(&mut self, step: &Step) -> Result<(), String> {
        match step {
            Step::Open => self.end.act(Action::Open),
            Step::Write(bytes) => self.end.act(Action::Write(*bytes)),
            Step::Close => self.end.act(Action::Close),
            Step::Arrives(arriving) => self.arrives(arriving),
            Step::Leaves(_) | Step::Is(_) => Ok(()),
        }
    }

    fn next_departure(&mut self) -> Option<Departure> {
        self.pending.pop_front().or_else(|| self.end.take_departure())
    }

    /// Passes the segments of a line to the end under test.
    fn arrives(&mut self, arriving: &Arriving) -> Result<(), String> {
        let (first, last) = match arriving.ack {
            Some((first, last)) => (Some(first), last),
            None if arriving.syn || arriving.no_ack => (None, 0),
            None => (self.ack, self.ack.unwrap_or_default()),
        };
        let step = self.end.segment_payload() as usize;
        let acks: Vec<Option<u64>> = match first {
            Some(first) => (first..=last).step_by(step).map(Some).collect(),
            None => vec![None],
        };
        for ack in acks {
            for _ in 0..arriving.times {
                let segment = self.segment(arriving, ack);
                self.end.receive(&segment)?;
            }
        }
        Ok(())
    }

    /// Returns a segment of the other end. Fields that the script does not give follow from the
    /// segments before.
    fn segment(&mut self, arriving: &Arriving, ack: Option<u64>) -> Segment {
        let seq = arriving.range.map(|(from, _)| from).or(arriving.seq).unwrap_or(self.seq);
        let payload = arriving.range.map_or(0, |(from, to)| (to - from) as u32);
        self.window = arriving.window.unwrap_or(self.window);
        self.ack = ack.or(self.ack);
        self.timestamps |= arriving.timestamps;
        let Bits { rst, ece, cwr } = arriving.bits;
        let segment = Segment {
            flags: Flags {
                syn: arriving.syn,
                fin: arriving.fin,
                ack: ack.is_some(),
                rst,
                ece,
                cwr,
                psh: false,
            },
            ecn: if arriving.ce { Ecn::Experienced } else { Ecn::NotCapable },
            seq,
            ack: ack.unwrap_or_default(),
            payload,
            window: if arriving.syn { self.window.min(MAX_UNSCALED) } else { self.window },
            mss: arriving.mss.unwrap_or_default(),
            sack: SackBlocks::new(ack.unwrap_or_default(), arriving.sack.iter().copied()),
            // By default all options are offered. The end under test ignores options that it did
            // not offer.
            options: Options {
                window_scale: (arriving.syn && self.shift > 0).then_some(self.shift),
                sack_permitted: arriving.syn,
                timestamps: self.timestamps,
            },
            timestamp: arriving.stamp.map_or(self.written, |stamp| Time::ZERO + stamp),
            echo: match arriving.echo {
                Some(echo) => self.end.timestamp_at(Time::ZERO + echo),
                None => ack.map_or(Time::ZERO, |ack| self.end.timestamp_of(ack)),
            },
            ..Segment::new(ConnectionId(0), End::Ue.sends())
        };
        self.seq = self.seq.max(segment.end());
        segment
    }

    /// Compares segments that leave. `half_digit` is `None` if the line has no time.
    fn leaves(&mut self, expected: &Leaving, half_digit: Option<Duration>) -> Result<(), String> {
        let mut from = expected.range.map_or(0, |(from, _)| from);
        let until = expected.range.map_or(0, |(_, to)| to);
        // A line without a time refers to the time at which the segment before left.
        let due = if half_digit.is_none() { self.end.now() } else { self.written };
        let tolerance = self.end.tolerance(due);
        let half_digit = half_digit.unwrap_or(Duration::ZERO);
        let (early, late) = (half_digit + tolerance.early, half_digit + tolerance.late);
        loop {
            if self.pending.is_empty() {
                self.end.pass(due + late, WaitFor::Departure)?;
            }
            let Some(departure) = self.next_departure() else {
                return Err(format!("expected at {}: {expected}; no segment leaves", ms(due)));
            };
            let Departure { at, segment } = departure;
            let is_early = due.saturating_since(at) > early;
            if is_early || at.saturating_since(due) > late || !expected.meets(&segment, from) {
                return Err(format!("expected at {}: {expected}; leaves {}", ms(due), describe(&departure)));
            }
            from = segment.seq + u64::from(segment.payload);
            if expected.range.is_none() || from >= until {
                return Ok(());
            }
        }
    }

    fn check(&mut self, claim: &Claim) -> Result<(), String> {
        let found = match self.end.value(claim.quantity)? {
            Value::Word(word) if word == claim.value => return Ok(()),
            Value::Word(word) => return Err(differs(claim, &word)),
            Value::Number(number) => number,
        };
        let expected: f64 = claim.value.parse().expect("a script has only numbers here");
        let decimals = claim.value.split_once('.').map_or(0, |(_, decimals)| decimals.len() as i32);
        // Half of the last digit written, with a margin for rounding.
        let tolerance = 0.5 * 10f64.powi(-decimals) * 1.000_001 + self.end.slack(claim.quantity);
        let meets = found == expected || (found - expected).abs() <= tolerance;
        if meets { Ok(()) } else { Err(differs(claim, &found.to_string())) }
    }
}

fn differs(claim: &Claim, found: &str) -> String {
    format!("{} is {found}, not {}", claim.quantity, claim.value)
}

fn describe(departure: &Departure) -> String {
    format!("{} at {}", Words(&departure.segment), ms(departure.at))
}

fn ms(at: Time) -> String {
    format!("{} ms", at.as_nanos() as f64 / 1e6)
}
