//! Congestion control in Python: `variant = "python"`, `python = "FILE:CLASS"`. The file is read with the scenario, so that
//! what it says is part of it.

use crate::check;
use crate::error::Problem;
use crate::extends::read_text;
use crate::model::{PythonControl, Scenario, Tcp, TcpVariant};
use crate::tree::{Node, Source};

/// Reads the file of every `[tcp]` with that variant.
pub(crate) fn read_all(scenario: &mut Scenario, tree: &Node, sources: &[Source]) -> Result<(), Problem> {
    read(&mut scenario.tcp, "tcp", tree, sources)?;
    for (i, flow) in scenario.flow.iter_mut().enumerate() {
        read(&mut flow.tcp, &format!("flow.{i}.tcp"), tree, sources)?;
    }
    Ok(())
}

fn read(tcp: &mut Tcp, path: &str, tree: &Node, sources: &[Source]) -> Result<(), Problem> {
    if !matches!(tcp.variant, TcpVariant::User(_)) {
        return Ok(());
    }
    let path = format!("{path}.python");
    let fail = |message: String| check::problem(tree, &path, message).label("this class");
    let help = "write it as in python = \"my_control.py:MyControl\"";
    let Some((file, class)) =
        tcp.python.rsplit_once(':').filter(|(file, class)| !file.is_empty() && !class.is_empty())
    else {
        return Err(
            fail("variant = \"python\" needs a file and a class in it".to_owned()).help(help.to_owned())
        );
    };
    let source = &sources[tree.find(&path).0.at.source];
    let place = source.folder.join(file);
    let text = read_text(&place).map_err(|problem| {
        fail(problem.message.clone())
            .help("the name is relative to the folder of the file that it stands in".to_owned())
    })?;
    tcp.python_control = Some(PythonControl { file: place, class: class.to_owned(), text });
    tcp.python = format!("{}:{class}", source.relative_folder.join(file).display());
    Ok(())
}
