//! IP captures for Wireshark, tshark and tcptrace: pcapng with nanosecond timestamps, one capture
//! point per file.
//!
//! Headers are real (IPv4, RFC 791; TCP, RFC 9293; UDP, RFC 768) with correct checksums, computed
//! over a payload of zeros. Packets are truncated after their headers unless
//! [`CaptureConfig::payload`] is set; their original length includes the payload. A reader can
//! check TCP's checksum only if the payload is present.
//!
//! The capture fixes details that the model leaves open. They are the same in every run:
//!
//! - Time zero of a run is 2005-01-01 00:00:00 UTC.
//! - UE n has the address 10.0.0.1 + n, and the server of flow n the address 198.18.0.1 + n (RFC
//!   2544). The server's port is 5001 unless the flow has a port of its own. At the UE connection n
//!   has port 49152 + n mod 16384, and so have the datagrams of flow n. Initial sequence numbers are
//!   hashes of connection and direction.
//! - The IP identification is the packet's number in the run modulo 2^16: different for every packet,
//!   and the same at every capture point. The time to live is always 64, because links count no hops.
//! - Options are as in the segment: maximum segment size, window scale, SACK permitted and blocks,
//!   timestamps (in milliseconds, with an offset for each end). A one-way connection has windows
//!   without a limit, and a window scale if they need one. The model may count fewer octets than
//!   these headers have: for options of a SYN, or for an ns-2 segment without header. If it counts
//!   more, no-operation options fill the header.
//! - Each packet has a comment with information that its ends do not have: its number, the number of
//!   transmissions of its bytes, the reason of a retransmission, and the size that the model counts
//!   if the headers differ.
//!
//! A `one_way` connection (ns-2) opens with a SYN that is answered by a plain acknowledgment, and
//! its data carries no acknowledgment number. tshark shows such data as segments without any flag,
//! and no tool finds a handshake to measure. In the capture the first answer is therefore a
//! SYN+ACK with the initial sequence number, every later segment acknowledges, and the answering
//! side continues at number 1. Times and sizes do not change, except for the options of that
//! SYN+ACK.
//!
//! PDUs are captured too: [`rlc`].

mod file;
mod headers;
pub mod rlc;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;
use umts_kernel::TraceSink;
use umts_stack::ids::{Direction, PacketId};
use umts_stack::packet::{Content, Packet};
use umts_stack::trace::{CapturePoint, SendCause, TraceEvent};
use umts_units::Time;

pub use file::TIME_ZERO;
use file::{CaptureFile, Frame};
use headers::Headers;
pub use headers::{RealPackets, are_simulated};
use pcap_file::DataLink;
use rlc::RlcCaptures;
use umts_stack::detail::Detail;
use umts_stack::radio::rlc::octets::Encoding;

/// Maximum number of retransmissions for which the cause is stored until they have passed all
/// capture points.
const MAX_CAUSES: usize = 4096;

/// A capture could not be written.
#[derive(Debug, Error)]
#[error("cannot write the capture {}: {source}", path.display())]
pub struct CaptureError {
    /// Path of the file.
    pub path: PathBuf,
    /// Error of the operating system.
    pub source: io::Error,
}

/// Configuration of [`Captures`].
#[derive(Debug, Clone)]
pub struct CaptureConfig {
    /// Capture points, with one file each: `server.pcapng`, `proxy-server.pcapng`,
    /// `proxy-radio.pcapng`, `rnc.pcapng`, `ue.pcapng` (all UEs).
    pub points: Vec<CapturePoint>,
    /// Whether to write the payload, which is all zeros.
    pub payload: bool,
    /// PDU formats of the bearers by UE, for bearers with captured PDUs.
    pub bearers: Vec<Option<Encoding>>,
    /// Whether a user has an HS-DSCH or an E-DCH, with frames of the Iub to capture.
    pub has_iub: bool,
    /// Port of the server by flow. Flows that are not listed have port 5001.
    pub server_ports: Vec<u16>,
    /// Access to the packets of real programs, if there are any.
    pub real: Option<RealPackets>,
    /// Whether to capture packets of simulated users.
    pub simulated: bool,
}

impl Default for CaptureConfig {
    fn default() -> Self {
        CaptureConfig {
            points: vec![CapturePoint::Server, CapturePoint::Rnc, CapturePoint::Ue],
            payload: false,
            bearers: Vec::new(),
            has_iub: false,
            server_ports: Vec::new(),
            real: None,
            simulated: true,
        }
    }
}

/// Writes captures.
///
/// Files have temporary names (`server.pcapng.tmp`) until [`Captures::finish`]. Dropping this value
/// earlier removes them. The first error removes all files immediately, which frees disk space for
/// the other results.
#[derive(Debug)]
pub struct Captures {
    files: Vec<(CapturePoint, CaptureFile)>,
    rlc: Option<RlcCaptures>,
    headers: Headers,
    payload: bool,
    simulated: bool,
    causes: BTreeMap<PacketId, SendCause>,
    error: Option<CaptureError>,
}

