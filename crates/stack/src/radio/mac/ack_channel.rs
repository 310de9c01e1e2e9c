//! The common RLC acknowledgment channels of a TDD cell: round robin in the downlink, contention in
//! the uplink (Baiocchi and Vacirca 2002, §II.C).
//!
//! All connections share these channels for the STATUS PDUs of data in the opposite direction, and
//! for all other control PDUs.

use umts_kernel::random::AddressedStream;

use crate::ids::UeId;

/// The downlink channel: waiting UEs send in round robin order.
#[derive(Debug, Clone)]
pub struct AckRoundRobin {
    /// Control PDUs per frame. `None`: unlimited.
    per_frame: Option<u32>,
    /// Sorted.
    waiting: Vec<UeId>,
    /// The UE that was served last.
    last: Option<UeId>,
}

impl AckRoundRobin {
    pub fn new(per_frame: Option<u32>) -> Self {
        AckRoundRobin { per_frame, waiting: Vec::new(), last: None }
    }

    /// Adds `ue`, which has a control PDU to send, to the waiting UEs. Returns whether it was not
    /// waiting already.
    #[inline]
    pub fn add(&mut self, ue: UeId) -> bool {
        let position = self.waiting.binary_search(&ue);
        if let Err(position) = position {
            self.waiting.insert(position, ue);
        }
        position.is_err()
    }

    /// Whether no UE is waiting.
    pub fn is_idle(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Waiting UEs in ascending order.
    pub fn waiting(&self) -> impl Iterator<Item = UeId> {
        self.waiting.iter().copied()
    }

    /// Selects the UEs that send in this frame, starting after the last one that was served. They
    /// are no longer waiting.
    pub fn select_senders(&mut self) -> Vec<UeId> {
        let first = self.last.map_or(0, |last| self.waiting.partition_point(|ue| *ue <= last));
        self.waiting.rotate_left(first);
        let waiting_ues = self.waiting.len();
        let count = self.per_frame.map_or(waiting_ues, |per_frame| waiting_ues.min(per_frame as usize));
        let sending: Vec<UeId> = self.waiting.drain(..count).collect();
        self.waiting.sort_unstable();
        self.last = sending.last().copied().or(self.last);
        sending
    }
}

/// UEs that drew a place in a frame.
#[derive(Debug, PartialEq, Eq)]
pub struct AckContentionOutcome {
    /// UEs whose place no other UE drew. They send.
    pub successful: Vec<UeId>,
    /// UEs that drew the same place as another UE. They back off.
    pub collided: Vec<UeId>,
}

/// The uplink channel: in a frame each waiting UE draws one of the channel's places at random. UEs that
/// draw the same place collide.
#[derive(Debug, Clone)]
pub struct AckContention {
    places: u32,
    longest_backoff: u64,
    draws: AddressedStream,
    /// Waiting UEs, sorted.
    waiting: Vec<UeId>,
    /// By UE: the frame in which it draws a place. `None` if the UE is not waiting.
    draws_in: Vec<Option<u64>>,
    /// The earliest of these frames.
    next: Option<u64>,
}

impl AckContention {
    /// `places` per frame. After a collision a UE draws again within `longest_backoff` frames.
    pub fn new(places: u32, longest_backoff: u64, draws: AddressedStream) -> Self {
        let (waiting, draws_in) = (Vec::new(), Vec::new());
        AckContention { places, longest_backoff, draws, waiting, draws_in, next: None }
    }

    /// Adds `ue`, which has a control PDU to send, to the waiting UEs. It draws in `frame`, unless it
    /// is waiting already, for example because it backs off. Returns whether it was not waiting.
    #[inline]
    pub fn add(&mut self, ue: UeId, frame: u64) -> bool {
        let is_new = self.draws_in.get(ue.index()).is_none_or(Option::is_none);
        if is_new {
            self.start_waiting(ue, frame);
            self.next = Some(self.next.map_or(frame, |next| next.min(frame)));
        }
        is_new
    }

    #[inline(never)]
    fn start_waiting(&mut self, ue: UeId, frame: u64) {
        let length = self.draws_in.len().max(ue.index() + 1);
        self.draws_in.resize(length, None);
        self.draws_in[ue.index()] = Some(frame);
        let position = self.waiting.partition_point(|waiting| *waiting < ue);
        self.waiting.insert(position, ue);
    }

    /// The next frame in which a UE draws.
    pub fn next(&self) -> Option<u64> {
        self.next
    }

