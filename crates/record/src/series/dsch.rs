//! The table `dsch`: a row for every request for a TTI of the DSCHs of a layout, with the grant or
//! the reason of the refusal.

use umts_stack::trace::{Postponed, Real, TraceEvent};
use umts_units::Time;

use super::table::{Column, Recorded, Table, Values};

/// The table under construction.
#[derive(Debug, Default)]
pub(super) struct DschTable {
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    at: Time,
    cell: u16,
    ue: u16,
    fate: &'static str,
    /// `None` if the request was refused.
    granted: Option<Grant>,
}

#[derive(Debug)]
struct Grant {
    /// Blocks that the format can carry.
    blocks: u8,
    /// Blocks that were sent.
    sent: u8,
    /// Spreading factor of the code.
    spreading_factor: u16,
    /// Spreading factor that the user requested.
    wanted: u16,
    /// Number of the code among the codes of this spreading factor.
    code: u16,
    /// Transmit power in mW.
    power: f32,
}

impl DschTable {
    pub fn record(&mut self, at: Time, event: &TraceEvent) {
        let row = match *event {
            TraceEvent::DschGranted {
                ue,
                cell,
                blocks,
                sent,
                spreading_factor,
                wanted,
                code,
                power: Real(power),
            } => {
                let granted = Some(Grant { blocks, sent, spreading_factor, wanted, code, power });
                Row { at, cell, ue: ue.0, fate: "granted", granted }
            }
            TraceEvent::DschPostponed { ue, cell, why } => {
                Row { at, cell, ue: ue.0, fate: reason_name(why), granted: None }
            }
            _ => return,
        };
        self.rows.push(row);
    }

    /// A column with a number of each grant, empty for refused requests.
    fn numbers(&self, name: &'static str, number: impl Fn(&Grant) -> u32) -> Column {
        let values = self.rows.iter().map(|row| row.granted.as_ref().map(&number)).collect();
        Column::new(name, "", Values::OptionalId(values))
    }
}

/// Reason of a postponed request in tables.
fn reason_name(why: Postponed) -> &'static str {
    match why {
        Postponed::Codes => "codes",
        Postponed::Power => "power",
        Postponed::LeftOut => "credit",
        Postponed::Handover => "handover",
    }
}

impl Recorded for DschTable {
    fn rows(&self) -> usize {
        self.rows.len()
    }

    /// Returns the rows as a table and removes them.
    fn take(&mut self, _now: Time) -> Table {
        let rows = &self.rows;
        let power = |row: &Row| row.granted.as_ref().map(|granted| f64::from(granted.power));
        let columns = vec![
            Column::new("time_s", "s", Values::Float(rows.iter().map(|row| row.at.as_secs()).collect())),
            Column::new("cell", "", Values::Id(rows.iter().map(|row| u32::from(row.cell)).collect())),
            Column::new("ue", "", Values::Id(rows.iter().map(|row| u32::from(row.ue)).collect())),
            Column::new("fate", "", Values::Word(rows.iter().map(|row| row.fate).collect())),
            self.numbers("spreading_factor", |granted| u32::from(granted.spreading_factor)),
            self.numbers("code", |granted| u32::from(granted.code)),
            self.numbers("wanted", |granted| u32::from(granted.wanted)),
            self.numbers("blocks", |granted| u32::from(granted.blocks)),
            self.numbers("sent", |granted| u32::from(granted.sent)),
            Column::new("power_mw", "mW", Values::OptionalFloat(rows.iter().map(power).collect())),
        ];
        self.rows.clear();
        Table { name: "dsch", columns }
    }
}

#[cfg(test)]
mod tests {
    use umts_stack::ids::UeId;

    use super::*;

    #[test]
    fn a_request_has_a_code_or_a_reason() {
        let (mut dsch, ue) = (DschTable::default(), UeId(3));
        let granted = TraceEvent::DschGranted {
            ue,
            cell: 2,
            blocks: 16,
            sent: 15,
            spreading_factor: 8,
            wanted: 8,
            code: 6,
            power: Real(250.0),
        };
        dsch.record(Time::ZERO, &granted);
        dsch.record(Time::ZERO, &TraceEvent::DschPostponed { ue, cell: 2, why: Postponed::Power });
        let table = dsch.take(Time::NEVER);
        assert_eq!(table.column("fate"), Some(&Values::Word(vec!["granted", "power"])));
        assert_eq!(table.column("code"), Some(&Values::OptionalId(vec![Some(6), None])));
        assert_eq!(table.column("power_mw"), Some(&Values::OptionalFloat(vec![Some(250.0), None])));
        assert_eq!(dsch.rows(), 0);
    }
}
