//! TCP as in ns-2, if it differs from the RFCs: SACK, FACK and the window arithmetic. They apply to
//! one-way connections. The other files of `congestion` implement the RFCs.

mod fack;
mod rules;
mod sack;

pub use fack::Fack;
pub use rules::Rules;
pub use sack::Sack;
