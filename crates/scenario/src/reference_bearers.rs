//! Named reference bearers of the conformance tests: TS 34.108 §6.10.2.4, TS 25.993.
//!
//! The rate of a channel is the RLC payload rate of its largest transport format. Its block is that
//! payload with the headers of RLC and MAC. Sources of uncertain values contain UNSURE.

use umts_units::{BitRate, Bytes, Duration};

use crate::model::{Bearer, Dch};

/// Coding of a transport channel (TS 25.212 §4.2.3). Each block also has a CRC of 16 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coding {
    /// Turbo code of rate 1/3.
    Turbo,
    /// Convolutional code of rate 1/n.
    Convolutional(u32),
}

impl Coding {
    /// The coding as the tables of the standard write it.
    pub fn text(self) -> String {
        match self {
            Coding::Turbo => "turbo 1/3".to_owned(),
            Coding::Convolutional(n) => format!("convolutional 1/{n}"),
        }
    }

    /// Number of encoded bits for `bits` input bits. They are divided into code blocks of equal
    /// size, at most 5114 bits (turbo) or 504 bits (convolutional). A turbo code appends 12 encoded
    /// bits to each block, a convolutional code 8 tail bits before the encoding.
    pub fn coded_bits(self, bits: u32) -> u32 {
        match self {
            Coding::Turbo => {
                let code_blocks = bits.div_ceil(5114);
                code_blocks * (3 * bits.div_ceil(code_blocks.max(1)) + 12)
            }
            Coding::Convolutional(n) => {
                let code_blocks = bits.div_ceil(504);
                n * code_blocks * (bits.div_ceil(code_blocks.max(1)) + 8)
            }
        }
    }
}

/// A transport channel of a reference bearer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReferenceChannel {
    /// DCH, HS-DSCH, E-DCH, FACH or RACH.
    pub channel: &'static str,
    /// Bits of a transport block.
    pub block_bits: u32,
    /// Bits of the block that are headers of the AMD PDU and of MAC.
    pub header_bits: u32,
    /// Transport format set: the possible numbers of blocks in a TTI.
    pub formats: &'static [u32],
    /// Transmission time interval in milliseconds.
    pub tti_ms: u32,
    /// Channel coding.
    pub coding: Coding,
}

impl ReferenceChannel {
    /// Number of blocks in the largest format.
    pub fn max_blocks(&self) -> u32 {
        self.formats.iter().copied().max().expect("a set has a format")
    }

    /// Octets of RLC payload in a block.
    pub fn pdu_payload(&self) -> Bytes {
        Bytes(u64::from(self.block_bits - self.header_bits) / 8)
    }

    /// RLC payload rate at the largest format.
    pub fn rate(&self) -> BitRate {
        let bits = u64::from((self.block_bits - self.header_bits) * self.max_blocks());
        BitRate::from_bps(bits * 1000 / u64::from(self.tti_ms)).expect("a format has a block")
    }

    /// Transmission time interval.
    pub fn tti(&self) -> Duration {
        Duration::from_millis(self.tti_ms.into())
    }

    /// Number of encoded bits in a full TTI.
    pub fn coded_bits(&self) -> u32 {
        self.coding.coded_bits(self.max_blocks() * (self.block_bits + CRC_BITS))
    }

    fn dch(&self) -> Dch {
        // MAC chooses the format of an HS-DSCH and of an E-DCH.
        let transport_formats = if self.channel == "DCH" { self.formats.to_vec() } else { Vec::new() };
        Dch { transport_formats, ..Dch::new(self.rate(), self.tti()) }
    }
}

/// A named bearer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReferenceBearer {
    /// Name, as in `bearer = "ps-384"`.
    pub name: &'static str,
    /// Use and rates of the bearer.
    pub description: &'static str,
    /// Channel from the network to the user.
    pub downlink: ReferenceChannel,
    /// Channel from the user to the network.
    pub uplink: ReferenceChannel,
    /// Category of a UE with this bearer, if its downlink is an HS-DSCH.
    pub hs_dsch_category: Option<u8>,
    /// Category of a UE with this bearer, if its uplink is an E-DCH.
    pub e_dch_category: Option<u8>,
    /// Whether the bearer carries users' packets. Signalling bearers are listed only for their
    /// sizes.
    pub carries_packets: bool,
    /// RLC settings of the bearer, as keys of `[rlc]`. All others keep their defaults.
    pub rlc: &'static str,
    /// Clause of the standard.
    pub source: &'static str,
}

