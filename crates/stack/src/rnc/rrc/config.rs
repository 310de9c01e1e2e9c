//! Configuration of RRC: thresholds, timers, delays.

use umts_units::{BitRate, Bytes, Duration, MilliWatts, Probability, Time};

use super::{ConnectionConfig, RadioLinkConfig};
use crate::options::options;
#[cfg(feature = "schema")]
use crate::options::{Off, OrNone};
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

/// Rates of the channels of one bearer in CELL_DCH.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DchRates {
    /// By direction.
    pub rates: [BitRate; 2],
    /// Whether the downlink is an HS-DSCH, which reserves no rate.
    pub is_hs_dsch: bool,
    /// Whether the uplink is an E-DCH, which reserves no rate.
    pub is_e_dch: bool,
}

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

options! {
    /// Radio resource control of users with `bearer = "switched"`: FACH and RACH for little data, a DCH
    /// for more. The keys of the cell update and of radio link failure apply to all users with RLC.
    #[derive(Debug, Clone, PartialEq)]
    pub struct RrcConfig as "Rrc" {
        /// Named timers and delays of a real network or a study (`umts rrc`). Keys in this table
        /// override them.
        [label = "RRC profile", keyword = "OrNone::<String>", range = "a name of `umts rrc`"]
        pub profile: Option<String> = None,
        /// Bearers that a user may be given, in descending order of rate, named as in `ue.bearer`. RRC
        /// allocates the largest one that is free.
        [label = "DCHs", default = "[\"ps-64\"]", range = "names of [[bearer]]s, or of `umts bearers`",
            source = "Dubois (2005), Table 7.2: 64 kbit/s; more than one: §9.2"]
        pub dch: Vec<String> = vec!["ps-64".to_owned()],
        /// RRC state at the start of the run.
        [label = "Initial RRC state", source = "Dubois (2005), §7.2"]
        pub initial_state: RestingState = RestingState::CellFach,
        /// Quantity that the thresholds below are compared with: the buffer occupancy of RLC, or whole
        /// SDUs until they are acknowledged.
        [label = "Traffic volume",
            source = "TS 25.321 §8.2.2, TS 25.331 §14.4 for buffer_occupancy; umtslab until version 0.1 for unacknowledged"]
        pub traffic_volume: TrafficVolume = TrafficVolume::BufferOccupancy,
        /// Downlink `traffic_volume` above which a DCH is requested.
        [label = "Threshold of the upswitch", keyword = "Off::<Bytes>", max = "1 GB",
            source = "TS 25.331 §14.4.2.1, event 4a; Dubois (2005), Table 7.2: 500 to 1500 B"]
        pub upswitch_threshold: Option<Bytes> = Some(Bytes(500)),
        /// Uplink `traffic_volume` above which a DCH is requested.
        [label = "Threshold of the upswitch, uplink", keyword = "Off::<Bytes>", max = "1 GB",
            source = "TS 25.331 §14.4.2.1, event 4a; EURANE: 265 B"]
        pub upswitch_threshold_uplink: Option<Bytes> = Some(Bytes(500)),
        /// Interval at which the traffic volume is measured, on its multiples. `"0 s"`: at every
        /// change.
        [label = "Measurement interval", max = "10 s", source = "EURANE: 10 ms"]
        pub measurement_interval: Duration = Duration::ZERO,
        /// Time for which the traffic volume must stay above its threshold before a request.
        [label = "Time to trigger", max = "5 s", source = "TS 25.331 §10.3.7.64: 0 to 5000 ms"]
        pub time_to_trigger: Duration = Duration::ZERO,
        /// Time after which a refused request is repeated if the traffic volume is still above the
        /// threshold (pending time after trigger).
        [label = "Retry for a DCH after", min = "1 ms", max = "60 s",
            source = "TS 25.331 §14.4.2.2, §10.3.7.64: 250 ms to 16 s"]
        pub retry: Duration = Duration::from_millis(250),
        /// Time without a block in either direction after which a user in CELL_DCH releases its DCH.
        /// With `preemptive_inactivity`, other users may take the DCH from then on.
        [label = "Inactivity timer", max = "1 h",
            source = "Dubois (2005), Table 7.2: 2 to 10 s; Table 8.1: 0 to 8 s"]
        pub inactivity: Duration = Duration::from_millis(5000),
        /// Time after `inactivity` for which a DCH is kept unless the request of another user needs it.
        [label = "Preemptive timer", max = "1 h", source = "Dubois (2005), §5.2.2, Table 8.1: 4 to 16 s"]
        pub preemptive_inactivity: Duration = Duration::ZERO,
        /// Blocks count as activity only while the `traffic_volume` of their direction is larger than
        /// this. `"off"`: all blocks count.
        [label = "Threshold of activity", keyword = "Off::<Bytes>", max = "1 GB",
            source = "TS 25.331 §14.4.2.2, event 4b"]
        pub activity_threshold: Option<Bytes> = None,
        /// RRC state after CELL_DCH.
        [label = "State after CELL_DCH", source = "TS 25.331 §7.1"]
        pub after_dch: RestingState = RestingState::CellFach,
        /// Time without a block after which a user leaves CELL_FACH; `"off"`: never.
        [label = "Inactivity timer of CELL_FACH", keyword = "Off::<Duration>", min = "10 ms", max = "24 h",
            source = "Qian et al., IMC 2010: 4 to 12 s"]
        pub fach_inactivity: Option<Duration> = None,
        /// RRC state after CELL_FACH.
        [label = "State after CELL_FACH", source = "TS 25.331 §7.1"]
        pub after_fach: RestingState = RestingState::CellPch,
        /// Time after which a user leaves CELL_PCH; `"off"`: never.
        [label = "Inactivity timer of CELL_PCH", keyword = "Off::<Duration>", min = "10 ms", max = "24 h",
            source = "TS 25.331 §7.1"]
        pub cell_pch_inactivity: Option<Duration> = None,
        /// RRC state after CELL_PCH.
        [label = "State after CELL_PCH", source = "TS 25.331 §7.1"]
        pub after_cell_pch: RestingState = RestingState::UraPch,
        /// Time after which a user leaves URA_PCH for idle mode; `"off"`: never.
        [label = "Inactivity timer of URA_PCH", keyword = "Off::<Duration>", min = "10 ms", max = "24 h",
            source = "TS 25.331 §7.1"]
        pub ura_pch_inactivity: Option<Duration> = None,
        /// Duration of the allocation of a DCH. If the DCH of another user must be released first, that
        /// user's `dch_to_fach` is added.
        [label = "Allocation of a DCH", max = "60 s",
            source = "Dubois (2005), Tables 7.2 and 8.1: 0.9 s and 0.5 s"]
        pub fach_to_dch: Duration = Duration::from_millis(900),
        /// Duration of the release of a DCH.
        [label = "Release of a DCH", max = "60 s", source = "Dubois (2005), §5.2: each change takes its time"]
        pub dch_to_fach: Duration = Duration::from_millis(900),
        /// Duration of a rate change of a DCH.
        [label = "Change of a DCH", max = "60 s",
            source = "umtslab: as long as an allocation in Dubois (2005), Table 8.1"]
        pub dch_to_dch: Duration = Duration::from_millis(500),
        /// Duration of the transition from CELL_FACH to a PCH state or idle mode.
        [label = "From CELL_FACH to rest", max = "60 s", source = "umtslab"]
        pub fach_to_pch: Duration = Duration::from_millis(300),
        /// Duration of a cell or URA update and the return to CELL_FACH.
        [label = "From PCH to CELL_FACH", max = "60 s",
            source = "umtslab: shorter than from idle mode, where a connection is set up"]
        pub pch_to_fach: Duration = Duration::from_millis(300),
        /// Duration of the transition from a PCH state to CELL_DCH.
        [label = "From PCH to CELL_DCH", max = "60 s", source = "umtslab: pch_to_fach and fach_to_dch"]
        pub pch_to_dch: Duration = Duration::from_millis(1200),
        /// Duration of the set-up of an RRC connection and bearer on the common channels.
        [label = "From idle mode to CELL_FACH", max = "60 s",
            source = "Qian et al., IMC 2010, carrier 2: 0.6 s"]
        pub idle_to_fach: Duration = Duration::from_millis(600),
        /// Duration of the set-up of an RRC connection and bearer on a DCH.
        [label = "From idle mode to CELL_DCH", max = "60 s", source = "Qian et al., IMC 2010, carrier 1: 2 s"]
        pub idle_to_dch: Duration = Duration::from_millis(2000),
        /// RRC state that data leads to from a PCH state or idle mode.
        [label = "Promotion to", source = "Qian et al., IMC 2010: carrier 2 and carrier 1"]
        pub promotion: Promotion = Promotion::CellFach,
        /// Paging cycle: a user in a PCH state or idle mode is informed of downlink data once in this
        /// time, at its own paging occasion. `"0 s"`: without delay.
        [label = "Paging cycle", max = "6 s", source = "TS 25.304 §8.3: DRX cycles of 80 ms to 5.12 s"]
        pub paging_cycle: Duration = Duration::from_millis(640),
        /// Whether data is transmitted during a switch between CELL_FACH and CELL_DCH.
        [label = "Data during a switch", source = "Dubois (2005), §5.2: none does"]
        pub data_while_switching: DataWhileSwitching = DataWhileSwitching::Suspended,
        /// Treatment of RLC at a switch between CELL_FACH and CELL_DCH.
        [label = "RLC at a switch", source = "TS 25.331 §8.6.4.9, RLC re-establish indicator"]
        pub rlc_at_switch: RlcAtSwitch = RlcAtSwitch::Kept,
        /// Downlink `traffic_volume` above which a user requests a DCH of a higher rate, unless it has
        /// the largest.
        [label = "Threshold for a larger DCH", keyword = "Off::<Bytes>", max = "1 GB",
            source = "Dubois (2005), §9.2, names dynamic rates as future work"]
        pub rate_upswitch_threshold: Option<Bytes> = None,
        /// Utilisation below which a user changes to the next smaller DCH: throughput as a fraction of
        /// the DCH's rate.
        [label = "Utilisation for a smaller DCH", keyword = "Off::<Probability>", range = "0 to 1",
            source = "Dubois (2005), §9.2"]
        pub rate_downswitch_utilisation: Option<Probability> = None,
        /// Time over which the throughput for `rate_downswitch_utilisation` is measured.
        [label = "Window for a smaller DCH", min = "100 ms", max = "1 h", source = "umtslab"]
        pub rate_downswitch_window: Duration = Duration::from_millis(5000),
        /// Reaction to an RLC unrecoverable error (MaxRST). `cell_update`: a CELL UPDATE and
        /// re-establishment of RLC at both ends, which loses partly sent packets. `ignored`: none, and
        /// the bearer carries nothing until the end of the run.
        [label = "Reaction to an RLC unrecoverable error", source = "TS 25.322 §11.4.4; TS 25.331 §8.3.1.2"]
        pub rlc_unrecoverable_error: RlcUnrecoverableError = RlcUnrecoverableError::CellUpdate,
        /// Time from a CELL UPDATE to the CELL UPDATE CONFIRM, and to the re-establishment of RLC if
        /// the confirmation is not lost.
        [label = "Delay of a cell update", max = "60 s",
            source = "umtslab: as pch_to_fach, which is a cell update too"]
        pub cell_update_delay: Duration = Duration::from_millis(300),
        /// Time from a CELL UPDATE CONFIRM to its repetition. The RNC repeats it until the UE has
        /// received it or repeats the CELL UPDATE. `"off"`: it is sent once.
        [label = "Repetition of a CELL UPDATE CONFIRM after", keyword = "Off::<Duration>", min = "10 ms", max = "60 s",
            source = "TS 25.331 §8.3.1.5: UTRAN may transmit several; interval: umtslab"]
        pub cell_update_confirm_interval: Option<Duration> = Some(Duration::from_millis(200)),
        /// T302: time from an unanswered CELL UPDATE to its repetition.
        [label = "T302", min = "100 ms", max = "60 s",
            source = "TS 25.331 §10.3.3.43: 100 ms to 8 s, default 4 s"]
        pub t302: Duration = Duration::from_millis(4000),
        /// N302: number of repetitions of a CELL UPDATE. After the last one RRC releases the
        /// connection. Switched users enter idle mode; others request a new connection, which takes
        /// `idle_to_fach` or `idle_to_dch`.
        [label = "N302", max = 1000, source = "TS 25.331 §10.3.3.43: 0 to 7, default 3"]
        pub n302: u32 = 3,
        /// T300: time from an unanswered RRC CONNECTION REQUEST to its repetition, for users that are
        /// not switched.
        [label = "T300", min = "100 ms", max = "60 s",
            source = "TS 25.331 §10.3.3.44: 100 ms to 8 s, default 1 s"]
        pub t300: Duration = Duration::from_millis(1000),
        /// T313: time from the N313-th out-of-sync indication of a DCH to radio link failure, or
        /// `"off"`. A radio link failure leads to a CELL UPDATE, as an RLC unrecoverable error does. A
        /// radio frame is out of sync if the downlink would have lost a block in it and in each of the
        /// 15 frames before it. One frame in sync stops the timer.
        [label = "T313", keyword = "Off::<Duration>", max = "60 s",
            source = "TS 25.331 §8.5.6, §10.3.3.43: 0 to 15 s, default 3 s; off here, since radio links cost an event in each frame"]
        pub t313: Option<Duration> = None,
        /// N313: number of successive out-of-sync indications that start T313.
        [label = "N313", min = 1, max = 1000, source = "TS 25.331 §10.3.3.43: 1 to 200, default 20"]
        pub n313: u32 = 20,
        /// Power that a user's device draws in each state, for the estimate of its energy.
        pub power: StatePower = StatePower::default(),
        /// Rates of the DCHs named in `dch`. Not a key.
        #[cfg_attr(feature = "schema", serde(skip))]
        pub dch_rates: Vec<DchRates> = Vec::new(),
    }
}

