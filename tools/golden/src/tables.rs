//! Digests of the tables of a run. Their rows come in chunks. The digest does not depend on how
//! rows are divided into chunks.

use std::collections::BTreeMap;
use std::fmt::Write;

use blake3::Hasher;
use umts_record::metrics::ConnectionRow;
use umts_record::series::{Column, Table, Values};

use crate::digest::hex;

/// Digest of the rows of connections.
#[derive(Debug, Default)]
pub struct Connections {
    rows: u64,
    hasher: Hasher,
}

impl Connections {
    /// Adds rows after the ones added before.
    pub fn add(&mut self, rows: &[ConnectionRow]) {
        let mut text = String::new();
        for row in rows {
            let ConnectionRow {
                connection,
                transfer,
                leg,
                flow,
                ue,
                opened_s,
                closed_s,
                values: _,
                budget: _,
            } = row;
            let numbers = [connection.0, transfer.0, flow.0, ue.0.into()];
            write!(text, "{numbers:?} {leg:?} {opened_s:?} {closed_s:?}")
                .expect("writing to a string cannot fail");
            for (name, value) in row.metrics().iter() {
                write!(text, " {name} {value:?}").expect("writing to a string cannot fail");
            }
            text.push('\n');
            self.hasher.update(text.as_bytes());
            text.clear();
            self.rows += 1;
        }
    }

    /// Returns the number of rows and their digest.
    pub fn finish(&self) -> String {
        format!("{} rows, {}", self.rows, hex(&self.hasher))
    }
}

