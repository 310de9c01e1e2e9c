//! Encodings of the columns of a Parquet file.
//!
//! The first rows decide, so that equal tables give equal files. Increasing numbers are stored as
//! differences. Words, and quantities with repeated values or lower halves, are stored plainly,
//! because the compressor finds the repetitions. All other columns are stored as byte streams: the
//! first bytes of all rows, then the second bytes, and so on. This compresses best with the fewest
//! instructions; a dictionary takes a hundred instructions per value.
//!
//! Statistics, page indices and Arrow's schema are omitted. In tables of this size they take more
//! space than the values of some tables, and the readers of this project do not use them.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};
use parquet::schema::types::ColumnPath;
use umts_record::CHUNK_ROWS;

use crate::tables::CONNECTIONS;

const ROWS_PER_GROUP: usize = 100_000;

/// Level 3 takes 20 % more instructions and saves 2 % of the bytes.
const ZSTD_LEVEL: i32 = 1;

/// Tables with fewer rows are not compressed: writing the rest of such a file takes less time than
/// compression.
const LEAST_COMPRESSED: usize = 32;

/// Number of values that decide the encoding of a column.
const SAMPLE: usize = 256;

/// Returns the writer options of table `name`. `first` contains its first rows.
pub fn options(name: &str, first: &RecordBatch) -> ArrowWriterOptions {
    let mut properties = WriterProperties::builder()
        .set_dictionary_enabled(false)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true)
        .set_max_row_group_row_count(Some(ROWS_PER_GROUP))
        .set_write_batch_size(CHUNK_ROWS);
    if first.num_rows() >= LEAST_COMPRESSED {
        properties = properties.set_compression(compression(name));
        for (field, values) in first.schema().fields().iter().zip(first.columns()) {
            properties = laid_out(properties, ColumnPath::from(field.name().as_str()), values.as_ref());
        }
    }
    ArrowWriterOptions::new().with_properties(properties.build()).with_skip_arrow_metadata(true)
}

/// Compression of table `name`. Each run of a campaign has a table of connections, and zstd
/// initialises about 160 kB for each of its dozens of columns. LZ4 halves the time of the whole
/// file and adds 10 % to its size. For series LZ4 would add 50 %.
fn compression(name: &str) -> Compression {
    if name == CONNECTIONS {
        return Compression::LZ4_RAW;
    }
    Compression::ZSTD(ZstdLevel::try_new(ZSTD_LEVEL).expect("zstd has this level"))
}

fn laid_out(
    properties: WriterPropertiesBuilder,
    column: ColumnPath,
    values: &dyn Array,
) -> WriterPropertiesBuilder {
    let octet_by_octet = Encoding::BYTE_STREAM_SPLIT;
    match values.data_type() {
        DataType::UInt32 => {
            let sample = sampled(values.as_primitive::<UInt32Type>().values(), u64::from);
            let is_one = sample.iter().all(|value| *value == sample[0]);
            // The compressor alone handles a constant column.
            if is_one { properties } else { properties.set_column_encoding(column, octet_by_octet) }
        }
        DataType::UInt64 => {
            let sample = sampled(values.as_primitive::<UInt64Type>().values(), |value| value);
            let encoding = if repeats(sample, 2) { octet_by_octet } else { Encoding::DELTA_BINARY_PACKED };
            properties.set_column_encoding(column, encoding)
        }
        DataType::Float64 => {
            let sample = sampled(values.as_primitive::<Float64Type>().values(), f64::to_bits);
            let are_whole = sample.iter().all(|bits| f64::from_bits(*bits).fract() == 0.0);
            let comes_again = || {
                // Multiples of a TTI have few different lower halves: they are stored plainly too.
                repeats(sample.clone(), 2) || repeats(sample.iter().copied().map(low_half).collect(), 3)
            };
            if !are_whole && comes_again() {
                properties
            } else {
                properties.set_column_encoding(column, octet_by_octet)
            }
        }
        _ => properties,
    }
}

fn sampled<T: Copy>(values: &[T], bits: impl Fn(T) -> u64) -> Vec<u64> {
    values.iter().take(SAMPLE).map(|value| bits(*value)).collect()
}

fn low_half(bits: u64) -> u64 {
    bits & u64::from(u32::MAX)
}

/// Whether each value occurs at least `times` times on average.
fn repeats(mut sample: Vec<u64>, times: usize) -> bool {
    let all = sample.len();
    sample.sort_unstable();
    sample.dedup();
    times * sample.len() <= all
}