impl RrcConfig {
    /// Timer and next state of a UE that is inactive in `state`.
    pub(super) fn inactivity_of(&self, state: RrcState) -> Option<(Duration, RrcState)> {
        match state {
            RrcState::CellDch => Some((self.inactivity + self.preemptive_inactivity, self.after_dch.into())),
            RrcState::CellFach => Some((self.fach_inactivity?, self.after_fach.into())),
            RrcState::CellPch => Some((self.cell_pch_inactivity?, self.after_cell_pch.into())),
            RrcState::UraPch => Some((self.ura_pch_inactivity?, RrcState::Idle)),
            RrcState::Idle => None,
        }
    }

    /// Duration of a switch, from the decision to the new state.
    pub(super) fn delay(&self, from: RrcState, to: RrcState) -> Duration {
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

    /// Traffic volume above which a DCH is requested, downlink and uplink.
    #[inline]
    pub(super) fn upswitch_thresholds(&self) -> [Option<Bytes>; 2] {
        [self.upswitch_threshold, self.upswitch_threshold_uplink]
    }

    /// Whether data continues during a switch between CELL_FACH and CELL_DCH.
    pub fn data_continues(&self) -> bool {
        self.data_while_switching == DataWhileSwitching::Continues
    }

    /// Supervision of a user's connection. `is_switched`: RRC switches the user between channels.
    /// `has_dch`: its downlink is a DCH or DSCH.
    pub fn connection(&self, is_switched: bool, has_dch: bool) -> ConnectionConfig {
        let set_up = if has_dch { self.idle_to_dch } else { self.idle_to_fach };
        ConnectionConfig {
            recovers_rlc: self.rlc_unrecoverable_error == RlcUnrecoverableError::CellUpdate,
            delay: self.cell_update_delay,
            confirm_interval: self.cell_update_confirm_interval,
            t302: self.t302,
            n302: self.n302,
            t300: self.t300,
            new_connection: (!is_switched).then_some(set_up),
            radio_link: self
                .t313
                .filter(|_| has_dch || is_switched)
                .map(|t313| RadioLinkConfig { t313, n313: self.n313 }),
        }
    }

    /// Whether any key is set that applies only to switched users.
    pub fn concerns_switching(&self) -> bool {
        let defaults = RrcConfig::default();
        // Keys that apply to all users have their defaults here.
        let only_switching_keys = RrcConfig {
            rlc_unrecoverable_error: defaults.rlc_unrecoverable_error,
            cell_update_delay: defaults.cell_update_delay,
            cell_update_confirm_interval: defaults.cell_update_confirm_interval,
            t302: defaults.t302,
            n302: defaults.n302,
            t300: defaults.t300,
            t313: defaults.t313,
            n313: defaults.n313,
            idle_to_fach: defaults.idle_to_fach,
            idle_to_dch: defaults.idle_to_dch,
            ..self.clone()
        };
        only_switching_keys != defaults
    }
}

options! {
    /// Power that a device draws in each state above its base consumption, by the radio part of a
    /// handset.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct StatePower as "StatePower" {
        /// Power in idle mode.
        [label = "Power in idle mode", source = "AT&T ARO, 3G profile"]
        pub idle: MilliWatts = milliwatts(0.0),
        /// Power in URA_PCH.
        [label = "Power in URA_PCH", source = "1 to 2 % of CELL_DCH: as CELL_PCH"]
        pub ura_pch: MilliWatts = milliwatts(10.0),
        /// Power in CELL_PCH.
        [label = "Power in CELL_PCH", source = "1 to 2 % of CELL_DCH (Haverinen, Siren, Eronen, VTC 2007)"]
        pub cell_pch: MilliWatts = milliwatts(10.0),
        /// Power in CELL_FACH.
        [label = "Power in CELL_FACH", source = "AT&T ARO, 3G profile"]
        pub cell_fach: MilliWatts = milliwatts(350.0),
        /// Power in CELL_DCH.
        [label = "Power in CELL_DCH", source = "AT&T ARO, 3G profile"]
        pub cell_dch: MilliWatts = milliwatts(700.0),
        /// Power during a promotion from a PCH state or idle mode.
        [label = "Power of a promotion from rest", source = "AT&T ARO, 3G profile: idle to DCH"]
        pub promotion_from_idle: MilliWatts = milliwatts(530.0),
        /// Power during a promotion from CELL_FACH. In other switches the device draws the power of the
        /// state that it leaves.
        [label = "Power of a promotion from CELL_FACH", source = "AT&T ARO, 3G profile: FACH to DCH"]
        pub promotion_from_fach: MilliWatts = milliwatts(550.0),
    }
}

