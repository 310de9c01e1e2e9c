//! Writes the rows of the timeline about the radio: SDUs, PDUs, transport block sets, STATUS
//! reports, transmissions on the HS-DSCH and the E-DCH, timers of RLC, and RRC states.
//!
//! A row opens when a packet, block set or state begins. It is completed and closed when that ends.
//! The [`Bearer`] of a UE and direction keeps the indices of the open rows.

use std::fmt::Write;

use umts_stack::detail::{PollCauses, Stage};
use umts_stack::ids::{Direction, PacketId, UeId};
use umts_stack::mac::e::grant::Grant;
use umts_stack::radio::phy::Lost;
use umts_stack::radio::rlc::{BlockSet, DataRun, Pdu, Status};
use umts_stack::trace::{CellUpdateCause, Channel, RrcState, SwitchCause, TraceEvent};
use umts_units::{Bytes, Time};

use super::Timeline;
use super::bearer::{Bearer, RunPart, RunningPoll, SetInTransit, StatusInTransit};
use super::rows::{
    BlockSetRow, DchRequestRow, EBlockRow, EGrantRow, HsBlockRow, PduRun, RrcRow, SduRow, StatusRow, TimerRow,
};
use super::table::RowIndex;

/// A block set that leaves its sender.
#[derive(Clone, Copy)]
struct LeavingSet<'a> {
    now: Time,
    ue: UeId,
    direction: Direction,
    channel: &'static str,
    set: &'a BlockSet,
    /// Number of the set in all tables: unique in the run and ascending, unlike the serial of a
    /// bearer, so that a table needs few bytes.
    number: RowIndex,
}

impl LeavingSet<'_> {
    /// The row of `pdu`, without the columns of data. `block`: index of its first block in the set.
    fn row_of(&self, pdu: &Pdu, block: u32) -> PduRun {
        PduRun {
            time_s: self.now.as_secs(),
            end_s: None,
            ue: u32::from(self.ue.0),
            direction: self.direction.name(),
            block_set: self.number,
            channel: self.channel,
            kind: pdu.name(),
            first: None,
            count: pdu.blocks(),
            transmission: None,
            poll: false,
            poll_causes: PollCauses::default(),
            block,
            lost: Lost::default(),
            lost_at: "",
        }
    }
}

impl Timeline {
    pub(super) fn record_radio(&mut self, now: Time, event: &TraceEvent) {
        match event {
            TraceEvent::SduQueued { ue, direction, sdu, size } => {
                self.sdu_queued(now, *ue, *direction, *sdu, *size);
            }
            TraceEvent::SduDelivered { ue, direction, sdu, .. } => {
                self.close_sdu(now, *ue, *direction, *sdu, "delivered", "");
            }
            TraceEvent::RlcBuffer { ue, direction, octets } => {
                self.bearer(*ue, *direction).octets = *octets;
            }
            TraceEvent::TimerPollExpired { ue, direction } => {
                let running = self.bearer(*ue, *direction).running_poll.take();
                self.end_timer_poll(now, running, "expired");
            }
            TraceEvent::RlcReset { ue, direction } => {
                self.ue_event(now, *ue, Some(*direction), "rlc_reset", None);
            }
            TraceEvent::RlcInitialState { ue, direction } => {
                let bearer = self.bearer(*ue, *direction);
                bearer.reinitialise();
                let running = bearer.running_poll.take();
                self.end_timer_poll(now, running, "stopped");
                self.ue_event(now, *ue, Some(*direction), "rlc_initial_state", None);
            }
            TraceEvent::RlcUnrecoverable { ue, direction } => {
                self.ue_event(now, *ue, Some(*direction), "rlc_unrecoverable", None);
            }
            TraceEvent::CellUpdateStarted { ue, cause } => {
                self.ue_event(now, *ue, None, kind_of_cell_update(*cause), None);
            }
            TraceEvent::CellUpdateEnded { ue, .. } => {
                self.ue_event(now, *ue, None, "cell_update_ended", None);
            }
            TraceEvent::Handover { ue, to, .. } => {
                self.ue_event(now, *ue, None, "handover", Some(u32::from(*to)));
            }
            TraceEvent::HsTsnMisread { ue } => {
                self.ue_event(now, *ue, Some(Direction::Downlink), "tsn_misread", None);
            }
            TraceEvent::HsBlockSent { ue, cqi, attempt, pdus, is_decoded, is_last } => {
                self.hs_blocks.push(HsBlockRow {
                    time_s: now.as_secs(),
                    ue: u32::from(ue.0),
                    cqi: u32::from(*cqi),
                    attempt: u32::from(*attempt),
                    pdus: *pdus,
                    decoded: *is_decoded,
                    last: *is_last,
                });
            }
            TraceEvent::EBlockSent { .. } | TraceEvent::EGrantSent { .. } | TraceEvent::ENoiseRise { .. } => {
                self.record_e_dch(now, event);
            }
            _ => self.record_rrc(now, event),
        }
    }

