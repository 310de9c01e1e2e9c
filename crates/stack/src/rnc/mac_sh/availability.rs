//! Budgets of a DSCH (downlink shared channel) in a TTI: the codes of its branch of the code tree, and
//! the power of the cell. If the transport format that a user requests does not fit, the user gets the
//! next smaller one, with at least twice the spreading factor. If none fits, the user waits for the next
//! TTI.

use super::MacShConfig;
use crate::ids::UeId;
use crate::radio::phy::ovsf::CodeShare;
use crate::radio::phy::power_control::{Load, PowerConfig};
use crate::radio::phy::sir::Link;
use crate::scheduling::Candidate;
use crate::trace::Postponed;

/// The radio of a cell in a TTI.
#[expect(missing_debug_implementations, reason = "it holds a function")]
#[derive(Clone, Copy)]
pub struct Radio<'a> {
    /// Power parameters of the cell.
    pub power: &'a PowerConfig,
    /// Power that a user receives from other cells, in mW.
    pub interference: &'a dyn Fn(UeId) -> f64,
}

/// Formats of a DSCH with their processing gains.
#[derive(Debug, Clone, Copy)]
pub struct Formats<'a> {
    pub config: &'a MacShConfig,
    pub processing: &'a [f64],
}

impl Formats<'_> {
    /// Link of a candidate in a format, for power control.
    #[inline]
    pub fn link(&self, format: usize, candidate: &Candidate, interference: f64) -> Link {
        candidate.link(&self.config.formats[format], self.processing[format], interference)
    }

    /// Grants the requested format or the next smaller one that codes and power allow, and takes the
    /// code and the power from `codes` and `load`.
    #[inline]
    pub fn allocate(
        &self,
        radio: &Radio<'_>,
        candidate: &Candidate,
        wanted: usize,
        codes: &mut CodeShare,
        load: &mut Load,
    ) -> Result<Allocation, Postponed> {
        let free = *codes;
        let wanted_and_smaller = std::iter::successors(Some(wanted), |&format| self.config.halved(format));
        let mut with_free_code =
            wanted_and_smaller.filter_map(|format| self.take_code(free, format)).peekable();
        if with_free_code.peek().is_none() {
            return Err(Postponed::Codes);
        }
        // If the load without this user already exceeds the power, no format fits.
        if !load.fits(radio.power) {
            return Err(Postponed::Power);
        }
        let interference = (radio.interference)(candidate.ue);
        for FormatWithCode { format, remaining_codes } in with_free_code {
            let link = self.link(format, candidate, interference);
            let increased = load.with(Load::of(radio.power, &link));
            if increased.fits(radio.power) {
                (*codes, *load) = (remaining_codes, increased);
                return Ok(Allocation { format, link });
            }
        }
        Err(Postponed::Power)
    }

    /// Takes a code for `format` from the codes `free`. `None`: no such code is free.
    #[inline]
    fn take_code(&self, free: CodeShare, format: usize) -> Option<FormatWithCode> {
        let mut remaining_codes = free;
        let is_free = remaining_codes.take(self.config.formats[format].spreading_factor);
        is_free.then_some(FormatWithCode { format, remaining_codes })
    }
}

/// A granted format.
#[derive(Debug)]
pub struct Allocation {
    /// Index of the format.
    pub format: usize,
    /// Link of the user in this format, for power control.
    pub link: Link,
}

/// A format for which a code is free.
struct FormatWithCode {
    /// Index of the format.
    format: usize,
    /// The free codes after taking this code.
    remaining_codes: CodeShare,
}
