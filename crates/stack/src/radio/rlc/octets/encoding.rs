//! The encoding of a bearer's PDUs as octets. Some options of other simulators have no encoding.

use std::fmt;

use crate::ids::Direction;
use crate::radio::rlc::am::{
    Header, LengthIndicators, MissingPduIndication, MrwAcknowledgment, Piggyback, StatusFormat,
};
use crate::radio::rlc::segmentation::SegmentationRules;
use crate::radio::rlc::um;
use crate::radio::rlc::wire::{AMD_HEADER, AmdFormat, UMD_HEADER, UmdFormat};
use crate::radio::rlc::{RlcConfig, RlcMode};

/// The formats of a bearer's PDUs, equal in both directions unless downlink PDUs have a flexible size.
#[derive(Debug, Clone)]
pub struct Encoding {
    pub(super) mode: Mode,
    pub(super) rules: SegmentationRules,
    pub(super) pdu_octets: usize,
    /// Downlink PDUs of flexible size.
    flexible: Option<FlexiblePdus>,
}

/// PDUs of flexible size.
#[derive(Debug, Clone, Copy)]
struct FlexiblePdus {
    format: AmdFormat,
    rules: SegmentationRules,
    /// Octets of the largest PDU.
    largest: usize,
}

/// A mode of RLC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PduMode {
    /// Acknowledged.
    Am,
    /// Unacknowledged.
    Um,
    /// Transparent.
    Tm,
}

/// The parts of the encoding that depend on the mode.
#[derive(Debug, Clone, Copy)]
pub(super) enum Mode {
    /// `window`: Configured_Tx_Window_Size, in PDUs.
    Am {
        format: AmdFormat,
        reports: StatusFormat,
        window: usize,
    },
    Um(UmdFormat),
    Tm {
        segmentation: bool,
    },
}

/// The keys of the scenario, with their values, that TS 25.322 cannot encode: simplifications of
/// another simulator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoEncoding(pub Vec<&'static str>);

impl fmt::Display for NoEncoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} has no encoding in TS 25.322", self.0.join(", "))
    }
}

impl std::error::Error for NoEncoding {}

impl Encoding {
    /// The encoding of a bearer.
    ///
    /// # Errors
    /// Returns an error if the options have no encoding.
    pub fn of(config: &RlcConfig) -> Result<Self, NoEncoding> {
        match config.mode {
            RlcMode::Am => Self::of_am(config),
            RlcMode::Um => Ok(Self::of_um(config)),
            RlcMode::Tm => Ok(Self::of_tm(config)),
        }
    }

    /// The encoding of a bearer in wire mode, in which receivers use only the received bits.
    ///
    /// # Errors
    /// Returns an error if the options have no encoding, or give a receiver information that no bit
    /// carries.
    pub fn of_wire_mode(config: &RlcConfig) -> Result<Self, NoEncoding> {
        let encoding = Self::of(config)?;
        if config.mode != RlcMode::Am {
            return Ok(encoding);
        }
        refuse_chosen([
            (
                config.mrw_acknowledgment == MrwAcknowledgment::Implicit,
                "rlc.mrw_acknowledgment = \"implicit\"",
            ),
            (
                config.missing_pdu_indication == MissingPduIndication::EveryPdu,
                "rlc.missing_pdu_indication = \"every_pdu\"",
            ),
        ])?;
        Ok(encoding)
    }

    fn of_am(config: &RlcConfig) -> Result<Self, NoEncoding> {
        refuse_chosen([
            (config.header == Header::Uncounted, "rlc.header = \"uncounted\""),
            (config.length_indicators == LengthIndicators::Eurane, "rlc.length_indicators = \"eurane\""),
            (config.status_format == StatusFormat::Eurane, "rlc.status_format = \"eurane\""),
            (config.piggyback == Piggyback::BuildAround, "rlc.piggyback = \"build_around\""),
        ])?;
        let pdu_octets = usize::from(config.pdu_payload.0) + AMD_HEADER;
        let format = AmdFormat::of_size(pdu_octets);
        let mode = Mode::Am { format, reports: config.status_format, window: config.window as usize };
        let rules = config.segmentation_rules(Direction::Uplink);
        let flexible = config.is_flexible(Direction::Downlink).then(|| {
            let largest = usize::from(config.largest_pdu.0);
            let format = AmdFormat { special_he: true, ..AmdFormat::of_size(largest) };
            FlexiblePdus { format, rules: config.segmentation_rules(Direction::Downlink), largest }
        });
        Ok(Encoding { mode, rules, pdu_octets, flexible })
    }

    /// The formats of the PDUs that are sent in direction `sends`.
    pub fn sent_in(&self, sends: Direction) -> Encoding {
        match (&self.mode, self.flexible) {
            (&Mode::Am { reports, window, .. }, Some(FlexiblePdus { format, rules, largest }))
                if sends == Direction::Downlink =>
            {
                let mode = Mode::Am { format, reports, window };
                Encoding { mode, rules, pdu_octets: largest, flexible: self.flexible }
            }
            _ => self.clone(),
        }
    }

    /// Whether these PDUs have the size of their content.
    pub fn is_flexible(&self) -> bool {
        self.rules.is_flexible
    }

    fn of_um(config: &RlcConfig) -> Self {
        let pdu_octets = usize::from(config.pdu_payload.0) + UMD_HEADER;
        Encoding {
            mode: Mode::Um(UmdFormat::of_size(pdu_octets)),
            rules: um::segmentation_rules(config),
            pdu_octets,
            flexible: None,
        }
    }

    fn of_tm(config: &RlcConfig) -> Self {
        let rules = SegmentationRules {
            payload: config.pdu_payload.0,
            length_indicator: 0,
            indicator_rule: LengthIndicators::Ts25322,
            marks_start: false,
            is_flexible: false,
        };
        let mode = Mode::Tm { segmentation: config.tm_segmentation };
        Encoding { mode, rules, pdu_octets: usize::from(config.pdu_payload.0), flexible: None }
    }

    /// The mode of the bearer.
    pub fn pdu_mode(&self) -> PduMode {
        match self.mode {
            Mode::Am { .. } => PduMode::Am,
            Mode::Um(_) => PduMode::Um,
            Mode::Tm { .. } => PduMode::Tm,
        }
    }

    /// Format of AMD PDUs in acknowledged mode.
    pub fn amd_format(&self) -> Option<AmdFormat> {
        if let Mode::Am { format, .. } = self.mode { Some(format) } else { None }
    }

    /// Format of UMD PDUs in unacknowledged mode.
    pub fn umd_format(&self) -> Option<UmdFormat> {
        if let Mode::Um(format) = self.mode { Some(format) } else { None }
    }

    /// Octets of a PDU, or of the largest PDU of flexible size.
    pub fn pdu_octets(&self) -> usize {
        self.pdu_octets
    }

    /// Octets of a length indicator with its extension bit. Zero in transparent mode, which has
    /// none.
    pub fn length_indicator_octets(&self) -> u16 {
        self.rules.length_indicator
    }
}

/// Returns an error with the names of the chosen options, if there are any.
fn refuse_chosen<const N: usize>(options: [(bool, &'static str); N]) -> Result<(), NoEncoding> {
    let chosen: Vec<_> = options.into_iter().filter_map(|(chosen, name)| chosen.then_some(name)).collect();
    if chosen.is_empty() { Ok(()) } else { Err(NoEncoding(chosen)) }
}
