//! The limits of a cell for dedicated channels (DCHs), and the rates and numbers that are reserved.

use umts_units::BitRate;

use crate::rnc::rrc::DchRates;

/// Limits of a cell. `None`: no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// Sum of rates by direction.
    pub rates: [Option<BitRate>; 2],
    /// Number of users with a DCH. Users of the HS-DSCH count, too: they have a DCH in the uplink.
    pub dchs: Option<u32>,
    /// Number of users of the HS-DSCH.
    pub hs_users: Option<u32>,
    /// Maximum number of requests that wait for a DCH. Further ones are refused, except that a request
    /// displaces one of a lower class.
    pub queue: u32,
    /// DCHs that a request may take.
    pub preemption: Preemption,
}

/// DCHs that a request may take from other UEs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Preemption {
    /// DCHs of the own or a lower class whose inactivity timer has expired, if `preemptive_inactivity`
    /// keeps them.
    #[default]
    Inactive,
    /// In addition, all DCHs of lower classes, in use or not.
    LowerClass,
}

/// Reserved rates and DCHs of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reserved {
    /// Bit/s by direction, the common channel included.
    pub rates: [u64; 2],
    /// Users with a DCH, users of the HS-DSCH included.
    pub dchs: u32,
    /// Users of the HS-DSCH.
    pub hs_users: u32,
}

impl Reserved {
    /// The sum of two reservations.
    pub(super) fn plus(self, other: Reserved) -> Reserved {
        Reserved {
            rates: [self.rates[0] + other.rates[0], self.rates[1] + other.rates[1]],
            dchs: self.dchs + other.dchs,
            hs_users: self.hs_users + other.hs_users,
        }
    }

    /// The part of `self` that `other` covers.
    pub(super) fn min(self, other: Reserved) -> Reserved {
        Reserved {
            rates: [0, 1].map(|direction| self.rates[direction].min(other.rates[direction])),
            dchs: self.dchs.min(other.dchs),
            hs_users: self.hs_users.min(other.hs_users),
        }
    }

    /// The part of `self` that exceeds `other`.
    pub(super) fn minus(self, other: Reserved) -> Reserved {
        Reserved {
            rates: [0, 1].map(|direction| self.rates[direction].saturating_sub(other.rates[direction])),
            dchs: self.dchs.saturating_sub(other.dchs),
            hs_users: self.hs_users.saturating_sub(other.hs_users),
        }
    }

    /// The reservation for a DCH. The HS-DSCH and the E-DCH reserve no rate in their direction.
    pub(super) fn of(dch: DchRates) -> Reserved {
        let [downlink, uplink] = dch.rates.map(BitRate::bps);
        let reserved_downlink = if dch.is_hs_dsch { 0 } else { downlink };
        let reserved_uplink = if dch.is_e_dch { 0 } else { uplink };
        Reserved { rates: [reserved_downlink, reserved_uplink], dchs: 1, hs_users: dch.is_hs_dsch.into() }
    }

    /// Whether the reservation keeps all limits.
    pub(super) fn fits(self, limits: &Limits) -> bool {
        let rates_fit = self
            .rates
            .into_iter()
            .zip(limits.rates)
            .all(|(rate, limit)| limit.is_none_or(|limit| rate <= limit.bps()));
        let dchs_fit = limits.dchs.is_none_or(|limit| self.dchs <= limit);
        let hs_users_fit = limits.hs_users.is_none_or(|limit| self.hs_users <= limit);
        rates_fit && dchs_fit && hs_users_fit
    }
}
