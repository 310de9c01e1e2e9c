//! Codes of dedicated channels. If codes are limited, they come from the code tree of the cell,
//! which the common channels and the branch of the DSCH share. Otherwise each comes from a
//! secondary scrambling code, and there are always enough.

use super::DchConfig;
use crate::ids::CellId;
use crate::radio::phy::ovsf::{Code, CodeTree, LARGEST_SF};

/// Treatment of a call if the cell that it should change to has no free code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum WithoutCode {
    /// It stays in its cell and tries again at its next measurement.
    #[default]
    Kept,
    /// It is dropped.
    Dropped,
}

/// Codes of a cell that channels other than DCHs and calls use all the time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FixedCodes {
    codes: Vec<Code>,
}

/// Spreading factor of HS-PDSCHs (TS 25.211 §5.3.3.13).
const HS_PDSCH: u16 = 16;
/// Spreading factor of HS-SCCHs (TS 25.211 §5.3.3.12).
const HS_SCCH: u16 = 128;

impl FixedCodes {
    /// The branch `dsch` of the DSCH, the branch of the common channels, and the code of the
    /// S-CCPCH beside it.
    pub fn new(config: &DchConfig, dsch: Option<Code>, sccpch: Option<Code>) -> Self {
        let common = config.common_code();
        let is_beside = |code: &Code| common.is_none_or(|common| !common.meets(*code));
        FixedCodes { codes: dsch.into_iter().chain(common).chain(sccpch.filter(is_beside)).collect() }
    }

    /// With successive codes for `pdschs` HS-PDSCHs, the last ones that are free, and codes for
    /// `scchs` HS-SCCHs, the first ones that are free then. `None` if there is no room for them.
    #[must_use]
    pub fn with_hs_dsch(&self, pdschs: u8, scchs: u8) -> Option<Self> {
        let pdschs = u16::from(pdschs);
        let branch_from =
            |first: u16| (first..first + pdschs).map(|number| Code { spreading_factor: HS_PDSCH, number });
        let is_free = |&first: &u16| branch_from(first).all(|code| self.has_free(code));
        let last_free = (0..=HS_PDSCH - pdschs).rev().find(is_free)?;
        let mut fixed = self.clone();
        fixed.codes.extend(branch_from(last_free));
        for _ in 0..scchs {
            let mut hs_scchs = (0..HS_SCCH).map(|number| Code { spreading_factor: HS_SCCH, number });
            let first_free = hs_scchs.find(|code| fixed.has_free(*code))?;
            fixed.codes.push(first_free);
        }
        Some(fixed)
    }

    /// Whether none of the codes is on the path of `code`.
    pub(super) fn has_free(&self, code: Code) -> bool {
        self.codes.iter().all(|fixed| !fixed.meets(code))
    }

    /// Whether a code of this spreading factor is left.
    pub fn leave(&self, spreading_factor: u16) -> bool {
        (0..spreading_factor).any(|number| self.has_free(Code { spreading_factor, number }))
    }
}

/// The codes of all cells.
#[derive(Debug)]
pub(super) struct DchCodes {
    /// By cell. Empty without a limit.
    trees: Vec<CodeTree>,
    /// Share of each tree that dedicated channels use, in codes of [`LARGEST_SF`].
    taken: Vec<u32>,
}

impl DchCodes {
    /// Codes of `cells` cells beside the fixed ones.
    pub fn new(config: &DchConfig, fixed: &FixedCodes, cells: usize) -> Self {
        // Without a common tree the codes are not counted, and the fixed ones may meet.
        let tree = || {
            let mut tree = CodeTree::new();
            fixed.codes.iter().for_each(|code| tree.reserve(*code));
            tree
        };
        let trees = if config.has_one_tree() { vec![tree(); cells] } else { Vec::new() };
        DchCodes { trees, taken: vec![0; cells] }
    }

    /// Whether the cell has a free code of this spreading factor.
    pub fn has_free(&self, cell: CellId, spreading_factor: u16) -> bool {
        self.trees.get(cell.index()).is_none_or(|tree| tree.has_free(spreading_factor))
    }

    /// A code of this spreading factor, if the cell has one.
    pub fn take(&mut self, cell: CellId, spreading_factor: u16) -> Option<Code> {
        let code = match self.trees.get_mut(cell.index()) {
            Some(tree) => tree.allocate(spreading_factor)?,
            // Any code of a secondary scrambling code.
            None => Code::last(spreading_factor),
        };
        self.taken[cell.index()] += leaves(code);
        Some(code)
    }

    /// Frees a code.
    pub fn release(&mut self, cell: CellId, code: Code) {
        if let Some(tree) = self.trees.get_mut(cell.index()) {
            tree.release(code);
        }
        self.taken[cell.index()] -= leaves(code);
    }

    /// Use of dedicated channels as a share of one tree.
    pub fn used(&self, cell: usize) -> f64 {
        f64::from(self.taken[cell]) / f64::from(LARGEST_SF)
    }
}

