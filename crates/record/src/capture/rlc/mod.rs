//! Captures of RLC PDUs for Wireshark: two views of the bearers in each direction.
//!
//! | file | content |
//! |---|---|
//! | `rlc-DIRECTION-air.pcapng` | every block in the order of transmission, including lost ones, at its time of arrival: for headers, polls and status reports |
//! | `rlc-DIRECTION-delivery.pcapng` | PDUs in the order in which the receiving entity took them in sequence, so that Wireshark reassembles the IP packets |
//!
//! An interface of the file is a bearer (`ue0`, `ue1`, …). Comments hold information from the
//! model: the number of transmissions of a PDU, the reason of its poll, the channel and the RRC
//! state, whether the block was lost, and the packets that end in it. For the common acknowledgment
//! channels of a TDD cell they name the frame.
//!
//! **Air.** A frame is a TTI of one UE with MAC headers, in a frame of the Iub protocol ([`mac`]).
//! No setting is needed. A bearer in unacknowledged mode on a common channel is shown without MAC
//! headers, because readers decode the logical channel as acknowledged mode. A bearer in
//! transparent mode is also shown without them, because readers decode its PDUs as whole IP
//! packets. Do not let Wireshark reassemble SDUs in this view: it needs PDUs in order.
//!
//! **Delivery.** A frame is one PDU after a header with UE, mode, direction and width of length
//! indicators ([`exported`]). The heuristic `rlc_udp` must be enabled. Wireshark expects a bearer
//! that begins with number 0 and has no gaps. Each round of the sequence numbers therefore has its
//! own U-RNTI, and so has the sequence after a RESET: the UE's number plus one in the upper half,
//! the round in the lower half. PDUs that the sender gave up are replaced by PDUs without data. An
//! SDU that crosses the end of a round is shown completely in the round in which it ends. Comments
//! describe these changes.
//!
//! **Iub.** `iub.pcapng` has the frames of the Iub of users with an HS-DSCH or an E-DCH ([`iub`]), for
//! credits, HARQ retransmissions and TSNs.
//!
//! The payload is the content of the IP capture: headers and zeros. If the model counts a SYN
//! without its options, its SDU is the same packet without options.

mod air;
mod delivery;
mod exported;
mod fp_hint;
mod iub;
mod mac;
mod packets;
mod sdu_parts;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;

use pcap_file::DataLink;
use umts_stack::detail::{Detail, PollCauses, Stage};
use umts_stack::ids::{Direction, PacketId, UeId};
use umts_stack::packet::Packet;
use umts_stack::radio::rlc::octets::{Composer, Encoding};
use umts_stack::radio::rlc::{BlockSet, Pdu};
use umts_stack::trace::{Channel, TraceEvent};
use umts_units::Time;

use self::air::Block;
use self::delivery::{Delivery, DeliveryFrame};
use self::iub::{Allocation, EDchBlock, HsBearer, IubCapture, WaitingData};
use super::CaptureError;
use super::file::{CaptureFile, Frame};

/// Both views of all bearers, with the state needed to write them.
#[derive(Debug)]
pub(super) struct RlcCaptures {
    /// By direction.
    files: [Files; 2],
    /// By direction and UE.
    bearers: [Vec<Option<Bearer>>; 2],
    /// Frames of the Iub, if a user has an HS-DSCH or an E-DCH.
    iub: Option<IubCapture>,
    /// The next packet to enter RLC, with its octets.
    entering: Option<(PacketId, Vec<u8>)>,
}

#[derive(Debug)]
struct Files {
    air: CaptureFile,
    delivery: CaptureFile,
}

/// One direction of a bearer.
#[derive(Debug)]
struct Bearer {
    composer: Composer,
    /// Poll reasons of the PDUs of the next block set.
    causes: VecDeque<PollCauses>,
    /// Block sets on their way, by serial.
    in_transit: BTreeMap<u64, Vec<Block>>,
    delivery: Delivery,
}

impl RlcCaptures {
    /// Creates the files. `None` if no bearer can be captured. `encodings`: the PDU formats of the
    /// bearers, by UE. `has_iub`: whether a user has an HS-DSCH or an E-DCH.
    pub fn create(
        folder: &Path,
        encodings: &[Option<Encoding>],
        has_iub: bool,
    ) -> Result<Option<Self>, CaptureError> {
        if encodings.iter().all(Option::is_none) {
            return Ok(None);
        }
        let interfaces: Vec<_> = (0..encodings.len()).map(|ue| format!("ue{ue}")).collect();
        let file = |direction: Direction, view: &str| {
            let name = format!("rlc-{}-{view}", direction.name());
            CaptureFile::create(folder, &name, DataLink::WIRESHARK_UPPER_PDU, &interfaces)
        };
        let files =
            |direction| Ok(Files { air: file(direction, "air")?, delivery: file(direction, "delivery")? });
        let bearers = |direction| {
            let ues = encodings.iter().enumerate();
            ues.map(|(ue, encoding)| {
                let encoding = encoding.as_ref()?;
                Some(Bearer::new(UeId(ue as u16), direction, encoding))
            })
            .collect()
        };
        Ok(Some(RlcCaptures {
            files: [files(Direction::Downlink)?, files(Direction::Uplink)?],
            bearers: [bearers(Direction::Downlink), bearers(Direction::Uplink)],
            iub: has_iub.then(|| IubCapture::create(folder, &interfaces)).transpose()?,
            entering: None,
        }))
    }

