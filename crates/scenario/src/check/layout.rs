//! Checks of `[layout]` (cells at several sites): sites, area, path loss and the mobility of users,
//! and of keys that need a layout.

use umts_stack::environment::{Border, SECTORS};

use super::{problem, streets};
use crate::error::Problem;
use crate::model::{BEST, Duplex, Layout, Mobility, MobilityModel, Scenario, Ue};
use crate::tree::Node;

/// Largest number of sites: cell numbers have 16 bits, and each user stores the gain of every cell.
const MAX_SITES: u64 = 1_000;

/// Checks `[layout]`, `[propagation]` and the mobility of users against each other.
pub(super) fn check(scenario: &Scenario, tree: &Node) -> Result<(), Problem> {
    reserved_name(scenario, tree)?;
    let Some(layout) = &scenario.layout else {
        return without_layout(scenario, tree);
    };
    if let Some(town) = &layout.streets {
        streets::town(layout, town, tree)?;
    }
    sites(layout, tree)?;
    if layout.streets.is_none() {
        area(layout, tree)?;
    }
    streets::losses(scenario, layout, tree)?;
    single_fdd_cell(scenario, tree)?;
    for (i, ue) in scenario.ue.iter().enumerate() {
        in_best_cell(i, ue, tree)?;
        if let Some(mobility) = &ue.mobility {
            moves(&format!("ue.{i}.mobility"), mobility, layout, tree)?;
        }
    }
    Ok(())
}

/// No cell may have the name `best`, which selects a user's best cell.
fn reserved_name(scenario: &Scenario, tree: &Node) -> Result<(), Problem> {
    match scenario.cell.iter().position(|cell| cell.name == BEST) {
        None => Ok(()),
        Some(i) => {
            let message = format!("the name `{BEST}` is reserved: it selects the best cell of a layout");
            Err(problem(tree, &format!("cell.{i}.name"), message).help("choose another name"))
        }
    }
}

/// Without a layout there are no positions, so `propagation`, `best` cells and `mobility` are
/// errors.
fn without_layout(scenario: &Scenario, tree: &Node) -> Result<(), Problem> {
    let help = "add [layout], or leave this out";
    if scenario.propagation.is_some() {
        let message = "[propagation] requires [layout]: path loss needs the positions of cells";
        return Err(problem(tree, "propagation", message).label("this table").help(help));
    }
    for (i, ue) in scenario.ue.iter().enumerate() {
        if ue.cell == BEST {
            let message = "cell = \"best\" requires [layout]";
            let names: Vec<&str> = scenario.cell.iter().map(|cell| cell.name.as_str()).collect();
            let help = format!("write the name of a cell ({}), or add [layout]", names.join(", "));
            return Err(problem(tree, &format!("ue.{i}.cell"), message).label("this cell").help(help));
        }
        if ue.mobility.is_some() {
            let message = "mobility requires [layout]: without it users have no position";
            return Err(problem(tree, &format!("ue.{i}.mobility"), message).label("this table").help(help));
        }
    }
    Ok(())
}

/// Sites are a lattice or a list, there are not too many, and a lattice fits the border.
fn sites(layout: &Layout, tree: &Node) -> Result<(), Problem> {
    let wrong = |message: &str, help: &str| {
        Err(problem(tree, "layout.sites", message).label("these sites").help(help))
    };
    if let Some(lattice) = &layout.sites {
        if !layout.site.is_empty() {
            let message = "sites are either a lattice (`sites`) or a list ([[layout.site]]), not both";
            return wrong(message, "leave out one of the two");
        }
        let [columns, rows] = lattice[..] else {
            let message = format!("a lattice needs two numbers, columns and rows, not {}", lattice.len());
            return wrong(&message, "write two, as in sites = [3, 4]");
        };
        if columns == 0 || rows == 0 {
            let message = format!("a lattice of {columns} columns and {rows} rows has no site");
            return wrong(&message, "write 1 or more for each, as in sites = [3, 4]");
        }
        if layout.border == Border::Torus && !rows.is_multiple_of(2) {
            let message = format!(
                "a torus of {rows} rows does not close: odd rows begin half a column later than even ones"
            );
            let help = format!(
                "choose an even number of rows, as in sites = [{columns}, {}], or border = \"reflect\"",
                rows + 1
            );
            return wrong(&message, &help);
        }
    }
    let number = layout.number_of_sites();
    if number > MAX_SITES {
        let key = match (&layout.sites, &layout.streets) {
            (Some(_), _) => "layout.sites",
            (None, Some(_)) if layout.site.is_empty() => "layout.streets.blocks",
            (None, _) => "layout.site",
        };
        let message = format!("{number} sites are too many");
        let sectors = if layout.streets.is_some() { 1 } else { SECTORS };
        let help = format!("a layout can have at most {MAX_SITES} sites with {sectors} cells each");
        return Err(problem(tree, key, message).help(help));
    }
    Ok(())
}

