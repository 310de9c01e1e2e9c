//! Checks of traffic models (order of limits, features that the flow's TCP must have), and of
//! measured and flat radios, which replace a bearer.

use umts_units::Bytes;

use super::Inspection;
use super::names::COMMON;
use crate::capacity_traces::long_gap;
use crate::error::Problem;
use crate::model::{
    Flow, FtpSessions, ParetoWww, Record, Replay, TcpConnection, Traffic, Transport, Ue, Web,
};

impl Inspection<'_> {
    /// A measured or flat radio replaces the bearer, so a group may not have both.
    pub(super) fn capacity(&mut self) -> Result<(), Problem> {
        for (i, (ue, traces)) in self.scenario.ue.iter().zip(self.traces).enumerate() {
            if ue.flat.is_some() {
                self.flat(i, ue)?;
            }
            let Some(traces) = traces else { continue };
            if ue.bearer != COMMON {
                let message =
                    format!("these users have both the bearer `{}` and a capacity trace", ue.bearer);
                let help = "the trace replaces the bearer: leave one of the two out";
                return Err(self.problem(&format!("ue.{i}.bearer"), message).help(help));
            }
            for (direction, trace) in ["downlink", "uplink"].iter().zip(traces) {
                if let Some(gap) = long_gap(trace.milliseconds()) {
                    let message = format!("the trace has a gap of {gap} without a transmission opportunity");
                    self.warn(&format!("ue.{i}.capacity.{direction}"), &message);
                }
            }
        }
        Ok(())
    }

    /// A flat radio excludes a measured radio and a bearer.
    fn flat(&self, i: usize, ue: &Ue) -> Result<(), Problem> {
        let (message, key) = if ue.capacity.is_some() {
            ("both a capacity trace and a flat radio".to_owned(), "capacity")
        } else if ue.bearer == COMMON {
            return Ok(());
        } else {
            (format!("both the bearer `{}` and a flat radio", ue.bearer), "bearer")
        };
        let help = "each replaces the whole radio access: leave one of the two out";
        Err(self.problem(&format!("ue.{i}.{key}"), format!("these users have {message}")).help(help))
    }

    /// Checks the traffic model of flow `i`.
    pub(super) fn traffic_model(&self, i: usize, flow: &Flow) -> Result<(), Problem> {
        let path = |key: &str| format!("flow.{i}.{key}");
        match &flow.traffic {
            Traffic::Web(web) => self.web(&path("web"), web, flow),
            Traffic::FtpSessions(sessions) => self.ftp_sessions(&path("ftp_sessions"), sessions),
            Traffic::ParetoWww(www) => self.pareto_www(&path("pareto_www"), www, flow),
            Traffic::Replay(replay) => self.replay(&path("replay"), replay, flow),
            Traffic::Ftp
            | Traffic::File { .. }
            | Traffic::EtsiWww(_)
            | Traffic::Cbr(_)
            | Traffic::OnOff(_) => Ok(()),
        }
    }

    /// Sizes and numbers of objects are in order, and several connections have requests.
    fn web(&self, path: &str, web: &Web, flow: &Flow) -> Result<(), Problem> {
        let Web { main_min, main_max, main_mean, embedded_min, embedded_max, embedded_mean, .. } = *web;
        self.limits(path, "main", [main_min, main_mean, main_max])?;
        self.limits(path, "embedded", [embedded_min, embedded_mean, embedded_max])?;
        if web.embedded_most < web.embedded_least {
            let (min_objects, max_objects) = (web.embedded_least, web.embedded_most);
            let message = format!("embedded_most = {max_objects} is below embedded_least = {min_objects}");
            let help = "equal values give pages without embedded objects";
            return Err(self.problem(&format!("{path}.embedded_most"), message).help(help));
        }
        if web.connections > 1 && web.request.is_none() {
            let message = format!(
                "connections = {} needs a request: without one, pages are pushed over one connection",
                web.connections
            );
            let help = "choose connections = 1, or a request, as in request = \"350 B\"";
            return Err(self.problem(&format!("{path}.connections"), message).help(help));
        }
        self.request(path, web.request, flow)
    }

    fn ftp_sessions(&self, path: &str, sessions: &FtpSessions) -> Result<(), Problem> {
        self.limits(path, "file", [sessions.file_min, sessions.file_mean, sessions.file_max])
    }

    fn pareto_www(&self, path: &str, www: &ParetoWww, flow: &Flow) -> Result<(), Problem> {
        if www.file_mean >= www.file_max {
            let message = format!("no distribution up to {} has a mean of {}", www.file_max, www.file_mean);
            let help = "raise file_max, or lower file_mean";
            return Err(self.problem(&format!("{path}.file_max"), message).help(help));
        }
        self.request(path, www.request, flow)
    }

    /// A request needs a connection that carries data in both directions, so it excludes one-way
    /// connections.
    fn request(&self, path: &str, request: Option<Bytes>, flow: &Flow) -> Result<(), Problem> {
        if request.is_none() || flow.tcp.connection == TcpConnection::FullDuplex {
            return Ok(());
        }
        let message = "a request needs the other direction, which a one-way connection does not have";
        let help = "choose request = \"none\", or connection = \"full_duplex\" for the flow's TCP";
        Err(self.problem(&format!("{path}.request"), message).label("this request").help(help))
    }

    fn replay(&self, path: &str, replay: &Replay, flow: &Flow) -> Result<(), Problem> {
        let is_other = |record: &Record| record.direction != flow.direction;
        if replay.transport == Transport::Tcp
            && flow.tcp.connection == TcpConnection::OneWay
            && replay.records.iter().any(is_other)
        {
            let message = "the recording sends in both directions, but a one-way connection has only one";
            let help = "choose connection = \"full_duplex\" for the flow's TCP, or transport = \"udp\"";
            return Err(self.problem(&format!("{path}.transport"), message).help(help));
        }
        Ok(())
    }

    /// Checks minimum, mean and maximum of a truncated size distribution.
    fn limits(&self, path: &str, size: &str, [min, mean, max]: [Bytes; 3]) -> Result<(), Problem> {
        for (key, wrong, message) in [
            ("min", min > max, format!("the minimum size, {min}, is above the maximum, {max}")),
            ("mean", mean < min || mean > max, format!("a mean of {mean} is not between {min} and {max}")),
        ] {
            if wrong {
                let help = format!("choose {size}_min <= {size}_mean <= {size}_max");
                return Err(self.problem(&format!("{path}.{size}_{key}"), message).help(help));
            }
        }
        Ok(())
    }
}
