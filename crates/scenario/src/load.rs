//! Loads a file into a checked [`Scenario`]: the first step of every command and binding.
//!
//! The text becomes a tree of located values (`tree.rs`). Extended files, overrides and profiles
//! change the tree. Then the tree becomes the model (`de.rs`), named files are read, and the checks
//! (`check/`) return the resolved names and numbers.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::error::{Problem, ScenarioError};
use crate::extends::{Files, read_text};
use crate::model::{self, Cell, Duplex, Link, Mobility, VERSION};
use crate::recovery::FoundMistake;
use crate::resolved::{Resolved, Scenario};
use crate::tree::{Node, Source, Table, Value, join, merge};
use crate::{
    capacity_traces, check, flat_profiles, former_names, link_tables, link_traces, overrides, profiles,
    python_classes, range, recordings, recovery, removed_keys, rrc_profiles, tracks, verdicts,
};

/// A valid scenario, and warnings to consider before its results are trusted.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// The scenario, complete and checked.
    pub scenario: Scenario,
    /// Warnings, one sentence each.
    pub warnings: Vec<String>,
}

impl Scenario {
    /// Reads a scenario file and applies `overrides` of keys, such as `("radio.bler", "0.05")`.
    ///
    /// # Errors
    /// All mistakes found, each with its location: see [`ScenarioError`].
    pub fn load(path: &Path, overrides: &[(String, String)]) -> Result<Loaded, ScenarioError> {
        let name = path.display().to_string();
        let text = read_text(path).map_err(|problem| ScenarioError::unreadable(&name, problem))?;
        let folder = path.parent().map(Path::to_owned).unwrap_or_default();
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let source = Source { name, text, folder, relative_folder: PathBuf::new() };
        resolve(Files::new(Some(path)), source, &stem, overrides)
    }

    /// Reads a scenario from `text`. `name` is used in messages, and names the scenario if the text
    /// does not. Files that the text names are relative to `base_dir`.
    ///
    /// # Errors
    /// All mistakes found, each with its location: see [`ScenarioError`].
    pub fn parse(
        text: &str,
        name: &str,
        base_dir: &Path,
        overrides: &[(String, String)],
    ) -> Result<Loaded, ScenarioError> {
        let source = Source {
            name: name.to_owned(),
            text: text.to_owned(),
            folder: base_dir.to_owned(),
            relative_folder: PathBuf::new(),
        };
        resolve(Files::new(None), source, name.strip_suffix(".toml").unwrap_or(name), overrides)
    }
}

/// Completes and checks a scenario: defaults, overrides, former and removed keys, profiles, then
/// all checks. Returns the scenario, or all mistakes that were found.
fn resolve(
    mut files: Files,
    main: Source,
    stem: &str,
    overrides: &[(String, String)],
) -> Result<Loaded, ScenarioError> {
    let mut tree = files.read(main)?;
    complete(&mut tree, &mut files, stem)?;
    for (key, value) in overrides {
        overrides::apply(&mut tree, &mut files, key, value)?;
    }
    let mut warnings = former_names::warnings(&tree, &files.sources, overrides);
    warnings.extend(
        removed_keys::apply(&mut tree).map_err(|problem| ScenarioError::new(problem, &files.sources))?,
    );
    warnings.extend(profiles::apply(&mut tree, &mut files)?);
    recovery::all_mistakes(tree, |tree| checked(tree, &mut files, warnings.clone())).map_err(|problems| {
        let mut errors = problems.into_iter().map(|mut problem| {
            problem.origin.get_or_insert(files.beginning());
            ScenarioError::new(problem, &files.sources)
        });
        let first = errors.next().expect("there is a mistake");
        first.with(errors.collect())
    })
}