    /// Writes the frames that are still held. Returns the files, which are not yet complete.
    pub fn finish(mut self) -> Result<Vec<CaptureFile>, CaptureError> {
        for (bearers, files) in self.bearers.iter_mut().zip(&mut self.files) {
            for (ue, bearer) in bearers.iter_mut().enumerate() {
                if let Some(bearer) = bearer {
                    bearer.delivery.finish();
                    files.write_delivery(ue, &mut bearer.delivery)?;
                }
            }
        }
        let [down, up] = self.files;
        let iub = self.iub.map(IubCapture::into_file);
        Ok([down.air, down.delivery, up.air, up.delivery].into_iter().chain(iub).collect())
    }

    /// Stores the octets of a packet that is about to enter RLC.
    pub fn store_packet(&mut self, packet: &Packet, octets: Vec<u8>) {
        self.entering = Some((packet.id, octets));
    }

    fn bearer(&mut self, ue: UeId, direction: Direction) -> Option<&mut Bearer> {
        self.bearers[direction.index()].get_mut(ue.index())?.as_mut()
    }

    pub fn record(&mut self, _: Time, event: &TraceEvent) -> Result<(), CaptureError> {
        match *event {
            TraceEvent::SduQueued { ue, direction, sdu, size } => {
                let entering = self.entering.take().filter(|(id, _)| *id == sdu);
                if let Some(bearer) = self.bearer(ue, direction) {
                    let octets = entering.map_or_else(Vec::new, |(_, octets)| octets);
                    bearer.composer.queue(sdu, packets::of_size(octets, size.0 as usize));
                }
            }
            TraceEvent::PdusSent { ue, direction, .. }
            | TraceEvent::SduDiscarded { ue, direction, .. }
            | TraceEvent::SdusLimited { ue, direction, .. } => {
                if let Some(bearer) = self.bearer(ue, direction) {
                    bearer.composer.observe(event);
                }
            }
            TraceEvent::RlcInitialState { ue, direction } => {
                if let Some(bearer) = self.bearer(ue, direction) {
                    bearer.composer.observe(event);
                }
                // The same entity receives in the other direction.
                return self.deliver(ue, direction.reversed(), Delivery::reset);
            }
            _ => {}
        }
        Ok(())
    }

    pub fn show(&mut self, at: Time, detail: &Detail<'_>) -> Result<(), CaptureError> {
        match *detail {
            Detail::Poll { ue, direction, causes } => {
                if let Some(bearer) = self.bearer(ue, direction) {
                    bearer.causes.push_back(causes);
                }
                Ok(())
            }
            Detail::Blocks { ue, direction, channel, set, stage } => {
                self.blocks(at, ue, direction, channel, set, stage)
            }
            Detail::InSequence { ue, direction, first, count } => {
                self.deliver(ue, direction, |delivery| delivery.in_sequence(first, count))
            }
            Detail::Skipped { ue, direction, first, count, ends } => {
                self.deliver(ue, direction, |delivery| delivery.skip(at, first, count, ends))
            }
            Detail::HsRequest { ue, .. }
            | Detail::HsCredits { ue, .. }
            | Detail::HsPdusSent { ue, .. }
            | Detail::EDchFrame { ue, .. } => self.iub_frame(at, ue, detail),
            Detail::Slot { .. } | Detail::Discarded { .. } => Ok(()),
        }
    }

    /// Writes the frame of the Iub that `detail` describes.
    fn iub_frame(&mut self, at: Time, ue: UeId, detail: &Detail<'_>) -> Result<(), CaptureError> {
        let direction = match detail {
            Detail::EDchFrame { .. } => Direction::Uplink,
            _ => Direction::Downlink,
        };
        let Some(bearer) = self.bearers[direction.index()].get(ue.index()).and_then(Option::as_ref) else {
            return Ok(());
        };
        let Some(iub) = &mut self.iub else { return Ok(()) };
        let encoding = bearer.composer.encoding();
        match *detail {
            Detail::HsRequest { buffer, priority, .. } => {
                iub.write_request(at, ue, encoding, WaitingData { octets: buffer, priority })
            }
            Detail::HsCredits { credits, interval, priority, is_ehs, .. } => {
                let allocation = Allocation { credits, interval, priority };
                iub.write_allocation(at, ue, HsBearer { encoding, is_ehs }, allocation)
            }
            Detail::HsPdusSent { buffer, priority, is_ehs, .. } => {
                let sets = iub.take_leaving(ue).into_iter();
                let blocks: Vec<_> = sets.flat_map(|serial| bearer.blocks_of(serial)).cloned().collect();
                let waiting = WaitingData { octets: buffer, priority };
                iub.write_hs_data(at, ue, HsBearer { encoding, is_ehs }, &blocks, waiting)
            }
            Detail::EDchFrame { set, tsn, tti, retransmissions, .. } => {
                let block = EDchBlock { tsn, tti, retransmissions };
                iub.write_e_dch_data(at, ue, encoding, bearer.blocks_of(set.serial), block)
            }
            _ => Ok(()),
        }
    }

