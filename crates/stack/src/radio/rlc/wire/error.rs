//! Errors of invalid PDUs: position and violated rule.

use thiserror::Error;

use crate::radio::bits::BitReader;

/// Bytes that are not a valid PDU. A receiver drops them (TS 25.322 §10).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("at bit {bit}: {rule}")]
pub struct WireError {
    /// The first bit of the field that violates the rule, counted from the start of the PDU.
    pub bit: usize,
    pub rule: Rule,
}

/// A rule of TS 25.322 §9.2 that a PDU violates. The error message states the rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Rule {
    /// The PDU ends inside a field.
    #[error("the PDU ends inside a field")]
    Truncated,
    /// The PDU has no contents.
    #[error("the PDU has neither a length indicator nor data")]
    Empty,
    /// D/C marks the other kind of PDU.
    #[error("the D/C bit names the other kind of PDU (§9.2.2.1)")]
    DataOrControl,
    /// HE is 11, or 10 without being configured.
    #[error("this header extension value is reserved (§9.2.2.7)")]
    ReservedHeaderExtension,
    /// A length indicator that is reserved in this mode.
    #[error("this length indicator is reserved (§9.2.2.8)")]
    ReservedLengthIndicator,
    /// Ends of SDUs do not ascend.
    #[error("length indicators ascend (§9.2.2.8)")]
    LengthIndicatorsAscend,
    /// An SDU would end after the end of the PDU.
    #[error("a length indicator points beyond the end of the PDU (§9.2.2.8)")]
    EndBehindPdu,
    /// A length indicator that may only be the first one follows another one.
    #[error("this length indicator comes before all others (§9.2.2.8)")]
    FirstOnly,
    /// Padding or a piggybacked STATUS is followed by another length indicator.
    #[error("nothing follows a length indicator for padding or a piggybacked STATUS (§9.2.2.8)")]
    LastOnly,
    /// A length indicator that describes the whole PDU is not the only one.
    #[error("this length indicator describes the whole PDU and stands alone (§9.2.2.8)")]
    AloneOnly,
    /// With the alternative E-bit: the PDU has too few octets of data for a length indicator that
    /// describes the whole PDU.
    #[error("the PDU has fewer octets than its length indicator requires (§9.2.2.8)")]
    TooShortForIndicator,
    /// A reserved type of control PDU.
    #[error("this PDU type is reserved (§9.2.2.2)")]
    ReservedPduType,
    /// R1 or R2 is set.
    #[error("reserved bits are zero (§9.2.2.5, §9.2.2.10)")]
    ReservedBits,
    /// A reserved type of super-field.
    #[error("this SUFI type is reserved (§9.2.2.11)")]
    ReservedSufi,
    /// LIST with LENGTH 0, or more than 15 pairs.
    #[error("a LIST has 1 to 15 pairs (§9.2.2.11.4)")]
    ListLength,
    /// A pair of a LIST does not list 1 to 16 PDUs.
    #[error("a pair of a LIST names 1 to 16 PDUs (§9.2.2.11.4)")]
    ListRun,
    /// A BITMAP without octets, or with more than 16.
    #[error("a BITMAP has 1 to 16 octets (§9.2.2.11.5)")]
    BitmapLength,
    /// More codewords than the LENGTH field of an RLIST can count.
    #[error("an RLIST has 15 codewords at most (§9.2.2.11.6)")]
    RlistLength,
    /// The last codeword of an RLIST does not end a number, or is the mark of a burst.
    #[error("the last codeword of an RLIST ends a distance or a burst (§9.2.2.11.6)")]
    RlistOpen,
    /// A distance or burst length of zero in an RLIST.
    #[error("a number in an RLIST counts at least one PDU (§9.2.2.11.6)")]
    RlistZero,
    /// The distances of an RLIST add up to more than a whole cycle of sequence numbers.
    #[error("an RLIST names PDUs of one round of the sequence numbers (§9.2.2.11.6)")]
    RlistBeyondRound,
    /// An MRW with no PDU, with more than 15, or with several beyond the window.
    #[error("an MRW names 1 to 15 PDUs, and one if it reaches beyond the window (§9.2.2.11.8)")]
    MrwLength,
    /// A field has fewer bits than the value needs.
    #[error("the value does not fit into its field")]
    TooLarge,
    /// In a TMD PDU, spare bits of the last octet are set, or there are more octets than the bits
    /// need.
    #[error("a PDU has as many octets as its bits need")]
    SpareBits,
}

/// Reads the next `width` bits. Returns an error if there are fewer.
pub(super) fn take(reader: &mut BitReader<'_>, width: u32) -> Result<u32, WireError> {
    let bit = reader.at();
    reader.take(width).ok_or(WireError { bit, rule: Rule::Truncated })
}

impl Rule {
    /// An error of this rule at `bit`.
    pub(super) fn at(self, bit: usize) -> WireError {
        WireError { bit, rule: self }
    }
}
