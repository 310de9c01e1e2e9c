//! Codes of dedicated channels. If codes are limited, they come from the code tree of the cell, which
//! the common channels and the branch of the DSCH share. Otherwise each comes from a secondary
//! scrambling code, and there are always enough.

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

/// The codes of all cells.
#[derive(Debug)]
pub(super) struct DchCodes {
    /// By cell. Empty without a limit.
    trees: Vec<CodeTree>,
    /// Share of each tree that dedicated channels use, in codes of [`LARGEST_SF`].
    taken: Vec<u32>,
}

impl DchCodes {
    /// Codes of `cells` cells beside `branch`, which the DSCH has, and `sccpch`, which the S-CCPCH has.
    pub fn new(config: &DchConfig, branch: Code, sccpch: Option<Code>, cells: usize) -> Self {
        let common = config.common_code();
        let is_beside = |code: &Code| common.is_none_or(|common| !common.meets(*code));
        let tree = || {
            let mut tree = CodeTree::new();
            tree.reserve(branch);
            common.into_iter().chain(sccpch.filter(is_beside)).for_each(|code| tree.reserve(code));
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

    #[test]
    fn one_tree_leaves_23_codes_for_calls() {
        let cell = CellId(1);
        let with = |common| {
            let mut codes = DchCodes::new(&one_tree(common), DSCH, None, 2);
            std::iter::repeat_with(|| codes.take(cell, 32)).take_while(Option::is_some).count()
        };
        assert_eq!((with(Some(TreeShare::of(32))), with(None)), (23, 24));
    }

    #[test]
    fn sccpch_has_a_code_within_the_branch_of_the_common_channels_or_beside_it() {
        let left = |common, spreading_factor| {
            let sccpch = Some(Code { spreading_factor, number: 1 });
            let mut codes = DchCodes::new(&one_tree(common), DSCH, sccpch, 1);
            std::iter::repeat_with(|| codes.take(CellId(0), 32)).take_while(Option::is_some).count()
        };
        assert_eq!((left(Some(TreeShare::of(32)), 64), left(Some(TreeShare::of(32)), 32)), (23, 22));
        assert_eq!((left(None, 64), left(Some(TreeShare::of(32)), 8)), (23, 19));
    }

    #[test]
    fn unlimited_codes_are_always_available() {
        let mut codes = DchCodes::new(&DchConfig::default(), DSCH, None, 1);
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
            let mut codes = DchCodes::new(&one_tree(Some(TreeShare::of(32))), DSCH, None, 2);
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