    /// Describes a block set when it leaves RLC, and writes it when it arrives: its blocks to the
    /// capture of the air, completed SDUs to the capture of deliveries.
    fn blocks(
        &mut self,
        at: Time,
        ue: UeId,
        direction: Direction,
        channel: Channel,
        set: &BlockSet,
        stage: Stage,
    ) -> Result<(), CaptureError> {
        let Some(bearer) = self.bearers[direction.index()].get_mut(ue.index()).and_then(Option::as_mut)
        else {
            return Ok(());
        };
        match stage {
            Stage::Leaves => {
                let blocks = bearer.describe(set, &air::departure(channel, at));
                bearer.in_transit.insert(set.serial, blocks);
                if let Some(iub) = self.iub.as_mut().filter(|_| channel == Channel::HsDsch) {
                    iub.leave(ue, set.serial);
                }
            }
            Stage::Dropped => {
                bearer.in_transit.remove(&set.serial);
            }
            Stage::OnAir => {}
            Stage::Arrives(lost) => {
                let blocks = bearer.in_transit.remove(&set.serial).unwrap_or_default();
                let files = &mut self.files[direction.index()];
                let encoding = bearer.composer.encoding();
                for frame in air::frames(at, ue, direction, channel, encoding, &blocks, lost) {
                    files.air.write(Frame {
                        at,
                        interface: u32::from(ue.0),
                        data: &frame.octets,
                        length: frame.octets.len() as u32,
                        comments: frame.comments,
                    })?;
                }
                bearer.delivery.arrive(at, set, &blocks, lost);
                files.write_delivery(ue.index(), &mut bearer.delivery)?;
            }
        }
        Ok(())
    }

    /// Applies an action of the receiver, and writes the frames that it produces in the delivery
    /// view.
    fn deliver(
        &mut self,
        ue: UeId,
        direction: Direction,
        act: impl FnOnce(&mut Delivery),
    ) -> Result<(), CaptureError> {
        let Some(bearer) = self.bearers[direction.index()].get_mut(ue.index()).and_then(Option::as_mut)
        else {
            return Ok(());
        };
        act(&mut bearer.delivery);
        self.files[direction.index()].write_delivery(ue.index(), &mut bearer.delivery)
    }
}

impl Files {
    fn write_delivery(&mut self, ue: usize, delivery: &mut Delivery) -> Result<(), CaptureError> {
        for DeliveryFrame { at, octets, comments } in delivery.take_frames() {
            let length = octets.len() as u32;
            self.delivery.write(Frame { at, interface: ue as u32, data: &octets, length, comments })?;
        }
        Ok(())
    }
}

impl Bearer {
    fn new(ue: UeId, direction: Direction, encoding: &Encoding) -> Self {
        let encoding = encoding.sent_in(direction);
        Bearer {
            delivery: Delivery::new(ue, direction, &encoding),
            composer: Composer::new(encoding),
            causes: VecDeque::new(),
            in_transit: BTreeMap::new(),
        }
    }

    /// The blocks of a set that has left RLC and has not arrived.
    fn blocks_of(&self, serial: u64) -> &[Block] {
        self.in_transit.get(&serial).map_or(&[], Vec::as_slice)
    }

    /// The blocks of a set that leaves, with octets and comments. `departure`: the end of their
    /// comments.
    fn describe(&mut self, set: &BlockSet, departure: &str) -> Vec<Block> {
        let composed = self.composer.compose(set);
        let mut blocks = Vec::with_capacity(composed.len());
        let mut composed = composed.into_iter();
        for pdu in &set.pdus {
            for step in 0..pdu.blocks() {
                let octets = composed.next().expect("there is an entry for each block");
                let polls = match pdu {
                    Pdu::Data(run) if run.poll && step + 1 == pdu.blocks() => self.causes.pop_front(),
                    Pdu::Status(status) if status.poll.is_some() => self.causes.pop_front(),
                    _ => None,
                };
                blocks.push(Block::new(set, pdu, step, octets, polls, departure));
            }
        }
        self.causes.clear();
        blocks
    }
}
