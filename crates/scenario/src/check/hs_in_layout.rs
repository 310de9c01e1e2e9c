//! The HS-DSCH in the cells of a layout: its codes and its power beside those of other channels.

use umts_stack::rnc::multicell::FixedCodes;
use umts_units::Dbm;

use super::Inspection;
use super::names::rrc_path;
use crate::error::Problem;
use crate::model::{DSCH, milliwatts};

/// Smallest and largest power of an HS-DSCH, in dBm.
const POWERS: [f64; 2] = [-50.0, 80.0];

impl Inspection<'_> {
    /// Checks the users of group `i`, which have an HS-DSCH all the time or when RRC allocates it, and the HS-DSCH of
    /// the cells.
    pub(super) fn hs_dsch_in_layout(&self, i: usize) -> Result<(), Problem> {
        let named = &self.names.groups[i];
        if let Some((bearer, _)) = named.e_dch() {
            let number = named.dchs.iter().position(|dch| dch.e_dch_category().is_some());
            let path = match number {
                Some(number) => format!("{}.dch.{number}", rrc_path(self.scenario, i)),
                None => format!("ue.{i}.bearer"),
            };
            let message =
                format!("bearer `{}` has an E-DCH, which the cells of a layout do not have", bearer.name);
            let help = "choose an hsdpa bearer, for example \"hsdpa-7.2\": its uplink is a DCH";
            return Err(self.problem(&path, message).label("this bearer").help(help));
        }
        self.code_beside_hs_dsch()?;
        self.power_of_hs_dsch()?;
        self.codes_of_hs_dsch()
    }

    /// The DCH beside the HS-DSCH of a user has a code, if the cells charge for it.
    fn code_beside_hs_dsch(&self) -> Result<(), Problem> {
        let associated = self.scenario.cell[0].dch.and_then(|dch| dch.associated);
        associated.map_or(Ok(()), |dch| {
            self.has_free_code("cell.0.dch.associated.spreading_factor", dch.spreading_factor)
        })
    }

    /// The pilot, the S-CCPCH and the HS-DSCH have at most the power of a cell.
    fn power_of_hs_dsch(&self) -> Result<(), Problem> {
        let cell = &self.scenario.cell[0];
        let Some(level) = cell.hs_dsch.power else { return Ok(()) };
        let (path, power) = ("cell.0.hs_dsch.power", cell.power.clone().unwrap_or_default());
        let [min, max] = POWERS;
        if !(min..=max).contains(&level.0) {
            let help = format!("choose {} to {}", Dbm(min), Dbm(max));
            return self.out_of_range(path, format!("`power` cannot be {level}"), help);
        }
        let sccpch = cell.fach.as_ref().map(|_| cell.sccpch.unwrap_or_default().power);
        let common = milliwatts(power.pilot) + sccpch.map_or(0.0, milliwatts);
        if common + milliwatts(level) <= milliwatts(power.max) {
            return Ok(());
        }
        let message = format!(
            "cell.hs_dsch.power ({level}), cell.power.pilot ({}) and the S-CCPCH together exceed cell.power.max ({})",
            power.pilot, power.max
        );
        let left = Dbm(10.0 * libm::log10((milliwatts(power.max) - common).max(1e-9)));
        let help = format!(
            "they leave {:.1} dBm: choose less, or \"auto\" for what all other channels leave",
            left.0
        );
        Err(self.problem(path, message).label("this power").help(help))
    }

    /// The HS-PDSCHs and HS-SCCHs have codes beside the other channels of a cell.
    fn codes_of_hs_dsch(&self) -> Result<(), Problem> {
        let hs_dsch = &self.scenario.cell[0].hs_dsch;
        let others = self.codes_beside_hs_dsch();
        if others.with_hs_dsch(hs_dsch.codes, hs_dsch.users_per_tti).is_some() {
            return Ok(());
        }
        let fits = |codes: &u8| others.with_hs_dsch(*codes, hs_dsch.users_per_tti).is_some();
        let most = (1..hs_dsch.codes).rev().find(fits);
        let message = format!(
            "the code tree has no room for {} codes of spreading factor 16 (HS-PDSCHs) and {} of 128 (HS-SCCHs) beside \
             the common channels{}",
            hs_dsch.codes,
            hs_dsch.users_per_tti,
            if self.has_dsch_users() { " and the DSCH" } else { "" }
        );
        let help = match most {
            Some(most) => {
                format!("choose codes = {most} or less, or a smaller part of the tree for other channels")
            }
            None => "reduce `dch.common` or `dsch.codes`".to_owned(),
        };
        Err(self.problem("cell.0.hs_dsch.codes", message).label("these codes").help(help))
    }

    /// Codes of a cell of a layout that no DCH or call can have.
    pub(super) fn fixed_codes(&self) -> FixedCodes {
        let (others, hs_dsch) = (self.codes_beside_hs_dsch(), &self.scenario.cell[0].hs_dsch);
        let with_hs_dsch = others.with_hs_dsch(hs_dsch.codes, hs_dsch.users_per_tti);
        with_hs_dsch.filter(|_| self.has_hs_dsch_users()).unwrap_or(others)
    }

    /// Codes of the DSCH, the common channels and the S-CCPCH. Without users of the DSCH, its branch is free for an
    /// HS-DSCH.
    fn codes_beside_hs_dsch(&self) -> FixedCodes {
        let cell = &self.scenario.cell[0];
        let sccpch = cell.fach.as_ref().and_then(|fach| cell.sccpch.unwrap_or_default().code(fach.rate));
        let branch = Some(self.branch(0)).filter(|_| !self.has_hs_dsch_users() || self.has_dsch_users());
        FixedCodes::new(&cell.dch.unwrap_or_default(), branch, sccpch)
    }

    fn has_dsch_users(&self) -> bool {
        self.scenario.ue.iter().any(|ue| ue.bearer == DSCH && ue.count > 0)
    }

    pub(super) fn has_hs_dsch_users(&self) -> bool {
        self.names.groups.iter().any(|named| named.hs_dsch_category().is_some())
    }
}
