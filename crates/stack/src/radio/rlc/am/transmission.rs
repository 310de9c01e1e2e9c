//! Transmission of new PDUs by the sending side of acknowledged mode (TS 25.322 §9.7.1, §11.3.2), and
//! of a repeated PDU or a POLL SUFI that only polls.
//!
//! A new PDU is *full* if the first SDU in the buffer fills it and continues in the next PDU. In a
//! *composed* PDU an SDU ends, or another one begins, or a STATUS takes part of the room. A run of
//! full PDUs is sent in one step, a composed PDU alone.
//!
//! The arguments `blocks` and `set` of the functions: `set` collects the PDUs of a TTI, at most
//! `blocks` of them.

use umts_kernel::TraceSink;

use super::config::Piggyback;
use super::polling::PduKind;
use super::sender::{PaddedPdu, Sender, SentSdu};
use super::timers::Timers;
use crate::Context;
use crate::detail::{DiscardReason, PollCauses};
use crate::radio::rlc::RlcConfig;
use crate::radio::rlc::buffer::PduContents;
use crate::radio::rlc::managed_sdus::{QueueAction, UnrecordedActions, record_action};
use crate::radio::rlc::wire::RESET_OCTETS;
use crate::radio::rlc::{BlockSet, DataRun, Pdu, SduEnd, Sn, Status};
use crate::trace::TraceEvent;

/// EURANE sends data and a STATUS in the same PDU only if at least this number of data octets fits.
const MIN_DATA_OCTETS_BESIDE_STATUS: u16 = 3;

