//! Positions of sites, the hexagon of each sector, and the border of the area.
//!
//! Sites are on a lattice, in streets, or at listed places. On a lattice three sector hexagons of
//! side R meet at their site, one in front of each antenna. The centre of a sector is at the
//! distance R from its site, and the farthest corner at 2R. Sites are 3R apart on a triangular
//! lattice, so rows are 3R √3/2 apart, and odd rows are shifted by half a column.

use std::f64::consts::PI;

use super::streets::{Stations, Streets};
use crate::ids::CellId;

/// Sectors per site outside streets. Each sector is a cell.
pub const SECTORS: usize = 3;

/// A position in metres from the lower left corner of the area, or a vector between two positions.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Place {
    pub x: f64,
    pub y: f64,
}

impl Place {
    /// The place at this distance in metres, in the direction with this cosine and sine.
    #[inline]
    pub fn ahead(self, distance: f64, [cosine, sine]: [f64; 2]) -> Place {
        Place { x: self.x + distance * cosine, y: self.y + distance * sine }
    }

    /// Squared length of the vector from the origin.
    #[inline]
    pub fn squared(self) -> f64 {
        self.x * self.x + self.y * self.y
    }
}

/// Behaviour at the border of the area.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Border {
    /// The area is a torus: users that leave at one side enter at the other, and every cell is an
    /// inner cell.
    #[default]
    Torus,
    /// Users are reflected at the border. Cells at the border have fewer neighbours.
    Reflect,
}

/// The antennas of a mast: three sectors, or one antenna in a street.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Site {
    pub place: Place,
    /// Direction of the first antenna in radians, counterclockwise from the positive x axis. The
    /// other two follow at steps of 2π/3.
    pub azimuth: f64,
}

/// Sites in a rectangular area.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    sites: Vec<Site>,
    sector_radius: f64,
    border: Border,
    size: [f64; 2],
    streets: Option<Streets>,
}

impl Layout {
    /// A lattice of `columns` and `rows` of sites, centred in an area. By default the area is the
    /// total area of the hexagons.
    ///
    /// # Panics
    /// Panics if a torus has an odd number of rows, because its edges would not match.
    pub fn lattice(
        [columns, rows]: [u32; 2],
        sector_radius: f64,
        border: Border,
        size: Option<[f64; 2]>,
    ) -> Self {
        assert!(border != Border::Torus || rows.is_multiple_of(2), "a torus has an even number of rows");
        let [column_distance, row_distance] = spacing(sector_radius);
        let size = size.unwrap_or([f64::from(columns) * column_distance, f64::from(rows) * row_distance]);
        let shift = if rows > 1 { column_distance / 2.0 } else { 0.0 };
        let first_x = (size[0] - f64::from(columns - 1) * column_distance - shift) / 2.0;
        let first_y = (size[1] - f64::from(rows - 1) * row_distance) / 2.0;
        let site = |row: u32, column: u32| Site {
            place: Place {
                x: first_x + f64::from(column) * column_distance + f64::from(row % 2) * column_distance / 2.0,
                y: first_y + f64::from(row) * row_distance,
            },
            azimuth: 0.0,
        };
        let sites = (0..rows).flat_map(|row| (0..columns).map(move |column| site(row, column))).collect();
        Layout { sites, sector_radius, border, size, streets: None }
    }

    /// Sites at listed places.
    pub fn of(sites: Vec<Site>, sector_radius: f64, border: Border, size: [f64; 2]) -> Self {
        Layout { sites, sector_radius, border, size, streets: None }
    }

    /// Stations in streets, each with one omnidirectional antenna and one cell. `every` is the
    /// distance between stations along a street, in blocks.
    pub fn in_streets(streets: Streets, position: Stations, every: u32) -> Self {
        Layout::town(streets, streets.stations(position, every))
    }

    /// Stations at these places in streets.
    pub fn town(streets: Streets, stations: Vec<Place>) -> Self {
        let site = |place| Site { place, azimuth: 0.0 };
        Layout {
            sites: stations.into_iter().map(site).collect(),
            sector_radius: streets.period() / 2.0,
            border: streets.border,
            size: streets.size(),
            streets: Some(streets),
        }
    }

    pub fn streets(&self) -> Option<&Streets> {
        self.streets.as_ref()
    }

    /// Cells per site.
    pub fn sectors(&self) -> usize {
        if self.streets.is_some() { 1 } else { SECTORS }
    }

    /// Sector k of site s is cell 3s + k. In streets site s has only cell s.
    pub fn sites(&self) -> &[Site] {
        &self.sites
    }

    pub fn cells(&self) -> usize {
        self.sites.len() * self.sectors()
    }

