//! Processes: the emulator's own, which leaves the host's namespaces, and the programs that it starts in the namespaces of
//! UEs and servers and waits for.

pub mod children;
pub mod isolation;
pub mod surroundings;
