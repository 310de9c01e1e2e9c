//! Radio resource control (TS 25.331): conditions and delays of channel switches.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umts_stack::rnc::rrc::{
    ConnectionConfig, DchRates, Delays, Inactivity, RadioLinkConfig, RateChange, RateDown, RrcConfig,
    RrcState, Upswitch,
};
pub use umts_stack::rnc::rrc::{RestingState, TrafficVolume};
use umts_units::keyword::{Off, OrNone};
use umts_units::{Bytes, Duration, MilliWatts, Probability};

/// Radio resource control of users with `bearer = "switched"`: FACH and RACH for little data, a DCH
/// for more. The keys of the cell update and of radio link failure apply to all users with RLC.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Rrc {
    /// Named timers and delays of a real network or a study (`umts rrc`). Keys in this table
    /// override them.
    #[serde(with = "OrNone::<String>")]
    #[schemars(extend("x-label" = "RRC profile", "x-range" = "a name of `umts rrc`"))]
    pub profile: Option<String>,
    /// Bearers that a user may be given, in descending order of rate, named as in `ue.bearer`. RRC
    /// allocates the largest one that is free.
    #[schemars(extend("x-label" = "DCHs", "x-default" = "[\"ps-64\"]", "x-range" = "names of [[bearer]]s, or of `umts bearers`", "x-source" = "Dubois (2005), Table 7.2: 64 kbit/s; more than one: §9.2"))]
    pub dch: Vec<String>,
    /// RRC state at the start of the run.
    #[schemars(extend("x-label" = "Initial RRC state", "x-source" = "Dubois (2005), §7.2"))]
    pub initial_state: RestingState,

    /// Quantity that the thresholds below are compared with: the buffer occupancy of RLC, or whole
    /// SDUs until they are acknowledged.
    #[schemars(extend("x-label" = "Traffic volume", "x-source" = "TS 25.321 §8.2.2, TS 25.331 §14.4 for buffer_occupancy; umtslab until version 0.1 for unacknowledged"))]
    pub traffic_volume: TrafficVolume,
    /// Downlink `traffic_volume` above which a DCH is requested.
    #[serde(with = "Off::<Bytes>")]
    #[schemars(extend("x-label" = "Threshold of the upswitch", "x-max" = "1 GB", "x-source" = "TS 25.331 §14.4.2.1, event 4a; Dubois (2005), Table 7.2: 500 to 1500 B"))]
    pub upswitch_threshold: Option<Bytes>,
    /// Uplink `traffic_volume` above which a DCH is requested.
    #[serde(with = "Off::<Bytes>")]
    #[schemars(extend("x-label" = "Threshold of the upswitch, uplink", "x-max" = "1 GB", "x-source" = "TS 25.331 §14.4.2.1, event 4a; EURANE: 265 B"))]
    pub upswitch_threshold_uplink: Option<Bytes>,
    /// Interval at which the traffic volume is measured, on its multiples. `"0 s"`: at every
    /// change.
    #[schemars(extend("x-label" = "Measurement interval", "x-max" = "10 s", "x-source" = "EURANE: 10 ms"))]
    pub measurement_interval: Duration,
    /// Time for which the traffic volume must stay above its threshold before a request.
    #[schemars(extend("x-label" = "Time to trigger", "x-max" = "5 s", "x-source" = "TS 25.331 §10.3.7.64: 0 to 5000 ms"))]
    pub time_to_trigger: Duration,
    /// Time after which a refused request is repeated if the traffic volume is still above the
    /// threshold (pending time after trigger).
    #[schemars(extend("x-label" = "Retry for a DCH after", "x-min" = "1 ms", "x-max" = "60 s", "x-source" = "TS 25.331 §14.4.2.2, §10.3.7.64: 250 ms to 16 s"))]
    pub retry: Duration,

    /// Time without a block in either direction after which a user in CELL_DCH releases its DCH.
    /// With `preemptive_inactivity`, other users may take the DCH from then on.
    #[schemars(extend("x-label" = "Inactivity timer", "x-max" = "1 h", "x-source" = "Dubois (2005), Table 7.2: 2 to 10 s; Table 8.1: 0 to 8 s"))]
    pub inactivity: Duration,
    /// Time after `inactivity` for which a DCH is kept unless the request of another user needs it.
    #[schemars(extend("x-label" = "Preemptive timer", "x-max" = "1 h", "x-source" = "Dubois (2005), §5.2.2, Table 8.1: 4 to 16 s"))]
    pub preemptive_inactivity: Duration,
    /// Blocks count as activity only while the `traffic_volume` of their direction is larger than
    /// this. `"off"`: all blocks count.
    #[serde(with = "Off::<Bytes>")]
    #[schemars(extend("x-label" = "Threshold of activity", "x-max" = "1 GB", "x-source" = "TS 25.331 §14.4.2.2, event 4b"))]
    pub activity_threshold: Option<Bytes>,
    /// RRC state after CELL_DCH.
    #[schemars(extend("x-label" = "State after CELL_DCH", "x-source" = "TS 25.331 §7.1"))]
    pub after_dch: RestingState,
    /// Time without a block after which a user leaves CELL_FACH; `"off"`: never.
    #[serde(with = "Off::<Duration>")]
    #[schemars(extend("x-label" = "Inactivity timer of CELL_FACH", "x-min" = "10 ms", "x-max" = "24 h", "x-source" = "Qian et al., IMC 2010: 4 to 12 s"))]
    pub fach_inactivity: Option<Duration>,
    /// RRC state after CELL_FACH.
    #[schemars(extend("x-label" = "State after CELL_FACH", "x-source" = "TS 25.331 §7.1"))]
    pub after_fach: RestingState,
    /// Time after which a user leaves CELL_PCH; `"off"`: never.
    #[serde(with = "Off::<Duration>")]
    #[schemars(extend("x-label" = "Inactivity timer of CELL_PCH", "x-min" = "10 ms", "x-max" = "24 h", "x-source" = "TS 25.331 §7.1"))]
    pub cell_pch_inactivity: Option<Duration>,
    /// RRC state after CELL_PCH.
    #[schemars(extend("x-label" = "State after CELL_PCH", "x-source" = "TS 25.331 §7.1"))]
    pub after_cell_pch: RestingState,
    /// Time after which a user leaves URA_PCH for idle mode; `"off"`: never.
    #[serde(with = "Off::<Duration>")]
    #[schemars(extend("x-label" = "Inactivity timer of URA_PCH", "x-min" = "10 ms", "x-max" = "24 h", "x-source" = "TS 25.331 §7.1"))]
    pub ura_pch_inactivity: Option<Duration>,

    /// Duration of the allocation of a DCH. If the DCH of another user must be released first, that
    /// user's `dch_to_fach` is added.
    #[schemars(extend("x-label" = "Allocation of a DCH", "x-max" = "60 s", "x-source" = "Dubois (2005), Tables 7.2 and 8.1: 0.9 s and 0.5 s"))]
    pub fach_to_dch: Duration,
    /// Duration of the release of a DCH.
    #[schemars(extend("x-label" = "Release of a DCH", "x-max" = "60 s", "x-source" = "Dubois (2005), §5.2: each change takes its time"))]
    pub dch_to_fach: Duration,
    /// Duration of a rate change of a DCH.
    #[schemars(extend("x-label" = "Change of a DCH", "x-max" = "60 s", "x-source" = "umtslab: as long as an allocation in Dubois (2005), Table 8.1"))]
    pub dch_to_dch: Duration,
    /// Duration of the transition from CELL_FACH to a PCH state or idle mode.
    #[schemars(extend("x-label" = "From CELL_FACH to rest", "x-max" = "60 s", "x-source" = "umtslab"))]
    pub fach_to_pch: Duration,
    /// Duration of a cell or URA update and the return to CELL_FACH.
    #[schemars(extend("x-label" = "From PCH to CELL_FACH", "x-max" = "60 s", "x-source" = "umtslab: shorter than from idle mode, where a connection is set up"))]
    pub pch_to_fach: Duration,
    /// Duration of the transition from a PCH state to CELL_DCH.
    #[schemars(extend("x-label" = "From PCH to CELL_DCH", "x-max" = "60 s", "x-source" = "umtslab: pch_to_fach and fach_to_dch"))]
    pub pch_to_dch: Duration,
    /// Duration of the set-up of an RRC connection and bearer on the common channels.
    #[schemars(extend("x-label" = "From idle mode to CELL_FACH", "x-max" = "60 s", "x-source" = "Qian et al., IMC 2010, carrier 2: 0.6 s"))]
    pub idle_to_fach: Duration,
    /// Duration of the set-up of an RRC connection and bearer on a DCH.
    #[schemars(extend("x-label" = "From idle mode to CELL_DCH", "x-max" = "60 s", "x-source" = "Qian et al., IMC 2010, carrier 1: 2 s"))]
    pub idle_to_dch: Duration,
    /// RRC state that data leads to from a PCH state or idle mode.
    #[schemars(extend("x-label" = "Promotion to", "x-source" = "Qian et al., IMC 2010: carrier 2 and carrier 1"))]
    pub promotion: Promotion,
    /// Paging cycle: a user in a PCH state or idle mode is informed of downlink data once in this
    /// time, at its own paging occasion. `"0 s"`: without delay.
    #[schemars(extend("x-label" = "Paging cycle", "x-max" = "6 s", "x-source" = "TS 25.304 §8.3: DRX cycles of 80 ms to 5.12 s"))]
    pub paging_cycle: Duration,

    /// Whether data is transmitted during a switch between CELL_FACH and CELL_DCH.
    #[schemars(extend("x-label" = "Data during a switch", "x-source" = "Dubois (2005), §5.2: none does"))]
    pub data_while_switching: DataWhileSwitching,
    /// Treatment of RLC at a switch between CELL_FACH and CELL_DCH.
    #[schemars(extend("x-label" = "RLC at a switch", "x-source" = "TS 25.331 §8.6.4.9, RLC re-establish indicator"))]
    pub rlc_at_switch: RlcAtSwitch,

    /// Downlink `traffic_volume` above which a user requests a DCH of a higher rate, unless it has
    /// the largest.
    #[serde(with = "Off::<Bytes>")]
    #[schemars(extend("x-label" = "Threshold for a larger DCH", "x-max" = "1 GB", "x-source" = "Dubois (2005), §9.2, names dynamic rates as future work"))]
    pub rate_upswitch_threshold: Option<Bytes>,
    /// Utilisation below which a user changes to the next smaller DCH: throughput as a fraction of
    /// the DCH's rate.
    #[serde(with = "Off::<Probability>")]
    #[schemars(extend("x-label" = "Utilisation for a smaller DCH", "x-range" = "0 to 1", "x-source" = "Dubois (2005), §9.2"))]
    pub rate_downswitch_utilisation: Option<Probability>,
    /// Time over which the throughput for `rate_downswitch_utilisation` is measured.
    #[schemars(extend("x-label" = "Window for a smaller DCH", "x-min" = "100 ms", "x-max" = "1 h", "x-source" = "umtslab"))]
    pub rate_downswitch_window: Duration,

    /// Reaction to an RLC unrecoverable error (MaxRST). `cell_update`: a CELL UPDATE and
    /// re-establishment of RLC at both ends, which loses partly sent packets. `ignored`: none, and
    /// the bearer carries nothing until the end of the run.
    #[schemars(extend("x-label" = "Reaction to an RLC unrecoverable error", "x-source" = "TS 25.322 §11.4.4; TS 25.331 §8.3.1.2"))]
    pub rlc_unrecoverable_error: RlcUnrecoverableError,
    /// Time from a CELL UPDATE to the CELL UPDATE CONFIRM, and to the re-establishment of RLC if
    /// the confirmation is not lost.
    #[schemars(extend("x-label" = "Delay of a cell update", "x-max" = "60 s", "x-source" = "umtslab: as pch_to_fach, which is a cell update too"))]
    pub cell_update_delay: Duration,
    /// Time from a CELL UPDATE CONFIRM to its repetition. The RNC repeats it until the UE has
    /// received it or repeats the CELL UPDATE. `"off"`: it is sent once.
    #[serde(with = "Off::<Duration>")]
    #[schemars(extend("x-label" = "Repetition of a CELL UPDATE CONFIRM after", "x-min" = "10 ms", "x-max" = "60 s", "x-source" = "TS 25.331 §8.3.1.5: UTRAN may transmit several; interval: umtslab"))]
    pub cell_update_confirm_interval: Option<Duration>,
    /// T302: time from an unanswered CELL UPDATE to its repetition.
    #[schemars(extend("x-label" = "T302", "x-min" = "100 ms", "x-max" = "60 s", "x-source" = "TS 25.331 §10.3.3.43: 100 ms to 8 s, default 4 s"))]
    pub t302: Duration,
    /// N302: number of repetitions of a CELL UPDATE. After the last one RRC releases the
    /// connection. Switched users enter idle mode; others request a new connection, which takes
    /// `idle_to_fach` or `idle_to_dch`.
    #[schemars(extend("x-label" = "N302", "x-max" = 1000, "x-source" = "TS 25.331 §10.3.3.43: 0 to 7, default 3"))]
    pub n302: u32,
    /// T300: time from an unanswered RRC CONNECTION REQUEST to its repetition, for users that are
    /// not switched.
    #[schemars(extend("x-label" = "T300", "x-min" = "100 ms", "x-max" = "60 s", "x-source" = "TS 25.331 §10.3.3.44: 100 ms to 8 s, default 1 s"))]
    pub t300: Duration,
    /// T313: time from the N313-th out-of-sync indication of a DCH to radio link failure, or
    /// `"off"`. A radio link failure leads to a CELL UPDATE, as an RLC unrecoverable error does. A
    /// radio frame is out of sync if the downlink would have lost a block in it and in each of the
    /// 15 frames before it. One frame in sync stops the timer.
    #[serde(with = "Off::<Duration>")]
    #[schemars(extend("x-label" = "T313", "x-max" = "60 s", "x-source" = "TS 25.331 §8.5.6, §10.3.3.43: 0 to 15 s, default 3 s; off here, since radio links cost an event in each frame"))]
    pub t313: Option<Duration>,
    /// N313: number of successive out-of-sync indications that start T313.
    #[schemars(extend("x-label" = "N313", "x-min" = 1, "x-max" = 1000, "x-source" = "TS 25.331 §10.3.3.43: 1 to 200, default 20"))]
    pub n313: u32,

    /// Power that a user's device draws in each state, for the estimate of its energy.
    pub power: StatePower,
}

