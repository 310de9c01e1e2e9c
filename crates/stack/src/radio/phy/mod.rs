//! The physical layer: decides which blocks of a transmission are lost. Each model has a method
//! `losses` that takes the number of the first block and the count of blocks and returns [`Lost`]:
//! [`BlockErrors`] for independent errors, the Gilbert model and recorded errors of a UE,
//! [`LinkTable`] for blocks at an Eb/N0, [`EbN0Errors`] for the DCH of a UE in a layout, and
//! [`tdd::TddRadio`] for the blocks of a frame in a TDD cell. These interfere with each other, so all
//! of them must be known before a loss is decided.

mod channel;
mod ebn0_errors;
pub mod fading;
pub mod link_curve;
pub mod link_quality;
mod link_table;
pub mod lost;
mod octaves;
pub mod ovsf;
pub mod power_control;
pub mod sir;
pub mod tdd;

use channel::independent_losses;
pub use channel::{BlockErrors, ErrorModel, ErrorUnit, errors_stream};
pub use ebn0_errors::EbN0Errors;
pub use link_curve::{Curve, LinkCurve};
pub use link_table::{LinkTable, LinkTableError};
pub use lost::Lost;
