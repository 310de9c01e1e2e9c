//! A town: `[layout.streets]` has blocks of houses with streets between them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
pub use umts_stack::environment::Stations;
use umts_stack::environment::{self, Border};
use umts_units::Length;

table! {
    /// Streets in a square grid with stations in them. Each station is a cell; if the one
    /// `[[cell]]` is named `sector`, the cells are `sector-1`, `sector-2` and so on.
    pub struct Streets {
        /// Number of blocks in x and y direction. On a torus both are multiples of `every`.
        #[schemars(extend("x-label" = "Blocks of houses", "x-default" = "[6, 6]", "x-range" = "two, 1 to 100 each"))]
        pub blocks: Vec<u32> = vec![6, 6],
        /// Side length of a block of houses.
        #[schemars(extend("x-label" = "Side of a block", "x-min" = "10 m", "x-max" = "10 km", "x-source" = "UMTS 30.03 (TR 101 112) B.1.8.1.2"))]
        pub block: Length = Length::from_millimetres(200_000),
        /// Width of a street.
        #[schemars(extend("x-label" = "Width of a street", "x-min" = "1 m", "x-max" = "1 km", "x-source" = "UMTS 30.03 (TR 101 112) B.1.8.1.2"))]
        pub width: Length = Length::from_millimetres(30_000),
        /// Positions of the stations, unless `[[layout.site]]` gives them.
        #[schemars(extend("x-label" = "Positions of stations", "x-source" = "an interpretation"))]
        pub stations: Stations = Stations::default(),
        /// Number of blocks between two stations of a street. Neighbouring streets have their
        /// stations at other blocks.
        #[schemars(extend("x-label" = "Blocks between stations", "x-min" = 1, "x-max" = 100, "x-source" = "an interpretation; TR 25.942: 180 m apart in streets of 75 m blocks"))]
        pub every: u32 = 2,
    }
}

impl Streets {
    /// Configuration of the streets for the stack. Panics if the scenario was not checked.
    pub fn config(&self, border: Border) -> environment::Streets {
        environment::Streets {
            blocks: [self.blocks[0], self.blocks[1]],
            block: self.block.metres(),
            width: self.width.metres(),
            border,
        }
    }
}
