//! Memory of an idle entity.

use std::mem::{size_of, size_of_val};

use super::*;
use crate::radio::rlc::Rlc;

/// Octets of three sets of flags.
const FLAGS: usize = 3 * 512;

#[test]
fn an_idle_user_has_no_windows_of_counters() {
    let mut talk = Talk::new(RlcConfig { window: 2048, rx_window: Some(2048), ..config() });
    assert_eq!(talk.am.sender.window_octets(), 0);
    // Both ends of a bearer, of at most 8 KiB for an idle user.
    assert!(2 * (size_of::<Rlc>() + FLAGS) < 5 * 1024, "{} octets", size_of::<Rlc>());
    assert_eq!(size_of_val(&talk.am.sender.nacked), size_of::<usize>());
    talk.queues(0, 100).unwrap();
    talk.transmits(4);
    assert_eq!(talk.am.sender.window_octets(), 0, "nothing was sent again");
}