fn milliwatts(power: f64) -> MilliWatts {
    MilliWatts::new(power).expect("not negative")
}

/// RRC state that data leads to from a PCH state or idle mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Promotion {
    /// CELL_FACH, on the common channels.
    CellFach,
    /// CELL_DCH directly, if a DCH is free.
    CellDch,
}

/// Whether data is transmitted during a switch between CELL_FACH and CELL_DCH.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum DataWhileSwitching {
    /// No data is transmitted.
    Suspended,
    /// The old channel carries data until the new one is ready.
    Continues,
}

/// Treatment of RLC at a switch between CELL_FACH and CELL_DCH.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum RlcAtSwitch {
    /// RLC keeps its state and its buffers.
    Kept,
    /// RLC is re-established: partly sent packets are lost.
    Reestablished,
}

/// Reaction of RRC to an RLC unrecoverable error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum RlcUnrecoverableError {
    /// A CELL UPDATE, followed by re-establishment of RLC.
    CellUpdate,
    /// No reaction: the bearer carries nothing any more.
    Ignored,
}

/// Measurements of a UE that RRC receives with each call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measured {
    /// Traffic volume of the sending RLC entities, by direction.
    pub buffered: [Bytes; 2],
    /// End of the last TTI with data in either direction.
    pub active_until: Time,
    /// Bits of RLC payload sent so far, by direction.
    pub carried: [u64; 2],
}
