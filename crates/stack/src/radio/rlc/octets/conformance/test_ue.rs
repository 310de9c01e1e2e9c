//! The UE under test: the script of a system simulator (SS) exchanges octets with its RLC entity.

use std::sync::Arc;

use umts_units::{Duration, Time};

use crate::Context;
use crate::ids::{Direction, PacketId, UeId};
use crate::radio::phy::Lost;
use crate::radio::rlc::octets::wired::pattern;
use crate::radio::rlc::testing::packet;
use crate::radio::rlc::wire::{AmPdu, AmdFormat, UmdFormat, UmdPdu};
use crate::radio::rlc::{BlockSet, DataRun, IndexRange, Pdu, Rlc, RlcConfig, Sdu, SduEnd, Sn, Status};
use crate::trace::TraceEvent;

/// The RLC entity of the UE, in wire mode, at a time set by the script, and a log of the
/// conversation.
pub struct TestUe {
    rlc: Rlc,
    format: Format,
    now: Time,
    trace: Vec<(Time, TraceEvent)>,
    /// First PDU of the SDU that the peer is sending. The script must state it, because it does not
    /// follow from the bits of the PDUs.
    open_since: Sn,
    /// Log of the conversation, one line per PDU.
    pub lines: Vec<String>,
}

#[derive(Clone, Copy)]
enum Format {
    Am(AmdFormat),
    Um(UmdFormat),
}

/// An SDU that ends in a PDU of the peer.
pub struct EndingSdu {
    id: u64,
    octets: u32,
}

/// SDU `id`, which has `octets` octets.
pub fn ending(id: u64, octets: u32) -> EndingSdu {
    EndingSdu { id, octets }
}

impl TestUe {
    /// A UE in acknowledged mode.
    pub fn am(config: RlcConfig) -> Self {
        let format = AmdFormat::of_size(usize::from(config.pdu_payload.0) + 2);
        TestUe::new(&config.into(), Format::Am(format))
    }

    /// A UE in unacknowledged mode.
    pub fn um(config: RlcConfig) -> Self {
        let format = UmdFormat::of_size(usize::from(config.pdu_payload.0) + 1);
        TestUe::new(&config.into(), Format::Um(format))
    }

    fn new(config: &Arc<RlcConfig>, format: Format) -> Self {
        let rlc = Rlc::wired(UeId(0), Direction::Uplink, config, 128)
            .expect("the bearers of the standard have an encoding");
        let (now, open_since) = (Time::ZERO, Sn::of(0));
        TestUe { rlc, format, now, trace: Vec::new(), open_since, lines: Vec::new() }
    }

    /// Advances the time to `ms`.
    pub fn at(&mut self, ms: u64) -> &mut Self {
        self.now = Time::ZERO + Duration::from_millis(ms);
        self.rlc.handle_timeout(&mut Context::new(self.now, &mut self.trace));
        self
    }

    /// Adds a PDU to the log, in hexadecimal. Zeros at its end are abbreviated.
    fn log(&mut self, sender: &str, octets: &[u8], note: &str) {
        let hex: Vec<String> = octets.iter().map(|octet| format!("{octet:02x}")).collect();
        let zeros = octets.iter().rev().take_while(|octet| **octet == 0).count();
        let shown = if zeros > 3 {
            format!("{} (zeros to {})", hex[..hex.len() - zeros].join(" "), hex.len())
        } else {
            hex.join(" ")
        };
        let ms = self.now.as_nanos() / 1_000_000;
        self.lines.push(format!("{ms:>6} ms  {sender}  {shown}{note}"));
    }

    /// Submits an SDU to the UE's entity, like the loop-back function of a terminal under test.
    pub fn submits(&mut self, id: u64, octets: u32) -> &mut Self {
        let sdu = Sdu::new(packet(id, octets), self.now);
        self.rlc.handle_sdu(&mut Context::new(self.now, &mut self.trace), &sdu).expect("there is room");
        self
    }

    /// PDUs that the UE sends in a TTI with room for `blocks` PDUs.
    pub fn sends(&mut self, blocks: u32) -> Vec<Vec<u8>> {
        let mut set = BlockSet::default();
        self.rlc.poll_transmit(&mut Context::new(self.now, &mut self.trace), blocks, &mut set);
        for pdu in &set.octets {
            self.log("UE  →", pdu, "");
        }
        set.octets
    }

