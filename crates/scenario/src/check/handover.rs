//! Handover in a layout, and the dedicated channels of its cells.

use umts_stack::radio::phy::ovsf::{Code, LARGEST_SF};
use umts_stack::radio::phy::sir::CHIP_RATE;
use umts_stack::rnc::calls;
use umts_units::{BitRate, Db, Duration};

use super::Inspection;
use super::names::rrc_path;
use crate::error::Problem;
use crate::model::{Associated, Bearer, Calls, Compressed, CompressedBy, DchCodes, Dchs, Handover, Soft, Ue};

/// Larger than the difference between any two cells.
const MAX_HYSTERESIS_DB: f64 = 100.0;
/// Largest window and largest absolute value of an Eb/N0, in dB.
const MAX_DB: f64 = 30.0;
/// Largest increase of a target by a gap, in dB.
const MAX_RAISE_DB: f64 = 10.0;
/// Permitted lengths of gaps in slots (TS 25.215 §6.1.1.2).
const GAPS: [u8; 6] = [3, 4, 5, 7, 10, 14];
/// Longest time from one gap to the next.
const MAX_INTERVAL: Duration = Duration::from_millis(1440);
/// Smallest spreading factor of a DCH (TS 25.211 §5.3), also in compressed mode with half the
/// spreading factor.
const MIN_SF: u16 = 4;

