//! Settings of TCP on one side of the proxy, towards clients (`--client-set`) or towards servers
//! (`--server-set`).

use std::time::Duration;

use umts_units::{Duration as Time, UnitError};

use crate::error::{ProxyError, wrong};
use crate::options::SideOptions;
use crate::options::values::{GivenOptions, check_max_buffer, parse_buffer_size};

/// Minimum of a socket's buffer, in bytes.
const MIN_SOCKET_BUFFER: u64 = 4_000;

/// Parses the settings of one side, each `key=value`.
pub fn side(option: &str, given: &GivenOptions<'_>) -> Result<SideOptions, ProxyError> {
    let mut side = SideOptions::default();
    for (_, pair) in given.0.iter().filter(|(name, _)| name == option) {
        let Some((key, value)) = pair.split_once('=') else {
            return Err(wrong(format!(
                "{option} takes KEY=VALUE, as in congestion_control=reno, not {pair:?}"
            )));
        };
        let buffer = || {
            let name = format!("{option} {key}");
            check_max_buffer(parse_buffer_size(&name, value, MIN_SOCKET_BUFFER)?, &name).map(Some)
        };
        match key.trim() {
            "congestion_control" => side.congestion_control = Some(value.trim().to_owned()),
            "receive_buffer" => side.receive_buffer = buffer()?,
            "send_buffer" => side.send_buffer = buffer()?,
            "initial_window" => side.path.initial_window = Some(segments(option, pair, value)?),
            "min_rto" => side.path.min_rto = Some(timeout(option, pair, value)?),
            _ => {
                let known = "congestion_control, initial_window, min_rto, receive_buffer and send_buffer";
                return Err(wrong(format!(
                    "{option} {pair}: there is no setting {key}; the settings are {known}"
                )));
            }
        }
    }
    Ok(side)
}

/// Parses a number of segments, for example `10 segments`.
fn segments(option: &str, pair: &str, value: &str) -> Result<u32, ProxyError> {
    let number = value.trim().trim_end_matches("segments").trim_end_matches("segment").trim();
    match number.parse() {
        Ok(segments @ 1..=1000) => Ok(segments),
        _ => Err(wrong(format!("{option} {pair}: takes 1 to 1000 segments, as in initial_window=10"))),
    }
}

/// Parses a timeout from 1 ms to 60 s. RFC 6298 allows an upper bound of the RTO that is at least
/// 60 s.
fn timeout(option: &str, pair: &str, value: &str) -> Result<Duration, ProxyError> {
    let time: Time = value.parse().map_err(|error: UnitError| wrong(format!("{option} {pair}: {error}")))?;
    let time = Duration::from_nanos(time.as_nanos());
    if !(Duration::from_millis(1)..=Duration::from_secs(60)).contains(&time) {
        return Err(wrong(format!("{option} {pair}: takes 1 ms to 60 s")));
    }
    Ok(time)
}
