//! The convolutional code of TS 25.212 and TS 25.222, §4.2.3.1: rate 1/2, constraint length 9,
//! generators 561 and 753 octal.

/// Bits in the shift register: the newest one and the eight of the state.
const CONSTRAINT_LENGTH: u32 = 9;
/// Number of states of the encoder.
pub const STATES: usize = 1 << (CONSTRAINT_LENGTH - 1);
/// Number of tail bits, which return the encoder to state 0.
pub const TAIL_BITS: usize = CONSTRAINT_LENGTH as usize - 1;
/// Register bits that each output bit sums. The highest bit is the newest.
const GENERATORS: [usize; 2] = [0o561, 0o753];

/// Returns the state after the input `bit`.
pub fn next(state: usize, bit: usize) -> usize {
    (bit << (CONSTRAINT_LENGTH - 1) | state) >> 1
}

/// Returns the two output bits for the input `bit`.
pub fn output(state: usize, bit: usize) -> [usize; 2] {
    let register = bit << (CONSTRAINT_LENGTH - 1) | state;
    GENERATORS.map(|generator| (register & generator).count_ones() as usize & 1)
}

/// Error events (paths that leave state 0 and return to it for the first time) of one output
/// weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Weight {
    /// The output weight.
    pub d: usize,
    /// Number of paths with this weight.
    pub events: u64,
    /// Sum of the ones among the information bits of these paths.
    pub bits: u64,
}

/// Returns the distance spectrum up to `max_weight`. Paths are followed bit by bit; those in one
/// state and with equal weight are counted together.
pub fn spectrum(max_weight: usize) -> Vec<Weight> {
    let none: Vec<Weight> = (0..=max_weight).map(|d| Weight { d, events: 0, bits: 0 }).collect();
    let weight = |state, bit| output(state, bit).iter().sum::<usize>();
    // Paths that have returned to state 0, and paths that have not, by weight.
    let mut ended = none.clone();
    let mut paths = vec![none.clone(); STATES];
    // Every path begins with a one, which leaves state 0.
    let first = &mut paths[next(0, 1)][weight(0, 1)];
    (first.events, first.bits) = (1, 1);
    while paths.iter().flatten().any(|path| path.events > 0) {
        let mut longer = vec![none.clone(); STATES];
        for (state, by_weight) in paths.iter().enumerate() {
            for path in by_weight.iter().filter(|path| path.events > 0) {
                for bit in [0, 1] {
                    let (next_state, d) = (next(state, bit), path.d + weight(state, bit));
                    if d > max_weight {
                        continue;
                    }
                    let sum = if next_state == 0 { &mut ended[d] } else { &mut longer[next_state][d] };
                    sum.events += path.events;
                    sum.bits += path.bits + bit as u64 * path.events;
                }
            }
        }
        paths = longer;
    }
    ended.into_iter().filter(|weight| weight.events > 0).collect()
}
