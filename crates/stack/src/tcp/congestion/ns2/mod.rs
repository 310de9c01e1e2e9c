//! TCP as in ns-2, if it differs from the RFCs: SACK, FACK and the window arithmetic.
//! [`Selective`](super::Selective) and its neighbours implement the RFCs.

mod fack;
mod rules;
mod sack;

pub use fack::Fack;
pub use rules::Rules;
pub use sack::Sack;
