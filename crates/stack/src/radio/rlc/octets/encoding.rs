//! The formats of a bearer's PDUs as octets, if its options have an encoding.

use std::fmt;

use crate::radio::rlc::am::{
    Header, LengthIndicators, MissingPduIndication, MrwAcknowledgment, Piggyback, StatusFormat,
};
use crate::radio::rlc::buffer::Cutting;
use crate::radio::rlc::um;
use crate::radio::rlc::wire::{AMD_HEADER, AmdFormat, UMD_HEADER, UmdFormat};
use crate::radio::rlc::{RlcConfig, RlcMode};

/// The formats of a bearer's PDUs, equal in both directions.
#[derive(Debug, Clone)]
pub struct Encoding {
    pub(super) mode: Mode,
    pub(super) cutting: Cutting,
    pub(super) pdu_octets: usize,
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
    Am { format: AmdFormat, reports: StatusFormat, window: usize },
    Um(UmdFormat),
    Tm { segmentation: bool },
}

/// Keys of the scenario with options of another simulator that no bits can express.
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

    /// The encoding of a bearer in wire mode. In this mode receivers use only bits.
    ///
    /// # Errors
    /// Returns an error if the options have no encoding, or give a receiver information that no bit
    /// carries.
    pub fn of_wire_mode(config: &RlcConfig) -> Result<Self, NoEncoding> {
        let encoding = Self::of(config)?;
        if config.mode != RlcMode::Am {
            return Ok(encoding);
        }
        named([
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
        named([
            (config.header == Header::Uncounted, "rlc.header = \"uncounted\""),
            (config.length_indicators == LengthIndicators::Eurane, "rlc.length_indicators = \"eurane\""),
            (config.status_format == StatusFormat::Eurane, "rlc.status_format = \"eurane\""),
            (config.piggyback == Piggyback::BuildAround, "rlc.piggyback = \"build_around\""),
        ])?;
        let pdu_octets = usize::from(config.pdu_payload.0) + AMD_HEADER;
        let format = AmdFormat::of_size(pdu_octets);
        let mode = Mode::Am { format, reports: config.status_format, window: config.window as usize };
        Ok(Encoding { mode, cutting: config.cutting(), pdu_octets })
    }

    fn of_um(config: &RlcConfig) -> Self {
        let pdu_octets = usize::from(config.pdu_payload.0) + UMD_HEADER;
        Encoding { mode: Mode::Um(UmdFormat::of_size(pdu_octets)), cutting: um::cutting(config), pdu_octets }
    }

    fn of_tm(config: &RlcConfig) -> Self {
        let cutting = Cutting {
            payload: config.pdu_payload.0,
            length_indicator: 0,
            rule: LengthIndicators::Ts25322,
            marks_start: false,
        };
        let mode = Mode::Tm { segmentation: config.tm_segmentation };
        Encoding { mode, cutting, pdu_octets: usize::from(config.pdu_payload.0) }
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

    /// Octets of a PDU.
    pub fn pdu_octets(&self) -> usize {
        self.pdu_octets
    }

    /// Octets of a length indicator with its extension bit. Zero in transparent mode, which has
    /// none.
    pub fn length_indicator_octets(&self) -> u16 {
        self.cutting.length_indicator
    }
}

/// Returns the chosen options without an encoding as an error, if there are any.
fn named<const N: usize>(options: [(bool, &'static str); N]) -> Result<(), NoEncoding> {
    let chosen: Vec<_> = options.into_iter().filter_map(|(chosen, name)| chosen.then_some(name)).collect();
    if chosen.is_empty() { Ok(()) } else { Err(NoEncoding(chosen)) }
}
