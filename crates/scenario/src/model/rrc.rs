//! Radio resource control (TS 25.331): conditions and delays of channel switches.

pub use umts_stack::rnc::rrc::{
    DataWhileSwitching, Promotion, RestingState, RlcAtSwitch, RrcConfig as Rrc, StatePower,
};
