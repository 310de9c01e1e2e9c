//! Holds a conversation: plays the application and the other end, and compares what leaves.

use std::collections::VecDeque;
use std::path::Path;

use umts_scenario::Scenario;
use umts_stack::Cx;
use umts_stack::ids::{ConnectionId, End, FlowId, PacketId, UeId};
use umts_stack::packet::{Ecn, Flags, Options, SackBlocks, Segment};
use umts_stack::tcp::{Connection, TcpConfig, TcpEvent};
use umts_stack::trace::TraceEvent;
use umts_units::{Duration, Time};

use crate::problem::Mistake;
use crate::script::{Claim, Line, Moment, Quantity, Script, Setting, What, When};
use crate::segment::{Arriving, Bits, Leaving, Words};

/// More expiries of timers between two lines than any script means.
const EXPIRIES: usize = 10_000;

/// The least scenario, whose table `[tcp]` the settings change.
const SCENARIO: &str = "version = 1\nduration = \"1 s\"\n[[ue]]\nname = \"ue\"\n[[flow]]\nue = \"ue\"\n";

pub(crate) fn run(script: &Script) -> Result<(), Mistake> {
    let config = config(&script.settings)?;
    let mut talk = Talk::new(&config);
    for line in &script.lines {
        talk.line(line)?;
    }
    let last = script.lines.last().map_or(0, |line| line.number);
    match talk.left.pop_front() {
        Some((at, segment)) => {
            Err(Mistake::new(last, format!("then leaves, not written here: {}", said(at, &segment))))
        }
        None => Ok(()),
    }
}

/// The connection that the settings describe, by the same way as from a scenario file.
fn config(settings: &[Setting]) -> Result<TcpConfig, Mistake> {
    let overrides: Vec<_> =
        settings.iter().map(|set| (format!("tcp.{}", set.key), set.value.clone())).collect();
    let loaded = Scenario::parse(SCENARIO, "script", Path::new(""), &overrides).map_err(|error| {
        let line = settings.iter().find(|set| error.key().ends_with(&set.key)).map_or(1, |set| set.line);
        let help = error.help().map_or_else(String::new, |help| format!(" ({help})"));
        Mistake::new(line, format!("{}{help}", error.message()))
    })?;
    Ok(loaded.scenario.tcp.config())
}

struct Talk {
    end: Connection,
    now: Time,
    /// The time written last.
    written: Time,
    /// What has left and no line has mentioned yet.
    left: VecDeque<(Time, Segment)>,
    mss: u32,
    /// The other end's next number, acknowledgment and window.
    seq: u64,
    ack: Option<u64>,
    window: u32,
    /// Segments of the other end carry timestamps.
    timestamps: bool,
    /// When each of our segments last left, by the number after it.
    sent: Vec<(u64, Time)>,
    delivered: u64,
    timeouts: u64,
}

impl Talk {
    fn new(config: &TcpConfig) -> Self {
        Talk {
            end: Connection::new(ConnectionId(0), FlowId(0), UeId(0), End::Server, *config),
            now: Time::ZERO,
            written: Time::ZERO,
            left: VecDeque::new(),
            mss: config.segment_payload,
            seq: 0,
            ack: None,
            window: 65_535,
            timestamps: false,
            sent: Vec::new(),
            delivered: 0,
            timeouts: 0,
        }
    }

    fn line(&mut self, line: &Line) -> Result<(), Mistake> {
        let wrong = |message: String| Mistake::new(line.number, message);
        let half_digit = match line.when {
            When::Same => {
                self.written = self.written.max(self.now);
                None
            }
            When::At(Moment { time, half_digit }) => {
                self.written = Time::ZERO + time;
                Some(half_digit)
            }
            When::After(Moment { time, half_digit }) => {
                self.written += time;
                Some(half_digit)
            }
        };
        if self.written < self.now && !matches!(line.what, What::Leaves(_)) {
            return Err(wrong(format!("{} is over", ms(self.written))));
        }
        if let What::Leaves(expected) = &line.what {
            return self.leaves(expected, half_digit).map_err(wrong);
        }
        self.pass_until(self.written).map_err(wrong)?;
        if let What::Is(claims) = &line.what {
            return claims.iter().try_for_each(|claim| self.check(claim)).map_err(wrong);
        }
        if let Some((at, segment)) = self.left.front() {
            return Err(wrong(format!("before this leaves, not written here: {}", said(*at, segment))));
        }
        match &line.what {
            What::Open => self.call(|end, cx| end.handle_open(cx)),
            What::Write(bytes) => self.call(|end, cx| end.handle_write(cx, *bytes)),
            What::Close => self.call(|end, cx| end.handle_close(cx)),
            What::Arrives(arriving) => self.arrives(arriving),
            What::Leaves(_) | What::Is(_) => {}
        }
        Ok(())
    }

    /// Lets every timer expire that is due before `until`.
    fn pass_until(&mut self, until: Time) -> Result<(), String> {
        for _ in 0..EXPIRIES {
            match self.end.poll_timeout() {
                Some(at) if at < until => self.expire(at),
                _ => {
                    self.now = self.now.max(until);
                    return Ok(());
                }
            }
        }
        Err(format!("timers expire without end at {}", ms(self.now)))
    }

    fn expire(&mut self, at: Time) {
        self.now = self.now.max(at);
        self.call(|end, cx| end.handle_timeout(cx));
    }

