//! The E-DCH: options of cells and users that depend on each other.

use umts_stack::mac::e::category::{Category, LONG_TTI, SHORT_TTI, block_bits, pdus_in, processes};
use umts_stack::mac::e::grant::Grant;
use umts_stack::mac::e::uplink_load::{UplinkLoad, ratio_of_headroom};
use umts_stack::mac::e::{DEFAULT_PATH_LOSS, EDchConfig, EUeConfig};
use umts_units::{BitRate, Bytes, Duration};

use super::Inspection;
use super::channels::loses_nothing;
use super::hs_dsch::WINDOWS;
use crate::error::Problem;
use crate::model::Ue;

/// Values of the Happy_Bit_Delay_Condition in milliseconds (TS 25.331 §10.3.6.99).
const HAPPY_BIT_DELAYS: [u64; 8] = [2, 10, 20, 50, 100, 200, 500, 1_000];

/// Bits of a block with scheduling information and no PDU.
fn scheduling_information_bits() -> u32 {
    let (pdus, pdu_bits, is_reporting) = (0, 1, true);
    block_bits(pdus, pdu_bits, is_reporting)
}

/// Rates that a UE can reach on the E-DCH.
pub(super) struct Capacity {
    pub tti: Duration,
    /// PDUs in the largest block.
    pdus: u32,
    /// Payload of a PDU.
    payload: Bytes,
}

impl Capacity {
    /// RLC payload rate of the largest block. `bearer_rate` if a block carries no PDU.
    pub fn rate(&self, bearer_rate: BitRate) -> BitRate {
        let bits = u64::from(self.pdus) * self.payload.bits();
        BitRate::from_bps(bits * 1_000_000_000 / self.tti.as_nanos()).unwrap_or(bearer_rate)
    }
}

