//! The physical layer, asked one [`Question`]: this block set in this TTI, which of its blocks are lost?

mod block_errors;
pub mod lost;
mod question;

pub use block_errors::{BlockErrors, ErrorModel, ErrorUnit, errors_stream};
pub use lost::Lost;
pub use question::Question;
