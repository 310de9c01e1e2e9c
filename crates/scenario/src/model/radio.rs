//! Tables of the block errors of the radio.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umts_stack::radio::phy;
pub use umts_stack::radio::phy::ErrorUnit;
use umts_units::Probability;

use crate::text::KeyError;

/// Block errors. These fields apply to the downlink; `uplink` applies to the uplink, which is
/// error-free if absent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "RadioTable", into = "RadioTable")]
pub struct Radio {
    /// From the Node B to the user.
    pub downlink: BlockErrors,
    /// From the user to the Node B; error-free if absent.
    pub uplink: Option<BlockErrors>,
}

impl Default for Radio {
    fn default() -> Self {
        Radio { downlink: BlockErrors::ErrorFree, uplink: None }
    }
}

/// Which blocks are lost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "BlockErrorsTable", into = "BlockErrorsTable")]
pub enum BlockErrors {
    /// No block is lost.
    ErrorFree,
    /// Blocks are lost independently, with one probability.
    Independent {
        /// Block error ratio.
        bler: Probability,
        /// Blocks that are lost together.
        unit: ErrorUnit,
    },
    /// Two-state Markov chain (Gilbert and Elliott).
    Gilbert {
        /// Probability of a change from the good state to the bad, per step.
        p_good_to_bad: Probability,
        /// Probability of a change from the bad state to the good, per step.
        p_bad_to_good: Probability,
        /// Block error ratio in the good state.
        bler_good: Probability,
        /// Block error ratio in the bad state.
        bler_bad: Probability,
        /// Unit of a step of the chain: before each PDU or before each TTI.
        step: ErrorUnit,
    },
    /// One verdict per block, `0` received and `1` lost. The sequence repeats when it ends.
    Trace {
        /// Name of the file, relative to the folder of the scenario file.
        file: String,
        /// Content of the file: `true` is lost. Filled in by the loader, and never empty in a
        /// loaded scenario.
        verdicts: Arc<[bool]>,
    },
}

impl From<&BlockErrors> for phy::ErrorModel {
    fn from(errors: &BlockErrors) -> Self {
        match *errors {
            BlockErrors::ErrorFree => phy::ErrorModel::ErrorFree,
            BlockErrors::Independent { bler, unit } => {
                phy::ErrorModel::Independent { bler: bler.value(), unit }
            }
            BlockErrors::Gilbert { p_good_to_bad, p_bad_to_good, bler_good, bler_bad, step } => {
                phy::ErrorModel::Gilbert {
                    good_to_bad: p_good_to_bad.value(),
                    bad_to_good: p_bad_to_good.value(),
                    bler_good: bler_good.value(),
                    bler_bad: bler_bad.value(),
                    step,
                }
            }
            BlockErrors::Trace { ref verdicts, .. } => phy::ErrorModel::Trace(verdicts.clone()),
        }
    }
}

/// The kinds of block errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorModel {
    /// No block is lost.
    ErrorFree,
    /// Each block is lost with probability `bler`.
    Independent,
    /// A Markov chain of a good and a bad state.
    Gilbert,
    /// Verdicts are read from a file.
    Trace,
}

impl ErrorModel {
    fn keyword(self) -> &'static str {
        match self {
            ErrorModel::ErrorFree => "error_free",
            ErrorModel::Independent => "independent",
            ErrorModel::Gilbert => "gilbert",
            ErrorModel::Trace => "trace",
        }
    }
}

