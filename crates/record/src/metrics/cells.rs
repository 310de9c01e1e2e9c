//! Metrics of the cells of a layout, from their trace events: load, power and codes, calls, and the
//! service of users on DSCHs, DCHs, HS-DSCHs and the FACH. The recorder sums up the events inside the window.
//! The methods of [`LayoutTotals`] compute means and shares from the sums. Powers are in mW.

use umts_stack::ids::{Direction, UeId};
use umts_stack::rnc::calls::BLOCK_BITS;
use umts_stack::trace::{CallStep, CellUpdateCause, ELimit, Postponed, Real, TraceEvent};
use umts_units::{Bytes, Duration, Time};

use super::totals::LayoutTotals;
use super::window::Window;

/// Supply power of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CellSupply {
    /// Watts drawn at a transmit power near zero.
    pub fixed: f64,
    /// Watts drawn per watt of transmit power.
    pub slope: f64,
}

/// Recorder of a network with a layout.
#[derive(Debug)]
pub(super) struct LayoutRecorder {
    pub window: Window,
    totals: LayoutTotals,
    /// Delay of the last SDU of each user.
    last_delay: Vec<Option<Duration>>,
}

impl LayoutRecorder {
    pub fn new(window: Window, supply: CellSupply) -> Self {
        let totals = LayoutTotals { supply, ..LayoutTotals::default() };
        LayoutRecorder { window, totals, last_delay: Vec::new() }
    }

    pub fn record(&mut self, at: Time, event: &TraceEvent) {
        // Also before the window: the first delay in the window is compared with the one before it.
        if let TraceEvent::SduDelivered { ue, direction: Direction::Downlink, entered, .. } = *event {
            self.delivered(at, ue, at - entered);
        }
        if self.window.contains(at) {
            self.count(event);
        }
    }

    /// Adds an event of a cell of a layout inside the window to the totals.
    fn count(&mut self, event: &TraceEvent) {
        let totals = &mut self.totals;
        match *event {
            TraceEvent::CellPower {
                cell,
                power: Real(power),
                load: Real(load),
                calls,
                sent,
                lost,
                scaled,
            } => {
                totals.cells = totals.cells.max(u32::from(cell) + 1);
                totals.add_tti(f64::from(power), f64::from(load));
                totals.calls += u64::from(calls);
                totals.call_blocks += u64::from(sent);
                totals.call_blocks_lost += u64::from(lost);
                totals.scaled += u64::from(scaled);
            }
            TraceEvent::DschGranted {
                blocks, sent, spreading_factor, wanted, power: Real(power), ..
            } => {
                let factor = f64::from(spreading_factor);
                totals.grants += 1;
                totals.halved += u64::from(spreading_factor > wanted);
                totals.factors += factor;
                totals.blocks += u64::from(sent);
                totals.room += u64::from(blocks);
                totals.block_factors += factor * f64::from(sent);
                totals.codes += 1.0 / factor;
                totals.dsch_power += f64::from(power);
            }
            TraceEvent::DschHeld { users, codes: Real(codes), power: Real(power), .. } => {
                totals.held += u64::from(users);
                totals.codes += f64::from(codes);
                totals.dsch_power += f64::from(power);
            }
            TraceEvent::CellDchs {
                further,
                further_power: Real(further_power),
                associated_power: Real(associated_power),
                compressed,
                codes: Real(codes),
                ..
            } => {
                totals.dch_ttis += 1;
                totals.further_legs += u64::from(further);
                totals.further_power += f64::from(further_power);
                totals.associated_power += f64::from(associated_power);
                totals.compressed += u64::from(compressed);
                totals.dch_codes += f64::from(codes);
            }
            TraceEvent::DchSent {
                legs,
                power: Real(power),
                further_power: Real(further_power),
                ebn0: Real(ebn0),
                ..
            } => {
                totals.dch_sent += 1;
                totals.dch_soft += u64::from(legs > 1);
                totals.dch_legs += u64::from(legs);
                totals.dch_power += f64::from(power);
                totals.dch_power_max = totals.dch_power_max.max(f64::from(power));
                totals.dch_further_power += f64::from(further_power);
                totals.dch_ebn0_db += ebn0_db(ebn0);
            }
            _ => self.count_users(event),
        }
    }

