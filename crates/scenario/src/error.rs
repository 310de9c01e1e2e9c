//! Mistakes in a scenario, and their locations. The loader and the checks return a [`Problem`];
//! `load.rs` turns all problems of a scenario into one [`ScenarioError`], which prints the lines of
//! the file.

use std::fmt;
use std::ops::{Deref, DerefMut};

use crate::tree::{Origin, Source};

/// A mistake without the texts that it refers to, which are attached when it leaves the loader.
/// Boxed, because all functions of the loader return it.
#[derive(Debug, Clone)]
pub(crate) struct Problem(Box<Mistake>);

#[derive(Debug, Clone, Default)]
pub(crate) struct Mistake {
    /// The mistake in one sentence.
    pub message: String,
    /// Text below the underlined part of the source line. `None`: "here".
    pub label: Option<&'static str>,
    /// A repair.
    pub help: Option<String>,
    /// The part of a source text that is underlined.
    pub origin: Option<Origin>,
    /// The key that is wrong, as in `cell.0.fach.tti`. Empty if the mistake concerns no key.
    pub path: String,
    /// The entry of the enclosing table to point at.
    pub key: Option<String>,
    /// Whether the key itself is wrong, not its value.
    pub key_is_wrong: bool,
    /// The key that is missing in a table.
    pub missing: Option<&'static str>,
    /// Whether the mistake depends on other keys of the same table.
    pub depends: bool,
}

impl Problem {
    pub fn new(message: impl Into<String>) -> Self {
        Problem(Box::new(Mistake { message: message.into(), ..Mistake::default() }))
    }

    pub fn at(mut self, origin: Origin) -> Self {
        self.origin = Some(origin);
        self
    }

    pub fn path(mut self, path: &str) -> Self {
        self.path = path.to_owned();
        self
    }

