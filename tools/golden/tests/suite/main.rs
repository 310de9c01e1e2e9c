//! Tests of the goldens of the repository, and of the tool.

mod folder;
mod scenarios;