    /// Adds an event of users of a layout inside the window to the totals: the FACH, changes of cells, SDUs.
    fn count_users(&mut self, event: &TraceEvent) {
        let totals = &mut self.totals;
        match *event {
            TraceEvent::FachSent { ebn0: Real(ebn0), .. } => {
                totals.fach_sent += 1;
                totals.fach_ebn0_db += ebn0_db(ebn0);
            }
            TraceEvent::SccpchSent { power: Real(power), .. } => {
                totals.sccpch_sent += 1;
                totals.sccpch_power += f64::from(power);
            }
            TraceEvent::HsDschSent { power: Real(power), .. } => totals.hs_power += f64::from(power),
            TraceEvent::HsSnr { snr: Real(snr), .. } => {
                totals.hs_served += 1;
                totals.hs_snr_db += ebn0_db(snr);
            }
            TraceEvent::HsCellChanged { queued, in_harq, .. } => {
                totals.hs_cell_changes += 1;
                totals.hs_flushed += u64::from(queued);
                totals.hs_lost += u64::from(in_harq);
            }
            TraceEvent::EPowerSent { power: Real(power), limit, .. } => {
                totals.e_sent += 1;
                totals.e_power += f64::from(power);
                totals.e_new += u64::from(limit.is_some());
                totals.e_power_limited += u64::from(limit == Some(ELimit::Power));
                totals.e_grant_limited += u64::from(limit == Some(ELimit::Grant));
            }
            TraceEvent::EFromOthers { share: Real(share), time, .. } => {
                totals.e_time += time;
                totals.e_from_others += f64::from(share) * time.as_secs();
            }
            TraceEvent::CellUpdateStarted { cause: CellUpdateCause::CellReselection, .. } => {
                totals.cell_reselections += 1;
            }
            TraceEvent::Call { step, .. } => totals.call_steps[step as usize] += 1,
            TraceEvent::DschPostponed { why, .. } => totals.postponed[reason(why)] += 1,
            TraceEvent::Handover { .. } => totals.handovers += 1,
            TraceEvent::HandoverLost { size: Bytes(octets), .. } => totals.handover_lost += octets,
            TraceEvent::SduQueued { direction: Direction::Downlink, size: Bytes(octets), .. } => {
                totals.offered += octets;
            }
            TraceEvent::SduDelivered { direction: Direction::Downlink, size: Bytes(octets), .. } => {
                totals.delivered += octets;
            }
            _ => {}
        }
    }

    /// RLC delivered an SDU of `ue` after `delay`. Adds the difference to the delay of the user's
    /// SDU before it.
    fn delivered(&mut self, at: Time, ue: UeId, delay: Duration) {
        if self.last_delay.len() <= ue.index() {
            self.last_delay.resize(ue.index() + 1, None);
        }
        let previous = self.last_delay[ue.index()].replace(delay);
        if let Some(previous) = previous.filter(|_| self.window.contains(at)) {
            let difference = if delay > previous { delay - previous } else { previous - delay };
            self.totals.delay_steps.add(difference);
        }
    }

    pub fn finish(mut self) -> LayoutTotals {
        self.totals.window = self.window.length();
        self.totals
    }
}

/// Eb/N0 or SNR in dB, at least -60 dB: a UE out of reach receives nothing, and Eb/N0 is 0.
fn ebn0_db(ebn0: f32) -> f64 {
    10.0 * libm::log10(f64::from(ebn0).max(1e-6))
}

/// Index of a reason in [`LayoutTotals::postponed`].
fn reason(why: Postponed) -> usize {
    match why {
        Postponed::Codes => 0,
        Postponed::Power => 1,
        Postponed::LeftOut => 2,
        Postponed::Handover => 3,
    }
}

