//! Compressed captures: whole, cut off, damaged, and with contents much larger than the file.

use std::io::{Cursor, Write};
use std::path::Path;

use umts_capture::Analysis;
use umts_capture::reader::{ReadError, ReadOptions, Reason, analyse};

/// Returns an uncompressed capture.
fn capture() -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reports");
    std::fs::read(folder.join("mirror.pcap")).expect("the capture is part of the project")
}

fn read(bytes: &[u8]) -> Result<Analysis, ReadError> {
    analyse(Path::new("packed"), Cursor::new(bytes.to_vec()), bytes.len() as u64, ReadOptions::default())
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).expect("writing to a Vec cannot fail");
    encoder.finish().expect("writing to a Vec cannot fail")
}

fn zstandard(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 3).expect("writing to a Vec cannot fail")
}

fn lz4(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = lz4_flex::frame::FrameEncoder::new(Vec::new());
    encoder.write_all(bytes).expect("writing to a Vec cannot fail");
    encoder.finish().expect("writing to a Vec cannot fail")
}

type Compressor = fn(&[u8]) -> Vec<u8>;

const COMPRESSORS: [Compressor; 3] = [gzip, zstandard, lz4];

#[test]
fn compressed_captures_give_the_same_analysis() {
    let plain = capture();
    let expected = read(&plain).expect("the bytes are a capture");
    for compress in COMPRESSORS {
        assert_eq!(read(&compress(&plain)).expect("the bytes are a capture"), expected);
        // Two consecutive members or frames are one file.
        let (head, tail) = plain.split_at(plain.len() / 3);
        assert_eq!(
            read(&[compress(head), compress(tail)].concat()).expect("the bytes are a capture"),
            expected
        );
    }
}

#[test]
fn truncated_compressed_file_is_analysed_with_a_warning() {
    let plain = capture();
    for compress in COMPRESSORS {
        let compressed = compress(&[&plain[..], &plain[24..], &plain[24..]].concat());
        for part in 1..20 {
            let length = compressed.len() * part / 20;
            match read(&compressed[..length]) {
                Ok(analysis) => {
                    let has_warning = analysis
                        .warnings
                        .iter()
                        .any(|warning| warning.contains("compressed file is cut off"));
                    assert!(has_warning, "{part}: {:?}", analysis.warnings);
                }
                Err(error) => assert!(matches!(error.reason, Reason::NotUnpacked), "{error}"),
            }
        }
    }
}

#[test]
fn damaged_compressed_file_is_analysed_partly_or_refused() {
    let plain = capture();
    for compress in COMPRESSORS {
        let mut compressed = compress(&plain);
        let middle = compressed.len() / 2;
        compressed[middle..middle + 8].copy_from_slice(&[0xff; 8]);
        if let Ok(analysis) = read(&compressed) {
            // The capture has 48 packets.
            assert!(analysis.counts.packets <= 48);
        }
    }
}

#[test]
fn doubly_compressed_files_and_other_contents_are_refused() {
    for compress in COMPRESSORS {
        let twice = read(&gzip(&compress(&capture()))).expect_err("compressed twice");
        assert!(matches!(twice.reason, Reason::Compressed), "{twice}");
        let text =
            read(&compress(b"hello, world: this is a text, and no capture")).expect_err("not a capture");
        assert!(matches!(text.reason, Reason::NoCapture), "{text}");
        let empty = read(&compress(b"")).expect_err("empty");
        assert!(matches!(empty.reason, Reason::Empty), "{empty}");
    }
}

/// A file of 320 MiB of zeros, which are packets without octets, in less than 1 MiB.
#[test]
fn decompression_bomb_is_read_up_to_a_limit() {
    let mut bomb = zstd::Encoder::new(Vec::new(), 1).expect("the level is valid");
    bomb.write_all(&capture()[..24]).expect("writing to a Vec cannot fail");
    let packets = vec![0; 64 << 20];
    for _ in 0..5 {
        bomb.write_all(&packets).expect("writing to a Vec cannot fail");
    }
    let bomb = bomb.finish().expect("writing to a Vec cannot fail");
    assert!(bomb.len() < 1 << 20);
    let analysis = read(&bomb).expect("the file begins like a capture");
    let has_warning = |warning: &String| warning.contains("unpacks to more than a thousand times its size");
    assert!(analysis.warnings.iter().any(has_warning), "{:?}", analysis.warnings);
    // The limit is 256 MiB, and each packet has a header of 16 octets.
    assert!(analysis.counts.packets <= (1 << 28) / 16 + 100_000);
}
