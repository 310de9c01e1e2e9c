//! Counts with their units: `"5 SDUs"`, `"64 frames"`.

use umts_units::count_of;

/// Defines a count with text form, as in `"9 things"` and `"1 thing"`.
macro_rules! count {
    ($(#[$doc:meta])* $name:ident, $title:literal, $noun:literal, $one:literal, $description:literal, $pattern:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl std::str::FromStr for $name {
            type Err = String;
            fn from_str(text: &str) -> Result<Self, String> {
                match count_of(text, &[$noun, $one]) {
                    Some(count) => count.map($name),
                    None => Err(format!("`{text}` is not a number of {0}: write for example \"20 {0}\"", $noun)),
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{} {}", self.0, if self.0 == 1 { $one } else { $noun })
            }
        }

        #[cfg(feature = "schema")]
        umts_units::as_text!($name, $title, $description, $pattern);
    };
}

count!(
    /// A number of RLC SDUs.
    Sdus, "Sdus", "SDUs", "SDU", "a number of SDUs with its unit, as in \"5 SDUs\"", r"^\+?[0-9]+\s*SDUs?$"
);
count!(
    /// A number of transport blocks.
    Blocks, "Blocks", "blocks", "block", "a number of blocks with its unit, as in \"16 blocks\"", r"^\+?[0-9]+\s*blocks?$"
);
count!(
    /// A number of radio frames of 10 ms.
    Frames, "Frames", "frames", "frame", "a number of frames with its unit, as in \"64 frames\"", r"^\+?[0-9]+\s*frames?$"
);
