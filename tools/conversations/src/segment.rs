//! Segments as described in scripts.

use std::fmt;

use umts_stack::packet::{Ecn, Flags, Segment};
use umts_units::Duration;

/// A segment from the other end.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Arriving {
    pub syn: bool,
    pub fin: bool,
    /// The acknowledgment; by default, the one of the last segment. `acks a..b` has one for each
    /// full segment.
    pub ack: Option<(u64, u64)>,
    /// `a..b` of `data`, or the number of a `fin`.
    pub range: Option<(u64, u64)>,
    /// In bytes. By default, unchanged.
    pub window: Option<u32>,
    pub mss: Option<u16>,
    pub sack: Vec<(u64, u64)>,
    /// On a SYN: this and later segments have timestamps.
    pub timestamps: bool,
    /// Echoed timestamp, since the beginning of the conversation. By default, the one of the
    /// acknowledged segment.
    pub echo: Option<Duration>,
    /// It has no acknowledgment.
    pub no_ack: bool,
    /// Its own timestamp, since the beginning of the conversation. By default, the time of the
    /// line.
    pub stamp: Option<Duration>,
    /// Number of copies.
    pub times: u32,
    pub bits: Bits,
    /// Sequence number of a segment without data. By default, the next one.
    pub seq: Option<u64>,
    /// A router marked it (CE).
    pub ce: bool,
}

/// The less frequent control bits.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Bits {
    pub rst: bool,
    pub ece: bool,
    pub cwr: bool,
}

impl Bits {
    fn of(segment: &Segment) -> Self {
        let Flags { rst, ece, cwr, .. } = segment.flags;
        Bits { rst, ece, cwr }
    }

    /// Sets the bit of this word. Returns false if there is none.
    pub fn set(&mut self, word: &str) -> bool {
        match word {
            "rst" => self.rst = true,
            "ece" => self.ece = true,
            "cwr" => self.cwr = true,
            _ => return false,
        }
        true
    }

    fn words(self) -> impl Iterator<Item = String> {
        let bits = [(self.rst, "rst"), (self.ece, "ece"), (self.cwr, "cwr")];
        bits.into_iter().filter(|(is_set, _)| *is_set).map(|(_, word)| word.to_owned())
    }
}

/// A segment that must leave. Only the given fields are compared, and the flags.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Leaving {
    pub syn: bool,
    pub fin: bool,
    pub ack: Option<u64>,
    /// `a..b` of `data`, in several segments if it exceeds one; or the number of a `fin`.
    pub range: Option<(u64, u64)>,
    pub window: Option<u32>,
    pub mss: Option<u16>,
    pub sack: Option<Vec<(u64, u64)>>,
    /// It is a retransmission.
    pub again: bool,
    pub bits: Bits,
    /// Sequence number of a segment without data.
    pub seq: Option<u64>,
    /// It is ECN-capable (ECT).
    pub ect: bool,
}

impl Leaving {
    /// Returns whether the segment has sequence space, so that it can be retransmitted.
    pub fn is_numbered(&self) -> bool {
        self.syn || self.fin || self.range.is_some()
    }

    /// Returns whether `segment` matches. `from` is the beginning of the part of `range` that has
    /// not left yet.
    pub fn meets(&self, segment: &Segment, from: u64) -> bool {
        let end = self.range.map_or(from, |(_, end)| end);
        let data_end = segment.seq + u64::from(segment.payload);
        let is_last = data_end == end;
        let flags_match = segment.flags.syn == self.syn
            && segment.flags.fin == (self.fin && is_last)
            && Bits::of(segment) == self.bits;
        let range_matches = match self.range {
            Some((_, end)) => segment.seq == from && data_end <= end && (from == end || segment.payload > 0),
            None => segment.payload == 0,
        };
        let again_matches = !self.is_numbered() || (segment.transmission > 0) == self.again;
        let sack = || segment.sack.ranges(segment.ack).collect::<Vec<_>>();
        flags_match
            && range_matches
            && again_matches
            && (!self.ect || segment.ecn == Ecn::Capable)
            && self.seq.is_none_or(|seq| segment.seq == seq)
            && self.ack.is_none_or(|ack| segment.flags.ack && segment.ack == ack)
            && self.window.is_none_or(|window| segment.window == window)
            && self.mss.is_none_or(|mss| segment.mss == mss)
            && self.sack.as_ref().is_none_or(|blocks| *blocks == sack())
    }
}

/// Formats all of a segment in the words of scripts.
pub(crate) struct Words<'a>(pub &'a Segment);

impl fmt::Display for Words<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let segment = self.0;
        let mut words = Vec::new();
        if segment.flags.syn {
            words.push("syn".to_owned());
        }
        words.extend(Bits::of(segment).words());
        if segment.flags.rst || (segment.payload == 0 && !segment.flags.syn && !segment.flags.fin) {
            words.push(format!("seq {}", segment.seq));
        }
        if segment.payload > 0 {
            words.push(format!("data {}..{}", segment.seq, segment.seq + u64::from(segment.payload)));
        }
        if segment.flags.fin {
            words.push(if segment.payload > 0 { "fin".to_owned() } else { format!("fin {}", segment.seq) });
        }
        if segment.flags.ack {
            words.push(format!("ack {}", segment.ack));
        }
        words.extend(segment.sack.ranges(segment.ack).map(|(start, end)| format!("sack {start}..{end}")));
        if segment.transmission > 0 {
            words.push("again".to_owned());
        }
        f.write_str(&words.join(" "))
    }
}

impl fmt::Display for Leaving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words = Vec::new();
        words.extend(self.syn.then(|| "syn".to_owned()));
        words.extend(self.bits.words());
        words.extend(self.seq.map(|seq| format!("seq {seq}")));
        match self.range {
            Some((from, to)) if from == to => words.push(format!("fin {from}")),
            Some((from, to)) => {
                words.push(format!("data {from}..{to}"));
                words.extend(self.fin.then(|| "fin".to_owned()));
            }
            None => {}
        }
        words.extend(self.ack.map(|ack| format!("ack {ack}")));
        words.extend(self.window.map(|window| format!("window {window}")));
        words.extend(self.mss.map(|mss| format!("mss {mss}")));
        words.extend(self.sack.iter().flatten().map(|(start, end)| format!("sack {start}..{end}")));
        words.extend(self.ect.then(|| "ect".to_owned()));
        words.extend(self.again.then(|| "again".to_owned()));
        f.write_str(&words.join(" "))
    }
}
