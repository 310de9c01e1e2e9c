//! RLC: keys that need each other.

use super::Inspection;
use super::channels::loses_nothing;
use crate::error::Problem;
use crate::model::{
    FachScheduling, LengthIndicators, MaxDatReading, MissingPduIndication, MrwAcknowledgment, Piggyback, Rlc,
    RlcHeader, RlcMode, SduDiscard, StatusFormat,
};

const STANDS_STILL: &str = "nothing asks for a report while the buffer never empties, so a busy sender may fill its window and \
                            stand still for good: set poll_window, poll_pdu, poll_sdu or timer_poll_periodic";

impl Inspection<'_> {
    pub(super) fn rlc(&mut self) -> Result<(), Problem> {
        self.discard("rlc", &self.scenario.rlc)?;
        for (i, ue) in self.scenario.ue.iter().enumerate() {
            if let Some(rlc) = &ue.rlc {
                self.discard(&format!("ue.{i}.rlc"), rlc)?;
            }
            let rlc = ue.rlc.as_ref().unwrap_or(&self.scenario.rlc);
            let path = if ue.rlc.is_some() { format!("ue.{i}.rlc") } else { "rlc".to_owned() };
            self.wire_mode(&path, rlc)?;
            let radio = ue.radio.as_ref().unwrap_or(&self.scenario.radio);
            if !ue.has_substitute() && may_stand_still(rlc, loses_nothing(&radio.downlink)) {
                self.warn(&path, STANDS_STILL);
            }
            let cell = self.scenario.cell.iter().find(|cell| cell.name == ue.cell);
            let fach = cell
                .and_then(|cell| cell.fach.as_ref())
                .filter(|_| ue.bearer == "common" || ue.is_switched());
            let pushed = fach.is_some_and(|fach| fach.scheduling == FachScheduling::PerUePush);
            if pushed && rlc.mode == RlcMode::Tm && rlc.tm_segmentation {
                let path = format!("{path}.mode");
                let message = "transparent mode sends the blocks of an SDU together, EURANE's FACH pushes them one by one";
                let help = "choose scheduling = \"pull\", or tm_segmentation = false".to_owned();
                return Err(self.problem(&path, message).label("this mode").help(help));
            }
        }
        Ok(())
    }

    /// What has no encoding, or lets a receiver know more than bits tell.
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
        let Some((_, key, value)) = options.into_iter().find(|(chosen, ..)| *chosen) else { return Ok(()) };
        let message =
            format!("{key} = \"{value}\" cannot be written as PDUs of TS 25.322, which wire_mode asks for");
        let help = "leave wire_mode out, or choose what 3GPP has".to_owned();
        Err(self.problem(&format!("{path}.{key}"), &message).label("no bits can say this").help(help))
    }

    fn discard(&self, path: &str, rlc: &Rlc) -> Result<(), Problem> {
        if rlc.sdu_discard == SduDiscard::Timer && rlc.timer_discard.is_none() {
            let message = "sdu_discard = \"timer\" needs the age at which an SDU is discarded";
            let help = "write it as in timer_discard = \"5 s\"".to_owned();
            return Err(self
                .problem(&format!("{path}.sdu_discard"), message)
                .label("by which timer?")
                .help(help));
        }
        if rlc.max_dat_reading == MaxDatReading::Ts25322 && rlc.max_dat == Some(1) {
            let message = "max_dat = 1 as TS 25.322 reads it means that nothing is ever sent";
            let help =
                "2 means no retransmission; so does 1 with max_dat_reading = \"transmissions\"".to_owned();
            return Err(self
                .problem(&format!("{path}.max_dat"), message)
                .label("one transmission less")
                .help(help));
        }
        Ok(())
    }
}

/// Whether the window may close with no report to open it: polls with the last PDU need an empty buffer, the timer of polls
/// a poll, and a receiver that reports gaps a loss.
fn may_stand_still(rlc: &Rlc, loses_nothing: bool) -> bool {
    let is_asked = [rlc.poll_pdu, rlc.poll_sdu, rlc.poll_window].iter().any(Option::is_some)
        || [rlc.timer_poll_periodic, rlc.timer_status_periodic].iter().any(Option::is_some);
    let hears_of_gaps = rlc.missing_pdu_indication != MissingPduIndication::Off && !loses_nothing;
    rlc.mode == RlcMode::Am && !is_asked && !hears_of_gaps
}
