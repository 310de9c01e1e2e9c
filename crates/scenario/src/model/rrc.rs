//! Radio resource control (TS 25.331): when users change their channel, and how long that takes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umts_stack::rnc::rrc::{
    ConnectionConfig, DchRates, Delays, Inactivity, RadioLinkConfig, RateChange, RateDown, RrcConfig,
    RrcState, Upswitch,
};
pub use umts_stack::rnc::rrc::{RestingState, TrafficVolume};
use umts_units::{Bytes, Duration, MilliWatts, Probability};

use crate::text::{word_none, word_off};

/// Radio resource control of the users with `bearer = "switched"`: FACH and RACH for little data, a DCH for more. The keys of
/// the cell update and of radio link failure hold for all users with RLC.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Rrc {
    /// Timers and delays of a real network or of a study by name (`umts rrc`); the keys here go on top of it.
    #[serde(with = "word_none")]
    #[schemars(with = "crate::text::OrNone<String>", extend("x-range" = "a name of `umts rrc`"))]
    pub profile: Option<String>,
    /// The bearers that a user may be given, the largest first: names as for `ue.bearer`. Of several the largest is given
    /// that is free.
    #[schemars(extend("x-default" = "[\"ps-64\"]", "x-range" = "names of [[bearer]]s, or of `umts bearers`", "x-source" = "Dubois (2005), Table 7.2: 64 kbit/s; more than one: §9.2"))]
    pub dch: Vec<String>,
    /// The state at the beginning.
    #[schemars(extend("x-source" = "Dubois (2005), §7.2"))]
    pub initial_state: RestingState,

    /// What the thresholds below are compared with: the buffer occupancy of RLC, or whole SDUs until they are acknowledged.
    #[schemars(extend("x-source" = "TS 25.321 §8.2.2, TS 25.331 §14.4 for buffer_occupancy; umtslab until version 0.1 for unacknowledged"))]
    pub traffic_volume: TrafficVolume,
    /// A larger `traffic_volume` than this in the downlink wants a DCH.
    #[serde(with = "word_off")]
    #[schemars(with = "crate::text::Off<Bytes>", extend("x-max" = "1 GB", "x-source" = "TS 25.331 §14.4.2.1, event 4a; Dubois (2005), Table 7.2: 500 to 1500 B"))]
    pub upswitch_threshold: Option<Bytes>,
    /// The same in the uplink.
    #[serde(with = "word_off")]
    #[schemars(with = "crate::text::Off<Bytes>", extend("x-max" = "1 GB", "x-source" = "TS 25.331 §14.4.2.1, event 4a; EURANE: 265 B"))]
    pub upswitch_threshold_uplink: Option<Bytes>,
    /// The buffers are looked at on multiples of this; `"0 s"`: whenever they change.
    #[schemars(extend("x-max" = "10 s", "x-source" = "EURANE: 10 ms"))]
    pub measurement_interval: Duration,
    /// For how long the volume must stay above its threshold.
    #[schemars(extend("x-max" = "5 s", "x-source" = "TS 25.331 §10.3.7.64: 0 to 5000 ms"))]
    pub time_to_trigger: Duration,
    /// After how long a refused user asks again while its buffer stays above the threshold: the pending time after trigger.
    #[schemars(extend("x-min" = "1 ms", "x-max" = "60 s", "x-source" = "TS 25.331 §14.4.2.2, §10.3.7.64: 250 ms to 16 s"))]
    pub retry: Duration,

    /// Time without a block in either direction after which a user in CELL_DCH gives its DCH up, or, with
    /// `preemptive_inactivity`, after which others may take it.
    #[schemars(extend("x-max" = "1 h", "x-source" = "Dubois (2005), Table 7.2: 2 to 10 s; Table 8.1: 0 to 8 s"))]
    pub inactivity: Duration,
    /// Time after that in which a DCH is kept, unless another user's request needs it.
    #[schemars(extend("x-max" = "1 h", "x-source" = "Dubois (2005), §5.2.2, Table 8.1: 4 to 16 s"))]
    pub preemptive_inactivity: Duration,
    /// Blocks count as activity only while the `traffic_volume` of their direction is larger than this; `"off"`: all blocks.
    #[serde(with = "word_off")]
    #[schemars(with = "crate::text::Off<Bytes>", extend("x-max" = "1 GB", "x-source" = "TS 25.331 §14.4.2.2, event 4b"))]
    pub activity_threshold: Option<Bytes>,
    /// The state after CELL_DCH.
    #[schemars(extend("x-source" = "TS 25.331 §7.1"))]
    pub after_dch: RestingState,
    /// Time without a block after which a user leaves CELL_FACH; `"off"`: never.
    #[serde(with = "word_off")]
    #[schemars(with = "crate::text::Off<Duration>", extend("x-min" = "10 ms", "x-max" = "24 h", "x-source" = "Qian et al., IMC 2010: 4 to 12 s"))]
    pub fach_inactivity: Option<Duration>,
    /// The state after CELL_FACH.
    #[schemars(extend("x-source" = "TS 25.331 §7.1"))]
    pub after_fach: RestingState,
    /// Time after which a user leaves CELL_PCH; `"off"`: never.
    #[serde(with = "word_off")]
    #[schemars(with = "crate::text::Off<Duration>", extend("x-min" = "10 ms", "x-max" = "24 h", "x-source" = "TS 25.331 §7.1"))]
    pub cell_pch_inactivity: Option<Duration>,
    /// The state after CELL_PCH.
    #[schemars(extend("x-source" = "TS 25.331 §7.1"))]
    pub after_cell_pch: RestingState,
    /// Time after which a user leaves URA_PCH for idle mode; `"off"`: never.
    #[serde(with = "word_off")]
    #[schemars(with = "crate::text::Off<Duration>", extend("x-min" = "10 ms", "x-max" = "24 h", "x-source" = "TS 25.331 §7.1"))]
    pub ura_pch_inactivity: Option<Duration>,

    /// Allocation of a DCH. If another user's must be released first, that user's `dch_to_fach` comes on top.
    #[schemars(extend("x-max" = "60 s", "x-source" = "Dubois (2005), Tables 7.2 and 8.1: 0.9 s and 0.5 s"))]
    pub fach_to_dch: Duration,
    /// Release of a DCH.
    #[schemars(extend("x-max" = "60 s", "x-source" = "Dubois (2005), §5.2: each change takes its time"))]
    pub dch_to_fach: Duration,
    /// Change of the rate of a DCH.
    #[schemars(extend("x-max" = "60 s", "x-source" = "umtslab: as long as an allocation in Dubois (2005), Table 8.1"))]
    pub dch_to_dch: Duration,
    /// From CELL_FACH to a PCH state or idle mode.
    #[schemars(extend("x-max" = "60 s", "x-source" = "umtslab"))]
    pub fach_to_pch: Duration,
    /// Cell or URA update and return to CELL_FACH.
    #[schemars(extend("x-max" = "60 s", "x-source" = "umtslab: shorter than from idle mode, where a connection is set up"))]
    pub pch_to_fach: Duration,
    /// The same with a DCH at its end.
    #[schemars(extend("x-max" = "60 s", "x-source" = "umtslab: pch_to_fach and fach_to_dch"))]
    pub pch_to_dch: Duration,
    /// RRC connection and bearer set-up on the common channels.
    #[schemars(extend("x-max" = "60 s", "x-source" = "Qian et al., IMC 2010, carrier 2: 0.6 s"))]
    pub idle_to_fach: Duration,
    /// RRC connection and bearer set-up on a DCH.
    #[schemars(extend("x-max" = "60 s", "x-source" = "Qian et al., IMC 2010, carrier 1: 2 s"))]
    pub idle_to_dch: Duration,
    /// Where data leads from a PCH state or idle mode.
    #[schemars(extend("x-source" = "Qian et al., IMC 2010: carrier 2 and carrier 1"))]
    pub promotion: Promotion,
    /// A user in a PCH state or idle mode hears of downlink data once in this time, at an instant of its own; `"0 s"`: at once.
    #[schemars(extend("x-max" = "6 s", "x-source" = "TS 25.304 §8.3: DRX cycles of 80 ms to 5.12 s"))]
    pub paging_cycle: Duration,

    /// Whether data moves while a user changes between CELL_FACH and CELL_DCH.
    #[schemars(extend("x-source" = "Dubois (2005), §5.2: none does"))]
    pub data_while_switching: DataWhileSwitching,
    /// What becomes of RLC at such a change.
    #[schemars(extend("x-source" = "TS 25.331 §8.6.4.9, RLC re-establish indicator"))]
    pub rlc_at_switch: RlcAtSwitch,

    /// A user on a DCH that is not the largest asks for a larger one when its `traffic_volume` in the downlink is larger than this.
    #[serde(with = "word_off")]
    #[schemars(with = "crate::text::Off<Bytes>", extend("x-max" = "1 GB", "x-source" = "Dubois (2005), §9.2, names dynamic rates as future work"))]
    pub rate_upswitch_threshold: Option<Bytes>,
    /// A user takes the next smaller DCH when its throughput stays below this part of that DCH's rate.
    #[serde(with = "word_off")]
    #[schemars(with = "crate::text::Off<Probability>", extend("x-range" = "0 to 1", "x-source" = "Dubois (2005), §9.2"))]
    pub rate_downswitch_utilisation: Option<Probability>,
    /// The time over which that throughput is taken.
    #[schemars(extend("x-min" = "100 ms", "x-max" = "1 h", "x-source" = "umtslab"))]
    pub rate_downswitch_window: Duration,

    /// Reaction to an RLC unrecoverable error (MaxRST): a CELL UPDATE and re-establishment of RLC at both ends, in which packets
    /// are lost of which something was sent; or none, and the bearer carries nothing until the end of the run.
    #[schemars(extend("x-source" = "TS 25.322 §11.4.4; TS 25.331 §8.3.1.2"))]
    pub rlc_unrecoverable_error: RlcUnrecoverableError,
    /// Time from a CELL UPDATE to its answer, the CELL UPDATE CONFIRM, and to re-establishment of RLC if that is not lost.
    #[schemars(extend("x-max" = "60 s", "x-source" = "umtslab: as pch_to_fach, which is a cell update too"))]
    pub cell_update_delay: Duration,
    /// Time from a CELL UPDATE CONFIRM to its repetition. The RNC repeats it until the UE has it or repeats the CELL UPDATE. `"off"`:
    /// it is sent once.
    #[serde(with = "word_off")]
    #[schemars(with = "crate::text::Off<Duration>", extend("x-min" = "10 ms", "x-max" = "60 s", "x-source" = "TS 25.331 §8.3.1.5: UTRAN may transmit several; interval: umtslab"))]
    pub cell_update_confirm_interval: Option<Duration>,
    /// T302: time from a CELL UPDATE without answer to its repetition.
    #[schemars(extend("x-min" = "100 ms", "x-max" = "60 s", "x-source" = "TS 25.331 §10.3.3.43: 100 ms to 8 s, default 4 s"))]
    pub t302: Duration,
    /// N302: repetitions of a CELL UPDATE. After the last one RRC releases the connection: switched users enter idle mode, others
    /// request a new connection, which takes `idle_to_fach` or `idle_to_dch`.
    #[schemars(extend("x-max" = 1000, "x-source" = "TS 25.331 §10.3.3.43: 0 to 7, default 3"))]
    pub n302: u32,
    /// T300: time from an RRC CONNECTION REQUEST without answer to its repetition, for users that are not switched.
    #[schemars(extend("x-min" = "100 ms", "x-max" = "60 s", "x-source" = "TS 25.331 §10.3.3.44: 100 ms to 8 s, default 1 s"))]
    pub t300: Duration,
    /// T313: time from the N313-th out-of-sync indication of a DCH to radio link failure, which leads to a CELL UPDATE as an RLC
    /// unrecoverable error does; or `"off"`. A radio frame is out of sync if the downlink would have lost a block in it and in
    /// each of the 15 frames before it. One frame in sync stops the timer.
    #[serde(with = "word_off")]
    #[schemars(with = "crate::text::Off<Duration>", extend("x-max" = "60 s", "x-source" = "TS 25.331 §8.5.6, §10.3.3.43: 0 to 15 s, default 3 s; off here, since radio links cost an event in each frame"))]
    pub t313: Option<Duration>,
    /// N313: successive out-of-sync indications that start T313.
    #[schemars(extend("x-min" = 1, "x-max" = 1000, "x-source" = "TS 25.331 §10.3.3.43: 1 to 200, default 20"))]
    pub n313: u32,

    /// What a user's device draws in each state, for the estimate of its energy.
    pub power: StatePower,
}