/// Converts a complete tree into a scenario, or returns the first mistake found.
fn checked(mut tree: Node, files: &mut Files, mut warnings: Vec<String>) -> Result<Loaded, FoundMistake> {
    let of_keys = |problem| FoundMistake { problem, is_of_keys: true };
    check_version(&tree).map_err(of_keys)?;
    warnings.extend(rrc_profiles::apply(&mut tree, files)?);
    flat_profiles::apply(&mut tree, files)?;
    inherit_tables(&mut tree);
    range::check(&tree).map_err(of_keys)?;
    let mut scenario = read(&tree).map_err(of_keys)?;
    complete_tdd_cells(&mut scenario, &tree);
    complete_layout(&mut scenario, &tree);
    clear_count_of_calls(&mut scenario, &tree)?;
    fill_cells(&mut scenario, &tree)?;
    python_classes::read_all(&mut scenario, &tree, &files.sources)?;
    verdicts::read_all(&mut scenario, &tree, &files.sources)?;
    recordings::read_all(&mut scenario, &tree, &files.sources)?;
    link_tables::read_all(&mut scenario, &tree, &files.sources)?;
    link_traces::read_all(&mut scenario, &tree, &files.sources)?;
    tracks::read_all(&mut scenario, &tree, &files.sources)?;
    let traces = capacity_traces::read_all(&mut scenario, &tree, &files.sources)?;
    let (plan, check_warnings) = check::check(&scenario, traces, &tree)?;
    canonicalise_sides(&mut scenario, &plan);
    warnings.extend(check_warnings);
    Ok(Loaded { scenario: Scenario { model: scenario, plan }, warnings })
}

fn read(tree: &Node) -> Result<model::Scenario, Problem> {
    model::Scenario::deserialize(tree)
}

/// Adds the defaults to which overrides can refer: the chain of links, the cell, the name.
fn complete(tree: &mut Node, files: &mut Files, stem: &str) -> Result<(), ScenarioError> {
    #[derive(serde::Serialize)]
    struct Defaults {
        name: String,
        link: Vec<Link>,
        cell: Vec<Cell>,
    }
    let cell = if tree.get("layout").is_some() { model::default_sector() } else { model::default_cells() };
    let defaults = Defaults { name: valid_name(stem), link: model::default_chain(), cell };
    let text = toml::to_string(&defaults).expect("defaults can be written");
    let source = files.add("built-in defaults", text.clone());
    let mut defaults = crate::tree::Reader { source, by_override: false, shift: 0 }
        .read(&text)
        .map_err(|problem| ScenarioError::new(problem, &files.sources))?;
    let missing = defaults.as_table_mut().map(std::mem::take).unwrap_or_default();
    if let Some(table) = tree.as_table_mut() {
        for (key, node) in missing {
            table.entry(key).or_insert(node);
        }
    }
    Ok(())
}

/// Converts a file's name into a valid scenario name.
fn valid_name(stem: &str) -> String {
    let name: String = stem.chars().map(|c| if check::is_name_character(c) { c } else { '-' }).collect();
    if name.is_empty() { "scenario".to_owned() } else { name }
}

/// Checks the version. This is the first check, because in another version every other key may have
/// another meaning.
fn check_version(tree: &Node) -> Result<(), Problem> {
    let Some(version) = tree.get("version") else {
        let help = format!("begin the file with version = {VERSION}");
        return Err(Problem::new("the key `version` is missing").at(tree.at).path("version").help(help));
    };
    match version.value {
        Value::Integer(number) if number == i64::from(VERSION) => Ok(()),
        _ => Err(Problem::new(format!("this umtslab reads version {VERSION} of the scenario format"))
            .at(version.at)
            .path(&version.path)
            .label("this version")
            .help(format!("write version = {VERSION}, or use the umtslab that the file was written for"))),
    }
}

/// Completes `[ue.rlc]`, `[ue.rrc]`, `[ue.radio]` and `[flow.tcp]` from the top-level tables.
fn inherit_tables(tree: &mut Node) {
    let top = |tree: &Node, key: &str| tree.get(key).cloned().filter(|node| node.as_table().is_some());
    let (rlc, rrc) = (top(tree, "rlc"), top(tree, "rrc"));
    let (radio, tcp) = (top(tree, "radio"), top(tree, "tcp"));
    let Some(table) = tree.as_table_mut() else { return };
    for ue in table.get_mut("ue").map(Node::elements_mut).unwrap_or_default() {
        inherit(ue, "rlc", rlc.as_ref());
        inherit(ue, "rrc", rrc.as_ref());
        inherit(ue, "radio", radio.as_ref());
    }
    for flow in table.get_mut("flow").map(Node::elements_mut).unwrap_or_default() {
        inherit_or_create(flow, "tcp", tcp.as_ref());
    }
}

/// Like [`inherit`], but creates the table if it is not written.
fn inherit_or_create(element: &mut Node, key: &str, top: Option<&Node>) {
    let (at, key_at, path) = (element.at, element.key_at, join(&element.path, key));
    if let Some(table) = element.as_table_mut() {
        let empty = Node { value: Value::Table(Table::new()), at, key_at, path };
        table.entry(key.to_owned()).or_insert(empty);
    }
    inherit(element, key, top);
}

