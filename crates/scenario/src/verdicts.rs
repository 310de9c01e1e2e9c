//! Error traces for `radio.file`: text files of `0` (block received) and `1` (block lost). The
//! digits become the verdicts on the blocks of a radio direction, in order.

use crate::error::Problem;
use crate::model::{BlockErrors, Radio, Scenario};
use crate::named_file::NamedFile;
use crate::tree::{Node, Source};

/// Reads the files of all error traces in `scenario`. Makes their names relative to the scenario's
/// folder.
pub(crate) fn read_all(scenario: &mut Scenario, tree: &Node, sources: &[Source]) -> Result<(), Problem> {
    read_radio(&mut scenario.radio, "radio", tree, sources)?;
    for (i, ue) in scenario.ue.iter_mut().enumerate() {
        if let Some(radio) = &mut ue.radio {
            read_radio(radio, &format!("ue.{i}.radio"), tree, sources)?;
        }
    }
    Ok(())
}

fn read_radio(radio: &mut Radio, path: &str, tree: &Node, sources: &[Source]) -> Result<(), Problem> {
    read(&mut radio.downlink, &format!("{path}.file"), tree, sources)?;
    match &mut radio.uplink {
        Some(uplink) => read(uplink, &format!("{path}.uplink.file"), tree, sources),
        None => Ok(()),
    }
}

fn read(errors: &mut BlockErrors, path: &str, tree: &Node, sources: &[Source]) -> Result<(), Problem> {
    let BlockErrors::Trace { file, verdicts } = errors else { return Ok(()) };
    let file_content = NamedFile::read(file, path, tree, sources)?;
    let read = parse(&file_content.bytes).map_err(|(position, byte)| {
        file_content.problem(&format!(": byte {position} is `{}`, not 0 or 1", byte.escape_ascii())).help(
            "a trace contains 0 for a received block, 1 for a lost block, white space, and comments that begin with #"
                .to_owned(),
        )
    })?;
    if read.is_empty() {
        return Err(file_content.problem(" contains neither 0 nor 1"));
    }
    *verdicts = read.into();
    *file = file_content.name;
    Ok(())
}

/// Returns the verdicts: whether each block is lost. The error is the offset of the first invalid
/// byte, and the byte.
fn parse(bytes: &[u8]) -> Result<Vec<bool>, (usize, u8)> {
    let mut verdicts = Vec::with_capacity(bytes.len());
    let mut is_comment = false;
    for (position, byte) in bytes.iter().enumerate() {
        match byte {
            b'\n' => is_comment = false,
            _ if is_comment => {}
            b'#' => is_comment = true,
            b'0' => verdicts.push(false),
            b'1' => verdicts.push(true),
            byte if byte.is_ascii_whitespace() => {}
            byte => return Err((position, *byte)),
        }
    }
    Ok(verdicts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_white_space_are_ignored() {
        assert_eq!(parse(b"# header 123\n01 1\r\n0# end"), Ok(vec![false, true, true, false]));
    }

    #[test]
    fn invalid_byte_is_reported_with_its_offset() {
        assert_eq!(parse(b"01\n2"), Err((3, b'2')));
    }
}