impl Rrc {
    /// RRC of a user that may be given DCHs of these rates.
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

    /// Supervision of the connection of a user, switched or with fixed channels, of which the downlink is a DCH or DSCH or not.
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

    /// Whether keys are set that concern switched users alone.
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

    /// Whether data goes on during a switch between CELL_FACH and CELL_DCH.
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

/// Where data leads from a PCH state or idle mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Promotion {
    /// To the common channels first.
    CellFach,
    /// To a DCH at once, if one is free.
    CellDch,
}

/// Whether data moves during a switch between CELL_FACH and CELL_DCH.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DataWhileSwitching {
    /// None does.
    Suspended,
    /// The old channel carries it until the new one is ready.
    Continues,
}

/// What becomes of RLC at a switch between CELL_FACH and CELL_DCH.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RlcAtSwitch {
    /// Its state and its buffers stay.
    Kept,
    /// It begins anew: packets of which something was sent are lost.
    Reestablished,
}

/// Reaction of RRC to an RLC unrecoverable error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RlcUnrecoverableError {
    /// A CELL UPDATE, then re-establishment of RLC.
    CellUpdate,
    /// None: the bearer carries nothing any more.
    Ignored,
}

/// Power that a device draws above its base, by state: a handset's radio part.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StatePower {
    /// In idle mode.
    #[schemars(extend("x-source" = "AT&T ARO, 3G profile"))]
    pub idle: MilliWatts,
    /// In URA_PCH.
    #[schemars(extend("x-source" = "1 to 2 % of CELL_DCH: as CELL_PCH"))]
    pub ura_pch: MilliWatts,
    /// In CELL_PCH.
    #[schemars(extend("x-source" = "1 to 2 % of CELL_DCH (Haverinen, Siren, Eronen, VTC 2007)"))]
    pub cell_pch: MilliWatts,
    /// In CELL_FACH.
    #[schemars(extend("x-source" = "AT&T ARO, 3G profile"))]
    pub cell_fach: MilliWatts,
    /// In CELL_DCH.
    #[schemars(extend("x-source" = "AT&T ARO, 3G profile"))]
    pub cell_dch: MilliWatts,
    /// During a promotion from a PCH state or idle mode.
    #[schemars(extend("x-source" = "AT&T ARO, 3G profile: idle to DCH"))]
    pub promotion_from_idle: MilliWatts,
    /// During a promotion from CELL_FACH. Other switches draw what the state that they leave does.
    #[schemars(extend("x-source" = "AT&T ARO, 3G profile: FACH to DCH"))]
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
