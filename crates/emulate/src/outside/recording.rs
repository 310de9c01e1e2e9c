//! Recording of the packets that enter an emulation: a pcapng file with one interface per port and
//! timestamps in the time of the run.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter};
use std::path::{Path, PathBuf};
use std::time::Duration as StdDuration;

use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::{Block, PcapNgReader, PcapNgWriter};
use pcap_file::{DataLink, PcapError};
use umts_units::Time;

use crate::clock::wall_clock::Arrival;
use crate::devices::port::Behind;
use crate::devices::tun::MTU;

/// A recording being written. At the first error the file is removed, so that its disk space is
/// available to other results.
pub struct Recording {
    path: PathBuf,
    writer: io::Result<PcapNgWriter<BufWriter<File>>>,
}

impl Recording {
    /// Creates a file with one interface per port.
    ///
    /// # Errors
    /// An error of creating the file.
    pub fn create(path: &Path, behind: Behind) -> io::Result<Self> {
        let mut writer = PcapNgWriter::new(BufWriter::new(File::create(path)?)).map_err(io::Error::other)?;
        for port in 0..behind.ports() {
            let name = behind.name_of(port);
            let block = InterfaceDescriptionBlock {
                linktype: DataLink::RAW,
                snaplen: u32::from(MTU),
                // Resolution of nanoseconds. Time zero is the start of the run.
                options: vec![
                    InterfaceDescriptionOption::IfName(Cow::Owned(name)),
                    InterfaceDescriptionOption::IfTsResol(9),
                ],
            };
            writer.write_pcapng_block(block).map_err(io::Error::other)?;
        }
        Ok(Recording { path: path.to_owned(), writer: Ok(writer) })
    }

    /// Records a packet. [`finish`](Self::finish) returns the first error.
    pub fn record(&mut self, at: Time, arrival: &Arrival) {
        let Ok(writer) = &mut self.writer else { return };
        let block = EnhancedPacketBlock {
            interface_id: arrival.port as u32,
            timestamp: StdDuration::from_nanos(at.as_nanos()),
            original_len: arrival.bytes.len() as u32,
            data: Cow::Borrowed(&arrival.bytes),
            options: Vec::new(),
        };
        if let Err(error) = writer.write_pcapng_block(block) {
            self.writer = Err(match error {
                PcapError::IoError(error) => error,
                other => io::Error::other(other),
            });
            remove(&self.path);
        }
    }

    /// Completes the file.
    ///
    /// # Errors
    /// The first error since the file was created.
    pub fn finish(self) -> io::Result<()> {
        let written = self.writer.and_then(|writer| {
            writer.into_inner().into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
        });
        written.inspect_err(|_| remove(&self.path))
    }
}

/// Removes an incomplete file. Errors are ignored, because the caller already reports one.
fn remove(path: &Path) {
    let _ = fs::remove_file(path);
}

/// Reads the packets of a recording in order.
///
/// # Errors
/// An error with the reason if the file is not a recording with at most `ports` ports.
pub fn read(path: &Path, ports: usize) -> io::Result<Vec<(Time, Arrival)>> {
    let wrong = |why: String| io::Error::new(io::ErrorKind::InvalidData, why);
    let mut reader = PcapNgReader::new(BufReader::new(File::open(path)?))
        .map_err(|error| wrong(format!("this is not a pcapng file: {error}")))?;
    let mut arrivals: Vec<(Time, Arrival)> = Vec::new();
    while let Some(block) = reader.next_block() {
        let place = arrivals.len() + 1;
        let Block::EnhancedPacket(packet) =
            block.map_err(|error| wrong(format!("packet {place}: {error}")))?
        else {
            continue;
        };
        let port = packet.interface_id as usize;
        if port >= ports {
            return Err(wrong(format!("packet {place} belongs to port {port}, but there are {ports} ports")));
        }
        let nanos = u64::try_from(packet.timestamp.as_nanos());
        let at = Time::from_nanos(nanos.map_err(|_| wrong(format!("packet {place} has an invalid time")))?);
        if arrivals.last().is_some_and(|&(last, _)| last > at) {
            return Err(wrong(format!("packet {place} is earlier than the packet before it")));
        }
        arrivals.push((at, Arrival::bare(port, packet.data.into_owned())));
    }
    Ok(arrivals)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded_packets_are_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("packets.pcapng");
        let arrivals: Vec<(Time, Arrival)> = (0..50_u64)
            .map(|n| {
                (
                    Time::from_nanos(n * n * 1_000_003),
                    Arrival::bare(n as usize % 3, vec![n as u8; n as usize]),
                )
            })
            .collect();
        let mut recording = Recording::create(&path, Behind::ues(2)).unwrap();
        arrivals.iter().for_each(|(at, arrival)| recording.record(*at, arrival));
        recording.finish().unwrap();
        assert_eq!(read(&path, 3).unwrap(), arrivals);
        assert_eq!(
            read(&path, 2).unwrap_err().to_string(),
            "packet 3 belongs to port 2, but there are 2 ports"
        );
    }

    #[test]
    fn other_file_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("packets.pcapng");
        std::fs::write(&path, b"not a recording").unwrap();
        assert!(read(&path, 1).unwrap_err().to_string().starts_with("this is not a pcapng file"));
    }
}
