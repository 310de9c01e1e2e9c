//! Tests of the goldens of the repository, and of the tool.

mod bits;
mod folder;
mod scenarios;
