//! Names: well formed, not doubled, and known where they are used.

use super::Inspection;
use crate::error::Problem;
use crate::model::{SWITCHED, Scenario};
use crate::reference_bearers;
use crate::suggest::nearest;

/// The bearer of FACH and RACH.
const COMMON: &str = "common";

/// The most user equipments of one scenario: their ids have 16 bits.
const MOST_UES: u64 = 65_535;

/// Whether the name of a scenario may hold this character.
pub(crate) fn is_name_character(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '_' | '.')
}

impl Inspection<'_> {
    pub(super) fn names(&self) -> Result<(), Problem> {
        let Scenario { name, cell, bearer, ue, flow, link, .. } = self.scenario;
        if name.is_empty() || !name.chars().all(is_name_character) {
            let message = format!("`{name}` cannot name a scenario");
            return Err(self.problem("name", message).help("use letters, digits, - _ and .".to_owned()));
        }
        for (i, link) in link.iter().enumerate() {
            self.well_formed(&format!("link.{i}.from"), &link.from)?;
            self.well_formed(&format!("link.{i}.to"), &link.to)?;
        }
        let cells: Vec<&str> = cell.iter().map(|cell| cell.name.as_str()).collect();
        let bearers: Vec<&str> = bearer.iter().map(|bearer| bearer.name.as_str()).collect();
        let ues: Vec<&str> = ue.iter().map(|ue| ue.name.as_str()).collect();
        for (kind, names) in [("cell", &cells), ("bearer", &bearers), ("ue", &ues)] {
            self.distinct(kind, names)?;
        }
        for (taken, meaning) in [(COMMON, "FACH and RACH"), (SWITCHED, "users whose channels RRC chooses")] {
            if let Some(i) = bearers.iter().position(|name| *name == taken) {
                let message = format!("`{taken}` is the bearer of {meaning} and cannot be defined");
                let help = "choose another name".to_owned();
                return Err(self.problem(&format!("bearer.{i}.name"), message).help(help));
            }
        }
        let reference = reference_bearers::dedicated().map(|bearer| bearer.name);
        let dedicated: Vec<&str> = bearers.into_iter().chain(reference).collect();
        let known_bearers: Vec<&str> = [COMMON, SWITCHED].into_iter().chain(dedicated.clone()).collect();
        for (i, ue) in ue.iter().enumerate() {
            self.known(&format!("ue.{i}.cell"), "cell", &ue.cell, &cells)?;
            self.known(&format!("ue.{i}.bearer"), "bearer", &ue.bearer, &known_bearers)?;
            for (number, name) in
                self.scenario.rrc_of(ue).into_iter().flat_map(|rrc| rrc.dch.iter().enumerate())
            {
                self.known(&format!("{}.dch.{number}", self.rrc_path(i)), "bearer", name, &dedicated)?;
            }
        }
        for (i, flow) in flow.iter().enumerate() {
            self.known(&format!("flow.{i}.ue"), "ue", &flow.ue, &ues)?;
        }
        self.number_of_ues()
    }

    fn number_of_ues(&self) -> Result<(), Problem> {
        let total: u64 = self.scenario.ue.iter().map(|ue| u64::from(ue.count)).sum();
        match total {
            0 => Err(self.problem("ue", "there is no user").help("add a [[ue]] with a name".to_owned())),
            1..=MOST_UES => Ok(()),
            _ => Err(self
                .problem("ue", format!("{total} user equipments are too many"))
                .help(format!("a scenario holds {MOST_UES} at most"))),
        }
    }

    fn well_formed(&self, path: &str, name: &str) -> Result<(), Problem> {
        let begins_well = name.chars().next().is_some_and(char::is_alphabetic);
        if begins_well && name.chars().all(|c| is_name_character(c) && c != '.') {
            return Ok(());
        }
        let help = "begin with a letter and go on with letters, digits, - and _".to_owned();
        Err(self.problem(path, format!("`{name}` cannot be a name")).label("this name").help(help))
    }

    fn distinct(&self, kind: &str, names: &[&str]) -> Result<(), Problem> {
        for (i, name) in names.iter().enumerate() {
            let path = format!("{kind}.{i}.name");
            self.well_formed(&path, name)?;
            if names[..i].contains(name) {
                let message = format!("there are two [[{kind}]] of the name `{name}`");
                return Err(self
                    .problem(&path, message)
                    .label("the second")
                    .help("give each its own name".to_owned()));
            }
        }
        Ok(())
    }

    fn known(&self, path: &str, kind: &str, name: &str, names: &[&str]) -> Result<(), Problem> {
        if names.contains(&name) {
            return Ok(());
        }
        let help = match nearest(name, names.iter().copied()) {
            Some(meant) => format!("did you mean \"{meant}\"?"),
            None if names.is_empty() => format!("there is no [[{kind}]]: add one"),
            None => format!("the known names are {}; a [[{kind}]] defines another", names.join(", ")),
        };
        Err(self.problem(path, format!("there is no {kind} `{name}`")).label("this name").help(help))
    }
}