impl ReferenceBearer {
    /// The bearer as a `[[bearer]]`, or `None` if it is not a dedicated bearer for packets.
    fn declared(&self) -> Option<Bearer> {
        let dedicated = matches!(self.downlink.channel, "DCH" | "HS-DSCH") && self.carries_packets;
        dedicated.then(|| Bearer {
            name: self.name.to_owned(),
            downlink: self.downlink.dch(),
            uplink: self.uplink.dch(),
        })
    }
}

/// All reference bearers.
pub fn reference_bearers() -> &'static [ReferenceBearer] {
    &BEARERS
}

/// The dedicated bearers to which users can refer without a `[[bearer]]`.
pub(crate) fn dedicated() -> impl Iterator<Item = (Bearer, &'static ReferenceBearer)> {
    BEARERS.iter().filter_map(|bearer| Some((bearer.declared()?, bearer)))
}

/// Bits of the CRC of a transport block.
const CRC_BITS: u32 = 16;
/// Bits of a transport block of signalling on a DCH.
const SIGNALLING_BLOCK_BITS: u32 = 148;
const DEFAULT_RLC: &str = "pdu_payload = \"40 B\"";
const SIGNALLING_RLC: &str = "pdu_payload = \"16 B\"";
const UNVERIFIED_SOURCE: &str =
    "TS 34.108 §6.10.2.4.1; UNSURE: the existence of this row is from general knowledge";

/// A DCH for packets: AMD PDUs of 336 bits, no MAC header.
const fn packets(formats: &'static [u32], tti_ms: u32, coding: Coding) -> ReferenceChannel {
    ReferenceChannel { channel: "DCH", block_bits: 336, header_bits: 16, formats, tti_ms, coding }
}

/// Signalling on a DCH: AMD PDUs of 144 bits, with a C/T field.
const fn signalling(tti_ms: u32) -> ReferenceChannel {
    let coding = Coding::Convolutional(3);
    ReferenceChannel {
        channel: "DCH",
        block_bits: SIGNALLING_BLOCK_BITS,
        header_bits: 20,
        formats: &[0, 1],
        tti_ms,
        coding,
    }
}

const UPLINK_64: ReferenceChannel = packets(&[0, 1, 2, 3, 4], 20, Coding::Turbo);
const UPLINK_384: ReferenceChannel = packets(&[0, 1, 2, 4, 8, 12], 10, Coding::Turbo);

/// A downlink bearer with 64 kbit/s in the uplink.
const fn with_uplink_64(
    name: &'static str,
    description: &'static str,
    downlink: ReferenceChannel,
) -> ReferenceBearer {
    let (uplink, rlc, source) = (UPLINK_64, DEFAULT_RLC, UNVERIFIED_SOURCE);
    ReferenceBearer {
        name,
        description,
        downlink,
        uplink,
        hs_dsch_category: None,
        e_dch_category: None,
        carries_packets: true,
        rlc,
        source,
    }
}

/// An HS-DSCH with the given uplink. `formats`: PDUs in the largest block of the category.
const fn high_speed(
    name: &'static str,
    description: &'static str,
    category: u8,
    formats: &'static [u32],
    uplink: ReferenceChannel,
) -> ReferenceBearer {
    ReferenceBearer {
        name,
        description,
        downlink: ReferenceChannel { channel: "HS-DSCH", ..packets(formats, 2, Coding::Turbo) },
        uplink,
        hs_dsch_category: Some(category),
        e_dch_category: None,
        carries_packets: true,
        rlc: DEFAULT_RLC,
        source: "TS 34.108 §6.10.2.4.5, TS 25.306 table 5.1a; UNSURE: the rows are from general knowledge",
    }
}

/// A category of UEs with an HS-DSCH or an E-DCH.
struct Category {
    number: u8,
    /// Numbers of PDUs in a block: none, and the PDUs of the largest block of the category.
    formats: &'static [u32],
    tti_ms: u32,
}

/// An HS-DSCH and an E-DCH.
const fn high_speed_both_ways(
    name: &'static str,
    description: &'static str,
    hs_dsch: &Category,
    e_dch: &Category,
) -> ReferenceBearer {
    let e_dch_channel =
        ReferenceChannel { channel: "E-DCH", ..packets(e_dch.formats, e_dch.tti_ms, Coding::Turbo) };
    ReferenceBearer {
        e_dch_category: Some(e_dch.number),
        source: "TS 34.108 §6.10.2.4.6, TS 25.306 tables 5.1a and 5.1g; UNSURE: the rows are from general knowledge",
        ..high_speed(name, description, hs_dsch.number, hs_dsch.formats, e_dch_channel)
    }
}

