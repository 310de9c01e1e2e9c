//! The physical layer, asked one question: this block set in this TTI, which of its blocks are lost?

mod block_errors;

pub use block_errors::{BlockErrors, ErrorModel, ErrorUnit, Lost};
