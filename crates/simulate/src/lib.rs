//! Simulation of the stack on a virtual clock. A scenario, a seed and a run number always give the
//! same results, bit by bit.
//!
//! `build` converts a scenario into the configuration of the network. `run` creates the network and
//! its recorders, `drive` processes the events of the queue in the order of their times, and the
//! recorders return metrics, time series and captures. The emulation uses `build` and `drive` too,
//! with a real clock.

mod bearers;
mod build;
mod dch_rates;
mod draws;
mod drive;
mod live;
mod map;
mod recorder_config;
mod run;

pub use bearers::capture_notes;
pub use build::network_config;
pub use dch_rates::{DchBearerRates, dch_rates};
pub use draws::{Drawn, draw_errors, draw_traffic};
pub use drive::{ExternalIo, drive};
pub use live::{LiveRuns, LiveView, Step};
pub use map::{Map, houses, map, track};
pub use recorder_config::recorder_config;
pub use run::{RunError, RunOptions, RunOutput, observe, run};
pub use umts_stack::ids::{Direction, UeId};
pub use umts_stack::mac::hs::NodebQueue;
pub use umts_stack::scheduling::{
    ChannelScheduler, FormatRequest, HsValues, RankedCandidate, RateValues, SharedChannel, Tti, Turn,
    UserCandidate, UserScheduler, UserSchedulers,
};
pub use umts_stack::tcp::congestion::{LawAck, Loss, UserLaw, UserLaws, WindowLaw};