/// The keys of block errors occur in two tables, `[radio]` and `[radio.uplink]`. This macro
/// declares them for both.
macro_rules! block_errors_table {
    ($rename:literal, struct $name:ident { $($more:tt)* }) => {
        #[derive(Clone, Default, Serialize, Deserialize, JsonSchema)]
        #[serde(default, deny_unknown_fields, rename = $rename)]
        struct $name {
            /// Model of block errors. If absent, it follows from the other keys.
            #[serde(skip_serializing_if = "Option::is_none")]
            #[schemars(with = "ErrorModel", extend("x-label" = "Error model", "x-default" = "error_free; independent if bler is given"))]
            model: Option<ErrorModel>,
            /// Block error ratio (`independent`).
            #[serde(skip_serializing_if = "Option::is_none")]
            #[schemars(with = "Probability", extend("x-label" = "Block error rate"))]
            bler: Option<Probability>,
            /// Blocks that are lost together: one PDU, or all blocks of a TTI (`independent`).
            #[serde(skip_serializing_if = "Option::is_none")]
            #[schemars(with = "ErrorUnit", extend("x-label" = "Unit of errors", "x-default" = "pdu"))]
            unit: Option<ErrorUnit>,
            /// Probability of a change from the good state to the bad, per step (`gilbert`).
            #[serde(skip_serializing_if = "Option::is_none")]
            #[schemars(with = "Probability", extend("x-label" = "Probability from good to bad", "x-source" = "Dubois (2005), Table 7.1: 0.0087"))]
            p_good_to_bad: Option<Probability>,
            /// Probability of a change from the bad state to the good, per step (`gilbert`).
            #[serde(skip_serializing_if = "Option::is_none")]
            #[schemars(with = "Probability", extend("x-label" = "Probability from bad to good", "x-source" = "Dubois (2005), Table 7.1: 0.1491"))]
            p_bad_to_good: Option<Probability>,
            /// Block error ratio in the good state (`gilbert`).
            #[serde(skip_serializing_if = "Option::is_none")]
            #[schemars(with = "Probability", extend("x-label" = "Block error rate, good state", "x-default" = 0.0))]
            bler_good: Option<Probability>,
            /// Block error ratio in the bad state (`gilbert`).
            #[serde(skip_serializing_if = "Option::is_none")]
            #[schemars(with = "Probability", extend("x-label" = "Block error rate, bad state", "x-default" = 1.0))]
            bler_bad: Option<Probability>,
            /// Unit of a step of the chain: before each PDU, or before each TTI (`gilbert`).
            #[serde(skip_serializing_if = "Option::is_none")]
            #[schemars(with = "ErrorUnit", extend("x-label" = "Step of the error model", "x-default" = "pdu"))]
            step: Option<ErrorUnit>,
            /// Text file of verdicts, `0` received and `1` lost, relative to the folder of the
            /// scenario file (`trace`).
            #[serde(skip_serializing_if = "Option::is_none")]
            #[schemars(with = "String", extend("x-label" = "Error trace"))]
            file: Option<String>,
            $($more)*
        }

        impl $name {
            fn errors(self) -> Result<BlockErrors, KeyError> {
                use ErrorModel::{Gilbert, Independent, Trace};
                let key = |name, is_present, model| ModelKey { name, is_present, model };
                let keys = [
                    key("bler", self.bler.is_some(), Independent),
                    key("unit", self.unit.is_some(), Independent),
                    key("p_good_to_bad", self.p_good_to_bad.is_some(), Gilbert),
                    key("p_bad_to_good", self.p_bad_to_good.is_some(), Gilbert),
                    key("bler_good", self.bler_good.is_some(), Gilbert),
                    key("bler_bad", self.bler_bad.is_some(), Gilbert),
                    key("step", self.step.is_some(), Gilbert),
                    key("file", self.file.is_some(), Trace),
                ];
                match model_of(self.model, &keys)? {
                    ErrorModel::ErrorFree => Ok(BlockErrors::ErrorFree),
                    Independent => Ok(BlockErrors::Independent {
                        bler: needed(self.bler, Independent, "bler = 0.01")?,
                        unit: self.unit.unwrap_or(ErrorUnit::Pdu),
                    }),
                    Gilbert => Ok(BlockErrors::Gilbert {
                        p_good_to_bad: needed(self.p_good_to_bad, Gilbert, "p_good_to_bad = 0.0087")?,
                        p_bad_to_good: needed(self.p_bad_to_good, Gilbert, "p_bad_to_good = 0.1491")?,
                        bler_good: self.bler_good.unwrap_or(Probability::ZERO),
                        bler_bad: self.bler_bad.unwrap_or(Probability::new(1.0).expect("one is a probability")),
                        step: self.step.unwrap_or(ErrorUnit::Pdu),
                    }),
                    Trace => Ok(BlockErrors::Trace {
                        file: needed(self.file, Trace, "file = \"errors.txt\"")?,
                        verdicts: Arc::default(),
                    }),
                }
            }

            fn from_errors(errors: BlockErrors) -> Self {
                let mut table = Self::default();
                match errors {
                    BlockErrors::ErrorFree => table.model = Some(ErrorModel::ErrorFree),
                    BlockErrors::Independent { bler, unit } => {
                        table.model = Some(ErrorModel::Independent);
                        (table.bler, table.unit) = (Some(bler), Some(unit));
                    }
                    BlockErrors::Gilbert { p_good_to_bad, p_bad_to_good, bler_good, bler_bad, step } => {
                        table.model = Some(ErrorModel::Gilbert);
                        (table.p_good_to_bad, table.p_bad_to_good) = (Some(p_good_to_bad), Some(p_bad_to_good));
                        (table.bler_good, table.bler_bad) = (Some(bler_good), Some(bler_bad));
                        table.step = Some(step);
                    }
                    BlockErrors::Trace { file, .. } => {
                        (table.model, table.file) = (Some(ErrorModel::Trace), Some(file));
                    }
                }
                table
            }
        }
    };
}

