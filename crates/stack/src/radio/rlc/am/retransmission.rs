//! Retransmission of PDUs that the peer reported missing: TS 25.322 §11.3.3, VT(DAT).

use std::ops::Range;

use umts_kernel::TraceSink;

use super::config::Piggyback;
use super::polling::PduKind;
use super::sender::{PaddedPdu, Sender, SentSdu};
use super::timers::Timers;
use crate::Context;
use crate::detail::PollCauses;
use crate::radio::rlc::RlcConfig;
use crate::radio::rlc::{BlockSet, DataRun, Sn, Status};
use crate::trace::TraceEvent;

/// A STATUS to be carried in the padding of PDU `pdu`, which is about to be retransmitted.
#[derive(Debug, Clone, Copy)]
pub(super) struct RetransmissionPiggyback {
    pub pdu: u64,
    pub status: Status,
}

impl Sender {
    /// VT(DAT) of a PDU between VT(A) and VT(S).
    #[inline]
    pub(super) fn transmissions(&self, pdu: u64) -> u16 {
        if self.retransmitted.contains(pdu) { self.vt_dat[self.ring_index(pdu)] } else { 1 }
    }

    /// Index of a PDU in `vt_dat`. The length of `vt_dat` is a power of two.
    #[inline]
    fn ring_index(&self, pdu: u64) -> usize {
        pdu as usize & (self.vt_dat.len() - 1)
    }

    /// Increments VT(DAT) of a PDU between VT(A) and VT(S) that was sent before.
    #[inline]
    pub(super) fn count_transmission(&mut self, config: &RlcConfig, pdu: u64) {
        if self.vt_dat.is_empty() {
            self.vt_dat = vec![0; (config.window as usize).next_power_of_two()].into();
        }
        let index = self.ring_index(pdu);
        self.vt_dat[index] = self.transmissions(pdu).saturating_add(1);
        self.retransmitted.insert(pdu);
    }

    /// Retransmits missing PDUs, oldest first, at most `room` PDUs. `on_retransmission`: the STATUS
    /// that one of them carries.
    pub fn send_retransmissions<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        config: &RlcConfig,
        timers: &mut Timers,
        room: u32,
        on_retransmission: Option<RetransmissionPiggyback>,
        set: &mut BlockSet,
    ) {
        let mut sent = 0;
        let mut from = self.vt_a.max(self.discards.floor);
        while sent < room && self.nacked_count > 0 {
            let first = self.nacked.first_member(from, self.vt_s);
            let to_next_poll = self.pdus_to_next_poll(cx.now, config, PduKind::Retransmitted);
            let max_run = u64::from((room - sent).min(to_next_poll));
            let end_of_nacked = self.nacked.first_gap(first, (first + max_run).min(self.vt_s));
            // The PDU with the STATUS is a run of its own.
            let (end, status) = match on_retransmission {
                Some(carrier) if carrier.pdu == first => (first + 1, Some(carrier.status)),
                Some(carrier) if carrier.pdu > first => (end_of_nacked.min(carrier.pdu), None),
                _ => (end_of_nacked, None),
            };
            debug_assert!(first < end, "nacked_count counts members between VT(A) and VT(S)");
            let count = (end - first) as u32;
            self.nacked.clear_range(first, end);
            self.nacked_count -= count;
            let is_last = self.nacked_count == 0 && config.poll_last_retransmitted_pdu;
            let wanted = PollCauses::LAST_RETRANSMITTED_PDU.when(is_last);
            self.retransmit(cx, config, timers, first..end, wanted, status, set);
            sent += count;
            from = end;
        }
    }

    /// Retransmits the consecutive PDUs `pdus`. The last one polls if `wanted` or another cause
    /// requires it.
    #[expect(clippy::too_many_arguments, reason = "the arguments of its callers")]
    pub(super) fn retransmit<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        config: &RlcConfig,
        timers: &mut Timers,
        pdus: Range<u64>,
        wanted: PollCauses,
        status: Option<Status>,
        set: &mut BlockSet,
    ) {
        let (first, count) = (pdus.start, (pdus.end - pdus.start) as u32);
        let first_end = set.next_end_index();
        let sdus_before = self.sent_sdus.partition_point(|sent| sent.last_pdu < first);
        let ending_sdus = self.sent_sdus.range(sdus_before..).take_while(|sent| sent.last_pdu < pdus.end);
        set.ends.extend(ending_sdus.map(SentSdu::sdu_end));
        for pdu in pdus {
            self.count_transmission(config, pdu);
        }
        let poll = self.decide_poll(cx, config, timers, count, wanted);
        let run = DataRun {
            first: Sn::of(first),
            count: count as u16,
            poll,
            retransmission: true,
            ends: set.ends_since(first_end),
            starts: false,
            piggyback: status,
        };
        self.record_sent(cx, first, &run);
        set.push_data(run);
    }

    /// The first PDU to retransmit that has enough padding for a STATUS of `octets`. `None` if not
    /// all retransmissions fit into the `room` blocks of this TTI.
    pub fn retransmission_with_room(&self, config: &RlcConfig, octets: u16, room: u32) -> Option<u64> {
        let may_piggyback = config.piggyback == Piggyback::Padding && !self.rules.is_flexible;
        let all_fit = (1..=room).contains(&self.nacked_count);
        if !may_piggyback || !all_fit {
            return None;
        }
        let needed = octets + self.rules.length_indicator;
        let fits = |padded: &&PaddedPdu| padded.padding >= needed && self.nacked.contains(padded.pdu);
        self.padded.iter().find(fits).map(|padded| padded.pdu)
    }
}
