//! TCP as ns-2 has it where that is not what the RFCs say: its SACK and FACK, and its window arithmetic. The RFCs' own are
//! [`Selective`](super::Selective) and its neighbours.

mod fack;
mod rules;
mod sack;

pub use fack::Fack;
pub use rules::Rules;
pub use sack::Sack;
