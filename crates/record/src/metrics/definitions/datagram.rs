//! Metrics of UDP in one direction, all flows together.

use super::{Metric, count, kbps, percent};
use crate::metrics::totals::DatagramTotals;

metrics! { DATAGRAM: DatagramTotals;
    "udp_sent" "UDP datagrams sent" ["1"] "UDP datagrams sent by their host." = "datagrams sent" / ""
        => |t| count(t.sent);
    "udp_received" "UDP datagrams received" ["1"] "UDP datagrams received by their host." = "datagrams received" / ""
        => |t| count(t.received);
    "udp_loss_pct" "UDP loss" ["%"] "Share of UDP datagrams that did not arrive, computed from the numbers received (RFC 3550 §6.4.1)."
        = "numbers missing, summed over flows"
        / "numbers from the first one sent to the highest one received in the window, summed over flows"
        => |t| percent(t.expected - t.arrived.min(t.expected), t.expected);
    "udp_goodput_kbps" "UDP goodput" ["kbit/s"] "UDP payload received per time." = "payload of the datagrams received" / "run window"
        => |t| kbps(t.bytes * 8, t.window);
    "udp_delay_ms" "UDP delay" ["ms"] "Mean delay of a datagram from host to host." = "sum of (received - sent)" / "datagrams received"
        => |t| t.delay.mean_s().map(|s| s * 1e3);
    "udp_p95_delay_ms" "95 % quantile of the UDP delay" ["ms"] "Exceeded by 5 % of the UDP delays, to three digits." = "95 % quantile of the delays" / ""
        => |t| t.delay.quantile_s(0.95).map(|s| s * 1e3);
    "udp_max_delay_ms" "Maximum UDP delay" ["ms"] "Maximum delay of a datagram from host to host." = "largest of the delays" / ""
        => |t| t.delay.max_s().map(|s| s * 1e3);
    "udp_jitter_ms" "UDP jitter" ["ms"] "Mean change of the delay from one datagram of a flow to the next: the mean of the values that RFC 3550 §6.4.1 smooths."
        = "sum of |delay - delay of the previous datagram received in the flow|" / "pairs of datagrams"
        => |t| t.delay_steps.mean_s().map(|s| s * 1e3);
}