/// Share of the tree that a code takes, in codes of [`LARGEST_SF`].
fn leaves(code: Code) -> u32 {
    u32::from(LARGEST_SF / code.spreading_factor)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::radio::phy::ovsf::TreeShare;
    use crate::rnc::multicell::CodeLimit;

    const DSCH: Code = Code { spreading_factor: 4, number: 3 };
    const COMMON: Code = Code { spreading_factor: 32, number: 0 };

    fn one_tree(common: Option<TreeShare>) -> DchConfig {
        DchConfig { codes: CodeLimit::OneTree, common, ..DchConfig::default() }
    }

    /// Codes beside the branch of the DSCH.
    fn codes_beside(config: &DchConfig, sccpch: Option<Code>, cells: usize) -> DchCodes {
        DchCodes::new(config, &FixedCodes::new(config, Some(DSCH), sccpch), cells)
    }

    #[test]
    fn hs_dsch_has_codes_beside_the_other_fixed_ones() {
        let config = one_tree(Some(TreeShare::of(32)));
        let without_dsch = FixedCodes::new(&config, None, None);
        let all =
            without_dsch.with_hs_dsch(15, 4).expect("the other half of the first branch has four codes");
        assert!(!all.leave(512));
        let five = without_dsch.with_hs_dsch(5, 1).expect("there is room");
        assert_eq!(
            five.codes[1..],
            [11, 12, 13, 14, 15]
                .map(|number| Code { spreading_factor: 16, number })
                .into_iter()
                .chain([Code { spreading_factor: 128, number: 4 }])
                .collect::<Vec<_>>()
        );
        let beside_dsch = FixedCodes::new(&config, Some(DSCH), None);
        assert!(beside_dsch.with_hs_dsch(11, 1).is_some() && beside_dsch.with_hs_dsch(12, 1).is_none());
        let mut codes = DchCodes::new(&config, &five, 1);
        // 16 branches of two codes each, less five for HS-PDSCHs, the common channels and the
        // HS-SCCH.
        assert_eq!(
            std::iter::repeat_with(|| codes.take(CellId(0), 32)).take_while(Option::is_some).count(),
            20
        );
    }

    #[test]
    fn one_tree_leaves_23_codes_for_calls() {
        // The tree has 32 codes of spreading factor 32. The DSCH has 8 of them, the common channels
        // 1 or none.
        let cell = CellId(1);
        let left = |common| {
            let mut codes = codes_beside(&one_tree(common), None, 2);
            std::iter::repeat_with(|| codes.take(cell, 32)).take_while(Option::is_some).count()
        };
        assert_eq!((left(Some(TreeShare::of(32))), left(None)), (23, 24));
    }

    #[test]
    fn sccpch_has_a_code_within_the_branch_of_the_common_channels_or_beside_it() {
        let left = |common, spreading_factor| {
            let sccpch = Some(Code { spreading_factor, number: 1 });
            let mut codes = codes_beside(&one_tree(common), sccpch, 1);
            std::iter::repeat_with(|| codes.take(CellId(0), 32)).take_while(Option::is_some).count()
        };
        // Of 24 codes of spreading factor 32 beside the DSCH, the common channels take 1. An
        // S-CCPCH of spreading factor 64 lies within it. One of 32 takes another code, and one of 8
        // four codes.
        let with_common = Some(TreeShare::of(32));
        assert_eq!([64, 32, 8].map(|factor| left(with_common, factor)), [23, 22, 19]);
        // Without a branch of the common channels, the S-CCPCH of 64 takes a code of 32.
        assert_eq!(left(None, 64), 23);
    }

    #[test]
    fn unlimited_codes_are_always_available() {
        let mut codes = codes_beside(&DchConfig::default(), None, 1);
        let taken: Vec<_> = (0..100).filter_map(|_| codes.take(CellId(0), 32)).collect();
        assert_eq!((taken.len(), codes.used(0)), (100, 100.0 / 32.0));
        taken.into_iter().for_each(|code| codes.release(CellId(0), code));
        assert_eq!(codes.used(0), 0.0);
    }

    proptest! {
        /// For any allocations and releases, the codes of a cell overlap neither each other nor
        /// reserved codes, and `used` is the sum of 1/SF.
        #[test]
        fn no_two_codes_lie_on_one_path(
            operations in prop::collection::vec((0_u16..2, (3_u32..10).prop_map(|level| 1_u16 << level), any::<prop::sample::Index>()), 0..200),
        ) {
            let mut codes = codes_beside(&one_tree(Some(TreeShare::of(32))), None, 2);
            let mut held: [Vec<Code>; 2] = [vec![DSCH, COMMON], vec![DSCH, COMMON]];
            for (step, (cell, factor, which)) in operations.into_iter().enumerate() {
                let of = &mut held[usize::from(cell)];
                if step % 3 == 2 && of.len() > 2 {
                    codes.release(CellId(cell), of.swap_remove(2 + which.index(of.len() - 2)));
                } else if let Some(code) = codes.take(CellId(cell), factor) {
                    prop_assert!(of.iter().all(|other| !other.meets(code)), "{:?} beside {:?}", code, of);
                    of.push(code);
                }
                let sum: f64 = of[2..].iter().map(|code| 1.0 / f64::from(code.spreading_factor)).sum();
                prop_assert_eq!(codes.used(usize::from(cell)), sum);
            }
        }
    }
}
