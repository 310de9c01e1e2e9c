//! Keys of radio link control (TS 25.322). The types are the configuration of the stack.

pub use umts_stack::radio::rlc::am::{
    BufferCounts, ErroneousSn, GapWhileProhibited, Header as RlcHeader, LengthIndicators, MaxDatReading,
    MissingPduIndication, MrwAcknowledgment, Piggyback, StatusFormat,
};
pub use umts_stack::radio::rlc::tm::ErroneousSdus;
pub use umts_stack::radio::rlc::{PduSize, RlcConfig as Rlc, RlcMode, SduDiscard};
