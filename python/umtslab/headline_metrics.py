"""Selection of the headline metrics, which ``umts run`` and other tables show by default.

Each metric has a condition on the values of the result, so metrics of absent layers are left out:
without datagrams `udp_sent` is 0, without channel switching `rrc_switches` is missing. No scenario
is needed, so runs, campaigns, comparisons and emulations are treated alike.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from umtslab.metrics import UPLINK, scopes

Means = Mapping[str, float | None]
"""Value of each metric, or its mean over runs."""


@dataclass(frozen=True)
class Row:
    """A headline metric. It is a row of the tables of metrics."""

    name: str
    scope: str
    """What its number covers: a sum, a mean, a direction."""
    is_shown: Callable[[Means], bool]
    """Whether it is shown for a result with these values."""


def _is_positive(name: str) -> Callable[[Means], bool]:
    """Return a condition: the metric is greater than 0."""
    return lambda means: (means.get(name) or 0.0) > 0


def _has_tcp(means: Means) -> bool:
    """Whether a connection sent data, or tried in vain to open."""
    counts = ("total_packets", "syn_retransmissions", "rto_count", "connections_failed")
    return any(_is_positive(name)(means) for name in counts)


def _has_value(name: str) -> Callable[[Means], bool]:
    """Return a condition: the metric has a value."""
    return lambda means: means.get(name) is not None


def _is_shared(means: Means) -> bool:
    """Whether flows competed: the fairness index is below 1."""
    indices = (means.get("jain_fairness"), means.get("jain_fairness_active"))
    return any(index is not None and index < 1 for index in indices)


def _has_calls(means: Means) -> bool:
    """Whether packet calls exist that are not the same as files or transfers already shown."""
    calls = (means.get("packet_calls") or 0.0) > 0
    return calls and (means.get("download_time_s") is None or (means.get("pages") or 0.0) > 0)


def _is_file_of_one_connection(means: Means) -> bool:
    """Whether the time of a file is shown.

    Behind a proxy the time of the transfer is shown instead.
    """
    return means.get("download_time_s") is not None and means.get("transfer_time_s") is None


_PAGES = _is_positive("pages")
_SESSIONS = _is_positive("sessions")
_DATAGRAMS = _is_positive("udp_sent")
_DATAGRAMS_UP = _is_positive("udp_sent_uplink")
_RLC = _is_positive("pdu_transmissions")
_RADIO = _has_value("sdu_delay_ms")
_SWITCHED = _has_value("rrc_switches")
_LAYOUT = _has_value("load_factor_pct")
_PROXY = _is_positive("proxy_transfers")
_PROXY_HELP_COUNTS = ("proxy_repeats", "proxy_hidden_acks", "proxy_held_acks", "proxy_clamped_windows")
_OVER_USERS = "mean over users"

_DATAGRAM_SCOPES = (
    ("udp_goodput_kbps", "sum of flows"),
    ("udp_loss_pct", "of datagrams"),
    ("udp_delay_ms", "mean"),
    ("udp_p95_delay_ms", "95 % quantile"),
    ("udp_jitter_ms", "mean change"),
)

ROWS = (
    Row("page_time_s", "mean over pages", _PAGES),
    Row("p95_page_time_s", "95 % quantile of pages", _PAGES),
    Row("transfer_time_s", "mean over transfers", _has_value("transfer_time_s")),
    Row("download_time_s", "mean over files", _is_file_of_one_connection),
    Row("goodput_kbps", "sum over connections", _has_tcp),
    Row("goodput_active_kbps", "while any is active", _has_tcp),
    Row("throughput_kbps", "sum over connections", _has_tcp),
    Row("mean_rtt_s", "mean over samples", _has_tcp),
    Row("mean_rtt_time_avg_s", "average over time", _has_tcp),
    Row("mean_outstanding_segments", "mean of a connection", _has_tcp),
    Row("tcp_retransmissions", "sum over connections", _has_tcp),
    Row("rto_count", "of the senders of data", _has_tcp),
    Row("connections_failed", "sum over connections", _is_positive("connections_failed")),
    Row("proxy_transfers", "sum over flows", _PROXY),
    Row("proxy_buffer_octets", "mean of a transfer, average over time", _PROXY),
    Row("proxy_stalled_s", "sum over transfers", _PROXY),
    Row("proxy_ahead_octets", "most of any transfer", _PROXY),
    Row("proxy_lost_octets", "sum over transfers", _is_positive("proxy_lost_octets")),
    *(Row(name, "sum over connections", _is_positive(name)) for name in _PROXY_HELP_COUNTS),
    Row("pages", "sum over users", _PAGES),
    Row("packet_call_time_s", "mean over packet calls", _has_calls),
    Row("session_time_s", "mean over sessions", _SESSIONS),
    *(Row(name, f"downlink, {scope}", _DATAGRAMS) for name, scope in _DATAGRAM_SCOPES),
    *(Row(name + UPLINK, f"uplink, {scope}", _DATAGRAMS_UP) for name, scope in _DATAGRAM_SCOPES),
    Row("link_utilization_pct", "downlink, while in use", _has_tcp),
    Row("rlc_throughput_iub_kbps", "downlink, sum of users", _RLC),
    Row("sdu_delay_ms", "downlink, mean of SDUs", _RADIO),
    Row("residual_loss_pct", "downlink, of SDUs", _RLC),
    Row("rlc_unrecoverable_errors", "both ends, sum of users", _is_positive("rlc_unrecoverable_errors")),
    Row("rlc_reestablishments", "sum of users", _is_positive("rlc_reestablishments")),
    Row("cell_updates", "sum of users", _is_positive("cell_updates")),
    Row("rlc_buffer_sdu_drops", "downlink, sum of users", _is_positive("rlc_buffer_sdu_drops")),
    Row("mean_transmissions_per_pdu", "downlink, mean of PDUs", _RLC),
    Row("bler_pct", "downlink, of blocks", _RLC),
    Row("hs_mean_cqi", "HS-DSCH, mean of new blocks", _is_positive("hs_transmissions")),
    Row("hs_first_bler_pct", "HS-DSCH, first transmissions", _is_positive("hs_transmissions")),
    Row("hs_residual_bler_pct", "HS-DSCH, after the last transmission", _is_positive("hs_transmissions")),
    Row("hs_tsn_misreads", "HS-DSCH, sum of users", _is_positive("hs_tsn_misreads")),
    Row("e_first_bler_pct", "E-DCH, first transmissions", _is_positive("e_transmissions")),
    Row("e_residual_bler_pct", "E-DCH, after the last transmission", _is_positive("e_transmissions")),
    Row("e_max_noise_rise_db", "E-DCH, of any cell", _is_positive("e_transmissions")),
    Row("bler_pct_uplink", "uplink, of blocks", _is_positive("bler_pct_uplink")),
    Row("fach_queue_drops", "sum over cells", _is_positive("fach_queue_drops")),
    Row("link_drops", "sum over links", _is_positive("link_drops")),
    Row("rach_collisions", "sum over cells", _is_positive("rach_collisions")),
    Row("segment_air_time_s", "mean of data segments", _has_value("segment_air_time_s")),
    Row("tdd_slots", "downlink, mean of frames", _has_value("tdd_slots")),
    Row("uplink_tdd_slots", "uplink, mean of frames", _has_value("uplink_tdd_slots")),
    Row("capacity_wait_s", "downlink, mean of grants", _is_positive("capacity_wait_s")),
    Row("uplink_capacity_wait_s", "uplink, mean of grants", _is_positive("uplink_capacity_wait_s")),
    Row("sdus_per_grant", "downlink, mean of grants", _is_positive("sdus_per_grant")),
    Row("uplink_sdus_per_grant", "uplink, mean of grants", _is_positive("uplink_sdus_per_grant")),
    Row("capacity_refusals", "downlink", _is_positive("capacity_refusals")),
    Row("uplink_capacity_refusals", "uplink", _is_positive("uplink_capacity_refusals")),
    Row("ack_collisions", "sum over cells", _is_positive("ack_collisions")),
    Row("load_factor_pct", "mean of cells", _LAYOUT),
    Row("tx_power_dbm", "mean of cells", _LAYOUT),
    Row("power_limited_pct", "of TTIs of cells", _is_positive("power_limited_pct")),
    Row("cell_supply_w", "mean of cells", _LAYOUT),
    Row("cell_energy_j_per_mbit", "all cells", _LAYOUT),
    Row("mean_calls", "mean of cells", _is_positive("mean_calls")),
    Row("call_bler_pct", "of blocks of calls", _LAYOUT),
    Row("calls_blocked_pct", "of calls that began or wanted to", _is_positive("calls_blocked_pct")),
    Row("calls_dropped", "sum over cells", _is_positive("calls_dropped")),
    Row("mean_legs", "mean of calls", _has_value("mean_legs")),
    Row("mean_sf", "mean of grants", _LAYOUT),
    Row("dsch_postponed_pct", "of requests for a TTI", _LAYOUT),
    Row("dch_code_power_dbm", "mean of DCH bearers", _has_value("dch_code_power_dbm")),
    Row("dch_ebn0_db", "mean of DCH bearers", _has_value("dch_ebn0_db")),
    Row("dch_soft_pct", "of the time with power", _is_positive("dch_soft_pct")),
    Row("fach_ebn0_db", "mean of users of the FACH", _has_value("fach_ebn0_db")),
    Row("cell_reselections", "sum over users", _is_positive("cell_reselections")),
    Row("handovers", "sum over users", _is_positive("handovers")),
    Row("cell_efficiency", "of the reserved rate", _SWITCHED),
    Row("simultaneous_dch", "average over time", _SWITCHED),
    Row("dch_allocations", "sum over cells", _SWITCHED),
    Row("dch_refusals", "sum over cells", _is_positive("dch_refusals")),
    Row("dch_wait_s", "mean over waits", _SWITCHED),
    Row("full_cell_time_s", "sum over cells", _is_positive("full_cell_time_s")),
    Row("rrc_switches", "sum over users", _SWITCHED),
    Row("time_in_cell_dch_s", _OVER_USERS, _SWITCHED),
    Row("energy_j", _OVER_USERS, _SWITCHED),
    Row("energy_j_per_mb", "all users", _SWITCHED),
    Row("jain_fairness", "of flows' goodputs", _is_shared),
    Row("jain_fairness_active", "of flows' active rates", _is_shared),
)
"""The headline metrics, in display order."""

TIMES = ("page_time_s", "transfer_time_s", "download_time_s")
"""Times that a user waits, in order of precedence."""

_SCOPES = {row.name: row.scope for row in ROWS}


def headline_names(*results: Means, among: Collection[str] | None = None) -> list[str]:
    """Return the metrics to show first, for one or several results together.

    A metric is shown if any result has a value and fulfils the condition. `among` restricts the
    choice.
    """
    return [
        row.name
        for row in ROWS
        if among is None or row.name in among
        if any(means.get(row.name) is not None and row.is_shown(means) for means in results)
    ]


def main_metric(*results: Means) -> str:
    """Return the metric to show first: time of a page, transfer or file, else goodput."""
    names = headline_names(*results, among=TIMES)
    return names[0] if names else "goodput_kbps"


def scope_of(name: str) -> str:
    """Describe in a few words what the number of a metric covers: a sum, a mean, a direction."""
    if name in _SCOPES:
        return _SCOPES[name]
    scope = scopes().get(name.removesuffix(UPLINK))
    if scope in ("radio", "datagram"):
        return "uplink, all users" if name.endswith(UPLINK) else "downlink, all users"
    texts = {"connection": "all connections", "cell": "all cells", "layout": "all cells"}
    return (texts | {"budget": "all connections"}).get(scope or "", "")
