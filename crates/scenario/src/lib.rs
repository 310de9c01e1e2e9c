//! Scenario files: types, defaults, units and error messages.
//!
//! A scenario is a TOML file. [`Scenario::load`] reads it, follows `extends`, applies overrides,
//! fills in defaults and checks everything once. A mistake is returned as a [`ScenarioError`] that
//! points at the line, states the rule and proposes a repair. A valid file is returned as its
//! immutable [`model`] with [`Resolved`] names and numbers. [`schema`] and [`params`] describe the
//! format, and [`model::Scenario::to_toml`] writes a scenario with every default.
//!
//! # Merging
//! A file with `extends = "other.toml"` (relative to itself) starts from that file. Tables merge
//! key by key; the extending file takes precedence. Arrays of tables that all have a `name`
//! (`[[cell]]`, `[[bearer]]`, `[[ue]]`) merge by name, and new names are appended. Every other
//! array (`[[link]]`, `[[flow]]`) replaces the array of the extended file. `name` and `title` are
//! not inherited. A circle of files is an error.
//!
//! `[ue.rlc]`, `[ue.rrc]`, `[ue.radio]` and `[flow.tcp]` merge over the top-level tables in the
//! same way, after the overrides. Both sides of `[proxy]` merge over each flow's TCP. A `profile`
//! in `[tcp]`, `[flow.tcp]` or a side of `[proxy]` sets every key that is not written in the same
//! table. A `profile` in `[rrc]`, `[ue.rrc]` or `[ue.flat]` sets the keys that the profile lists.
//! `[ue.radio]` with a `model` of its own replaces `[radio]`, because each model has its own keys.

#![warn(missing_docs)]

mod capacity_traces;
mod check;
mod de;
mod error;
mod extends;
mod flat_profiles;
mod former_names;
mod link_tables;
mod link_traces;
mod load;
pub mod model;
mod named_file;
mod overrides;
mod profiles;
mod python_classes;
mod range;
mod recordings;
mod recovery;
mod reference_bearers;
mod removed_keys;
mod resolved;
mod rrc_profiles;
mod schema;
pub mod suggest;
mod text;
mod tracks;
mod tree;
mod verdicts;
mod write;

pub use error::ScenarioError;
pub use flat_profiles::{FlatProfile, flat_profiles};
pub use load::Loaded;
pub use profiles::{Profile, ProfileKey, profiles};
pub use python_classes::scheduler_path;
pub use reference_bearers::{Coding, ReferenceBearer, ReferenceChannel, reference_bearers};
pub use resolved::{Channel, Group, PlannedCell, Resolved, Scenario};
pub use rrc_profiles::{RrcProfile, rrc_profiles};
pub use schema::{Choice, Param, params, schema};
