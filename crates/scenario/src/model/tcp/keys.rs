//! A table like `[tcp]` of which only the written keys count.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Tcp;

/// Keys of `[tcp]` with their values, as written in a file. Other keys keep the values of the table
/// that this one overrides.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TcpKeys(Map<String, Value>);

impl TcpKeys {
    /// Whether no key is written.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether `key` is written.
    pub fn has(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    /// Replaces the values of the keys by those in `whole`, which was read from them. Each value
    /// then has one spelling.
    pub(crate) fn spell_as(&mut self, whole: &Tcp) {
        let spelled = serde_json::to_value(whole).expect("a table of TCP holds nothing that JSON cannot say");
        for (key, value) in &mut self.0 {
            if let Some(found) = spelled.get(key) {
                value.clone_from(found);
            }
        }
    }

    /// Removes the name of a profile, because all its values are among the keys.
    pub(crate) fn forget_profile(&mut self) {
        self.0.remove("profile");
    }
}
