//! One entity and a hostile peer: PDUs of any mode with any numbers in any order, between
//! operations of the upper layers. No input may cause a panic, a deadline in the past, an overfull
//! TTI, or a buffer above its limit.

use std::num::NonZeroU16;

use umts_kernel::NoTrace;
use umts_stack::Context;
use umts_stack::ids::{Direction, UeId};
use umts_stack::radio::phy::Lost;
use umts_stack::radio::rlc::{
    BlockSet, DataRun, IndexRange, Mrw, MrwAck, Pdu, Rlc, Sdu, SduEnd, Sn, SnRun, Status,
};
use umts_units::{Duration, Time};

use crate::draw::Draw;
use crate::pair::{any_config, packet};

/// Size of the send buffer, in octets.
const BUFFER_OCTETS: u64 = 20_000;

/// One entity between an application and a hostile peer.
pub fn entity(draw: &mut Draw) {
    let config = any_config(draw, Some(BUFFER_OCTETS));
    let max_blocks = draw.range(1, 24) as u32;
    let mut rlc = Rlc::new(UeId(0), Direction::Downlink, &config, max_blocks);
    let mut now = Time::ZERO;
    // Hostile numbers are near this one, which is in use, or anywhere.
    let mut near = 0;
    for id in 0..draw.range(1, 200) {
        now += Duration::from_micros(draw.below(30_000));
        let mut trace = NoTrace;
        let mut cx = Context::new(now, &mut trace);
        match draw.below(12) {
            0..=2 => {
                let sdu = Sdu::new(packet(id, draw.range(1, 1_500) as u32), now);
                let _ = rlc.handle_sdu(&mut cx, &sdu);
            }
            3..=5 => {
                let mut set = BlockSet::default();
                rlc.poll_transmit(&mut cx, max_blocks, &mut set);
                assert!(set.blocks <= max_blocks, "{} blocks in a TTI of {max_blocks}", set.blocks);
                assert_eq!(set.blocks, set.pdus.iter().map(Pdu::blocks).sum::<u32>());
                for pdu in &set.pdus {
                    if let Pdu::Data(run) | Pdu::Umd(run) = pdu {
                        near = u64::from(run.first.value());
                    }
                }
                assert!(rlc.poll_timeout().is_none_or(|at| at > now), "a deadline in the past");
            }
            6..=9 => {
                let set = any_set(draw, near);
                let lost = if draw.bool() { Lost(0) } else { Lost(draw.sparse_bits()) };
                rlc.handle_blocks(&mut cx, &set, lost);
            }
            10 => rlc.suspend(),
            _ if draw.bool() => drop(rlc.suspend_after(draw.below(20) as u32)),
            _ => rlc.resume(max_blocks),
        }
        rlc.handle_timeout(&mut Context::new(now, &mut NoTrace));
        while rlc.poll_delivered().is_some() || rlc.poll_erroneous().is_some() {}
        assert!(rlc.buffer_occupancy().0 <= BUFFER_OCTETS, "{} octets held", rlc.buffer_occupancy().0);
    }
}

/// Any number in one draw of three, otherwise one from 8 before `near` to 31 after it.
fn any_sn(draw: &mut Draw, near: u64) -> Sn {
    if draw.one_in(3) {
        Sn::of(draw.below(Sn::MODULUS))
    } else {
        Sn::of(near + Sn::MODULUS - 8 + draw.below(40))
    }
}

/// A random set that is consistent in itself.
fn any_set(draw: &mut Draw, near: u64) -> BlockSet {
    let mut set = BlockSet::default();
    for _ in 0..draw.range(1, 4) {
        let pdu = match draw.below(8) {
            0..=2 => Pdu::Data(any_run(draw, near, &mut set)),
            3 => Pdu::Umd(any_run(draw, near, &mut set)),
            4 => Pdu::Tmd(any_run(draw, near, &mut set)),
            5 => Pdu::Reset(draw.bool()),
            6 => Pdu::ResetAck(draw.bool()),
            _ => Pdu::Status(any_status(draw, near, &mut set)),
        };
        set.blocks += pdu.blocks();
        set.pdus.push(pdu);
    }
    set
}

/// A run of AMD PDUs near the number `near`, in which SDUs end and begin at random places.
fn any_run(draw: &mut Draw, near: u64, set: &mut BlockSet) -> DataRun {
    let first = any_sn(draw, near);
    let count = draw.range(1, 12);
    let ends_from = set.ends.len() as u16;
    let mut at = 0;
    while at < count && draw.one_in(2) {
        at += draw.below(count - at);
        let sn = first.plus(at);
        let sdu_first = if draw.one_in(5) {
            any_sn(draw, near)
        } else {
            Sn::of(u64::from(sn.value()) + Sn::MODULUS - draw.below(4))
        };
        let sdu = Sdu::new(packet(draw.below(1_000), draw.range(1, 1_500) as u32), Time::ZERO);
        set.ends.push(SduEnd { first: sdu_first, sn, sdu });
        at += 1;
    }
    let ends = IndexRange { first: ends_from, after_last: set.ends.len() as u16 };
    let piggyback = (count == 1 && draw.bool()).then(|| any_status(draw, near, set));
    DataRun {
        first,
        count: count as u16,
        poll: draw.bool(),
        retransmission: draw.bool(),
        ends,
        starts: draw.bool(),
        piggyback,
    }
}

/// A STATUS with any combination of fields, about numbers near `near`.
fn any_status(draw: &mut Draw, near: u64, set: &mut BlockSet) -> Status {
    let missing_from = set.missing.len() as u16;
    for _ in 0..draw.below(4) {
        let run = SnRun { first: any_sn(draw, near), count: draw.range(1, 20) as u16 };
        set.missing.push(run);
    }
    let mrw = draw.one_in(3).then(|| {
        set.discarded.clear();
        for _ in 0..draw.below(4) {
            let sn = any_sn(draw, near);
            set.discarded.push(sn);
        }
        Mrw { sn: any_sn(draw, near), n_length: draw.below(16) as u8, beyond_window: draw.one_in(3) }
    });
    Status {
        lsn: (!draw.one_in(3)).then(|| any_sn(draw, near)),
        missing: IndexRange { first: missing_from, after_last: set.missing.len() as u16 },
        mrw,
        mrw_ack: draw.one_in(4).then(|| MrwAck { sn: any_sn(draw, near), n: draw.below(16) as u8 }),
        window: NonZeroU16::new(if draw.one_in(4) { draw.below(4_096) as u16 } else { 0 }),
        poll: draw.one_in(4).then(|| any_sn(draw, near)),
        octets: 5,
    }
}
