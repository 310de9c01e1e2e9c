//! An exchange between the script of the system simulator and one entity, as octets.

use std::sync::Arc;

use umts_units::{Duration, Time};

use crate::Context;
use crate::ids::{Direction, PacketId, UeId};
use crate::radio::phy::Lost;
use crate::radio::rlc::octets::wired::pattern;
use crate::radio::rlc::testing::packet;
use crate::radio::rlc::wire::{AmPdu, AmdFormat, UmdFormat, UmdPdu};
use crate::radio::rlc::{BlockSet, DataRun, Pdu, Rlc, RlcConfig, Sdu, SduEnd, Sn, Status};
use crate::trace::TraceEvent;

/// The terminal's entity, and a log of the exchange.
pub struct Talk {
    rlc: Rlc,
    format: Format,
    now: Time,
    trace: Vec<(Time, TraceEvent)>,
    /// First PDU of the peer's SDU that continues.
    open_since: Sn,
    /// Log of the exchange, one line per PDU.
    pub lines: Vec<String>,
}

#[derive(Clone, Copy)]
enum Format {
    Am(AmdFormat),
    Um(UmdFormat),
}

/// An SDU that ends in a PDU of the peer: its number and its octets.
pub type Ending = (u64, u32);

impl Talk {
    /// With an entity of acknowledged mode.
    pub fn am(config: RlcConfig) -> Self {
        let format = AmdFormat::of_size(usize::from(config.pdu_payload.0) + 2);
        Talk::new(&config.into(), Format::Am(format))
    }

    /// With an entity of unacknowledged mode.
    pub fn um(config: RlcConfig) -> Self {
        let format = UmdFormat::of_size(usize::from(config.pdu_payload.0) + 1);
        Talk::new(&config.into(), Format::Um(format))
    }

    fn new(config: &Arc<RlcConfig>, format: Format) -> Self {
        let rlc = Rlc::wired(UeId(0), Direction::Uplink, config, 128)
            .expect("the bearers of the standard have one");
        let (now, open_since) = (Time::ZERO, Sn::of(0));
        Talk { rlc, format, now, trace: Vec::new(), open_since, lines: Vec::new() }
    }

    /// Advances the time to `ms`.
    pub fn at(&mut self, ms: u64) -> &mut Self {
        self.now = Time::ZERO + Duration::from_millis(ms);
        self.rlc.handle_timeout(&mut Context::new(self.now, &mut self.trace));
        self
    }

    fn say(&mut self, who: &str, octets: &[u8], what: &str) {
        let hex: Vec<String> = octets.iter().map(|octet| format!("{octet:02x}")).collect();
        let zeros = octets.iter().rev().take_while(|octet| **octet == 0).count();
        let shown = if zeros > 3 {
            format!("{} (zeros to {})", hex[..hex.len() - zeros].join(" "), hex.len())
        } else {
            hex.join(" ")
        };
        let ms = self.now.as_nanos() / 1_000_000;
        self.lines.push(format!("{ms:>6} ms  {who}  {shown}{what}"));
    }

    /// Queues an SDU at the terminal, as its loop-back does.
    pub fn queues(&mut self, id: u64, octets: u32) -> &mut Self {
        let sdu = Sdu::new(packet(id, octets), self.now);
        self.rlc.handle_sdu(&mut Context::new(self.now, &mut self.trace), &sdu).expect("there is room");
        self
    }

    /// PDUs that the terminal sends in a TTI with room for `blocks` PDUs.
    pub fn sends(&mut self, blocks: u32) -> Vec<Vec<u8>> {
        let mut set = BlockSet::default();
        self.rlc.poll_transmit(&mut Context::new(self.now, &mut self.trace), blocks, &mut set);
        for pdu in &set.octets {
            self.say("UE  →", pdu, "");
        }
        set.octets
    }

    /// Expects these PDUs and no others.
    #[track_caller]
    pub fn sends_just(&mut self, expected: &[Vec<u8>]) -> &mut Self {
        let sent = self.sends(expected.len() as u32 + 3);
        assert_eq!(sent, expected, "the sent octets");
        self
    }

    /// Expects no PDU.
    #[track_caller]
    pub fn is_silent(&mut self) -> &mut Self {
        self.sends_just(&[])
    }

    /// Sends a PDU in which no SDU ends to the terminal.
    pub fn hears(&mut self, octets: Vec<u8>) -> &mut Self {
        self.hears_ending(octets, &[])
    }

    /// Sends a PDU in which these SDUs end to the terminal. Invalid PDUs are discarded by the
    /// decoder.
    pub fn hears_ending(&mut self, octets: Vec<u8>, ending: &[Ending]) -> &mut Self {
        match self.described(&octets, ending) {
            None => self.say("   ← SS", &octets, "  discarded: it is no PDU"),
            Some(mut set) => {
                self.say("   ← SS", &octets, "");
                set.octets = vec![octets];
                let cx = &mut Context::new(self.now, &mut self.trace);
                self.rlc.handle_blocks(cx, &set, Lost::default());
            }
        }
        self
    }

    /// The block set of a PDU, for the information that no bit carries.
    fn described(&mut self, octets: &[u8], ending: &[Ending]) -> Option<BlockSet> {
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
        for &(id, size) in ending {
            set.ends.push(SduEnd { first: self.open_since, sn, sdu: Sdu::new(packet(id, size), self.now) });
            self.open_since = sn;
        }
        let run = DataRun::new(sn.value().into(), 1, (0, ending.len() as u16));
        let pdu = match self.format {
            Format::Am(_) => Pdu::Data(run),
            Format::Um(_) => Pdu::Umd(run),
        };
        set.push_run(pdu, 1);
        Some(set)
    }

    /// The peer's next SDU begins in PDU `sn`.
    pub fn peer_begins_in(&mut self, sn: u64) -> &mut Self {
        self.open_since = Sn::of(sn);
        self
    }

    /// The SDUs that the terminal delivers. Each must have the octets that were sent.
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
    pub fn saw(&self, event: impl Fn(&TraceEvent) -> bool) -> bool {
        self.trace.iter().any(|(_, recorded)| event(recorded))
    }

    /// RLC is re-established, as RRC orders at both ends.
    pub fn is_reestablished(&mut self) -> &mut Self {
        self.rlc.reestablish(&mut Context::new(self.now, &mut self.trace));
        self.lines.push("           RRC re-establishes RLC".to_owned());
        self
    }
}

/// Octets of SDU number `id`.
pub fn sdu(id: u64, octets: usize) -> Vec<u8> {
    pattern(PacketId(id), octets)
}
