//! How the columns of a table lie in its file.
//!
//! Chosen by the first rows, so that equal tables are equal files. What rises is kept as differences; words, and quantities that come
//! again, whole or in part, stay as they are, where the compressor finds them. All else lies octet by octet, the first octets of all
//! rows beside each other, where it finds most with the fewest instructions; a look into a dictionary takes a hundred for a value.
//! Statistics, page indices and Arrow's own schema are left out: of tables this size they take more room than the values of some of
//! them, and no reader of ours asks for them.

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

/// Level 3 takes a fifth more instructions for one octet in fifty.
const ZSTD_LEVEL: i32 = 1;

/// A table with fewer rows is not compressed: all else of such a file takes less time.
const LEAST_COMPRESSED: usize = 32;

/// So many values tell what a column is like.
const SAMPLE: usize = 256;

/// How the table called `name` is written that begins with these rows, or has no others.
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

/// Each run of a campaign has a table of connections, and zstd sets up some 160 kB for each of its dozens of columns before it
/// compresses the first value: LZ4 takes half the time of the whole file, for a tenth more octets. Of series it makes half as many more.
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
            // One number again and again is all the compressor's own.
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
                // Multiples of a TTI have few ends: not to be torn apart either.
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

/// Whether values stand there so many times on average.
fn repeats(mut sample: Vec<u64>, times: usize) -> bool {
    let all = sample.len();
    sample.sort_unstable();
    sample.dedup();
    times * sample.len() <= all
}
