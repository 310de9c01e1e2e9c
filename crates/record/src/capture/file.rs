//! A pcapng file with a temporary name until it is complete.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::{DataLink, Endianness, PcapError};
use umts_units::Time;

use super::CaptureError;

/// Capture time of the start of a run: 2005-01-01 00:00:00 UTC, since 1970.
pub const TIME_ZERO: std::time::Duration = std::time::Duration::from_secs(1_104_537_600);

/// No limit on the captured length.
const NO_SNAPLEN: u32 = 0;

/// Timestamps count nanoseconds (10^-9 s).
const NANOSECONDS: u8 = 9;

#[derive(Debug)]
pub(super) struct CaptureFile {
    path: PathBuf,
    /// Temporary path, until the file gets its final name.
    temporary: Option<PathBuf>,
    writer: Option<Writer>,
}

/// A packet as written to a file.
pub(super) struct Frame<'a> {
    pub at: Time,
    /// Number of the interface.
    pub interface: u32,
    /// Captured octets.
    pub data: &'a [u8],
    /// Original length in octets.
    pub length: u32,
    /// Information that the ends do not have.
    pub comments: Vec<String>,
}

struct Writer(PcapNgWriter<BufWriter<File>>);

impl std::fmt::Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Writer")
    }
}

impl CaptureFile {
    /// Creates `NAME.pcapng` with these interfaces, all of one link type.
    pub fn create(
        folder: &Path,
        name: &str,
        link: DataLink,
        interfaces: &[String],
    ) -> Result<Self, CaptureError> {
        let path = folder.join(format!("{name}.pcapng"));
        let temporary = folder.join(format!("{name}.pcapng.tmp"));
        let created = File::create(&temporary);
        let temporary = created.is_ok().then_some(temporary);
        let mut file = CaptureFile { path, temporary, writer: None };
        let opened = created.and_then(|created| open(created, link, interfaces));
        file.writer = Some(opened.map_err(|source| file.error(source))?);
        Ok(file)
    }

    /// Writes a packet.
    pub fn write(&mut self, frame: Frame<'_>) -> Result<(), CaptureError> {
        let comments = frame.comments.into_iter();
        let block = EnhancedPacketBlock {
            interface_id: frame.interface,
            timestamp: TIME_ZERO + std::time::Duration::from_nanos(frame.at.as_nanos()),
            original_len: frame.length,
            data: Cow::Borrowed(frame.data),
            options: comments.map(|comment| EnhancedPacketOption::Comment(Cow::Owned(comment))).collect(),
        };
        let Some(Writer(writer)) = &mut self.writer else { return Ok(()) };
        let written = writer.write_pcapng_block(block);
        written.map(|_| ()).map_err(|source| self.error(io_error(source)))
    }

    /// Flushes the file to disk.
    pub fn complete(&mut self) -> Result<(), CaptureError> {
        let Some(Writer(writer)) = self.writer.take() else { return Ok(()) };
        let file = writer.into_inner().into_inner().map_err(io::IntoInnerError::into_error);
        file.and_then(|file| file.sync_all()).map_err(|source| self.error(source))
    }

    /// Renames the file to its final name. Returns the path.
    pub fn publish(mut self) -> Result<PathBuf, CaptureError> {
        if let Some(temporary) = &self.temporary {
            fs::rename(temporary, &self.path).map_err(|source| self.error(source))?;
        }
        self.temporary = None;
        Ok(self.path.clone())
    }

    pub fn error(&self, source: io::Error) -> CaptureError {
        CaptureError { path: self.path.clone(), source }
    }
}

impl Drop for CaptureFile {
    fn drop(&mut self) {
        drop(self.writer.take());
        if let Some(temporary) = &self.temporary {
            // The file is dropped because of an error that the caller already has. A second error
            // about the same folder adds no information.
            let _ = fs::remove_file(temporary);
        }
    }
}

/// Writes the headers of the file: little-endian on every machine, so that a run always gives the
/// same bytes.
fn open(file: File, link: DataLink, interfaces: &[String]) -> io::Result<Writer> {
    let mut writer =
        PcapNgWriter::with_endianness(BufWriter::new(file), Endianness::Little).map_err(io_error)?;
    for name in interfaces {
        let mut interface = InterfaceDescriptionBlock::new(link, NO_SNAPLEN);
        interface.options = vec![
            InterfaceDescriptionOption::IfName(Cow::Borrowed(name)),
            InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
        ];
        writer.write_pcapng_block(interface).map_err(io_error)?;
    }
    writer.get_mut().flush()?;
    Ok(Writer(writer))
}

fn io_error(error: PcapError) -> io::Error {
    match error {
        PcapError::IoError(error) => error,
        other => io::Error::other(other),
    }
}
