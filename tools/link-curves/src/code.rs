//! The convolutional code of TS 25.212 and TS 25.222, §4.2.3.1: rate 1/2, constraint length 9, generators 561 and 753 octal.

/// Bits in the shift register: the newest and the eight that are the state.
const CONSTRAINT: u32 = 9;
/// States of the encoder.
pub const STATES: usize = 1 << (CONSTRAINT - 1);
/// Bits that lead the encoder back to state 0.
pub const TAIL: usize = CONSTRAINT as usize - 1;
const GENERATORS: [usize; 2] = [0o561, 0o753];

/// The state after `bit` is put in.
pub fn next(state: usize, bit: usize) -> usize {
    (bit << (CONSTRAINT - 1) | state) >> 1
}

/// The two bits that come out when `bit` is put in.
pub fn output(state: usize, bit: usize) -> [usize; 2] {
    let register = bit << (CONSTRAINT - 1) | state;
    GENERATORS.map(|generator| (register & generator).count_ones() as usize & 1)
}

/// Paths that leave state 0 and come back to it for the first time, by the weight of their output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Weight {
    /// The weight.
    pub d: usize,
    /// How many paths have it.
    pub events: u64,
    /// The ones among the information bits of all of them.
    pub bits: u64,
}

/// The distance spectrum up to weight `most`: paths are followed bit by bit, those in one state and of one weight together.
pub fn spectrum(most: usize) -> Vec<Weight> {
    let mut found = vec![(0, 0); most + 1];
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
                        let into = if to == 0 { &mut found[d] } else { &mut longer[to][d] };
                        *into = (into.0 + events, into.1 + bits + bit as u64 * events);
                    }
                }
            }
        }
        paths = longer;
    }
    let weights = found.into_iter().enumerate();
    weights
        .filter(|(_, (events, _))| *events > 0)
        .map(|(d, (events, bits))| Weight { d, events, bits })
        .collect()
}