impl Captures {
    /// Creates the files in `folder`, which must exist.
    ///
    /// # Errors
    /// If a file cannot be created.
    pub fn create(folder: &Path, config: &CaptureConfig) -> Result<Self, CaptureError> {
        let files = config.points.iter().map(|&point| {
            let name = file_name(point);
            Ok((point, CaptureFile::create(folder, name, DataLink::RAW, &[name.to_owned()])?))
        });
        Ok(Captures {
            files: files.collect::<Result<_, _>>()?,
            rlc: RlcCaptures::create(folder, &config.bearers, config.has_iub)?,
            headers: Headers::new(config.real.clone(), config.server_ports.clone()),
            payload: config.payload,
            simulated: config.simulated,
            causes: BTreeMap::new(),
            error: None,
        })
    }

    /// Renames the files to their final names and returns their paths, in the order of the capture
    /// points.
    ///
    /// # Errors
    /// The first error since creation. Nothing was written after it, and no file remains.
    pub fn finish(mut self) -> Result<Vec<PathBuf>, CaptureError> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        // All files are complete on disk before the first one is renamed.
        let rlc_files = self.rlc.take().map_or(Ok(Vec::new()), RlcCaptures::finish)?;
        let mut files: Vec<_> = self.files.drain(..).map(|(_, file)| file).chain(rlc_files).collect();
        for file in &mut files {
            file.complete()?;
        }
        files.into_iter().map(CaptureFile::publish).collect()
    }

    /// Handles the result of a write. After an error nothing more is written.
    fn handle_result(&mut self, written: Result<(), CaptureError>) {
        if let Err(error) = written {
            self.error = Some(error);
            self.files.clear();
            self.rlc = None;
        }
    }

    /// Writes a packet that passes a capture point.
    fn write_packet(&mut self, at: Time, point: CapturePoint, packet: &Packet) -> Result<(), CaptureError> {
        let Some((_, file)) = self.files.iter_mut().find(|(file_point, _)| *file_point == point) else {
            return Ok(());
        };
        let encoded = self.headers.encode(packet);
        let encoded =
            encoded.map_err(|too_long| file.error(io::Error::new(io::ErrorKind::InvalidInput, too_long)))?;
        let comment = encoded.comment(packet, self.causes.get(&packet.id).copied());
        // Real packets already contain their payload.
        let payload = if is_real(packet) { 0 } else { packet.payload() };
        let data = encoded.with_payload(if self.payload { payload } else { 0 });
        let comments = vec![comment];
        file.write(Frame { at, interface: 0, data: &data, length: encoded.length, comments })?;
        let rlc_entry = match packet.direction() {
            Direction::Downlink => CapturePoint::Rnc,
            Direction::Uplink => CapturePoint::Ue,
        };
        if let Some(rlc) = &mut self.rlc
            && point == rlc_entry
        {
            rlc.store_packet(packet, encoded.with_payload(payload));
        }
        Ok(())
    }

    /// Stores the cause of a retransmission or probe, for the comment of its packet.
    fn store_cause(&mut self, packet: PacketId, cause: SendCause) {
        if self.causes.len() == MAX_CAUSES {
            self.causes.pop_first();
        }
        self.causes.insert(packet, cause);
    }
}

impl TraceSink<TraceEvent> for Captures {
    const WANTS_DETAIL: bool = true;

    fn record(&mut self, at: Time, event: &TraceEvent) {
        if self.error.is_some() {
            return;
        }
        match event {
            TraceEvent::SegmentSent {
                packet,
                cause:
                    cause @ (SendCause::DupAck
                    | SendCause::Rto
                    | SendCause::TailLoss
                    | SendCause::KeepAlive
                    | SendCause::WindowProbe),
                ..
            } => {
                self.store_cause(*packet, *cause);
            }
            TraceEvent::ConnectionClosed { connection } | TraceEvent::ConnectionFailed { connection, .. } => {
                self.headers.closed(*connection);
            }
            TraceEvent::PacketCaptured { packet, .. } if !self.simulated && !is_real(packet) => {}
            TraceEvent::PacketCaptured { at: point, packet } => {
                let written = self.write_packet(at, *point, packet);
                self.handle_result(written);
            }
            event => {
                if let Some(rlc) = &mut self.rlc {
                    let written = rlc.record(at, event);
                    self.handle_result(written);
                }
            }
        }
    }

    fn show(&mut self, at: Time, detail: &Detail<'_>) {
        if self.error.is_none()
            && let Some(rlc) = &mut self.rlc
        {
            let written = rlc.show(at, detail);
            self.handle_result(written);
        }
    }
}

/// Whether the packet belongs to a real program.
fn is_real(packet: &Packet) -> bool {
    matches!(packet.content, Content::Foreign(_))
}

/// Name of the file of a capture point, without extension.
fn file_name(point: CapturePoint) -> &'static str {
    match point {
        CapturePoint::Server => "server",
        CapturePoint::ProxyServer => "proxy-server",
        CapturePoint::ProxyRadio => "proxy-radio",
        CapturePoint::Rnc => "rnc",
        CapturePoint::Ue => "ue",
    }
}

#[cfg(test)]
mod tests;
