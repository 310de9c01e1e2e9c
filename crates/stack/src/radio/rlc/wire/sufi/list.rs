//! LIST, a super-field of a STATUS: TS 25.322 §9.2.2.11.4. It contains pairs: the sequence number of a
//! missing PDU, and the number of further missing PDUs after it (L, 0 to 15).

use super::{put_sn, sn};
use crate::radio::bits::{BitReader, BitWriter};
use crate::radio::rlc::SnRun;
use crate::radio::rlc::wire::error::{Rule, WireError, take};

/// 1 to 15 runs of 1 to 16 missing PDUs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct List(Vec<SnRun>);

impl List {
    /// Maximum number of runs in one LIST.
    pub const MAX_RUNS: usize = 15;
    /// Maximum number of PDUs in one run.
    pub const MAX_PDUS: u16 = 16;

    /// A LIST of these runs.
    ///
    /// # Errors
    /// Returns an error if there is no run or more than 15, or if a run is empty or longer than 16.
    pub fn new(runs: Vec<SnRun>) -> Result<Self, Rule> {
        if runs.is_empty() || runs.len() > Self::MAX_RUNS {
            return Err(Rule::ListLength);
        }
        if runs.iter().any(|run| run.count == 0 || run.count > Self::MAX_PDUS) {
            return Err(Rule::ListRun);
        }
        Ok(List(runs))
    }

    /// Runs of missing PDUs.
    pub fn missing(&self) -> &[SnRun] {
        &self.0
    }

    pub(super) fn parse(reader: &mut BitReader<'_>) -> Result<Self, WireError> {
        let bit = reader.at();
        let length = take(reader, 4)?;
        let mut runs = Vec::with_capacity(length as usize);
        for _ in 0..length {
            runs.push(SnRun { first: sn(reader)?, count: take(reader, 4)? as u16 + 1 });
        }
        List::new(runs).map_err(|rule| rule.at(bit))
    }

    pub(super) fn emit(&self, writer: &mut BitWriter<'_>) {
        writer.put(self.0.len() as u32, 4);
        for run in &self.0 {
            put_sn(writer, run.first);
            writer.put(u32::from(run.count) - 1, 4);
        }
    }

    pub(super) fn bits(&self) -> usize {
        4 + 16 * self.0.len()
    }
}
