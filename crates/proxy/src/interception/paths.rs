//! Settings that belong to routes instead of sockets: the initial window and the minimum RTO. Each
//! side with such settings has a routing table with copies of the host's routes. The marks of its
//! sockets select that table.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use umts_netlink::{Netlink, RouteMetric, rto_min};

use crate::error::{ProxyError, wrong};
use crate::interception::slot::{OWNER, Purpose, Slot};

/// Route settings of one side.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PathSettings {
    /// Initial congestion window in segments.
    pub initial_window: Option<u32>,
    /// Minimum retransmission timeout.
    pub min_rto: Option<Duration>,
}

/// TCP settings on a route.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RouteSettings {
    /// Congestion control of the route. `None`: the one of the socket.
    pub congestion_control: Option<String>,
    /// Settings that only routes have.
    pub path: PathSettings,
}

impl RouteSettings {
    /// Reads the settings from the metrics of a route.
    fn of(metrics: &[RouteMetric]) -> Self {
        let mut settings = RouteSettings::default();
        for metric in metrics {
            match metric {
                RouteMetric::CcAlgo(algorithm) => {
                    settings.congestion_control = Some(algorithm.trim_end_matches('\0').to_owned());
                }
                RouteMetric::InitCwnd(segments) => settings.path.initial_window = Some(*segments),
                RouteMetric::RtoMin(ms) => {
                    settings.path.min_rto = Some(Duration::from_millis(u64::from(*ms)));
                }
                _ => {}
            }
        }
        settings
    }

    /// Metrics of the copy of a route with the metrics `original`. If this side sets a congestion
    /// control, the copy has none, because a route's congestion control takes precedence over a
    /// socket's.
    fn apply_to(&self, original: Vec<RouteMetric>) -> Vec<RouteMetric> {
        let (mut locks, mut metrics) = (0, Vec::new());
        let drops_algorithm = self.congestion_control.is_some();
        for metric in original {
            match metric {
                RouteMetric::Lock(bits) => locks = bits,
                RouteMetric::InitCwnd(_) if self.path.initial_window.is_some() => {}
                RouteMetric::RtoMin(_) if self.path.min_rto.is_some() => {}
                RouteMetric::CcAlgo(_) if drops_algorithm => {}
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

    /// Settings of the routes to hosts, without duplicates. With a mark, reads the side's own
    /// table. Returns an empty list if the kernel does not list the routes.
    pub fn of_routes(mark: Option<u32>) -> Vec<RouteSettings> {
        let mut distinct = Vec::new();
        let routes = Netlink::open().and_then(|mut netlink| netlink.metrics_of_routes(mark));
        for settings in routes.unwrap_or_default().iter().map(|metrics| RouteSettings::of(metrics)) {
            if !distinct.contains(&settings) {
                distinct.push(settings);
            }
        }
        distinct
    }
}

/// Routing tables of both sides. Dropping it removes them.
#[derive(Debug)]
pub struct Paths {
    slot: Arc<Slot>,
    /// Marks of the sockets towards clients and towards servers. `None` for a side without route
    /// settings.
    pub marks: [Option<u32>; 2],
}

impl Paths {
    /// Creates the tables of the sides that have route settings.
    ///
    /// # Errors
    /// [`ProxyError::Wrong`] without root privileges. Nothing is left changed.
    pub fn new(slot: Arc<Slot>, sides: [RouteSettings; 2]) -> Result<Self, ProxyError> {
        // Dropping it on an error removes the tables created so far.
        let mut paths = Paths { slot, marks: [None; 2] };
        for (at, purpose) in [Purpose::Clients, Purpose::Servers].into_iter().enumerate() {
            if sides[at].path != PathSettings::default() {
                paths.create_table(purpose, &sides[at]).map_err(refused)?;
                paths.marks[at] = Some(paths.slot.mark(purpose));
            }
        }
        Ok(paths)
    }

    /// Adds the policy rule of a side and fills its table.
    fn create_table(&self, purpose: Purpose, settings: &RouteSettings) -> io::Result<()> {
        let mut netlink = Netlink::open()?;
        let rule = self.slot.rule(purpose);
        netlink.add_rule(rule)?;
        netlink.copy_routes(rule.table, OWNER, |metrics| settings.apply_to(metrics))
    }
}

impl Drop for Paths {
    fn drop(&mut self) {
        // Without CAP_NET_ADMIN this fails; the parent process then cleans up.
        let Ok(mut netlink) = Netlink::open() else { return };
        for purpose in [Purpose::Clients, Purpose::Servers] {
            netlink.remove_rule(self.slot.rule(purpose));
            let _ = netlink.clear_table(self.slot.mark(purpose));
        }
    }
}

fn refused(error: io::Error) -> ProxyError {
    wrong(format!(
        "initial_window and min_rto are settings of routes, which only root can create ({error}): run as root, or leave them out"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bit of RTAX_MTU.
    const MTU: u32 = 1 << 2;

    #[test]
    fn copied_route_keeps_metrics_that_are_not_set() {
        let own = [
            RouteMetric::Lock(MTU),
            RouteMetric::Mtu(1400),
            RouteMetric::InitCwnd(10),
            RouteMetric::CcAlgo("bbr".to_owned()),
        ];
        let path = PathSettings { initial_window: Some(3), min_rto: Some(Duration::from_millis(700)) };
        let mut settings = RouteSettings { congestion_control: None, path };
        let copied = settings.apply_to(own.to_vec());
        assert!(copied.contains(&RouteMetric::Mtu(1400)));
        let [RouteMetric::Lock(rto), _] = rto_min(700) else { panic!("a lock first") };
        assert!(copied.contains(&RouteMetric::Lock(MTU | rto)), "{copied:?}");
        assert_eq!(
            RouteSettings::of(&copied),
            RouteSettings { congestion_control: Some("bbr".to_owned()), path }
        );
        settings.congestion_control = Some("reno".to_owned());
        assert_eq!(
            RouteSettings::of(&settings.apply_to(own.to_vec())),
            RouteSettings { congestion_control: None, path }
        );
    }
}
