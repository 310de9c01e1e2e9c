//! RLIST (relative list), a super-field of a STATUS: TS 25.322 §9.2.2.11.6. FSN is the first missing PDU.
//! Codewords of four bits hold the distances from each missing PDU to the next.
//!
//! ```text
//!   codeword  ┌─────┬───┐   xxx: three bits of a number, the least significant group first
//!             │ xxx │ c │   c:   1 if this group is the last of its number
//!             └─────┴───┘
//!   0001 instead of a number marks a burst: the next number counts further consecutive missing PDUs.
//!   Missing 300, 301, 309 to 318, 326:  FSN 300 · +1 0011 · +8 0000 0011 · burst 0001, 9 0010 0011 · +8 0000 0011
//! ```
//!
//! The standard does not define a number of zero. Here it is invalid.

use super::{put_sn, sn};
use crate::radio::bits::{BitReader, BitWriter};
use crate::radio::rlc::wire::error::{Rule, WireError, take};
use crate::radio::rlc::{Sn, SnRun};

/// The mark of a burst.
const BURST: u8 = 0b0001;

/// FSN and up to 15 codewords, which can be decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rlist {
    fsn: Sn,
    codewords: Vec<u8>,
}

impl Rlist {
    /// Maximum number of codewords.
    pub const MAX_CODEWORDS: usize = 15;

    /// An RLIST of these codewords.
    ///
    /// # Errors
    /// Returns an error if the codewords cannot be decoded.
    pub fn new(fsn: Sn, codewords: Vec<u8>) -> Result<Self, Rule> {
        if codewords.len() > Self::MAX_CODEWORDS {
            return Err(Rule::RlistLength);
        }
        if codewords.iter().any(|&codeword| codeword >> 4 != 0) {
            return Err(Rule::TooLarge);
        }
        decode(fsn, &codewords)?;
        Ok(Rlist { fsn, codewords })
    }

    /// An RLIST of as many of the ascending runs `missing` as fit, and the number of PDUs in the
    /// RLIST.
    ///
    /// # Errors
    /// Returns an error if there is no run, or if the runs do not ascend within one cycle of the
    /// sequence numbers.
    pub fn of(missing: &[SnRun]) -> Result<(Self, u64), Rule> {
        let fsn = missing.first().ok_or(Rule::RlistZero)?.first;
        // FSN lists the first PDU of the first run.
        let (mut codewords, mut listed, mut last_listed) = (Vec::new(), 1, fsn);
        for (index, run) in missing.iter().enumerate() {
            let mut distance = Vec::new();
            if index > 0 {
                put_number(&mut distance, run.first.steps_from(last_listed));
            }
            if codewords.len() + distance.len() > Self::MAX_CODEWORDS {
                break;
            }
            codewords.extend(distance);
            last_listed = run.first;
            listed += u64::from(index > 0);
            // The other PDUs of the run.
            let further = u64::from(run.count).saturating_sub(1);
            let room = Self::MAX_CODEWORDS - codewords.len();
            let Some(further_codewords) = consecutive_pdus(further, room) else { break };
            codewords.extend(further_codewords);
            last_listed = last_listed.plus(further);
            listed += further;
        }
        Ok((Rlist::new(fsn, codewords)?, listed))
    }

    /// Runs of missing PDUs.
    pub fn missing(&self) -> Vec<SnRun> {
        decode(self.fsn, &self.codewords).expect("the constructor has decoded them")
    }

    /// FSN.
    pub fn first(&self) -> Sn {
        self.fsn
    }

    pub(super) fn parse(reader: &mut BitReader<'_>) -> Result<Self, WireError> {
        let length = take(reader, 4)?;
        let fsn = sn(reader)?;
        let bit = reader.at();
        let codewords = (0..length).map(|_| Ok(take(reader, 4)? as u8)).collect::<Result<_, WireError>>()?;
        Rlist::new(fsn, codewords).map_err(|rule| rule.at(bit))
    }

    pub(super) fn emit(&self, writer: &mut BitWriter<'_>) {
        put_sn(writer.put(self.codewords.len() as u32, 4), self.fsn);
        for &codeword in &self.codewords {
            writer.put(codeword.into(), 4);
        }
    }

    pub(super) fn bits(&self) -> usize {
        16 + 4 * self.codewords.len()
    }
}

/// Codewords for `further` more consecutive missing PDUs: a burst, or a distance of 1 for each PDU,
/// whichever is shorter. `None` if they need more than `room` codewords.
fn consecutive_pdus(further: u64, room: usize) -> Option<Vec<u8>> {
    let mut burst = vec![BURST];
    put_number(&mut burst, further);
    // A distance of 1 takes one codeword.
    let codewords = if further <= burst.len() as u64 {
        let mut distances = Vec::new();
        (0..further).for_each(|_| put_number(&mut distances, 1));
        distances
    } else {
        burst
    };
    (codewords.len() <= room).then_some(codewords)
}

/// Appends the codewords of a number, with three bits in each.
fn put_number(codewords: &mut Vec<u8>, mut number: u64) {
    loop {
        let group = (number & 7) as u8;
        number >>= 3;
        codewords.push(group << 1 | u8::from(number == 0));
        if number == 0 {
            return;
        }
    }
}

/// Decodes the runs of missing PDUs.
fn decode(fsn: Sn, codewords: &[u8]) -> Result<Vec<SnRun>, Rule> {
    let mut runs = vec![SnRun { first: fsn, count: 1 }];
    // Number of sequence numbers from FSN to the last missing PDU.
    let mut span = 1;
    let mut unread = codewords.iter().copied().peekable();
    while let Some(&next) = unread.peek() {
        let is_burst = next == BURST;
        if is_burst {
            unread.next();
        }
        let number = take_number(&mut unread)?;
        span += number;
        if span > Sn::MODULUS {
            return Err(Rule::RlistBeyondRound);
        }
        let last = runs.last_mut().expect("the first run begins with FSN");
        match number {
            0 => return Err(Rule::RlistZero),
            _ if is_burst => last.count += number as u16,
            1 => last.count += 1,
            _ => {
                let first = last.first.plus(u64::from(last.count) - 1 + number);
                runs.push(SnRun { first, count: 1 });
            }
        }
    }
    Ok(runs)
}

/// Reads the codewords of one number. The sum never overflows: an RLIST has at most 15 codewords, 45
/// bits.
fn take_number(codewords: &mut impl Iterator<Item = u8>) -> Result<u64, Rule> {
    let (mut number, mut shift) = (0, 0);
    loop {
        let codeword = codewords.next().ok_or(Rule::RlistOpen)?;
        number |= u64::from(codeword >> 1) << shift;
        if codeword & 1 == 1 {
            return Ok(number);
        }
        shift += 3;
    }
}
