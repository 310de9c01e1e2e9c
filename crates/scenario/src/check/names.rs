//! Checks that names are well formed, unique and defined, and resolves them to indices.

use umts_stack::ids::UeId;

use super::problem;
use super::tdd::GRANTED;
use crate::error::Problem;
use crate::model::{Bearer, CONVERSATIONAL, DSCH, SWITCHED, Scenario};
use crate::reference_bearers::{self, ReferenceBearer};
use crate::suggest::nearest;
use crate::tree::Node;

/// The bearer of FACH and RACH.
pub(super) const COMMON: &str = "common";

/// Whether the name of a scenario may contain this character.
pub(crate) fn is_name_character(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '_' | '.')
}

/// What the names in a scenario refer to.
pub(super) struct Names {
    /// By user group.
    pub groups: Vec<GroupNames>,
    /// The user group of each flow.
    flows: Vec<usize>,
}

/// What the names in a `[[ue]]` refer to.
pub(super) struct GroupNames {
    /// Index of its cell.
    pub cell: usize,
    /// The bearer that the group has permanently. `None`: FACH and RACH (initially if it is
    /// switched), or grants of a TDD cell.
    pub bearer: Option<Dedicated>,
    /// The bearers that RRC may allocate to the group.
    pub dchs: Vec<Dedicated>,
}

/// A dedicated bearer to which users can refer.
#[derive(Clone)]
pub(super) struct Dedicated {
    pub bearer: Bearer,
    pub origin: BearerOrigin,
}

impl Dedicated {
    /// HS-DSCH category of a UE with this bearer. `None` for bearers on DCHs.
    pub fn hs_dsch_category(&self) -> Option<u8> {
        match self.origin {
            BearerOrigin::Declared(_) => None,
            BearerOrigin::Reference(bearer) => bearer.hs_dsch_category,
        }
    }

    /// E-DCH category of a UE with this bearer. `None` for bearers with another uplink.
    pub fn e_dch_category(&self) -> Option<u8> {
        match self.origin {
            BearerOrigin::Declared(_) => None,
            BearerOrigin::Reference(bearer) => bearer.e_dch_category,
        }
    }
}

/// Where a bearer is defined.
#[derive(Clone, Copy)]
pub(super) enum BearerOrigin {
    /// Declared in the file: index of the `[[bearer]]`.
    Declared(usize),
    /// Defined by 3GPP.
    Reference(&'static ReferenceBearer),
}

/// Bearers to which users can refer: first the bearers of the file, then the reference bearers.
fn dedicated(scenario: &Scenario) -> Vec<Dedicated> {
    let declared = scenario.bearer.iter().cloned().enumerate();
    let declared = declared.map(|(i, bearer)| Dedicated { bearer, origin: BearerOrigin::Declared(i) });
    let reference = reference_bearers::dedicated();
    let reference = reference
        .map(|(bearer, definition)| Dedicated { bearer, origin: BearerOrigin::Reference(definition) });
    declared.chain(reference).collect()
}

impl Names {
    /// Resolves all names of `scenario`. The error is the first unknown or malformed name.
    pub fn of(scenario: &Scenario, tree: &Node) -> Result<Names, Problem> {
        let Scenario { name, cell, bearer, ue, flow, link, .. } = scenario;
        if name.is_empty() || !name.chars().all(is_name_character) {
            let message = format!("`{name}` cannot be the name of a scenario");
            return Err(problem(tree, "name", message).help("use letters, digits, - _ and ."));
        }
        for (i, link) in link.iter().enumerate() {
            well_formed(tree, &format!("link.{i}.from"), &link.from)?;
            well_formed(tree, &format!("link.{i}.to"), &link.to)?;
        }
        let cells: Vec<&str> = cell.iter().map(|cell| cell.name.as_str()).collect();
        let bearers: Vec<&str> = bearer.iter().map(|bearer| bearer.name.as_str()).collect();
        let ues: Vec<&str> = ue.iter().map(|ue| ue.name.as_str()).collect();
        for (kind, names) in [("cell", &cells), ("bearer", &bearers), ("ue", &ues)] {
            distinct(tree, kind, names)?;
        }
        let reserved = [
            (COMMON, "FACH and RACH"),
            (SWITCHED, "switched users"),
            (GRANTED, "users of a TDD cell"),
            (DSCH, "users of the DSCHs of a layout"),
            (CONVERSATIONAL, "calls in a layout"),
        ];
        for (reserved, meaning) in reserved {
            if let Some(i) = bearers.iter().position(|name| *name == reserved) {
                let message = format!("`{reserved}` is the bearer of {meaning}, so it cannot be defined");
                let help = "choose another name";
                return Err(problem(tree, &format!("bearer.{i}.name"), message).help(help));
            }
        }
        let dedicated = dedicated(scenario);
        let groups = (0..ue.len()).map(|i| GroupNames::of(scenario, tree, i, &cells, &dedicated));
        let groups = groups.collect::<Result<_, _>>()?;
        for (i, name) in flow.iter().enumerate().filter_map(|(i, flow)| Some((i, flow.name.as_ref()?))) {
            well_formed(tree, &format!("flow.{i}.name"), name)?;
        }
        let flows = flow.iter().enumerate();
        let flows = flows.map(|(i, flow)| known(tree, &format!("flow.{i}.ue"), "ue", &flow.ue, &ues));
        let flows: Vec<usize> = flows.collect::<Result<_, _>>()?;
        if let Some(i) = flows.iter().position(|&group| ue[group].calls.is_some()) {
            let group = flows[i];
            let message = format!("`{}` are calls, which carry speech and no flow", ue[group].name);
            let help = "name users that do not call, or leave the flow out";
            return Err(problem(tree, &format!("flow.{i}.ue"), message).label("these calls").help(help));
        }
        number_of_ues(scenario, tree)?;
        Ok(Names { groups, flows })
    }

