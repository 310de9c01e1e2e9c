//! Radio resource control: order of states, and DCHs that fit their cell.

use umts_stack::rnc::Reserved;
use umts_units::{BitRate, Duration};

use super::Inspection;
use super::names::rrc_path;
use crate::error::Problem;
use crate::model::{BufferCounts, RestingState, Rrc, Ue};

/// A radio frame (TS 25.211 §4.1).
const FRAME: Duration = Duration::from_millis(10);

/// Largest number of bearers that a user may be given: their numbers have 8 bits.
const MAX_DCHS: usize = 255;

impl Inspection<'_> {
    /// Checks the RRC options of each group of switched users. Warns of options that have no
    /// effect.
    pub(super) fn rrc(&mut self, reserved: &[Reserved]) -> Result<(), Problem> {
        for i in 0..self.scenario.ue.len() {
            let ue = &self.scenario.ue[i];
            match self.scenario.rrc_of(ue) {
                Some(rrc) => {
                    let path = rrc_path(self.scenario, i);
                    self.states(&path, rrc)?;
                    self.order_of_dchs(&path, i)?;
                    self.time_on_dch(&path, rrc)?;
                    self.threshold(&path, ue, rrc);
                }
                None if ue.rrc.as_ref().is_some_and(Rrc::concerns_switching) => {
                    let message = "these users are not switched, so only the keys of the cell update in [rrc] have an effect; set bearer = \"switched\" to switch them";
                    self.warn(&format!("ue.{i}.rrc"), message);
                }
                None => {}
            }
        }
        (0..self.scenario.cell.len()).try_for_each(|i| self.admission(i, reserved[i]))
    }

    /// Checks that every inactivity timer leads to a lower state.
    fn states(&self, path: &str, rrc: &Rrc) -> Result<(), Problem> {
        let down = [
            ("after_fach", rrc.after_fach, RestingState::CellFach, "CELL_FACH"),
            ("after_cell_pch", rrc.after_cell_pch, RestingState::CellPch, "CELL_PCH"),
        ];
        for (key, after, state, name) in down {
            if after >= state {
                let message = format!("the state after {name} must cost less than {name}");
                return Err(self
                    .problem(&format!("{path}.{key}"), message)
                    .label("this state")
                    .help("the order of the states is cell_fach, cell_pch, ura_pch, idle"));
            }
        }
        Ok(())
    }

    /// Switched users have at least one DCH, not too many, and in descending order of rates.
    fn order_of_dchs(&self, path: &str, i: usize) -> Result<(), Problem> {
        let dchs = &self.names.groups[i].dchs;
        if dchs.is_empty() {
            return Err(self
                .problem(&format!("{path}.dch"), "switched users need at least one DCH in `dch`")
                .help("name a bearer, as in dch = [\"ps-64\"], or choose bearer = \"common\""));
        }
        if dchs.len() > MAX_DCHS {
            return Err(self
                .problem(&format!("{path}.dch"), format!("{} bearers are too many", dchs.len()))
                .help(format!("choose at most {MAX_DCHS}")));
        }
        let rates: Vec<BitRate> = dchs.iter().map(|group| group.bearer.downlink.rate).collect();
        match rates.windows(2).position(|pair| pair[0] <= pair[1]) {
            None => Ok(()),
            Some(i) => Err(self
                .problem(
                    &format!("{path}.dch.{}", i + 1),
                    format!("{} is not below {}, the rate of the bearer before", rates[i + 1], rates[i]),
                )
                .label("this bearer")
                .help("name the bearers in descending order of their downlink rates")),
        }
    }

    /// Checks that a DCH lasts at least one radio frame, so that a block can be sent on it.
    fn time_on_dch(&self, path: &str, rrc: &Rrc) -> Result<(), Problem> {
        let time_on_dch = rrc.inactivity + rrc.preemptive_inactivity;
        if time_on_dch >= FRAME {
            return Ok(());
        }
        let message =
            format!("a DCH is released {time_on_dch} after its allocation, before it can carry a block");
        let help =
            format!("inactivity and preemptive_inactivity together must be at least {FRAME}, a radio frame");
        Err(self.problem(&format!("{path}.inactivity"), message).label("this timer").help(help))
    }

    /// Warns about a threshold above the capacity of the RLC buffer, which is never exceeded. Sent
    /// data may occupy no capacity, depending on `buffer_counts`.
    fn threshold(&mut self, path: &str, ue: &Ue, rrc: &Rrc) {
        let rlc = self.scenario.rlc_of(ue);
        let room = rlc.buffer.filter(|_| rlc.buffer_counts == BufferCounts::Unacknowledged);
        for (key, threshold) in [
            ("upswitch_threshold", rrc.upswitch_threshold),
            ("upswitch_threshold_uplink", rrc.upswitch_threshold_uplink),
        ] {
            if room.is_some_and(|room| threshold.is_some_and(|threshold| threshold >= room)) {
                self.warn(&format!("{path}.{key}"), "the RLC buffer never holds that much");
            }
        }
    }

    /// Checks that the permanently reserved capacity fits the limits, and that each switched user
    /// can get a DCH.
    fn admission(&self, i: usize, reserved: Reserved) -> Result<(), Problem> {
        let admission = self.scenario.cell[i].admission;
        let max_users = self.scenario.cell[i].hs_dsch.max_users;
        // Amounts of the four limited resources, in the order of `keys`: downlink and uplink rate
        // in bit/s, number of DCHs, users of the HS-DSCH.
        let keys = ["admission.downlink", "admission.uplink", "admission.dchs", "hs_dsch.max_users"];
        let reserved_amounts =
            [reserved.rates[0], reserved.rates[1], u64::from(reserved.dchs), u64::from(reserved.hs_users)];
        let limits = [
            admission.downlink.map(BitRate::bps),
            admission.uplink.map(BitRate::bps),
            admission.dchs.map(u64::from),
            max_users.map(u64::from),
        ];
        let first_exceeded = |requested: [u64; 4]| {
            (0..4)
                .find(|&key| limits[key].is_some_and(|limit| reserved_amounts[key] + requested[key] > limit))
        };
        let problem = |key: usize, message: &str| {
            self.problem(&format!("cell.{i}.{}", keys[key]), message).label("this limit")
        };
        if let Some(key) = first_exceeded([0; 4]) {
            let needed = match BitRate::from_bps(reserved_amounts[key]) {
                Some(rate) if key < 2 => rate.to_string(),
                _ if key == 2 => format!("{} DCHs", reserved_amounts[key]),
                _ => format!("{} places on the HS-DSCH", reserved_amounts[key]),
            };
            let message = format!(
                "the FACH, other shared channels and permanent DCHs need {needed}, more than this limit"
            );
            return Err(problem(key, &message).help("raise the limit, or reserve less"));
        }
        let groups_of_cell = self.names.groups.iter().filter(|group| group.cell == i);
        for dch in groups_of_cell.filter_map(|group| group.dchs.last()) {
            let bearer = &dch.bearer;
            let (downlink, hs_users) = match dch.hs_dsch_category() {
                None => (bearer.downlink.rate.bps(), 0),
                Some(_) => (0, 1),
            };
            let uplink = if dch.e_dch_category().is_some() { 0 } else { bearer.uplink.rate.bps() };
            let number_of_dchs = 1;
            if let Some(key) = first_exceeded([downlink, uplink, number_of_dchs, hs_users]) {
                let message = format!(
                    "no DCH of bearer `{}` fits next to the permanently reserved capacity",
                    bearer.name
                );
                return Err(problem(key, &message).help("raise the limit, or offer a smaller DCH"));
            }
        }
        Ok(())
    }
}
