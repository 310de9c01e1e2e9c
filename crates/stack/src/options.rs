//! Declaration of the tables of a scenario beside the code that reads them.

#[cfg(feature = "schema")]
pub(crate) use umts_units::keyword::{Auto, Off, OrNone, SameAsWindow, Unlimited};

/// Declares a configuration that is a table of scenario files, with the name of its schema.
///
/// Each field has its description, its properties in brackets and its default. The properties are,
/// in this order: `label` (in figures), `keyword` (the type of a value that a keyword can replace),
/// `default` (in words), `min`, `max`, `range` (in words) and `source`. A field without properties
/// is not a key. With the feature `schema`, serde reads the table and JSON Schema describes it.
macro_rules! options {
    (
        $(#[$meta:meta])*
        pub struct $name:ident as $table:literal {
            $(
                $(#[$field_meta:meta])*
                $([
                    label = $label:literal
                    $(, keyword = $keyword:literal)?
                    $(, default = $in_words:literal)?
                    $(, min = $min:literal)?
                    $(, max = $max:literal)?
                    $(, range = $range:expr)?
                    $(, source = $source:literal)?
                ])?
                pub $field:ident : $type:ty = $default:expr,
            )+
        }
    ) => {
        $(#[$meta])*
        #[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
        #[cfg_attr(feature = "schema", serde(default, deny_unknown_fields), schemars(rename = $table))]
        pub struct $name {
            $(
                $(#[$field_meta])*
                $(
                    $(#[cfg_attr(feature = "schema", serde(with = $keyword))])?
                    #[cfg_attr(feature = "schema", schemars(extend(
                        "x-label" = $label
                        $(, "x-default" = $in_words)?
                        $(, "x-min" = $min)?
                        $(, "x-max" = $max)?
                        $(, "x-range" = $range)?
                        $(, "x-source" = $source)?
                    )))]
                )?
                pub $field: $type,
            )+
        }

        impl Default for $name {
            fn default() -> Self {
                $name { $($field: $default),+ }
            }
        }
    };
}

pub(crate) use options;

/// A class in a Python file that a key names: congestion control, or a scheduler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PythonClass {
    /// The file's path.
    pub file: std::path::PathBuf,
    /// Name of the class in the file.
    pub class: String,
    /// The file's text.
    pub text: String,
}
