//! The table `cells`: a row per cell of a layout and second, with means of load and power over the
//! TTIs of the second, and counts of the blocks of calls and of the requests for DSCHs.

use umts_stack::trace::{Real, TraceEvent};
use umts_units::{Duration, Time};

use super::table::{Column, Recorded, Table, Values};

/// Time covered by a row.
const ROW_DURATION: Duration = Duration::from_secs(1);

/// The table under construction.
#[derive(Debug, Default)]
pub(super) struct CellTable {
    rows: Vec<Row>,
    /// Start of the current second.
    begin: Time,
    /// Sums in the current second, by cell.
    sums: Vec<Sums>,
}

#[derive(Debug)]
struct Row {
    at: Time,
    cell: u32,
    sums: Sums,
}

/// Sums over the TTIs of a cell in one second.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    /// Number of TTIs.
    ttis: u32,
    /// Load factors.
    load: f64,
    /// Transmit powers in mW.
    power: f64,
    /// TTIs in which the power was too low for all DCHs.
    limited: u64,
    /// Calls in progress.
    calls: u64,
    /// Blocks sent to calls.
    call_blocks: u64,
    /// Blocks of calls that were lost.
    call_blocks_lost: u64,
    /// Grants on the DSCH.
    grants: u64,
    /// Spreading factors of the grants.
    factors: u64,
    /// Blocks sent in the grants.
    blocks: u64,
    /// Requests that were refused.
    postponed: u64,
}

impl CellTable {
    pub fn record(&mut self, at: Time, event: &TraceEvent) {
        self.write_ended_second(at);
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
                let sums = self.sums_of(cell);
                sums.ttis += 1;
                sums.load += f64::from(load);
                sums.power += f64::from(power);
                sums.limited += u64::from(scaled);
                sums.calls += u64::from(calls);
                sums.call_blocks += u64::from(sent);
                sums.call_blocks_lost += u64::from(lost);
            }
            TraceEvent::DschGranted { cell, sent, spreading_factor, .. } => {
                let sums = self.sums_of(cell);
                sums.grants += 1;
                sums.factors += u64::from(spreading_factor);
                sums.blocks += u64::from(sent);
            }
            TraceEvent::DschPostponed { cell, .. } => self.sums_of(cell).postponed += 1,
            _ => {}
        }
    }

    fn sums_of(&mut self, cell: u16) -> &mut Sums {
        let cell = usize::from(cell);
        if self.sums.len() <= cell {
            self.sums.resize(cell + 1, Sums::default());
        }
        &mut self.sums[cell]
    }

    /// Writes the current second if it has ended at `now`. A second without a TTI has no rows.
    fn write_ended_second(&mut self, now: Time) {
        if now < self.begin + ROW_DURATION {
            return;
        }
        for (cell, sums) in (0..).zip(&mut self.sums) {
            let sums = std::mem::take(sums);
            if sums.ttis > 0 {
                self.rows.push(Row { at: self.begin, cell, sums });
            }
        }
        self.begin = Time::ZERO + ROW_DURATION * ((now - Time::ZERO) / ROW_DURATION);
    }

    /// A column of quantities. `value` computes one from the sums and the number of TTIs.
    fn column(&self, name: &'static str, unit: &'static str, value: impl Fn(&Sums, f64) -> f64) -> Column {
        let values = self.rows.iter().map(|row| value(&row.sums, f64::from(row.sums.ttis))).collect();
        Column::new(name, unit, Values::Float(values))
    }

    /// A column of counts.
    fn counts(&self, name: &'static str, count: impl Fn(&Sums) -> u64) -> Column {
        Column::new(name, "", Values::Count(self.rows.iter().map(|row| count(&row.sums)).collect()))
    }
}

impl Recorded for CellTable {
    fn rows(&self) -> usize {
        self.rows.len()
    }