impl Sender {
    /// Sends new data until `set` has `blocks` blocks.
    pub fn send_new<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        config: &RlcConfig,
        timers: &mut Timers,
        blocks: u32,
        set: &mut BlockSet,
    ) {
        while set.blocks < blocks && self.can_send_new() {
            let free_blocks = blocks - set.blocks;
            // Only the last PDU of a run may poll, so the run ends with the next PDU that polls.
            let max_pdus = free_blocks.min(self.pdus_to_next_poll(cx.now, config, PduKind::New));
            match self.full_pdus(max_pdus) {
                0 => self.send_composed(cx, config, timers, None, set),
                pdus => self.send_full(cx, config, timers, pdus, set),
            }
        }
    }

    /// Fast path of [`send_new`](Self::send_new) for full PDUs without a poll. Sends nothing if the
    /// next PDU is composed, if the run would end with a PDU that polls, or if Poll_Window is
    /// configured. Call only if no poll is due, and call `send_new` afterwards for the remaining
    /// blocks.
    #[inline]
    pub fn send_full_without_poll<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        config: &RlcConfig,
        blocks: u32,
        set: &mut BlockSet,
    ) {
        let pdus_to_poll = self.pdus_to_counted_poll(cx.now, config, PduKind::New);
        let pdus = self.full_pdus(blocks.min(pdus_to_poll));
        let may_poll = pdus == pdus_to_poll || config.poll_window.is_some();
        if pdus == 0 || may_poll {
            return;
        }
        let first = self.take_full(pdus);
        self.polls.count(pdus);
        let run = DataRun::new(first, pdus, set.no_ends());
        self.record_sent(cx, first, &run);
        set.push_data(run);
    }

    /// Sends `pdus` full PDUs. The last one may poll.
    fn send_full<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        config: &RlcConfig,
        timers: &mut Timers,
        pdus: u32,
        set: &mut BlockSet,
    ) {
        let first = self.take_full(pdus);
        let poll_causes = PollCauses::WINDOW.when(self.window_requires_poll(config));
        let poll = self.decide_poll(cx, config, timers, pdus, poll_causes);
        let run = DataRun { poll, ..DataRun::new(first, pdus, set.no_ends()) };
        self.record_sent(cx, first, &run);
        set.push_data(run);
    }

    /// Number of full PDUs that may be sent next, at most `max_pdus`.
    #[inline]
    fn full_pdus(&self, max_pdus: u32) -> u32 {
        let max_pdus = u64::from(max_pdus).min(self.window_left()) as u32;
        self.buffer.full_pdus(&self.rules, max_pdus)
    }

    /// Fills the next `pdus` PDUs, which must be full. Returns the first one.
    #[inline]
    fn take_full(&mut self, pdus: u32) -> u64 {
        let first = self.vt_s;
        self.buffer.take_full(&self.rules, first, pdus);
        self.vt_s += u64::from(pdus);
        first
    }

    /// Sends one composed PDU. The STATUS `piggyback` takes room in it.
    pub fn send_composed<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        config: &RlcConfig,
        timers: &mut Timers,
        piggyback: Option<&Status>,
        set: &mut BlockSet,
    ) {
        let pdu = self.vt_s;
        let first_end = set.next_end_index();
        let contents = self.compose(cx, pdu, piggyback, set);
        self.vt_s += 1;
        let poll_causes = self.poll_causes_after_composed(config, contents.finished);
        let poll = self.decide_poll(cx, config, timers, 1, poll_causes);
        let piggyback = piggyback.copied();
        let run = DataRun { poll, piggyback, ..DataRun::new(pdu, 1, set.ends_since(first_end)) };
        self.record_sent(cx, pdu, &run);
        set.push_data(run);
    }

    /// Fills PDU `pdu` beside the STATUS `piggyback`. Appends the SDU ends in it to `set.ends`, and
    /// stores these SDUs and the padding.
    fn compose<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        pdu: u64,
        piggyback: Option<&Status>,
        set: &mut BlockSet,
    ) -> PduContents {
        let rules = self.rules;
        let ends_before = set.ends.len();
        let status_octets = piggyback.map_or(0, |status| status.octets + rules.length_indicator);
        let contents = self.buffer.compose(cx.now, &rules, pdu, rules.payload - status_octets, set);
        if let Some(actions) = self.buffer.take_managed() {
            self.record_managed(cx, actions);
        }
        self.store_sent_sdus(pdu, &set.ends[ends_before..]);
        if contents.padding > 0 && piggyback.is_none() {
            self.padded.push_back(PaddedPdu { pdu, padding: contents.padding });
        }
        contents
    }

    /// Causes of a poll, other than Poll_PDU, in the composed PDU that was just taken from the
    /// buffer. `finished_sdus` SDUs have their last octet in it.
    fn poll_causes_after_composed(&mut self, config: &RlcConfig, finished_sdus: u32) -> PollCauses {
        let is_last_pdu = self.buffer.is_empty() && config.poll_last_pdu;
        PollCauses::LAST_PDU.when(is_last_pdu)
            | PollCauses::POLL_SDU.when(self.count_finished_sdus(config, finished_sdus))
            | PollCauses::WINDOW.when(self.window_requires_poll(config))
    }

    /// Stores the SDUs that end in PDU `pdu`.
    fn store_sent_sdus(&mut self, pdu: u64, ends: &[SduEnd]) {
        for end in ends {
            let pdus_before = Sn::of(pdu).steps_from(end.first);
            self.sent_sdus.push_back(SentSdu { first_pdu: pdu - pdus_before, last_pdu: pdu, sdu: end.sdu });
        }
    }

    /// Records the SDUs that queue management discarded or marked.
    #[cold]
    fn record_managed<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        actions: UnrecordedActions,
    ) {
        for sdu in actions.discarded {
            record_action(cx, self.direction, QueueAction::Drop);
            self.record_discard(cx, sdu, DiscardReason::QueueManagement, None);
        }
        (0..actions.marks).for_each(|_| record_action(cx, self.direction, QueueAction::Mark));
    }

    /// If a poll is due that no other PDU carries, repeats the last PDU or sends a POLL SUFI.
    pub fn send_poll<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        config: &RlcConfig,
        timers: &mut Timers,
        set: &mut BlockSet,
    ) {
        if !self.polls.is_due(cx.now) || !self.can_repeat_last() {
            return;
        }
        let last = self.vt_s - 1;
        if !config.may_retransmit(self.transmissions(last)) {
            self.polls.cancel(timers);
            self.reach_max_dat(cx, config, timers, last);
        } else if config.has_poll_sufi(self.direction) {
            self.send_poll_sufi(cx, config, timers, last, set);
        } else {
            self.retransmit(cx, config, timers, last..self.vt_s, PollCauses::default(), None, set);
        }
    }

    /// Whether the next data PDU is a new one that can carry a STATUS of `status_octets`.
    pub fn can_carry(&self, config: &RlcConfig, status_octets: u16) -> bool {
        let next_pdu_is_new = self.nacked_count == 0 && self.can_send_new();
        if self.rules.is_flexible || !next_pdu_is_new {
            return false;
        }
        // A length indicator marks the STATUS in the PDU.
        let length_indicator = self.rules.length_indicator;
        let with_indicator = status_octets + length_indicator;
        match config.piggyback {
            Piggyback::Off => false,
            Piggyback::Padding => {
                let padding = self.buffer.padding_of_last_pdu(&self.rules);
                padding.is_some_and(|padding| padding >= with_indicator)
            }
            Piggyback::BuildAround => {
                // The data has a length indicator of its own if an SDU ends in the PDU.
                let min_data = length_indicator + MIN_DATA_OCTETS_BESIDE_STATUS;
                with_indicator + min_data <= config.pdu_payload.0
            }
        }
    }

    /// Octets of the PDUs of flexible size in `set`, which this entity has just filled.
    pub fn flexible_octets(&self, config: &RlcConfig, set: &BlockSet) -> u32 {
        let largest = u32::from(config.pdu_octets(self.direction));
        let octets = set.pdus.iter().map(|pdu| match pdu {
            Pdu::Data(run) => {
                let first = run.first.count_from(self.vt_a);
                let pdus = first..first + u64::from(run.count);
                pdus.map(|pdu| largest - u32::from(self.padding_of(pdu))).sum()
            }
            Pdu::Status(status) => u32::from(status.octets),
            Pdu::Reset(_) | Pdu::ResetAck(_) => RESET_OCTETS as u32,
            Pdu::Umd(_) | Pdu::Tmd(_) => unreachable!("acknowledged mode sends no such PDUs"),
        });
        octets.sum()
    }

    /// [`PaddedPdu::padding`] of a PDU between VT(A) and VT(S), in octets.
    fn padding_of(&self, pdu: u64) -> u16 {
        let found = self.padded.binary_search_by_key(&pdu, |padded| padded.pdu);
        found.map_or(0, |index| self.padded[index].padding)
    }

    /// Records the transmission of `run`. `first`: count of its first PDU.
    #[inline]
    pub(super) fn record_sent<T: TraceSink<TraceEvent>>(
        &self,
        cx: &mut Context<'_, T>,
        first: u64,
        run: &DataRun,
    ) {
        let (ue, direction, count) = (self.ue, self.direction, u32::from(run.count));
        let (retransmission, poll) = (run.retransmission, run.poll);
        let first_sn = first as u32;
        cx.record(|| TraceEvent::PdusSent { ue, direction, first_sn, count, retransmission, poll });
    }
}
