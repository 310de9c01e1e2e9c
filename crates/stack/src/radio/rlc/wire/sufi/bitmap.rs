//! BITMAP, a super-field of a STATUS: TS 25.322 §9.2.2.11.5. It has a bit for each of several consecutive
//! PDUs, 1 for received and 0 for missing. The first bit is for the PDU with number FSN.

use super::{put_sn, sn};
use crate::radio::bits::{BitReader, BitWriter};
use crate::radio::rlc::wire::error::{Rule, WireError, take};
use crate::radio::rlc::{Sn, SnRun};

/// A BITMAP with 1 to 16 octets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bitmap {
    fsn: Sn,
    map: Vec<u8>,
}

impl Bitmap {
    /// Maximum number of octets of a map.
    pub const MAX_OCTETS: usize = 16;
    /// Maximum number of PDUs of a map.
    pub const MAX_PDUS: u64 = Self::MAX_OCTETS as u64 * 8;

    /// A BITMAP with its first bit for `fsn`.
    ///
    /// # Errors
    /// Returns an error if the map is empty or too long.
    pub fn new(fsn: Sn, map: Vec<u8>) -> Result<Self, Rule> {
        if map.is_empty() || map.len() > Self::MAX_OCTETS {
            Err(Rule::BitmapLength)
        } else {
            Ok(Bitmap { fsn, map })
        }
    }

    /// A BITMAP of `count` PDUs from `fsn` on, in which the runs `missing` are missing. Parts of runs
    /// outside this range are ignored. Bits after the last PDU are set: a 0 there would report a PDU
    /// as missing that was perhaps never sent, and the peer would have to reset (§10).
    ///
    /// # Errors
    /// Returns an error if `count` is 0 or more than [`MAX_PDUS`](Self::MAX_PDUS).
    pub fn covering(fsn: Sn, count: u64, missing: &[SnRun]) -> Result<Self, Rule> {
        let octets = count.div_ceil(8);
        if octets == 0 || octets > Self::MAX_OCTETS as u64 {
            return Err(Rule::BitmapLength);
        }
        let mut map = vec![0xFF; octets as usize];
        let listed =
            missing.iter().flat_map(|run| (0..u64::from(run.count)).map(|step| run.first.plus(step)));
        for bit in listed.map(|sn| sn.steps_from(fsn)).filter(|&bit| bit < count) {
            map[bit as usize / 8] &= !(0x80 >> (bit % 8));
        }
        Bitmap::new(fsn, map)
    }

    /// FSN.
    pub fn first(&self) -> Sn {
        self.fsn
    }

    /// Runs of missing PDUs.
    pub fn missing(&self) -> Vec<SnRun> {
        let mut runs: Vec<SnRun> = Vec::new();
        for bit in 0..self.map.len() * 8 {
            let is_received = self.map[bit / 8] & (0x80 >> (bit % 8)) != 0;
            if is_received {
                continue;
            }
            let sn = self.fsn.plus(bit as u64);
            match runs.last_mut() {
                Some(run) if run.first.plus(u64::from(run.count)) == sn => run.count += 1,
                _ => runs.push(SnRun { first: sn, count: 1 }),
            }
        }
        runs
    }

    pub(super) fn parse(reader: &mut BitReader<'_>) -> Result<Self, WireError> {
        let octets = take(reader, 4)? + 1;
        let fsn = sn(reader)?;
        let map = (0..octets).map(|_| Ok(take(reader, 8)? as u8)).collect::<Result<_, WireError>>()?;
        Ok(Bitmap { fsn, map })
    }

    pub(super) fn emit(&self, writer: &mut BitWriter<'_>) {
        put_sn(writer.put(self.map.len() as u32 - 1, 4), self.fsn);
        for &octet in &self.map {
            writer.put(octet.into(), 8);
        }
    }

    pub(super) fn bits(&self) -> usize {
        16 + 8 * self.map.len()
    }
}
