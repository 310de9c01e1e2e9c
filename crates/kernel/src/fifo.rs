//! What comes first goes first, and what comes into an empty queue goes to its first place.

use std::collections::VecDeque;

/// To be called when something was taken from a queue: what comes into an empty one goes to its first place then, which is in
/// the cache. A queue that went round all its room would have left it long ago.
#[inline(always)]
pub fn begin_anew_if_empty<T>(queue: &mut VecDeque<T>) {
    if queue.is_empty() {
        queue.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_into_an_empty_queue_goes_to_the_first_place() {
        let mut queue = VecDeque::with_capacity(8);
        queue.push_back(0);
        let first_place = std::ptr::from_ref(&queue[0]);
        for next in 1..100 {
            queue.pop_front();
            begin_anew_if_empty(&mut queue);
            queue.extend([next, next]);
            assert_eq!(std::ptr::from_ref(&queue[0]), first_place);
            queue.pop_front();
            begin_anew_if_empty(&mut queue);
            assert_eq!(queue, [next]);
        }
    }
}
