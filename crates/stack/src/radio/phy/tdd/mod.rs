//! The radio of UMTS-TDD: block errors that are a result of who else sends.
//!
//! All transmissions of a frame are judged at once. Each UE has an error of its power in each direction ([`estimate`]), those
//! in one slot disturb each other ([`sir`]), and a block is lost with the chance that its SIR gives
//! ([`LinkCurve`](super::LinkCurve)). Baiocchi and Vacirca (2002), §II.A.

mod estimate;
pub mod layout;
mod sir;

use umts_kernel::random::{AddressedStream, Chance, Streams};

use self::estimate::{Estimate, EstimateLaw};
use self::sir::Interference;
use super::link_curve::{Curve, LinkCurve};
use crate::ids::{Direction, UeId};

/// Whose transmissions disturb one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Interferers {
    /// Those of the same slot, block by block: what is not sent at the same time does not disturb.
    Slot,
    /// All of the cell in this frame, each user and direction once: equation (1) as printed.
    Cell,
}

/// The radio of a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TddRadioConfig {
    /// The SIR that open-loop power control is after; linear.
    pub sir_target: f64,
    /// By how much it sends more than that; linear.
    pub margin: f64,
    /// What joint detection leaves of the others' power.
    pub joint_detection: f64,
    /// Deviation of the estimation error, in dB.
    pub estimate_sigma_db: f64,
    /// Its correlation from one frame to the next, below 1.
    pub rho: f64,
    /// Who disturbs whom.
    pub interferers: Interferers,
    /// In how many terms of the sum a block counts, if it has so many codes.
    pub codes_per_block: u8,
    /// The block error ratio at a SIR.
    pub curve: Curve,
    /// The spreading factor of a code.
    pub spreading_factor: f64,
}

impl Default for TddRadioConfig {
    /// Table I of the study, its variance "10 dB" read as 10 dB².
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
    /// The UE to which it goes, or from which it comes.
    pub ue: UeId,
    /// The way it goes.
    pub direction: Direction,
    /// The slot of the frame.
    pub slot: u8,
    /// Its number among all that this UE has in this frame and direction.
    pub block: u32,
    /// The codes that it takes.
    pub codes: u8,
}

/// The radio of one cell, and what it has in mind of each UE.
#[derive(Debug, Clone)]
pub struct TddRadio {
    config: TddRadioConfig,
    curve: LinkCurve,
    law: EstimateLaw,
    streams: Streams,
    /// By UE and direction.
    users: Vec<Option<User>>,
    interference: Interference,
    /// The frame that was judged last.
    frame: Option<u64>,
    /// The transmissions of the frame that was judged last.
    gathered: Vec<Gathered>,
    /// The SIR of each share of it, and the chance that it means.
    shares: Vec<(f64, Chance)>,
}

/// A transmission of a frame.
#[derive(Debug, Clone, Copy)]
struct Gathered {
    /// The number of its share of the interference.
    share: u16,
    /// What is held against the chance that it is lost.
    draw: u64,
}

/// One UE in one direction.
#[derive(Debug, Clone)]
struct User {
    estimate: Estimate,
    blocks: AddressedStream,
}

impl TddRadio {
    /// A radio with draws of its own for each UE and direction.
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
            shares: Vec::new(),
        }
    }

    /// Which of all transmissions of frame number `frame` are lost, one verdict for each in their order.
    pub fn judge(&mut self, frame: u64, all: &[SlotTransmission], lost: &mut Vec<bool>) {
        self.gather(frame, all);
        let sirs = self.interference.sirs(&self.config);
        self.shares.clear();
        self.shares.extend(sirs.map(|sir| (sir, self.curve.loss(sir))));
        lost.clear();
        lost.extend(
            self.gathered.iter().map(|sent| self.shares[usize::from(sent.share)].1.is_met(sent.draw)),
        );
    }

    /// The SIR of each transmission that was judged last, linear, in their order.
    pub fn sirs(&self) -> impl Iterator<Item = f64> + '_ {
        self.gathered.iter().map(|sent| self.shares[usize::from(sent.share)].0)
    }

    /// Whether one more of this frame is lost, which meets those that were judged and disturbs none of them.
    pub fn judge_beside(&mut self, frame: u64, transmission: &SlotTransmission) -> bool {
        if self.frame != Some(frame) {
            self.gather(frame, &[]);
        }
        let user = user(&mut self.users, &self.law, &self.streams, transmission);
        let error = user.estimate.error(&self.law, frame);
        let loss = self.curve.loss(self.interference.sir_beside(&self.config, transmission, error));
        user.blocks.tti(frame).happens(transmission.block, loss)
    }

    fn gather(&mut self, frame: u64, all: &[SlotTransmission]) {
        self.frame = Some(frame);
        self.interference.begin();
        self.gathered.clear();
        self.gathered.extend(all.iter().map(|transmission| {
            let user = user(&mut self.users, &self.law, &self.streams, transmission);
            let error = user.estimate.error(&self.law, frame);
            Gathered {
                share: self.interference.add(&self.config, transmission, error),
                draw: user.blocks.tti(frame).bits(transmission.block),
            }
        }));
    }
}

/// The user of a transmission, who may be new.
#[inline]
fn user<'a>(
    users: &'a mut Vec<Option<User>>,
    law: &EstimateLaw,
    streams: &Streams,
    of: &SlotTransmission,
) -> &'a mut User {
    let place = place(of);
    if users.get(place).is_none_or(Option::is_none) {
        let known = users.len().max(place + 1);
        users.resize(known, None);
        users[place] = Some(User::new(law, streams, of));
    }
    users[place].as_mut().expect("it is there by now")
}

/// Where the user of a transmission stands among all.
#[inline]
fn place(transmission: &SlotTransmission) -> usize {
    transmission.ue.index() * 2 + transmission.direction.index()
}

impl User {
    #[cold]
    fn new(law: &EstimateLaw, streams: &Streams, of: &SlotTransmission) -> Self {
        let draws = |of_what: &str, SlotTransmission { ue, direction, .. }: &SlotTransmission| {
            streams.addressed(&format!("radio/tdd/{of_what}/{direction:?}/ue{}", ue.0))
        };
        User { estimate: Estimate::new(law, draws("estimate", of)), blocks: draws("blocks", of) }
    }
}
