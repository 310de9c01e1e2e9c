//! Data that an entity of acknowledged mode (AM) could send now, for the schedulers of the MAC: new SDUs
//! and PDUs to retransmit.

use umts_units::{Bytes, Time};

use super::polling::POLL_STATUS_OCTETS;
use super::sender::{Sender, SentSdu};
use super::{AmEntity, Piggyback};
use crate::radio::rlc::RlcConfig;
use crate::radio::rlc::backlog::BlockCounter;
use crate::radio::rlc::{Backlog, WaitingSdu};

impl AmEntity {
    /// New data and retransmissions to send.
    pub fn backlog(&self) -> Backlog {
        self.sender.backlog()
    }

    /// Number of PDUs to send now, at most one of them a control PDU. A STATUS that may be
    /// piggybacked on data does not count.
    pub fn pdus_ready(&self, now: Time) -> u32 {
        // A PDU that is sent only to poll is not in the backlog.
        let data = if self.has_data(now) { self.backlog().pdus.max(1) } else { 0 };
        let has_own_pdu = data == 0 || self.config.piggyback == Piggyback::Off;
        data + u32::from(has_own_pdu && self.has_control(now))
    }

    /// Appends the SDUs that wait to be sent in order.
    pub fn waiting_sdus(&self, into: &mut Vec<WaitingSdu>) {
        self.sender.waiting_sdus(into);
    }

    /// Octets that wait for transmission or retransmission, control PDUs included (TS 25.321
    /// §8.2.2). A control PDU counts as a whole PDU.
    pub fn available_for_transmission(&self, now: Time) -> Bytes {
        let control = u64::from(self.reset.has_work()) + u64::from(self.status_is_due(now));
        let data = self.sender.available_for_transmission(&self.config, now);
        Bytes(data + control * u64::from(self.config.pdu_octets(self.sender.direction)))
    }

    /// Octets of SDUs that are waiting or not completely acknowledged.
    pub fn buffer_occupancy(&self) -> Bytes {
        self.sender.occupancy()
    }

    /// Counts of the first PDU that is neither acknowledged nor discarded, and of the next new PDU.
    pub fn sent_window(&self) -> (u64, u64) {
        (self.sender.vt_a.max(self.sender.discards.floor), self.sender.vt_s)
    }
}

impl Sender {
    /// New data and retransmissions to send.
    pub fn backlog(&self) -> Backlog {
        let payload = u64::from(self.rules.payload);
        let (unsent, retransmissions) = (self.buffer.unsent_octets(), u64::from(self.nacked_count));
        let new = self.rules.pdus(unsent, self.buffer.sdus() as u64);
        let new = new.max(u64::from(!self.buffer.is_empty())).min(self.window_left());
        Backlog {
            octets: Bytes(unsent + self.missing_octets(payload)),
            since: self.oldest_retransmission().or_else(|| self.buffer.oldest()),
            pdus: u32::try_from(retransmissions + new).unwrap_or(u32::MAX),
            sdus: (self.buffer.sdus() as u32).max(u32::from(retransmissions > 0)),
        }
    }

    /// Octets that wait for transmission or retransmission (TS 25.321 §8.2.2): SDUs that are not in
    /// PDUs yet, even beyond the window, PDUs reported missing, and a PDU that is sent only to
    /// poll. Other sent PDUs do not count.
    pub fn available_for_transmission(&self, config: &RlcConfig, now: Time) -> u64 {
        let unsent = self.buffer.unsent_octets();
        let only_polls = unsent == 0 && self.nacked_count == 0 && self.has_data(now);
        let largest = u64::from(config.pdu_octets(self.direction));
        let poll = match config.has_poll_sufi(self.direction) {
            true => u64::from(POLL_STATUS_OCTETS),
            false => largest,
        };
        unsent + self.missing_octets(largest) + if only_polls { poll } else { 0 }
    }

    /// Appends the incomplete SDUs in order: first those with PDUs to retransmit, then those with
    /// an unsent part.
    pub fn waiting_sdus(&self, into: &mut Vec<WaitingSdu>) {
        let mut from = self.vt_a.max(self.discards.floor);
        let mut retransmissions_left = self.nacked_count;
        for SentSdu { last_pdu, sdu, .. } in &self.sent_sdus {
            if retransmissions_left == 0 {
                break;
            }
            let blocks = self.nacked.count(from, last_pdu + 1) as u32;
            if blocks > 0 {
                into.push(WaitingSdu { entered: sdu.entered, size: sdu.size(), blocks });
                retransmissions_left -= blocks;
            }
            from = from.max(last_pdu + 1);
        }
        // The remaining retransmissions belong to the SDU that is only partly sent.
        self.buffer.waiting_sdus(BlockCounter::new(self.rules), retransmissions_left, into);
    }

    /// Arrival time of the SDU with the first PDU to retransmit.
    fn oldest_retransmission(&self) -> Option<Time> {
        if self.nacked_count == 0 {
            return None;
        }
        let first = self.nacked.first_member(self.vt_a.max(self.discards.floor), self.vt_s);
        let index = self.sent_sdus.partition_point(|sent| sent.last_pdu < first);
        self.sent_sdus.get(index).map(|sent| sent.sdu.entered)
    }

    /// Octets of the PDUs that are reported missing and not sent again yet. A full PDU counts as
    /// `full_pdu` octets.
    fn missing_octets(&self, full_pdu: u64) -> u64 {
        let octets = u64::from(self.nacked_count) * full_pdu;
        if !self.rules.is_flexible || self.nacked_count == 0 {
            return octets;
        }
        let shorter_pdus = self.padded.iter().filter(|padded| self.nacked.contains(padded.pdu));
        octets - shorter_pdus.map(|padded| u64::from(padded.padding)).sum::<u64>()
    }
}