    /// Opens the row of an SDU that enters the transmission buffer of RLC, and completes the row of
    /// its TCP segment.
    fn sdu_queued(&mut self, now: Time, ue: UeId, direction: Direction, sdu: PacketId, size: Bytes) {
        let bearer = &mut self.ues[ue.index()].bearers[direction.index()];
        let index = self.sdus.open(SduRow {
            time_s: now.as_secs(),
            end_s: None,
            packet: sdu.0 as u32,
            ue: u32::from(ue.0),
            direction: direction.name(),
            octets: size.0,
            ahead_octets: bearer.octets,
            first: None,
            last: None,
            first_sent_s: None,
            last_sent_s: None,
            fate: "in_buffer",
            reason: "",
        });
        bearer.sdus.insert(sdu, index);
        if let Some(segment) = self.packets.get(&sdu)
            && let Some(row) = self.segments.get(*segment)
        {
            row.radio_s = Some(now.as_secs());
        }
    }

    fn record_e_dch(&mut self, now: Time, event: &TraceEvent) {
        match event {
            TraceEvent::EBlockSent { ue, attempt, bits, pdus, is_decoded, is_last, is_happy } => {
                let index = self.e_blocks.open(EBlockRow {
                    time_s: now.as_secs(),
                    ue: u32::from(ue.0),
                    attempt: u32::from(*attempt),
                    bits: *bits,
                    pdus: *pdus,
                    happy: *is_happy,
                    decoded: *is_decoded,
                    last: *is_last,
                    noise_rise_db: 0.0,
                });
                self.e_blocks_sent.push(index);
            }
            // This event comes after the blocks of its cell that were sent at the same instant, and
            // completes their rows.
            TraceEvent::ENoiseRise { rise, .. } => {
                for index in self.e_blocks_sent.drain(..) {
                    if let Some(row) = self.e_blocks.close(index) {
                        row.noise_rise_db = f64::from(rise.0);
                    }
                }
            }
            TraceEvent::EGrantSent { ue, index, is_absolute } => {
                let grant = index.and_then(|index| Grant::all().nth(usize::from(index)));
                self.e_grants.push(EGrantRow {
                    time_s: now.as_secs(),
                    ue: u32::from(ue.0),
                    index: index.map(u32::from),
                    ratio: grant.map_or(0.0, Grant::ratio),
                    absolute: *is_absolute,
                });
            }
            _ => {}
        }
    }

    fn record_rrc(&mut self, now: Time, event: &TraceEvent) {
        match event {
            TraceEvent::RrcState { ue, state } => {
                self.ues[ue.index()].has_dch = *state == RrcState::CellDch;
                self.enter(now, *ue, state.name(), "", "");
            }
            TraceEvent::RrcSwitch { ue, from, to, cause } => {
                self.ues[ue.index()].has_dch |= *to == RrcState::CellDch;
                self.enter(now, *ue, from.name(), to.name(), switch_cause_name(*cause));
            }
            TraceEvent::DchRequested { ue, again } => {
                let cell = self.ues[ue.index()].cell;
                let index = self.dch_requests.open(DchRequestRow {
                    time_s: now.as_secs(),
                    end_s: None,
                    ue: u32::from(ue.0),
                    cell: cell as u32,
                    again: *again,
                    answer: "open",
                    dchs: 0,
                    holders: String::new(),
                });
                let previous = self.ues[ue.index()].dch_request.replace(index);
                if let Some(previous) = previous {
                    self.dch_requests.close(previous);
                }
            }
            TraceEvent::DchGranted { ue, after_release } => {
                let answer = if *after_release { "granted_after_release" } else { "granted" };
                self.answer(now, *ue, answer);
            }
            TraceEvent::DchRefused { ue } => self.answer(now, *ue, "refused"),
            TraceEvent::DchQueued { ue } => self.answer(now, *ue, "queued"),
            TraceEvent::DchWithdrawn { ue } => self.answer(now, *ue, "withdrawn"),
            _ => {}
        }
    }

