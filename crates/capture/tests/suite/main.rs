//! Tests with captures of every kind: results of the analyser, also compared with other tools on
//! the same files.
//!
//! All tests are one program: linking another one takes longer than its tests.

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
mod listing;
mod misreadings;
mod reference;
mod reports;
mod simulated;
mod tools;
mod tunnels;
mod udp;