impl Inspection<'_> {
    pub(super) fn e_dchs(&mut self) -> Result<(), Problem> {
        (0..self.scenario.cell.len()).try_for_each(|i| self.e_dch_of_cell(i))?;
        (0..self.scenario.ue.len()).try_for_each(|i| self.e_dch_of_users(i))?;
        (0..self.scenario.cell.len()).for_each(|i| self.room_for_e_dch_users(i));
        Ok(())
    }

    /// Warns if the DPCCHs and the scheduling information of the permanent users of cell `i` leave no
    /// noise rise for data. The users of a layout are spread evenly over the cells.
    fn room_for_e_dch_users(&mut self, i: usize) {
        let config = &self.scenario.cell[i].e_dch;
        let uplink = UplinkLoad::new(config);
        let reserved_by = |(group, ue): (usize, &Ue)| {
            let (_, tti) = self.e_dch_category(group)?;
            let is_permanent_here = self.names.groups[group].cell == i && !ue.is_switched();
            let bits = scheduling_information_bits() + self.e_dch_keys(group).non_scheduled;
            is_permanent_here.then(|| f64::from(ue.count) * uplink.load(uplink.ratio(bits, tti)))
        };
        let cells = self.scenario.layout.as_ref().map_or(1, |layout| layout.number_of_cells());
        let reserved: f64 = self.scenario.ue.iter().enumerate().filter_map(reserved_by).sum();
        let reserved = reserved / cells as f64;
        if reserved >= uplink.budget() {
            let message = format!(
                "the E-DCH users of this cell may get no grant: all of them together need {:.0} % of a noise rise of {} \
                 without data",
                100.0 * reserved / uplink.budget(),
                config.noise_rise
            );
            self.warn(&format!("cell.{i}.e_dch.noise_rise"), &message);
        }
    }

    /// Options of the E-DCH of cell `i` that can be signalled.
    fn e_dch_of_cell(&self, i: usize) -> Result<(), Problem> {
        let &EDchConfig { window, happy_bit_delay, scheduling_interval, .. } = &self.scenario.cell[i].e_dch;
        let problem = |key: &str, message: &str, help: &str| {
            Err(self.problem(&format!("cell.{i}.e_dch.{key}"), message).label("this value").help(help))
        };
        if !WINDOWS.contains(&window) {
            let message = format!("a window of {window} blocks cannot be signalled");
            return problem("window", &message, "choose 4, 6, 8, 12, 16, 24 or 32 (TS 25.331 §10.3.5.1a)");
        }
        if !HAPPY_BIT_DELAYS.iter().any(|ms| Duration::from_millis(*ms) == happy_bit_delay) {
            let message = format!("a happy bit delay condition of {happy_bit_delay} cannot be signalled");
            let help = "choose 2, 10, 20, 50, 100, 200, 500 or 1000 ms (TS 25.331 §10.3.6.99)";
            return problem("happy_bit_delay", &message, help);
        }
        if !scheduling_interval.as_nanos().is_multiple_of(SHORT_TTI.as_nanos()) {
            let message = format!("grants cannot be decided every {scheduling_interval}");
            return problem("scheduling_interval", &message, "choose a multiple of 2 ms, the shortest TTI");
        }
        Ok(())
    }

    /// The E-DCH keys of user group `i`, or their defaults.
    fn e_dch_keys(&self, i: usize) -> EUeConfig {
        self.scenario.ue[i].e_dch.clone().unwrap_or_default()
    }

    /// Category and TTI of user group `i`. `None`: it has no E-DCH.
    fn e_dch_category(&self, i: usize) -> Option<(Category, Duration)> {
        let (bearer, category) = self.names.groups[i].e_dch()?;
        let keys = self.e_dch_keys(i);
        let category = Category::new(keys.category.unwrap_or(category)).expect("the range was checked");
        Some((category, keys.tti.unwrap_or(bearer.uplink.tti)))
    }

    /// Largest block and TTI of the E-DCH of user group `i`. `None`: it has no E-DCH.
    pub(super) fn e_dch_capacity(&self, i: usize) -> Option<Capacity> {
        let (category, tti) = self.e_dch_category(i)?;
        let payload = Bytes::from(self.scenario.rlc_of(&self.scenario.ue[i]).pdu_payload);
        let pdus = pdus_in(category.max_bits(tti)?, self.pdu_bits(i));
        Some(Capacity { tti, pdus, payload })
    }

    /// Bits of a MAC-d PDU of user group `i`.
    fn pdu_bits(&self, i: usize) -> u32 {
        let rlc = self.scenario.rlc_of(&self.scenario.ue[i]);
        Bytes::from(rlc.pdu_payload).bits() as u32 + rlc.header_bits().unwrap_or(0)
    }

    /// Only users with an E-DCH have its options. Their category has the TTI, and they can get a grant
    /// that carries a PDU.
    fn e_dch_of_users(&mut self, i: usize) -> Result<(), Problem> {
        let ue = &self.scenario.ue[i];
        let path = |key: &str| format!("ue.{i}.{key}");
        let Some((category, tti)) = self.e_dch_category(i) else {
            return match &ue.e_dch {
                None => Ok(()),
                Some(_) => {
                    let message = format!("bearer `{}` of these users has no E-DCH", ue.bearer);
                    let help = "choose an hspa bearer (`umts bearers`), or leave the table out";
                    Err(self.problem(&path("e_dch"), message).label("this table").help(help))
                }
            };
        };
        let keys = self.e_dch_keys(i);
        if keys.attempt_errors.is_empty() {
            let message = "blocks of the E-DCH need an error probability";
            let help = "write attempt_errors = [0] for blocks without errors, or for example [0.1, 0.01]";
            return Err(self.problem(&path("e_dch.attempt_errors"), message).help(help));
        }
        if ![SHORT_TTI, LONG_TTI].contains(&tti) {
            let message = format!("an E-DCH has no TTI of {tti}");
            let help = "choose 2 ms or 10 ms (TS 25.211 §5.2.1.3)";
            return Err(self.problem(&path("e_dch.tti"), message).label("this TTI").help(help));
        }
        let Some(max_bits) = category.max_bits(tti) else {
            let number = category.number();
            let message = format!("an E-DCH of category {number} has no TTI of {tti}");
            let key = if keys.tti.is_some() { "e_dch.tti" } else { "e_dch.category" };
            let help = "choose category 2, 4 or 6, or a TTI of 10 ms (TS 25.306 table 5.1g)";
            return Err(self.problem(&path(key), message).label("this value").help(help));
        };
        let pdu_bits = self.pdu_bits(i);
        if pdus_in(max_bits, pdu_bits) == 0 {
            let message = format!(
                "a block of category {} in {tti} has {max_bits} bits, no room for a PDU of {pdu_bits} bits",
                category.number()
            );
            let help = "choose a smaller rlc.pdu_payload, a higher category, or a TTI of 10 ms";
            return Err(self.problem(&path("bearer"), message).label("this bearer").help(help));
        }
        let (pdus, is_reporting) = (1, false);
        self.grant_for_a_pdu(i, block_bits(pdus, pdu_bits, is_reporting), tti, &keys)?;
        if !ue.is_switched()
            && self.scenario.radio_of(ue).uplink.as_ref().is_some_and(|errors| !loses_nothing(errors))
        {
            let message = "the errors of [radio.uplink] do not apply to the E-DCH of these users: set \
                           attempt_errors in e_dch, or give them a [ue.radio] without errors";
            self.warn(&path("bearer"), message);
        }
        self.reordering_of(i, tti);
        Ok(())
    }

    /// Grants, the noise rise and the power of the UE suffice for a block of `bits` bits, the smallest one
    /// with a PDU.
    fn grant_for_a_pdu(&self, i: usize, bits: u32, tti: Duration, keys: &EUeConfig) -> Result<(), Problem> {
        let cell = self.names.groups[i].cell;
        let config = &self.scenario.cell[cell].e_dch;
        let uplink = UplinkLoad::new(config);
        let ratio = uplink.ratio(bits, tti);
        let of_cell = |key: &str| format!("cell.{cell}.e_dch.{key}");
        let is_scheduled = keys.non_scheduled < bits;
        if is_scheduled && ratio > Grant::HIGHEST.ratio() {
            let lacking_db = 10.0 * (ratio / Grant::HIGHEST.ratio()).log10();
            let message = format!(
                "no grant can carry a PDU: the highest one allows {} bits in {tti}, and a block with one PDU has {bits}",
                uplink.bits(Grant::HIGHEST.ratio(), tti)
            );
            let help = format!("raise dpcch_ec_n0 or lower eb_n0 by {} dB", lacking_db.ceil());
            return Err(self.problem(&of_cell("dpcch_ec_n0"), message).label("this Ec/N0").help(help));
        }
        // The power ratio that the UE may use in addition to its grant.
        let ungranted_ratio = uplink.ratio(scheduling_information_bits() + keys.non_scheduled, tti);
        let load = Grant::at_least(ratio).map_or(0.0, |grant| uplink.load(grant.ratio() + ungranted_ratio));
        if is_scheduled && load > uplink.budget() {
            // Bounded, because the noise rise is infinite at a load of 1.
            let needed_db = uplink.noise_rise_db(load.min(0.99));
            let message = format!(
                "no grant can carry a PDU: a block with one in {tti} causes a noise rise of {needed_db:.1} dB, more than {}",
                config.noise_rise
            );
            let help = format!("choose a noise rise of at least {:.1} dB", (needed_db * 10.0).ceil() / 10.0);
            return Err(self.problem(&of_cell("noise_rise"), message).label("this noise rise").help(help));
        }
        // In a layout the path loss depends on the place, unless it is given.
        let default = self.scenario.layout.is_none().then_some(DEFAULT_PATH_LOSS);
        let Some(path_loss) = keys.path_loss.or(default) else { return Ok(()) };
        let headroom_db = uplink.headroom_db(keys.max_power.0, path_loss, uplink.budget());
        if ratio_of_headroom(headroom_db) < ratio {
            let lacking_db = 10.0 * (ratio + 1.0).log10() - headroom_db;
            let message = format!(
                "at a path loss of {path_loss} the UE has no power for a block with a PDU at a noise rise of {}",
                config.noise_rise
            );
            let help = format!(
                "choose a path loss of at most {} dB, or a longer TTI",
                (path_loss.0 - lacking_db).floor()
            );
            return Err(self
                .problem(&format!("ue.{i}.e_dch.path_loss"), message)
                .label("this path loss")
                .help(help));
        }
        Ok(())
    }

    /// Warns if T1 of the cell of user group `i` gives up blocks too early.
    fn reordering_of(&mut self, i: usize, tti: Duration) {
        let cell = self.names.groups[i].cell;
        let EDchConfig { t1, max_transmissions, .. } = self.scenario.cell[cell].e_dch;
        // A HARQ process repeats a block after one round of all processes.
        let last_transmission = tti * u64::from(processes(tti)) * u64::from(max_transmissions - 1);
        if t1 < last_transmission {
            let message = format!(
                "T1 of {t1} expires before the last of {max_transmissions} transmissions of a block, which is sent \
                 {last_transmission} after the first one: blocks may be given up too early"
            );
            self.warn(&format!("cell.{cell}.e_dch.t1"), &message);
        }
    }
}
