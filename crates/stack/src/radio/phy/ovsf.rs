//! Channelization codes of the downlink: the tree of orthogonal codes with variable spreading factors
//! (OVSF, TS 25.213 §4.3.1). A [`CodeShare`] is a branch that users of a DSCH share per TTI. A
//! [`CodeTree`] allocates codes to DCHs and calls for a long time.
//!
//! A code of spreading factor SF takes 1/SF of the tree's capacity. It cannot be used together with a
//! code on its path to the root or with a code below it.
//!
//! ```text
//!             C(4,3)                       share of the DSCH: a branch
//!        C(8,6)     C(8,7)                 C(SF,k) has the branches C(2SF,2k) and C(2SF,2k+1)
//!   C(16,12) C(16,13) …
//! ```

/// Largest spreading factor of the downlink. Capacities are counted in codes of this spreading factor.
pub const LARGEST_SF: u16 = 512;

/// A code, written C(SF,number), for example C(4,3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code {
    /// A power of two up to [`LARGEST_SF`].
    pub spreading_factor: u16,
    /// Number among the codes of the spreading factor, from 0.
    pub number: u16,
}

impl Code {
    /// The last code of a spreading factor. The first codes belong to the pilot and the common
    /// channels (TS 25.213 §4.3.1.2.1).
    pub fn last(spreading_factor: u16) -> Self {
        Code { spreading_factor, number: spreading_factor - 1 }
    }

    /// Whether one of the two codes is on the other's path to the root, so that they cannot be used
    /// together.
    pub fn meets(self, other: Code) -> bool {
        let (upper, lower) =
            if self.spreading_factor <= other.spreading_factor { (self, other) } else { (other, self) };
        lower.number / (lower.spreading_factor / upper.spreading_factor) == upper.number
    }

    /// Index in a tree stored level by level, with the root at 1.
    fn index(self) -> usize {
        usize::from(self.spreading_factor) + usize::from(self.number)
    }

    /// The inverse of [`Code::index`].
    fn at(index: usize) -> Self {
        let spreading_factor = 1 << index.ilog2();
        Code { spreading_factor, number: index as u16 - spreading_factor }
    }
}

/// A branch of the code tree, written as its share of the tree: `"1/4"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeShare(u16);

impl TreeShare {
    /// The branch of this spreading factor, a power of two up to [`LARGEST_SF`].
    pub fn of(spreading_factor: u16) -> Self {
        TreeShare(spreading_factor)
    }

    /// The spreading factor of the branch.
    pub fn spreading_factor(self) -> u16 {
        self.0
    }
}

impl std::str::FromStr for TreeShare {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let fraction = text.split_once('/').filter(|(numerator, _)| numerator.trim() == "1");
        let denominator = fraction.and_then(|(_, denominator)| denominator.trim().parse::<u16>().ok());
        match denominator.filter(|sf| sf.is_power_of_two() && *sf <= LARGEST_SF) {
            Some(spreading_factor) => Ok(TreeShare(spreading_factor)),
            None => Err(format!(
                "`{text}` is no branch of the code tree: write 1/1, 1/2, 1/4 … or 1/{LARGEST_SF}, as in \"1/4\""
            )),
        }
    }
}

impl std::fmt::Display for TreeShare {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "1/{}", self.0)
    }
}

#[cfg(feature = "schema")]
umts_units::as_text!(
    TreeShare,
    "TreeShare",
    "a branch of the code tree, as in \"1/4\"",
    r"^\s*1\s*/\s*(1|2|4|8|16|32|64|128|256|512)\s*$"
);

/// Capacity of a code in codes of [`LARGEST_SF`].
fn leaves(spreading_factor: u16) -> u16 {
    LARGEST_SF / spreading_factor
}

