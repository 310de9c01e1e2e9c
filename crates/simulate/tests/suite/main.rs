//! Tests of whole networks, from the scenario file to the metrics.
//!
//! They are one program because linking another program takes longer than running its tests.

mod budget;
mod budget_causes;
mod budget_dsch;
mod budget_hsdpa;
mod capacity;
mod changes;
mod common;
mod dch_bearers;
mod e_dch;
mod e_dch_in_layout;
mod eurane;
mod fach_in_layout;
mod hs_dsch;
mod hs_in_layout;
mod hs_switched_in_layout;
mod hs_switching;
mod impairments;
mod iub_captures;
mod live;
mod mac_ehs;
mod pdus;
mod proxy;
mod proxy_budget;
mod proxy_helpers;
mod queues;
mod recorders;
mod reference_bearers;
mod rlc;
mod rlc_captures;
mod rlc_recovery;
mod rrc;
mod runs;
mod schedulers;
mod sectors;
mod sharing;
mod switched_in_layout;
mod tdd;
mod traffic;
