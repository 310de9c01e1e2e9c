//! Metrics of queue management (RED, CoDel, PIE). Recorded only if a queue has it. The header of
//! `definitions.rs` describes the rows. Index 0 of the totals is the downlink, index 1 the uplink.

use super::{Metric, count};
use crate::metrics::totals::QueueTotals;

metrics! { QUEUES: QueueTotals;
    "link_aqm_drops" "Drops by queue management, links, downlink" ["1"] "Downlink packets that RED, CoDel or PIE dropped in front of a link. They also count in `link_drops`." = "such packets" / ""
        => |t| count(t.link_drops[0]);
    "link_aqm_drops_uplink" "Drops by queue management, links, uplink" ["1"] "Uplink packets that RED, CoDel or PIE dropped in front of a link. They also count in `link_drops`." = "such packets" / ""
        => |t| count(t.link_drops[1]);
    "link_aqm_marks" "Marks by queue management, links, downlink" ["1"] "Downlink packets that RED, CoDel or PIE marked in front of a link instead of dropping them." = "such packets" / ""
        => |t| count(t.link_marks[0]);
    "link_aqm_marks_uplink" "Marks by queue management, links, uplink" ["1"] "Uplink packets that RED, CoDel or PIE marked in front of a link instead of dropping them." = "such packets" / ""
        => |t| count(t.link_marks[1]);
    "rlc_aqm_drops" "Drops by queue management, RLC, downlink" ["1"] "Downlink SDUs that RED, CoDel or PIE dropped in the RLC buffer. Drops by CoDel also count in `rlc_sdu_discards`, drops by RED and PIE in `rlc_buffer_sdu_drops`." = "such SDUs" / ""
        => |t| count(t.rlc_drops[0]);
    "rlc_aqm_drops_uplink" "Drops by queue management, RLC, uplink" ["1"] "Uplink SDUs that RED, CoDel or PIE dropped in the RLC buffer." = "such SDUs" / ""
        => |t| count(t.rlc_drops[1]);
    "rlc_aqm_marks" "Marks by queue management, RLC, downlink" ["1"] "Downlink SDUs that RED, CoDel or PIE marked in the RLC buffer instead of dropping them." = "such SDUs" / ""
        => |t| count(t.rlc_marks[0]);
    "rlc_aqm_marks_uplink" "Marks by queue management, RLC, uplink" ["1"] "Uplink SDUs that RED, CoDel or PIE marked in the RLC buffer instead of dropping them." = "such SDUs" / ""
        => |t| count(t.rlc_marks[1]);
}
