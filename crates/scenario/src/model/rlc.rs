//! Radio link control (TS 25.322).

pub use umts_stack::radio::rlc::am::{
    BufferCounts, ErroneousSn, GapWhileProhibited, Header as RlcHeader, LengthIndicators, MaxDatReading,
    MissingPduIndication, MrwAcknowledgment, Piggyback, StatusFormat,
};
pub use umts_stack::radio::rlc::tm::ErroneousSdus;
pub use umts_stack::radio::rlc::{PduSize, RlcConfig as Rlc, RlcMode, SduDiscard};