    /// Returns the finished seconds as a table and removes them.
    fn take(&mut self, now: Time) -> Table {
        // Bounded: the end of the second that contains `Time::NEVER` would overflow.
        self.write_ended_second(now.min(Time::from_nanos(u64::MAX / 2)));
        let mean_spreading_factor =
            |sums: &Sums| (sums.grants > 0).then(|| sums.factors as f64 / sums.grants as f64);
        let rows = &self.rows;
        let columns = vec![
            Column::new("time_s", "s", Values::Float(rows.iter().map(|row| row.at.as_secs()).collect())),
            Column::new("cell", "", Values::Id(rows.iter().map(|row| row.cell).collect())),
            self.column("load_factor_pct", "%", |sums, ttis| 100.0 * sums.load / ttis),
            self.column("power_dbm", "dBm", |sums, ttis| 10.0 * libm::log10(sums.power / ttis)),
            self.column("limited_pct", "%", |sums, ttis| 100.0 * sums.limited as f64 / ttis),
            self.column("calls", "", |sums, ttis| sums.calls as f64 / ttis),
            self.counts("call_blocks", |sums| sums.call_blocks),
            self.counts("call_blocks_lost", |sums| sums.call_blocks_lost),
            self.counts("grants", |sums| sums.grants),
            self.counts("postponed", |sums| sums.postponed),
            self.counts("blocks", |sums| sums.blocks),
            Column::new(
                "mean_sf",
                "",
                Values::OptionalFloat(rows.iter().map(|row| mean_spreading_factor(&row.sums)).collect()),
            ),
        ];
        self.rows.clear();
        Table { name: "cells", columns }
    }
}

#[cfg(test)]
mod tests {
    use umts_stack::ids::UeId;
    use umts_stack::trace::Postponed;

    use super::*;

    #[test]
    fn a_second_of_a_cell_is_a_row() {
        let mut cells = CellTable::default();
        let at = |ms: u64| Time::ZERO + Duration::from_millis(ms);
        let power = |cell, power, load| TraceEvent::CellPower {
            cell,
            power: Real(power),
            load: Real(load),
            calls: 24,
            sent: 48,
            lost: 1,
            scaled: cell == 1,
        };
        // Two TTIs in the first second, one in the next.
        for ms in [0, 20, 1980] {
            cells.record(at(ms), &power(0, 100.0, 0.5));
            cells.record(at(ms), &power(1, if ms == 0 { 1000.0 } else { 3000.0 }, 0.75));
        }
        let ue = UeId(7);
        let granted = TraceEvent::DschGranted {
            ue,
            cell: 1,
            blocks: 4,
            sent: 3,
            spreading_factor: 32,
            wanted: 16,
            code: 8,
            power: Real(10.0),
        };
        cells.record(at(1990), &granted);
        cells.record(at(1990), &TraceEvent::DschPostponed { ue, cell: 0, why: Postponed::Codes });
        let table = cells.take(Time::NEVER);
        assert_eq!(table.column("time_s"), Some(&Values::Float(vec![0.0, 0.0, 1.0, 1.0])));
        assert_eq!(table.column("cell"), Some(&Values::Id(vec![0, 1, 0, 1])));
        assert_eq!(table.column("load_factor_pct"), Some(&Values::Float(vec![50.0, 75.0, 50.0, 75.0])));
        let Some(Values::Float(levels)) = table.column("power_dbm") else { panic!("{table:?}") };
        // Cell 1 in the first second: (1,000 mW + 3,000 mW) / 2 = 2,000 mW = 33.0103 dBm.
        assert!((levels[1] - 33.0103).abs() < 1e-4, "the mean of mW: {levels:?}");
        assert_eq!(table.column("limited_pct"), Some(&Values::Float(vec![0.0, 100.0, 0.0, 100.0])));
        assert_eq!(table.column("call_blocks_lost"), Some(&Values::Count(vec![2, 2, 1, 1])));
        assert_eq!(table.column("mean_sf"), Some(&Values::OptionalFloat(vec![None, None, None, Some(32.0)])));
        assert_eq!(table.column("postponed"), Some(&Values::Count(vec![0, 0, 1, 0])));
        assert_eq!(cells.rows(), 0);
    }
}