    /// The UE is in `state` (`to` is empty), or is switched from `state` to `to`.
    fn enter(&mut self, now: Time, ue: UeId, state: &'static str, to: &'static str, cause: &'static str) {
        let row = RrcRow { time_s: now.as_secs(), end_s: None, ue: u32::from(ue.0), state, to, cause };
        let index = self.rrc.open(row);
        if let Some(previous) = self.ues[ue.index()].rrc.replace(index)
            && let Some(row) = self.rrc.close(previous)
        {
            row.end_s = Some(now.as_secs());
        }
    }

    /// Admission answers the open request of a UE for a DCH. The row also lists the UEs of the cell
    /// that have a DCH at this time.
    fn answer(&mut self, now: Time, ue: UeId, answer: &'static str) {
        let Some(index) = self.ues[ue.index()].dch_request.take() else { return };
        let cell = self.ues[ue.index()].cell;
        let holders = self.ues.iter().enumerate().filter(|(_, other)| other.cell == cell && other.has_dch);
        let holders: Vec<String> = holders.map(|(number, _)| number.to_string()).collect();
        if let Some(row) = self.dch_requests.close(index) {
            (row.end_s, row.answer) = (Some(now.as_secs()), answer);
            (row.dchs, row.holders) = (holders.len() as u32, holders.join(" "));
        }
    }

    /// RLC polls with a PDU that is about to leave. Starts Timer_Poll, or restarts it
    /// if it is running.
    pub(super) fn polled(&mut self, now: Time, ue: UeId, direction: Direction, causes: PollCauses) {
        let bearer = self.bearer(ue, direction);
        bearer.causes.push_back(causes);
        if bearer.timer_poll.is_none() {
            return;
        }
        let running = bearer.running_poll.take().map(|running| running.row);
        let row = running.filter(|row| self.timers.restart(now, *row)).unwrap_or_else(|| {
            let row = TimerRow::start(now, "timer_poll", ue, direction);
            self.timers.open(row)
        });
        self.bearer(ue, direction).running_poll = Some(RunningPoll { row, polled: None });
    }

    /// Ends the row of a Timer_Poll.
    fn end_timer_poll(&mut self, now: Time, running: Option<RunningPoll>, outcome: &'static str) {
        if let Some(running) = running
            && let Some(row) = self.timers.close(running.row)
        {
            (row.end_s, row.outcome) = (Some(now.as_secs()), outcome);
        }
    }

    /// A block set of a UE reached a stage of its way from RLC to RLC.
    pub(super) fn blocks(
        &mut self,
        now: Time,
        ue: UeId,
        direction: Direction,
        channel: Channel,
        set: &BlockSet,
        stage: &Stage,
    ) {
        match stage {
            Stage::Leaves => {
                let (channel, _) = channel.name();
                let number = self.block_sets.next_index();
                self.leave(LeavingSet { now, ue, direction, channel, set, number });
            }
            Stage::OnAir => {
                let in_transit = self.bearer(ue, direction).in_transit.get(&set.serial);
                if let Some(index) = in_transit.map(|in_transit| in_transit.row)
                    && let Some(row) = self.block_sets.get(index)
                {
                    row.on_air_s = Some(now.as_secs());
                }
            }
            Stage::Dropped => {
                self.end_blocks(now, ue, direction, set, Lost::all(set.blocks), "nodeb_queue");
            }
            Stage::Arrives(lost) => self.end_blocks(now, ue, direction, set, *lost, "air"),
        }
    }

