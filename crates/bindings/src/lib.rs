//! `umtslab._core`: the Python bindings. No other crate depends on Python.
//!
//! The bindings translate only: scenarios and their errors, functions that run simulations and
//! emulations and analyse captures without holding the interpreter lock, and tables as Arrow
//! streams. Polars, pandas and pyarrow read these without a copy through the PyCapsule interface.
//! Signatures and types are in `python/umtslab/_core.pyi`. Emulation and the proxy exist on Linux only.

mod analyse;
mod columns;
mod connections;
mod control;
#[cfg(target_os = "linux")]
mod emulate;
mod encodings;
mod errors;
#[cfg(target_os = "linux")]
mod faults;
mod lines;
mod live;
#[cfg(target_os = "linux")]
mod proxy;
mod python_class;
#[cfg(target_os = "linux")]
mod readings;
mod reference;
mod run;
#[cfg(target_os = "linux")]
mod sandbox;
mod scenario;
mod seal;
mod table_files;
mod tables;
mod user_scheduler;

/// The compiled core: scenario files, simulation, emulation, capture analysis, the proxy, and lists
/// of parameters and metrics.
#[pyo3::pymodule]
mod _core {
    #[pymodule_export]
    use super::analyse::{Analysis, analyse, analyse_both_ends, analyse_courses, capture_metric_definitions};
    #[pymodule_export]
    use super::columns::Columns;
    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use super::emulate::{EmulationError, EmulationResult, emulate, measure_lateness, replay};
    #[pymodule_export]
    use super::errors::{
        CaptureReadError, CongestionControlError, OutputError, ScenarioError, SchedulerError,
    };
    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use super::faults::FaultControl;
    #[pymodule_export]
    use super::live::LiveRuns;
    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use super::proxy::{
        ProxyError, clean_proxies, guard_proxy, proxies_at_work, proxy, rules_left, try_interception,
    };
    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use super::readings::LiveViewer;
    #[pymodule_export]
    use super::reference::{
        areas, bearers, flat_profiles, hues, lanes, looks, metric_definitions, params, profiles,
        rrc_profiles, schema, state_heights, t_quantile, version,
    };
    #[pymodule_export]
    use super::run::{RunResult, simulate};
    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use super::sandbox::{Place, Waiting, leave_host, settle};
    #[pymodule_export]
    use super::scenario::Scenario;
    #[pymodule_export]
    use super::seal::{check_run, check_runs, digest, digests, states};
    #[pymodule_export]
    use super::table_files::{count_rows, read_table};
    #[pymodule_export]
    use super::user_scheduler::{Candidate, DschAsk, DschFormat};
}
