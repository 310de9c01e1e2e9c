//! A town: `[layout.streets]`, blocks of houses with streets between them, and `[propagation.streets]`, what is lost along those.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
pub use umts_stack::environment::Stations;
use umts_stack::environment::{self, Border, StreetLossConfig};
use umts_units::{Db, Length};

use crate::text::word_unlimited;

/// Streets in a square grid, and stations in them: each is a cell, `sector-1`, `sector-2`, … if that is the name of the one
/// `[[cell]]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Streets {
    /// Blocks from left to right and up; on a torus multiples of `every`.
    #[schemars(extend("x-default" = "[6, 6]", "x-range" = "two, 1 to 100 each"))]
    pub blocks: Vec<u32>,
    /// Side of a block.
    #[schemars(extend("x-min" = "10 m", "x-max" = "10 km", "x-source" = "UMTS 30.03 (TR 101 112) B.1.8.1.2"))]
    pub block: Length,
    /// Width of a street.
    #[schemars(extend("x-min" = "1 m", "x-max" = "1 km", "x-source" = "UMTS 30.03 (TR 101 112) B.1.8.1.2"))]
    pub width: Length,
    /// Where stations stand, unless `[[layout.site]]` says so.
    #[schemars(extend("x-source" = "a reading"))]
    pub stations: Stations,
    /// Each street has a station every so many blocks, and its neighbours have theirs elsewhere.
    #[schemars(extend("x-min" = 1, "x-max" = 100, "x-source" = "a reading; TR 25.942: 180 m apart in streets of 75 m blocks"))]
    pub every: u32,
}

impl Default for Streets {
    fn default() -> Self {
        Streets {
            blocks: vec![6, 6],
            block: Length::from_millimetres(200_000),
            width: Length::from_millimetres(30_000),
            stations: Stations::default(),
            every: 2,
        }
    }
}

impl Streets {
    /// The streets as the stack has them. What was not checked is a panic.
    pub fn config(&self, border: Border) -> environment::Streets {
        environment::Streets {
            blocks: [self.blocks[0], self.blocks[1]],
            block: self.block.metres(),
            width: self.width.metres(),
            border,
        }
    }
}

/// What is lost along streets (`manhattan` only): 20 log(4π d/λ) dB, where each corner makes what follows seem longer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StreetLoss {
    /// What a corner adds to d for each metre before it and each after it.
    #[schemars(extend("x-min" = 0, "x-max" = 10, "x-source" = "UMTS 30.03 (TR 101 112) B.1.4.1.2: 0.5 at 90°"))]
    pub corner: f64,
    /// The length of way after which the loss grows twice as fast, or `"unlimited"`.
    #[serde(with = "word_unlimited")]
    #[schemars(with = "crate::text::Unlimited<Length>", extend("x-min" = "10 m", "x-source" = "UMTS 30.03 (TR 101 112) B.1.4.1.2"))]
    pub breakpoint: Option<Length>,
    /// Whether power comes over the roofs, too, if less is lost there: 24 + 45 log(R + 20) dB, R in metres.
    #[schemars(extend("x-source" = "TR 25.942"))]
    pub over_roofs: bool,
    /// What walls take from who is in a house.
    #[schemars(extend("x-min" = "0 dB", "x-max" = "100 dB", "x-source" = "UMTS 30.03 (TR 101 112) B.1.4.1.2"))]
    pub penetration: Db,
}

impl Default for StreetLoss {
    fn default() -> Self {
        let config = StreetLossConfig::default();
        StreetLoss {
            corner: config.corner,
            breakpoint: Some(Length::from_millimetres(300_000)),
            over_roofs: config.over_roofs,
            penetration: Db(config.penetration_db),
        }
    }
}

impl StreetLoss {
    /// The losses as the stack has them.
    pub fn config(&self) -> StreetLossConfig {
        StreetLossConfig {
            corner: self.corner,
            breakpoint_m: self.breakpoint.map_or(f64::INFINITY, Length::metres),
            over_roofs: self.over_roofs,
            penetration_db: self.penetration.0,
        }
    }
}
