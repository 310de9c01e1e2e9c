//! Super-fields (SUFIs) of a STATUS: TS 25.322 §9.2.2.11. Each begins with a type of four bits. The
//! table shows the fields after the type, with their widths in bits.
//!
//! | type | name | fields |
//! |---|---|---|
//! | 0 | NO_MORE | ends the STATUS |
//! | 1 | WINDOW | WSN 12 |
//! | 2 | ACK | LSN 12; ends the STATUS |
//! | 3 | LIST | LENGTH 4, LENGTH × (SN 12, L 4) |
//! | 4 | BITMAP | LENGTH 4, FSN 12, LENGTH + 1 octets |
//! | 5 | RLIST | LENGTH 4, FSN 12, LENGTH × codeword 4 |
//! | 6 | MRW | LENGTH 4, max(1, LENGTH) × SN_MRW 12, N_LENGTH 4 |
//! | 7 | MRW_ACK | N 4, SN_ACK 12 |
//! | 8 | POLL (Rel-7) | Poll_SN 12 |

mod bitmap;
mod list;
mod mrw;
mod rlist;

pub use bitmap::Bitmap;
pub use list::List;
pub use mrw::Mrw;
pub use rlist::Rlist;

use super::error::{Rule, WireError, take};
use crate::radio::bits::{BitReader, BitWriter};
use crate::radio::rlc::Sn;

/// Bits of a type.
pub(super) const SUFI_TYPE: u32 = 4;

pub(super) mod no_more {
    pub const TYPE: u32 = 0;
}
pub(super) mod ack {
    pub const TYPE: u32 = 2;
}
const WINDOW: u32 = 1;
const LIST: u32 = 3;
const BITMAP: u32 = 4;
const RLIST: u32 = 5;
const MRW: u32 = 6;
const MRW_ACK: u32 = 7;
const POLL: u32 = 8;

/// A SUFI that does not end the STATUS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sufi {
    /// WINDOW: the number of PDUs that the sender may have outstanding. Ignored unless between 1
    /// and the configured size.
    Window(WindowSize),
    /// LIST: runs of missing PDUs.
    List(List),
    /// BITMAP: one bit per consecutive PDU, set if the PDU arrived.
    Bitmap(Bitmap),
    /// RLIST: missing PDUs by their distances.
    Rlist(Rlist),
    /// MRW: discarded SDUs.
    Mrw(Mrw),
    /// MRW_ACK: the receiving window was moved to `sn_ack`.
    MrwAck {
        /// N: N_LENGTH of the MRW if `sn_ack` is its SN_MRW_LENGTH, otherwise 0.
        n: MrwCount,
        /// The new VR(R).
        sn_ack: Sn,
    },
    /// POLL: requests a report of all PDUs below Poll_SN.
    Poll(Sn),
}

/// WSN: 12 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowSize(u16);

impl WindowSize {
    /// A window of `pdus` PDUs, at most 4095.
    pub fn new(pdus: u16) -> Option<Self> {
        (pdus < 1 << 12).then_some(WindowSize(pdus))
    }

    pub fn pdus(self) -> u16 {
        self.0
    }
}

/// N_LENGTH, or N of an MRW_ACK: a number of length indicators, 4 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MrwCount(u8);

impl MrwCount {
    /// `indicators` length indicators, at most 15.
    pub fn new(indicators: u8) -> Option<Self> {
        (indicators < 1 << 4).then_some(MrwCount(indicators))
    }

    pub fn indicators(self) -> u8 {
        self.0
    }
}

impl Sufi {
    /// Parses the fields after type `kind`, which is at `bit`.
    pub(super) fn parse(kind: u32, bit: usize, reader: &mut BitReader<'_>) -> Result<Self, WireError> {
        Ok(match kind {
            WINDOW => Sufi::Window(WindowSize(take(reader, 12)? as u16)),
            LIST => Sufi::List(List::parse(reader)?),
            BITMAP => Sufi::Bitmap(Bitmap::parse(reader)?),
            RLIST => Sufi::Rlist(Rlist::parse(reader)?),
            MRW => Sufi::Mrw(Mrw::parse(reader)?),
            MRW_ACK => Sufi::MrwAck { n: MrwCount(take(reader, 4)? as u8), sn_ack: sn(reader)? },
            POLL => Sufi::Poll(sn(reader)?),
            _ => return Err(Rule::ReservedSufi.at(bit)),
        })
    }

    pub(super) fn emit(&self, writer: &mut BitWriter<'_>) {
        match self {
            Sufi::Window(size) => {
                writer.put(WINDOW, SUFI_TYPE).put(size.0.into(), 12);
            }
            Sufi::List(list) => list.emit(writer.put(LIST, SUFI_TYPE)),
            Sufi::Bitmap(bitmap) => bitmap.emit(writer.put(BITMAP, SUFI_TYPE)),
            Sufi::Rlist(rlist) => rlist.emit(writer.put(RLIST, SUFI_TYPE)),
            Sufi::Mrw(mrw) => mrw.emit(writer.put(MRW, SUFI_TYPE)),
            Sufi::MrwAck { n, sn_ack } => {
                put_sn(writer.put(MRW_ACK, SUFI_TYPE).put(n.0.into(), 4), *sn_ack);
            }
            Sufi::Poll(poll_sn) => put_sn(writer.put(POLL, SUFI_TYPE), *poll_sn),
        }
    }

    /// Size in bits.
    pub fn bits(&self) -> usize {
        SUFI_TYPE as usize
            + match self {
                Sufi::Window(_) | Sufi::Poll(_) => 12,
                Sufi::MrwAck { .. } => 16,
                Sufi::List(list) => list.bits(),
                Sufi::Bitmap(bitmap) => bitmap.bits(),
                Sufi::Rlist(rlist) => rlist.bits(),
                Sufi::Mrw(mrw) => mrw.bits(),
            }
    }
}

fn sn(reader: &mut BitReader<'_>) -> Result<Sn, WireError> {
    Ok(Sn::of(take(reader, 12)?.into()))
}

fn put_sn(writer: &mut BitWriter<'_>, sn: Sn) {
    writer.put(sn.value().into(), 12);
}
