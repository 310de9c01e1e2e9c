//! Messages to the service manager (`sd_notify(3)`): a systemd unit of `Type=notify` waits for them.
//! Without a service manager, that is, without `NOTIFY_SOCKET`, they have no effect.

use std::io;

use sd_notify::NotifyState;

/// Clients can connect.
pub fn ready() {
    report(sd_notify::notify(&[NotifyState::Ready]));
}

/// The proxy reopens its log and reads its limits. [`ready`] follows.
pub fn reloading() {
    let state = NotifyState::monotonic_usec_now().map(|now| [NotifyState::Reloading, now]);
    report(state.and_then(|state| sd_notify::notify(&state)));
}

/// The proxy accepts no further clients.
pub fn stopping() {
    report(sd_notify::notify(&[NotifyState::Stopping]));
}

fn report(notified: io::Result<()>) {
    if let Err(error) = notified {
        eprintln!("umts: cannot notify the service manager ({error})");
    }
}