/// Digests of time series and of the tables of the time budget, by name.
#[derive(Debug, Default)]
pub struct Series(BTreeMap<&'static str, TableDigest>);

#[derive(Debug, Default)]
struct TableDigest {
    rows: usize,
    /// Each column has a hasher of its own, because the rows of a chunk come column by column.
    columns: Vec<(&'static str, Hasher)>,
}

impl Series {
    /// Adds rows after the ones of the same table.
    pub fn add(&mut self, table: &Table) {
        let digest = self.0.entry(table.name).or_default();
        digest.rows += table.rows();
        for column in &table.columns {
            update(digest.hasher(column), &column.values);
        }
    }

    /// Returns the number of rows and the digest of each table.
    pub fn finish(&self) -> impl Iterator<Item = (&'static str, String)> {
        self.0.iter().map(|(name, digest)| (*name, digest.finish()))
    }
}

impl TableDigest {
    /// Returns the hasher of a column. A new one begins with the column's name, unit and type.
    fn hasher(&mut self, column: &Column) -> &mut Hasher {
        let index = self.columns.iter().position(|(name, _)| *name == column.name).unwrap_or_else(|| {
            let mut hasher = Hasher::new();
            for text in [column.name, column.unit, kind(&column.values)] {
                hash_text(&mut hasher, text);
            }
            self.columns.push((column.name, hasher));
            self.columns.len() - 1
        });
        let (_, hasher) = &mut self.columns[index];
        hasher
    }

    /// Returns the number of rows, and the digest of the columns' digests.
    fn finish(&self) -> String {
        let mut digest = Hasher::new();
        for (_, column) in &self.columns {
            digest.update(column.finalize().as_bytes());
        }
        format!("{} rows, {}", self.rows, hex(&digest))
    }
}

fn kind(values: &Values) -> &'static str {
    match values {
        Values::Float(_) => "float",
        Values::Id(_) => "id",
        Values::OptionalId(_) => "optional id",
        Values::OptionalFloat(_) => "optional float",
        Values::Count(_) => "count",
        Values::Flag(_) => "flag",
        Values::Word(_) => "word",
        Values::Text(_) => "text",
    }
}

/// Hashes values unambiguously: floats by their bits, optional values after a flag, texts after
/// their length.
fn update(hasher: &mut Hasher, values: &Values) {
    let optional = |value: Option<u64>| match value {
        Some(value) => [1, value].map(u64::to_le_bytes).concat(),
        None => 0_u64.to_le_bytes().to_vec(),
    };
    match values {
        Values::Float(values) => hash_all(hasher, values, |value| value.to_bits().to_le_bytes()),
        Values::Id(values) => hash_all(hasher, values, |value| value.to_le_bytes()),
        Values::OptionalId(values) => hash_all(hasher, values, |value| optional(value.map(u64::from))),
        Values::OptionalFloat(values) => hash_all(hasher, values, |value| optional(value.map(f64::to_bits))),
        Values::Count(values) => hash_all(hasher, values, |value| value.to_le_bytes()),
        Values::Flag(values) => hash_all(hasher, values, |value| [u8::from(*value)]),
        Values::Word(values) => values.iter().for_each(|text| hash_text(hasher, text)),
        Values::Text(values) => values.iter().for_each(|text| hash_text(hasher, text)),
    }
}

/// Hashes numbers in one call: BLAKE3 is slow for short inputs.
fn hash_all<V, B: AsRef<[u8]>>(hasher: &mut Hasher, values: &[V], octets: impl Fn(&V) -> B) {
    let mut chunk = Vec::with_capacity(values.len() * size_of::<u64>());
    values.iter().for_each(|value| chunk.extend_from_slice(octets(value).as_ref()));
    hasher.update(&chunk);
}

fn hash_text(hasher: &mut Hasher, text: &str) {
    hasher.update(&(text.len() as u64).to_le_bytes());
    hasher.update(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use umts_record::metrics::MetricSet;
    use umts_stack::ids::{ConnectionId, FlowId, ProxyLeg, UeId};

    use super::*;

    fn table(name: &'static str, unit: &'static str, values: Values) -> Table {
        Table { name: "cwnd", columns: vec![Column { name, unit, values }] }
    }

    fn digest(chunks: &[Table]) -> String {
        let mut series = Series::default();
        chunks.iter().for_each(|chunk| series.add(chunk));
        series.finish().map(|(name, digest)| format!("{name} = {digest}")).collect()
    }

    #[test]
    fn digest_covers_name_unit_type_and_every_bit() {
        let whole = digest(&[table("a", "s", Values::Float(vec![1.0, 0.0]))]);
        assert!(whole.starts_with("cwnd = 2 rows, "), "{whole}");
        let others = [
            table("b", "s", Values::Float(vec![1.0, 0.0])),
            table("a", "", Values::Float(vec![1.0, 0.0])),
            table("a", "s", Values::Float(vec![1.0, -0.0])),
            table("a", "s", Values::Float(vec![1.0_f64.next_up(), 0.0])),
            table("a", "s", Values::Count(vec![1.0_f64.to_bits(), 0])),
        ];
        for other in others {
            assert_ne!(digest(std::slice::from_ref(&other)), whole, "{other:?}");
        }
    }

    #[test]
    fn digest_of_words_and_missing_numbers_is_unambiguous() {
        let words = |words: &[&'static str]| digest(&[table("a", "", Values::Word(words.to_vec()))]);
        assert_ne!(words(&["ab", "c"]), words(&["a", "bc"]));
        let ids = |ids: &[Option<u32>]| digest(&[table("a", "", Values::OptionalId(ids.to_vec()))]);
        assert_ne!(ids(&[None, Some(1)]), ids(&[Some(1), None]));
        assert_ne!(ids(&[None, Some(0)]), ids(&[Some(0), None]));
    }

    #[test]
    fn digest_is_independent_of_chunks() {
        let chunk = |values: &[f64]| table("a", "s", Values::Float(values.to_vec()));
        assert_eq!(
            digest(&[chunk(&[]), chunk(&[1.0]), chunk(&[2.0, 3.0])]),
            digest(&[chunk(&[1.0, 2.0, 3.0])])
        );
    }

    #[test]
    fn digest_covers_every_field_of_a_connection() {
        let row = ConnectionRow {
            connection: ConnectionId(1),
            transfer: ConnectionId(1),
            leg: ProxyLeg::Whole,
            flow: FlowId(2),
            ue: UeId(3),
            opened_s: 0.5,
            closed_s: None,
            values: [Some(4.0), None].into(),
            budget: [("budget_total_s", Some(4.0))].into_iter().collect(),
        };
        let digest = |row: ConnectionRow| {
            let mut connections = Connections::default();
            connections.add(&[row]);
            connections.finish()
        };
        let others = [
            ConnectionRow { connection: ConnectionId(2), ..row.clone() },
            ConnectionRow { transfer: ConnectionId(9), ..row.clone() },
            ConnectionRow { leg: ProxyLeg::Radio, ..row.clone() },
            ConnectionRow { flow: FlowId(1), ..row.clone() },
            ConnectionRow { ue: UeId(1), ..row.clone() },
            ConnectionRow { opened_s: 0.5_f64.next_up(), ..row.clone() },
            ConnectionRow { closed_s: Some(0.0), ..row.clone() },
            ConnectionRow { values: [Some(4.0)].into(), ..row.clone() },
            ConnectionRow { values: [Some(4.0), Some(0.0)].into(), ..row.clone() },
            ConnectionRow { budget: MetricSet::default(), ..row.clone() },
        ];
        assert!(digest(row.clone()).starts_with("1 rows, "));
        for other in others {
            assert_ne!(digest(other.clone()), digest(row.clone()), "{other:?}");
        }
    }
}
