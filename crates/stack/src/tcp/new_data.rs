//! New segments of the sending half: how much of the written data the next segment carries, whether
//! it must wait for the other end's window, for more data (silly window avoidance, Nagle) or for
//! the handshake, and how it is added to the outstanding segments. Sequence numbers and sizes are
//! in bytes.

use umts_units::Time;

use super::config::Nagle;
use super::connection::Connection;
use super::outstanding::Sent;
use super::round_trips::TimedSegment;

impl Connection {
    /// The next new segment, if one may be sent: the SYN, data with or without the FIN, or the FIN.
    #[inline]
    pub(super) fn new_segment(&self) -> Option<Sent> {
        let sender = &self.sender;
        let seq = sender.outstanding.max_sent();
        let empty = Sent { seq, ..Sent::default() };
        if seq == 0 {
            return sender.opened.then_some(Sent { syn: true, ..empty });
        }
        if !self.may_send_data() {
            return None;
        }
        let unsent = sender.written.saturating_sub(seq);
        let sends_fin = sender.close_requested && !self.config.is_one_way();
        if unsent == 0 {
            let is_fin_unsent = seq == sender.written;
            return (sends_fin && is_fin_unsent).then_some(Sent { fin: true, ..empty });
        }
        let payload = unsent.min(u64::from(sender.mss)).min(self.room());
        let is_full = payload == u64::from(sender.mss);
        let is_last = payload == unsent;
        let fin = sends_fin && is_last;
        if !is_full && !fin && self.is_held_by_nagle() {
            return None;
        }
        // A full segment and the last data are always worth a segment (§3.8.6.2.1).
        let is_worthwhile = is_full || is_last || self.is_large_part_of_window(payload);
        is_worthwhile.then_some(Sent { payload: payload as u32, fin, ..empty })
    }

    /// Whether the handshake is complete, as far as data must wait for it: our SYN is acknowledged,
    /// and the other end's SYN has arrived (a one-way connection has only one SYN).
    #[inline]
    fn may_send_data(&self) -> bool {
        let syn_is_acked = self.sender.outstanding.una() > 0;
        let has_peer_syn = self.config.is_one_way() || self.receiver.is_synchronised();
        syn_is_acked && self.sender.opened && has_peer_syn
    }

    /// Bytes of new data that fit into the other end's window.
    #[inline]
    pub(super) fn room(&self) -> u64 {
        if self.config.is_one_way() {
            return u64::MAX;
        }
        let sender = &self.sender;
        let window_end = sender.outstanding.una() + u64::from(sender.peer_window);
        window_end.saturating_sub(sender.outstanding.max_sent())
    }

    /// Silly window avoidance (RFC 9293 §3.8.6.2.1) for a segment that the other end's window cuts
    /// short: it must fill half of the largest window so far. The persist timer permits any size.
    #[inline]
    fn is_large_part_of_window(&self, payload: u64) -> bool {
        let fills_half = 2 * payload >= u64::from(self.sender.largest_window);
        payload > 0 && (fills_half || self.sender.persist.any_size)
    }

    /// Whether a small segment must wait: while any data is unacknowledged (RFC 9293 §3.7.4), or in
    /// Minshall's variant while another small segment is unacknowledged.
    #[inline]
    fn is_held_by_nagle(&self) -> bool {
        let outstanding = &self.sender.outstanding;
        match self.config.nagle {
            Nagle::Off => false,
            Nagle::On => !outstanding.is_empty(),
            Nagle::Minshall => self.sender.small_end > outstanding.una(),
        }
    }

    /// Returns the next segment in order, as it was before this transmission. Adds a new one if all
    /// have been sent.
    #[inline]
    pub(super) fn next_in_order(&mut self, now: Time) -> Option<Sent> {
        if self.sender.outstanding.next() == self.sender.outstanding.len() {
            self.add_segment(now)?;
        }
        self.sender.outstanding.send_next(now)
    }

    /// Appends a new segment, which is about to be sent, to the outstanding ones.
    #[inline]
    pub(super) fn add_segment(&mut self, now: Time) -> Option<()> {
        let Some(new) = self.new_segment() else {
            self.notify_law_nothing_to_send();
            return None;
        };
        self.end_persist();
        self.sender.outstanding.push(new);
        if new.payload > 0 && new.payload < self.sender.mss {
            self.sender.small_end = new.end();
        }
        // One segment is timed at a time (RFC 6298 §3), and only from its first transmission on.
        self.sender.timed.get_or_insert(TimedSegment { end: new.end(), sent_at: now });
        Some(())
    }
}
