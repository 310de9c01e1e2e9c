//! TCP options: those offered in a SYN, those that both ends agree on, and the octets that they add
//! to the size of a segment ("charged").
//!
//! A passive end answers with the offered options that it wants itself, so the options of its
//! SYN+ACK are agreed. The octets are those that real stacks send, padded with no-operations to
//! whole words (RFC 7323 appendix A).
//!
//! | option | octets on a SYN | later |
//! |---|---|---|
//! | maximum segment size (RFC 9293 §3.2) | 4 | |
//! | window scale (RFC 7323 §2.2) | 3 + 1 | |
//! | SACK permitted (RFC 2018 §2) | 2, with timestamps in one word, else 2 + 2 | |
//! | timestamps (RFC 7323 §3.2) | 10 + 2 | 10 + 2 |
//! | blocks (RFC 2018 §3) | | 2 + 2 + 8 for each |

use umts_units::{Duration, Time};

use super::config::{ChargedOptions, TcpConfig};
use super::connection::Connection;
use crate::packet::{Options, SackBlocks, Segment};

/// Octets of the timestamps option with the no-operations before it.
pub(super) const TIMESTAMPS: u16 = 12;
/// Octets of the maximum segment size option.
const SEGMENT_SIZE: u16 = 4;
/// Octets of the window scale option with a no-operation.
const WINDOW_SCALE: u16 = 4;
/// Octets of SACK permitted with two no-operations.
const SACK_PERMITTED: u16 = 4;
/// Octets of a block in the SACK option.
const BLOCK: u16 = 8;
/// Octets of the no-operations before the SACK option and of its kind and length.
const BEFORE_BLOCKS: u16 = 4;
/// Octets of options that fit into a TCP header (RFC 9293 §3.1).
const MAX_OCTETS: u16 = 40;
/// The largest unscaled window, in bytes.
const UNSCALED: u32 = 65_535;
/// The largest shift (RFC 7323 §2.3).
const MAX_SHIFT: u8 = 14;

/// The options that both ends agreed on in their SYNs.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct NegotiatedOptions {
    /// Number of blocks that fit into our acknowledgments. 0 if the other end does not accept SACK.
    pub blocks: u8,
    pub timestamps: bool,
    /// The shift of the windows that we advertise.
    pub shift: u8,
}

impl NegotiatedOptions {
    /// A one-way connection uses the configuration without negotiation.
    pub fn before_syn(config: &TcpConfig) -> Self {
        NegotiatedOptions {
            blocks: if config.is_one_way() { config.max_sack_blocks() } else { 0 },
            ..NegotiatedOptions::default()
        }
    }

    /// The options of a segment after the SYNs.
    #[inline]
    pub fn options(&self) -> Options {
        Options { timestamps: self.timestamps, ..Options::default() }
    }
}

/// The smallest shift with which `window` fits into 16 bits.
fn shift_for(window: u32) -> u8 {
    (0..MAX_SHIFT).find(|&shift| window >> shift <= UNSCALED).unwrap_or(MAX_SHIFT)
}

/// `at` rounded down to whole ticks.
#[inline]
pub(super) fn whole_ticks(at: Time, tick: Duration) -> Time {
    Time::from_nanos(at.as_nanos() - at.as_nanos() % tick.as_nanos().max(1))
}

impl Connection {
    /// The options of our SYN: all configured ones, but in a SYN+ACK only those that the other end
    /// offered.
    pub(super) fn syn_options(&self) -> Options {
        let (config, negotiated) = (&self.config, &self.negotiated);
        if config.is_one_way() {
            return Options::default();
        }
        let is_syn_ack = self.receiver.is_synchronised();
        Options {
            window_scale: (config.window_scaling && (!is_syn_ack || self.peer_scales))
                .then(|| shift_for(config.receive_window())),
            sack_permitted: config.max_sack_blocks() > 0 && (!is_syn_ack || negotiated.blocks > 0),
            timestamps: config.timestamps && (!is_syn_ack || negotiated.timestamps),
        }
    }

    /// Processes the options of the other end's SYN.
    pub(super) fn negotiate(&mut self, syn: &Segment) {
        if self.config.is_one_way() {
            return;
        }
        let config = &self.config;
        self.peer_scales = syn.options.window_scale.is_some();
        let timestamps = config.timestamps && syn.options.timestamps;
        let timestamp_octets = if timestamps { TIMESTAMPS } else { 0 };
        let fitting_blocks = (MAX_OCTETS - BEFORE_BLOCKS - timestamp_octets) / BLOCK;
        let blocks =
            if syn.options.sack_permitted { config.max_sack_blocks().min(fitting_blocks as u8) } else { 0 };
        let scales = config.window_scaling && self.peer_scales;
        let shift = if scales { shift_for(config.receive_window()) } else { 0 };
        self.negotiated = NegotiatedOptions { blocks, timestamps, shift };
        // A SYN without this option leaves the size to us.
        let peer_mss = if syn.mss > 0 { u32::from(syn.mss) } else { u32::MAX };
        // RFC 6691 §2: the options of each segment reduce the payload.
        let payload = config.mss().min(peer_mss).saturating_sub(u32::from(timestamp_octets));
        self.sender.set_segment_size(payload.max(1));
        if self.negotiated.blocks == 0 {
            self.sender.disable_sack(&self.config);
        }
    }

