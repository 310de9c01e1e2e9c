//! Metrics of TDD cells. They have no value without such a cell.

use super::{Metric, count, per, percent};
use crate::metrics::totals::TddTotals;

/// Indices of the directions in totals.
const DOWN: usize = 0;
const UP: usize = 1;

metrics! { TDD: TddTotals;
    "segment_air_time_s" "Air time of segments" ["s"] "Mean time of TCP data segments from RLC's buffer to the other end of the air interface, in TDD cells." = "sum of the times" / "segments delivered"
        => |t| t.segments.mean_s();
    "segment_air_time_sd_s" "Standard deviation of the air time" ["s"] "Standard deviation (n - 1) of the air time of segments." = "sqrt(sum of squared deviations / (segments delivered - 1))" / ""
        => |t| t.segment_deviation_s();
    "capacity_requests" "Requests on the RACH" ["1"] "Requests of users of TDD cells on the RACH, collisions (`rach_collisions`) included." = "requests" / ""
        => |t| known(t, t.requests);
    "capacity_refusals" "Refused requests" ["1"] "Requests for downlink capacity that could not be granted at once." = "refusals" / ""
        => |t| known(t, t.refusals[DOWN]);
    "uplink_capacity_refusals" "Refused requests, uplink" ["1"] "Requests for uplink capacity that could not be granted at once." = "refusals" / ""
        => |t| known(t, t.refusals[UP]);
    "capacity_wait_s" "Wait for capacity" ["s"] "Mean time from the need for downlink capacity to its grant." = "sum of the times" / "grants"
        => |t| t.waits[DOWN].mean_s();
    "uplink_capacity_wait_s" "Wait for capacity, uplink" ["s"] "Mean time from the need for uplink capacity to its grant, with requests, collisions and back-off." = "sum of the times" / "grants"
        => |t| t.waits[UP].mean_s();
    "sdus_per_grant" "SDUs per grant" ["1"] "Mean number of SDUs that were acknowledged or discarded during a downlink grant." = "such SDUs" / "grants that ended"
        => |t| per(t.grant_sdus[DOWN], t.grants[DOWN]);
    "uplink_sdus_per_grant" "SDUs per grant, uplink" ["1"] "Mean number of SDUs that were acknowledged or discarded during an uplink grant." = "such SDUs" / "grants that ended"
        => |t| per(t.grant_sdus[UP], t.grants[UP]);
    "tdd_slots" "Downlink slots" ["1"] "Mean number of downlink slots per frame, acknowledgments included: slots with granted capacity, and in a cell with fixed slots all slots of the direction. Frames without granted capacity count as 0." = "downlink slots" / "frames of the window"
        => |t| t.per_frame(t.slots[DOWN]);
    "uplink_tdd_slots" "Uplink slots" ["1"] "Mean number of uplink slots per frame, acknowledgments included: slots with granted capacity, and in a cell with fixed slots all slots of the direction. Frames without granted capacity count as 0." = "uplink slots" / "frames of the window"
        => |t| t.per_frame(t.slots[UP]);
    "resource_units" "Resource units used" ["1"] "Mean number of resource units of a frame that carry downlink blocks." = "resource units of blocks" / "frames of the window"
        => |t| t.per_frame(t.used[DOWN]);
    "uplink_resource_units" "Resource units used, uplink" ["1"] "Mean number of resource units of a frame that carry uplink blocks." = "resource units of blocks" / "frames of the window"
        => |t| t.per_frame(t.used[UP]);
    "grant_use_pct" "Use of granted capacity" ["%"] "Share of the held resource units that carry blocks, in both directions, acknowledgments included." = "resource units of blocks" / "resource units held"
        => |t| percent(t.used[DOWN] + t.used[UP], t.held[DOWN] + t.held[UP]);
    "bler_alone_pct" "Block errors, alone in the slot" ["%"] "Block error rate in TDD cells of blocks that share their slot with no block of another user." = "such blocks lost" / "such blocks sent"
        => |t| percent(t.lost[0], t.blocks[0]);
    "bler_1_neighbour_pct" "Block errors, one neighbour" ["%"] "Block error rate in TDD cells of blocks that share their slot with one block of another user." = "such blocks lost" / "such blocks sent"
        => |t| percent(t.lost[1], t.blocks[1]);
    "bler_2_neighbours_pct" "Block errors, two neighbours" ["%"] "Block error rate in TDD cells of blocks that share their slot with two blocks of other users." = "such blocks lost" / "such blocks sent"
        => |t| percent(t.lost[2], t.blocks[2]);
    "bler_3_neighbours_pct" "Block errors, three neighbours" ["%"] "Block error rate in TDD cells of blocks that share their slot with three blocks of other users." = "such blocks lost" / "such blocks sent"
        => |t| percent(t.lost[3], t.blocks[3]);
    "jain_fairness_1s" "Jain's fairness index over 1 s" ["1"] "Jain's index of the TCP payload carried across the air in one second for each user of a TDD cell, over the users with payload in this or an earlier second of the window; mean over the seconds with payload." = "indices" / "seconds"
        => |t| t.jain[0];
    "jain_fairness_10s" "Jain's fairness index over 10 s" ["1"] "Jain's index of the TCP payload carried across the air in ten seconds for each user of a TDD cell, over the users with payload in this or an earlier period of the window; mean over the periods of ten seconds with payload. `jain_fairness` covers the run." = "indices" / "periods of ten seconds"
        => |t| t.jain[1];
    "ack_collisions" "Collisions of acknowledgments" ["1"] "Collisions of users on the common channel of uplink acknowledgments." = "collisions" / ""
        => |t| known(t, t.ack_collisions);
}

/// The number, or `None` without a TDD cell.
fn known(totals: &TddTotals, number: u64) -> Option<f64> {
    count(number).filter(|_| totals.is_tdd)
}
