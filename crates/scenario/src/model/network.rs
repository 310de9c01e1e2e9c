//! Tables of the links of the fixed network, and its links if a scenario has none.

pub use umts_stack::aqm::{QueueLimit, RedConfig};
pub use umts_stack::core_network::{InternetDelay, LinkConfig as Link, LinkDirections, Outage};
use umts_units::{BitRate, Duration};

/// The wired side of the EURANE example scripts (Ericsson, 2003): 60.4 ms from the server to the
/// RNC.
pub(crate) fn default_chain() -> Vec<Link> {
    let hop = |from: &str, to: &str, mbps: u64, delay_us: u64| Link {
        from: from.to_owned(),
        to: to.to_owned(),
        rate: BitRate::from_bps(mbps * 1_000_000),
        delay: Duration::from_micros(delay_us),
        queue: Some(QueueLimit::Packets(50)),
        ..Link::default()
    };
    vec![
        hop("server", "router", 10, 35_000),
        hop("router", "ggsn", 10, 15_000),
        hop("ggsn", "sgsn", 622, 10_000),
        hop("sgsn", "rnc", 622, 400),
    ]
}
