//! The goldens of the repository, and the tool that keeps them.

mod folder;
mod scenarios;
