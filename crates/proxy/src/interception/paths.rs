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

/// What TCP does on some route.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Manner {
    /// Congestion control; none: that of the socket.
    pub congestion_control: Option<String>,
    /// What only routes have a word for.
    pub path: PathSettings,
}

impl Manner {
    /// What the kernel says of a route.
    fn of(metrics: &[RouteMetric]) -> Self {
        let mut found = Manner::default();
        for metric in metrics {
            match metric {
                RouteMetric::CcAlgo(law) => {
                    found.congestion_control = Some(law.trim_end_matches('\0').to_owned());
                }
                RouteMetric::InitCwnd(segments) => found.path.initial_window = Some(*segments),
                RouteMetric::RtoMin(ms) => {
                    found.path.min_rto = Some(Duration::from_millis(u64::from(*ms)));
                }
                _ => {}
            }
        }
        found
    }

    /// What a copy of a route says, of what it says itself. The law of a route goes before that of a socket, so it is left out
    /// where sockets are told one.
    fn told(&self, own: Vec<RouteMetric>) -> Vec<RouteMetric> {
        let (mut locks, mut metrics) = (0, Vec::new());
        let is_law_left_out = self.congestion_control.is_some();
        for metric in own {
            match metric {
                RouteMetric::Lock(bits) => locks = bits,
                RouteMetric::InitCwnd(_) if self.path.initial_window.is_some() => {}
                RouteMetric::RtoMin(_) if self.path.min_rto.is_some() => {}
                RouteMetric::CcAlgo(_) if is_law_left_out => {}
                other => metrics.push(other),
            }
        }
        metrics.extend(self.path.initial_window.map(RouteMetric::InitCwnd));
        if let Some(time) = self.path.min_rto {
            for metric in rto_min(u32::try_from(time.as_millis()).unwrap_or(u32::MAX)) {
                match metric {
                    RouteMetric::Lock(bits) => locks |= bits,
                    other => metrics.push(other),
                }
            }
        }
        metrics.extend((locks != 0).then_some(RouteMetric::Lock(locks)));
        metrics
    }

    /// Those of the routes to hosts, each once: by a table of ours if sockets have this mark. None are known if the kernel tells
    /// of no routes.
    pub fn of_routes(mark: Option<u32>) -> Vec<Manner> {
        let mut found = Vec::new();
        let routes = Netlink::open().and_then(|mut netlink| netlink.said_to_tcp(mark));
        for manner in routes.unwrap_or_default().iter().map(|metrics| Manner::of(metrics)) {
            if !found.contains(&manner) {
                found.push(manner);
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
}

impl Paths {
    /// Makes those of the sides that are told something.
    ///
    /// # Errors
    /// [`ProxyError::Wrong`]: it takes root; nothing is left.
    pub fn new(slot: Arc<Slot>, sides: [Manner; 2]) -> Result<Self, ProxyError> {
        // What was made so far goes with it.
        let mut paths = Paths { slot, marks: [None; 2] };
        for (at, lead) in [Lead::Clients, Lead::Servers].into_iter().enumerate() {
            if sides[at].path != PathSettings::default() {
                paths.lead(lead, &sides[at]).map_err(refused)?;
                paths.marks[at] = Some(paths.slot.mark(lead));
            }
        }
        Ok(paths)
    }

    fn lead(&self, lead: Lead, told: &Manner) -> io::Result<()> {
        let mut netlink = Netlink::open()?;
        let rule = self.slot.rule(lead);
        netlink.add_rule(rule)?;
        netlink.copy_routes(rule.table, OWNER, |own| told.told(own))
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

#[cfg(test)]
mod tests {
    use super::*;

    /// RTAX_MTU, as a bit.
    const MTU: u32 = 1 << 2;

    #[test]
    fn a_copy_keeps_what_it_is_not_told() {
        let own = [
            RouteMetric::Lock(MTU),
            RouteMetric::Mtu(1400),
            RouteMetric::InitCwnd(10),
            RouteMetric::CcAlgo("bbr".to_owned()),
        ];
        let path = PathSettings { initial_window: Some(3), min_rto: Some(Duration::from_millis(700)) };
        let mut told = Manner { congestion_control: None, path };
        let copied = told.told(own.to_vec());
        assert!(copied.contains(&RouteMetric::Mtu(1400)));
        let [RouteMetric::Lock(rto), _] = rto_min(700) else { panic!("a lock first") };
        assert!(copied.contains(&RouteMetric::Lock(MTU | rto)), "{copied:?}");
        assert_eq!(Manner::of(&copied), Manner { congestion_control: Some("bbr".to_owned()), path });
        told.congestion_control = Some("reno".to_owned());
        assert_eq!(Manner::of(&told.told(own.to_vec())), Manner { congestion_control: None, path });
    }
}
