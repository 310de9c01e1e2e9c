//! State of the sending half of a connection end: the outstanding segments, the windows, the
//! retransmission timer's estimator, and permissions to send. `sending.rs` selects what to send,
//! `new_data.rs` makes new segments, `acks.rs` processes acknowledgments, and `expiry.rs` handles
//! the retransmission timer. Sequence numbers and the other end's window are in bytes, the
//! congestion window is in segments.

use umts_kernel::TraceSink;
use umts_units::{Duration, Time};

use crate::context::Context;
use crate::ids::ConnectionId;
use crate::packet::Segment;
use crate::trace::{Real, SendCause, TraceEvent};

use super::config::TcpConfig;
use super::congestion::{ByteCounting, Exit, Flight, Law, Rules, Usage, VariantState, Window};
use super::connection::Connection;
use super::outstanding::Outstanding;
use super::persist::Persist;
use super::round_trips::TimedSegment;
use super::rto::RttEstimator;
use super::spurious::{Adaptation, Episode};
use super::tail_loss::TailLoss;

#[derive(Debug)]
pub(super) struct Sender {
    // The application's data.
    /// The SYN may be sent.
    pub opened: bool,
    /// The sequence number after the last byte that the application wrote. The first byte is 1.
    pub written: u64,
    /// A FIN follows the written data.
    pub close_requested: bool,
    pub fin_acked: bool,

    // Segments.
    pub outstanding: Outstanding,
    /// Largest payload that both ends accept, in bytes.
    pub mss: u32,
    /// The sequence number after the last small segment sent (Minshall's variant of Nagle's
    /// algorithm).
    pub small_end: u64,
    /// Time of the last transmission other than a pure acknowledgment.
    pub last_sent: Time,
    /// New data was sent since the last call of `update_usage`.
    pub sent_new: bool,

    // The other end's window.
    /// The current window, in bytes.
    pub peer_window: u32,
    /// `peer_window` in whole segments. It limits only one-way connections, as in ns-2. Otherwise
    /// [`room`](Connection::room) limits bytes.
    pub advertised: u32,
    /// The largest window that the other end has advertised, in bytes.
    pub largest_window: u32,
    /// The number of the segment that last updated the window (RFC 9293 SND.WL1).
    pub window_seq: u64,
    /// Probes of a window that is too small to send.
    pub persist: Persist,

    // Congestion control.
    /// cwnd, ssthresh and inflation.
    pub window: Window,
    pub variant: VariantState,
    /// The last reaction to a loss, while it may still turn out to be spurious.
    pub episode: Option<Box<Episode>>,

    // Permissions and duties that the last acknowledgment or timeout gave.
    /// The last duplicate ACK allows limited transmit to send a segment (RFC 3042).
    pub limited: bool,
    /// Segments sent by limited transmit since the last new acknowledgment.
    pub limited_sent: u32,
    /// Number of segments that may still be sent in answer to this ACK.
    pub burst: u32,
    /// The oldest segment must be sent again, regardless of the window.
    pub resend_first: bool,
    /// In answer to a late acknowledgment, only segments that it shows to be lost are sent. (RFC
    /// 6675 §5, step C, allows more, but the next acknowledgment is already under way.)
    pub only_holes: bool,
    /// Cause of the last go-back.
    pub go_back_cause: SendCause,

    // Timers.
    pub estimator: RttEstimator,
    /// The segment being timed, if each acknowledgment does not give a sample.
    pub timed: Option<TimedSegment>,
    /// Number of expiries of the retransmission timer since the last new acknowledgment.
    pub expiries: u32,
    /// Number of expiries of the retransmission timer for a SYN.
    pub syn_expiries: u32,
    /// The adaptation of the timer that is due after a spurious timeout.
    pub adaptation: Option<Adaptation>,
    pub tail: TailLoss,
}

impl Sender {
    pub fn new(config: &TcpConfig, connection: ConnectionId) -> Self {
        // Without a SYN the numbers begin with the first byte.
        let first_number = u64::from(config.vegas_without_header());
        Sender {
            opened: false,
            written: 1,
            close_requested: false,
            fin_acked: false,
            outstanding: Outstanding::starting_at(first_number),
            mss: config.mss(),
            small_end: 0,
            last_sent: Time::ZERO,
            sent_new: false,
            peer_window: config.receive_window(),
            advertised: in_segments(config.receive_window(), config),
            largest_window: 0,
            window_seq: 0,
            persist: Persist::default(),
            window: initial_window(config, connection),
            variant: VariantState::new(config),
            episode: None,
            limited: false,
            limited_sent: 0,
            burst: u32::MAX,
            resend_first: false,
            only_holes: false,
            go_back_cause: SendCause::Rto,
            estimator: RttEstimator::new(config),
            timed: None,
            expiries: 0,
            syn_expiries: 0,
            adaptation: None,
            tail: TailLoss::default(),
        }
    }