/// A bearer with the same channel in both directions.
const fn symmetric(
    name: &'static str,
    description: &'static str,
    channel: ReferenceChannel,
    rlc: &'static str,
    source: &'static str,
) -> ReferenceBearer {
    let carries_packets = channel.block_bits > SIGNALLING_BLOCK_BITS;
    ReferenceBearer {
        name,
        description,
        downlink: channel,
        uplink: channel,
        hs_dsch_category: None,
        e_dch_category: None,
        carries_packets,
        rlc,
        source,
    }
}

static BEARERS: [ReferenceBearer; 21] = [
    symmetric(
        "ps-8",
        "interactive or background, 8 kbit/s both ways",
        packets(&[0, 1], 40, Coding::Convolutional(3)),
        DEFAULT_RLC,
        "TS 34.108 §6.10.2.4.1, seen in an excerpt",
    ),
    symmetric(
        "ps-32",
        "interactive or background, 32 kbit/s both ways",
        packets(&[0, 1], 10, Coding::Turbo),
        DEFAULT_RLC,
        UNVERIFIED_SOURCE,
    ),
    symmetric(
        "ps-64",
        "interactive or background, 64 kbit/s both ways",
        UPLINK_64,
        DEFAULT_RLC,
        UNVERIFIED_SOURCE,
    ),
    symmetric(
        "ps-64-li15",
        "64 kbit/s both ways in one block, with 15-bit length indicators",
        ReferenceChannel { block_bits: 1344, ..packets(&[0, 1], 20, Coding::Turbo) },
        "pdu_payload = \"166 B\"",
        "TS 34.108 §6.10.2.4.1, seen in an excerpt; its 64 kbit/s are 66.4 kbit/s of RLC payload",
    ),
    with_uplink_64(
        "ps-128",
        "interactive or background, 128 kbit/s down",
        packets(&[0, 1, 2, 4, 8], 20, Coding::Turbo),
    ),
    with_uplink_64(
        "ps-144",
        "interactive or background, 144 kbit/s down",
        packets(&[0, 1, 2, 4, 9], 20, Coding::Turbo),
    ),
    with_uplink_64(
        "ps-256",
        "interactive or background, 256 kbit/s down",
        packets(&[0, 1, 2, 4, 8], 10, Coding::Turbo),
    ),
    with_uplink_64(
        "ps-384",
        "interactive or background, 384 kbit/s down",
        packets(&[0, 1, 2, 4, 8, 12], 10, Coding::Turbo),
    ),
    with_uplink_64(
        "ps-384-20ms",
        "interactive or background, 384 kbit/s down, TTI of 20 ms",
        packets(&[0, 1, 2, 4, 8, 12, 16, 20, 24], 20, Coding::Turbo),
    ),
    high_speed("hsdpa-1.8", "HS-DSCH of category 12: 1,440 kbit/s down, 384 up", 12, &[0, 9], UPLINK_384),
    high_speed("hsdpa-3.6", "HS-DSCH of category 6: 3,360 kbit/s down, 384 up", 6, &[0, 21], UPLINK_384),
    high_speed("hsdpa-3.6-ul64", "HS-DSCH of category 6: 3,360 kbit/s down, 64 up", 6, &[0, 21], UPLINK_64),
    high_speed("hsdpa-7.2", "HS-DSCH of category 8: 6,720 kbit/s down, 384 up", 8, &[0, 42], UPLINK_384),
    high_speed("hsdpa-14.4", "HS-DSCH of category 10: 11,200 kbit/s down, 384 up", 10, &[0, 70], UPLINK_384),
    high_speed_both_ways(
        "hspa-3.6",
        "HS-DSCH of category 6: 3,360 kbit/s down; E-DCH of category 1: 672 up",
        &Category { number: 6, formats: &[0, 21], tti_ms: 2 },
        &Category { number: 1, formats: &[0, 21], tti_ms: 10 },
    ),
    high_speed_both_ways(
        "hspa-7.2",
        "HS-DSCH of category 8: 6,720 kbit/s down; E-DCH of category 3: 1,376 up",
        &Category { number: 8, formats: &[0, 42], tti_ms: 2 },
        &Category { number: 3, formats: &[0, 43], tti_ms: 10 },
    ),
    high_speed_both_ways(
        "hspa-14.4",
        "HS-DSCH of category 10: 11,200 kbit/s down; E-DCH of category 6, 2 ms: 5,440 up",
        &Category { number: 10, formats: &[0, 70], tti_ms: 2 },
        &Category { number: 6, formats: &[0, 34], tti_ms: 2 },
    ),
    ReferenceBearer {
        name: "common",
        description: "FACH and RACH for packets; the cell sets the rates, these are the defaults",
        downlink: ReferenceChannel {
            channel: "FACH",
            block_bits: 360,
            header_bits: 40,
            formats: &[0, 1],
            tti_ms: 10,
            coding: Coding::Turbo,
        },
        uplink: ReferenceChannel {
            channel: "RACH",
            block_bits: 360,
            header_bits: 40,
            formats: &[1],
            tti_ms: 20,
            coding: Coding::Convolutional(2),
        },
        hs_dsch_category: None,
        e_dch_category: None,
        carries_packets: true,
        rlc: DEFAULT_RLC,
        source: "TS 34.108 §6.10.2.4.3, §6.10.2.4.4; UNSURE: the existence of these rows is from general knowledge",
    },
    symmetric(
        "srb-3.4",
        "signalling on a DCH, named after the 136 bits of an unacknowledged PDU",
        signalling(40),
        SIGNALLING_RLC,
        UNVERIFIED_SOURCE,
    ),
    symmetric(
        "srb-13.6",
        "signalling on a DCH, named after the 136 bits of an unacknowledged PDU",
        signalling(10),
        SIGNALLING_RLC,
        UNVERIFIED_SOURCE,
    ),
    ReferenceBearer {
        name: "srb-common",
        description: "signalling on FACH and RACH",
        downlink: ReferenceChannel {
            channel: "FACH",
            block_bits: 168,
            header_bits: 40,
            formats: &[0, 1, 2],
            tti_ms: 10,
            coding: Coding::Convolutional(2),
        },
        uplink: ReferenceChannel {
            channel: "RACH",
            block_bits: 168,
            header_bits: 40,
            formats: &[1],
            tti_ms: 20,
            coding: Coding::Convolutional(2),
        },
        hs_dsch_category: None,
        e_dch_category: None,
        carries_packets: false,
        rlc: SIGNALLING_RLC,
        source: "TS 34.108 §6.10.2.4.3, §6.10.2.4.4; UNSURE: the coding of the FACH, and the existence of these rows",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    fn bearer(name: &str) -> &'static ReferenceBearer {
        BEARERS.iter().find(|bearer| bearer.name == name).unwrap_or_else(|| panic!("no bearer {name}"))
    }

    #[test]
    fn bearer_rates_match_their_names() {
        let kbps = |name: &str| bearer(name).downlink.rate().bps() / 1000;
        for (name, rate) in [("ps-8", 8), ("ps-32", 32), ("ps-64", 64), ("ps-128", 128), ("ps-144", 144)] {
            assert_eq!(kbps(name), rate, "{name}");
        }
        assert_eq!(
            (kbps("ps-256"), kbps("ps-384"), kbps("ps-384-20ms"), kbps("common")),
            (256, 384, 384, 32)
        );
        assert_eq!(bearer("ps-384").uplink.rate().bps(), 64_000);
        assert_eq!(bearer("common").uplink.rate().bps(), 16_000);
        assert_eq!(bearer("ps-64-li15").downlink.pdu_payload(), Bytes(166));
    }

    /// Computed by hand from TS 25.212 §4.2.2 and §4.2.3. For example, a TTI of `ps-384` has
    /// 12 blocks of 336 + 16 bits = 4,224 bits in one turbo code block: 3 · 4,224 + 12 = 12,684.
    #[test]
    fn full_tti_has_the_encoded_bits_of_the_standard() {
        let down = |name: &str| bearer(name).downlink.coded_bits();
        let table = [
            ("ps-8", 1080),
            ("ps-32", 1068),
            ("ps-64", 4236),
            ("ps-64-li15", 4092),
            ("ps-128", 8460),
            ("ps-144", 9516),
            ("ps-256", 8460),
            ("ps-384", 12_684),
            ("ps-384-20ms", 25_368),
            ("common", 1140),
            ("srb-3.4", 516),
            ("srb-13.6", 516),
            ("srb-common", 752),
        ];
        assert_eq!(table.map(|(name, _)| (name, down(name))), table);
        assert_eq!(
            (bearer("common").uplink.coded_bits(), bearer("srb-common").uplink.coded_bits()),
            (768, 384)
        );
    }

    #[test]
    fn names_are_distinct_and_users_can_name_the_dedicated_ones() {
        let names: std::collections::BTreeSet<_> = BEARERS.iter().map(|bearer| bearer.name).collect();
        assert_eq!(names.len(), BEARERS.len());
        let dedicated: Vec<_> = dedicated().map(|(_, bearer)| bearer.name).collect();
        assert!(dedicated.contains(&"ps-384") && !dedicated.contains(&"common"));
        assert!(
            dedicated.iter().all(|name| ["ps-", "hsdpa-", "hspa-"].iter().any(|kind| name.starts_with(kind)))
        );
    }
}
