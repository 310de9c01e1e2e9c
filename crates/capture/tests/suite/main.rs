//! Captures of every kind, what the analyser says of them, and other judges of the same files.
//!
//! One program: each further one would be linked on its own, which takes longer than its tests.

mod arbitrary;
mod both_ends;
mod causes;
mod common;
mod conversations;
mod files;
mod kernel;
mod links;
mod reference;
mod simulated;
mod tools;
