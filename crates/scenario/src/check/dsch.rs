//! Power, codes and transport formats of the cells of a layout.

use umts_stack::radio::phy::ovsf::LARGEST_SF;
use umts_stack::rnc::mac_sh::Decision;
use umts_stack::scheduling::SchedulerKind;
use umts_units::{Db, Dbm, Duration};

use super::Inspection;
use crate::error::Problem;
use crate::model::{Dsch, Power};

/// Smallest spreading factor of a dedicated channel (TS 25.211 §5.3).
const MIN_SF: u16 = 4;

/// A radio frame (TS 25.211 §5).
const FRAME: Duration = Duration::from_millis(10);

/// Range of the transmit power of a cell, in dBm.
const POWERS: [f64; 2] = [-50.0, 80.0];
/// Range of the noise, in dBm.
const NOISES: [f64; 2] = [-150.0, 0.0];
/// Largest absolute value of an Eb/N0, in dB.
const MAX_DB: f64 = 30.0;
/// Largest step of power control or of its outer loop, in dB.
const MAX_STEP_DB: f64 = 10.0;

impl Inspection<'_> {
    /// Checks the powers and DSCHs of all cells.
    pub(super) fn dschs(&self) -> Result<(), Problem> {
        for (i, cell) in self.scenario.cell.iter().enumerate() {
            if let Some(power) = &cell.power {
                self.levels(&format!("cell.{i}.power"), power)?;
                self.power_control(&format!("cell.{i}.power"), power)?;
            }
            if let Some(dsch) = &cell.dsch {
                let path = format!("cell.{i}.dsch");
                if dsch.priority == SchedulerKind::Fcds {
                    let message = "fcds compares SNRs, which only an HS-DSCH measures";
                    let help = "choose max_ci or proportional_fair, for example";
                    return Err(self
                        .problem(&format!("{path}.priority"), message)
                        .label("this scheduler")
                        .help(help));
                }
                self.dsch_formats(&path, dsch)?;
                self.guarantees(&path, dsch)?;
            }
        }
        Ok(())
    }

    /// Each power of a cell is in its range, and the pilot's is below the maximum.
    fn levels(&self, path: &str, power: &Power) -> Result<(), Problem> {
        let levels = [
            ("max", Some(power.max), POWERS),
            ("pilot", Some(power.pilot), POWERS),
            ("dch_max", power.dch_max, POWERS),
            ("noise", Some(power.noise), NOISES),
        ];
        for (key, level, [from, to]) in levels {
            let Some(Dbm(level)) = level else { continue };
            if !(from..=to).contains(&level) {
                let message = format!("`{key}` cannot be {}", Dbm(level));
                let help = format!("choose {} to {}", Dbm(from), Dbm(to));
                return Err(self.problem(&format!("{path}.{key}"), message).label("out of range").help(help));
            }
        }
        if power.pilot >= power.max {
            let message =
                format!("cell.power.pilot ({}) must be below cell.power.max ({})", power.pilot, power.max);
            let help = format!("choose less than {}", power.max);
            return Err(self.problem(&format!("{path}.pilot"), message).label("this power").help(help));
        }
        Ok(())
    }

    /// Checks power control: its step, the step of the outer loop and the target block error ratio.
    fn power_control(&self, path: &str, power: &Power) -> Result<(), Problem> {
        for (key, Db(step)) in [("step", power.step), ("outer_step", power.outer_step)] {
            if !(step > 0.0 && step <= MAX_STEP_DB) {
                let message = format!("`{key}` cannot be {}", Db(step));
                let help = format!("choose more than 0 dB and at most {}", Db(MAX_STEP_DB));
                return Err(self.problem(&format!("{path}.{key}"), message).label("this step").help(help));
            }
        }
        let bler = power.bler_target.value();
        if !(bler > 0.0 && bler < 1.0) {
            let message = format!("no Eb/N0 gives a block error ratio of {bler}");
            let help = "choose more than 0 and less than 1, as in bler_target = 0.01";
            return Err(self.problem(&format!("{path}.bler_target"), message).label("this ratio").help(help));
        }
        Ok(())
    }

    /// The TTI, the decision instants and the list of transport formats fit together.
    fn dsch_formats(&self, path: &str, dsch: &Dsch) -> Result<(), Problem> {
        if ![10, 20].map(Duration::from_millis).contains(&dsch.tti) {
            let message = format!("a DSCH cannot have a TTI of {}", dsch.tti);
            return Err(self.problem(&format!("{path}.tti"), message).help("choose 10 ms or 20 ms"));
        }
        if dsch.decision != Decision::EachTti && dsch.tti != FRAME * 2 {
            let message = format!("decisions at each frame need a TTI of {}, not {}", FRAME * 2, dsch.tti);
            let help = format!("leave `decision` at \"each_tti\", or choose tti = \"{}\"", FRAME * 2);
            return Err(self.problem(&format!("{path}.decision"), message).label("this decision").help(help));
        }
        if dsch.format.is_empty() {
            let message = "a DSCH needs at least one transport format";
            let help = "write one or more, as in format = [{ rate = \"64 kbit/s\", spreading_factor = 32, ebn0 = \"2.25 dB\" }]";
            return Err(self.problem(&format!("{path}.format"), message).help(help));
        }
        for number in 0..dsch.format.len() {
            self.dsch_format(path, dsch, number)?;
        }
        Ok(())
    }

    /// A transport format fills whole blocks, has a code within the DSCH's part of the tree, and
    /// follows a slower format with the same or a larger spreading factor.
    fn dsch_format(&self, path: &str, dsch: &Dsch, number: usize) -> Result<(), Problem> {
        let format = &dsch.format[number];
        let (blocks, sf) = (dsch.blocks(format.rate), format.spreading_factor);
        let previous = number.checked_sub(1).map(|index| &dsch.format[index]);
        let branch = dsch.codes.spreading_factor();
        let wrong = |key: &str, message: &str, help: &str| {
            let path = format!("{path}.format.{number}.{key}");
            Err(self.problem(&path, message).label("this format").help(help))
        };
        if blocks.fract() != 0.0 || blocks < 1.0 {
            let full_rate = blocks.round().max(1.0) * dsch.block.bits() as f64 / dsch.tti.as_secs() / 1000.0;
            let message =
                format!("{} does not fill a TTI of {}: it is {blocks} blocks", format.rate, dsch.tti);
            let help = format!("choose whole blocks of {}, as in \"{full_rate} kbit/s\"", dsch.block);
            return wrong("rate", &message, &help);
        }
        if !sf.is_power_of_two() || !(MIN_SF..=LARGEST_SF).contains(&sf) {
            let message = format!("there is no code of spreading factor {sf}");
            let nearest = sf.clamp(MIN_SF, LARGEST_SF).next_power_of_two();
            let help = format!("choose a power of two from {MIN_SF} to {LARGEST_SF}, as in {nearest}");
            return wrong("spreading_factor", &message, &help);
        }
        if sf < branch {
            let message = format!(
                "a code of spreading factor {sf} is larger than the DSCH's {} of the tree",
                dsch.codes
            );
            let help = format!("choose {branch} or more, or a larger part of the tree in `codes`");
            return wrong("spreading_factor", &message, &help);
        }
        if previous.is_some_and(|previous| previous.rate >= format.rate) {
            let message = "transport formats must be in ascending order of their rates";
            return wrong("rate", message, "write the format with the lowest rate first");
        }
        if previous.is_some_and(|previous| previous.spreading_factor < sf) {
            let message =
                format!("spreading factor {sf} is larger than the spreading factor of the lower rate before");
            let help = "choose the spreading factor of the format before, or a smaller one";
            return wrong("spreading_factor", &message, help);
        }
        if !(format.ebn0.0 + dsch.ebn0_offset.0).abs().le(&MAX_DB) {
            let message = format!("`ebn0` plus `ebn0_offset` cannot be {}", format.ebn0 + dsch.ebn0_offset);
            return wrong("ebn0", &message, &format!("choose {} to {}", Db(-MAX_DB), Db(MAX_DB)));
        }
        Ok(())
    }

    /// The guaranteed rate is at least one block per TTI, and the credit limit and the timeout
    /// allow it.
    fn guarantees(&self, path: &str, dsch: &Dsch) -> Result<(), Problem> {
        let per_tti = dsch.blocks(dsch.guaranteed);
        let minimum = dsch.block.bits() as f64 / dsch.tti.as_secs() / 1000.0;
        let too_little = |key: &str, message: &str, help: &str| {
            Err(self.problem(&format!("{path}.{key}"), message).label("too little").help(help))
        };
        if per_tti < 1.0 {
            let message = format!(
                "{} is less than a block of {} in each TTI of {}",
                dsch.guaranteed, dsch.block, dsch.tti
            );
            return too_little("guaranteed", &message, &format!("choose {minimum} kbit/s or more"));
        }
        if let Some(limit) = dsch.credit_limit.filter(|limit| f64::from(limit.0) < per_tti) {
            let message = format!("a credit limit of {limit} is less than one TTI at {}", dsch.guaranteed);
            let help = format!("choose {} blocks or more, or \"auto\"", per_tti.ceil());
            return too_little("credit_limit", &message, &help);
        }
        if dsch.timeout < dsch.tti {
            let message = format!("a timeout of {} is shorter than a TTI of {}", dsch.timeout, dsch.tti);
            return too_little("timeout", &message, &format!("choose {} or more", dsch.tti));
        }
        Ok(())
    }
}
