//! Checks of the keys of RLC that depend on each other.

use umts_units::Bytes;

use super::Inspection;
use super::channels::loses_nothing;
use super::names::COMMON;
use crate::error::Problem;
use crate::model::{
    FachScheduling, LengthIndicators, MaxDatReading, MissingPduIndication, MrwAcknowledgment, Piggyback, Rlc,
    RlcHeader, RlcMode, SduDiscard, StatusFormat,
};

const STALLS: &str = "no status report is requested while the buffer never empties, so a busy sender may fill its window and \
                      stall for good: set poll_window, poll_pdu, poll_sdu or timer_poll_periodic";

const STALLS_IF_GRANTED: &str = "the window that the receiver grants may be full before a PDU polls, so a busy sender may stall for good: \
                                 set timer_poll_periodic or timer_status_periodic, or poll_pdu below granted_window";

const UNMANAGED: &str = "these users have no RLC, so the queue management of its buffer does not act on their packets: leave out \
                         rlc.codel, rlc.pie and rlc.red, or manage the queue of a link";

impl Inspection<'_> {
    /// Checks RLC of all user groups.
    pub(super) fn rlc(&mut self) -> Result<(), Problem> {
        self.discard("rlc", &self.scenario.rlc)?;
        self.managed_buffer("rlc", &self.scenario.rlc)?;
        for (i, ue) in self.scenario.ue.iter().enumerate() {
            if let Some(rlc) = &ue.rlc {
                self.discard(&format!("ue.{i}.rlc"), rlc)?;
                self.managed_buffer(&format!("ue.{i}.rlc"), rlc)?;
            }
            let rlc = self.scenario.rlc_of(ue);
            let is_managed = rlc.codel.is_some() || rlc.pie.is_some() || rlc.red.is_some();
            if is_managed && ue.has_emulated_link() {
                self.warn(&format!("ue.{i}"), UNMANAGED);
            }
            let path = if ue.rlc.is_some() { format!("ue.{i}.rlc") } else { "rlc".to_owned() };
            self.wire_mode(&path, rlc)?;
            let radio = self.scenario.radio_of(ue);
            let packet = self.largest_packet(i);
            if !ue.has_emulated_link()
                && let Some(warning) = stall_warning(rlc, loses_nothing(&radio.downlink), packet)
            {
                self.warn(&path, warning);
            }
            let cell = &self.scenario.cell[self.names.groups[i].cell];
            let fach = cell.fach.as_ref().filter(|_| ue.bearer == COMMON || ue.is_switched());
            let pushed = fach.is_some_and(|fach| fach.scheduling == FachScheduling::PerUePush);
            if pushed && rlc.mode == RlcMode::Tm && rlc.tm_segmentation {
                let path = format!("{path}.mode");
                let message = "transparent mode sends the blocks of an SDU together, but scheduling = \"per_ue_push\" pushes them one by one";
                let help = "choose scheduling = \"pull\", or tm_segmentation = false";
                return Err(self.problem(&path, message).label("this mode").help(help));
            }
        }
        Ok(())
    }

    /// The buffer has at most one kind of queue management. The thresholds of RED have one unit and
    /// ascend.
    fn managed_buffer(&self, path: &str, rlc: &Rlc) -> Result<(), Problem> {
        let kinds = [("red", rlc.red.is_some()), ("codel", rlc.codel.is_some()), ("pie", rlc.pie.is_some())];
        let kinds: Vec<&str> = kinds.iter().filter(|(_, is_set)| *is_set).map(|(key, _)| *key).collect();
        self.one_kind(path, &kinds)?;
        match &rlc.red {
            Some(red) => self.red_thresholds(&format!("{path}.red"), red),
            None => Ok(()),
        }
    }

    /// Largest packet of the flows of a group, with TCP and IP headers.
    fn largest_packet(&self, group: usize) -> Bytes {
        let flows = self.names.flows_of(group).map(|flow| &self.scenario.flow[flow]);
        flows.map(|flow| flow.tcp.full_segment()).max().unwrap_or_default()
    }

    /// Refuses options that have no encoding, or that give a receiver more information than the
    /// encoded PDUs.
    fn wire_mode(&self, path: &str, rlc: &Rlc) -> Result<(), Problem> {
        if !rlc.wire_mode || rlc.mode != RlcMode::Am {
            return Ok(());
        }
        let options = [
            (rlc.header == RlcHeader::Uncounted, "header", "uncounted"),
            (rlc.length_indicators == LengthIndicators::Eurane, "length_indicators", "eurane"),
            (rlc.status_format == StatusFormat::Eurane, "status_format", "eurane"),
            (rlc.piggyback == Piggyback::BuildAround, "piggyback", "build_around"),
            (
                rlc.missing_pdu_indication == MissingPduIndication::EveryPdu,
                "missing_pdu_indication",
                "every_pdu",
            ),
            (rlc.mrw_acknowledgment == MrwAcknowledgment::Implicit, "mrw_acknowledgment", "implicit"),
        ];
        let chosen = options.into_iter().find(|(is_chosen, ..)| *is_chosen);
        let Some((_, key, value)) = chosen else { return Ok(()) };
        let message =
            format!("{key} = \"{value}\" cannot be encoded in PDUs of TS 25.322, which wire_mode requires");
        let help = "leave wire_mode out, or choose a value of `{key}` that 3GPP defines";
        Err(self.problem(&format!("{path}.{key}"), &message).label("no encoding").help(help))
    }

    /// The rule of SDU discard has the timer or the number that it needs.
    fn discard(&self, path: &str, rlc: &Rlc) -> Result<(), Problem> {
        if rlc.sdu_discard == SduDiscard::Timer && rlc.timer_discard.is_none() {
            let message = "sdu_discard = \"timer\" needs the age at which an SDU is discarded";
            let help = "write it as in timer_discard = \"5 s\"";
            return Err(self
                .problem(&format!("{path}.sdu_discard"), message)
                .label("timer_discard is missing")
                .help(help));
        }
        if rlc.max_dat_reading == MaxDatReading::Ts25322 && rlc.max_dat == Some(1) {
            let message = "max_dat = 1 means in TS 25.322 that nothing is ever sent";
            let help = "choose 2 for no retransmission, or 1 with max_dat_reading = \"transmissions\"";
            return Err(self
                .problem(&format!("{path}.max_dat"), message)
                .label("one transmission fewer")
                .help(help));
        }
        Ok(())
    }
}

