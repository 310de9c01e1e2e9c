//! Streets between blocks of houses on a square grid (the Manhattan layout of UMTS 30.03), and the
//! position of a place relative to these streets.
//!
//! ```text
//!        ┌─────┐ ┌─────┐ ┌──      blocks, one period apart
//!   ─────┘     └─┘     └─┘        crossing (c, r): its centre is half a street width from the corner
//!     (0,0)   (1,0)   (2,0)       of the area, plus c periods to the right and r periods up
//! ```
//!
//! On a torus the last block adjoins the first street. Otherwise there is a street along each side
//! of the area.

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

/// A place and the streets that contain it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spot {
    /// Coordinates. For a place in a house, the coordinates of the nearest point on the walls.
    pub at: [f64; 2],
    /// The streets that contain the place, by the axis along which they run. Indoors, the street
    /// outside the nearest wall. A street along x is given by the y coordinate of its middle, a
    /// street along y by the x coordinate.
    pub lines: [Option<f64>; 2],
    pub is_indoors: bool,
}

impl Streets {
    /// Distance between the middles of neighbouring streets in metres.
    pub fn period(&self) -> f64 {
        self.block + self.width
    }

    /// Width and height of the area in metres.
    pub fn size(&self) -> [f64; 2] {
        let last_street = if self.border == Border::Torus { 0.0 } else { self.width };
        self.blocks.map(|blocks| f64::from(blocks) * self.period() + last_street)
    }

    /// Number of streets that cross an axis: streets along the other axis.
    fn lines(&self, axis: usize) -> u32 {
        self.blocks[axis] + u32::from(self.border != Border::Torus)
    }

    /// Position of crossing `number` along an axis, in metres.
    pub fn line(&self, number: i64) -> f64 {
        self.width / 2.0 + number as f64 * self.period()
    }

    /// Number of the last crossing before a position on an axis.
    pub fn line_before(&self, at: f64) -> i64 {
        ((at - self.width / 2.0) / self.period()).floor() as i64
    }

    /// Whether street `number` across an axis exists. On a torus every number exists.
    pub fn has_line(&self, axis: usize, number: i64) -> bool {
        self.border == Border::Torus || (0..i64::from(self.lines(axis))).contains(&number)
    }

    /// The streets of a place. For a place in a house, the street outside the nearest wall, seen
    /// from that wall.
    pub fn spot(&self, place: Place) -> Spot {
        let half_width = self.width / 2.0;
        let mut at = [place.x, place.y];
        // Middle of the nearest street across each axis, and the distance to it.
        let nearest = AXES.map(|axis| self.line(((at[axis] - half_width) / self.period()).round() as i64));
        let distance = AXES.map(|axis| (at[axis] - nearest[axis]).abs());
        let is_in_street_across = AXES.map(|axis| distance[axis] <= half_width);
        let is_indoors = !is_in_street_across[0] && !is_in_street_across[1];
        // A street along an axis is a street across the other one, and is given by its position
        // there.
        if !is_indoors {
            let lines = AXES.map(|axis| is_in_street_across[1 - axis].then_some(nearest[1 - axis]));
            return Spot { at, lines, is_indoors };
        }
        // Indoors the nearer of the two streets counts, or the street along x if both are equally
        // near.
        let axis = if distance[0] < distance[1] { 1 } else { 0 };
        let cross_axis = 1 - axis;
        let mut lines = [None; 2];
        lines[axis] = Some(nearest[cross_axis]);
        at[cross_axis] = nearest[cross_axis] + half_width.copysign(at[cross_axis] - nearest[cross_axis]);
        Spot { at, lines, is_indoors }
    }

    /// Maps two uniform draws between 0 and 1 to a place that is uniform along the middles of all
    /// streets. The first draw selects a block side, the second a place along this side.
    pub fn anywhere(&self, draws: [f64; 2]) -> Place {
        // Block sides in all streets along each axis.
        let sides = AXES.map(|axis| self.blocks[axis] * self.lines(1 - axis));
        let side = (draws[0] * f64::from(sides[0] + sides[1])) as u32;
        let (axis, side) = if side < sides[0] { (0, side) } else { (1, side - sides[0]) };
        let [street, block] = [side / self.blocks[axis], side % self.blocks[axis]];
        let along = self.line(i64::from(block)) + draws[1] * self.period();
        place_in_street(axis, along, self.line(i64::from(street)))
    }

    /// Places of stations: one station per `every` blocks in each street, shifted by one block from
    /// street to street.
    pub fn stations(&self, position: Stations, every: u32) -> Vec<Place> {
        let crossings =
            (0..self.lines(1)).flat_map(|row| (0..self.lines(0)).map(move |column| [column, row]));
        let chosen = crossings.filter(|[column, row]| (column + row).is_multiple_of(every));
        let place = |[column, row]: [u32; 2], ahead: [f64; 2]| Place {
            x: self.line(i64::from(column)) + ahead[0] * self.period(),
            y: self.line(i64::from(row)) + ahead[1] * self.period(),
        };
        match position {
            Stations::Crossings => chosen.map(|crossing| place(crossing, [0.0; 2])).collect(),
            Stations::Middles => chosen
                .flat_map(|crossing| AXES.map(|axis| (axis, crossing)))
                .filter(|(axis, crossing)| crossing[*axis] < self.blocks[*axis])
                .map(|(axis, crossing)| place(crossing, [[0.5, 0.0], [0.0, 0.5]][axis]))
                .collect(),
        }
    }

    /// Places in the middle of streets, at most ten metres apart, in the rectangle around `middle`
    /// with these half sides. If no street crosses it, one place in the nearest street.
    pub fn places_around(&self, middle: Place, half: [f64; 2]) -> Vec<Place> {
        let at = [middle.x, middle.y];
        let mut places = Vec::new();
        for axis in AXES {
            // Streets along `axis` are numbered by their position on the other axis.
            let cross_axis = 1 - axis;
            let first_street = self.line_before(at[cross_axis] - half[cross_axis]) + 1;
            let last_street = self.line_before(at[cross_axis] + half[cross_axis]);
            for number in first_street..=last_street {
                // A rectangle of side 2 half has half / 5 points, at most 10 m apart.
                let points = (half[axis] / 5.0).ceil();
                for point in 0..points as u32 {
                    let along = at[axis] - half[axis] + 2.0 * half[axis] * (f64::from(point) + 0.5) / points;
                    places.push(place_in_street(axis, along, self.line(number)));
                }
            }
        }
        if places.is_empty() {
            let spot = self.spot(middle);
            let place_along =
                |axis: usize| spot.lines[axis].map(|line| place_in_street(axis, at[axis], line));
            places.extend(place_along(0).or_else(|| place_along(1)));
        }
        places
    }

    /// The blocks of houses, each as lower left and upper right corner.
    pub fn houses(&self) -> impl Iterator<Item = [Place; 2]> + '_ {
        let corner = |column: u32, row: u32, ahead: f64| Place {
            x: self.line(i64::from(column)) + ahead,
            y: self.line(i64::from(row)) + ahead,
        };
        let half = self.width / 2.0;
        let blocks =
            (0..self.blocks[1]).flat_map(move |row| (0..self.blocks[0]).map(move |column| (column, row)));
        blocks.map(move |(column, row)| [corner(column, row, half), corner(column, row, half + self.block)])
    }
}

/// The place at `along` on an axis, in the street whose middle is at `line` of the other axis.
fn place_in_street(axis: usize, along: f64, line: f64) -> Place {
    if axis == 0 { Place { x: along, y: line } } else { Place { x: line, y: along } }
}
