//! Suggestions for misspelt words: error messages name the known key, value or name that is
//! nearest.

/// The nearest of `known` if at most a third of the letters differ.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let letters = word.chars().count().max(3);
    known
        .into_iter()
        .map(|candidate| (distance(&word, &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance * 3 <= letters)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Number of letters to insert, remove, replace or swap with a neighbour (optimal string
/// alignment).
fn distance(a: &str, b: &str) -> usize {
    // All keys are shorter. The limit avoids the quadratic cost of long input.
    const LONGEST: usize = 64;
    let (a, b): (Vec<char>, Vec<char>) =
        (a.chars().take(LONGEST).collect(), b.chars().take(LONGEST).collect());
    let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            table[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let replaced = table[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let mut best = replaced.min(table[i - 1][j] + 1).min(table[i][j - 1] + 1);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    best = best.min(table[i - 2][j - 2] + 1);
                }
                best
            };
        }
    }
    table[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_key_is_suggested() {
        let known = ["timer_poll", "poll_pdu", "window"];
        assert_eq!(nearest("timer_pol", known), Some("timer_poll"));
        assert_eq!(nearest("widnow", known), Some("window"));
        assert_eq!(nearest("bler", known), None);
    }
}