/// Merges table `key` of `element`, if it is written, over the top-level table.
fn inherit(element: &mut Node, key: &str, top: Option<&Node>) {
    let own =
        element.as_table_mut().and_then(|table| table.get_mut(key)).filter(|own| own.as_table().is_some());
    if let (Some(own), Some(top)) = (own, top) {
        *own = merge(top.clone(), own.clone());
    }
}

/// Writes each value in the sides of `[proxy]` in its canonical form, as in other tables. The keys
/// of a side are the same for every flow, so the TCP of the first flow is used.
fn canonicalise_sides(scenario: &mut model::Scenario, plan: &Resolved) {
    if let (Some(proxy), Some(plan)) = (&mut scenario.proxy, &plan.proxy)
        && let Some([server, radio]) = plan.sides.first()
    {
        proxy.server_side.canonicalise(server);
        proxy.radio_side.canonicalise(radio);
    }
}

/// Adds slots to TDD cells, and removes FACH and RACH that are only defaults.
fn complete_tdd_cells(scenario: &mut model::Scenario, tree: &Node) {
    for (i, cell) in scenario.cell.iter_mut().enumerate().filter(|(_, cell)| cell.duplex == Duplex::Tdd) {
        cell.tdd.get_or_insert_default();
        let is_written = |channel: &str| tree.contains(&format!("cell.{i}.{channel}"));
        cell.fach = cell.fach.take().filter(|_| is_written("fach"));
        cell.rach = cell.rach.take().filter(|_| is_written("rach"));
    }
}

/// Adds the defaults of a layout: propagation and handover, and for the users mobility, the best
/// cell and the DSCH. Removes common channels that are only defaults.
fn complete_layout(scenario: &mut model::Scenario, tree: &Node) {
    let Some(layout) = &mut scenario.layout else { return };
    layout.complete();
    model::complete_propagation(scenario.propagation.get_or_insert_default());
    scenario.handover.get_or_insert_default();
    let is_written = |key: &str| tree.contains(key);
    for (i, cell) in scenario.cell.iter_mut().enumerate() {
        cell.power.get_or_insert_default();
        cell.dsch.get_or_insert_default();
        cell.dch.get_or_insert_default();
        cell.fach = cell.fach.take().filter(|_| is_written(&format!("cell.{i}.fach")));
        cell.rach = cell.rach.take().filter(|_| is_written(&format!("cell.{i}.rach")));
        if cell.fach.is_some() {
            cell.sccpch.get_or_insert_default();
        }
    }
    for (i, ue) in scenario.ue.iter_mut().enumerate() {
        ue.mobility.get_or_insert_with(Mobility::still).complete();
        if ue.cell.is_empty() {
            model::BEST.clone_into(&mut ue.cell);
        }
        if !is_written(&format!("ue.{i}.bearer")) {
            let bearer = if ue.calls.is_some() { model::CONVERSATIONAL } else { model::DSCH };
            bearer.clone_into(&mut ue.bearer);
        }
    }
}

/// Sets `count` of groups of calls to 0: calls are not permanent user equipments.
fn clear_count_of_calls(scenario: &mut model::Scenario, tree: &Node) -> Result<(), Problem> {
    for (i, ue) in scenario.ue.iter_mut().enumerate().filter(|(_, ue)| ue.calls.is_some()) {
        let path = format!("ue.{i}.count");
        if tree.contains(&path) {
            return Err(check::problem(tree, &path, "`count` does not apply to calls, which come and go")
                .help("leave `count` out, and set the offered traffic in `calls`, as in calls = { offered = \"24 Erl\" }"));
        }
        ue.count = 0;
    }
    Ok(())
}

/// Assigns user groups that name no cell to the only cell.
fn fill_cells(scenario: &mut model::Scenario, tree: &Node) -> Result<(), Problem> {
    let names: Vec<&str> = scenario.cell.iter().map(|cell| cell.name.as_str()).collect();
    for (i, ue) in scenario.ue.iter_mut().enumerate().filter(|(_, ue)| ue.cell.is_empty()) {
        match names[..] {
            [only] => ue.cell = only.to_owned(),
            [] => {
                return Err(check::problem(tree, "cell", "there is no cell for these users")
                    .help("add a [[cell]], or leave `cell` out for one with the defaults"));
            }
            _ => {
                return Err(check::problem(
                    tree,
                    &format!("ue.{i}.cell"),
                    "`cell` is required when there are several cells",
                )
                .help(format!("add cell = \"…\", one of {}", names.join(", "))));
            }
        }
    }
    Ok(())
}
