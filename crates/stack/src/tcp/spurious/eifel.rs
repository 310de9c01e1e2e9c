//! The Eifel detection (RFC 3522): the late ACK of the original segment echoes a timestamp from
//! before the retransmission.

use umts_units::Time;

use crate::packet::Segment;

/// State from a retransmission to the next ACK of new data.
#[derive(Debug, Clone, Copy)]
pub(super) struct Eifel {
    /// The timestamp of the retransmission (RetransmitTS).
    retransmitted: Time,
    /// No ACK of new data has arrived since the retransmission.
    waiting: bool,
}

impl Eifel {
    pub fn new(retransmitted: Time) -> Self {
        Eifel { retransmitted, waiting: true }
    }

    /// Processes an ACK of new data. The first one after the retransmission decides (§3.2 steps 3
    /// to 5). Returns whether the retransmission was spurious.
    pub fn on_new_ack(&mut self, ack: &Segment) -> bool {
        let is_first_ack = std::mem::take(&mut self.waiting);
        // A duplicate report means that both copies arrived and that this ACK is for the second
        // one.
        is_first_ack
            && ack.options.timestamps
            && ack.echo < self.retransmitted
            && ack.sack.duplicate(ack.ack).is_none()
    }
}

#[cfg(test)]
mod tests {
    use umts_units::Duration;

    use super::*;
    use crate::ids::{ConnectionId, Direction};
    use crate::packet::{Options, SackBlocks};

    fn ack(echo_ms: u64) -> Segment {
        let options = Options { timestamps: true, ..Options::default() };
        let echo = Time::ZERO + Duration::from_millis(echo_ms);
        Segment { ack: 1000, options, echo, ..Segment::new(ConnectionId(0), Direction::Uplink) }
    }

    #[test]
    fn first_new_ack_decides_by_its_echo() {
        // The segment was retransmitted at 50 ms.
        let eifel = Eifel::new(Time::ZERO + Duration::from_millis(50));
        assert!(eifel.clone().on_new_ack(&ack(49)), "the ACK of the original");
        assert!(!eifel.clone().on_new_ack(&ack(50)), "the ACK of the retransmission");
        let mut decided = eifel;
        assert!(!decided.on_new_ack(&ack(60)));
        assert!(!decided.on_new_ack(&ack(10)), "only the first ACK decides");
        let duplicate_report = SackBlocks::new(1000, [(1, 500)]);
        assert!(!eifel.clone().on_new_ack(&Segment { sack: duplicate_report, ..ack(49) }));
    }
}
