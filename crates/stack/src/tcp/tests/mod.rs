//! Tests of whole exchanges between two ends, connected by the pipe of `pair`.

mod bottleneck;
mod ecn;
mod flow_control;
mod hostile;
mod laws;
mod loss;
mod opening;
mod options;
mod pace;
mod pair;
mod properties;
mod rack;
mod sack;
mod spurious;
mod stuck;
mod windows;