/// A branch of the tree for users that get a code for one TTI. The codes are allocated afresh in each
/// TTI, so Kraft's inequality is sufficient: codes with capacities that add up to at most the branch can
/// always be assigned, if the smallest spreading factors are assigned first.
///
/// This also holds if TTIs begin in two phases, half a TTI apart. One phase allocates from the left
/// end of the branch, the other from the right end. So allocations that fit do not overlap, and each
/// user keeps its code for a whole TTI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodeShare {
    branch: Code,
    /// Free capacity in codes of [`LARGEST_SF`].
    free: u16,
    /// Capacity that the other phase, which is in the middle of its TTI, holds.
    held_by_other_phase: u16,
}

/// The end of a branch from which codes are allocated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The end with the smallest numbers.
    Left,
    /// The end with the largest numbers.
    Right,
}

impl CodeShare {
    /// The branch below this code.
    pub fn new(branch: Code) -> Self {
        CodeShare { branch, free: leaves(branch.spreading_factor), held_by_other_phase: 0 }
    }

    /// Begins a TTI: all codes are free.
    pub fn begin(&mut self) {
        self.free = leaves(self.branch.spreading_factor);
    }

    /// Begins the TTIs of one phase: the codes of its previous TTIs become free, and the codes of the
    /// other phase stay allocated.
    pub fn begin_phase(&mut self) {
        let whole = leaves(self.branch.spreading_factor);
        // The phases change roles. So far `held_by_other_phase` counts the previous codes of this
        // phase, which become free now. The other phase took the other codes that are not free.
        self.held_by_other_phase = whole - self.free - self.held_by_other_phase;
        self.free = whole - self.held_by_other_phase;
    }

    /// Takes a code of this spreading factor. Returns whether there is room in this TTI.
    #[inline]
    pub fn take(&mut self, spreading_factor: u16) -> bool {
        // A code above the branch is larger than the branch.
        let remaining = self.free.checked_sub(leaves(spreading_factor));
        self.free = remaining.unwrap_or(self.free);
        remaining.is_some()
    }

    /// Free codes as a share of the whole tree.
    pub fn free(&self) -> f64 {
        f64::from(self.free) / f64::from(LARGEST_SF)
    }

    /// Assigns codes from one end of the branch, without gaps, to the spreading factors taken since the
    /// TTI began. They must be in ascending order.
    pub fn codes(&self, end: End, ascending: impl IntoIterator<Item = u16>) -> impl Iterator<Item = Code> {
        let whole = leaves(self.branch.spreading_factor);
        let (first_leaf_of_branch, mut taken) = (self.branch.number * whole, 0);
        ascending.into_iter().map(move |spreading_factor| {
            let taken_before = taken;
            taken += leaves(spreading_factor);
            let first_leaf = match end {
                End::Left => first_leaf_of_branch + taken_before,
                End::Right => first_leaf_of_branch + whole - taken,
            };
            Code { spreading_factor, number: first_leaf / leaves(spreading_factor) }
        })
    }
}

/// A tree of long-lived codes. The tree can fragment: a code may not fit although enough capacity is
/// free in total.
#[derive(Debug, Clone)]
pub struct CodeTree {
    /// By index of a code: capacity of the largest free code in its branch. 0: none is free.
    free: Vec<u16>,
}

impl Default for CodeTree {
    fn default() -> Self {
        CodeTree::new()
    }
}

impl CodeTree {
    pub fn new() -> Self {
        // Index 0 belongs to no code.
        let codes = (1..2 * usize::from(LARGEST_SF)).map(Code::at);
        let capacities = codes.map(|code| leaves(code.spreading_factor));
        CodeTree { free: std::iter::once(0).chain(capacities).collect() }
    }

    /// Whether `code` can be allocated.
    pub fn is_free(&self, code: Code) -> bool {
        // An allocated code has 0 at its own index. The entries below it are unchanged.
        let mut above =
            std::iter::successors(Some(code.index() / 2), |at| Some(at / 2)).take_while(|&at| at > 0);
        self.free[code.index()] == leaves(code.spreading_factor) && above.all(|at| self.free[at] > 0)
    }

    /// Whether a code of this spreading factor can be allocated.
    pub fn has_free(&self, spreading_factor: u16) -> bool {
        self.free[1] >= leaves(spreading_factor)
    }

