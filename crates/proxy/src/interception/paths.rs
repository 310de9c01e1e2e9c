//! What belongs to a route and to no socket: the initial window and the least retransmission timeout. Each side that is told
//! has copies of the host's routes in a table of its own, to which the marks of its sockets lead.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use umts_netlink::{Netlink, RouteMetric, rto_min};

use crate::error::{ProxyError, wrong};
use crate::interception::slot::{Lead, OWNER, Slot};

/// Of one side.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PathSettings {
    /// Segments that may leave before anything is acknowledged.
    pub initial_window: Option<u32>,
    /// Least time after which something is sent again.
    pub min_rto: Option<Duration>,
}

impl PathSettings {
    fn metrics(&self) -> Vec<RouteMetric> {
        let mut metrics = Vec::new();
        metrics.extend(self.initial_window.map(RouteMetric::InitCwnd));
        if let Some(time) = self.min_rto {
            metrics.extend(rto_min(u32::try_from(time.as_millis()).unwrap_or(u32::MAX)));
        }
        metrics
    }

    /// What the kernel says of them.
    fn of(metrics: &[RouteMetric]) -> Self {
        let mut found = PathSettings::default();
        for metric in metrics {
            match metric {
                RouteMetric::InitCwnd(segments) => found.initial_window = Some(*segments),
                RouteMetric::RtoMin(ms) => found.min_rto = Some(Duration::from_millis(u64::from(*ms))),
                _ => {}
            }
        }
        found
    }
}

/// Tables of both sides, as long as this lives.
#[derive(Debug)]
pub struct Paths {
    slot: Arc<Slot>,
    /// Marks of sockets towards clients, and towards servers; none for a side that is told nothing.
    pub marks: [Option<u32>; 2],
    /// What the kernel then says.
    pub effective: [PathSettings; 2],
}

impl Paths {
    /// Makes those of the sides that are told something.
    ///
    /// # Errors
    /// [`ProxyError::Wrong`]: it takes root; nothing is left.
    pub fn new(slot: Arc<Slot>, sides: [PathSettings; 2]) -> Result<Self, ProxyError> {
        // What was made so far goes with it.
        let mut paths = Paths { slot, marks: [None; 2], effective: Default::default() };
        for (at, lead) in [Lead::Clients, Lead::Servers].into_iter().enumerate() {
            if sides[at] != PathSettings::default() {
                paths.effective[at] = paths.lead(lead, &sides[at]).map_err(refused)?;
                paths.marks[at] = Some(paths.slot.mark(lead));
            }
        }
        Ok(paths)
    }

    fn lead(&self, lead: Lead, settings: &PathSettings) -> io::Result<PathSettings> {
        let mut netlink = Netlink::open()?;
        let rule = self.slot.rule(lead);
        netlink.add_rule(rule)?;
        netlink.copy_routes(rule.table, OWNER, &settings.metrics())?;
        Ok(PathSettings::of(&netlink.metrics_of(rule.table)?))
    }
}

impl Drop for Paths {
    fn drop(&mut self) {
        // With the least of rights this is for the process that waits for this one.
        let Ok(mut netlink) = Netlink::open() else { return };
        for lead in [Lead::Clients, Lead::Servers] {
            netlink.remove_rule(self.slot.rule(lead));
            let _ = netlink.clear_table(self.slot.mark(lead));
        }
    }
}

fn refused(error: io::Error) -> ProxyError {
    wrong(format!(
        "initial_window and min_rto belong to routes, which are root's to make ({error}): run as root, or leave them out"
    ))
}
