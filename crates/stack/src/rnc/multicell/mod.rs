//! The cells of a layout and their common TTI. The power of each cell is interference in all others,
//! so all cells schedule before any of them transmits (Rendón et al. 2004, §2).
//!
//! ```text
//!   measure       moving UEs are measured every 100 ms and change cells  users.rs, rnc/calls.rs
//!   schedule      cell by cell: the power of the calls, then DSCH users  turn.rs, mac_sh
//!   transmit      all powers are known: RLC is pulled, blocks are judged turn.rs, radio/phy
//! ```
//!
//! If the DSCH is scheduled every frame, a turn is a frame: half of the users are then in the middle
//! of their TTI (phases.rs).
//!
//! Idle users take no part in these steps until they have data.

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

/// Interval of the measurements of a mobile. A part of the mobiles is measured in each TTI (Rendón et al. 2004, §3.2).
const MEASURED_EACH: Duration = Duration::from_millis(100);

/// All cells of a layout.
#[derive(Debug, Clone)]
pub struct MulticellConfig {
    /// Sites, propagation and borders.
    pub environment: EnvironmentConfig,
    /// Power limits of each cell.
    pub power: PowerConfig,
    /// The DSCH of each cell.
    pub dsch: MacShConfig,
    /// The dedicated channels of each cell.
    pub dch: DchConfig,
    /// How users change cells.
    pub handover: HandoverConfig,
    /// Calls of each kind.
    pub calls: Vec<CallClassConfig>,
}

/// The dedicated channels of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct DchConfig {
    /// Limit of codes. `None`: no limit.
    pub codes: Option<OneTree>,
    /// The DCH of each DSCH user. `None`: it needs neither codes nor power.
    pub associated: Option<AssociatedConfig>,
}

/// Calls of one kind.
#[derive(Debug, Clone)]
pub struct CallClassConfig {
    /// Arrivals and lengths.
    pub calls: CallsConfig,
    /// How the calling UEs move.
    pub mobility: MobilityConfig,
    /// The spreading factor of their codes.
    pub spreading_factor: u16,
    /// Target Eb/N0 of power control, linear.
    pub target: f64,
    /// The block error ratio at an Eb/N0.
    pub errors: Arc<LinkTable>,
}

/// How users change cells.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HandoverConfig {
    /// Hysteresis of cell selection in dB.
    pub hysteresis_db: f64,
    /// Time after a handover in which the user is not scheduled on the DSCH.
    pub interruption: Duration,
    /// Whether RLC is kept.
    pub rlc: RlcAtHandover,
    /// Whether SDUs are kept of which nothing was sent.
    pub buffer: BufferAtHandover,
    /// Soft handover of calls. `None`: a call has one cell at a time.
    pub soft: Option<SoftHandover>,
    /// Gaps of calls near another cell.
    pub compressed: Option<CompressedMode>,
}

/// Treatment of a user's RLC entities at a change of cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum RlcAtHandover {
    /// They stay as they are: the same RNC serves both cells.
    #[default]
    Kept,
    /// They are re-established: SDUs of which a part was sent are lost.
    Reestablished,
}

/// Treatment of SDUs at the RNC of which nothing was sent before their user changed cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum BufferAtHandover {
    /// They are sent in the new cell.
    #[default]
    Kept,
    /// They are lost, as if each cell had a buffer of its own. SDUs of which a part was sent are
    /// continued unless `rlc` is re-established.
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
    /// First mobile identity of this class.
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
    /// Transmit power of each of these links in mW.
    granted: Vec<f64>,
    /// TTIs that began a frame ago, if the DSCH is scheduled every frame.
    in_progress: TtisInProgress,
    /// Load of all UEs that it serves in this TTI, with the interference known so far.
    load: Load,
    /// Total transmit power.
    sent: Sent,
    used: PowerUse,
}

/// Use of the power of a cell in a TTI.
#[derive(Debug, Clone, Copy, Default)]
struct PowerUse {
    /// Calls, their blocks, and lost blocks.
    calls: u32,
    sent: u32,
    lost: u32,
    /// Load of all UEs that the cell transmitted to, with the actual powers of the TTI.
    load: Load,
    /// Soft-handover legs of calls of other cells, associated DCHs, and their powers in mW.
    further: u32,
    further_power: f64,
    associated: u32,
    associated_power: f64,
    /// Calls with a gap of compressed mode.
    compressed: u32,
}

/// The MAC of all cells of a layout.
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
    /// Transmit power of each cell in this TTI and in the previous one, in mW.
    powers: Vec<f64>,
    before: Vec<f64>,
    /// Draws of the blocks of the DSCHs.
    blocks: AddressedStream,
    /// Number of the next turn: a TTI, or a frame if the DSCH is scheduled every frame.
    tti: u64,
    /// Number of turns in a TTI of the DSCH: a power of two.
    tti_phases: u64,
    /// Turns between two measurements of a mobile, and turns in a TTI of a call.
    phases: u64,
    call_ttis: u64,
    /// Associated DCHs in this TTI, if they need codes and power.
    associated: Vec<Associated>,
    /// Users with a grant in this TTI: their RLC was pulled.
    served: Vec<UeId>,
    /// Handovers that UTRAN has not executed yet.
    handovers: VecDeque<Handover>,
    /// Start of the next TTI, and whether its measurements are made.
    next_turn: Time,
    is_measured: bool,
    /// Buffers that are used again in each TTI.
    asks: Candidates,
    coupled: Coupled,
}

impl Multicell {
    /// `mobilities` has the movement of each UE, `None` for UEs outside the layout.
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

    /// Schedules the DSCH of each cell with an instance of `schedulers` from now on.
    pub fn set_schedulers(&mut self, schedulers: &UserSchedulers) {
        for (number, cell) in self.cells.iter_mut().enumerate() {
            cell.mac.set_scheduler(schedulers.make(CellId(number as u16)));
        }
    }

    /// The TTI of all cells.
    pub fn tti(&self) -> Duration {
        self.cells[0].mac.config().tti
    }

    /// Time between two turns.
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

/// The link of a call from one of its cells. Its target is the share of this leg.
#[inline]
fn leg_link(call: &Call, leg: &RadioLink, target: f64) -> Link {
    Link {
        processing: sir::CHIP_RATE / calls::RATE,
        target: target * call.loops.target_scale * call.at.raise * leg.share,
        gain: leg.gain,
        interference: leg.interference,
    }
}
