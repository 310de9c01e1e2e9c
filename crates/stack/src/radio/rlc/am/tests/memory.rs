//! Memory of an idle entity.

use std::mem::{size_of, size_of_val};

use super::*;
use crate::radio::rlc::Rlc;

/// Octets of the three PDU sets of an entity (NACKed, retransmitted, arrived) after their first use:
/// 4096 bits each.
const PDU_SETS: usize = 3 * 4096 / 8;

/// The set of NACKed PDUs is an empty pointer until its first use, and the transmission counts of a
/// window exist only after a retransmission.
#[test]
fn an_idle_user_has_no_memory_for_its_windows() {
    let mut entity = TestEntity::new(RlcConfig { window: 2048, rx_window: Some(2048), ..config() });
    assert_eq!(entity.am.sender.window_octets(), 0);
    // Both ends of a bearer take less than 5 KiB of the 8 KiB that an idle user may take, even if
    // all sets have been used.
    assert!(2 * (size_of::<Rlc>() + PDU_SETS) < 5 * 1024, "{} octets", size_of::<Rlc>());
    assert_eq!(size_of_val(&entity.am.sender.nacked), size_of::<usize>());
    entity.submits(0, 100).unwrap();
    entity.sends_set(4);
    assert_eq!(entity.am.sender.window_octets(), 0, "no PDU was retransmitted");
}