    /// A block set leaves its sender: opens the rows of the set, of its PDUs and of its STATUS
    /// reports.
    fn leave(&mut self, leaving: LeavingSet<'_>) {
        let LeavingSet { now, ue, direction, channel, set, number } = leaving;
        let row = self.block_sets.open(BlockSetRow {
            time_s: now.as_secs(),
            end_s: None,
            ue: u32::from(ue.0),
            direction: direction.name(),
            block_set: number,
            channel,
            blocks: set.blocks,
            lost_blocks: 0,
            on_air_s: None,
            nodeb_drop: false,
        });
        let mut in_transit = SetInTransit { row, ..SetInTransit::default() };
        let mut block = 0;
        for pdu in &set.pdus {
            let row = leaving.row_of(pdu, block);
            match pdu {
                Pdu::Data(data) | Pdu::Umd(data) | Pdu::Tmd(data) => {
                    self.leave_data(leaving, data, row, &mut in_transit.pdus);
                }
                Pdu::Status(status) => {
                    let row = self.with_poll(ue, direction, status, row);
                    in_transit.pdus.push(self.pdus.open(row));
                }
                Pdu::Reset(_) | Pdu::ResetAck(_) => in_transit.pdus.push(self.pdus.open(row)),
            }
            block += pdu.blocks();
            // A STATUS in a PDU of its own, or piggybacked on data.
            if let Pdu::Status(status) | Pdu::Data(DataRun { piggyback: Some(status), .. }) = pdu {
                let piggybacked = !matches!(pdu, Pdu::Status(_));
                let row = self.leave_status(leaving, status, piggybacked);
                in_transit.statuses.push(StatusInTransit { row, block: block - 1 });
            }
        }
        let bearer = self.bearer(ue, direction);
        bearer.causes.clear();
        bearer.in_transit.insert(set.serial, in_transit);
    }

    /// Data PDUs of a set leave: completes the rows of the SDUs that end in them, and opens a row
    /// for each part of the PDUs with the same number of transmissions. `common` has the values
    /// that these rows have in common. Appends their indices to `opened`.
    fn leave_data(
        &mut self,
        LeavingSet { now, ue, direction, set, .. }: LeavingSet<'_>,
        data: &DataRun,
        common: PduRun,
        opened: &mut Vec<RowIndex>,
    ) {
        let bearer = &mut self.ues[ue.index()].bearers[direction.index()];
        let first = bearer.leave(now, data);
        if !data.retransmission {
            for ended in bearer.ended_sdus(set, data, first) {
                let row = bearer.sdus.get(&ended.packet).and_then(|index| self.sdus.get(*index));
                if let Some(row) = row {
                    (row.first, row.last) = (Some(ended.first as u32), Some(ended.last as u32));
                    row.first_sent_s = ended.first_sent.map(Time::as_secs);
                    row.last_sent_s = Some(now.as_secs());
                }
            }
        }
        let parts = bearer.transmissions(data, first);
        let (last_part, mut block) = (parts.len() - 1, common.block);
        for (index, RunPart { first, pdus, transmission }) in parts.into_iter().enumerate() {
            let poll = data.poll && index == last_part;
            let poll_causes = if poll { bearer.causes.pop_front() } else { None };
            let part = PduRun {
                first: Some(first),
                count: pdus,
                transmission: Some(transmission),
                poll,
                poll_causes: poll_causes.unwrap_or_default(),
                block,
                ..common.clone()
            };
            opened.push(self.pdus.open(part));
            if poll && let Some(running) = &mut bearer.running_poll {
                running.polled = Some(first + u64::from(pdus) - 1);
            }
            block += pdus;
        }
    }

    /// The row of a STATUS PDU. A POLL SUFI in it polls up to PDU Poll_SN.
    fn with_poll(&mut self, ue: UeId, direction: Direction, status: &Status, row: PduRun) -> PduRun {
        let Some(last) = status.poll else { return row };
        let bearer = self.bearer(ue, direction);
        let poll_causes = bearer.causes.pop_front().unwrap_or_default();
        let polled = bearer.unwrap(last);
        if let Some(running) = &mut bearer.running_poll {
            running.polled = Some(polled);
        }
        PduRun { poll: true, poll_causes, ..row }
    }