    /// Does something to the connection and drains it.
    fn call(&mut self, action: impl FnOnce(&mut Connection, &mut Cx<'_, Vec<(Time, TraceEvent)>>)) {
        let mut trace = Vec::new();
        let mut cx = Cx::new(self.now, &mut trace);
        action(&mut self.end, &mut cx);
        let mut segment = Segment::new(self.end.id(), self.end.end().sends());
        while self.end.poll_transmit(&mut cx, &mut segment).is_some() {
            self.left.push_back((self.now, segment));
            self.sent.push((segment.end(), self.now));
        }
        while let Some(event) = self.end.poll_event() {
            if let TcpEvent::Delivered(bytes) = event {
                self.delivered += bytes;
            }
        }
        let expired = |(_, event): &&(Time, TraceEvent)| matches!(event, TraceEvent::RtoExpired { .. });
        self.timeouts += trace.iter().filter(expired).count() as u64;
    }

    fn arrives(&mut self, arriving: &Arriving) {
        let (first, last) = match arriving.ack {
            Some((first, last)) => (Some(first), last),
            None if arriving.syn => (None, 0),
            None => (self.ack, self.ack.unwrap_or_default()),
        };
        let acks = first.map_or(vec![None], |first| {
            (first..=last).step_by(self.mss as usize).map(Some).collect::<Vec<_>>()
        });
        for ack in acks {
            for _ in 0..arriving.times {
                let segment = self.segment(arriving, ack);
                let packet = self.end.packet(PacketId(0), segment);
                self.call(|end, cx| end.handle_packet(cx, &packet));
            }
        }
    }

    fn segment(&mut self, arriving: &Arriving, ack: Option<u64>) -> Segment {
        let seq = arriving.range.map(|(from, _)| from).or(arriving.seq).unwrap_or(self.seq);
        let payload = arriving.range.map_or(0, |(from, to)| (to - from) as u32);
        self.window = arriving.window.unwrap_or(self.window);
        self.ack = ack.or(self.ack);
        self.timestamps |= arriving.timestamps;
        let Bits { rst, ece, cwr } = arriving.bits;
        let answered = self.sent.iter().rev().find(|(end, _)| Some(*end) == ack);
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
            window: self.window,
            mss: arriving.mss.unwrap_or_default(),
            sack: SackBlocks::new(ack.unwrap_or_default(), arriving.sack.iter().copied()),
            // What the script does not say is offered; what our end did not offer it does not take.
            options: Options {
                sack_permitted: arriving.syn,
                timestamps: self.timestamps,
                ..Options::default()
            },
            timestamp: self.now,
            echo: match arriving.echo {
                Some(echo) => Time::ZERO + echo,
                None => answered.map_or(Time::ZERO, |(_, at)| *at),
            },
            ..Segment::new(ConnectionId(0), End::Ue.sends())
        };
        self.seq = self.seq.max(segment.end());
        segment
    }

    /// `half_digit`: of the time written beside it, if there is one.
    fn leaves(&mut self, expected: &Leaving, half_digit: Option<Duration>) -> Result<(), String> {
        let mut from = expected.range.map_or(0, |(from, _)| from);
        let until = expected.range.map_or(0, |(_, to)| to);
        let tolerance = half_digit.unwrap_or(Duration::ZERO);
        // A line without a time means the instant at which the one before left.
        let due = if half_digit.is_none() { self.now } else { self.written };
        loop {
            self.wait_for_a_segment(due + tolerance);
            let Some((at, segment)) = self.left.pop_front() else {
                return Err(format!("expected at {}: {expected}; nothing leaves", ms(due)));
            };
            let early = due.saturating_since(at) > tolerance;
            if early || at.saturating_since(due) > tolerance || !expected.meets(&segment, from) {
                return Err(format!("expected at {}: {expected}; leaves {}", ms(due), said(at, &segment)));
            }
            from = segment.seq + u64::from(segment.payload);
            if expected.range.is_none() || from >= until {
                return Ok(());
            }
        }
    }

    fn wait_for_a_segment(&mut self, until: Time) {
        for _ in 0..EXPIRIES {
            match self.end.poll_timeout() {
                Some(at) if at <= until && self.left.is_empty() => self.expire(at),
                _ => return,
            }
        }
    }

    fn check(&self, claim: &Claim) -> Result<(), String> {
        let in_ms = |duration: Duration| duration.as_nanos() as f64 / 1e6;
        let found = match claim.quantity {
            Quantity::Cwnd => self.end.cwnd(),
            Quantity::Ssthresh => self.end.ssthresh(),
            Quantity::Inflation => f64::from(self.end.inflation()),
            Quantity::Outstanding => self.end.outstanding_bytes() as f64,
            Quantity::Rto => in_ms(self.end.rto()),
            Quantity::Srtt => in_ms(self.end.estimator().srtt()),
            Quantity::Timeouts => self.timeouts as f64,
            Quantity::Delivered => self.delivered as f64,
            Quantity::State | Quantity::Failure => {
                let failure = self.end.failure().map_or("none".to_owned(), |failure| format!("{failure:?}"));
                let state = format!("{:?}", self.end.state());
                let word = if claim.quantity == Quantity::State { state } else { failure }.to_lowercase();
                return if word == claim.value { Ok(()) } else { Err(differs(claim, &word)) };
            }
        };
        let expected: f64 = claim.value.parse().expect("it was read as a number");
        let decimals = claim.value.split_once('.').map_or(0, |(_, decimals)| decimals.len() as i32);
        // Half of the last digit written, and what adding in another order makes of it.
        let tolerance = 0.5 * 10f64.powi(-decimals) * 1.000_001;
        let meets = found == expected || (found - expected).abs() <= tolerance;
        if meets { Ok(()) } else { Err(differs(claim, &found.to_string())) }
    }
}

fn differs(claim: &Claim, found: &str) -> String {
    format!("{} is {found}, not {}", claim.quantity, claim.value)
}

fn said(at: Time, segment: &Segment) -> String {
    format!("{} at {}", Words(segment), ms(at))
}

fn ms(at: Time) -> String {
    format!("{} ms", at.as_nanos() as f64 / 1e6)
}