    /// Side of a sector's hexagon in metres. In streets half the distance between two streets.
    pub fn sector_radius(&self) -> f64 {
        self.sector_radius
    }

    pub fn border(&self) -> Border {
        self.border
    }

    /// Width and height of the area in metres.
    pub fn size(&self) -> [f64; 2] {
        self.size
    }

    /// Maps two uniform draws between 0 and 1 to a place that is uniform in the area, or on the
    /// streets if there are any.
    pub fn anywhere(&self, draws: [f64; 2]) -> Place {
        self.streets.map_or_else(|| self.at(draws), |streets| self.within(streets.anywhere(draws)))
    }

    /// The place at these fractions of width and height.
    pub fn at(&self, fractions: [f64; 2]) -> Place {
        Place { x: fractions[0] * self.size[0], y: fractions[1] * self.size[1] }
    }

    /// Maps a place of the unbounded plane to the area, according to the border.
    #[inline]
    pub fn within(&self, place: Place) -> Place {
        let inside = |coordinate: f64, size: f64| match self.border {
            // Close to the border the remainder may round up to the size, which is the same place
            // as 0.
            Border::Torus => match coordinate - size * (coordinate / size).floor() {
                remainder if remainder < size => remainder,
                _ => 0.0,
            },
            // After two reflections a user moves in its first direction again: the pattern repeats
            // after two sizes.
            Border::Reflect => {
                let remainder = coordinate - 2.0 * size * (coordinate / (2.0 * size)).floor();
                remainder.min(2.0 * size - remainder)
            }
        };
        Place { x: inside(place.x, self.size[0]), y: inside(place.y, self.size[1]) }
    }

    /// The shortest vector from one place of the area to another.
    #[inline]
    pub fn vector(&self, from: Place, to: Place) -> Place {
        // On a torus it is shorter to cross the border if the difference exceeds half of the size.
        let along = |from: f64, to: f64, size: f64| {
            let difference = to - from;
            match self.border {
                Border::Torus if difference > size / 2.0 => difference - size,
                Border::Torus if difference < -size / 2.0 => difference + size,
                _ => difference,
            }
        };
        Place { x: along(from.x, to.x, self.size[0]), y: along(from.y, to.y, self.size[1]) }
    }

    /// Sites at most `reach` metres from a place, in ascending order. If there is none, the nearest
    /// site.
    pub fn sites_within(&self, place: Place, reach: f64) -> Vec<u16> {
        let squared_distance = |site: &usize| self.vector(self.sites[*site].place, place).squared();
        let mut near: Vec<u16> = Vec::with_capacity(self.sites.len());
        let sites = (0..self.sites.len()).filter(|site| squared_distance(site) <= reach * reach);
        near.extend(sites.map(|site| site as u16));
        if near.is_empty() {
            near.push(self.nearest_site(place) as u16);
        }
        near
    }

    /// Centre of a sector's hexagon. In streets, the place of the station.
    pub fn centre(&self, cell: CellId) -> Place {
        if self.streets.is_some() {
            return self.sites[cell.index()].place;
        }
        let site = &self.sites[cell.index() / SECTORS];
        let angle = site.azimuth + (cell.index() % SECTORS) as f64 * THIRD;
        self.within(site.place.ahead(self.sector_radius, [libm::cos(angle), libm::sin(angle)]))
    }

    /// The cell of the hexagon that contains a place: the cell with the nearest centre.
    pub fn hexagon(&self, place: Place) -> CellId {
        let squared_distance = |cell: &CellId| self.vector(place, self.centre(*cell)).squared();
        let cells = (0..self.cells()).map(|cell| CellId(cell as u16));
        cells.min_by(|a, b| squared_distance(a).total_cmp(&squared_distance(b))).expect("a layout has cells")
    }

    /// The site nearest to the middle of the area.
    pub fn central_site(&self) -> usize {
        self.nearest_site(self.at([0.5; 2]))
    }

    /// The site nearest to a place.
    fn nearest_site(&self, place: Place) -> usize {
        let squared_distance = |site: &usize| self.vector(place, self.sites[*site].place).squared();
        (0..self.sites.len())
            .min_by(|a, b| squared_distance(a).total_cmp(&squared_distance(b)))
            .expect("a layout has sites")
    }
}

/// A third of a full turn, in radians.
pub(super) const THIRD: f64 = 2.0 * PI / 3.0;

/// Distance between columns and between rows of a lattice with adjoining hexagons, in metres.
pub fn spacing(sector_radius: f64) -> [f64; 2] {
    let column = 3.0 * sector_radius;
    [column, column * libm::sqrt(3.0) / 2.0]
}
