//! Transmission of STATUS: when one is due, its contents, and the PDU that carries it (TS 25.322
//! §9.7.2, §11.5). A STATUS contains the report of the receiving side (acknowledged and missing
//! PDUs), a WINDOW that the report grants, an MRW (move receiving window) of the sending side, or
//! the answer MRW_ACK to an MRW of the peer. It is sent in a PDU of its own, or piggybacked on a
//! data PDU.

use umts_kernel::TraceSink;
use umts_units::Time;

use super::AmEntity;
use super::retransmission::RetransmissionPiggyback;
use super::status::{Extent, OtherSufis};
use crate::Context;
use crate::radio::rlc::{BlockSet, Status};
use crate::trace::TraceEvent;

impl AmEntity {
    /// Handles the expiry of [`Timer::StatusWait`](super::Timer::StatusWait): no data PDU was sent
    /// in time to carry the report. As in EURANE (an extension of ns-2), the report is built now
    /// and sent unchanged in the next TTI, when it may be out of date.
    pub(super) fn prepare_report(&mut self) {
        let mut missing = std::mem::take(&mut self.receiver.prepared_missing);
        missing.clear();
        let window = self.receiver.granted_window;
        let others = OtherSufis { window: window.is_some(), ..OtherSufis::default() };
        let extent =
            self.receiver.extent(&self.config, self.config.pdu_octets(self.sender.direction), others);
        let report = self.receiver.report(&self.config, extent, &mut missing);
        self.receiver.prepared = Some(Status { window, ..report });
        self.receiver.prepared_missing = missing;
    }

