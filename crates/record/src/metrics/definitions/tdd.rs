//! Metrics of TDD cells. They have no value without such a cell.

use super::{Metric, count, per, percent};
use crate::metrics::totals::TddTotals;

const DOWN: usize = 0;
const UP: usize = 1;

metrics! { TDD: TddTotals;
    "segment_air_time_s" "Air time of segments" ["s"] "Time of TCP data segments from RLC's buffer to the other end of the air, in TDD cells; mean." = "sum of the times" / "segments delivered"
        => |t| t.segments.mean_s();
    "segment_air_time_sd_s" "Deviation of the air time" ["s"] "Standard deviation (n - 1) of that time." = "spread of the times" / "segments delivered"
        => |t| t.segment_deviation_s();
    "capacity_requests" "Requests on the RACH" ["1"] "Times that users of TDD cells asked on the RACH, collisions (`rach_collisions`) included." = "requests" / ""
        => |t| known(t, t.requests);
    "capacity_refusals" "Refused requests" ["1"] "Requests for downlink capacity for which there was no room at first." = "refusals" / ""
        => |t| known(t, t.refusals[DOWN]);
    "uplink_capacity_refusals" "Refused requests, uplink" ["1"] "The same of the uplink." = "refusals" / ""
        => |t| known(t, t.refusals[UP]);
    "capacity_wait_s" "Wait for capacity" ["s"] "Time from the need of downlink capacity to its grant; mean." = "sum of the times" / "grants"
        => |t| t.waits[DOWN].mean_s();
    "uplink_capacity_wait_s" "Wait for capacity, uplink" ["s"] "The same of the uplink, with requests, collisions and back-off." = "sum of the times" / "grants"
        => |t| t.waits[UP].mean_s();
    "sdus_per_grant" "SDUs per grant" ["1"] "SDUs that were acknowledged or given up during a downlink grant." = "such SDUs" / "grants that ended"
        => |t| per(t.grant_sdus[DOWN], t.grants[DOWN]);
    "uplink_sdus_per_grant" "SDUs per grant, uplink" ["1"] "The same of the uplink." = "such SDUs" / "grants that ended"
        => |t| per(t.grant_sdus[UP], t.grants[UP]);
    "tdd_slots" "Downlink slots" ["1"] "Slots of a frame that go down, the acknowledgments' included, while capacity is granted; mean over all frames." = "slots going down" / "frames of the window"
        => |t| t.per_frame(t.slots[DOWN]);
    "uplink_tdd_slots" "Uplink slots" ["1"] "The same of the uplink." = "slots going up" / "frames of the window"
        => |t| t.per_frame(t.slots[UP]);
    "resource_units" "Resource units used" ["1"] "Resource units of a frame that carry downlink blocks; mean over all frames." = "resource units of blocks" / "frames of the window"
        => |t| t.per_frame(t.used[DOWN]);
    "uplink_resource_units" "Resource units used, uplink" ["1"] "The same of the uplink." = "resource units of blocks" / "frames of the window"
        => |t| t.per_frame(t.used[UP]);
    "grant_use_pct" "Use of held capacity" ["%"] "How many of the resource units that are held, both ways and with those of the acknowledgments, carry blocks." = "resource units of blocks" / "resource units held"
        => |t| percent(t.used[DOWN] + t.used[UP], t.held[DOWN] + t.held[UP]);
    "bler_alone_pct" "Block errors, alone in the slot" ["%"] "Blocks in TDD cells that are lost, of those that no block of another user is beside in the slot." = "such blocks lost" / "such blocks sent"
        => |t| percent(t.lost[0], t.blocks[0]);
    "bler_1_neighbour_pct" "Block errors, one neighbour" ["%"] "The same of blocks with one block of others beside them." = "such blocks lost" / "such blocks sent"
        => |t| percent(t.lost[1], t.blocks[1]);
    "bler_2_neighbours_pct" "Block errors, two neighbours" ["%"] "The same with two." = "such blocks lost" / "such blocks sent"
        => |t| percent(t.lost[2], t.blocks[2]);
    "bler_3_neighbours_pct" "Block errors, three neighbours" ["%"] "The same with three." = "such blocks lost" / "such blocks sent"
        => |t| percent(t.lost[3], t.blocks[3]);
    "jain_fairness_1s" "Jain's fairness index over 1 s" ["1"] "How evenly the users of TDD cells share each second: payload of TCP carried to the other end of the air, over all users for whom anything has been carried; mean over the seconds in which something was." = "indices" / "seconds"
        => |t| t.jain[0];
    "jain_fairness_10s" "Jain's fairness index over 10 s" ["1"] "The same over ten seconds; `jain_fairness` is over the run." = "indices" / "stretches of ten seconds"
        => |t| t.jain[1];
    "ack_collisions" "Collisions of acknowledgments" ["1"] "Times that users met on the common channel of uplink acknowledgments." = "collisions" / ""
        => |t| known(t, t.ack_collisions);
}

/// The number, or `None` without a TDD cell.
fn known(totals: &TddTotals, number: u64) -> Option<f64> {
    count(number).filter(|_| totals.is_tdd)
}
