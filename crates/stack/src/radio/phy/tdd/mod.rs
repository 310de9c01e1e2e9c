//! The radio of UMTS-TDD: block errors follow from the interference of simultaneous transmissions.
//!
//! All transmissions of a frame must be known before a loss is decided. Each UE has a power error
//! in each direction ([`estimate`]), transmissions in one slot interfere ([`sir`]), and a block is
//! lost with the probability that its SIR gives ([`LinkCurve`](super::LinkCurve)). Baiocchi and
//! Vacirca (2002), §II.A.

mod estimate;
pub mod layout;
mod sir;

use umts_kernel::random::{AddressedStream, Chance, Streams};

use self::estimate::{Estimate, EstimateLaw};
use self::sir::Interference;
use super::link_curve::{Curve, LinkCurve};
use super::{Lost, independent_losses};
use crate::ids::{Direction, UeId};

/// Transmissions that interfere with each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Interferers {
    /// Transmissions in the same slot, block by block.
    Slot,
    /// All transmissions of the cell in this frame, each user and direction once: equation (1) as
    /// printed.
    Cell,
}

/// Radio parameters of a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TddRadioConfig {
    /// Target SIR of open-loop power control, linear.
    pub sir_target: f64,
    /// Margin that is added to the target, as a linear factor.
    pub margin: f64,
    /// Share of the other users' power that joint detection leaves.
    pub joint_detection: f64,
    /// Standard deviation of the estimation error, in dB.
    pub estimate_sigma_db: f64,
    /// Correlation of the estimation error between successive frames, below 1.
    pub rho: f64,
    pub interferers: Interferers,
    /// Number of terms of a block in the interference sum of equation (1). Limited to its number of
    /// codes.
    pub codes_per_block: u8,
    /// Block error ratio as a function of the SIR.
    pub curve: Curve,
    pub spreading_factor: f64,
}

impl Default for TddRadioConfig {
    /// Table I of Baiocchi and Vacirca (2002). Its variance "10 dB" is interpreted as 10 dB².
    fn default() -> Self {
        TddRadioConfig {
            sir_target: libm::exp10(0.68),
            margin: libm::exp10(0.3),
            joint_detection: 0.1,
            estimate_sigma_db: 3.16,
            rho: 0.5,
            interferers: Interferers::Slot,
            codes_per_block: 1,
            curve: Curve::UnionBound,
            spreading_factor: 16.0,
        }
    }
}

/// One transport block on the air.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlotTransmission {
    /// The UE that sends or receives the block.
    pub ue: UeId,
    pub direction: Direction,
    /// Slot in the frame.
    pub slot: u8,
    /// Number among the blocks of this UE in this frame and direction.
    pub block: u32,
    /// Number of codes.
    pub codes: u8,
}

/// The radio of one cell, with the state of each UE.
#[derive(Debug, Clone)]
pub struct TddRadio {
    config: TddRadioConfig,
    curve: LinkCurve,
    law: EstimateLaw,
    streams: Streams,
    /// By UE and direction.
    users: Vec<Option<User>>,
    interference: Interference,
    /// The frame that was decided last.
    frame: Option<u64>,
    /// The transmissions of `frame`, in the order of their numbers.
    gathered: Vec<Gathered>,
    /// By interferer: a UE and direction with its blocks in a slot, or in the cell.
    reception: Vec<Reception>,
}

/// How the blocks of an interferer are received in a frame.
#[derive(Debug, Clone, Copy)]
struct Reception {
    /// Linear.
    sir: f64,
    /// Probability that a block is lost.
    loss: Chance,
}

/// A transmission of a frame.
#[derive(Debug, Clone, Copy)]
struct Gathered {
    /// Index of its interferer.
    interferer: u16,
    /// Random number to compare with the loss probability.
    draw: u64,
}

/// One UE in one direction.
#[derive(Debug, Clone)]
struct User {
    /// Its error of power control.
    estimate: Estimate,
    /// Draws of the losses of its blocks.
    blocks: AddressedStream,
}

