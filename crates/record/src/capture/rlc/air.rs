//! The air view of a capture of RLC: every block in the order of transmission, including lost ones,
//! with comments that contain information from the model.

use umts_stack::detail::PollCauses;
use umts_stack::ids::{Direction, UeId};
use umts_stack::radio::phy::Lost;
use umts_stack::radio::phy::tdd::layout::FRAME;
use umts_stack::radio::rlc::octets::{Composed, Encoding, PduMode};
use umts_stack::radio::rlc::{BlockSet, Pdu, Sn};
use umts_stack::trace::Channel;
use umts_units::Time;

use super::exported::{self, Width};
use super::mac;

/// A transport block and its comment.
#[derive(Debug, Clone)]
pub(super) struct Block {
    /// The RLC PDU.
    pub octets: Vec<u8>,
    /// Number of the data PDU in the block, if it is one.
    pub sn: Option<Sn>,
    pub comment: String,
}

/// A frame of the file.
pub(super) struct AirFrame {
    pub octets: Vec<u8>,
    pub comments: Vec<String>,
}

impl Block {
    /// Describes the block with index `offset` in `pdu`, an entry of `set`. `composed` are its
    /// octets and its number of transmissions, `polls` the reasons of its poll, and `departure` is
    /// the result of `departure()`.
    pub fn new(
        set: &BlockSet,
        pdu: &Pdu,
        offset: u32,
        composed: Composed,
        polls: Option<PollCauses>,
        departure: &str,
    ) -> Self {
        let Composed { octets, transmissions } = composed;
        let (sn, mut comment) = match pdu {
            Pdu::Data(run) | Pdu::Umd(run) | Pdu::Tmd(run) => {
                let sn = run.first.plus(u64::from(offset));
                let name = match pdu {
                    Pdu::Data(_) => format!("AMD PDU {}, transmission {transmissions}", sn.value()),
                    // Unacknowledged mode has sequence numbers of 7 bits.
                    Pdu::Umd(_) => format!("UMD PDU {}", sn.value() % 128),
                    _ => "TMD PDU".to_owned(),
                };
                let polls = polls.map(|causes| format!(", polls: {causes}"));
                let ends = set.ends_of(run).iter().filter(|end| end.sn == sn);
                let ends = ends.map(|end| format!(", end of packet {}", end.sdu.packet.id.0));
                (Some(sn), name + &polls.unwrap_or_default() + &ends.collect::<String>())
            }
            Pdu::Status(status) => {
                let polls = status.poll.zip(polls);
                let polls =
                    polls.map(|(last, causes)| format!(", polls up to PDU {}: {causes}", last.value()));
                (None, "STATUS PDU".to_owned() + &polls.unwrap_or_default())
            }
            Pdu::Reset(_) => (None, "RESET PDU".to_owned()),
            Pdu::ResetAck(_) => (None, "RESET ACK PDU".to_owned()),
        };
        comment += departure;
        Block { octets, sn, comment }
    }
}

/// The end of the comments of blocks that leave RLC on `channel` at the time `leaves`.
pub(super) fn departure(channel: Channel, leaves: Time) -> String {
    let (name, state) = channel.name();
    match channel {
        // A block on a channel of a TDD cell that all users share. It is transmitted at the end of
        // its frame.
        Channel::Ack => format!(", common {name} channel, frame {}", tdd_frame(leaves)),
        _ => format!(", {name} ({})", state.name()),
    }
}

/// Number of the frame that ends at `end`.
fn tdd_frame(end: Time) -> u64 {
    (end.as_nanos() / FRAME.as_nanos()).saturating_sub(1)
}

/// Frames for the blocks of one TTI: one frame with MAC headers, or one frame per block.
pub(super) fn frames(
    at: Time,
    ue: UeId,
    direction: Direction,
    channel: Channel,
    encoding: &Encoding,
    blocks: &[Block],
    lost: Lost,
) -> Vec<AirFrame> {
    let comments = blocks.iter().enumerate().map(|(index, block)| {
        let fate = if lost.contains(index as u32) { ", lost" } else { "" };
        format!("UE {}: {}{fate}", ue.0, block.comment)
    });
    let comments: Vec<_> = comments.collect();
    let pdus: Vec<_> = blocks.iter().map(|block| block.octets.as_slice()).collect();
    let mode = encoding.pdu_mode();
    if let Some(octets) = mac::frame(at, ue, direction, channel, mode, &pdus) {
        return vec![AirFrame { octets, comments }];
    }
    let u_rnti = u32::from(ue.0) + 1;
    let width = if encoding.length_indicator_octets() == 2 { Width::Fifteen } else { Width::Seven };
    let frame = if mode == PduMode::Tm { exported::part } else { exported::frame };
    let one_per_block = pdus.into_iter().zip(comments).map(|(pdu, comment)| AirFrame {
        octets: frame(mode, direction, u_rnti, width, pdu),
        comments: vec![comment],
    });
    one_per_block.collect()
}
