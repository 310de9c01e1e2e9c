//! The physical layer: decides which blocks of a transmission are lost. [`BlockErrors`] decides for
//! each UE and direction separately. In a TDD cell losses depend on interference, so [`tdd`]
//! decides for all transmissions of a frame together.

mod channel;
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

pub use channel::{BlockErrors, ErrorModel, ErrorUnit, errors_stream, independent_losses};
pub use link_curve::{Curve, LinkCurve};
pub use link_table::{LinkTable, LinkTableError};
pub use lost::Lost;
