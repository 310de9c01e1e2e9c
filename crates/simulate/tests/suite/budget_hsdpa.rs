//! Causes of the time budget that only the HS-DSCH and the E-DCH have: HARQ, reordering, credits.

use umts_record::budget::{Cause, ConnectionBudget};

use crate::budget::{budgets, check_sums};
use crate::common::parse;

/// Octets of the download, and of payload in a segment.
const FILE: u32 = 60_000;
const MSS: u32 = 1_460;

/// One download over the HS-DSCH in a quiet network, with these keys of the cell and of the radio, and
/// with up to `window` segments on their way.
fn download(window: u32, cell: &str, radio: &str) -> ConnectionBudget {
    let text = format!(
        "version = 1\nduration = \"120 s\"\n\
         tcp = {{ advertised_window = \"{window} segments\" }}\n\
         [[cell]]\nname = \"cell\"\nhs_dsch = {{ {cell} }}\n\
         [[ue]]\nname = \"u\"\nbearer = \"hsdpa-7.2\"\n\
         hs_dsch = {{ cqi = 22, errors = \"per_attempt\", {radio} }}\n\
         [[flow]]\nue = \"u\"\ntraffic = \"file\"\nsize = \"{FILE} B\"\n"
    );
    let mut budgets = budgets(&parse(&text));
    budgets.iter().for_each(check_sums);
    budgets.remove(0)
}

fn seconds(budget: &ConnectionBudget, cause: Cause) -> f64 {
    budget.parts.of(cause).as_secs()
}

/// A block is repeated 12 ms after its first transmission (the round trip of HARQ with six processes). Every
/// packet of the downlink waits for that, because every first transmission fails.
#[test]
fn repetitions_of_blocks_are_attributed_to_harq() {
    let error_free = download(1, "", "attempt_errors = [0.0]");
    let repeated = download(1, "", "attempt_errors = [1.0, 0.0]");
    assert_eq!(seconds(&error_free, Cause::Harq), 0.0);
    // The data segments, the SYN-ACK and the FIN.
    let packets = FILE.div_ceil(MSS) + 2;
    let expected = 0.012 * f64::from(packets);
    assert!((seconds(&repeated, Cause::Harq) / expected - 1.0).abs() < 0.01, "{:?}", repeated.parts);
}

/// Each segment waits for credits, and the download takes longer by these waits.
#[test]
fn rare_allocations_are_attributed_to_credits() {
    let often = download(1, "allocation_interval = \"10 ms\"", "attempt_errors = [0.0]");
    let rarely = download(1, "allocation_interval = \"100 ms\"", "attempt_errors = [0.0]");
    let duration_s = |budget: &ConnectionBudget| (budget.until - budget.opened).as_secs();
    let extra = duration_s(&rarely) - duration_s(&often);
    let attributed = seconds(&rarely, Cause::IubCredit) - seconds(&often, Cause::IubCredit);
    assert!(extra > 0.3, "{extra}");
    assert!((attributed / extra - 1.0).abs() < 0.05, "longer by {extra} s, attributed {attributed} s");
}

/// Timer T1 delays the repair by RLC: the receiver learns of a lost block when T1 expires.
#[test]
fn the_wait_for_timer_t1_is_attributed_to_reordering() {
    let lossy = |t1: &str| {
        let cell = format!("max_transmissions = 3, t1 = \"{t1}\"");
        seconds(&download(8, &cell, "attempt_errors = [0.5]"), Cause::Reordering)
    };
    assert_eq!(seconds(&download(8, "", "attempt_errors = [0.0]"), Cause::Reordering), 0.0);
    let (short, long) = (lossy("50 ms"), lossy("400 ms"));
    assert!(long > 3.0 * short && short > 0.0, "{short} s at 50 ms, {long} s at 400 ms");
}

/// Blocks are lost one after the other while others are on their way, and so are retransmissions:
/// with a longer timer T1 the download takes longer, and nearly all of that is due to reordering.
#[test]
fn the_cost_of_a_longer_timer_t1_is_attributed_to_reordering() {
    let lossy =
        |t1: &str| download(8, &format!("max_transmissions = 1, t1 = \"{t1}\""), "attempt_errors = [0.05]");
    let (short, long) = (lossy("50 ms"), lossy("400 ms"));
    let duration_s = |budget: &ConnectionBudget| (budget.until - budget.opened).as_secs();
    let extra = duration_s(&long) - duration_s(&short);
    let attributed = seconds(&long, Cause::Reordering) - seconds(&short, Cause::Reordering);
    println!("longer by {extra} s, attributed {attributed} s");
    assert!(extra > 0.3 && (attributed / extra - 1.0).abs() < 0.25, "{extra} s, {attributed} s");
}
