//! A fingerprint of all events, to compare a replay with its emulation.

use std::hash::{Hash, Hasher};

use umts_kernel::TraceSink;
use umts_stack::trace::TraceEvent;
use umts_units::Time;

/// Format of the hashed data. It precedes the hash, because fingerprints of different formats
/// cannot be compared. A fingerprint without a format is a hash of the text of the events.
const FORMAT: &str = "events-2";

/// Bytes that are hashed at once, which is several times faster than hashing each event.
const CHUNK: usize = 16 * 1024;

/// Hash over the bytes of all events and their times.
#[derive(Debug, Default)]
pub struct Digest {
    hasher: blake3::Hasher,
    octets: Octets,
}

impl Digest {
    /// Returns the format, a colon and the hash so far in hexadecimal digits.
    pub fn finish(&mut self) -> String {
        self.take_octets();
        format!("{FORMAT}:{}", self.hasher.finalize().to_hex())
    }

    fn take_octets(&mut self) {
        self.hasher.update(&self.octets.0);
        self.octets.0.clear();
    }
}

impl TraceSink<TraceEvent> for Digest {
    fn record(&mut self, at: Time, event: &TraceEvent) {
        at.hash(&mut self.octets);
        event.hash(&mut self.octets);
        if self.octets.0.len() >= CHUNK {
            self.take_octets();
        }
    }
}

/// Collects hashed values as bytes. Single numbers are little-endian; slices of numbers have the byte
/// order of the machine.
#[derive(Debug, Default)]
struct Octets(Vec<u8>);

macro_rules! number {
    ($($name:ident($type:ty)),*) => {
        $(#[inline]
        fn $name(&mut self, number: $type) {
            self.0.extend_from_slice(&number.to_le_bytes());
        })*
    };
}

impl Hasher for Octets {
    fn write(&mut self, octets: &[u8]) {
        self.0.extend_from_slice(octets);
    }

    number!(write_u8(u8), write_u16(u16), write_u32(u32), write_u64(u64));

    /// Used for lengths.
    #[inline]
    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }

    /// Used for the discriminant of an enumeration. No enumeration has more than 256 variants.
    #[inline]
    fn write_isize(&mut self, number: isize) {
        self.write_u8(number as u8);
    }

    fn finish(&self) -> u64 {
        unreachable!("only the octets are used")
    }
}

#[cfg(test)]
mod tests {
    use umts_stack::ids::{CellId, UeId};
    use umts_stack::trace::{Postponed, Real};

    use super::*;

    fn digest(events: &[(u64, TraceEvent)]) -> String {
        let mut digest = Digest::default();
        events.iter().for_each(|(at, event)| digest.record(Time::from_nanos(*at), event));
        digest.finish()
    }

    fn granted(ue: u16, power: f32) -> TraceEvent {
        TraceEvent::DschGranted {
            ue: UeId(ue),
            cell: CellId(3).0,
            blocks: 2,
            sent: 1,
            spreading_factor: 64,
            wanted: 32,
            code: 5,
            power: Real(power),
        }
    }

    #[test]
    fn digest_depends_on_content_time_order_and_presence_of_events() {
        let postponed = |why| TraceEvent::DschPostponed { ue: UeId(1), cell: 3, why };
        let events = [(5, granted(1, 2.0)), (7, postponed(Postponed::Codes))];
        let others = [
            digest(&[(5, granted(1, 2.0_f32.next_up())), events[1]]),
            digest(&[(5, granted(2, 2.0)), events[1]]),
            digest(&[events[0], (7, postponed(Postponed::Power))]),
            digest(&[events[0], (8, events[1].1)]),
            digest(&[(5, events[1].1), (7, events[0].1)]),
            digest(&events[..1]),
            digest(&[]),
        ];
        assert_eq!(digest(&events), digest(&events));
        assert!(others.iter().all(|other| *other != digest(&events)), "{others:?}");
    }

    #[test]
    fn event_is_hashed_as_the_bytes_of_its_fields() {
        let mut octets = Octets::default();
        granted(0x0102, 1.0).hash(&mut octets);
        assert_eq!(octets.0[1..], [2, 1, 3, 0, 2, 1, 64, 0, 32, 0, 5, 0, 0, 0, 0x80, 0x3f]);
    }

    #[test]
    fn many_events_have_the_hash_of_their_bytes() {
        let mut digest = Digest::default();
        let mut whole = Octets::default();
        for at in 0..5_000 {
            let (at, event) = (Time::from_nanos(at), granted(at as u16, at as f32));
            digest.record(at, &event);
            at.hash(&mut whole);
            event.hash(&mut whole);
        }
        assert!(whole.0.len() > 4 * CHUNK);
        assert_eq!(digest.finish(), format!("{FORMAT}:{}", blake3::hash(&whole.0).to_hex()));
    }
}
