//! A Viterbi decoder, and a simulation of blocks over a channel with Gaussian noise.

use umts_kernel::random::Streams;

use crate::bounds::{BLOCK_BITS, Decision};
use crate::code::{STATES, TAIL_BITS, next, output};

/// Numbers of blocks at one SIR.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Count {
    /// Blocks with a decoding error.
    pub lost: u32,
    /// Blocks that were sent.
    pub sent: u32,
}

impl Count {
    /// Returns the block error ratio.
    pub fn ratio(self) -> f64 {
        f64::from(self.lost) / f64::from(self.sent)
    }
}

/// Size of the simulation at each SIR: it ends at either limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Maximum number of losses.
    pub lost: u32,
    /// Maximum number of blocks.
    pub sent: u32,
}

/// Number of steps of the encoder for a block: its bits and its tail.
const STEPS: usize = BLOCK_BITS + TAIL_BITS;

/// The values received for the two bits of a step. Positive values mean 0.
type Received = [f32; 2];

/// Sends blocks of random bits at a SIR in dB, and decodes them. Each decision and SIR has its own
/// random streams.
pub fn simulate(decision: Decision, sir_db: f64, size: Size) -> Count {
    let streams = Streams::new(1, 0);
    let mut bits = streams.stream(&format!("bits/{decision:?}/{sir_db:.2}"));
    let mut noise = streams.stream(&format!("noise/{decision:?}/{sir_db:.2}"));
    // A bit has amplitude 1 and noise of variance 1 / SIR, so its error probability is
    // Q(sqrt(SIR)).
    let deviation = libm::sqrt(libm::exp10(-sir_db / 10.0));
    let mut decoder = Decoder::new();
    let mut count = Count::default();
    while count.lost < size.lost && count.sent < size.sent {
        let block: Vec<usize> = (0..BLOCK_BITS).map(|_| bits.below(2) as usize).collect();
        let received: Vec<Received> = encode(&block)
            .into_iter()
            .map(|pair| {
                pair.map(|bit| {
                    let value = 1.0 - 2.0 * bit as f64 + deviation * noise.normal();
                    if decision == Decision::Hard { value.signum() as f32 } else { value as f32 }
                })
            })
            .collect();
        count.sent += 1;
        count.lost += u32::from(decoder.decode(&received) != block);
    }
    count
}

/// Returns the code word of a block, with its tail.
fn encode(block: &[usize]) -> Vec<[usize; 2]> {
    let mut state = 0;
    let bits = block.iter().copied().chain([0; TAIL_BITS]);
    bits.map(|bit| {
        let pair = output(state, bit);
        state = next(state, bit);
        pair
    })
    .collect()
}

/// Finds the path through the states that matches the received values best. The path begins and
/// ends in state 0.
struct Decoder {
    /// Outputs of the branches into each state, as signs: by predecessor (even, odd), output bit,
    /// and state.
    branches: [[Vec<f32>; 2]; 2],
    /// Correlation of the best path into each state with the received values.
    metrics: Vec<f32>,
    /// Metrics of the even and of the odd predecessors of each state. Each half repeats the other,
    /// because two states have the same predecessors.
    predecessor_metrics: [Vec<f32>; 2],
    /// For each step and state: whether the odd predecessor was better.
    odd_is_better: Vec<bool>,
}

/// The two predecessors of a state, and the input bit that leads from them to it.
struct Predecessors {
    /// The even one, then the odd one.
    states: [usize; 2],
    bit: usize,
}

impl Predecessors {
    fn of(state: usize) -> Self {
        let even = state << 1 & (STATES - 1);
        Predecessors { states: [even, even + 1], bit: state >> (TAIL_BITS - 1) }
    }
}

impl Decoder {
    fn new() -> Self {
        let sign = |which: usize, bit_out: usize, state: usize| {
            let Predecessors { states, bit } = Predecessors::of(state);
            1.0 - 2.0 * output(states[which], bit)[bit_out] as f32
        };
        let branches =
            [0, 1].map(|which| [0, 1].map(|out| (0..STATES).map(|state| sign(which, out, state)).collect()));
        let zeros = || vec![0.0; STATES];
        Decoder {
            branches,
            metrics: zeros(),
            predecessor_metrics: [zeros(), zeros()],
            odd_is_better: vec![false; STEPS * STATES],
        }
    }

    /// Returns the bits of the block.
    fn decode(&mut self, received: &[Received]) -> Vec<usize> {
        self.metrics.fill(f32::NEG_INFINITY);
        self.metrics[0] = 0.0;
        for (step, &pair) in received.iter().enumerate() {
            for (i, states) in self.metrics.chunks_exact(2).enumerate() {
                for (metrics, &metric) in self.predecessor_metrics.iter_mut().zip(states) {
                    metrics[i] = metric;
                    metrics[i + STATES / 2] = metric;
                }
            }
            self.add_compare_select(step, pair);
        }
        self.trace_back(received.len())
    }

    /// Chooses the better predecessor of each state.
    ///
    /// It uses slices of equal length and has no branch in the loop, so that it is vectorised.
    fn add_compare_select(&mut self, step: usize, [first, second]: Received) {
        let [even, odd] = [0, 1].map(|which| {
            let ([first_signs, second_signs], metrics) =
                (&self.branches[which], &self.predecessor_metrics[which]);
            let branches = metrics.iter().zip(first_signs).zip(second_signs);
            branches.map(move |((metric, first_sign), second_sign)| {
                metric + first * first_sign + second * second_sign
            })
        });
        let odd_is_better = &mut self.odd_is_better[step * STATES..(step + 1) * STATES];
        for (((even, odd), metric), odd_is_better) in even.zip(odd).zip(&mut self.metrics).zip(odd_is_better)
        {
            *odd_is_better = odd > even;
            *metric = if odd > even { odd } else { even };
        }
    }

    /// Follows the best path back from state 0.
    fn trace_back(&self, steps: usize) -> Vec<usize> {
        let mut state = 0;
        let mut bits: Vec<usize> = (0..steps)
            .rev()
            .map(|step| {
                let Predecessors { states, bit } = Predecessors::of(state);
                state = states[usize::from(self.odd_is_better[step * STATES + state])];
                bit
            })
            .collect();
        bits.reverse();
        bits.truncate(BLOCK_BITS);
        bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_wrong_bits_are_corrected() {
        let block: Vec<usize> = (0..BLOCK_BITS).map(|n| usize::from(n * n % 7 < 3)).collect();
        let mut word: Vec<Received> =
            encode(&block).into_iter().map(|pair| pair.map(|bit| 1.0 - 2.0 * bit as f32)).collect();
        let mut decoder = Decoder::new();
        assert_eq!(decoder.decode(&word), block);
        // Five wrong bits are less than half of the minimum distance, 12.
        for step in [100, 101, 102, 103, 104] {
            word[step][0] = -word[step][0];
        }
        assert_eq!(decoder.decode(&word), block);
    }
}