    pub fn label(mut self, label: &'static str) -> Self {
        self.label = Some(label);
        self
    }

    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl Deref for Problem {
    type Target = Mistake;
    fn deref(&self) -> &Mistake {
        &self.0
    }
}

impl DerefMut for Problem {
    fn deref_mut(&mut self) -> &mut Mistake {
        &mut self.0
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Problem {}

/// Why a scenario is refused: its mistakes with their locations. There is at least one.
///
/// Methods that return one value return the value of the first mistake.
#[derive(Debug, Clone)]
pub struct ScenarioError {
    first: Box<Report>,
    others: Vec<ScenarioError>,
}

#[derive(Debug, Clone)]
struct Report {
    problem: Problem,
    file: String,
    /// Text and position. `None` if the file could not be read; then the message names the file.
    source_line: Option<SourceLine>,
}

#[derive(Debug, Clone)]
struct SourceLine {
    /// The line's text.
    text: String,
    line: usize,
    /// Column of the first character of the mistake, from 1.
    column: usize,
    /// Number of characters of the mistake on this line.
    width: usize,
}

/// The part of a source line that a message shows.
struct Excerpt {
    text: String,
    /// Number of characters before the mistake.
    column: usize,
    /// Number of characters of the mistake.
    width: usize,
}

impl ScenarioError {
    pub(crate) fn new(problem: Problem, sources: &[Source]) -> Self {
        let source = problem.origin.and_then(|origin| sources.get(origin.source));
        let file = source.map(|source| source.name.clone()).unwrap_or_default();
        let source_line =
            source.zip(problem.origin).map(|(source, origin)| SourceLine::of(&source.text, origin));
        ScenarioError { first: Box::new(Report { problem, file, source_line }), others: Vec::new() }
    }

    pub(crate) fn unreadable(file: &str, problem: Problem) -> Self {
        let report = Report { problem, file: file.to_owned(), source_line: None };
        ScenarioError { first: Box::new(report), others: Vec::new() }
    }

    /// Adds further mistakes of the same scenario.
    pub(crate) fn with(mut self, others: Vec<ScenarioError>) -> Self {
        self.others = others;
        self
    }

    /// The further mistakes. None of them is a consequence of another one.
    pub fn others(&self) -> &[ScenarioError] {
        &self.others
    }

    /// One error per mistake, the first included.
    pub fn mistakes(&self) -> impl Iterator<Item = ScenarioError> {
        let errors = std::iter::once(self).chain(&self.others);
        errors.map(|error| ScenarioError { first: error.first.clone(), others: Vec::new() })
    }

    /// The mistake in one sentence.
    pub fn message(&self) -> &str {
        &self.first.problem.message
    }

    /// A repair, if there is an obvious one.
    pub fn help(&self) -> Option<&str> {
        self.first.problem.help.as_deref()
    }

    /// The file's name as given, or `override`.
    pub fn file(&self) -> &str {
        &self.first.file
    }

    /// The line, from 1, if the mistake has a location.
    pub fn line(&self) -> Option<usize> {
        self.first.source_line.as_ref().map(|source_line| source_line.line)
    }

    /// The column in characters, from 1, if the mistake has a location.
    pub fn column(&self) -> Option<usize> {
        self.first.source_line.as_ref().map(|source_line| source_line.column)
    }

    /// The key as an override would spell it (`"cell.0.fach.tti"`). Empty if the mistake concerns
    /// no key.
    pub fn key(&self) -> &str {
        &self.first.problem.path
    }

    /// Each message with the line that it points at, for a terminal. `colour` adds escape
    /// sequences.
    pub fn render(&self, colour: bool) -> String {
        let errors = std::iter::once(self).chain(&self.others);
        errors.map(|error| error.render_one(colour)).collect::<Vec<_>>().join("\n")
    }

    /// Formats one mistake: message, the source line with the wrong part underlined, and help.
    fn render_one(&self, colour: bool) -> String {
        let paint = |code: &str, text: &str| {
            if colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
        };
        let (red, pink, cyan, dim) = ("31", "35;1", "36", "2");
        let mut out = format!("  {} {}\n", paint(red, "×"), printable(self.message()));
        if let Some(source_line) = &self.first.source_line {
            let number = source_line.line.to_string();
            let margin = " ".repeat(number.len());
            let header = format!("╭─[{}:{}:{}]", printable(self.file()), number, source_line.column);
            let Excerpt { text, column, width } = source_line.excerpt();
            let indent = " ".repeat(column);
            let half = width / 2;
            let line = format!("{}┬{}", "─".repeat(half), "─".repeat(width - half - 1));
            let label = format!("╰── {}", self.first.problem.label.unwrap_or("here"));
            out += &format!(" {margin} {}\n", paint(dim, &header));
            out += &format!(" {} {} {text}\n", paint(dim, &number), paint(dim, "│"));
            out += &format!(" {margin} {} {indent}{}\n", paint(dim, "·"), paint(pink, &line));
            out += &format!(
                " {margin} {} {indent}{}{}\n",
                paint(dim, "·"),
                " ".repeat(half),
                paint(pink, &label)
            );
        }
        if let Some(help) = self.help() {
            out += &format!("  {} {}\n", paint(cyan, "help:"), printable(help));
        }
        out
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.first.source_line {
            Some(source_line) => {
                write!(
                    f,
                    "{}:{}:{}: {}",
                    self.first.file,
                    source_line.line,
                    source_line.column,
                    self.message()
                )
            }
            None => f.write_str(self.message()),
        }
    }
}

impl std::error::Error for ScenarioError {}

impl SourceLine {
    fn of(text: &str, origin: Origin) -> SourceLine {
        let start = text.floor_char_boundary(origin.start);
        let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |newline| start + newline);
        let end = text.floor_char_boundary(origin.end).clamp(start, line_end);
        SourceLine {
            text: text[line_start..line_end].trim_end_matches('\r').to_owned(),
            line: text[..start].matches('\n').count() + 1,
            column: text[line_start..start].chars().count() + 1,
            width: text[start..end].chars().count().max(1),
        }
    }

    /// The part of the line that fits a terminal.
    fn excerpt(&self) -> Excerpt {
        const MAX_BEFORE: usize = 60;
        const WIDTH: usize = 160;
        let column = self.column - 1;
        let skipped = column.saturating_sub(MAX_BEFORE);
        let mut text: String = self.text.chars().skip(skipped).take(WIDTH).map(visible).collect();
        if skipped > 0 {
            text.replace_range(..text.chars().next().map_or(0, char::len_utf8), "…");
        }
        Excerpt { text, column: column - skipped, width: self.width.min(WIDTH - MAX_BEFORE) }
    }
}

/// Replaces characters that affect a terminal. The result is one column wide.
fn visible(c: char) -> char {
    match c {
        '\t' => ' ',
        c if c.is_control() => '\u{fffd}',
        // These characters reverse the direction of the text.
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        c => c,
    }
}

fn printable(text: &str) -> String {
    text.lines()
        .map(|line| line.chars().map(visible).collect::<String>())
        .collect::<Vec<_>>()
        .join("\n        ")
}
