//! A capture in time: the course of every connection and what its data begin with, in one pass over the file.
//!
//! It is for captures of both sides of a proxy. Connections whose addresses do not tell that they belong together have
//! octets in common.

use std::fs::File;
use std::ops::ControlFlow;
use std::path::Path;

use crate::analyser::{Analyser, Analysis};
use crate::blocks::{Blocks, Ending};
use crate::link::LinkType;
use crate::packet::{Packet, parse};
use crate::reader::{ReadError, Reason, damage};

/// Progress is told once for so many octets.
const STEP: u64 = 8 << 20;

/// Analyses a file with the course of every connection, in memory; `progress` is told the part that is read, and may stop.
///
/// # Errors
/// As [`analyse_file`](crate::reader::analyse_file), but for standard input.
pub fn analyse_courses(
    path: &Path,
    progress: &mut dyn FnMut(f64) -> ControlFlow<()>,
) -> Result<Analysis, ReadError> {
    let error = |offset: u64, reason: Reason| ReadError { path: path.to_owned(), offset, reason };
    let file = File::open(path).map_err(|source| error(0, source.into()))?;
    let size = file.metadata().map_err(|source| error(0, source.into()))?.len();
    let mut blocks = Blocks::open(file).map_err(|reason| error(0, reason))?;
    let mut analyser = Analyser::new().with_all_time_sequences();
    let mut told = 0;
    let ending: Ending = loop {
        let ended = blocks.next(|captured| {
            let mut packet = Packet::default();
            let read = parse(captured.link, captured.bytes, captured.length, &mut packet);
            if read.is_ok() {
                analyser.show(payload(captured.link, captured.bytes, &packet));
            }
            analyser.read(captured.time, captured.length, read, &packet);
        });
        if let Some(ending) = ended.map_err(|source| error(blocks.offset(), source.into()))? {
            break ending;
        }
        if blocks.offset() - told >= STEP {
            told = blocks.offset();
            if progress((told as f64 / size.max(1) as f64).min(1.0)).is_break() {
                return Err(error(told, Reason::Stopped));
            }
        }
    };
    let warnings: Vec<String> =
        damage(ending, blocks.offset()).into_iter().chain(blocks.warnings()).collect();
    let mut analysis = analyser.finish();
    analysis.warnings.splice(0..0, warnings);
    Ok(analysis)
}

/// What was captured of the payload of a packet that could be read.
fn payload<'a>(link: LinkType, bytes: &'a [u8], packet: &Packet) -> &'a [u8] {
    let Ok(ip) = link.ip_of(bytes) else { return &[] };
    let half =
        |at: usize| ip.get(at..at + 2).map_or(0, |two| usize::from(u16::from_be_bytes([two[0], two[1]])));
    let end = match (ip.first().map(|first| first >> 4), half(2), half(4)) {
        (Some(4), total @ 1.., _) => total,
        (Some(6), _, length @ 1..) => 40 + length,
        // A length of zero: captured before the network card divided it into packets.
        _ => ip.len(),
    };
    let start = end.saturating_sub(packet.segment.payload as usize);
    ip.get(start..end.min(ip.len())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A segment over IPv4 with so many octets of options and this payload, behind an Ethernet header or not, and padded.
    fn packet(link: LinkType, options: usize, payload: &[u8]) -> Vec<u8> {
        let mut bytes = match link {
            LinkType::Ethernet => [&[0; 12][..], &[8, 0]].concat(),
            _ => Vec::new(),
        };
        let total = (40 + options + payload.len()) as u16;
        bytes.extend([0x45, 0]);
        bytes.extend(total.to_be_bytes());
        bytes.extend([0, 0, 0, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        bytes.extend([
            0,
            1,
            0,
            2,
            0,
            0,
            0,
            9,
            0,
            0,
            0,
            7,
            (5 + options as u8 / 4) << 4,
            0x10,
            1,
            1,
            0,
            0,
            0,
            0,
        ]);
        bytes.extend(vec![1; options]);
        bytes.extend(payload);
        bytes
    }

    #[test]
    fn payload_is_what_the_headers_leave_and_no_padding() {
        for link in [LinkType::Ethernet, LinkType::Raw] {
            for (options, content) in [(0, &b"octets"[..]), (12, b"octets"), (12, b"")] {
                let mut bytes = packet(link, options, content);
                bytes.extend([0; 9]);
                let mut found = Packet::default();
                parse(link, &bytes, bytes.len() as u32, &mut found).expect("it is right");
                assert_eq!(payload(link, &bytes, &found), content);
                let cut = &bytes[..bytes.len() - 9 - content.len() / 2];
                parse(link, cut, bytes.len() as u32, &mut found).expect("it is right");
                assert_eq!(payload(link, cut, &found), &content[..content.len() - content.len() / 2]);
            }
        }
    }
}
