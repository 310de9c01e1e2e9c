//! Scenario files: what is accepted, what is refused and how, and the reference that is made from them.
//!
//! One program: each further one would be linked on its own, which takes longer than its tests.

mod dsch;
mod errors;
mod layout;
mod overrides;
mod profiles;
mod properties;
mod proxy;
mod reference;
mod reference_bearers;
mod rrc;
mod scenarios;
mod sectors;
mod tdd;