    /// The user group of a flow.
    pub fn group_of(&self, flow: usize) -> usize {
        self.flows[flow]
    }

    /// The flows of a user group.
    pub fn flows_of(&self, group: usize) -> impl Iterator<Item = usize> {
        (0..self.flows.len()).filter(move |flow| self.flows[*flow] == group)
    }
}

impl GroupNames {
    /// HS-DSCH category of the bearer, or of the one to which RRC may switch the users.
    pub fn hs_dsch_category(&self) -> Option<u8> {
        self.bearer.iter().chain(&self.dchs).find_map(Dedicated::hs_dsch_category)
    }

    /// The bearer with an E-DCH that the users have, or to which RRC may switch them, with its category.
    pub fn e_dch(&self) -> Option<(&Bearer, u8)> {
        self.bearer.iter().chain(&self.dchs).find_map(|dch| Some((&dch.bearer, dch.e_dch_category()?)))
    }

    fn of(
        scenario: &Scenario,
        tree: &Node,
        i: usize,
        cells: &[&str],
        dedicated: &[Dedicated],
    ) -> Result<GroupNames, Problem> {
        let ue = &scenario.ue[i];
        let names: Vec<&str> = dedicated.iter().map(|known| known.bearer.name.as_str()).collect();
        let shared = [COMMON, SWITCHED, GRANTED, DSCH, CONVERSATIONAL];
        let known_bearers: Vec<&str> = shared.into_iter().chain(names.iter().copied()).collect();
        // With a layout there is only one `[[cell]]`, and users are in its best sector.
        let cell = match scenario.layout {
            Some(_) => 0,
            None => known(tree, &format!("ue.{i}.cell"), "cell", &ue.cell, cells)?,
        };
        let index = known(tree, &format!("ue.{i}.bearer"), "bearer", &ue.bearer, &known_bearers)?;
        let bearer = index.checked_sub(shared.len()).map(|index| dedicated[index].clone());
        let mut dchs = Vec::new();
        for (number, name) in scenario.rrc_of(ue).into_iter().flat_map(|rrc| rrc.dch.iter().enumerate()) {
            let path = format!("{}.dch.{number}", rrc_path(scenario, i));
            let dch = dedicated[known(tree, &path, "bearer", name, &names)?].clone();
            let has_hs_dsch = |dch: &Dedicated| dch.hs_dsch_category().is_some();
            if has_hs_dsch(&dch) && dchs.iter().any(has_hs_dsch) {
                let message = format!("`{name}` is a second bearer with an HS-DSCH");
                let help = "name one of them, whose rate follows the CQI";
                return Err(problem(tree, &path, message).label("this bearer").help(help));
            }
            dchs.push(dch);
        }
        Ok(GroupNames { cell, bearer, dchs })
    }
}

/// Path at which the `[rrc]` of user group `i` is written.
pub(super) fn rrc_path(scenario: &Scenario, i: usize) -> String {
    match scenario.ue[i].rrc {
        Some(_) => format!("ue.{i}.rrc"),
        None => "rrc".to_owned(),
    }
}

fn number_of_ues(scenario: &Scenario, tree: &Node) -> Result<(), Problem> {
    let total: usize = scenario.ue.iter().map(|ue| usize::from(ue.count)).sum();
    match total {
        0 if scenario.ue.iter().any(|ue| ue.calls.is_some()) => Ok(()),
        0 => Err(problem(tree, "ue", "there is no user").help("add a [[ue]] with a name")),
        1..=UeId::MAX_COUNT => Ok(()),
        _ => Err(problem(tree, "ue", format!("{total} UEs are too many"))
            .help(format!("a scenario can have at most {}", UeId::MAX_COUNT))),
    }
}

fn well_formed(tree: &Node, path: &str, name: &str) -> Result<(), Problem> {
    let begins_well = name.chars().next().is_some_and(char::is_alphabetic);
    if begins_well && name.chars().all(|c| is_name_character(c) && c != '.') {
        return Ok(());
    }
    let help = "begin with a letter, followed by letters, digits, - and _";
    Err(problem(tree, path, format!("`{name}` cannot be a name")).label("this name").help(help))
}

fn distinct(tree: &Node, kind: &str, names: &[&str]) -> Result<(), Problem> {
    for (i, name) in names.iter().enumerate() {
        let path = format!("{kind}.{i}.name");
        well_formed(tree, &path, name)?;
        if names[..i].contains(name) {
            let message = format!("there are two [[{kind}]] with the name `{name}`");
            let help = "give each its own name";
            return Err(problem(tree, &path, message).label("the second").help(help));
        }
    }
    Ok(())
}

/// Index in `names` of the name at `path`.
fn known(tree: &Node, path: &str, kind: &str, name: &str, names: &[&str]) -> Result<usize, Problem> {
    if let Some(known) = names.iter().position(|known| *known == name) {
        return Ok(known);
    }
    let help = match nearest(name, names.iter().copied()) {
        Some(meant) => format!("did you mean \"{meant}\"?"),
        None if names.is_empty() => format!("there is no [[{kind}]]: add one"),
        None => format!("the known names are {}; a [[{kind}]] defines another", names.join(", ")),
    };
    Err(problem(tree, path, format!("there is no {kind} `{name}`")).label("this name").help(help))
}
