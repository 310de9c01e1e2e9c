//! External I/O of the network: real programs, or a recording of their packets in a replay.
//!
//! ```text
//!   live ──── writes ──► recording ──── is read by ──► replay
//!     └──────────────────┬──────────────────────────────┘
//!                    exchange      the border, shared by both; `answers` translates UDP answers
//! ```

pub mod answers;
pub mod exchange;
pub mod live;
pub mod recording;
pub mod replay;
