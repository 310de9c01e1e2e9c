//! The last stage of loading a scenario: checks of several keys against each other (names must
//! exist, the chain of links must be complete, rates must carry a PDU), and the resolution of names
//! into a [`Resolved`] scenario. Single keys have been checked before.

mod changes;
mod channels;
mod dsch;
mod e_dch;
mod handover;
mod hs_dsch;
mod hs_in_layout;
mod layout;
mod models;
mod names;
mod network;
mod proxy;
mod qos;
mod reserved;
mod rlc;
mod rrc;
mod sccpch;
mod sectors;
mod sharing;
mod streets;
mod tdd;
mod traffic;

use umts_stack::ids::{FlowId, UeId};
use umts_stack::network::TimedChange;
use umts_stack::radio::capacity::CapacityTrace;
use umts_stack::rnc::Reserved;

use crate::error::Problem;
use crate::model::Scenario;
use crate::resolved::{Group, PlannedCell, ProxyPlan, Resolved};
use crate::tree::Node;
use channels::GroupChannels;
use names::Names;

pub(crate) use names::is_name_character;

/// Measured radios, by user group.
pub(crate) type Traces = Vec<Option<[CapacityTrace; 2]>>;

/// A scenario under inspection. `tree` locates each value in the file, for messages.
struct Inspection<'a> {
    scenario: &'a Scenario,
    tree: &'a Node,
    names: &'a Names,
    traces: &'a Traces,
    warnings: Vec<String>,
}

/// Results of the checks that the resolved scenario needs.
struct Findings {
    channels: Vec<GroupChannels>,
    reserved: Vec<Reserved>,
    /// The flow of each `[[impairment]]`.
    impaired: Vec<FlowId>,
    changes: Vec<TimedChange>,
    proxy: Option<ProxyPlan>,
}

/// Checks `scenario`. Returns its resolved names and numbers with warnings, or the first mistake.
pub(crate) fn check(
    scenario: &Scenario,
    traces: Traces,
    tree: &Node,
) -> Result<(Resolved, Vec<String>), Problem> {
    times(scenario, tree)?;
    layout::check(scenario, tree)?;
    let names = Names::of(scenario, tree)?;
    let mut inspection = Inspection { scenario, tree, names: &names, traces: &traces, warnings: Vec::new() };
    let findings = inspection.findings()?;
    let warnings = inspection.warnings;
    Ok((plan(scenario, &names, findings, traces), warnings))
}

/// Resolves the names of a checked scenario. UEs are numbered in the order of their groups.
fn plan(scenario: &Scenario, names: &Names, findings: Findings, traces: Traces) -> Resolved {
    let Findings { channels, reserved, impaired, changes, proxy } = findings;
    let mut next_ue = 0;
    let radios = channels.into_iter().zip(traces);
    let groups = scenario.ue.iter().zip(&names.groups).zip(radios).enumerate();
    let groups = groups.map(|(i, ((ue, named), (channels, traces)))| {
        let first = UeId(next_ue);
        next_ue += ue.count;
        Group {
            first,
            cell: named.cell,
            channels: channels.own,
            // A TDD cell grants capacity on request.
            is_granted: scenario.cell[named.cell].tdd.is_some(),
            dchs: channels.dchs,
            hs_dsch_category: named.hs_dsch_category(),
            e_dch_category: named.e_dch().map(|(_, category)| category),
            traces,
            flows: names.flows_of(i).collect(),
        }
    });
    Resolved { cells: cells(scenario), reserved, groups: groups.collect(), impaired, changes, proxy }
}

/// The cells of the network: each `[[cell]]`, or in a layout one cell per sector, numbered from 1.
fn cells(scenario: &Scenario) -> Vec<PlannedCell> {
    let named = scenario.cell.iter().enumerate();
    let Some(layout) = &scenario.layout else {
        return named.map(|(of, cell)| PlannedCell { name: cell.name.clone(), of }).collect();
    };
    let sectors = 1..=layout.number_of_cells();
    let name = &scenario.cell[0].name;
    sectors.map(|number| PlannedCell { name: format!("{name}-{number}"), of: 0 }).collect()
}

/// A problem with the value at `path`, or with the enclosing table if the value is a default.
pub(crate) fn problem(tree: &Node, path: &str, message: impl Into<String>) -> Problem {
    // If `is_whole`, the file contains `path`. Otherwise the value is a default, and `node` is the
    // innermost table of `path` that the file contains.
    let (node, is_whole) = tree.find(path);
    let written = if is_whole { &node.path } else { path };
    Problem::new(message).at(node.at).path(written)
}

impl Inspection<'_> {
    fn problem(&self, path: &str, message: impl Into<String>) -> Problem {
        problem(self.tree, path, message)
    }

    /// Adds a warning, once per path and message.
    fn warn(&mut self, path: &str, message: &str) {
        let warning = format!("{path}: {message}");
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    /// All checks that need resolved names, in an order in which later ones may rely on earlier
    /// ones.
    fn findings(&mut self) -> Result<Findings, Problem> {
        self.chain()?;
        self.outages()?;
        self.internet_delays()?;
        self.queue_management()?;
        self.tdd_cells()?;
        self.dschs()?;
        self.hs_dschs()?;
        self.e_dchs()?;
        self.layout_keys()?;
        self.handovers()?;
        let channels = self.channels()?;
        self.qos(&channels)?;
        let reserved = self.reserved(&channels);
        self.rlc()?;
        self.rrc(&reserved)?;
        self.radio();
        self.capacity()?;
        let impaired = self.traffic()?;
        let changes = self.changes(&channels)?;
        let proxy = self.proxy()?;
        Ok(Findings { channels, reserved, impaired, changes, proxy })
    }
}

/// Checks that the window of the metrics lies in the run.
fn times(scenario: &Scenario, tree: &Node) -> Result<(), Problem> {
    let Scenario { duration, measure, .. } = scenario;
    if measure.from >= *duration {
        return Err(problem(
            tree,
            "measure.from",
            format!("the metrics begin at {}, not before the end of the run", measure.from),
        )
        .label("this time")
        .help(format!("the run lasts {duration}: choose an earlier time, or a longer run")));
    }
    if measure.stall.is_zero() {
        return Err(problem(tree, "measure.stall", "a stall must have a length".to_owned())
            .help("write for example measure.stall = \"0.5 s\""));
    }
    if measure.waterfall.is_some() && !measure.budget {
        return Err(problem(
            tree,
            "measure.waterfall",
            "a waterfall is part of the time budget, which is off".to_owned(),
        )
        .help("add measure.budget = true"));
    }
    if measure.timeline && !measure.budget {
        return Err(problem(
            tree,
            "measure.timeline",
            "a timeline is part of the time budget, which is off".to_owned(),
        )
        .help("add measure.budget = true"));
    }
    match measure.to {
        Some(to) if to <= measure.from => Err(problem(
            tree,
            "measure.to",
            format!("the metrics end at {to}, but begin at {}", measure.from),
        )
        .help("choose a later time, or \"end\"")),
        Some(to) if to > *duration => {
            Err(problem(tree, "measure.to", format!("the metrics end at {to}, after the end of the run"))
                .help(format!("the run lasts {duration}: choose an earlier time, or \"end\"")))
        }
        _ => Ok(()),
    }
}
