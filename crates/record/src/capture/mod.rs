//! IP captures for Wireshark, tshark and tcptrace: pcapng with nanosecond stamps, one capture point per file.
//!
//! Headers are real (IPv4, RFC 791; TCP, RFC 9293; UDP, RFC 768) with right checksums, computed over a payload of zeros. The payload
//! itself is left out unless [`CaptureConfig::payload`] asks for it: packets are cut behind their headers, and their
//! original length says what they had. A reader can check TCP's checksum only where the payload is there.
//!
//! What the model leaves open is fixed here, the same in every run:
//!
//! - Time zero of a run is 2005-01-01 00:00:00 UTC.
//! - UE n has the address 10.0.0.1 + n, the server of flow n 198.18.0.1 + n (RFC 2544), port 5001 if it has none of its own; connection n
//!   has port 49152 + n mod 16384 at the UE, and so have the datagrams of flow n. Initial sequence numbers are hashes of connection and direction.
//! - The IP identification is the packet's number in the run modulo 2^16: fresh for every packet, and the same at
//!   every capture point. The time to live is 64 everywhere, since links count no hops.
//! - Options are those of the segment: maximum segment size, window scale, SACK permitted and blocks, timestamps (in
//!   milliseconds, each end's from a number of its own). A one-way connection, whose windows have no bound, has a window
//!   scale if they need one. The model may charge less than these headers: options of a SYN, or an ns-2 segment without
//!   header. Where it charges more than there is, no-operation options fill the header up.
//! - Each packet has a comment with what its ends cannot know: its number, how often its bytes were sent, why they
//!   were sent again, and the size that the model charged where the headers differ.
//!
//! A `one_way` connection (ns-2) opens with a SYN that is answered by a plain acknowledgment, and its data carry no
//! acknowledgment number. tshark shows such data as segments without any flag, and no reader finds a handshake to
//! measure. So in the capture the first answer is a SYN+ACK with the initial sequence number, every later segment
//! acknowledges, and the answering side goes on at number 1. Times and sizes are untouched, but for the options of that
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

/// Retransmissions whose cause is remembered until they have passed all capture points.
const REMEMBERED: usize = 4096;

/// A capture could not be written.
#[derive(Debug, Error)]
#[error("cannot write the capture {}: {source}", path.display())]
pub struct CaptureError {
    /// The file.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

/// What to capture.
#[derive(Debug, Clone)]
pub struct CaptureConfig {
    /// Where; one file each: `server.pcapng`, `proxy-server.pcapng`, `proxy-radio.pcapng`, `rnc.pcapng`, `ue.pcapng` (all UEs).
    pub points: Vec<CapturePoint>,
    /// Whether to write the payload, which is all zeros.
    pub payload: bool,
    /// By UE, the formats of its bearer's PDUs, if these are to be captured.
    pub bearers: Vec<Option<Encoding>>,
    /// By flow, the port at which its server listens; 5001 of flows that are not among them.
    pub server_ports: Vec<u16>,
    /// The packets of real programs, if there are any among the others.
    pub real: Option<RealPackets>,
    /// Whether packets of simulated users are captured too.
    pub simulated: bool,
}

impl Default for CaptureConfig {
    fn default() -> Self {
        CaptureConfig {
            points: vec![CapturePoint::Server, CapturePoint::Rnc, CapturePoint::Ue],
            payload: false,
            bearers: Vec::new(),
            server_ports: Vec::new(),
            real: None,
            simulated: true,
        }
    }
}

/// Writes captures.
///
/// Files have temporary names (`server.pcapng.tmp`) until [`Captures::finish`]; whoever drops this before leaves none
/// behind. At the first error all are gone at once, so that the room they took is free for the rest of the results.
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
    /// Opens the files in `folder`, which exists.
    ///
    /// # Errors
    /// If one of them cannot be made.
    pub fn create(folder: &Path, config: &CaptureConfig) -> Result<Self, CaptureError> {
        let files = config.points.iter().map(|&point| {
            let name = name(point);
            Ok((point, CaptureFile::create(folder, name, DataLink::RAW, &[name.to_owned()])?))
        });
        Ok(Captures {
            files: files.collect::<Result<_, _>>()?,
            rlc: RlcCaptures::create(folder, &config.bearers)?,
            headers: Headers::new(config.real.clone(), config.server_ports.clone()),
            payload: config.payload,
            simulated: config.simulated,
            causes: BTreeMap::new(),
            error: None,
        })
    }

    /// Gives the files their names and returns them, in the order of the capture points.
    ///
    /// # Errors
    /// The first error since the files were made; nothing was written after it, and no file remains.
    pub fn finish(mut self) -> Result<Vec<PathBuf>, CaptureError> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        // All are complete on the disk before the first gets its name.
        let of_rlc = self.rlc.take().map_or(Ok(Vec::new()), RlcCaptures::finish)?;
        let mut files: Vec<_> = self.files.drain(..).map(|(_, file)| file).chain(of_rlc).collect();
        for file in &mut files {
            file.complete()?;
        }
        files.into_iter().map(CaptureFile::publish).collect()
    }

    /// Something was to be written. After an error nothing is.
    fn wrote(&mut self, written: Result<(), CaptureError>) {
        if let Err(error) = written {
            self.error = Some(error);
            self.files.clear();
            self.rlc = None;
        }
    }

    /// A packet passes a capture point.
    fn see(&mut self, at: Time, point: CapturePoint, packet: &Packet) -> Result<(), CaptureError> {
        let Some((_, file)) = self.files.iter_mut().find(|(of, _)| *of == point) else { return Ok(()) };
        let encoded = self.headers.encode(packet);
        let encoded =
            encoded.map_err(|too_long| file.error(io::Error::new(io::ErrorKind::InvalidInput, too_long)))?;
        let comment = encoded.comment(packet, self.causes.get(&packet.id).copied());
        // Real packets have their payload already.
        let payload = if is_real(packet) { 0 } else { packet.payload() };
        let data = encoded.with_payload(if self.payload { payload } else { 0 });
        let comments = vec![comment];
        file.write(Frame { at, interface: 0, data: &data, length: encoded.length, comments })?;
        let enters_rlc = match packet.direction() {
            Direction::Downlink => CapturePoint::Rnc,
            Direction::Uplink => CapturePoint::Ue,
        };
        if let Some(rlc) = &mut self.rlc
            && point == enters_rlc
        {
            rlc.packet_at_hand(packet, encoded.with_payload(payload));
        }
        Ok(())
    }

    fn remember(&mut self, packet: PacketId, cause: SendCause) {
        if self.causes.len() == REMEMBERED {
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
                self.remember(*packet, *cause);
            }
            TraceEvent::ConnectionClosed { connection } | TraceEvent::ConnectionFailed { connection, .. } => {
                self.headers.closed(*connection);
            }
            TraceEvent::PacketCaptured { packet, .. } if !self.simulated && !is_real(packet) => {}
            TraceEvent::PacketCaptured { at: point, packet } => {
                let written = self.see(at, *point, packet);
                self.wrote(written);
            }
            event => {
                if let Some(rlc) = &mut self.rlc {
                    let written = rlc.record(at, event);
                    self.wrote(written);
                }
            }
        }
    }

    fn show(&mut self, at: Time, detail: &Detail<'_>) {
        if self.error.is_none()
            && let Some(rlc) = &mut self.rlc
        {
            let written = rlc.show(at, detail);
            self.wrote(written);
        }
    }
}

/// Of a real program.
fn is_real(packet: &Packet) -> bool {
    matches!(packet.content, Content::Foreign(_))
}

fn name(point: CapturePoint) -> &'static str {
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
