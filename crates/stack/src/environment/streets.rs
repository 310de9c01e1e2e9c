//! Streets between blocks of houses on a square grid (the Manhattan layout of UMTS 30.03), and the
//! position of a place relative to these streets.
//!
//! ```text
//!   y ↑   ┌─────┐ ┌─────┐ ┌──      blocks, one period apart
//!         └─────┘ └─────┘ └──
//!   ──────(0,0)───(1,0)───(2,0)──  street along x, with crossings (column, row)
//!                                → x
//! ```
//!
//! Axis 0 is x (right), axis 1 is y (up). The middle of a street is a *line*. A street along y crosses
//! the x axis, and its line is given by its x coordinate; for a street along x it is the y coordinate.
//! Lines are numbered from 0 on each axis. Number n is at half a street width plus n periods, where a
//! period is a block and a street. Crossing (c, r) is at line c of the x axis and line r of the y axis.
//!
//! On a torus the last block adjoins the first street. Otherwise there is a street along each side
//! of the area. All lengths are in metres.

use super::layout::{Border, Place};

/// A rectangle of blocks with streets around them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Streets {
    /// Number of blocks along each axis.
    pub blocks: [u32; 2],
    /// Side of a block in metres.
    pub block: f64,
    /// Width of a street in metres.
    pub width: f64,
    pub border: Border,
}

/// Position of stations in streets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Stations {
    /// On crossings, so that each station is in two streets.
    #[default]
    Crossings,
    /// Halfway between two crossings.
    Middles,
}

/// The axes of the grid: x (right) and y (up).
pub const AXES: [usize; 2] = [0, 1];

/// The other axis, on which a street along `axis` has its line.
pub fn other_axis(axis: usize) -> usize {
    1 - axis
}

/// A place and the streets that contain it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spot {
    /// Coordinates. For a place in a house, the coordinates of the nearest point on the walls.
    pub position: [f64; 2],
    /// By axis, the line of the street along this axis that contains the place: a place on a crossing
    /// is in two streets. Indoors, the street outside the nearest wall.
    pub street_along: [Option<f64>; 2],
    pub is_indoors: bool,
}

impl Streets {
    /// Distance between neighbouring lines.
    pub fn period(&self) -> f64 {
        self.block + self.width
    }

    /// Width and height of the area.
    pub fn size(&self) -> [f64; 2] {
        let last_street = if self.border == Border::Torus { 0.0 } else { self.width };
        self.blocks.map(|blocks| f64::from(blocks) * self.period() + last_street)
    }

    /// Number of lines on an axis: of streets along the other axis.
    fn line_count(&self, axis: usize) -> u32 {
        self.blocks[axis] + u32::from(self.border != Border::Torus)
    }

    /// Coordinate of line `number`.
    pub fn line(&self, number: i64) -> f64 {
        self.width / 2.0 + number as f64 * self.period()
    }

    /// Number of the last line at or before a coordinate.
    pub fn line_before(&self, at: f64) -> i64 {
        self.in_periods(at).floor() as i64
    }

    /// Coordinate of the line that is nearest to a coordinate.
    fn nearest_line(&self, at: f64) -> f64 {
        self.line(self.in_periods(at).round() as i64)
    }

    /// Distance of a coordinate from line 0, in periods.
    fn in_periods(&self, at: f64) -> f64 {
        (at - self.width / 2.0) / self.period()
    }

    /// Whether line `number` of an axis exists. On a torus every number exists.
    pub fn has_line(&self, axis: usize, number: i64) -> bool {
        self.border == Border::Torus || (0..i64::from(self.line_count(axis))).contains(&number)
    }

    /// The streets of a place. For a place in a house, the street outside the nearest wall, and the
    /// nearest point on that wall.
    pub fn spot(&self, place: Place) -> Spot {
        let position = [place.x, place.y];
        let nearest_lines = position.map(|at| self.nearest_line(at));
        let street_along = AXES.map(|axis| {
            let across = other_axis(axis);
            let distance = (position[across] - nearest_lines[across]).abs();
            (distance <= self.width / 2.0).then_some(nearest_lines[across])
        });
        if street_along == [None, None] {
            return self.spot_in_house(position, nearest_lines);
        }
        Spot { position, street_along, is_indoors: false }
    }

    /// The spot of a place in a house. `nearest_lines`: by axis, the line nearest to the place.
    fn spot_in_house(&self, position: [f64; 2], nearest_lines: [f64; 2]) -> Spot {
        let [x_distance, y_distance] = AXES.map(|axis| (position[axis] - nearest_lines[axis]).abs());
        // The street along x is reached in the direction of y. It also counts if both streets are
        // equally near.
        let (axis, across) = if x_distance < y_distance { (1, 0) } else { (0, 1) };
        let line = nearest_lines[across];
        let to_wall = (self.width / 2.0).copysign(position[across] - line);
        let mut spot = Spot { position, street_along: [None; 2], is_indoors: true };
        spot.position[across] = line + to_wall;
        spot.street_along[axis] = Some(line);
        spot
    }