    /// The largest window up to `window` that the header field can express: 16 bits, shifted if
    /// both ends scale windows.
    #[inline]
    pub(super) fn representable_window(&self, window: u32, shift: u8) -> u32 {
        if self.config.is_one_way() {
            return window;
        }
        (window >> shift).min(UNSCALED) << shift
    }

    /// The number of blocks that fit into a segment. With data they must fit into the space that
    /// its payload leaves. A closed end, which stands for one in TIME-WAIT, reports none.
    #[inline]
    pub(super) fn max_blocks_for(&self, payload: u32) -> usize {
        let max_blocks = if self.closed { 0 } else { usize::from(self.negotiated.blocks) };
        if payload == 0 || self.config.is_one_way() || max_blocks == 0 {
            return max_blocks;
        }
        let free = self.sender.mss.saturating_sub(payload + u32::from(BEFORE_BLOCKS));
        max_blocks.min((free / u32::from(BLOCK)) as usize)
    }

    /// Octets of options that are charged for a segment other than a SYN.
    #[inline]
    pub(super) fn charged_options(&self, options: &Options, blocks: &SackBlocks) -> u16 {
        let block_count = if blocks.is_empty() { 0 } else { blocks.len() as u16 };
        if self.config.is_one_way() {
            return BLOCK * block_count;
        }
        match self.config.charged_options {
            ChargedOptions::None => 0,
            ChargedOptions::AfterSyn | ChargedOptions::All => octets_after_syn(options, block_count),
        }
    }

    /// Octets of options that are charged for a SYN.
    pub(super) fn charged_options_of_syn(&self, options: &Options, blocks: &SackBlocks) -> u16 {
        if self.config.is_one_way() {
            return self.charged_options(options, blocks);
        }
        match self.config.charged_options {
            ChargedOptions::None | ChargedOptions::AfterSyn => 0,
            ChargedOptions::All => octets_of_syn(options),
        }
    }

    /// PAWS (RFC 7323 §5.3): an old segment that arrives late has a timestamp before TS.Recent.
    /// (The model's clock never wraps, so TS.Recent never becomes invalid.)
    #[inline]
    pub(super) fn is_old(&self, segment: &Segment) -> bool {
        self.negotiated.timestamps
            && segment.options.timestamps
            && !segment.flags.syn
            && !segment.flags.rst
            && segment.timestamp < self.receiver.echo()
    }

    /// The timestamp of a segment sent at `now`: in ticks if the timestamps option is `present`,
    /// and otherwise exact.
    #[inline]
    pub(super) fn timestamp(&self, now: Time, present: bool) -> Time {
        if present { whole_ticks(now, self.config.timestamp_tick) } else { now }
    }
}

/// Octets of options on a SYN, by the table at the top of this file.
fn octets_of_syn(options: &Options) -> u16 {
    let timestamps = if options.timestamps { TIMESTAMPS } else { 0 };
    let window_scale = if options.window_scale.is_some() { WINDOW_SCALE } else { 0 };
    // With timestamps, SACK permitted takes the place of their no-operations.
    let sack_permitted = if options.sack_permitted && !options.timestamps { SACK_PERMITTED } else { 0 };
    SEGMENT_SIZE + window_scale + sack_permitted + timestamps
}

/// Octets of options on a segment after the SYNs, by the table at the top of this file.
fn octets_after_syn(options: &Options, block_count: u16) -> u16 {
    let timestamps = if options.timestamps { TIMESTAMPS } else { 0 };
    let blocks = if block_count > 0 { BEFORE_BLOCKS + BLOCK * block_count } else { 0 };
    timestamps + blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_fill_whole_words() {
        let all = Options { window_scale: Some(2), sack_permitted: true, timestamps: true };
        // MSS 4, SACK permitted and timestamps 12, window scale 4: the 20 octets of a SYN of Linux.
        assert_eq!(octets_of_syn(&all), 20);
        assert_eq!(octets_of_syn(&Options { timestamps: false, ..all }), 12);
        assert_eq!(octets_of_syn(&Options::default()), 4);
        let timestamps = Options { timestamps: true, ..Options::default() };
        assert_eq!(octets_after_syn(&timestamps, 0), 12);
        // Timestamps 12, SACK 4 and 8 for each of three blocks: the header is full.
        assert_eq!(octets_after_syn(&timestamps, 3), MAX_OCTETS);
        assert_eq!(octets_after_syn(&Options::default(), 4), 4 + 4 * 8);
    }

    #[test]
    fn shift_is_the_smallest_sufficient_one() {
        assert_eq!([0, 65_535, 65_536, 1_000_000].map(shift_for), [0, 0, 1, 4]);
        assert_eq!(shift_for(u32::MAX), MAX_SHIFT);
    }
}