    /// Whether the window in `segment` is newer than the current one (RFC 9293 §3.10.7.4, SND.WL1).
    /// For the same number, Linux accepts a smaller window only if it is 0
    /// (`tcp_may_update_window`).
    #[inline]
    pub fn updates_window(&self, segment: &Segment, config: &TcpConfig) -> bool {
        let is_newer = segment.ack > self.outstanding.una() || segment.seq > self.window_seq;
        if is_newer {
            return true;
        }
        let has_same_number = segment.seq == self.window_seq;
        let shrinks_but_stays_open = segment.window > 0 && segment.window < self.peer_window;
        let linux_ignores = config.is_recent_linux() && shrinks_but_stays_open;
        has_same_number && !linux_ignores
    }

    /// Processes the other end's window.
    #[inline]
    pub fn update_peer_window(&mut self, window: u32, config: &TcpConfig) {
        if window != self.peer_window {
            self.peer_window = window;
            self.advertised = in_segments(window, config);
        }
        self.largest_window = self.largest_window.max(window);
    }

    /// Sets the segment size on which both ends agreed.
    pub fn set_segment_size(&mut self, bytes: u32) {
        self.mss = bytes;
        self.window.smss = bytes;
    }

    /// Replaces the variant if the other end does not support SACK.
    pub fn disable_sack(&mut self, config: &TcpConfig) {
        if let Some(variant) = self.variant.without_sack(config) {
            self.variant = variant;
        }
    }

    /// Whether the FIN was sent at least once. It has the number after the last byte written.
    pub fn fin_sent(&self) -> bool {
        self.outstanding.max_sent() > self.written
    }
}

/// The congestion window at the start, with the window law and the optional rules that the
/// configuration selects. A one-way connection follows ns-2, which has no window validation and no
/// early exit from slow start.
fn initial_window(config: &TcpConfig, connection: ConnectionId) -> Window {
    let is_one_way = config.is_one_way();
    let rules = if is_one_way { Rules::Ns2 } else { Rules::Rfc5681 };
    let initial_ssthresh = config.initial_ssthresh.map(|window| window.in_segments(config.segment_payload));
    let validates_window = config.window_validation && !is_one_way;
    Window {
        abc: config.abc.then(|| ByteCounting::new(config.abc_limit)),
        has_whole_ssthresh: config.is_recent_linux(),
        usage: validates_window.then(Usage::default),
        exit: Exit::new(config.slow_start, config.variant).filter(|_| !is_one_way),
        ..Window::new(initial_ssthresh, rules, Law::new(config, connection), config.mss())
    }
}

/// Computes [`Sender::advertised`]. One-way connections do not negotiate a segment size, so the
/// configured one counts.
fn in_segments(window: u32, config: &TcpConfig) -> u32 {
    if config.is_one_way() { (window / config.mss()).max(1) } else { u32::MAX }
}

/// Figures for the trace, the metrics and the congestion control.
impl Connection {
    /// Congestion window in segments, without the inflation of fast recovery.
    pub fn cwnd(&self) -> f64 {
        self.sender.window.cwnd
    }

    /// Slow start threshold in segments. Infinite if there is none.
    pub fn ssthresh(&self) -> f64 {
        self.sender.window.ssthresh
    }

    /// Segments by which duplicate ACKs inflate the window in fast recovery.
    pub fn inflation(&self) -> u32 {
        self.sender.window.inflation
    }

    /// Sequence numbers sent and not acknowledged: payload, and one each for SYN and FIN.
    pub fn outstanding_bytes(&self) -> u64 {
        self.sender.outstanding.max_sent() - self.sender.outstanding.una()
    }

    /// The retransmission timeout with bounds and back-off.
    pub fn rto(&self) -> Duration {
        self.sender.estimator.timeout()
    }

    pub fn estimator(&self) -> &RttEstimator {
        &self.sender.estimator
    }

    /// Consecutive duplicate ACKs, as the variant counts them.
    pub fn duplicates(&self) -> u32 {
        self.sender.window.duplicates
    }

    /// The data in flight before the event that is being handled. Segments sent by limited transmit
    /// do not count (RFC 5681 §3.2, step 2).
    #[inline]
    pub(super) fn flight(&self) -> Flight {
        let sender = &self.sender;
        Flight {
            una: sender.outstanding.una(),
            max_sent: sender.outstanding.max_sent(),
            segments: (sender.outstanding.len() as u32).saturating_sub(sender.limited_sent),
            advertised: sender.advertised,
        }
    }

    pub(super) fn record_window<T: TraceSink<TraceEvent>>(&self, cx: &mut Context<'_, T>) {
        let (connection, end, window) = (self.id, self.end, &self.sender.window);
        let (cwnd, ssthresh) = (Real(window.cwnd), Real(window.ssthresh));
        cx.record(|| TraceEvent::Window { connection, end, cwnd, ssthresh });
    }

    pub(super) fn record_rto<T: TraceSink<TraceEvent>>(&self, cx: &mut Context<'_, T>) {
        let (connection, end, estimator) = (self.id, self.end, &self.sender.estimator);
        let (srtt, rto) = (estimator.srtt(), estimator.timeout());
        cx.record(|| TraceEvent::RtoUpdated { connection, end, srtt, rto });
    }
}
