//! Checks of `[layout.streets]`, a town whose base stations stand in streets, and of keys that need
//! such a town.

use umts_stack::environment::{Border, Place};

use super::problem;
use crate::error::Problem;
use crate::model::{Layout, Mobility, MobilityModel, PathLoss, Scenario, Streets};
use crate::tree::Node;

/// Largest number of blocks from one side of the area to the other.
const MAX_BLOCKS: u32 = 100;

/// Checks the keys of `[layout.streets]`.
pub(super) fn town(layout: &Layout, streets: &Streets, tree: &Node) -> Result<(), Problem> {
    let wrong = |key: &str, message: &str, help: &str| {
        Err(problem(tree, &format!("layout.{key}"), message).label("this key").help(help))
    };
    if layout.sites.is_some() {
        let help = "leave `sites` out: `streets.stations` or [[layout.site]] places the stations";
        let message =
            "`sites` describes a lattice, but the stations of a layout with streets are in the streets";
        return wrong("sites", message, help);
    }
    if layout.area.is_some() {
        let message = "layout.area cannot be set: it follows from the blocks and streets";
        return wrong("area", message, "leave `area` out, or choose other `streets.blocks`");
    }
    let [columns, rows] = streets.blocks[..] else {
        let message = format!("`blocks` needs two numbers, columns and rows, not {}", streets.blocks.len());
        return wrong("streets.blocks", &message, "write two, as in blocks = [6, 6]");
    };
    if [columns, rows].iter().any(|number| !(1..=MAX_BLOCKS).contains(number)) {
        let message = format!("{columns} columns and {rows} rows of blocks are not possible");
        let help = format!("write 1 to {MAX_BLOCKS} for each, as in blocks = [6, 6]");
        return wrong("streets.blocks", &message, &help);
    }
    let every = streets.every;
    let is_listed = !layout.site.is_empty();
    if layout.border == Border::Torus
        && !is_listed
        && [columns, rows].iter().any(|number| !number.is_multiple_of(every))
    {
        let message = format!(
            "a torus of {columns} by {rows} blocks does not close with a station every {every} blocks"
        );
        let [more, higher] = [columns, rows].map(|number| number.next_multiple_of(every));
        let help = format!(
            "choose multiples of {every}, as in blocks = [{more}, {higher}], or border = \"reflect\""
        );
        return wrong("streets.blocks", &message, &help);
    }
    stations(layout, streets, tree)
}

/// Checks that listed stations stand in streets.
fn stations(layout: &Layout, streets: &Streets, tree: &Node) -> Result<(), Problem> {
    let grid = streets.config(layout.border);
    let [width, height] = grid.size();
    for (i, site) in layout.site.iter().enumerate() {
        let place = Place { x: site.x.metres(), y: site.y.metres() };
        let path = format!("layout.site.{i}");
        if place.x > width || place.y > height {
            let message = format!(
                "the site ({}, {}) is outside the area of {width:.0} m by {height:.0} m",
                site.x, site.y
            );
            return Err(problem(tree, &path, message).help("choose a place within the area"));
        }
        if grid.spot(place).is_indoors {
            let message = format!(
                "the site ({}, {}) is inside a block, but stations must be in a street",
                site.x, site.y
            );
            return Err(problem(tree, &path, message).help(next_street(streets, &grid)));
        }
    }
    Ok(())
}

fn next_street(streets: &Streets, grid: &umts_stack::environment::Streets) -> String {
    format!(
        "streets are {} wide; the centre of the first is {:.0} m from the corner of the area, the next follow every {:.0} m",
        streets.width,
        grid.line(0),
        grid.period()
    )
}

/// Checks that the path loss model and its street losses fit the layout.
pub(super) fn losses(scenario: &Scenario, layout: &Layout, tree: &Node) -> Result<(), Problem> {
    let Some(propagation) = &scenario.propagation else { return Ok(()) };
    if propagation.model == PathLoss::Manhattan && layout.streets.is_none() {
        let message = "propagation.model = \"manhattan\" requires [layout.streets]";
        return Err(problem(tree, "propagation.model", message)
            .label("this model")
            .help("add [layout.streets], or choose `vehicular`, `pedestrian` or `indoor_office`"));
    }
    if propagation.model != PathLoss::Manhattan && propagation.streets.is_some() {
        let message = "[propagation.streets] applies to model = \"manhattan\" only";
        return Err(problem(tree, "propagation.streets", message)
            .label("this table")
            .help("write model = \"manhattan\", or leave it out"));
    }
    Ok(())
}

/// Checks that the mobility model and its keys fit the layout.
pub(super) fn moves(path: &str, mobility: &Mobility, layout: &Layout, tree: &Node) -> Result<(), Problem> {
    let is_on_foot = mobility.model == MobilityModel::Manhattan;
    let wrong = |key: &str, message: &str, help: &str| {
        Err(problem(tree, &format!("{path}.{key}"), message).help(help))
    };
    for (key, is_there) in [
        ("speed_deviation", mobility.speed_deviation.is_some()),
        ("speed_change", mobility.speed_change.is_some()),
    ] {
        if is_there && !is_on_foot {
            let message = format!("`{key}` applies to mobility.model = \"manhattan\" only");
            return wrong(key, &message, "write model = \"manhattan\", or leave it out");
        }
    }
    let Some(streets) = &layout.streets else {
        if !is_on_foot {
            return Ok(());
        }
        let message = "mobility.model = \"manhattan\" requires [layout.streets]";
        return wrong("model", message, "add [layout.streets], or write model = \"vehicular\"");
    };
    if mobility.model == MobilityModel::Vehicular {
        let message = "mobility.model = \"vehicular\" ignores streets and passes through buildings";
        return wrong("model", message, "write model = \"manhattan\" with a `speed`, or \"track\"");
    }
    if !is_on_foot {
        return Ok(());
    }
    let leg = mobility.leg.expect("the loader sets a default");
    if leg > streets.block {
        let message = format!(
            "a leg of {leg} is longer than a block of {}, so it may pass several crossings",
            streets.block
        );
        return wrong("leg", &message, "choose a leg no longer than a block, as in leg = \"5 m\"");
    }
    let grid = streets.config(layout.border);
    let place = mobility.place.as_deref().and_then(|place| match place {
        [x, y] => Some(Place { x: x.metres(), y: y.metres() }),
        _ => None,
    });
    match place.filter(|place| grid.spot(*place).is_indoors) {
        Some(place) => {
            let message =
                format!("the place ({:.0} m, {:.0} m) is inside a block, not in a street", place.x, place.y);
            wrong("place", &message, &next_street(streets, &grid))
        }
        None => Ok(()),
    }
}