    /// Allocates a code of this spreading factor in the smallest free branch that fits, the
    /// leftmost of several. This keeps large branches free.
    pub fn allocate(&mut self, spreading_factor: u16) -> Option<Code> {
        const ROOT: usize = 1;
        if !self.has_free(spreading_factor) {
            return None;
        }
        let needed = leaves(spreading_factor);
        // Goes down to the level of the spreading factor.
        let mut index = ROOT;
        while index < usize::from(spreading_factor) {
            let (left, right) = (self.free[2 * index], self.free[2 * index + 1]);
            let goes_left = left >= needed && (right < needed || left <= right);
            index = 2 * index + usize::from(!goes_left);
        }
        self.set(index, 0);
        Some(Code::at(index))
    }

    /// Allocates this code.
    ///
    /// # Panics
    /// Panics if the code is not free.
    pub fn reserve(&mut self, code: Code) {
        assert!(self.is_free(code), "{code:?} is taken");
        self.set(code.index(), 0);
    }

    /// Releases an allocated code.
    pub fn release(&mut self, code: Code) {
        self.set(code.index(), leaves(code.spreading_factor));
    }

    /// Capacity of the largest free code as a fraction of the tree.
    pub fn largest_free(&self) -> f64 {
        f64::from(self.free[1]) / f64::from(LARGEST_SF)
    }

