//! Measures a bare timer, to find the best lateness that a machine can reach.

use std::io;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use std::os::fd::AsFd;
use umts_units::Duration;

use crate::clock::lateness::Lateness;
use crate::clock::wall_clock::{monotonic, time_spec};

/// Measures for `duration` how late this process wakes up from a timer that expires every `period`.
///
/// # Errors
/// An error if the kernel cannot create a timer.
pub fn measure_lateness(period: Duration, duration: Duration) -> io::Result<Lateness> {
    let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_CLOEXEC)?;
    let mut lateness = Lateness::new(period);
    let start = monotonic()?;
    let mut due = start;
    while due - start < duration {
        due += period;
        timer.set(Expiration::OneShot(time_spec(due)), TimerSetTimeFlags::TFD_TIMER_ABSTIME)?;
        poll(&mut [PollFd::new(timer.as_fd(), PollFlags::POLLIN)], PollTimeout::NONE)?;
        let now = monotonic()?;
        lateness.record(if now > due { now - due } else { Duration::ZERO });
    }
    Ok(lateness)
}
