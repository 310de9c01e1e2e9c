//! Signs that a sender repeats segments by expiries and not by probes (RFC 8985 §7).

use umts_units::{Duration, Time};

use super::Recoveries;
use super::facts::Retransmission;
use crate::cause::Cause;

/// A probe that repeated the only outstanding segment. It may prove to be an expiry.
#[derive(Debug, Clone, Copy)]
pub(super) struct LoneProbe {
    /// When it was sent.
    at: Time,
    /// The wait before the probe.
    waited: Duration,
    /// First octet of the segment.
    start: u64,
}

impl Recoveries {
    /// Reclassifies a probe as an expiry. The timeout doubles with each expiry (RFC 6298 §5.5), but
    /// not after a probe. If the only segment is repeated after a wait, and again after about twice
    /// that wait, both were expiries.
    pub(super) fn revise_probe(&mut self, resent: &Retransmission, cause: Cause) {
        let earlier_probe = self.lone_probe.take().filter(|probe| probe.start == resent.start);
        self.revokes_probe = false;
        match cause {
            Cause::Probe if resent.start <= resent.una => {
                let waited = self.silence_before(resent.now).unwrap_or_default();
                self.lone_probe = Some(LoneProbe { at: resent.now, waited, start: resent.start });
            }
            Cause::Rto if let Some(probe) = earlier_probe => {
                let next_wait = resent.now.saturating_since(probe.at);
                self.revokes_probe = is_about_twice(next_wait, probe.waited);
                self.probes.are_unused |= self.revokes_probe;
            }
            _ => {}
        }
    }

    /// Returns whether an expiry shows that the sender uses no probes: a probe would have been due
    /// earlier, and the sender sent none.
    pub(super) fn shows_missing_probe(&self, resent: &Retransmission) -> bool {
        let is_loss_known = self.current.is_some() || resent.sacked_above > 0;
        // A probe would have repeated the last segment, or sent new data.
        let has_later_segment = resent.end < resent.highest;
        let may_have_probed = self.probes.is_waiting() || self.has_sent_since_ack(resent);
        resent.has_sack && has_later_segment && !is_loss_known && !may_have_probed
    }

    /// Returns whether the sender last sent well after the last acknowledgment: that packet may
    /// have been a probe with new data.
    fn has_sent_since_ack(&self, resent: &Retransmission) -> bool {
        let (Some(acked_at), Some(sent)) = (self.last_ack, self.last_sent) else { return true };
        sent.saturating_since(acked_at) > resent.reaction()
    }
}

/// Returns whether a wait is from 1.75 to 2.25 times as long as the one before.
fn is_about_twice(wait: Duration, before: Duration) -> bool {
    let (wait, before) = (wait.as_nanos(), before.as_nanos());
    let tolerance = before / 4;
    (before * 2 - tolerance..=before * 2 + tolerance).contains(&wait)
}