impl LayoutTotals {
    /// Adds a TTI of a cell, with its power in mW and its load factor.
    fn add_tti(&mut self, power: f64, load: f64) {
        self.ttis += 1;
        self.power += power;
        self.power_db += 10.0 * libm::log10(power);
        self.load += load;
        self.load_squares += load * load;
        self.overloaded += u64::from(load >= 1.0);
    }

    /// Mean over all TTIs of all cells.
    pub fn per_tti(&self, sum: f64) -> Option<f64> {
        (self.ttis > 0).then(|| sum / self.ttis as f64)
    }

    /// Standard deviation (n - 1) of the load factor, in percent.
    pub fn load_deviation_pct(&self) -> Option<f64> {
        let n = self.ttis as f64;
        // Σ(x - mean)² = Σx² - (Σx)² / n
        let squared_deviations = self.load_squares - self.load * self.load / n;
        (self.ttis > 1).then(|| 100.0 * (squared_deviations.max(0.0) / (n - 1.0)).sqrt())
    }

    /// Number of call steps of this kind. `None` if no dedicated channels were recorded.
    pub fn steps(&self, step: CallStep) -> Option<u64> {
        (self.dch_ttis > 0).then(|| self.call_steps[step as usize])
    }

    /// Share of one kind of step in the sum of two kinds, in percent.
    pub fn steps_pct(&self, step: CallStep, other: CallStep) -> Option<f64> {
        let (steps, others) = (self.steps(step)?, self.steps(other)?);
        (steps + others > 0).then(|| 100.0 * steps as f64 / (steps + others) as f64)
    }

    /// Share of `power`, a sum over TTIs of cells in mW, in the power of all cells, in percent.
    /// `None` if no dedicated channels were recorded.
    pub fn power_pct(&self, power: f64) -> Option<f64> {
        (self.dch_ttis > 0 && self.power > 0.0).then(|| 100.0 * power / self.power)
    }

    /// Mean over the TTIs in which users of DCH bearers received power.
    pub fn per_dch(&self, sum: f64) -> Option<f64> {
        (self.dch_sent > 0).then(|| sum / self.dch_sent as f64)
    }

    /// Number of requests, granted or not.
    pub fn requests(&self) -> u64 {
        self.grants + self.postponed.iter().sum::<u64>()
    }

    /// Offered load of a DSCH: SDU bits per time and cell.
    pub fn offered_kbps(&self) -> Option<f64> {
        let seconds = self.window.as_secs() * f64::from(self.cells);
        (seconds > 0.0).then(|| self.offered as f64 * 8.0 / seconds / 1000.0)
    }

    /// Mean supply power of a cell, in watts. Transmit powers are in mW.
    pub fn supply_w(&self) -> Option<f64> {
        Some(self.supply.fixed + self.supply.slope * self.per_tti(self.power)? / 1e3)
    }

    /// Energy drawn by all cells, in joule.
    pub fn energy_j(&self) -> Option<f64> {
        Some(self.supply_w()? * self.cell_seconds())
    }

    /// Energy that the transmissions on the DSCHs add, in joule.
    pub fn dsch_energy_j(&self) -> Option<f64> {
        Some(self.supply.slope * self.per_tti(self.dsch_power)? / 1e3 * self.cell_seconds())
    }

    /// Megabits of SDUs delivered on the DSCHs.
    pub fn dsch_mbit(&self) -> f64 {
        self.delivered as f64 * 8.0 / 1e6
    }

    /// Megabits of SDUs and of calls delivered.
    pub fn mbit(&self) -> f64 {
        let delivered_blocks = self.call_blocks - self.call_blocks_lost;
        self.dsch_mbit() + delivered_blocks as f64 * f64::from(BLOCK_BITS) / 1e6
    }

    /// Length of the window, summed over cells.
    fn cell_seconds(&self) -> f64 {
        self.window.as_secs() * f64::from(self.cells)
    }

    /// Mean difference between the delays of successive SDUs of a user.
    pub fn delay_step_ms(&self) -> Option<f64> {
        self.delay_steps.mean_s().map(|seconds| seconds * 1000.0)
    }
}
