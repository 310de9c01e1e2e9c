//! Compressed captures (gzip, Zstandard and LZ4), decompressed while they are read.
//!
//! Memory is bounded by the windows that the formats allow. Time is bounded by a limit on the size
//! of the content, so that a few octets cannot expand to terabytes.

use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use flate2::bufread::MultiGzDecoder;
use lz4_flex::frame::FrameDecoder;

/// Size of the content, in octets, that is allowed for a file of any size.
const ALWAYS_ALLOWED: u64 = 1 << 28;
/// Maximum ratio of the size of larger contents to the size of the compressed file. Deflate cannot
/// exceed this by much, and captures stay far below it.
const MAX_EXPANSION: u64 = 1000;
/// Base 2 logarithm of the largest window of Zstandard: 128 MiB, the default limit of the zstd
/// program.
const LARGEST_WINDOW: u32 = 27;
const BUFFER: usize = 1 << 16;

/// First octets of each format.
const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTD: [u8; 4] = 0xfd2f_b528_u32.to_le_bytes();
const LZ4: [u8; 4] = 0x184d_2204_u32.to_le_bytes();
const LZ4_LEGACY: [u8; 4] = 0x184c_2102_u32.to_le_bytes();
/// Formats that are not supported: xz, bzip2, compress, zip, 7-Zip.
const OTHERS: [&[u8]; 5] = [b"\xfd7zXZ", b"BZh", b"\x1f\x9d", b"PK\x03\x04", b"7z\xbc\xaf"];

/// A source of octets that can move to another thread.
pub(crate) type Source = Box<dyn Read + Send>;

/// Why decompression ended before the end of the content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    CutOff,
    Damaged,
    /// The content is larger than the size of the file allows.
    TooLarge,
}

/// The compression of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compression {
    Gzip,
    Zstd,
    Lz4,
    /// A format that is not supported.
    Other,
}

impl Compression {
    /// Returns the compression of a file that begins with `head`. `None` if it is not compressed.
    pub fn of(head: &[u8]) -> Option<Self> {
        match head {
            _ if head.starts_with(&GZIP) => Some(Compression::Gzip),
            _ if head.starts_with(&ZSTD) => Some(Compression::Zstd),
            _ if head.starts_with(&LZ4) || head.starts_with(&LZ4_LEGACY) => Some(Compression::Lz4),
            _ if OTHERS.iter().any(|other| head.starts_with(other)) => Some(Compression::Other),
            _ => None,
        }
    }
}

/// The content of a compressed file. It ends at the first fault, which is then in `fault`.
pub(crate) struct Decompressor {
    decoder: Source,
    file: Arc<FileState>,
    produced: u64,
    pub fault: Option<Fault>,
}

impl std::fmt::Debug for Decompressor {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Decompressor").field("produced", &self.produced).finish_non_exhaustive()
    }
}

/// State of reading the compressed file; the decoder owns the file.
#[derive(Debug, Default)]
struct FileState {
    octets: AtomicU64,
    has_failed: AtomicBool,
}

/// The compressed file, which counts the octets that the decoder reads.
struct CountedFile {
    source: Source,
    state: Arc<FileState>,
}

impl Read for CountedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(buffer);
        match &read {
            Ok(octets) => drop(self.state.octets.fetch_add(*octets as u64, Ordering::Relaxed)),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => self.state.has_failed.store(true, Ordering::Relaxed),
        }
        read
    }
}

impl Decompressor {
    /// Decompresses `source`, of which `head` was read before. Returns `None` if the format is not
    /// supported.
    ///
    /// # Errors
    /// The decoder cannot be created.
    pub fn open(compression: Compression, head: &[u8], source: Source) -> io::Result<Option<Self>> {
        let state = Arc::new(FileState::default());
        let whole = Box::new(Cursor::new(head.to_vec()).chain(source));
        let counted = CountedFile { source: whole, state: Arc::clone(&state) };
        let file = BufReader::with_capacity(BUFFER, counted);
        let decoder: Source = match compression {
            Compression::Gzip => Box::new(MultiGzDecoder::new(file)),
            Compression::Zstd => {
                let mut decoder = zstd::stream::read::Decoder::with_buffer(file)?;
                decoder.window_log_max(LARGEST_WINDOW)?;
                Box::new(decoder)
            }
            Compression::Lz4 => Box::new(Lz4Frames(FrameDecoder::new(file))),
            Compression::Other => return Ok(None),
        };
        Ok(Some(Decompressor { decoder, file: state, produced: 0, fault: None }))
    }

    /// Returns the octets of the compressed file that were read.
    pub fn position(&self) -> u64 {
        self.file.octets.load(Ordering::Relaxed)
    }

    /// Ends the content because of a fault.
    fn end(&mut self, fault: Fault) -> io::Result<usize> {
        self.fault = Some(fault);
        Ok(0)
    }
}

impl Read for Decompressor {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.fault.is_some() {
            return Ok(0);
        }
        match self.decoder.read(buffer) {
            Ok(octets) => {
                self.produced += octets as u64;
                let limit = ALWAYS_ALLOWED.max(self.position().saturating_mul(MAX_EXPANSION));
                if self.produced > limit { self.end(Fault::TooLarge) } else { Ok(octets) }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            Err(error) if self.file.has_failed.load(Ordering::Relaxed) => Err(error),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => self.end(Fault::CutOff),
            Err(_) => self.end(Fault::Damaged),
        }
    }
}

/// Consecutive frames of LZ4. The decoder alone ends after each frame.
struct Lz4Frames<R: Read>(FrameDecoder<R>);

impl<R: BufRead> Read for Lz4Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            let octets = self.0.read(buffer)?;
            if octets > 0 || self.0.get_mut().fill_buf()?.is_empty() {
                return Ok(octets);
            }
        }
    }
}
