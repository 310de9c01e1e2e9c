//! MRW (move receiving window), a super-field of a STATUS: TS 25.322 §9.2.2.11.8. With it the sender
//! informs the receiver that it has discarded SDUs.

use super::{MrwCount, put_sn, sn};
use crate::radio::bits::{BitReader, BitWriter};
use crate::radio::rlc::Sn;
use crate::radio::rlc::wire::error::{Rule, WireError, take};

/// An MRW: for each discarded SDU the PDU with the length indicator of its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mrw {
    sn_mrw: Vec<Sn>,
    n_length: MrwCount,
    beyond_window: bool,
}

impl Mrw {
    /// Maximum number of SDUs in one MRW.
    pub const MAX_SDUS: usize = 15;

    /// An MRW for SDUs that end in the PDUs `sn_mrw`. In the last of these PDUs the receiver discards
    /// the data up to length indicator number `n_length`.
    ///
    /// # Errors
    /// Returns an error if there are more than 15 SDUs or none.
    pub fn new(sn_mrw: Vec<Sn>, n_length: MrwCount) -> Result<Self, Rule> {
        if sn_mrw.is_empty() || sn_mrw.len() > Self::MAX_SDUS {
            return Err(Rule::MrwLength);
        }
        Ok(Mrw { sn_mrw, n_length, beyond_window: false })
    }

    /// An MRW for one SDU that ends beyond the sending window (LENGTH = 0).
    pub fn beyond_window(sn_mrw: Sn, n_length: MrwCount) -> Self {
        Mrw { sn_mrw: vec![sn_mrw], n_length, beyond_window: true }
    }

    /// SN_MRW of each SDU.
    pub fn sns(&self) -> &[Sn] {
        &self.sn_mrw
    }

    /// SN_MRW_LENGTH, the last SN_MRW: the PDU to which the receiving window moves.
    pub fn last(&self) -> Sn {
        *self.sn_mrw.last().expect("an MRW has at least one SN_MRW")
    }

    /// N_LENGTH.
    pub fn n_length(&self) -> MrwCount {
        self.n_length
    }

    /// Whether the SDU reaches beyond the sending window.
    pub fn is_beyond_window(&self) -> bool {
        self.beyond_window
    }

    pub(super) fn parse(reader: &mut BitReader<'_>) -> Result<Self, WireError> {
        let length = take(reader, 4)?;
        let sn_mrw = (0..length.max(1)).map(|_| sn(reader)).collect::<Result<_, _>>()?;
        let n_length = MrwCount(take(reader, 4)? as u8);
        Ok(Mrw { sn_mrw, n_length, beyond_window: length == 0 })
    }

    pub(super) fn emit(&self, writer: &mut BitWriter<'_>) {
        let length = if self.beyond_window { 0 } else { self.sn_mrw.len() as u32 };
        writer.put(length, 4);
        for &sn in &self.sn_mrw {
            put_sn(writer, sn);
        }
        writer.put(self.n_length.0.into(), 4);
    }

    pub(super) fn bits(&self) -> usize {
        8 + 12 * self.sn_mrw.len()
    }
}
