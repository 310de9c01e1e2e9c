//! Formats counters for Prometheus (text exposition format 0.0.4).

use std::fmt::Write;

use crate::relay::ended::{Ended, Side};
use crate::telemetry::counts::{DirectionTotal, Totals};

const SIDES: [Side; 2] = [Side::Client, Side::Server];
const DIRECTIONS: [&str; 2] = ["up", "down"];
const QUANTILES: [f64; 3] = [0.5, 0.9, 0.99];

/// Renders the page. `open` is the number of open connections and `max_connections` their limit.
/// `other_ports` counts connections with a client's address but another port than the client's.
pub fn page(totals: &Totals, open: usize, max_connections: usize, other_ports: u64) -> String {
    let mut page = Page(String::new());
    page.family("connections_total", "counter", "Number of accepted connections.");
    page.line("connections_total", "", totals.accepted as f64);
    page.family("connections", "gauge", "Number of open connections.");
    page.line("connections", "", open as f64);
    page.family("connections_room", "gauge", "Maximum number of connections.");
    page.line("connections_room", "", max_connections as f64);
    page.family(
        "refused_total",
        "counter",
        "Number of connections that were reset because the maximum was reached.",
    );
    page.line("refused_total", "", totals.refused as f64);
    page.family(
        "other_ports_total",
        "counter",
        "Number of connections with a client's address but another port than the client's.",
    );
    page.line("other_ports_total", "", other_ports as f64);
    page.family("ended_total", "counter", "Number of ended connections, by cause.");
    for ended in Ended::ALL {
        let count = totals.ended.get(&ended).copied().unwrap_or_default();
        page.line("ended_total", &format!("cause=\"{}\"", ended.name()), count as f64);
    }
    directions(&mut page, &totals.directions);
    legs(&mut page, totals);
    page.0
}

/// A family of metrics that has a value for each direction.
struct DirectionFamily {
    name: &'static str,
    /// `counter` or `gauge`.
    kind: &'static str,
    help: &'static str,
    value: fn(&DirectionTotal) -> f64,
}

const DIRECTION_FAMILIES: [DirectionFamily; 4] = [
    DirectionFamily {
        name: "octets_total",
        kind: "counter",
        help: "Octets forwarded, from clients (up) and to clients (down).",
        value: |direction| direction.octets as f64,
    },
    DirectionFamily {
        name: "held_octets",
        kind: "gauge",
        help: "Octets that the proxy holds between its sockets.",
        value: |direction| direction.held as f64,
    },
    DirectionFamily {
        name: "stalls_total",
        kind: "counter",
        help: "Number of stalls: the send buffer towards the receiver was full.",
        value: |direction| direction.stalls as f64,
    },
    DirectionFamily {
        name: "stalled_seconds_total",
        kind: "counter",
        help: "Time of stalls in seconds, summed over connections.",
        value: |direction| direction.stalled_ns as f64 / 1e9,
    },
];

/// Adds the families of metrics that have a value for each direction.
fn directions(page: &mut Page, directions: &[DirectionTotal; 2]) {
    for DirectionFamily { name, kind, help, value } in DIRECTION_FAMILIES {
        page.family(name, kind, help);
        for (direction, total) in DIRECTIONS.iter().zip(directions) {
            page.line(name, &format!("direction=\"{direction}\""), value(total));
        }
    }
}

/// Adds the families of metrics that have a value for each leg, the client's or the server's.
fn legs(page: &mut Page, totals: &Totals) {
    page.family(
        "retransmissions_total",
        "counter",
        "Segments that the kernel retransmitted (TCP_INFO), by leg.",
    );
    for (side, count) in SIDES.iter().zip(totals.retransmissions) {
        page.line("retransmissions_total", &format!("leg=\"{}\"", side.name()), count as f64);
    }
    page.family("rtt_seconds", "gauge", "Smoothed round-trip times of the open connections (TCP_INFO).");
    for (side, legs) in SIDES.iter().zip(&totals.legs) {
        page.quantiles("rtt_seconds", side.name(), legs.iter().filter_map(|leg| leg.rtt_s).collect());
    }
    page.family("cwnd_segments", "gauge", "Congestion windows of the open connections (TCP_INFO).");
    for (side, legs) in SIDES.iter().zip(&totals.legs) {
        let windows = legs.iter().map(|leg| f64::from(leg.cwnd_segments)).collect();
        page.quantiles("cwnd_segments", side.name(), windows);
    }
}

/// The text written so far.
struct Page(String);

impl Page {
    /// Writes the description of a family of metrics.
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _ = write!(self.0, "# HELP umts_proxy_{name} {help}\n# TYPE umts_proxy_{name} {kind}\n");
    }

    /// Writes a value of a family, with labels as in `leg="client"`.
    fn line(&mut self, name: &str, labels: &str, value: f64) {
        let labels = if labels.is_empty() { String::new() } else { format!("{{{labels}}}") };
        let _ = writeln!(self.0, "umts_proxy_{name}{labels} {value}");
    }

    /// Writes the quantiles of `values`. Without values, writes no line.
    fn quantiles(&mut self, name: &str, leg: &str, mut values: Vec<f64>) {
        values.sort_by(f64::total_cmp);
        let Some(last) = values.len().checked_sub(1) else { return };
        for quantile in QUANTILES {
            let value = values[(quantile * last as f64).round() as usize];
            self.line(name, &format!("leg=\"{leg}\",quantile=\"{quantile}\""), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relay::tcp_info::Leg;

    #[test]
    fn every_family_has_a_type_and_every_line_a_number() {
        let leg = Leg { rtt_s: Some(0.084), cwnd_segments: 10, retransmissions: 3 };
        let mut totals = Totals { accepted: 7, retransmissions: [3, 0], ..Totals::default() };
        totals.legs[0].push(leg);
        totals.ended.insert(Ended::InOrder, 6);
        let text = page(&totals, 1, 100, 0);
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let (name, value) = line.rsplit_once(' ').unwrap();
            assert!(name.starts_with("umts_proxy_") && value.parse::<f64>().is_ok(), "{line}");
            let family = name.split('{').next().unwrap();
            assert!(text.contains(&format!("# TYPE {family} ")), "{line}");
        }
        assert!(text.contains("umts_proxy_rtt_seconds{leg=\"client\",quantile=\"0.5\"} 0.084\n"));
        assert!(!text.contains("rtt_seconds{leg=\"server\""), "no value for this side");
        assert!(text.contains("umts_proxy_ended_total{cause=\"in_order\"} 6\n"));
    }
}
