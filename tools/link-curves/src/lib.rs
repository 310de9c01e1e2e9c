//! Computes the link curves of the stack: block error ratio over SIR of the code of UMTS, by union
//! bounds and by simulation.

pub mod bounds;
pub mod code;
pub mod table;
pub mod viterbi;