    /// Maps two uniform draws between 0 and 1 to a place that is uniform along the middles of all
    /// streets. The first draw selects a block side, the second a place along this side.
    pub fn anywhere(&self, draws: [f64; 2]) -> Place {
        // By axis, the number of block sides in all streets along this axis.
        let [sides_along_x, sides_along_y] =
            AXES.map(|axis| self.blocks[axis] * self.line_count(other_axis(axis)));
        let drawn = (draws[0] * f64::from(sides_along_x + sides_along_y)) as u32;
        let (axis, side) = if drawn < sides_along_x { (0, drawn) } else { (1, drawn - sides_along_x) };
        let (street, block) = (side / self.blocks[axis], side % self.blocks[axis]);
        let along = self.line(i64::from(block)) + draws[1] * self.period();
        place_in_street(axis, along, self.line(i64::from(street)))
    }

    /// Places of stations: one station per `every` blocks in each street, shifted by one block from
    /// street to street.
    pub fn stations(&self, position: Stations, every: u32) -> Vec<Place> {
        let [columns, rows] = AXES.map(|axis| self.line_count(axis));
        let crossings = (0..rows).flat_map(|row| (0..columns).map(move |column| [column, row]));
        let chosen = crossings.filter(|[column, row]| (column + row).is_multiple_of(every));
        match position {
            Stations::Crossings => chosen.map(|crossing| self.place_at(crossing, [0.0, 0.0])).collect(),
            Stations::Middles => chosen.flat_map(|crossing| self.middles_after(crossing)).collect(),
        }
    }

    /// The places halfway to the next crossings to the right and up, if there is a block.
    fn middles_after(&self, crossing: [u32; 2]) -> impl Iterator<Item = Place> + '_ {
        let has_next = move |axis: &usize| crossing[*axis] < self.blocks[*axis];
        AXES.into_iter().filter(has_next).map(move |axis| {
            let half_a_period_ahead = if axis == 0 { [0.5, 0.0] } else { [0.0, 0.5] };
            self.place_at(crossing, half_a_period_ahead)
        })
    }

    /// The place that is `ahead` periods to the right of a crossing and up.
    fn place_at(&self, [column, row]: [u32; 2], ahead: [f64; 2]) -> Place {
        Place {
            x: self.line(i64::from(column)) + ahead[0] * self.period(),
            y: self.line(i64::from(row)) + ahead[1] * self.period(),
        }
    }

    /// Places in the middle of streets, at most [`MAX_SPACING`] apart, in the rectangle around `middle`
    /// with these half sides. If no street crosses it, one place in the nearest street.
    pub fn places_around(&self, middle: Place, half_sides: [f64; 2]) -> Vec<Place> {
        let mut places = Vec::new();
        for axis in AXES {
            self.push_places_along(axis, [middle.x, middle.y], half_sides, &mut places);
        }
        if places.is_empty() {
            places.extend(self.place_in_nearest_street(middle));
        }
        places
    }

    /// Adds the places in the streets along `axis`, as [`places_around`](Self::places_around).
    fn push_places_along(&self, axis: usize, middle: [f64; 2], half_sides: [f64; 2], into: &mut Vec<Place>) {
        let across = other_axis(axis);
        let first_street = self.line_before(middle[across] - half_sides[across]) + 1;
        let last_street = self.line_before(middle[across] + half_sides[across]);
        let (start, length) = (middle[axis] - half_sides[axis], 2.0 * half_sides[axis]);
        let points = (length / MAX_SPACING).ceil();
        for street in first_street..=last_street {
            for point in 0..points as u32 {
                // The middle of each of `points` equal parts.
                let along = start + length * (f64::from(point) + 0.5) / points;
                into.push(place_in_street(axis, along, self.line(street)));
            }
        }
    }

    /// The nearest place in the middle of the street of `place`. On a crossing the street along x
    /// counts.
    fn place_in_nearest_street(&self, place: Place) -> Option<Place> {
        let spot = self.spot(place);
        let at = [place.x, place.y];
        AXES.into_iter()
            .find_map(|axis| spot.street_along[axis].map(|line| place_in_street(axis, at[axis], line)))
    }

    /// The blocks of houses, each as lower left and upper right corner.
    pub fn houses(&self) -> impl Iterator<Item = [Place; 2]> + '_ {
        let [columns, rows] = self.blocks;
        let blocks = (0..rows).flat_map(move |row| (0..columns).map(move |column| [column, row]));
        blocks.map(move |[column, row]| {
            // A block begins half a street width after the crossing at its lower left.
            let corner = |after_crossing: f64| Place {
                x: self.line(i64::from(column)) + after_crossing,
                y: self.line(i64::from(row)) + after_crossing,
            };
            let half_street = self.width / 2.0;
            [corner(half_street), corner(half_street + self.block)]
        })
    }
}

/// Maximum distance in metres of the places of [`Streets::places_around`] in a street.
const MAX_SPACING: f64 = 10.0;

/// The place at `along` on an axis, in the street along this axis with the line `line`.
fn place_in_street(axis: usize, along: f64, line: f64) -> Place {
    if axis == 0 { Place { x: along, y: line } } else { Place { x: line, y: along } }
}
