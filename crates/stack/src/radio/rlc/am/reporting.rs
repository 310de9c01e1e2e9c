//! Transmission of reports, MRW and MRW_ACK, and the PDUs that carry them: TS 25.322 §9.7.2, §11.5.

use umts_kernel::TraceSink;
use umts_units::Time;

use super::AmEntity;
use super::sender::Ride;
use super::status::Beside;
use crate::Context;
use crate::radio::rlc::{BlockSet, Status};
use crate::trace::TraceEvent;

impl AmEntity {
    /// EURANE: no data came in time to carry the report. It is written now and sent in the next
    /// TTI, when it may be out of date.
    pub(super) fn write_report(&mut self) {
        let mut missing = std::mem::take(&mut self.receiver.written_missing);
        missing.clear();
        let extent = self.receiver.extent(&self.config, self.config.pdu_octets(), Beside::default());
        self.receiver.written = Some(self.receiver.report(&self.config, extent, &mut missing));
        self.receiver.written_missing = missing;
    }

    /// Sends due reports, MRW and MRW_ACK in STATUS PDUs, or returns them to be carried by the next
    /// new PDU or by a retransmitted one.
    #[inline]
    pub(super) fn send_status<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        blocks: u32,
        set: &mut BlockSet,
    ) -> (Option<Status>, Option<Ride>) {
        while set.blocks < blocks && self.status_is_due(cx.now) {
            match self.next_status(cx, blocks - set.blocks, set) {
                Sent::Alone => {}
                Sent::Waits => break,
                Sent::With(status) => return (Some(status), None),
                Sent::Again(ride) => return (None, Some(ride)),
            }
        }
        (None, None)
    }

    #[inline]
    pub(super) fn status_is_due(&self, now: Time) -> bool {
        self.receiver.report_is_due(now) | self.sender.given_up.mrw_due | self.receiver.owes_mrw_ack()
    }

    /// For an entity with something due: whether this is only a report that waits for data to carry
    /// it, and there are no data. This is the usual case while a report waits.
    #[inline]
    pub(super) fn nothing_carries_the_report(&self, now: Time) -> bool {
        let is_by_report = self.is_sender_undisturbed(now) && !self.receiver.owes_mrw_ack();
        is_by_report && self.report_waits() && !self.sender.can_send_new()
    }

    /// Whether a due report waits for data to carry it, until Timer::StatusWait writes it. Later
    /// parts of a report do not wait.
    #[inline]
    fn report_waits(&self) -> bool {
        let has_begun = self.receiver.written.is_some() | self.receiver.report_from.is_some();
        !has_begun & !self.config.piggyback_wait.is_zero()
    }

    #[inline]
    fn next_status<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        room: u32,
        set: &mut BlockSet,
    ) -> Sent {
        let report_due = self.receiver.report_is_due(cx.now);
        let beside = Beside {
            mrw: self.sender.mrw_fields(),
            mrw_ack: self.receiver.owes_mrw_ack(),
            window: report_due && self.receiver.granted_window.is_some(),
        };
        let alone = self.config.pdu_octets();
        // A report that was written before its TTI is sent unchanged.
        let written = self.receiver.written.is_some();
        let mut extent = (report_due && !written).then(|| self.receiver.extent(&self.config, alone, beside));
        if beside.takes_room() {
            // A report that does not fit together with the rest comes next.
            extent = extent.filter(|extent| !extent.is_cramped);
        }
        let octets = extent.map_or_else(|| beside.octets(), |extent| extent.octets);
        let rides = !written && self.sender.can_carry(&self.config, octets);
        let again = if written { None } else { self.sender.carried_by(&self.config, octets, room) };
        if !rides && report_due && self.report_waits() && beside.mrw.is_none() {
            return Sent::Waits;
        }
        let is_first = self.receiver.report_from.is_none();
        let mut status = match (self.receiver.written.take(), extent) {
            (Some(status), _) => {
                debug_assert!(set.missing.is_empty());
                set.missing.append(&mut self.receiver.written_missing);
                status
            }
            (None, Some(extent)) => self.receiver.report(&self.config, extent, &mut set.missing),
            (None, None) => Status { octets, ..Status::default() },
        };
        let reported = extent.is_some() || written;
        if reported && is_first {
            self.receiver.count_down(cx.now, &self.config, &mut self.timers);
        }
        if reported && self.receiver.report_from.is_none() {
            self.receiver.reported(cx.now, &self.config, &mut self.timers);
        }
        status.window = self.receiver.granted_window.filter(|_| beside.window);
        status.mrw_ack = self.receiver.take_mrw_ack();
        status.mrw = self.sender.take_mrw(cx, &self.config, &mut self.timers, set);
        let (ue, direction, mrw) = (self.sender.ue, self.sender.direction, status.mrw.is_some());
        let piggybacked = rides || again.is_some();
        let octets = u32::from(if piggybacked { status.octets } else { alone });
        cx.record(|| TraceEvent::StatusSent { ue, direction, octets, piggybacked, mrw });
        match again {
            _ if rides => Sent::With(status),
            Some(pdu) => Sent::Again(Ride { pdu, status }),
            None => {
                set.push_status(status);
                Sent::Alone
            }
        }
    }
}

/// Result for a due STATUS.
enum Sent {
    /// Sent in a PDU of its own.
    Alone,
    /// Not yet.
    Waits,
    /// To be carried by the next new PDU.
    With(Status),
    /// To be carried by a retransmitted PDU.
    Again(Ride),
}
