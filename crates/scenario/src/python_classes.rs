//! Python classes that a scenario names as `"FILE:CLASS"`: congestion control (`tcp.python`, with
//! `variant = "python"`) and schedulers (`dsch.python`). The file's text is read with the scenario
//! and is part of it.

use crate::check;
use crate::error::Problem;
use crate::extends::read_text;
use crate::model::{PythonClass, Scenario, Tcp, TcpVariant};
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

/// Reads the file of every `[tcp]` with `variant = "python"`, and of every DSCH with a Python
/// scheduler.
pub(crate) fn read_all(scenario: &mut Scenario, tree: &Node, sources: &[Source]) -> Result<(), Problem> {
    read_control(&mut scenario.tcp, "tcp", tree, sources)?;
    for (i, flow) in scenario.flow.iter_mut().enumerate() {
        read_control(&mut flow.tcp, &format!("flow.{i}.tcp"), tree, sources)?;
    }
    for (i, cell) in scenario.cell.iter_mut().enumerate() {
        let Some(dsch) = cell.dsch.as_mut().filter(|dsch| !dsch.python.is_empty()) else { continue };
        let class = read(&mut dsch.python, &format!("cell.{i}.dsch.python"), SCHEDULER, tree, sources)?;
        dsch.python_scheduler = Some(class);
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
        fail(problem.message.clone())
            .help("the name is relative to the folder of the file that contains it".to_owned())
    })?;
    let python_class = PythonClass { file: place, class: class.to_owned(), text };
    *named = format!("{}:{class}", source.relative_folder.join(file).display());
    Ok(python_class)
}
