//! The convolutional code of TS 25.212 and TS 25.222, §4.2.3.1: rate 1/2, constraint length 9,
//! generators 561 and 753 octal.

/// Bits in the shift register: the newest one and the eight of the state.
const CONSTRAINT: u32 = 9;
/// Number of states of the encoder.
pub const STATES: usize = 1 << (CONSTRAINT - 1);
/// Number of tail bits, which return the encoder to state 0.
pub const TAIL: usize = CONSTRAINT as usize - 1;
const GENERATORS: [usize; 2] = [0o561, 0o753];

/// Returns the state after the input `bit`.
pub fn next(state: usize, bit: usize) -> usize {
    (bit << (CONSTRAINT - 1) | state) >> 1
}

/// Returns the two output bits for the input `bit`.
pub fn output(state: usize, bit: usize) -> [usize; 2] {
    let register = bit << (CONSTRAINT - 1) | state;
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

/// Returns the distance spectrum up to weight `most`. Paths are followed bit by bit; those in one
/// state and with equal weight are counted together.
pub fn spectrum(most: usize) -> Vec<Weight> {
    let mut paths_by_weight = vec![(0, 0); most + 1];
    let mut paths = vec![vec![(0_u64, 0_u64); most + 1]; STATES];
    let weight = |state, bit| output(state, bit).iter().sum::<usize>();
    paths[next(0, 1)][weight(0, 1)] = (1, 1);
    while paths.iter().flatten().any(|&(events, _)| events > 0) {
        let mut longer = vec![vec![(0, 0); most + 1]; STATES];
        for (state, by_weight) in paths.iter().enumerate() {
            for (d, &(events, bits)) in by_weight.iter().enumerate().filter(|(_, (events, _))| *events > 0) {
                for bit in [0, 1] {
                    let (to, d) = (next(state, bit), d + weight(state, bit));
                    if d <= most {
                        let into = if to == 0 { &mut paths_by_weight[d] } else { &mut longer[to][d] };
                        *into = (into.0 + events, into.1 + bits + bit as u64 * events);
                    }
                }
            }
        }
        paths = longer;
    }
    let weights = paths_by_weight.into_iter().enumerate();
    weights
        .filter(|(_, (events, _))| *events > 0)
        .map(|(d, (events, bits))| Weight { d, events, bits })
        .collect()
}
