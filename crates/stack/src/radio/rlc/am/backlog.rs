//! What a sending side could send now: what a scheduler asks for.

use umts_units::{Bytes, Time};

use super::config::AmConfig;
use super::sender::Sender;
use crate::radio::rlc::Backlog;

impl Sender {
    /// What waits to be sent, for the first time or again.
    pub fn backlog(&self, config: &AmConfig) -> Backlog {
        let payload = u64::from(config.pdu_payload);
        let (unsent, again) = (self.buffer.unsent_octets(), u64::from(self.nacked_count));
        let new = unsent.div_ceil(payload).max(u64::from(!self.buffer.is_empty())).min(self.window_left());
        Backlog {
            octets: Bytes(unsent + again * payload),
            since: self.oldest_sent_again().or_else(|| self.buffer.oldest()),
            pdus: u32::try_from(again + new).unwrap_or(u32::MAX),
            sdus: (self.buffer.sdus() as u32).max(u32::from(again > 0)),
        }
    }

    /// When the SDU came that the first PDU to be sent again belongs to.
    fn oldest_sent_again(&self) -> Option<Time> {
        if self.nacked_count == 0 {
            return None;
        }
        let first = self.nacked.first_member(self.vt_a.max(self.given_up.floor), self.vt_s);
        let ends_at = self.ends.partition_point(|end| end.sn < first);
        self.ends.get(ends_at).map(|end| end.sdu.entered)
    }
}
