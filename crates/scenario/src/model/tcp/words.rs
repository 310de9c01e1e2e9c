//! Keywords and names in `[tcp]`.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A class in a Python file: congestion control, or a scheduler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PythonClass {
    /// The file's path.
    pub file: PathBuf,
    /// Name of the class in the file.
    pub class: String,
    /// The file's text.
    pub text: String,
}

impl PythonClass {
    /// The key under which runs are stored: it depends on the file's text, not on the file's name.
    pub(crate) fn content(&self) -> String {
        format!("{}:{}", blake3::hash(self.text.as_bytes()).to_hex(), self.class)
    }
}

/// Named sets of values for all keys of TCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum TcpProfile {
    /// No profile: each key has its default.
    #[serde(rename = "none")]
    None,
    /// ns-2.29, on which EURANE runs.
    #[serde(rename = "ns2-2.29")]
    Ns2V29,
    /// ns-2.35.
    #[serde(rename = "ns2-2.35")]
    Ns2V35,
    /// Linux 2.4.16 as Rendon et al. (2004) set it up.
    #[serde(rename = "linux-2.4")]
    Linux24,
    /// Linux 2.6.19 to 2.6.38.
    #[serde(rename = "linux-2.6")]
    Linux26,
    /// Linux 6.x with its own defaults.
    #[serde(rename = "linux-6")]
    Linux6,
    /// The RFCs in force in 2026.
    #[serde(rename = "rfc-2026")]
    Rfc2026,
    /// The parameter table of Hu's study of TCP over WCDMA.
    #[serde(rename = "seed-004")]
    Seed004,
}

/// How connections open and close.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TcpConnection {
    /// Three-way handshake, data both ways, FIN (RFC 9293).
    FullDuplex,
    /// ns-2: a SYN and its acknowledgement, data one way, no FIN.
    OneWay,
}
