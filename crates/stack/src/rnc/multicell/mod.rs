//! The cells of a layout and their common TTI: powers of one are noise in all others, so all of them schedule before any of
//! them transmits (Rendón et al. 2004, §2).
//!
//! ```text
//!   measure       moving UEs are measured every 100 ms and change cells  users.rs, rnc/calls.rs
//!   schedule      cell by cell: the power of the calls, then DSCH users  turn.rs, mac_sh
//!   transmit      all powers are known: RLC is pulled, blocks are judged turn.rs, radio/phy
//! ```
//!
//! Where it is decided each frame, a turn is a frame, and half of the users have half of their TTI before them (phases.rs).
//!
//! Idle users are in none of these: they are looked at when they wake.

mod associated;
mod codes;
mod dchs;
mod legs;
mod phases;
mod ready;
mod steps;
mod turn;
mod users;

use std::collections::VecDeque;
use std::sync::Arc;

use umts_kernel::random::{AddressedStream, Streams};
use umts_units::{Duration, Time};

use self::associated::Associated;
pub use self::associated::AssociatedConfig;
pub use self::codes::{OneTree, WithoutCode};
use self::dchs::Dchs;
use self::phases::TtisInProgress;
use self::ready::Ready;
pub use self::users::Handover;
use self::users::Users;
use crate::environment::{Environment, EnvironmentConfig, MobilityConfig};
use crate::ids::{CellId, UeId};
use crate::radio::phy::LinkTable;
use crate::radio::phy::power_control::{Coupled, Load, PowerConfig, PowerControl, Sent};
use crate::radio::phy::sir::{self, Link};
use crate::rnc::calls::{self, Call, Calls, CallsConfig, RadioLink};
use crate::rnc::mac_sh::{Candidates, MacSh, MacShConfig};
use crate::rnc::rrc::{CompressedMode, SoftHandover};
use crate::scheduling::UserSchedulers;

/// Mobiles are measured each 100 ms, a part of them in each TTI (Rendón et al. 2004, §3.2).
const MEASURED_EACH: Duration = Duration::from_millis(100);

/// All cells of a layout.
#[derive(Debug, Clone)]
pub struct MulticellConfig {
    /// Where they are.
    pub environment: EnvironmentConfig,
    /// What each may send.
    pub power: PowerConfig,
    /// The DSCH of each.
    pub dsch: MacShConfig,
    /// The dedicated channels of each.
    pub dch: DchConfig,
    /// How users change cells.
    pub handover: HandoverConfig,
    /// Calls of each kind.
    pub calls: Vec<CallClassConfig>,
}

/// The dedicated channels of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct DchConfig {
    /// Their codes, if there is a limit.
    pub codes: Option<OneTree>,
    /// The DCH beside a DSCH, where it is charged.
    pub associated: Option<AssociatedConfig>,
}

/// Calls of one kind.
#[derive(Debug, Clone)]
pub struct CallClassConfig {
    /// How they come and go.
    pub calls: CallsConfig,
    /// How the calling UEs move.
    pub mobility: MobilityConfig,
    /// The spreading factor of their codes.
    pub spreading_factor: u16,
    /// The Eb/N0 that power control is after, linear.
    pub target: f64,
    /// The block error ratio at an Eb/N0.
    pub errors: Arc<LinkTable>,
}

/// How users change cells.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HandoverConfig {
    /// By how much another cell must be better, in dB.
    pub hysteresis_db: f64,
    /// How long a user has no turn on the DSCH afterwards.
    pub interruption: Duration,
    /// What becomes of RLC.
    pub rlc: RlcAtHandover,
    /// What becomes of what it has not begun to send.
    pub buffer: BufferAtHandover,
    /// How calls have several cells at a time; none: one, left for another.
    pub soft: Option<SoftHandover>,
    /// Gaps of calls near another cell.
    pub compressed: Option<CompressedMode>,
}

/// What becomes of a user's RLC entities when it changes cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum RlcAtHandover {
    /// They stay as they are: the same RNC serves both cells.
    #[default]
    Kept,
    /// They begin anew; SDUs of which something was sent are lost.
    Reestablished,
}

/// What becomes of the SDUs at the RNC of which nothing was sent when their user changes cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum BufferAtHandover {
    /// They are sent in the new cell.
    #[default]
    Kept,
    /// They are lost, as if each cell had a buffer of its own. What is begun goes on, unless `rlc` begins anew.
    Lost,
}

/// Calls of one kind with their link.
#[derive(Debug)]
struct CallClass {
    calls: Calls,
    mobility: MobilityConfig,
    spreading_factor: u16,
    target: f64,
    errors: Arc<LinkTable>,
    /// Names them among all mobiles.
    names: u64,
    draws: AddressedStream,
}

/// One cell.
#[derive(Debug)]
struct DownlinkCell {
    mac: MacSh,
    /// Users with something to send on its DSCH, in index order.
    ready: Vec<Ready>,
    /// The links of users that have its DSCH in this TTI, as power control knows them.
    links: Vec<Link>,
    /// What each of these is sent, in mW.
    granted: Vec<f64>,
    /// TTIs that began a frame ago, if the DSCH is scheduled every frame.
    in_progress: TtisInProgress,
    /// Load of all UEs that it serves in this TTI, with the interference known so far.
    load: Load,
    /// What it sends.
    sent: Sent,
    used: PowerUse,
}