/// Returns a warning if the window may close and no status report opens it again.
///
/// A poll with the last PDU needs an empty buffer, the poll timer needs a preceding poll, and a
/// receiver that reports gaps needs a loss. A poll after a number of PDUs or SDUs must come before
/// the window is full. An unsolicited report may grant a window below the number of outstanding
/// PDUs. Then no new PDU leaves, and Poll_Window counts only new PDUs.
fn stall_warning(rlc: &Rlc, loses_nothing: bool, packet: Bytes) -> Option<&'static str> {
    let granted = rlc.granted_window.filter(|granted| *granted < rlc.window);
    let window = u64::from(granted.unwrap_or(rlc.window));
    let reports_gaps = rlc.missing_pdu_indication != MissingPduIndication::Off && !loses_nothing;
    let pdus_of_packet = packet.0.div_ceil(rlc.pdu_payload.0.into()).max(1);
    let is_polled = rlc.timer_poll_periodic.is_some()
        || rlc.timer_status_periodic.is_some()
        || rlc.poll_pdu.is_some_and(|pdus| u64::from(pdus) <= window)
        || rlc.poll_sdu.is_some_and(|sdus| u64::from(sdus) * pdus_of_packet <= window)
        || (rlc.poll_window.is_some() && !(granted.is_some() && reports_gaps));
    if rlc.mode != RlcMode::Am || is_polled {
        return None;
    }
    match granted {
        Some(_) => Some(STALLS_IF_GRANTED),
        None => (!reports_gaps).then_some(STALLS),
    }
}