impl TddRadio {
    /// Each UE and direction has its own random streams.
    pub fn new(config: TddRadioConfig, streams: &Streams) -> Self {
        TddRadio {
            config,
            curve: LinkCurve::new(config.curve),
            law: EstimateLaw::new(config.estimate_sigma_db, config.rho),
            streams: *streams,
            users: Vec::new(),
            interference: Interference::default(),
            frame: None,
            gathered: Vec::new(),
            reception: Vec::new(),
        }
    }

    /// Begins frame `frame` with all its transmissions, which interfere with each other.
    pub fn begin_frame(&mut self, frame: u64, all: &[SlotTransmission]) {
        self.gather(frame, all);
        let sirs = self.interference.sirs(&self.config);
        self.reception.clear();
        self.reception.extend(sirs.map(|sir| Reception { sir, loss: self.curve.loss(sir) }));
    }

    /// Decides which of `blocks` transmissions are lost, from number `first` of the frame on.
    #[inline]
    pub fn losses(&self, first: u32, blocks: u32) -> Lost {
        Lost::which(blocks, |block| {
            let sent = &self.gathered[(first + block) as usize];
            self.reception[usize::from(sent.interferer)].loss.is_met(sent.draw)
        })
    }

    /// Linear SIR of each transmission of the last frame, in order.
    pub fn sirs(&self) -> impl Iterator<Item = f64> + '_ {
        self.gathered.iter().map(|sent| self.reception[usize::from(sent.interferer)].sir)
    }

    /// Decides whether an additional transmission of this frame is lost. It suffers interference from
    /// the transmissions of the frame but causes none.
    pub fn losses_beside(&mut self, frame: u64, transmission: &SlotTransmission) -> Lost {
        if self.frame != Some(frame) {
            self.gather(frame, &[]);
        }
        let user = user(&mut self.users, &self.law, &self.streams, transmission);
        let error = user.estimate.error(&self.law, frame);
        let loss = self.curve.loss(self.interference.sir_beside(&self.config, transmission, error));
        independent_losses(user.blocks.tti(frame), transmission.block, 1, loss)
    }

    /// Adds all transmissions of a frame to the interference, and draws their random numbers.
    fn gather(&mut self, frame: u64, all: &[SlotTransmission]) {
        self.frame = Some(frame);
        self.interference.begin();
        self.gathered.clear();
        self.gathered.extend(all.iter().map(|transmission| {
            let user = user(&mut self.users, &self.law, &self.streams, transmission);
            let error = user.estimate.error(&self.law, frame);
            Gathered {
                interferer: self.interference.add(&self.config, transmission, error),
                draw: user.blocks.tti(frame).bits(transmission.block),
            }
        }));
    }
}

/// The user of a transmission. Created at the first transmission.
#[inline]
fn user<'a>(
    users: &'a mut Vec<Option<User>>,
    law: &EstimateLaw,
    streams: &Streams,
    of: &SlotTransmission,
) -> &'a mut User {
    let index = user_index(of);
    if users.get(index).is_none_or(Option::is_none) {
        let length = users.len().max(index + 1);
        users.resize(length, None);
        users[index] = Some(User::new(law, streams, of));
    }
    users[index].as_mut().expect("it was created above")
}

/// Index of the user of a transmission.
#[inline]
fn user_index(transmission: &SlotTransmission) -> usize {
    transmission.ue.index() * 2 + transmission.direction.index()
}

impl User {
    #[cold]
    fn new(law: &EstimateLaw, streams: &Streams, of: &SlotTransmission) -> Self {
        let SlotTransmission { ue, direction, .. } = of;
        let draws =
            |purpose: &str| streams.addressed(&format!("radio/tdd/{purpose}/{direction:?}/ue{}", ue.0));
        User { estimate: Estimate::new(law, draws("estimate")), blocks: draws("blocks") }
    }
}
