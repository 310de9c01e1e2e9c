//! Checks of a layout (cells of several sites on one carrier): the keys that only its cells have, and
//! the bearer of each user group. Also determines the channels of users of the DSCH and of calls.

use umts_stack::radio::mac::TransportFormat;
use umts_stack::rnc::calls;
use umts_stack::scheduling::SchedulerKind;
use umts_stack::trace;
use umts_units::{BitRate, Bytes, Dbm, Duration};

use super::Inspection;
use super::channels::GroupChannels;
use super::names::COMMON;
use crate::error::Problem;
use crate::model::{CONVERSATIONAL, Cell, DSCH, RlcMode, SWITCHED, Ue, milliwatts};
use crate::resolved;

/// Largest power of a cell, in dBm.
const MAX_POWER_DBM: f64 = 80.0;

/// TTI of the uplink DCH of a DSCH user.
const ASSOCIATED_TTI: Duration = Duration::from_millis(20);

impl Inspection<'_> {
    /// Checks that `[handover]` and the DSCH, DCH, S-CCPCH and power of a cell are set only with `[layout]`.
    pub(super) fn layout_keys(&self) -> Result<(), Problem> {
        let is_layout = self.scenario.layout.is_some();
        let without_layout = |path: String, table: &str| {
            let message = format!("[{table}] has no effect without [layout]");
            let help = "add [layout], or leave this out";
            Err(self.problem(&path, message).label("this table").help(help))
        };
        if !is_layout && self.scenario.handover.is_some() {
            return without_layout("handover".to_owned(), "handover");
        }
        for (i, cell) in self.scenario.cell.iter().enumerate() {
            let tables = [
                ("power", cell.power.is_some()),
                ("dsch", cell.dsch.is_some()),
                ("dch", cell.dch.is_some()),
                ("sccpch", cell.sccpch.is_some()),
            ];
            if let Some((table, _)) = tables.into_iter().find(|(_, is_set)| !is_layout && *is_set) {
                return without_layout(format!("cell.{i}.{table}"), &format!("cell.{table}"));
            }
            if !is_layout && cell.admission.power.is_some() {
                let message = "`admission.power` has no effect without [layout]: other cells have no power";
                let help = "add [layout], or leave this out";
                let path = format!("cell.{i}.admission.power");
                return Err(self.problem(&path, message).label("this key").help(help));
            }
            if is_layout {
                self.common_channels_of_layout(i, cell)?;
                self.power_of_admission(i, cell)?;
            }
        }
        Ok(())
    }

    /// The limit of admission leaves power beside the pilot and an HS-DSCH of fixed power.
    fn power_of_admission(&self, i: usize, cell: &Cell) -> Result<(), Problem> {
        let Some(limit) = cell.admission.power else { return Ok(()) };
        let pilot = cell.power.clone().unwrap_or_default().pilot;
        let path = format!("cell.{i}.admission.power");
        let fixed = cell.hs_dsch.power.filter(|_| self.has_hs_dsch_users());
        if let Some(hs_dsch) = fixed.filter(|_| limit.0 <= MAX_POWER_DBM) {
            let reserved = milliwatts(pilot) + milliwatts(hs_dsch);
            if milliwatts(limit) <= reserved {
                let message = format!(
                    "admission.power ({limit}) leaves nothing beside cell.power.pilot ({pilot}) and cell.hs_dsch.power ({hs_dsch})"
                );
                let help = format!("choose more than {:.1} dBm, their sum", 10.0 * libm::log10(reserved));
                return self.out_of_range(&path, message, help);
            }
        }
        if limit.0 > pilot.0 && limit.0 <= MAX_POWER_DBM {
            return Ok(());
        }
        let message = format!("admission.power cannot be {limit}, with a pilot of {pilot}");
        let help = format!("choose more than cell.power.pilot, and at most {}", Dbm(MAX_POWER_DBM));
        self.out_of_range(&path, message, help)
    }

    /// Checks the bearer of user group `i`, and returns its channels in a layout. `None` if there
    /// is no layout, if the group has a bearer on DCHs or FACH and RACH, or if a measured link or a flat
    /// profile replaces its radio.
    pub(super) fn sector_channels(&self, i: usize) -> Result<Option<GroupChannels>, Problem> {
        let ue = &self.scenario.ue[i];
        let is_layout = self.scenario.layout.is_some();
        self.calls_have_their_bearer(i, ue)?;
        self.dch_has_an_effect(i, ue)?;
        match (ue.bearer.as_str(), is_layout) {
            (DSCH | CONVERSATIONAL, false) => {
                let message =
                    format!("bearer `{}` requires [layout]: only cells of a layout have it", ue.bearer);
                let help = "add [layout], or choose another bearer";
                Err(self.problem(&format!("ue.{i}.bearer"), message).label("this bearer").help(help))
            }
            (CONVERSATIONAL, true) => Ok(Some(in_both_directions(call_channel()))),
            (DSCH, true) => self.dsch_channels(i, ue).map(Some),
            (_, true) if !ue.has_emulated_link() => {
                self.dch_or_common_bearer(i, ue)?;
                self.code_of_dch(i, ue)?;
                Ok(None)
            }
            (_, _) => Ok(None),
        }
    }

    /// Checks that the bearer of user group `i` has its own DCHs, or FACH and RACH, the only channels of a
    /// layout besides DSCHs and calls.
    fn dch_or_common_bearer(&self, i: usize, ue: &Ue) -> Result<(), Problem> {
        let name = &ue.bearer;
        let named = self.names.groups[i].bearer.as_ref();
        let has_common = name == COMMON || name == SWITCHED;
        let (message, help) = match named {
            None if has_common && self.scenario.cell[0].fach.is_none() => (
                "the cells of this layout have no FACH and RACH".to_owned(),
                "add fach = {} and rach = {} to the [[cell]], or choose another bearer, such as \"ps-64\"",
            ),
            None if has_common => return Ok(()),
            None => (
                format!("the cells of a layout have no bearer `{name}`"),
                "write bearer = \"dsch\", \"common\" for FACH and RACH, \"switched\" for these and DCHs in turn, the name of a bearer on DCHs such as \"ps-64\", or \"conversational-64\" for calls",
            ),
            Some(named) if named.bearer.downlink.shared => (
                format!(
                    "the downlink of bearer `{name}` is shared, but the shared channel of a layout is its DSCH"
                ),
                "write bearer = \"dsch\", or remove `shared` from the downlink of the bearer",
            ),
            Some(_) => return Ok(()),
        };
        Err(self.problem(&format!("ue.{i}.bearer"), message).label("this bearer").help(help))
    }

    /// Checks that `dch` is set only for users of a bearer on DCHs in a layout, or that RRC switches to one.
    fn dch_has_an_effect(&self, i: usize, ue: &Ue) -> Result<(), Problem> {
        let named = &self.names.groups[i];
        let is_on_dch = named.bearer.as_ref().is_some_and(|bearer| bearer.hs_dsch_category().is_none());
        let has_dch = (is_on_dch || !named.dchs.is_empty()) && !ue.has_emulated_link();
        if ue.dch.is_none() || (self.scenario.layout.is_some() && has_dch) {
            return Ok(());
        }
        let message = "`dch` applies to users with a bearer on DCHs, or switched users, in a [layout] only";
        let help = "leave `dch` out, or choose such a bearer in a layout, for example \"ps-64\"";
        Err(self.problem(&format!("ue.{i}.dch"), message).label("this table").help(help))
    }

    /// Checks that calls have their bearer and that no other group has it.
    fn calls_have_their_bearer(&self, i: usize, ue: &Ue) -> Result<(), Problem> {
        let (message, help) = match (&ue.calls, ue.bearer == CONVERSATIONAL) {
            (Some(_), true) | (None, false) => return Ok(()),
            (Some(_), false) => (
                format!("calls have the bearer `{CONVERSATIONAL}`, not `{}`", ue.bearer),
                format!("write bearer = \"{CONVERSATIONAL}\""),
            ),
            (None, true) => (
                format!("`{CONVERSATIONAL}` is the bearer of calls, but these users do not call"),
                "add calls = { offered = \"24 Erl\" }, or write bearer = \"dsch\"".to_owned(),
            ),
        };
        Err(self.problem(&format!("ue.{i}.bearer"), message).label("this bearer").help(help))
    }

    /// Checks that user group `i` fits the DSCH, and returns its channels: the DSCH at its largest
    /// rate for the downlink, and the DCH that accompanies it for the uplink.
    ///
    /// RLC must be acknowledged or unacknowledged, with PDUs as large as the blocks of the DSCH,
    /// and the DCH must carry at least one PDU per TTI.
    fn dsch_channels(&self, i: usize, ue: &Ue) -> Result<GroupChannels, Problem> {
        let dsch = self.scenario.cell[0].dsch.as_ref().expect("the loader adds a DSCH to cells of a layout");
        let rlc = self.scenario.rlc_of(ue);
        if rlc.mode == RlcMode::Tm {
            let message = "the number of blocks on a DSCH varies from TTI to TTI, but transparent mode needs all blocks of an SDU in one TTI";
            let help = "write rlc.mode = \"am\" or \"um\"";
            let path = if ue.rlc.is_some() { format!("ue.{i}.rlc.mode") } else { "rlc.mode".to_owned() };
            return Err(self.problem(&path, message).label("this mode").help(help));
        }
        let payload = rlc.pdu_payload.into();
        if dsch.block != payload {
            let message =
                format!("PDUs have {payload} of payload, but blocks of the DSCH have {}", dsch.block);
            let help = format!("write rlc.pdu_payload = \"{}\", or dsch.block = \"{payload}\"", dsch.block);
            return Err(self.problem(&format!("ue.{i}.rlc.pdu_payload"), message).help(help));
        }
        let largest = dsch.format.last().expect("checked: there is a format");
        let downlink = self.channel(trace::Channel::Dsch, largest.rate, dsch.tti, dsch.block);
        let uplink = self.channel(trace::Channel::Dch, dsch.uplink, ASSOCIATED_TTI, payload);
        let Some(uplink) = uplink else {
            let message = format!("{} carries no PDU of {payload} in {ASSOCIATED_TTI}", dsch.uplink);
            let help = "choose a larger rate, as in \"64 kbit/s\"";
            return Err(self.problem("cell.0.dsch.uplink", message).label("this rate").help(help));
        };
        let downlink = downlink.expect("checked: formats are whole blocks");
        Ok(GroupChannels { own: [downlink, uplink], dchs: Vec::new() })
    }

    /// A channel without a number or scheduler of its own: those of the DSCH belong to its cell.
    /// `None` if the rate is too low for one PDU per TTI.
    fn channel(
        &self,
        kind: trace::Channel,
        rate: BitRate,
        tti: Duration,
        payload: Bytes,
    ) -> Option<resolved::Channel> {
        let format = TransportFormat::new(rate, tti, payload)?;
        Some(resolved::Channel { kind, number: 0, scheduler: SchedulerKind::default(), rate, format })
    }
}

/// The DCH of a call, which carries the same number of blocks in each TTI.
fn call_channel() -> resolved::Channel {
    resolved::Channel {
        kind: trace::Channel::Dch,
        number: 0,
        scheduler: SchedulerKind::default(),
        rate: BitRate::from_bps(calls::RATE as u64).expect("the rate is not zero"),
        format: TransportFormat::up_to(calls::BLOCKS, calls::TTI),
    }
}

fn in_both_directions(channel: resolved::Channel) -> GroupChannels {
    GroupChannels { own: [channel; 2], dchs: Vec::new() }
}
