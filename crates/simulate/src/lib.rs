//! Way 1: the stack on a virtual clock. A scenario, a seed and a run number give the same results to the bit, always.

mod bearers;
mod build;
mod drive;
mod run;

pub use bearers::{capture_notes, encodings};
pub use build::{budget_config, metrics_config, network_config, series_config};
pub use drive::{Outside, drive};
pub use run::{PIECE_ROWS, Piece, RunError, RunOptions, RunOutput, observe, run};
pub use umts_stack::tcp::congestion::{Heard, Loss, UserLaw, UserLaws, WindowLaw};
