//! Scenario files: accepted and refused content, error messages, and the generated reference.
//!
//! They are one program, because linking a further program takes longer than its tests.

mod common;
mod dsch;
mod e_dch;
mod errors;
mod hs_dsch;
mod layout;
mod overrides;
mod profiles;
mod properties;
mod proxy;
mod qos;
mod reference;
mod reference_bearers;
mod rrc;
mod scenarios;
mod sectors;
mod tdd;
