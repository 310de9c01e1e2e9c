//! A table like `[tcp]` of which only the keys that are written count.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Tcp;

/// Keys of `[tcp]` with their values, as a file has them; what is not among them is of whoever the table belongs to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TcpKeys(Map<String, Value>);

impl TcpKeys {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether this one is among them.
    pub fn has(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    /// The same keys with the values of `whole`, which was read from them: one spelling for one value.
    pub(crate) fn spell_as(&mut self, whole: &Tcp) {
        let spelled = serde_json::to_value(whole).expect("a table of TCP holds nothing that JSON cannot say");
        for (key, value) in &mut self.0 {
            if let Some(found) = spelled.get(key) {
                value.clone_from(found);
            }
        }
    }

    /// Leaves out the name of a profile, whose values are all among the keys.
    pub(crate) fn forget_profile(&mut self) {
        self.0.remove("profile");
    }
}
