//! The HS-DSCH: options of cells and users that depend on each other.

use umts_stack::mac::hs::{BlockErrorModel, Fading, HsDschConfig, HsMac, HsUeConfig, ProcessScope};
use umts_stack::radio::mac::hs::category::Category;
use umts_stack::radio::mac::hs::{octets_in, pdus_in};
use umts_stack::scheduling::SchedulerKind;
use umts_units::{Bytes, Duration};

use super::Inspection;
use super::channels::loses_nothing;
use super::names::GroupNames;
use crate::error::Problem;
use crate::model::{PduSize, Rlc, RlcHeader, RlcMode};

/// Window sizes of TS 25.331 §10.3.5.1a.
pub(super) const WINDOWS: [u8; 7] = [4, 6, 8, 12, 16, 24, 32];

/// Round trip of a HARQ process with the timing of the standard.
const HARQ_ROUND_TRIP: Duration = Duration::from_millis(12);

/// TTI of the HS-DSCH.
const TTI: Duration = Duration::from_millis(2);

/// Intervals of allocations are multiples of this time (TS 25.435 §6.3.3.11.4).
const ALLOCATION_UNIT: Duration = Duration::from_millis(10);

impl Inspection<'_> {
    /// Checks the HS-DSCHs of all cells and users.
    pub(super) fn hs_dschs(&mut self) -> Result<(), Problem> {
        (0..self.scenario.cell.len()).try_for_each(|i| self.hs_dsch_of_cell(i))?;
        (0..self.scenario.ue.len()).try_for_each(|i| self.hs_dsch_of_users(i))?;
        (0..self.scenario.ue.len()).try_for_each(|i| self.flexible_pdus(i))
    }

    /// PDUs of flexible size need acknowledged mode, and an HS-DSCH with MAC-ehs.
    fn flexible_pdus(&mut self, i: usize) -> Result<(), Problem> {
        let (ue, named) = (&self.scenario.ue[i], &self.names.groups[i]);
        if ue.has_emulated_link() {
            return Ok(());
        }
        let rlc = self.scenario.rlc_of(ue);
        let table = if ue.rlc.is_some() { format!("ue.{i}.rlc") } else { "rlc".to_owned() };
        if rlc.pdu_size == PduSize::Fixed {
            if rlc.largest_pdu != Rlc::default().largest_pdu {
                let message = "largest_pdu has no effect without pdu_size = \"flexible\"";
                self.warn(&format!("{table}.largest_pdu"), message);
            }
            if rlc.poll_sufi {
                let message = "poll_sufi has no effect without pdu_size = \"flexible\"";
                self.warn(&format!("{table}.poll_sufi"), message);
            }
            return Ok(());
        }
        let refuse = |key: &str, message: &str, help: &str| {
            Err(self.problem(&format!("{table}.{key}"), message).help(help))
        };
        if rlc.mode != RlcMode::Am {
            let message = "only acknowledged mode has PDUs of flexible size here";
            return refuse("pdu_size", message, "write mode = \"am\", or pdu_size = \"fixed\"");
        }
        if rlc.header == RlcHeader::Uncounted {
            let message = "PDUs of flexible size need the AMD header, which shows where an SDU ends";
            return refuse("header", message, "write header = \"ts25322\", or pdu_size = \"fixed\"");
        }
        if ue.is_switched() || named.hs_dsch_category().is_none() {
            let message =
                format!("the blocks of bearer `{}` of users `{}` have one size", ue.bearer, ue.name);
            let help = "choose an hsdpa or hspa bearer with mac = \"mac_ehs\" in its hs_dsch, or pdu_size = \"fixed\"";
            return refuse("pdu_size", &message, help);
        }
        if ue.hs_dsch.as_ref().is_none_or(|hs| hs.mac != HsMac::MacEhs) {
            let message = format!(
                "MAC-hs of users `{}` has PDUs of one size: PDUs of flexible size need MAC-ehs",
                ue.name
            );
            let help = "add mac = \"mac_ehs\" to [ue.hs_dsch], or write pdu_size = \"fixed\"";
            return refuse("pdu_size", &message, help);
        }
        Ok(())
    }

    /// Checks that the options of the HS-DSCH of cell `i` can be signalled. Warns if T1, the timer of
    /// the reordering queue (TS 25.321 §11.6.2), expires before the last transmission of a block.
    fn hs_dsch_of_cell(&mut self, i: usize) -> Result<(), Problem> {
        let config = &self.scenario.cell[i].hs_dsch;
        let &HsDschConfig { scheduler, window, t1, max_transmissions, allocation_interval, .. } = config;
        let path = |key: &str| format!("cell.{i}.hs_dsch.{key}");
        let refuse = |key: &str, message: &str, label: &'static str, help: &str| {
            Err(self.problem(&path(key), message).label(label).help(help))
        };
        if config.power.is_some() && self.scenario.layout.is_none() {
            let message = "power has no effect without [layout]: other cells have no power";
            let help = "add [layout], or leave this out and set ue.hs_dsch.snr";
            return refuse("power", message, "this power", help);
        }
        if scheduler == SchedulerKind::ServiceCredit {
            let message = "an HS-DSCH has no service credits";
            let help = "choose round_robin, oldest_first, largest_backlog, timeout, max_ci, proportional_fair or fcds";
            return refuse("scheduler", message, "this scheduler", help);
        }
        let has_hs_dsch = |group: &GroupNames| group.cell == i && group.hs_dsch_category().is_some();
        if !config.python.is_empty() && !self.names.groups.iter().any(has_hs_dsch) {
            let message = "`python` has no effect: no user of this cell has an HS-DSCH";
            let help = "leave `python` out, or give users an hsdpa or hspa bearer (`umts bearers`)";
            return refuse("python", message, "this scheduler", help);
        }
        if !WINDOWS.contains(&window) {
            let message = format!("a window of {window} blocks cannot be signalled");
            let help = "choose 4, 6, 8, 12, 16, 24 or 32 (TS 25.331 §10.3.5.1a)";
            return refuse("window", &message, "this window", help);
        }
        if !allocation_interval.as_nanos().is_multiple_of(ALLOCATION_UNIT.as_nanos()) {
            let message = format!("an interval of {allocation_interval} cannot be signalled");
            let help = "choose a multiple of 10 ms (TS 25.435 §6.3.3.11.4)";
            return refuse("allocation_interval", &message, "this interval", help);
        }
        if config.process_scope == ProcessScope::Cell && config.users_per_tti > 1 {
            let message = format!(
                "processes of the cell carry one block in a TTI, not blocks of {} users",
                config.users_per_tti
            );
            let help = "choose users_per_tti = 1, or process_scope = \"ue\"";
            return refuse("process_scope", &message, "this scope", help);
        }
        let longest = round_trip(config) * u64::from(max_transmissions - 1);
        if t1 < longest {
            let message = format!(
                "T1 of {t1} expires before the last of {max_transmissions} transmissions of a block, which is sent \
                 {longest} after the first one: blocks may be given up too early"
            );
            self.warn(&path("t1"), &message);
        }
        Ok(())
    }

    /// Only users with an HS-DSCH have its options, and the options fit together.
    fn hs_dsch_of_users(&mut self, i: usize) -> Result<(), Problem> {
        let ue = &self.scenario.ue[i];
        let path = |key: &str| format!("ue.{i}.{key}");
        let Some(category) = self.names.groups[i].hs_dsch_category() else {
            return match &ue.hs_dsch {
                None => Ok(()),
                Some(_) => {
                    let message = format!("bearer `{}` of these users has no HS-DSCH", ue.bearer);
                    let help = "choose an hsdpa bearer (`umts bearers`), or leave the table out";
                    Err(self.problem(&path("hs_dsch"), message).label("this table").help(help))
                }
            };
        };
        if self.scenario.layout.is_some() {
            self.hs_dsch_in_layout()?;
        }
        // The errors of [radio] apply to the other channels of switched users.
        if !ue.is_switched() && !loses_nothing(&self.scenario.radio_of(ue).downlink) {
            let message = "the errors of [radio] do not apply to the HS-DSCH of these users: set errors in \
                           hs_dsch, or give them a [ue.radio] without errors";
            self.warn(&path("bearer"), message);
        }
        let Some(hs) = &ue.hs_dsch else { return Ok(()) };
        if hs.cqi.is_some() && hs.fading != Fading::None {
            self.warn(&path("hs_dsch.fading"), "a constant cqi has no fading: leave out one of the two");
        }
        if hs.cqi.is_some() && hs.snr.is_some() {
            let message =
                "snr has no effect beside a constant cqi, which replaces the SNR: leave out one of the two";
            self.warn(&path("hs_dsch.snr"), message);
        }
        self.link_trace(&path("hs_dsch"), hs)?;
        self.attempt_errors(i, hs)?;
        let category = Category::new(hs.category.unwrap_or(category)).expect("the range was checked");
        self.warn_of_small_blocks(i, hs, category);
        Ok(())
    }

    /// Error probabilities are given if and only if the error model uses them.
    fn attempt_errors(&self, i: usize, hs: &HsUeConfig) -> Result<(), Problem> {
        match hs.errors {
            BlockErrorModel::PerAttempt if hs.attempt_errors.is_empty() => {
                let message = "errors = \"per_attempt\" needs error probabilities";
                let help = "add attempt_errors, for example [0.1, 0.01]";
                let path = format!("ue.{i}.hs_dsch.errors");
                Err(self.problem(&path, message).label("this model").help(help))
            }
            BlockErrorModel::None | BlockErrorModel::Curve | BlockErrorModel::RequiredSnr
                if !hs.attempt_errors.is_empty() =>
            {
                let message = "these probabilities are used by errors = \"per_attempt\" only";
                let help = "add errors = \"per_attempt\", or leave the probabilities out";
                Err(self.problem(&format!("ue.{i}.hs_dsch.attempt_errors"), message).help(help))
            }
            _ => Ok(()),
        }
    }

    /// Warns if no block can carry a PDU at the largest CQI that the users have, if it is known.
    fn warn_of_small_blocks(&mut self, i: usize, hs: &HsUeConfig, category: Category) {
        let codes = self.scenario.cell[self.names.groups[i].cell].hs_dsch.codes;
        let rlc = self.scenario.rlc_of(&self.scenario.ue[i]);
        let pdu_bits = Bytes::from(rlc.pdu_payload).bits() as u32 + rlc.header_bits().unwrap_or(0);
        let room_at = |cqi| {
            category.format_within(cqi, codes).map_or(0, |format| match hs.mac {
                HsMac::MacHs => pdus_in(format.bits(), pdu_bits),
                HsMac::MacEhs => octets_in(format.bits()),
            })
        };
        let in_trace = hs.link_trace.ttis().iter().map(|tti| tti.cqi).max();
        let largest = in_trace.map(|cqi| ("trace", cqi)).or(hs.cqi.map(|cqi| ("cqi", cqi)));
        if let Some((key, cqi)) = largest
            && room_at(cqi) == 0
        {
            let message =
                format!("no block for CQI {cqi} has room for a PDU of {pdu_bits} bits: nothing arrives");
            self.warn(&format!("ue.{i}.hs_dsch.{key}"), &message);
        }
    }

    /// A link trace replaces the other keys of the radio link, and lasts until the end of the run.
    fn link_trace(&mut self, path: &str, hs: &HsUeConfig) -> Result<(), Problem> {
        let in_table = |key: &str| format!("{path}.{key}");
        if hs.trace.is_none() {
            if hs.trace_repeats {
                let message = "trace_repeats has no effect without a trace";
                let help = "add trace = \"FILE\", or leave trace_repeats out";
                return Err(self.problem(&in_table("trace_repeats"), message).help(help));
            }
            return Ok(());
        }
        if hs.cqi.is_some() {
            let message = "a constant cqi and the CQIs of a trace exclude each other";
            let help = "leave out cqi or trace";
            return Err(self.problem(&in_table("cqi"), message).label("this CQI").help(help));
        }
        let (trace, run) = (hs.link_trace.duration(), self.scenario.duration);
        if trace < run && !hs.trace_repeats {
            let message = format!("the trace ends after {trace}, before the end of the run at {run}");
            let help = format!("add trace_repeats = true, or choose a duration of at most {trace}");
            return Err(self.problem(&in_table("trace"), message).label("this trace").help(help));
        }
        if hs.fading != Fading::None {
            self.warn(&in_table("fading"), "a trace includes the fading: leave out one of the two");
        }
        Ok(())
    }
}

/// Time from a transmission of a block to the next one.
fn round_trip(config: &HsDschConfig) -> Duration {
    let answer = config.ack_delay.map_or(HARQ_ROUND_TRIP, |delay| TTI + delay);
    let ttis = answer.as_nanos().div_ceil(TTI.as_nanos());
    let processes = u64::from(config.processes);
    match config.process_scope {
        ProcessScope::Ue => TTI * ttis,
        // The process of the cell is used again after all others.
        ProcessScope::Cell => TTI * ttis.next_multiple_of(processes),
    }
}