    /// Sets the free capacity at `index`, and updates the entries above it up to the root.
    fn set(&mut self, index: usize, free: u16) {
        self.free[index] = free;
        let mut parent = index / 2;
        while parent > 0 {
            let (left, right) = (self.free[2 * parent], self.free[2 * parent + 1]);
            let whole = leaves(Code::at(parent).spreading_factor);
            // Two free halves form a free whole.
            self.free[parent] = if left + right == whole { whole } else { left.max(right) };
            parent /= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DSCH: Code = Code { spreading_factor: 4, number: 3 };

    fn code(spreading_factor: u16, number: u16) -> Code {
        Code { spreading_factor, number }
    }

    #[test]
    fn codes_conflict_on_the_path_to_the_root() {
        let cases = [
            (code(4, 3), code(8, 7), true),
            (code(4, 3), code(128, 96), true),
            (code(4, 3), code(128, 95), false),
            (code(8, 6), code(8, 7), false),
            (code(8, 6), code(8, 6), true),
            (code(16, 0), code(4, 0), true),
        ];
        for (first, second, conflict) in cases {
            assert_eq!(first.meets(second), conflict, "{first:?} and {second:?}");
            assert_eq!(second.meets(first), conflict, "{second:?} and {first:?}");
        }
    }

    #[test]
    fn a_quarter_holds_32_codes_of_128_and_no_more() {
        for (spreading_factor, fit) in [(4, 1), (8, 2), (16, 4), (32, 8), (64, 16), (128, 32), (256, 64)] {
            let mut share = CodeShare::new(DSCH);
            assert!((0..fit).all(|_| share.take(spreading_factor)), "SF {spreading_factor}");
            assert!(!share.take(spreading_factor), "SF {spreading_factor}");
            assert_eq!(share.free(), 0.0);
        }
        assert!(!CodeShare::new(DSCH).take(2), "a code above the branch");
    }

    proptest! {
        /// Kraft's sum never exceeds the share, and codes that fit never overlap.
        #[test]
        fn code_sets_within_the_kraft_sum_are_assignable(
            branch in 0_u32..4,
            wants in prop::collection::vec((2_u32..10).prop_map(|level| 1_u16 << level), 0..80),
        ) {
            let branch = Code::last(1 << branch);
            let mut share = CodeShare::new(branch);
            let mut taken: Vec<u16> = wants.iter().copied().filter(|&sf| share.take(sf)).collect();
            let kraft: f64 = taken.iter().map(|&sf| 1.0 / f64::from(sf)).sum();
            let whole = 1.0 / f64::from(branch.spreading_factor);
            prop_assert!(kraft <= whole);
            prop_assert_eq!(whole - kraft, share.free());
            taken.sort_unstable();
            for end in [End::Left, End::Right] {
                let codes: Vec<Code> = share.codes(end, taken.iter().copied()).collect();
                prop_assert_eq!(codes.iter().map(|code| code.spreading_factor).collect::<Vec<_>>(), taken.clone());
                prop_assert!(codes.iter().all(|code| branch.meets(*code) && code.spreading_factor >= branch.spreading_factor));
                prop_assert!(none_meet(&codes), "{:?}", codes);
            }
        }

        /// The same for two phases: the codes of both together stay within the share and never
        /// overlap.
        #[test]
        fn code_sets_of_both_phases_within_the_kraft_sum_are_assignable(
            branch in 0_u32..4,
            phases in prop::collection::vec(prop::collection::vec((2_u32..10).prop_map(|level| 1_u16 << level), 0..40), 1..12),
        ) {
            let branch = Code::last(1 << branch);
            let whole = 1.0 / f64::from(branch.spreading_factor);
            let (mut share, mut codes_of_other_phase) = (CodeShare::new(branch), Vec::new());
            for (phase, wants) in phases.into_iter().enumerate() {
                share.begin_phase();
                let mut taken: Vec<u16> = wants.iter().copied().filter(|&sf| share.take(sf)).collect();
                taken.sort_unstable();
                let end = if phase % 2 == 0 { End::Left } else { End::Right };
                let codes: Vec<Code> = share.codes(end, taken).collect();
                let held: Vec<Code> = codes_of_other_phase.iter().chain(&codes).copied().collect();
                let kraft: f64 = held.iter().map(|code: &Code| 1.0 / f64::from(code.spreading_factor)).sum();
                prop_assert!(kraft <= whole);
                prop_assert_eq!(whole - kraft, share.free());
                prop_assert!(held.iter().all(|code| branch.meets(*code)));
                prop_assert!(none_meet(&held), "{:?}", held);
                codes_of_other_phase = codes;
            }
        }

        /// A tree allocates only free codes and refuses only if there is none. Released codes can
        /// be allocated again.
        #[test]
        fn tree_allocates_only_free_codes(
            requests in prop::collection::vec(((2_u32..10).prop_map(|level| 1_u16 << level), any::<prop::sample::Index>()), 0..120),
        ) {
            let (mut tree, mut taken) = (CodeTree::new(), vec![code(4, 3)]);
            tree.reserve(taken[0]);
            for (step, (spreading_factor, which)) in requests.into_iter().enumerate() {
                if step % 3 == 2 {
                    tree.release(taken.swap_remove(which.index(taken.len())));
                    if taken.is_empty() {
                        prop_assert_eq!(tree.largest_free(), 1.0);
                        tree.reserve(code(4, 3));
                        taken.push(code(4, 3));
                    }
                    continue;
                }
                let mut all = (0..spreading_factor).map(|number| code(spreading_factor, number));
                let is_any_free = all.any(|code| taken.iter().all(|other| !other.meets(code)));
                match tree.allocate(spreading_factor) {
                    Some(code) => taken.push(code),
                    None => prop_assert!(!is_any_free, "SF {} beside {:?}", spreading_factor, taken),
                }
                prop_assert!(none_meet(&taken), "{:?}", taken);
            }
        }
    }

    /// Whether all of the codes can be used together.
    fn none_meet(codes: &[Code]) -> bool {
        codes.iter().enumerate().all(|(n, code)| codes[..n].iter().all(|other| !other.meets(*code)))
    }

    #[test]
    fn smallest_holes_are_filled_first_and_merge_on_release() {
        let mut tree = CodeTree::new();
        let first = tree.allocate(8).unwrap();
        let second = tree.allocate(16).unwrap();
        assert_eq!([first, second], [code(8, 0), code(16, 2)]);
        // The sibling branch is preferred to a part of the untouched half.
        assert_eq!(tree.allocate(32), Some(code(32, 6)));
        tree.release(code(32, 6));
        tree.release(second);
        assert!(tree.is_free(code(8, 1)) && !tree.is_free(code(4, 0)) && !tree.is_free(code(16, 1)));
        tree.release(first);
        assert_eq!(tree.largest_free(), 1.0);
    }
}
