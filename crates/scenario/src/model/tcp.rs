//! Keys of TCP, and `[tcp]` tables in which only some keys are written.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
pub use umts_stack::tcp::{
    ChargedOptions, Nagle, RtoRule, SlowStart, TcpConfig as Tcp, TcpConnection, TcpProfile,
    Variant as TcpVariant, WindowSize as Window,
};

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

    /// Rewrites each value in its canonical form, as in "1 s" instead of "1000 ms". `whole` is the
    /// complete table that was read from these keys.
    pub(crate) fn canonicalise(&mut self, whole: &Tcp) {
        let canonical = serde_json::to_value(whole).expect("every TCP table can be written as JSON");
        for (key, value) in &mut self.0 {
            if let Some(canonical_value) = canonical.get(key) {
                value.clone_from(canonical_value);
            }
        }
    }

    /// Removes the key `profile` after its values were copied to the keys.
    pub(crate) fn remove_profile_name(&mut self) {
        self.0.remove("profile");
    }
}
