//! Captures of every kind, what the analyser says of them, and other judges of the same files.
//!
//! One program: each further one would be linked on its own, which takes longer than its tests.

mod arbitrary;
mod both_ends;
mod causes;
mod common;
mod compressed;
mod conversations;
mod files;
mod formats;
mod kernel;
mod links;
mod misreadings;
mod reference;
mod reports;
mod simulated;
mod tools;
mod tunnels;
mod udp;
