//! The physical layer, asked one [`Question`]: this block set in this TTI, which of its blocks are lost? Where what is lost
//! depends on who else sends ([`tdd`]), all that is sent at an instant is judged at once.

mod block_errors;
pub mod link_curve;
mod link_table;
pub mod lost;
mod octaves;
pub mod ovsf;
pub mod power_control;
mod question;
pub mod sir;
pub mod tdd;

pub use block_errors::{BlockErrors, ErrorModel, ErrorUnit, errors_stream};
pub use link_curve::{Curve, LinkCurve};
pub use link_table::{LinkTable, LinkTableError};
pub use lost::Lost;
pub use question::Question;