/// The area has two sides and contains all sites. A torus has no area of its own.
fn area(layout: &Layout, tree: &Node) -> Result<(), Problem> {
    let wrong =
        |message: &str, help: &str| Err(problem(tree, "layout.area", message).label("this area").help(help));
    let example = "write two lengths, as in area = [\"5 km\", \"5 km\"]";
    let Some(area) = &layout.area else {
        return match layout.sites {
            Some(_) => Ok(()),
            None => wrong("layout.area is required when sites are listed with [[layout.site]]", example),
        };
    };
    if area.len() != 2 {
        return wrong("layout.area needs two lengths, a width and a height", example);
    }
    if area.iter().any(|side| side.metres() == 0.0) {
        let got = format!("got {} by {}", area[0], area[1]);
        return wrong(&format!("layout.area: width and height must be greater than 0 ({got})"), example);
    }
    if layout.sites.is_some() && layout.border == Border::Torus {
        let message =
            "layout.area cannot be set with border = \"torus\": it follows from `sites` and `sector_radius`";
        return wrong(message, "leave `area` out, or write border = \"reflect\"");
    }
    for (i, site) in layout.site.iter().enumerate() {
        for (key, at, side) in [("x", site.x, area[0]), ("y", site.y, area[1])] {
            if at > side {
                let message =
                    format!("a site at {key} = {at} is outside the area of {} by {}", area[0], area[1]);
                return Err(problem(tree, &format!("layout.site.{i}.{key}"), message)
                    .label("this place")
                    .help(format!("choose at most {side}, or a larger area")));
            }
        }
    }
    Ok(())
}

/// A layout has one `[[cell]]`, which describes every sector, and it is FDD.
fn single_fdd_cell(scenario: &Scenario, tree: &Node) -> Result<(), Problem> {
    match &scenario.cell[..] {
        [cell] if cell.duplex == Duplex::Fdd => Ok(()),
        [cell] => {
            let message = format!("cell `{}` is TDD, but the sectors of a layout must be FDD", cell.name);
            Err(problem(tree, "cell.0.duplex", message).help("write duplex = \"fdd\""))
        }
        cells => {
            let message = format!(
                "a layout needs one [[cell]], which describes every sector; there are {}",
                cells.len()
            );
            Err(problem(tree, "cell", message).help("write one [[cell]], for example with name = \"sector\""))
        }
    }
}

/// Users of a layout are always in their best cell.
fn in_best_cell(i: usize, ue: &Ue, tree: &Node) -> Result<(), Problem> {
    if ue.cell == BEST {
        return Ok(());
    }
    let message = format!("users of a layout cannot choose the cell `{}`", ue.cell);
    Err(problem(tree, &format!("ue.{i}.cell"), message)
        .label("this cell")
        .help(format!("write cell = \"{BEST}\"; set their position with mobility.place")))
}

/// A track has a file, other models have none, and a start position is in the area.
fn moves(path: &str, mobility: &Mobility, layout: &Layout, tree: &Node) -> Result<(), Problem> {
    let is_track = mobility.model == MobilityModel::Track;
    if is_track && mobility.file.is_none() {
        return Err(problem(tree, path, "mobility.model = \"track\" requires `file`").help(
            "add file = \"…\" with lines of a time in seconds and a position in metres, as in 12.5 1040 980"
                .to_owned(),
        ));
    }
    if !is_track && mobility.file.is_some() {
        return Err(problem(
            tree,
            &format!("{path}.file"),
            "`file` applies to mobility.model = \"track\" only",
        )
        .help("write model = \"track\", or leave `file` out"));
    }
    streets::moves(path, mobility, layout, tree)?;
    let Some(place) = &mobility.place else { return Ok(()) };
    let wrong = |message: &str, help: &str| {
        Err(problem(tree, &format!("{path}.place"), message).label("this place").help(help))
    };
    if is_track {
        return wrong("`place` has no effect: the track defines the start position", "leave `place` out");
    }
    if place.len() != 2 {
        let message = format!("a place needs two lengths, not {}", place.len());
        return wrong(&message, "write two, as in place = [\"1 km\", \"2.2 km\"]");
    }
    let size = layout.config().size();
    if place.iter().zip(size).any(|(at, side)| at.metres() > side) {
        let message = format!(
            "the place ({}, {}) is outside the area of {:.0} m by {:.0} m",
            place[0], place[1], size[0], size[1]
        );
        return wrong(&message, "choose a place within the area");
    }
    Ok(())
}