block_errors_table! {
    "BlockErrors", struct BlockErrorsTable {}
}

block_errors_table! {
    "Radio", struct RadioTable {
        /// Block errors from the user to the Node B; error-free if absent.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "BlockErrorsTable", extend("x-label-suffix" = ", uplink"))]
        uplink: Option<BlockErrors>,
    }
}

/// A key that belongs to one model of block errors.
struct ModelKey {
    name: &'static str,
    /// Whether the table has the key.
    is_present: bool,
    /// The model to which the key belongs.
    model: ErrorModel,
}

/// Returns the model that is named or that the keys imply. A key of another model is an error.
fn model_of(named: Option<ErrorModel>, keys: &[ModelKey]) -> Result<ErrorModel, KeyError> {
    let mut present = keys.iter().filter(|key| key.is_present);
    let implied = present.clone().next().map(|key| key.model);
    let model = named.or(implied).unwrap_or(ErrorModel::ErrorFree);
    match present.find(|key| key.model != model) {
        None => Ok(model),
        Some(&ModelKey { name: key, model: owner, .. }) => {
            let (owner, model) = (owner.keyword(), model.keyword());
            let help = match counterpart(key, model) {
                Some(there) => format!("with \"{model}\" write {there}, or choose model = \"{owner}\""),
                None => format!("leave it out, or choose model = \"{owner}\""),
            };
            Err(KeyError::new(key, format!("belongs to model = \"{owner}\", not to \"{model}\"")).help(help))
        }
    }
}

/// The key of `model` that corresponds to `key` of another model.
fn counterpart(key: &str, model: &str) -> Option<&'static str> {
    match (key, model) {
        ("unit", "gilbert") => Some("step"),
        ("step", "independent") => Some("unit"),
        ("bler", "gilbert") => Some("bler_good and bler_bad"),
        ("bler_good" | "bler_bad", "independent") => Some("bler"),
        _ => None,
    }
}

/// Returns the value of a key that `model` needs. The help shows `example`, the key with a value.
fn needed<T>(value: Option<T>, model: ErrorModel, example: &str) -> Result<T, KeyError> {
    value.ok_or_else(|| {
        KeyError::new("model", format!("= \"{}\" needs more, as in {example}", model.keyword()))
    })
}

impl TryFrom<BlockErrorsTable> for BlockErrors {
    type Error = KeyError;
    fn try_from(table: BlockErrorsTable) -> Result<Self, KeyError> {
        table.errors()
    }
}

impl From<BlockErrors> for BlockErrorsTable {
    fn from(errors: BlockErrors) -> Self {
        BlockErrorsTable::from_errors(errors)
    }
}

impl TryFrom<RadioTable> for Radio {
    type Error = KeyError;
    fn try_from(mut table: RadioTable) -> Result<Self, KeyError> {
        let uplink = table.uplink.take();
        Ok(Radio { downlink: table.errors()?, uplink })
    }
}

impl From<Radio> for RadioTable {
    fn from(radio: Radio) -> Self {
        RadioTable { uplink: radio.uplink, ..RadioTable::from_errors(radio.downlink) }
    }
}
