//! Exchanges of two ends over an ideal pipe.

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
