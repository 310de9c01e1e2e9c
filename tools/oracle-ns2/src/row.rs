//! Lines of event files: parsing, formatting and comparison.

use std::fmt;
use std::str::FromStr;

/// ns-2 prints cwnd and the timeout with six significant digits, so that they are up to half a unit
/// of the sixth digit off: relative to the number, at most this much.
const SIX_DIGITS: f64 = 5.001e-6;

/// Largest difference of times, in seconds: those of ns-2 have rounding noise.
const TIME_TOLERANCE_S: f64 = 2.0e-6;

/// The first line of an event file.
pub const HEADER: &str = "t,ev,seq,rtx,cwnd,ssthresh,dupacks,srtt8,rttvar4,backoff,rto";

/// An event of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Time, in seconds.
    pub at_s: f64,
    /// `S`: sent; `A`: acknowledgment processed; `T`: timer expired; `D`, `Q`, `d`: lost data on
    /// the link, data in the queue, an acknowledgment.
    pub event: char,
    /// Number of the packet. For an acknowledgment, the highest packet received in order.
    pub packet: i64,
    /// For a transmission: whether the packet had been sent before.
    pub again: Option<bool>,
    /// The sender's state. `None` for losses.
    pub state: Option<State>,
}

/// The sender's state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct State {
    /// Congestion window, in packets.
    pub cwnd: f64,
    /// Slow start threshold, in packets.
    pub ssthresh: f64,
    /// Number of duplicate ACKs as the agent counts them.
    pub duplicates: i64,
    /// 8 SRTT, in ticks.
    pub srtt8: i64,
    /// 4 RTTVAR, in ticks.
    pub rttvar4: i64,
    /// Back-off factor of the timeout.
    pub backoff: u32,
    /// Retransmission timeout, in seconds.
    pub rto_s: f64,
}

impl Row {
    /// Returns whether this is an event of the sender, whose order and state must agree. Losses may
    /// change places with other events at the same instant.
    pub fn is_of_sender(&self) -> bool {
        self.state.is_some()
    }

    /// Returns whether this row equals the row of ns-2: time to 2 µs, cwnd and timeout to the six
    /// digits printed, the rest exactly. `dupacks` and the registers of the estimator are not
    /// compared, because they are internal to the agents; the timeout follows from the registers.
    pub fn meets(&self, golden: &Row) -> bool {
        // A number near 0 would have hardly any tolerance.
        let agree = |ours: f64, theirs: f64| (ours - theirs).abs() <= SIX_DIGITS * theirs.abs().max(1e-3);
        (self.at_s - golden.at_s).abs() <= TIME_TOLERANCE_S
            && (self.event, self.packet, self.again) == (golden.event, golden.packet, golden.again)
            && match (&self.state, &golden.state) {
                (Some(ours), Some(theirs)) => {
                    agree(ours.cwnd, theirs.cwnd)
                        && ours.ssthresh == theirs.ssthresh
                        && agree(ours.rto_s, theirs.rto_s)
                }
                (ours, theirs) => ours.is_none() && theirs.is_none(),
            }
    }
}

/// Returns a description of the first row in which two runs differ.
pub fn first_difference(ours: &[Row], theirs: &[Row]) -> Option<String> {
    let of_sender = difference_among(ours, theirs, Row::is_of_sender);
    of_sender.or_else(|| difference_among(ours, theirs, |row| !row.is_of_sender()))
}

/// As [`first_difference`], for the rows that `is_selected` selects.
fn difference_among(ours: &[Row], theirs: &[Row], is_selected: impl Fn(&Row) -> bool) -> Option<String> {
    let ours: Vec<&Row> = ours.iter().filter(|row| is_selected(row)).collect();
    let theirs: Vec<&Row> = theirs.iter().filter(|row| is_selected(row)).collect();
    let index = (0..ours.len().max(theirs.len())).find(|&i| match (ours.get(i), theirs.get(i)) {
        (Some(ours), Some(theirs)) => !ours.meets(theirs),
        _ => true,
    })?;
    let text = |row: Option<&&Row>| row.map_or("nothing".to_owned(), |row| row.to_string());
    Some(format!("got {} instead of {}", text(ours.get(index)), text(theirs.get(index))))
}

