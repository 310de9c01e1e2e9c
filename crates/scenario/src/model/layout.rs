//! Many cells: `[layout]` places the sites and defines the border of the area.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
pub use umts_stack::environment::Border;
use umts_stack::environment::{self, Place, SECTORS};
use umts_units::{Angle, Length};

use super::streets::Streets;

/// The `cell` of users that are always served by the cell they receive best.
pub(crate) const BEST: &str = "best";

table! {
    /// Sites of three sectors, or stations in streets. Each sector or station is a cell with the
    /// properties of the one `[[cell]]`; if its name is `sector`, the cells are `sector-1`,
    /// `sector-2` and so on.
    pub struct Layout {
        /// Columns and rows of sites on a hexagonal lattice. Sites are 3 radii apart. A torus has
        /// an even number of rows.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "Vec<u32>", extend("x-label" = "Columns and rows of sites", "x-default" = "[3, 4]", "x-range" = "two, 1 or more each", "x-source" = "Rendón et al. (2004), §3.2: 5 km x 5 km; the lattice is an interpretation"))]
        pub sites: Option<Vec<u32>> = None,
        /// Side of the hexagon of a sector.
        #[schemars(extend("x-label" = "Radius of a sector", "x-min" = "10 m", "x-max" = "100 km", "x-source" = "Rendón et al. (2004), §3.2"))]
        pub sector_radius: Length = Length::from_millimetres(500_000),
        /// Behaviour of users at the border of the area.
        #[schemars(extend("x-label" = "Border of the area", "x-source" = "an interpretation: Rendón et al. (2004) say nothing"))]
        pub border: Border = Border::default(),
        /// Width and height of the area. The sites of a lattice are centred in it.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "Vec<Length>", extend("x-label" = "Area", "x-default" = "that of the hexagons", "x-range" = "two, above zero"))]
        pub area: Option<Vec<Length>> = None,
        /// A town with stations in its streets, instead of a lattice.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "Streets", extend("x-default" = "none"))]
        pub streets: Option<Streets> = None,
        /// Positions of single sites, instead of a lattice.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub site: Vec<Site> = Vec::new(),
    }
}

/// A site of three sectors, or a station in a street.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Site {
    /// Distance of the site from the left border of the area.
    #[schemars(extend("x-label" = "x of a site"))]
    pub x: Length,
    /// Distance of the site from the lower border of the area.
    #[schemars(extend("x-label" = "y of a site"))]
    pub y: Length,
    /// Direction of the first antenna, counterclockwise from the x axis. The other two antennas
    /// follow at 120 degrees each.
    #[serde(default)]
    #[schemars(extend("x-label" = "Azimuth of a site", "x-max" = "360 deg"))]
    pub azimuth: Angle,
}

impl Layout {
    /// Sets the default lattice if the file names neither sites nor streets.
    pub(crate) fn complete(&mut self) {
        if self.site.is_empty() && self.streets.is_none() {
            self.sites.get_or_insert_with(|| vec![3, 4]);
        }
    }

    /// Number of sites.
    pub fn number_of_sites(&self) -> u64 {
        match (&self.sites, &self.streets) {
            (Some(lattice), _) => lattice.iter().map(|number| u64::from(*number)).product(),
            (None, Some(_)) if self.site.is_empty() => self.config().sites().len() as u64,
            (None, _) => self.site.len() as u64,
        }
    }

    /// Number of cells.
    pub fn number_of_cells(&self) -> u64 {
        self.number_of_sites() * if self.streets.is_some() { 1 } else { SECTORS as u64 }
    }

    /// Configuration of the layout for the stack. Panics if the scenario was not checked.
    pub fn config(&self) -> environment::Layout {
        let radius = self.sector_radius.metres();
        if let Some(table) = &self.streets {
            let streets = table.config(self.border);
            let stations = self.site.iter().map(|site| site.config().place).collect::<Vec<_>>();
            return match stations[..] {
                [] => environment::Layout::in_streets(streets, table.stations, table.every),
                _ => environment::Layout::town(streets, stations),
            };
        }
        let area = self.area.as_ref().map(|area| [area[0].metres(), area[1].metres()]);
        match &self.sites {
            Some(lattice) => {
                environment::Layout::lattice([lattice[0], lattice[1]], radius, self.border, area)
            }
            None => {
                let sites = self.site.iter().map(Site::config).collect();
                environment::Layout::of(sites, radius, self.border, area.expect("it was checked"))
            }
        }
    }
}

impl Site {
    fn config(&self) -> environment::Site {
        let place = Place { x: self.x.metres(), y: self.y.metres() };
        environment::Site { place, azimuth: self.azimuth.radians() }
    }
}
