//! What RRC is configured with: thresholds, timers, delays.

use umts_units::{BitRate, Bytes, Duration, Time};

use crate::radio::RrcState;

/// A state without a channel of one's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum RestingState {
    /// No RRC connection: RLC begins anew after it.
    Idle,
    /// Connected; heard by paging in the registration area.
    UraPch,
    /// Connected; heard by paging in the cell.
    CellPch,
    /// On FACH and RACH.
    CellFach,
}

impl From<RestingState> for RrcState {
    fn from(state: RestingState) -> Self {
        match state {
            RestingState::Idle => RrcState::Idle,
            RestingState::UraPch => RrcState::UraPch,
            RestingState::CellPch => RrcState::CellPch,
            RestingState::CellFach => RrcState::CellFach,
        }
    }
}

/// Rates of the DCHs of one bearer, in each direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DchRates(pub [BitRate; 2]);

/// Octets that traffic volume measurement counts in an RLC entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum TrafficVolume {
    /// Buffer occupancy (TS 25.321 §8.2.2): octets of SDUs and PDUs that wait for transmission or retransmission. PDUs that were sent
    /// and not negatively acknowledged do not count; control PDUs that wait do.
    #[default]
    BufferOccupancy,
    /// Octets of whole SDUs until they are acknowledged or given up.
    Unacknowledged,
}

/// A UE's RRC.
#[derive(Debug, Clone, PartialEq)]
pub struct RrcConfig {
    /// The state at the beginning: not CELL_DCH, which needs admission.
    pub initial: RrcState,
    /// The bearers that it may be given, the largest first.
    pub dchs: Vec<DchRates>,
    /// Measure of the RLC buffers, for all thresholds.
    pub traffic_volume: TrafficVolume,
    /// When a DCH is wanted.
    pub upswitch: Upswitch,
    /// The timers that lead to cheaper states.
    pub inactivity: Inactivity,
    /// How long switches take.
    pub delays: Delays,
    /// A UE in a PCH state or in idle mode listens for paging in one frame of this time, whose place its number decides;
    /// zero: always.
    pub paging_cycle: Duration,
    /// Whether promotion from PCH and idle leads to CELL_DCH, if a DCH is free, instead of CELL_FACH.
    pub promotes_to_dch: bool,
    /// Whether data goes on over the old channel while a switch between CELL_FACH and CELL_DCH is under way.
    pub data_continues: bool,
    /// Whether RLC begins anew on the new channel, instead of being kept.
    pub reestablishes: bool,
    /// Other rates while on a DCH.
    pub rate_change: RateChange,
}

/// Traffic volume measurement: TS 25.331 §14.4, event 4a.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Upswitch {
    /// By direction, the traffic volume above which a DCH is requested; `None`: never.
    pub threshold: [Option<Bytes>; 2],
    /// The buffer is looked at on multiples of this; zero: whenever it changes.
    pub measurement_interval: Duration,
    /// For how long it must hold that much.
    pub time_to_trigger: Duration,
    /// How long a UE that was refused waits before it asks again.
    pub retry: Duration,
}

impl Default for Upswitch {
    /// What a scenario has by default: 500 octets in either direction, looked at whenever they change.
    fn default() -> Self {
        Upswitch {
            threshold: [Some(Bytes(500)); 2],
            measurement_interval: Duration::ZERO,
            time_to_trigger: Duration::ZERO,
            retry: Duration::from_millis(250),
        }
    }
}

/// After how long without data a UE goes to which cheaper state; `None`: never.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inactivity {
    /// CELL_DCH: for so long nobody can take the DCH away, …
    pub non_preemptive: Duration,
    /// … and for so long after that another UE's request can. Then the UE leaves by itself.
    pub preemptive: Duration,
    /// The state below.
    pub after_dch: RrcState,
    /// Blocks count as activity only while the buffer of their direction holds more than this; `None`: all blocks count.
    pub counts_above: Option<Bytes>,
    /// CELL_FACH.
    pub fach: Option<(Duration, RrcState)>,
    /// CELL_PCH.
    pub cell_pch: Option<(Duration, RrcState)>,
    /// URA_PCH.
    pub ura_pch: Option<(Duration, RrcState)>,
}

impl Inactivity {
    /// Timer and next state of a UE in `state`.
    pub fn of(&self, state: RrcState) -> Option<(Duration, RrcState)> {
        match state {
            RrcState::CellDch => Some((self.non_preemptive + self.preemptive, self.after_dch)),
            RrcState::CellFach => self.fach,
            RrcState::CellPch => self.cell_pch,
            RrcState::UraPch => self.ura_pch,
            RrcState::Idle => None,
        }
    }
}

/// From the decision to the new state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delays {
    /// Allocation of a DCH.
    pub fach_to_dch: Duration,
    /// Release of a DCH, whatever comes after.
    pub dch_to_fach: Duration,
    /// Reconfiguration to another rate.
    pub dch_to_dch: Duration,
    /// Cell or URA update.
    pub pch_to_fach: Duration,
    /// The same with a DCH at its end.
    pub pch_to_dch: Duration,
    /// RRC connection and bearer set-up.
    pub idle_to_fach: Duration,
    /// The same with a DCH at its end.
    pub idle_to_dch: Duration,
    /// From CELL_FACH to a PCH state or idle mode. Between those nothing is exchanged that could take time.
    pub fach_to_pch: Duration,
}

impl Default for Delays {
    /// What a scenario has by default; the reference of its keys names the sources.
    fn default() -> Self {
        let ms = Duration::from_millis;
        Delays {
            fach_to_dch: ms(900),
            dch_to_fach: ms(900),
            dch_to_dch: ms(500),
            pch_to_fach: ms(300),
            pch_to_dch: ms(1200),
            idle_to_fach: ms(600),
            idle_to_dch: ms(2000),
            fach_to_pch: ms(300),
        }
    }
}

impl Delays {
    /// How long the switch takes.
    pub fn of(&self, from: RrcState, to: RrcState) -> Duration {
        use RrcState::{CellDch, CellFach, Idle};
        match (from, to) {
            (CellDch, CellDch) => self.dch_to_dch,
            (CellDch, _) => self.dch_to_fach,
            (CellFach, CellDch) => self.fach_to_dch,
            (CellFach, _) => self.fach_to_pch,
            (Idle, CellDch) => self.idle_to_dch,
            (Idle, CellFach) => self.idle_to_fach,
            (_, CellDch) => self.pch_to_dch,
            (_, CellFach) => self.pch_to_fach,
            _ => Duration::ZERO,
        }
    }
}

/// Dynamic DCH rates. `None` in either: that way is off.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RateChange {
    /// A larger DCH is asked for when the downlink buffer holds more than this.
    pub up_above: Option<Bytes>,
    /// The next smaller DCH is taken …
    pub down: Option<RateDown>,
}

/// … when the throughput of a window stays below a part of that DCH's rate, in both directions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateDown {
    /// The window.
    pub window: Duration,
    /// The part, from 0 to 1.
    pub utilisation: f64,
}

/// What RRC knows of its UE when it is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measured {
    /// Traffic volume of the sending RLC entities, by direction.
    pub buffered: [Bytes; 2],
    /// The end of the last TTI with data, either way.
    pub active_until: Time,
    /// Bits of RLC payload sent so far, by direction.
    pub carried: [u64; 2],
}