impl Rrc {
    /// RRC configuration of a user to which DCHs of these rates may be allocated.
    pub fn config(&self, dchs: Vec<DchRates>) -> RrcConfig {
        RrcConfig {
            initial: self.initial_state.into(),
            dchs,
            traffic_volume: self.traffic_volume,
            upswitch: Upswitch {
                threshold: [self.upswitch_threshold, self.upswitch_threshold_uplink],
                measurement_interval: self.measurement_interval,
                time_to_trigger: self.time_to_trigger,
                retry: self.retry,
            },
            inactivity: Inactivity {
                non_preemptive: self.inactivity,
                preemptive: self.preemptive_inactivity,
                after_dch: self.after_dch.into(),
                counts_above: self.activity_threshold,
                fach: self.fach_inactivity.map(|timer| (timer, self.after_fach.into())),
                cell_pch: self.cell_pch_inactivity.map(|timer| (timer, self.after_cell_pch.into())),
                ura_pch: self.ura_pch_inactivity.map(|timer| (timer, RrcState::Idle)),
            },
            delays: Delays {
                fach_to_dch: self.fach_to_dch,
                dch_to_fach: self.dch_to_fach,
                dch_to_dch: self.dch_to_dch,
                pch_to_fach: self.pch_to_fach,
                pch_to_dch: self.pch_to_dch,
                idle_to_fach: self.idle_to_fach,
                idle_to_dch: self.idle_to_dch,
                fach_to_pch: self.fach_to_pch,
            },
            paging_cycle: self.paging_cycle,
            promotes_to_dch: self.promotion == Promotion::CellDch,
            data_continues: self.data_continues(),
            reestablishes: self.rlc_at_switch == RlcAtSwitch::Reestablished,
            rate_change: RateChange {
                up_above: self.rate_upswitch_threshold,
                down: self.rate_downswitch_utilisation.map(|utilisation| RateDown {
                    window: self.rate_downswitch_window,
                    utilisation: utilisation.value(),
                }),
            },
        }
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
    pub(crate) fn concerns_switching(&self) -> bool {
        let unset = Rrc::default();
        let of_switching = Rrc {
            rlc_unrecoverable_error: unset.rlc_unrecoverable_error,
            cell_update_delay: unset.cell_update_delay,
            cell_update_confirm_interval: unset.cell_update_confirm_interval,
            t302: unset.t302,
            n302: unset.n302,
            t300: unset.t300,
            t313: unset.t313,
            n313: unset.n313,
            idle_to_fach: unset.idle_to_fach,
            idle_to_dch: unset.idle_to_dch,
            ..self.clone()
        };
        of_switching != unset
    }

    /// Whether data continues during a switch between CELL_FACH and CELL_DCH.
    pub fn data_continues(&self) -> bool {
        self.data_while_switching == DataWhileSwitching::Continues
    }
}

impl Default for Rrc {
    fn default() -> Self {
        let ms = Duration::from_millis;
        let Upswitch { threshold: [upswitch_threshold, upswitch_threshold_uplink], .. } = Upswitch::default();
        let Upswitch { measurement_interval, time_to_trigger, retry, .. } = Upswitch::default();
        let delays = Delays::default();
        let connection = ConnectionConfig::default();
        Rrc {
            profile: None,
            dch: vec!["ps-64".to_owned()],
            initial_state: RestingState::CellFach,
            traffic_volume: TrafficVolume::default(),
            upswitch_threshold,
            upswitch_threshold_uplink,
            measurement_interval,
            time_to_trigger,
            retry,
            inactivity: ms(5000),
            preemptive_inactivity: Duration::ZERO,
            activity_threshold: None,
            after_dch: RestingState::CellFach,
            fach_inactivity: None,
            after_fach: RestingState::CellPch,
            cell_pch_inactivity: None,
            after_cell_pch: RestingState::UraPch,
            ura_pch_inactivity: None,
            fach_to_dch: delays.fach_to_dch,
            dch_to_fach: delays.dch_to_fach,
            dch_to_dch: delays.dch_to_dch,
            fach_to_pch: delays.fach_to_pch,
            pch_to_fach: delays.pch_to_fach,
            pch_to_dch: delays.pch_to_dch,
            idle_to_fach: delays.idle_to_fach,
            idle_to_dch: delays.idle_to_dch,
            promotion: Promotion::CellFach,
            paging_cycle: ms(640),
            data_while_switching: DataWhileSwitching::Suspended,
            rlc_at_switch: RlcAtSwitch::Kept,
            rate_upswitch_threshold: None,
            rate_downswitch_utilisation: None,
            rate_downswitch_window: ms(5000),
            rlc_unrecoverable_error: RlcUnrecoverableError::CellUpdate,
            cell_update_delay: connection.delay,
            cell_update_confirm_interval: connection.confirm_interval,
            t302: connection.t302,
            n302: connection.n302,
            t300: connection.t300,
            t313: None,
            n313: 20,
            power: StatePower::default(),
        }
    }
}

/// RRC state that data leads to from a PCH state or idle mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Promotion {
    /// CELL_FACH, on the common channels.
    CellFach,
    /// CELL_DCH directly, if a DCH is free.
    CellDch,
}

