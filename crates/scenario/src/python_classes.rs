//! Python classes that a scenario names as `"FILE:CLASS"`: congestion control (`tcp.python`, with
//! `variant = "python"`) and schedulers of shared channels (`hs_dsch.python` and others). The file's text
//! is read with the scenario and is part of it.

use std::collections::BTreeMap;

use umts_stack::scheduling::SharedChannel;

use crate::check;
use crate::error::Problem;
use crate::extends::read_text;
use crate::model::{Bearer, Cell, PythonClass, Scenario, Tcp, TcpVariant};
use crate::tree::{Node, Source};

/// Texts for a key that names no class.
#[derive(Debug, Clone, Copy)]
struct Usage {
    message: &'static str,
    /// The key with a valid value.
    example: &'static str,
}

const SCHEDULER: Usage = Usage {
    message: "a scheduler needs a file and a class in it",
    example: "python = \"my_scheduler.py:MyScheduler\"",
};
const CONGESTION_CONTROL: Usage = Usage {
    message: "variant = \"python\" needs a file and a class in it",
    example: "python = \"my_control.py:MyControl\"",
};

/// The key under which runs are stored: it depends on the file's text, not on the file's name.
pub(crate) fn content(class: &PythonClass) -> String {
    format!("{}:{}", blake3::hash(class.text.as_bytes()).to_hex(), class.class)
}

/// A key that names a scheduler.
pub(crate) struct SchedulerKey<'a> {
    pub path: String,
    /// Value of the key. Empty: no class.
    pub named: &'a mut String,
    /// The class, once it is read.
    pub class: &'a mut Option<PythonClass>,
}

/// The keys of all shared channels that can name a scheduler.
pub(crate) fn scheduler_keys<'a>(cells: &'a mut [Cell], bearers: &'a mut [Bearer]) -> Vec<SchedulerKey<'a>> {
    let mut keys = Vec::new();
    for (i, cell) in cells.iter_mut().enumerate() {
        let mut add = |table: &str, named, class| {
            keys.push(SchedulerKey { path: format!("cell.{i}.{table}.python"), named, class });
        };
        if let Some(fach) = &mut cell.fach {
            add("fach", &mut fach.python, &mut fach.python_scheduler);
        }
        if let Some(dsch) = &mut cell.dsch {
            add("dsch", &mut dsch.python, &mut dsch.python_scheduler);
        }
        add("hs_dsch", &mut cell.hs_dsch.python, &mut cell.hs_dsch.python_scheduler);
        if let Some(tdd) = &mut cell.tdd {
            add("tdd.grant", &mut tdd.grant.python, &mut tdd.grant.python_scheduler);
        }
    }
    for (i, bearer) in bearers.iter_mut().enumerate() {
        for (direction, dch) in [("downlink", &mut bearer.downlink), ("uplink", &mut bearer.uplink)] {
            keys.push(SchedulerKey {
                path: format!("bearer.{i}.{direction}.python"),
                named: &mut dch.python,
                class: &mut dch.python_scheduler,
            });
        }
    }
    keys
}

/// Reads the file of every `[tcp]` with `variant = "python"`, and of every shared channel with a Python
/// scheduler.
pub(crate) fn read_all(scenario: &mut Scenario, tree: &Node, sources: &[Source]) -> Result<(), Problem> {
    read_control(&mut scenario.tcp, "tcp", tree, sources)?;
    for (i, flow) in scenario.flow.iter_mut().enumerate() {
        read_control(&mut flow.tcp, &format!("flow.{i}.tcp"), tree, sources)?;
    }
    for SchedulerKey { path, named, class } in scheduler_keys(&mut scenario.cell, &mut scenario.bearer) {
        if !named.is_empty() {
            *class = Some(read(named, &path, SCHEDULER, tree, sources)?);
        }
    }
    Ok(())
}

fn read_control(tcp: &mut Tcp, path: &str, tree: &Node, sources: &[Source]) -> Result<(), Problem> {
    if matches!(tcp.variant, TcpVariant::User(_)) {
        let class = read(&mut tcp.python, &format!("{path}.python"), CONGESTION_CONTROL, tree, sources)?;
        tcp.python_control = Some(class);
    }
    Ok(())
}

impl Scenario {
    /// The classes in Python that schedule shared channels, by the path of the key that names them.
    pub fn python_schedulers(&self) -> BTreeMap<String, PythonClass> {
        let (mut cells, mut bearers) = (self.cell.clone(), self.bearer.clone());
        let keys = scheduler_keys(&mut cells, &mut bearers).into_iter();
        keys.filter_map(|key| Some((key.path, key.class.take()?))).collect()
    }
}

/// Path of the key that names the scheduler of `channel`. In a layout the first cell stands for all.
pub fn scheduler_path(channel: SharedChannel, has_layout: bool) -> String {
    let cell = if has_layout { 0 } else { channel.cell().0 };
    match channel {
        SharedChannel::Fach(_) => format!("cell.{cell}.fach.python"),
        SharedChannel::Bearer { bearer, .. } => format!("bearer.{bearer}.downlink.python"),
        SharedChannel::HsDsch(_) => format!("cell.{cell}.hs_dsch.python"),
        SharedChannel::Tdd(..) => format!("cell.{cell}.tdd.grant.python"),
        SharedChannel::Dsch(_) => format!("cell.{cell}.dsch.python"),
    }
}

/// Reads the class named at `path`, and makes its file's name relative to the scenario's folder.
fn read(
    named: &mut String,
    path: &str,
    usage: Usage,
    tree: &Node,
    sources: &[Source],
) -> Result<PythonClass, Problem> {
    let fail = |message: String| check::problem(tree, path, message).label("this class");
    let parts = named.rsplit_once(':').filter(|(file, class)| !file.is_empty() && !class.is_empty());
    let Some((file, class)) = parts else {
        return Err(fail(usage.message.to_owned()).help(format!("write it as in {}", usage.example)));
    };
    let source = &sources[tree.find(path).0.at.source];
    let place = source.folder.join(file);
    let text = read_text(&place).map_err(|problem| {
        fail(problem.message.clone()).help("the name is relative to the folder of the file that contains it")
    })?;
    let python_class = PythonClass { file: place, class: class.to_owned(), text };
    *named = format!("{}:{class}", source.relative_folder.join(file).display());
    Ok(python_class)
}
