//! Signs that a recovery was needless, and whether the sender undid it. A later loss then begins
//! another recovery.
//!
//! - **Eifel** (RFC 3522, RFC 4015): the acknowledgment of a retransmission echoes a timestamp from
//!   before it.
//! - **F-RTO** (RFC 5682): after an expiry, data that were not retransmitted are acknowledged.
//! - **DSACK** (RFC 3708): the receiver reports every retransmission as a duplicate.
//!
//! The first two are only signs, because not every sender uses them. A sender that uses them sends
//! new data, or does not answer acknowledgments with retransmissions; a sender that does not
//! continues to retransmit. For a sender with RACK the signs suffice at once: a TCP with RACK has
//! the others too.

use crate::recovery::AckInfo;

/// Number of acknowledgments after a sign without a retransmission that show that the sender has
/// undone the recovery.
const ACKS_AFTER_SIGN: u32 = 2;

/// An acknowledgment in a recovery.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AckInRecovery<'a> {
    pub info: &'a AckInfo,
    /// It acknowledges new data, and would echo the retransmission's timestamp if the
    /// retransmission had been needed.
    pub is_conclusive: bool,
    /// After an expiry, it acknowledges data that were outstanding and not retransmitted.
    pub is_of_original: bool,
    /// The sender is known to use RACK.
    pub has_rack: bool,
}

/// The signs that a recovery was needless.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Undo {
    /// Number of acknowledgments since a sign without a retransmission. `None` without a sign.
    acks_since_sign: Option<u32>,
    is_done: bool,
    /// Number of segments retransmitted, in preceding recoveries that were not over too.
    segments: u32,
    /// Number of duplicates that the receiver reported.
    reported: u32,
    /// Number of segments retransmitted in the current recovery.
    segments_in_recovery: u32,
    /// Timestamp of the first retransmission.
    timestamp: Option<u32>,
    /// The oldest outstanding number at the first retransmission.
    marker: u64,
}

impl Undo {
    /// Returns whether the sender undid the recovery.
    pub fn is_done(&self) -> bool {
        self.is_done
    }

    /// Returns the state for another recovery that begins before this one is over. Retransmissions
    /// of both may be in flight.
    pub fn for_next_recovery(self) -> Self {
        Undo { acks_since_sign: None, is_done: false, segments_in_recovery: 0, ..self }
    }

    /// Records a retransmission.
    pub fn record_retransmission(&mut self, una: u64, timestamp: Option<u32>) {
        if self.segments == 0 {
            (self.timestamp, self.marker) = (timestamp, una);
        }
        self.segments = self.segments.saturating_add(1);
        self.segments_in_recovery = self.segments_in_recovery.saturating_add(1);
        self.acks_since_sign = None;
    }

    /// Records new data.
    pub fn record_new_data(&mut self) {
        self.is_done |= self.acks_since_sign.is_some();
    }

    /// Processes an acknowledgment. The recovery is undone if the receiver has reported all
    /// retransmissions as duplicates, or if a sign was followed by enough acknowledgments without a
    /// retransmission.
    pub fn process_ack(&mut self, ack: AckInRecovery) {
        self.count_duplicate(ack.info);
        if let Some(acks_since_sign) = &mut self.acks_since_sign {
            *acks_since_sign += 1;
            self.is_done |= *acks_since_sign >= ACKS_AFTER_SIGN;
        }
        let is_sign_of_eifel = ack.is_conclusive && self.echoes_earlier_copy(ack.info);
        // F-RTO applies only while no segment except the oldest has been retransmitted.
        let is_sign_of_frto = ack.is_of_original && self.segments_in_recovery == 1;
        if is_sign_of_eifel || is_sign_of_frto {
            self.acks_since_sign.get_or_insert(0);
            self.is_done |= ack.has_rack;
        }
    }

    /// Counts the DSACK of an acknowledgment if it reports a segment of the recovery.
    fn count_duplicate(&mut self, info: &AckInfo) {
        let is_reported = info.duplicate_end.is_some_and(|end| end > self.marker);
        self.reported = self.reported.saturating_add(u32::from(is_reported));
        self.is_done |= self.segments > 0 && self.reported >= self.segments;
    }

    /// Returns whether an acknowledgment echoes a timestamp from before the first retransmission.
    fn echoes_earlier_copy(&self, info: &AckInfo) -> bool {
        let timestamps = info.echo.zip(self.timestamp);
        timestamps.is_some_and(|(echo, sent)| (echo.wrapping_sub(sent) as i32) < 0)
    }
}
