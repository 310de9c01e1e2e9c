//! The state of a connection end.

use super::connection::Connection;

/// The states of RFC 9293 §3.3.2, without TIME-WAIT. A one-way connection is in `Listen`,
/// `SynSent`, `Established` or `Closed`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the RFC's names")]
pub enum State {
    Listen,
    SynSent,
    SynReceived,
    Established,
    FinWait1,
    FinWait2,
    CloseWait,
    Closing,
    LastAck,
    Closed,
}

impl Connection {
    pub fn state(&self) -> State {
        let (sender, una) = (&self.sender, self.sender.outstanding.una());
        let peer_finished = self.receiver.is_finished();
        if self.closed {
            State::Closed
        } else if una == 0 && !self.receiver.is_synchronised() {
            if sender.opened { State::SynSent } else { State::Listen }
        } else if una == 0 && !self.config.is_one_way() {
            State::SynReceived
        } else if !sender.fin_sent() {
            if peer_finished { State::CloseWait } else { State::Established }
        } else if sender.fin_acked {
            if peer_finished { State::Closed } else { State::FinWait2 }
        } else if !peer_finished {
            State::FinWait1
        } else if self.fin_answers {
            State::LastAck
        } else {
            State::Closing
        }
    }
}