    /// A STATUS leaves. If it acknowledges (has an LSN), it starts Timer_Status_Prohibit. Returns
    /// the row of the STATUS.
    fn leave_status(
        &mut self,
        LeavingSet { now, ue, direction, set, number, .. }: LeavingSet<'_>,
        status: &Status,
        piggybacked: bool,
    ) -> RowIndex {
        let reverse = &self.ues[ue.index()].bearers[direction.reversed().index()];
        if let Some(prohibit) = reverse.timer_status_prohibit.filter(|_| status.lsn.is_some()) {
            self.timers.push(TimerRow {
                end_s: Some((now + prohibit).as_secs()),
                outcome: "expired",
                ..TimerRow::start(now, "timer_status_prohibit", ue, direction)
            });
        }
        self.statuses.open(StatusRow {
            time_s: now.as_secs(),
            end_s: None,
            ue: u32::from(ue.0),
            direction: direction.name(),
            block_set: number,
            piggybacked,
            below: status.lsn.map(|lsn| reverse.unwrap_lsn(lsn) as u32),
            missing: missing_text(set, status, reverse),
            mrw: status.mrw.map(|mrw| u32::from(mrw.sn.value())),
            lost: false,
        })
    }

    /// A block set reached the other side, except the blocks in `lost`, which were lost at `place`.
    /// Completes the rows of the set. A STATUS in it stops Timer_Poll of the other direction if it
    /// covers the PDU that polled.
    fn end_blocks(
        &mut self,
        now: Time,
        ue: UeId,
        direction: Direction,
        set: &BlockSet,
        lost: Lost,
        place: &'static str,
    ) {
        let [forward, reverse] = both(&mut self.ues[ue.index()].bearers, direction);
        let Some(in_transit) = forward.in_transit.remove(&set.serial) else { return };
        if let Some(row) = self.block_sets.close(in_transit.row) {
            (row.end_s, row.lost_blocks) = (Some(now.as_secs()), lost.count().min(set.blocks));
            row.nodeb_drop = place == "nodeb_queue";
        }
        for index in in_transit.pdus {
            if let Some(row) = self.pdus.close(index) {
                (row.end_s, row.lost, row.lost_at) = (Some(now.as_secs()), lost, place);
            }
        }
        for status in in_transit.statuses {
            if let Some(row) = self.statuses.close(status.row) {
                (row.end_s, row.lost) = (Some(now.as_secs()), lost.contains(status.block));
            }
        }
        let mut stopped_poll = None;
        for status in crate::budget::statuses(set, lost) {
            let Some(lsn) = status.lsn else { continue };
            let below = reverse.unwrap_lsn(lsn);
            let first_missing = set.missing_of(status).first().map(|run| reverse.unwrap(run.first));
            reverse.acknowledged(first_missing.unwrap_or(below));
            let answered = |running: &mut RunningPoll| running.polled.is_some_and(|polled| polled < below);
            stopped_poll = stopped_poll.or(reverse.running_poll.take_if(answered));
        }
        self.end_timer_poll(now, stopped_poll, "stopped");
    }
}

/// The bearer in this direction, then the one in the other direction.
fn both(bearers: &mut [Bearer; 2], direction: Direction) -> [&mut Bearer; 2] {
    let [downlink, uplink] = bearers;
    match direction {
        Direction::Downlink => [downlink, uplink],
        Direction::Uplink => [uplink, downlink],
    }
}

/// The missing PDUs of a STATUS as text, such as `1423 1425-1427`. `reverse` is the bearer of the
/// reported PDUs, which knows their numbers without wrap-around.
fn missing_text(set: &BlockSet, status: &Status, reverse: &Bearer) -> String {
    let mut text = String::new();
    for run in set.missing_of(status) {
        let first = reverse.unwrap(run.first);
        let separator = if text.is_empty() { "" } else { " " };
        let written = match run.count {
            1 => write!(text, "{separator}{first}"),
            count => write!(text, "{separator}{first}-{}", first + u64::from(count) - 1),
        };
        written.expect("writing to a string cannot fail");
    }
    text
}

fn switch_cause_name(cause: SwitchCause) -> &'static str {
    match cause {
        SwitchCause::Data => "data",
        SwitchCause::Inactivity => "inactivity",
        SwitchCause::Preempted => "preempted",
        SwitchCause::LargerRate => "larger_rate",
        SwitchCause::SmallerRate => "smaller_rate",
        SwitchCause::CellUpdate => "cell_update",
    }
}

/// The kind of the event of a UE that begins a cell update.
fn kind_of_cell_update(cause: CellUpdateCause) -> &'static str {
    match cause {
        CellUpdateCause::RlcUnrecoverableError => "cell_update_rlc_error",
        CellUpdateCause::RadioLinkFailure => "cell_update_radio_link_failure",
        CellUpdateCause::CellReselection => "cell_update_reselection",
    }
}