/// What became of the power of a cell in a TTI.
#[derive(Debug, Clone, Copy, Default)]
struct PowerUse {
    /// How many calls there were, blocks of them, and those that were lost.
    calls: u32,
    sent: u32,
    lost: u32,
    /// Load of all UEs that were sent something, with the actual powers of the TTI.
    load: Load,
    /// Further legs of calls of other cells, DCHs beside the DSCH, and their power in mW.
    further: u32,
    further_power: f64,
    associated: u32,
    associated_power: f64,
    /// Calls that had a gap.
    compressed: u32,
}

/// The cells of a layout at work.
#[derive(Debug)]
pub struct Multicell {
    environment: Environment,
    power: PowerConfig,
    dch: DchConfig,
    handover: HandoverConfig,
    dchs: Dchs,
    users: Users,
    call_classes: Vec<CallClass>,
    cells: Vec<DownlinkCell>,
    /// What each cell sends in this TTI and sent in the one before, in mW.
    powers: Vec<f64>,
    before: Vec<f64>,
    /// Draws of the blocks of the DSCHs.
    blocks: AddressedStream,
    /// The number of the next TTI; where it is decided each frame, of the next frame.
    tti: u64,
    /// In how many phases users of DSCHs are: a power of two.
    tti_phases: u64,
    /// Turns between two measurements of a mobile, and turns in a TTI of a call.
    phases: u64,
    call_ttis: u64,
    /// The DCHs beside DSCHs in this TTI, where they are charged.
    associated: Vec<Associated>,
    /// Users with a grant in this TTI: their RLC was pulled.
    served: Vec<UeId>,
    /// Handovers that UTRAN has not executed yet.
    handovers: VecDeque<Handover>,
    /// Start of the next TTI, and whether its measurements are made.
    next_turn: Time,
    is_measured: bool,
    /// Memory that is used again and again.
    asks: Candidates,
    coupled: Coupled,
}

impl Multicell {
    /// For a network with UEs of which `mobilities` says how they move, `None` for those in no cell of the layout.
    pub fn new(config: &MulticellConfig, mobilities: &[Option<MobilityConfig>], streams: &Streams) -> Self {
        let environment = Environment::new(&config.environment, streams);
        let count = environment.cells();
        let is_ideal = config.power.control == PowerControl::Ideal;
        let turns = |of: Duration| of / config.dsch.interval();
        let class = |(group, of): (usize, &CallClassConfig)| CallClass {
            calls: Calls::new(&of.calls, group, count, streams),
            mobility: of.mobility.clone(),
            spreading_factor: of.spreading_factor,
            target: of.target,
            errors: of.errors.clone(),
            // Above the numbers of all UEs.
            names: (group as u64 + 1) << 32,
            draws: streams.addressed(&format!("calls{group}/blocks")),
        };
        let dsch = Arc::new(config.dsch.clone());
        Multicell {
            users: Users::new(&environment, mobilities, turns(MEASURED_EACH) as usize),
            call_classes: config.calls.iter().enumerate().map(class).collect(),
            cells: (0..count).map(|_| DownlinkCell::new(&dsch, config.power.common)).collect(),
            powers: vec![config.power.common; count],
            before: vec![config.power.common; count],
            power: config.power,
            dch: config.dch,
            handover: config.handover,
            dchs: Dchs::new(config, count),
            blocks: streams.addressed("dsch/blocks"),
            tti: 0,
            tti_phases: config.dsch.phases(),
            phases: turns(MEASURED_EACH),
            call_ttis: turns(calls::TTI),
            associated: Vec::new(),
            served: Vec::new(),
            handovers: VecDeque::new(),
            next_turn: Time::ZERO,
            is_measured: false,
            asks: Candidates::default(),
            coupled: Coupled::new(if is_ideal { count } else { 0 }),
            environment,
        }
    }

    /// The DSCH of each cell is given away by one of these from now on.
    pub fn set_schedulers(&mut self, schedulers: &UserSchedulers) {
        for (number, cell) in self.cells.iter_mut().enumerate() {
            cell.mac.set_scheduler(schedulers.make(CellId(number as u16)));
        }
    }

    /// The TTI of all cells.
    pub fn tti(&self) -> Duration {
        self.cells[0].mac.config().tti
    }

    /// From one turn to the next.
    pub fn interval(&self) -> Duration {
        self.cells[0].mac.config().interval()
    }

    /// The cell that a UE is in.
    pub fn cell_of(&self, ue: UeId) -> Option<CellId> {
        self.users.cell_of(ue)
    }
}

impl DownlinkCell {
    fn new(dsch: &Arc<MacShConfig>, common: f64) -> Self {
        DownlinkCell {
            mac: MacSh::new(dsch.clone()),
            ready: Vec::new(),
            links: Vec::new(),
            granted: Vec::new(),
            in_progress: TtisInProgress::default(),
            load: Load::default(),
            sent: Sent { total: common, factor: 1.0 },
            used: PowerUse::default(),
        }
    }
}

/// The link of a call from its main cell.
#[inline]
fn link(call: &Call, target: f64) -> Link {
    leg_link(call, &call.at.main, target)
}

/// The link of a call from one of its cells: its part of the target.
#[inline]
fn leg_link(call: &Call, leg: &RadioLink, target: f64) -> Link {
    Link {
        processing: sir::CHIP_RATE / calls::RATE,
        target: target * call.loops.target_scale * call.at.raise * leg.share,
        gain: leg.gain,
        interference: leg.interference,
    }
}
