//! Keeps a queue at the start of its buffer.

use std::collections::VecDeque;

/// Call after a pop: resets an empty queue to the start of its buffer. Otherwise the queue would
/// move through its whole capacity, beyond the cache.
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
    fn emptied_queue_restarts_at_the_first_slot() {
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