    /// Sends due reports, MRW and MRW_ACK in STATUS PDUs. A STATUS that is to be piggybacked is
    /// returned instead.
    #[inline]
    pub(super) fn send_status<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        blocks: u32,
        set: &mut BlockSet,
    ) -> PiggybackedStatus {
        let mut piggybacked = PiggybackedStatus::default();
        while set.blocks < blocks && self.status_is_due(cx.now) {
            match self.next_status(cx, blocks - set.blocks, set) {
                StatusDelivery::OwnPdu => continue,
                StatusDelivery::Waits => {}
                StatusDelivery::OnNewPdu(status) => piggybacked.on_new_pdu = Some(status),
                StatusDelivery::OnRetransmission(carrier) => piggybacked.on_retransmission = Some(carrier),
            }
            break;
        }
        piggybacked
    }

    /// Whether a report, an MRW or an MRW_ACK is due.
    #[inline]
    pub(super) fn status_is_due(&self, now: Time) -> bool {
        self.receiver.report_is_due(now) | self.sender.discards.mrw_due | self.receiver.owes_mrw_ack()
    }

    /// Whether nothing is due except a report that waits for a data PDU to carry it, and no new
    /// data can be sent. Call only if something is due.
    #[inline]
    pub(super) fn only_waiting_report_is_due(&self, now: Time) -> bool {
        let is_only_report_due = self.sender_has_only_new_data(now) && !self.receiver.owes_mrw_ack();
        is_only_report_due && self.report_waits() && !self.sender.can_send_new()
    }

    /// Whether a due report waits for a data PDU to carry it, until Timer::StatusWait expires.
    /// Prepared reports and later parts of a report do not wait.
    #[inline]
    fn report_waits(&self) -> bool {
        let has_started = self.receiver.prepared.is_some() | self.receiver.next_part_from.is_some();
        !has_started & !self.config.piggyback_wait.is_zero()
    }

    /// Builds the next due STATUS, updates the report timers, and adds the STATUS to `set` unless it is
    /// to be piggybacked. `room`: free blocks in `set`.
    #[inline]
    fn next_status<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        room: u32,
        set: &mut BlockSet,
    ) -> StatusDelivery {
        let contents = self.next_contents(cx.now);
        let carrier = self.carrier_of(&contents, room);
        let needs_no_wait = carrier == Carrier::NewPdu || contents.others.mrw.is_some();
        if !needs_no_wait && self.receiver.report_is_due(cx.now) && self.report_waits() {
            return StatusDelivery::Waits;
        }
        let status = self.take_status(cx, &contents, set);
        self.record_status(cx, &status, carrier);
        match carrier {
            Carrier::NewPdu => StatusDelivery::OnNewPdu(status),
            Carrier::Retransmission(pdu) => {
                StatusDelivery::OnRetransmission(RetransmissionPiggyback { pdu, status })
            }
            Carrier::OwnPdu => {
                set.push_status(status);
                StatusDelivery::OwnPdu
            }
        }
    }

    /// Chooses the contents of the next STATUS. A prepared report is sent unchanged, with its WINDOW.
    /// Other SUFIs that do not fit beside it are left for the next STATUS.
    #[inline]
    fn next_contents(&self, now: Time) -> Contents {
        let own_pdu_octets = self.config.pdu_octets(self.sender.direction);
        let prepared_octets = self.receiver.prepared.as_ref().map(|status| status.octets);
        let is_prepared = prepared_octets.is_some();
        let builds_report = self.receiver.report_is_due(now) && !is_prepared;
        let mut others = OtherSufis {
            mrw: self.sender.mrw_fields(),
            mrw_ack: self.receiver.owes_mrw_ack(),
            window: builds_report && self.receiver.granted_window.is_some(),
        };
        if prepared_octets.is_some_and(|octets| !others.fit_beside(octets, own_pdu_octets)) {
            others = OtherSufis::default();
        }
        let mut extent = builds_report.then(|| self.receiver.extent(&self.config, own_pdu_octets, others));
        if others.any() {
            // If the report does not fit beside the other SUFIs, the next STATUS contains it.
            extent = extent.filter(|extent| !extent.fits_no_missing_pdu);
        }
        let octets = extent.map_or_else(|| others.octets(), |extent| extent.octets);
        Contents { is_prepared, extent, others, octets }
    }

    /// Chooses the PDU that carries a STATUS. A prepared report has a PDU of its own.
    #[inline]
    fn carrier_of(&self, contents: &Contents, room: u32) -> Carrier {
        if contents.is_prepared {
            return Carrier::OwnPdu;
        }
        if self.sender.can_carry(&self.config, contents.octets) {
            return Carrier::NewPdu;
        }
        let retransmission = self.sender.retransmission_with_room(&self.config, contents.octets, room);
        retransmission.map_or(Carrier::OwnPdu, Carrier::Retransmission)
    }

    /// Builds a STATUS with these contents, which are then no longer due.
    #[inline]
    fn take_status<T>(&mut self, cx: &Context<'_, T>, contents: &Contents, set: &mut BlockSet) -> Status {
        let Contents { extent, others, octets, .. } = *contents;
        let mut status = self.take_report(cx.now, extent, octets, set);
        if others.window {
            status.window = self.receiver.granted_window;
        }
        if others.mrw_ack {
            status.mrw_ack = self.receiver.take_mrw_ack();
        }
        if others.mrw.is_some() {
            status.mrw = self.sender.take_mrw(cx, &self.config, &mut self.timers, set);
        }
        status
    }

    /// Records the transmission of a STATUS, with the octets that it takes.
    #[inline]
    fn record_status<T: TraceSink<TraceEvent>>(
        &self,
        cx: &mut Context<'_, T>,
        status: &Status,
        carrier: Carrier,
    ) {
        let (ue, direction, mrw) = (self.sender.ue, self.sender.direction, status.mrw.is_some());
        let piggybacked = carrier != Carrier::OwnPdu;
        let has_padding = !piggybacked && !self.sender.rules.is_flexible;
        let octets = if has_padding { self.config.pdu_octets(direction) } else { status.octets };
        let octets = u32::from(octets);
        cx.record(|| TraceEvent::StatusSent { ue, direction, octets, piggybacked, mrw });
    }

    /// Takes the prepared report, builds the part `extent` of the due report, or builds a STATUS of
    /// `octets` without a report. The first part starts the EPC (estimated PDU counter, which repeats
    /// the report if the requested PDUs do not arrive). The last part ends the report and starts
    /// Timer_Status_Prohibit.
    #[inline]
    fn take_report(&mut self, now: Time, extent: Option<Extent>, octets: u16, set: &mut BlockSet) -> Status {
        let is_first_part = self.receiver.next_part_from.is_none();
        let status = if let Some(prepared) = self.receiver.prepared.take() {
            debug_assert!(set.missing.is_empty());
            set.missing.append(&mut self.receiver.prepared_missing);
            prepared
        } else if let Some(extent) = extent {
            self.receiver.report(&self.config, extent, &mut set.missing)
        } else {
            return Status { octets, ..Status::default() };
        };
        if is_first_part {
            self.receiver.start_epc(now, &self.config, &mut self.timers);
        }
        // `Receiver::report` has updated `next_part_from`.
        let is_last_part = self.receiver.next_part_from.is_none();
        if is_last_part {
            self.receiver.finish_report(now, &self.config, &mut self.timers);
        }
        status
    }
}

/// Contents of a STATUS before it is built.
struct Contents {
    /// The report was prepared before and is sent unchanged.
    is_prepared: bool,
    /// The part of the report that is built for this STATUS.
    extent: Option<Extent>,
    /// SUFIs besides the report.
    others: OtherSufis,
    /// Octets of the STATUS, unless it is prepared.
    octets: u16,
}

/// The PDU that carries a STATUS.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Carrier {
    /// A STATUS PDU.
    OwnPdu,
    /// The next new data PDU.
    NewPdu,
    /// This data PDU, which is retransmitted.
    Retransmission(u64),
}

/// The STATUS that a data PDU of this TTI carries. At most one of the fields is present.
#[derive(Debug, Default)]
pub(super) struct PiggybackedStatus {
    /// For the next new PDU.
    pub on_new_pdu: Option<Status>,
    /// For a PDU that is retransmitted.
    pub on_retransmission: Option<RetransmissionPiggyback>,
}

impl PiggybackedStatus {
    pub fn is_none(&self) -> bool {
        self.on_new_pdu.is_none() && self.on_retransmission.is_none()
    }
}

/// How a due STATUS is sent.
enum StatusDelivery {
    /// In a PDU of its own, which was added to the block set.
    OwnPdu,
    /// Not yet: the report waits for a data PDU to carry it.
    Waits,
    /// To be carried by the next new PDU.
    OnNewPdu(Status),
    /// To be carried by a retransmitted PDU.
    OnRetransmission(RetransmissionPiggyback),
}