impl Inspection<'_> {
    /// Checks the windows, gaps and codes of dedicated channels in a layout.
    pub(super) fn handovers(&self) -> Result<(), Problem> {
        if let Some(handover) = &self.scenario.handover {
            self.hysteresis(handover)?;
            if let Some(soft) = &handover.soft {
                self.soft(soft)?;
            }
            if let Some(mode) = &handover.compressed_mode {
                self.compressed(mode)?;
            }
        }
        for (i, cell) in self.scenario.cell.iter().enumerate() {
            let Some(dch) = &cell.dch else { continue };
            self.common_codes(i, dch)?;
            if let Some(associated) = &dch.associated {
                self.associated(i, associated)?;
            }
        }
        for (i, ue) in self.scenario.ue.iter().enumerate() {
            if let Some(calls) = &ue.calls {
                self.code_of_calls(i, calls)?;
            }
        }
        Ok(())
    }

    /// The error for a value out of its range.
    pub(super) fn out_of_range(
        &self,
        path: &str,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Result<(), Problem> {
        Err(self.problem(path, message).label("out of range").help(help))
    }

    /// The hysteresis is in range.
    fn hysteresis(&self, handover: &Handover) -> Result<(), Problem> {
        if (0.0..=MAX_HYSTERESIS_DB).contains(&handover.hysteresis.0) {
            return Ok(());
        }
        let message = format!("a hysteresis cannot be {}", handover.hysteresis);
        self.out_of_range("handover.hysteresis", message, format!("choose 0 dB to {MAX_HYSTERESIS_DB} dB"))
    }

    /// The windows of soft handover are in range, and a cell leaves the active set later than it
    /// joins.
    fn soft(&self, soft: &Soft) -> Result<(), Problem> {
        let path = |key: &str| format!("handover.soft.{key}");
        for (key, window) in [("add", soft.add), ("drop", soft.drop)] {
            if !(0.0..=MAX_DB).contains(&window.0) {
                let message = format!("a window cannot be {window}");
                return self.out_of_range(&path(key), message, format!("choose 0 dB to {}", Db(MAX_DB)));
            }
        }
        if soft.drop < soft.add {
            let message = format!(
                "with `add` = {} and `drop` = {} a cell would leave the active set as soon as it joins",
                soft.add, soft.drop
            );
            return self.out_of_range(&path("drop"), message, format!("choose `add`, {}, or more", soft.add));
        }
        Ok(())
    }

    /// The gaps of compressed mode exist, are whole TTIs apart, and its levels are in range.
    fn compressed(&self, mode: &Compressed) -> Result<(), Problem> {
        let path = |key: &str| format!("handover.compressed_mode.{key}");
        for (key, level, max_db) in [("within", mode.within, MAX_DB), ("raise", mode.raise, MAX_RAISE_DB)] {
            if !(0.0..=max_db).contains(&level.0) {
                let message = format!("`{key}` cannot be {level}");
                return self.out_of_range(&path(key), message, format!("choose 0 dB to {}", Db(max_db)));
            }
        }
        if !GAPS.contains(&mode.gap) {
            let message = format!("there is no gap of {} slots", mode.gap);
            return self.out_of_range(&path("gap"), message, "choose 3, 4, 5, 7, 10 or 14".to_owned());
        }
        if calls::TTI * (mode.every / calls::TTI) != mode.every
            || !(calls::TTI..=MAX_INTERVAL).contains(&mode.every)
        {
            let message = format!("gaps cannot be {} apart", mode.every);
            let help = format!("choose whole TTIs of {}, up to {MAX_INTERVAL}, as in \"80 ms\"", calls::TTI);
            return self.out_of_range(&path("every"), message, help);
        }
        Ok(())
    }

    /// The codes of the common channels of cell `i` are outside the branch of the DSCH.
    fn common_codes(&self, i: usize, dch: &Dchs) -> Result<(), Problem> {
        let branch = self.branch(i);
        let Some((common, share)) = dch.common_code().zip(dch.common) else { return Ok(()) };
        if dch.codes == DchCodes::Unlimited || !common.meets(branch) {
            return Ok(());
        }
        let message = format!("common channels with {share} of the tree leave no room for the DSCH");
        let help = "choose less, as in common = \"1/32\", or reduce `dsch.codes`";
        self.out_of_range(&format!("cell.{i}.dch.common"), message, help)
    }

    /// The branch of the code tree that the DSCH of a cell has.
    pub(super) fn branch(&self, i: usize) -> Code {
        let dsch = self.scenario.cell[i].dsch.clone().unwrap_or_default();
        Code::last(dsch.codes.spreading_factor())
    }

    /// Checks the DCH that each user of the DSCH also has: its code can carry its rate, and its
    /// Eb/N0 is in range.
    fn associated(&self, i: usize, dch: &Associated) -> Result<(), Problem> {
        let path = |key: &str| format!("cell.{i}.dch.associated.{key}");
        self.spreading_factor(&path("spreading_factor"), dch.spreading_factor, MIN_SF)?;
        self.carries(&path("rate"), dch.spreading_factor, dch.rate)?;
        if dch.ebn0.0.abs() > MAX_DB {
            let message = format!("`ebn0` cannot be {}", dch.ebn0);
            return self.out_of_range(
                &path("ebn0"),
                message,
                format!("choose {} to {}", Db(-MAX_DB), Db(MAX_DB)),
            );
        }
        Ok(())
    }

    /// A spreading factor is a power of two from `min_factor` on.
    pub(super) fn spreading_factor(&self, path: &str, factor: u16, min_factor: u16) -> Result<(), Problem> {
        if factor.is_power_of_two() && (min_factor..=LARGEST_SF).contains(&factor) {
            return Ok(());
        }
        let nearest = factor.clamp(min_factor, LARGEST_SF).next_power_of_two();
        let message = format!("the spreading factor cannot be {factor}");
        self.out_of_range(
            path,
            message,
            format!("choose a power of two from {min_factor} to {LARGEST_SF}, as in {nearest}"),
        )
    }

    /// Checks the codes of calls: halving the spreading factor in gaps must be possible, and one
    /// code must be free.
    fn code_of_calls(&self, i: usize, calls: &Calls) -> Result<(), Problem> {
        let path = format!("ue.{i}.calls.spreading_factor");
        let handover = self.scenario.handover.as_ref();
        let mode = handover.and_then(|handover| handover.compressed_mode.as_ref());
        let is_halved = mode.is_some_and(|mode| mode.method == CompressedBy::HalfSf);
        let (factor, min_factor) = (calls.spreading_factor, if is_halved { 2 * MIN_SF } else { MIN_SF });
        self.spreading_factor(&path, factor, min_factor)?;
        self.has_free_code(&path, factor)
    }

    /// Checks the code and the Eb/N0 of users of a bearer on DCHs, or of each such bearer that RRC switches to.
    pub(super) fn code_of_dch(&self, i: usize, ue: &Ue) -> Result<(), Problem> {
        let named = &self.names.groups[i];
        if let Some(dch) = named.bearer.as_ref().filter(|bearer| bearer.hs_dsch_category().is_none()) {
            self.code_of_bearer(i, ue, &format!("ue.{i}.bearer"), &dch.bearer)?;
        }
        for (number, dch) in named.dchs.iter().enumerate() {
            if dch.hs_dsch_category().is_some() {
                continue;
            }
            self.code_of_bearer(i, ue, &format!("{}.dch.{number}", rrc_path(self.scenario, i)), &dch.bearer)?;
        }
        Ok(())
    }

    /// Checks the code and the Eb/N0 of user group `i` on the DCHs of `bearer`, which is named at `path`.
    fn code_of_bearer(&self, i: usize, ue: &Ue, path: &str, bearer: &Bearer) -> Result<(), Problem> {
        let (options, rate) = (ue.dch.unwrap_or_default(), bearer.downlink.rate);
        if options.ebn0.0.abs() > MAX_DB {
            let message = format!("`ebn0` cannot be {}", options.ebn0);
            let help = format!("choose {} to {}", Db(-MAX_DB), Db(MAX_DB));
            return self.out_of_range(&format!("ue.{i}.dch.ebn0"), message, help);
        }
        let Some(factor) = options.spreading_factor(rate) else {
            let message = format!("the downlink of bearer `{}` at {rate} needs several codes", bearer.name);
            let help = "users of a layout have one code: choose a bearer of at most 768 kbit/s";
            return Err(self.problem(path, message).label("this bearer").help(help));
        };
        let path = format!("ue.{i}.dch.spreading_factor");
        self.spreading_factor(&path, factor, MIN_SF)?;
        self.carries(&path, factor, rate)?;
        self.has_free_code(&path, factor)
    }

    /// Checks that a code of this spreading factor carries `rate`. A symbol has two bits, before any coding.
    pub(super) fn carries(&self, path: &str, factor: u16, rate: BitRate) -> Result<(), Problem> {
        let max_rate = 2.0 * CHIP_RATE / f64::from(factor);
        if rate.bps() as f64 <= max_rate {
            return Ok(());
        }
        let message = format!("a code of spreading factor {factor} cannot carry {rate}");
        let help = format!("choose at most {} kbit/s, or a smaller spreading factor", max_rate / 1000.0);
        self.out_of_range(path, message, help)
    }

    /// Checks that the DSCH, the HS-DSCH and the common channels leave a code of this spreading factor, if codes are
    /// limited.
    pub(super) fn has_free_code(&self, path: &str, factor: u16) -> Result<(), Problem> {
        let Some(cell) = self.scenario.cell.first() else { return Ok(()) };
        let is_limited = cell.dch.as_ref().is_some_and(|dch| dch.codes == DchCodes::OneTree);
        if !is_limited || self.fixed_codes().leave(factor) {
            return Ok(());
        }
        let shared = if self.has_hs_dsch_users() { "HS-DSCH" } else { "DSCH" };
        let message =
            format!("the {shared} and the common channels leave no code of spreading factor {factor}");
        let key = if self.has_hs_dsch_users() { "hs_dsch.codes" } else { "dsch.codes" };
        self.out_of_range(path, message, format!("choose a larger spreading factor, or reduce `{key}`"))
    }
}
