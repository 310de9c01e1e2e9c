//! Interference between the E-DCHs of the cells of a layout.
//!
//! Users are received with the power of the last TTI by all other cells. The noise rise of a cell, which
//! determines the power of its users, contains this interference at once; the scheduler limits grants by the
//! mean over the period of a measurement. Without this mean the schedulers of neighbouring cells would answer
//! each other's changes late, and their grants would oscillate.

use umts_kernel::TraceSink;
use umts_units::{Db, Duration, Time};

use super::MacE;
use super::in_layout::UePower;
use crate::EventContext;
use crate::ids::CellId;
use crate::mac::{Below, CarrierConfig};
use crate::trace::{Real, TraceEvent};
use crate::ue::Ues;

/// Period of a measurement of the received total wideband power (TS 25.133 §9.2.1).
const MEASUREMENT_PERIOD: Duration = Duration::from_millis(100);

fn linear(level_db: f64) -> f64 {
    libm::pow(10.0, level_db / 10.0)
}

/// Power that a cell receives from E-DCH users of other cells.
#[derive(Debug, Default)]
pub(super) struct OtherCells {
    mean_mw: f64,
    updated: Time,
}

impl OtherCells {
    /// Mean power in mW.
    pub fn mean_mw(&self) -> f64 {
        self.mean_mw
    }

    /// The power in mW that `cell` received just before `now`. The mean forgets exponentially.
    pub fn receive(&mut self, now: Time, cell: CellId, ues: &Ues) -> f64 {
        let others = ues.iter().filter(|ue| ue.cell != cell);
        let received = others.filter_map(|ue| Some(ue.e_in_layout.as_ref()?.received_before(now, cell)));
        let received: f64 = received.sum();
        let periods = (now - self.updated).as_secs() / MEASUREMENT_PERIOD.as_secs();
        self.mean_mw += (received - self.mean_mw) * (1.0 - libm::exp(-periods));
        self.updated = now;
        received
    }
}

impl MacE {
    /// Sets the power of each UE in this TTI, as other cells receive it, and records the power of those that
    /// begin a block. A UE without enough power transmits with all that it has.
    pub(super) fn power_ues<T: TraceSink<TraceEvent>>(
        &self,
        ctx: &mut EventContext<'_, T>,
        carrier: &CarrierConfig,
        below: &mut Below<'_>,
    ) {
        let (now, cell, received_mw) = (ctx.cx.now, carrier.cell, self.uplink.received_mw(self.load));
        for (&ue, user) in &self.users {
            let Some(in_layout) = &mut below.ues[ue].e_in_layout else { continue };
            let sent = self.on_air.iter().find(|(sender, _)| *sender == ue).map(|(_, sent)| *sent);
            let Db(of_place) = in_layout.path_loss(cell);
            let path_loss = user.given_path_loss().map_or(of_place, |Db(given)| given);
            let max_mw = linear(user.max_power_dbm());
            let power_of = |ratio| (self.uplink.load(ratio) * received_mw * linear(path_loss)).min(max_mw);
            // Other cells receive a UE with a given path loss in the ratio of the gains of its place.
            let scale = if of_place.is_finite() { linear(of_place - path_loss) } else { 1.0 };
            let [block, dpcch] = [sent.map_or(0.0, |sent| sent.ratio), 0.0].map(power_of);
            let until = sent.map_or(now, |sent| sent.until);
            in_layout.set_power(UePower { from: now, until, block: scale * block, dpcch: scale * dpcch });
            if let Some(sent) = sent.filter(|sent| sent.from == now) {
                let (power, limit) = (Real(block as f32), sent.limit);
                ctx.cx.record(|| TraceEvent::EPowerSent { ue, cell: cell.0, power, limit });
            }
        }
    }
}