/// A line that is not a row.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{0:?} is not a row of an event file")]
pub struct NotARow(String);

impl FromStr for Row {
    type Err = NotARow;

    fn from_str(line: &str) -> Result<Self, NotARow> {
        parse(line).ok_or_else(|| NotARow(line.to_owned()))
    }
}

fn parse(line: &str) -> Option<Row> {
    let fields: Vec<&str> = line.split(',').collect();
    let [at, event, packet, again, state @ ..] = fields.as_slice() else { return None };
    let mut event = event.chars();
    let row = Row {
        at_s: at.parse().ok()?,
        event: event.next()?,
        packet: packet.parse().ok()?,
        again: match *again {
            "" => None,
            "0" => Some(false),
            "1" => Some(true),
            _ => return None,
        },
        state: if state.iter().all(|text| text.is_empty()) { None } else { Some(parse_state(state)?) },
    };
    event.next().is_none().then_some(row)
}

fn parse_state(fields: &[&str]) -> Option<State> {
    let [cwnd, ssthresh, duplicates, srtt8, rttvar4, backoff, rto] = fields else { return None };
    // The agents from Linux have a different estimator.
    let register = |text: &str| if text.is_empty() { Some(0) } else { text.parse().ok() };
    Some(State {
        cwnd: cwnd.parse().ok()?,
        ssthresh: ssthresh.parse().ok()?,
        duplicates: duplicates.parse().ok()?,
        srtt8: register(srtt8)?,
        rttvar4: register(rttvar4)?,
        backoff: backoff.parse().ok()?,
        rto_s: if rto.is_empty() { 0.0 } else { rto.parse().ok()? },
    })
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let again = self.again.map_or("", |again| if again { "1" } else { "0" });
        write!(f, "{:.9},{},{},{again},", self.at_s, self.event, self.packet)?;
        let Some(State { cwnd, ssthresh, duplicates, srtt8, rttvar4, backoff, rto_s }) = self.state else {
            return write!(f, ",,,,,,");
        };
        let (cwnd, rto) = (six_digits(cwnd), six_digits(rto_s));
        write!(f, "{cwnd},{ssthresh},{duplicates},{srtt8},{rttvar4},{backoff},{rto}")
    }
}

/// Formats as C's `%g` does, for numbers that it writes without an exponent.
fn six_digits(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    // The exponent after rounding to six digits: 9.9999999 has the exponent of 10.
    let exponent: i32 = format!("{value:.5e}").rsplit('e').next().and_then(|e| e.parse().ok()).unwrap_or(0);
    let decimals = usize::try_from(5 - exponent).unwrap_or(0);
    let text = format!("{value:.decimals$}");
    if !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_formatted_as_they_were_parsed() {
        for line in [
            "0.631200000,A,2,,3.33333,20,0,168,24,1,0.45",
            "0.631200000,S,5,0,3,20,0,168,24,1,0.45",
            "1.472400000,D,30,,,,,,,,",
        ] {
            assert_eq!(line.parse::<Row>().expect("a row").to_string(), line);
        }
    }

    #[test]
    fn invalid_rows_are_errors() {
        for line in ["", "t,ev,seq", "1,A,2,,3", "1,AB,2,,,,,,,,", "1,A,2,2,,,,,,,"] {
            assert!(line.parse::<Row>().is_err(), "{line}");
        }
    }

    #[test]
    fn six_digits_equal_the_format_of_c() {
        let texts = [0.45, 10.0, 123.4567, 9.999_999_9, 0.012_345_678, 123_456.0].map(six_digits);
        assert_eq!(texts, ["0.45", "10", "123.457", "10", "0.0123457", "123456"]);
    }
}
