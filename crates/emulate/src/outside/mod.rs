//! What is outside of the network: real programs, or the recording of their packets in a replay.
//!
//! ```text
//!   live ──── writes ──► recording ──── is read by ──► replay
//!     └──────────────────┬──────────────────────────────┘
//!                    exchange      the border, which is the same for both; `answers` of UDP servers
//! ```

pub mod answers;
pub mod exchange;
pub mod live;
pub mod recording;
pub mod replay;