    /// Asserts that the UE sends these PDUs and no others.
    #[track_caller]
    pub fn sends_exactly(&mut self, expected: &[Vec<u8>]) -> &mut Self {
        let sent = self.sends(expected.len() as u32 + 3);
        assert_eq!(sent, expected, "the sent octets");
        self
    }

    /// Asserts that the UE sends no PDU.
    #[track_caller]
    pub fn sends_nothing(&mut self) -> &mut Self {
        self.sends_exactly(&[])
    }

    /// The UE receives a PDU in which no SDU ends.
    pub fn receives(&mut self, octets: Vec<u8>) -> &mut Self {
        self.receives_sdu_ends(octets, &[])
    }

    /// The UE receives a PDU in which these SDUs end. An invalid PDU is discarded.
    pub fn receives_sdu_ends(&mut self, octets: Vec<u8>, ending_sdus: &[EndingSdu]) -> &mut Self {
        match self.describe(&octets, ending_sdus) {
            None => self.log("   ← SS", &octets, "  discarded: it is no PDU"),
            Some(mut set) => {
                self.log("   ← SS", &octets, "");
                set.octets = vec![octets];
                let cx = &mut Context::new(self.now, &mut self.trace);
                self.rlc.handle_blocks(cx, &set, Lost::default());
            }
        }
        self
    }

    /// The block set of a PDU, with the metadata that no bit carries. `None` if the PDU is invalid.
    fn describe(&mut self, octets: &[u8], ending_sdus: &[EndingSdu]) -> Option<BlockSet> {
        let mut set = BlockSet::default();
        let sn = match self.format {
            Format::Am(format) => match AmPdu::parse(octets, format).ok()? {
                AmPdu::Data(pdu) => pdu.sn(),
                AmPdu::Status(_) | AmPdu::Reset(_) => {
                    set.push_control(Pdu::Status(Status::default()));
                    return Some(set);
                }
            },
            // Seven bits of the number are sent. Scripts stay below 128.
            Format::Um(format) => Sn::of(u64::from(UmdPdu::parse(octets, format).ok()?.sn().value())),
        };
        for &EndingSdu { id, octets } in ending_sdus {
            let sdu = Sdu::new(packet(id, octets), self.now);
            set.ends.push(SduEnd { first: self.open_since, sn, sdu });
            self.open_since = sn;
        }
        let run =
            DataRun::new(sn.value().into(), 1, IndexRange { first: 0, after_last: ending_sdus.len() as u16 });
        let pdu = match self.format {
            Format::Am(_) => Pdu::Data(run),
            Format::Um(_) => Pdu::Umd(run),
        };
        set.push_run(pdu, 1);
        Some(set)
    }

    /// States that the peer's next SDU starts in PDU `sn`.
    pub fn peer_sdu_starts_in(&mut self, sn: u64) -> &mut Self {
        self.open_since = Sn::of(sn);
        self
    }

    /// Ids of the SDUs that the UE delivers. Panics if their octets differ from those sent.
    pub fn delivers(&mut self) -> Vec<u64> {
        let delivered: Vec<u64> =
            std::iter::from_fn(|| self.rlc.poll_delivered()).map(|sdu| sdu.packet.id.0).collect();
        if !delivered.is_empty() {
            let ms = self.now.as_nanos() / 1_000_000;
            self.lines.push(format!("{ms:>6} ms  UE hands up SDU {delivered:?}"));
        }
        delivered
    }

    /// Whether an event of this kind was recorded.
    pub fn has_recorded(&self, event: impl Fn(&TraceEvent) -> bool) -> bool {
        self.trace.iter().any(|(_, recorded)| event(recorded))
    }

    /// Re-establishes the UE's entity, as if RRC had ordered it at both ends.
    pub fn reestablishes(&mut self) -> &mut Self {
        self.rlc.reestablish(&mut Context::new(self.now, &mut self.trace));
        self.lines.push("           RRC re-establishes RLC".to_owned());
        self
    }
}

/// The `octets` octets of SDU `id`, a pattern that depends on the id.
pub fn sdu(id: u64, octets: usize) -> Vec<u8> {
    pattern(PacketId(id), octets)
}