/// Whether data is transmitted during a switch between CELL_FACH and CELL_DCH.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DataWhileSwitching {
    /// No data is transmitted.
    Suspended,
    /// The old channel carries data until the new one is ready.
    Continues,
}

/// Treatment of RLC at a switch between CELL_FACH and CELL_DCH.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RlcAtSwitch {
    /// RLC keeps its state and its buffers.
    Kept,
    /// RLC is re-established: partly sent packets are lost.
    Reestablished,
}

/// Reaction of RRC to an RLC unrecoverable error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RlcUnrecoverableError {
    /// A CELL UPDATE, followed by re-establishment of RLC.
    CellUpdate,
    /// No reaction: the bearer carries nothing any more.
    Ignored,
}

/// Power that a device draws in each state above its base consumption, by the radio part of a
/// handset.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StatePower {
    /// Power in idle mode.
    #[schemars(extend("x-label" = "Power in idle mode", "x-source" = "AT&T ARO, 3G profile"))]
    pub idle: MilliWatts,
    /// Power in URA_PCH.
    #[schemars(extend("x-label" = "Power in URA_PCH", "x-source" = "1 to 2 % of CELL_DCH: as CELL_PCH"))]
    pub ura_pch: MilliWatts,
    /// Power in CELL_PCH.
    #[schemars(extend("x-label" = "Power in CELL_PCH", "x-source" = "1 to 2 % of CELL_DCH (Haverinen, Siren, Eronen, VTC 2007)"))]
    pub cell_pch: MilliWatts,
    /// Power in CELL_FACH.
    #[schemars(extend("x-label" = "Power in CELL_FACH", "x-source" = "AT&T ARO, 3G profile"))]
    pub cell_fach: MilliWatts,
    /// Power in CELL_DCH.
    #[schemars(extend("x-label" = "Power in CELL_DCH", "x-source" = "AT&T ARO, 3G profile"))]
    pub cell_dch: MilliWatts,
    /// Power during a promotion from a PCH state or idle mode.
    #[schemars(extend("x-label" = "Power of a promotion from rest", "x-source" = "AT&T ARO, 3G profile: idle to DCH"))]
    pub promotion_from_idle: MilliWatts,
    /// Power during a promotion from CELL_FACH. In other switches the device draws the power of the
    /// state that it leaves.
    #[schemars(extend("x-label" = "Power of a promotion from CELL_FACH", "x-source" = "AT&T ARO, 3G profile: FACH to DCH"))]
    pub promotion_from_fach: MilliWatts,
}

impl Default for StatePower {
    fn default() -> Self {
        let mw = |number: f64| MilliWatts::new(number).expect("not negative");
        StatePower {
            idle: mw(0.0),
            ura_pch: mw(10.0),
            cell_pch: mw(10.0),
            cell_fach: mw(350.0),
            cell_dch: mw(700.0),
            promotion_from_idle: mw(530.0),
            promotion_from_fach: mw(550.0),
        }
    }
}
