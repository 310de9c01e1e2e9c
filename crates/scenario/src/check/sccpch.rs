//! FACH and RACH of the cells of a layout, and the S-CCPCH that carries the FACH.

use umts_units::{BitRate, Db, Dbm};

use super::Inspection;
use crate::error::Problem;
use crate::model::{Cell, FachScheduling, Power, Sccpch, milliwatts};

/// Smallest and largest spreading factor of an S-CCPCH (TS 25.211 §5.3.3.4).
const FACTORS: [u16; 2] = [4, 256];
/// Smallest and largest power of an S-CCPCH, in dBm.
const POWERS: [f64; 2] = [-50.0, 80.0];
/// Largest absolute value of an Eb/N0, in dB.
const MAX_DB: f64 = 30.0;

impl Inspection<'_> {
    /// Checks the FACH of cell `i`, which describes the cells of a layout, and its S-CCPCH.
    pub(super) fn common_channels_of_layout(&self, i: usize, cell: &Cell) -> Result<(), Problem> {
        let Some(fach) = &cell.fach else {
            return match cell.sccpch {
                None => Ok(()),
                Some(_) => {
                    let message = "an S-CCPCH carries a FACH, but the cells of this layout have none";
                    let help = "add fach = {} and rach = {} to the [[cell]], or leave this out";
                    Err(self.problem(&format!("cell.{i}.sccpch"), message).label("this table").help(help))
                }
            };
        };
        if fach.scheduling == FachScheduling::PerUePush {
            let message = "a FACH with a queue at the Node B cannot be used in a layout: users leave blocks behind when they change cells";
            let help = "write scheduling = \"pull\", or leave it out";
            return Err(self.problem(&format!("cell.{i}.fach.scheduling"), message).help(help));
        }
        let sccpch = cell.sccpch.unwrap_or_default();
        self.power_of_sccpch(i, &sccpch, &cell.power.clone().unwrap_or_default())?;
        self.code_of_sccpch(i, &sccpch, fach.rate)
    }

    /// The pilot and the S-CCPCH leave power for other channels.
    fn power_of_sccpch(&self, i: usize, sccpch: &Sccpch, power: &Power) -> Result<(), Problem> {
        let Sccpch { power: level, ebn0, .. } = *sccpch;
        let [min, max] = POWERS;
        if !(min..=max).contains(&level.0) {
            let help = format!("choose {} to {}", Dbm(min), Dbm(max));
            return self.out_of_range(
                &format!("cell.{i}.sccpch.power"),
                format!("`power` cannot be {level}"),
                help,
            );
        }
        if ebn0.0.abs() > MAX_DB {
            let help = format!("choose {} to {}", Db(-MAX_DB), Db(MAX_DB));
            return self.out_of_range(
                &format!("cell.{i}.sccpch.ebn0"),
                format!("`ebn0` cannot be {ebn0}"),
                help,
            );
        }
        if milliwatts(power.pilot) + milliwatts(level) < milliwatts(power.max) {
            return Ok(());
        }
        let message = format!(
            "cell.sccpch.power ({level}) and cell.power.pilot ({}) together must be below cell.power.max ({})",
            power.pilot, power.max
        );
        let help = "choose less power for the S-CCPCH, or more for the cell";
        Err(self.problem(&format!("cell.{i}.sccpch.power"), message).label("this power").help(help))
    }

    /// The S-CCPCH has a code that carries the rate of the FACH, beside the codes of the DSCH.
    fn code_of_sccpch(&self, i: usize, sccpch: &Sccpch, rate: BitRate) -> Result<(), Problem> {
        let Some(code) = sccpch.code(rate) else {
            let message = format!("a FACH of {rate} needs several codes");
            let help = "an S-CCPCH of a layout has one code: choose a FACH of at most 768 kbit/s";
            return Err(self.problem(&format!("cell.{i}.fach.rate"), message).label("this rate").help(help));
        };
        let path = format!("cell.{i}.sccpch.spreading_factor");
        let [min, max] = FACTORS;
        let factor = code.spreading_factor;
        if factor > max {
            let help = format!("choose {max} or less");
            return self.out_of_range(
                &path,
                format!("an S-CCPCH cannot have a spreading factor of {factor}"),
                help,
            );
        }
        self.spreading_factor(&path, factor, min)?;
        self.carries(&path, factor, rate)?;
        if !code.meets(self.branch(i)) {
            return Ok(());
        }
        let message = format!(
            "the S-CCPCH has code 1 of spreading factor {factor}, which lies in the branch of the DSCH"
        );
        let help = "choose a larger spreading factor, or a smaller part of the tree in dsch.codes";
        Err(self.problem(&path, message).label("this code").help(help))
    }
}