    /// Resolves the contention of a frame. `has_control` returns whether a UE still has a control PDU
    /// to send. UEs that succeed or have nothing to send are no longer waiting.
    pub fn resolve(&mut self, frame: u64, mut has_control: impl FnMut(UeId) -> bool) -> AckContentionOutcome {
        let draws = self.draws.tti(frame);
        // Each UE has two draws per frame: one for its place, and one for its back-off.
        let place = |ue: UeId| (draws.bits(2 * u32::from(ue.0)) % u64::from(self.places)) as usize;
        // Number of UEs that drew each place, and the UEs with their places.
        let (mut ues_per_place, mut drawing) = (vec![0_u32; self.places as usize], Vec::new());
        self.waiting.retain(|&ue| {
            let draws_in = &mut self.draws_in[ue.index()];
            let backs_off = draws_in.is_some_and(|draws_in| draws_in > frame);
            if !backs_off {
                *draws_in = None;
                if has_control(ue) {
                    let place = place(ue);
                    ues_per_place[place] += 1;
                    drawing.push((ue, place));
                }
            }
            backs_off
        });
        let (mut successful, mut collided) = (Vec::new(), Vec::new());
        for (ue, place) in drawing {
            if ues_per_place[place] == 1 { successful.push(ue) } else { collided.push(ue) }
        }
        for &ue in &collided {
            let wait = 1 + draws.bits(2 * u32::from(ue.0) + 1) % self.longest_backoff;
            self.start_waiting(ue, frame + wait);
        }
        self.next = self.waiting.iter().filter_map(|ue| self.draws_in[ue.index()]).min();
        AckContentionOutcome { successful, collided }
    }
}

#[cfg(test)]
mod tests {
    use umts_kernel::random::Streams;

    use super::*;

    #[test]
    fn ues_send_in_round_robin_order() {
        let mut downlink = AckRoundRobin::new(Some(2));
        (0..5).for_each(|ue| assert!(downlink.add(UeId(ue))));
        let mut order = Vec::new();
        while !downlink.is_idle() {
            let sending = downlink.select_senders();
            assert!(sending.len() <= 2);
            order.extend(sending.iter().map(|ue| ue.0));
            // UE 0 gets another PDU after the first frame, and is served after the others.
            if order.len() == 2 {
                downlink.add(UeId(0));
            }
        }
        assert_eq!(order, [0, 1, 2, 3, 4, 0]);
    }

    #[test]
    fn all_ues_send_without_a_limit() {
        let mut downlink = AckRoundRobin::new(None);
        (0..40).for_each(|ue| assert!(downlink.add(UeId(ue))));
        assert_eq!(downlink.select_senders().len(), 40);
        assert!(downlink.is_idle());
    }

    /// Contention for `places` per frame, with back-offs of at most 8 frames.
    fn contention(places: u32) -> AckContention {
        AckContention::new(places, 8, Streams::new(1, 0).addressed("ack"))
    }

    fn outcome(successful: &[u16], collided: &[u16]) -> AckContentionOutcome {
        let ues = |numbers: &[u16]| numbers.iter().copied().map(UeId).collect();
        AckContentionOutcome { successful: ues(successful), collided: ues(collided) }
    }

    #[test]
    fn single_ue_succeeds_and_colliding_ues_back_off() {
        let mut uplink = contention(1);
        uplink.add(UeId(3), 10);
        assert_eq!(uplink.resolve(10, |_| true), outcome(&[3], &[]));
        assert_eq!(uplink.next(), None);
        uplink.add(UeId(3), 11);
        assert!(!uplink.add(UeId(3), 12), "UE 3 waits already");
        uplink.add(UeId(4), 11);
        // There is one place, so the two UEs collide.
        assert_eq!(uplink.resolve(11, |_| true), outcome(&[], &[3, 4]));
        assert!(uplink.next().is_some_and(|frame| (12..=19).contains(&frame)));
        // At the end of the longest back-off UE 3 has nothing to send any more.
        let has_control = |ue| ue == UeId(4);
        assert_eq!(uplink.resolve(19, has_control), outcome(&[4], &[]));
        assert_eq!(uplink.next(), None);
    }

    #[test]
    fn all_ues_succeed_eventually() {
        let mut uplink = contention(4);
        (0..32).for_each(|ue| assert!(uplink.add(UeId(ue), 0)));
        let mut served = 0;
        while let Some(frame) = uplink.next() {
            let AckContentionOutcome { successful, .. } = uplink.resolve(frame, |_| true);
            assert!(successful.len() <= 4);
            served += successful.len();
        }
        assert_eq!(served, 32);
    }
}
