//! Wire mode and captures: conversion between a STATUS as RLC describes it ([`Status`]: missing runs
//! of PDUs, window, commands) and the super-fields (SUFIs) of a STATUS PDU.

use std::num::NonZeroU16;

use crate::radio::rlc::am::StatusFormat;
use crate::radio::rlc::wire::{
    Bitmap, List, Mrw as MrwSufi, MrwCount, Rlist, StatusEnd, StatusPdu, Sufi, WindowSize,
};
use crate::radio::rlc::{BlockSet, IndexRange, Mrw, MrwAck, Sn, SnRun, Status};

/// The shortest STATUS PDU for `status`. The lists of `status` are in `set`.
pub(super) fn status_pdu(format: StatusFormat, status: &Status, set: &BlockSet) -> StatusPdu<'static> {
    let mut sufis = Vec::new();
    let count = |n: u8| MrwCount::new(n).expect("N_LENGTH has four bits");
    if let Some(window) = status.window {
        sufis.push(Sufi::Window(WindowSize::new(window.get()).expect("a granted window has 12 bits")));
    }
    if let Some(mrw) = status.mrw {
        let sns = set.discarded.iter().copied().chain([mrw.sn]).collect();
        sufis.push(Sufi::Mrw(match mrw.beyond_window {
            true => MrwSufi::beyond_window(mrw.sn, count(mrw.n_length)),
            false => MrwSufi::new(sns, count(mrw.n_length)).expect("an MRW names 15 SDUs at most"),
        }));
    }
    if let Some(ack) = status.mrw_ack {
        sufis.push(Sufi::MrwAck { n: count(ack.n), sn_ack: ack.sn });
    }
    sufis.extend(status.poll.map(Sufi::Poll));
    let missing = set.missing_of(status);
    sufis.extend(missing_sufis(format, missing, mapped(status, missing)));
    StatusPdu::new(sufis, status.lsn.map_or(StatusEnd::NoMore, StatusEnd::Ack))
}

/// Number of PDUs that the bitmaps cover, from the first missing PDU on: up to the LSN, or up to the
/// last missing PDU if it lies above the LSN.
fn mapped(status: &Status, missing: &[SnRun]) -> u64 {
    let (Some(first), Some(last)) = (missing.first(), missing.last()) else { return 0 };
    let needed = last.first.steps_from(first.first) + u64::from(last.count);
    // The LSN of a later part of a report is below all PDUs that the part lists. The distance modulo
    // 4096 is then more than half a cycle, and the LSN is ignored.
    let up_to_lsn = status.lsn.map_or(0, |lsn| lsn.steps_from(first.first));
    if up_to_lsn < Sn::MODULUS / 2 { needed.max(up_to_lsn) } else { needed }
}

/// SUFIs for `missing`, which is in ascending order. A map covers `mapped` PDUs.
pub(in crate::radio::rlc) fn missing_sufis(
    format: StatusFormat,
    missing: &[SnRun],
    mapped: u64,
) -> Vec<Sufi> {
    match format {
        StatusFormat::List => lists(missing),
        StatusFormat::Rlist => rlists(missing),
        StatusFormat::Bitmap => bitmaps(missing, mapped),
        StatusFormat::Eurane => unreachable!("EURANE's report has no encoding"),
    }
}

/// LIST SUFIs: runs are cut into pairs of at most 16 PDUs, and a LIST has at most 15 pairs.
fn lists(missing: &[SnRun]) -> Vec<Sufi> {
    let max_pdus = usize::from(List::MAX_PDUS);
    let pairs = missing.iter().flat_map(|run| {
        (0..run.count).step_by(max_pdus).map(|from| SnRun {
            first: run.first.plus(from.into()),
            count: (run.count - from).min(List::MAX_PDUS),
        })
    });
    let pairs: Vec<_> = pairs.collect();
    let list = |pairs: &[SnRun]| Sufi::List(List::new(pairs.to_vec()).expect("1 to 15 pairs"));
    pairs.chunks(List::MAX_RUNS).map(list).collect()
}

/// RLIST SUFIs, each with as many of the missing PDUs as fit.
fn rlists(missing: &[SnRun]) -> Vec<Sufi> {
    let mut unlisted = missing.to_vec();
    let mut sufis = Vec::new();
    while !unlisted.is_empty() {
        let (rlist, mut listed) = Rlist::of(&unlisted).expect("runs ascend");
        sufis.push(Sufi::Rlist(rlist));
        unlisted.retain_mut(|run| {
            let listed_of_run = listed.min(run.count.into());
            listed -= listed_of_run;
            *run = SnRun { first: run.first.plus(listed_of_run), count: run.count - listed_of_run as u16 };
            run.count > 0
        });
    }
    sufis
}

/// BITMAP SUFIs of `mapped` PDUs from the first missing PDU on, 128 PDUs in each.
fn bitmaps(missing: &[SnRun], mapped: u64) -> Vec<Sufi> {
    let Some(first) = missing.first() else { return Vec::new() };
    let map = |from: u64| {
        let count = (mapped - from).min(Bitmap::MAX_PDUS);
        Sufi::Bitmap(Bitmap::covering(first.first.plus(from), count, missing).expect("1 to 128 PDUs"))
    };
    (0..mapped).step_by(Bitmap::MAX_PDUS as usize).map(map).collect()
}

/// Decodes a STATUS. Its lists of PDUs are added to `set`.
pub(super) fn read_status(pdu: &StatusPdu<'_>, set: &mut BlockSet) -> Status {
    let first_run = set.missing.len() as u16;
    let mut status = Status { octets: pdu.size() as u16, ..Status::default() };
    for sufi in pdu.sufis() {
        match sufi {
            Sufi::Window(size) => status.window = NonZeroU16::new(size.pdus()),
            Sufi::List(list) => set.missing.extend_from_slice(list.missing()),
            Sufi::Bitmap(bitmap) => set.missing.extend(bitmap.missing()),
            Sufi::Rlist(rlist) => set.missing.extend(rlist.missing()),
            Sufi::Mrw(mrw) => {
                set.discarded.extend(&mrw.sns()[..mrw.sns().len() - 1]);
                let (sn, n_length) = (mrw.last(), mrw.n_length().indicators());
                status.mrw = Some(Mrw { sn, n_length, beyond_window: mrw.is_beyond_window() });
            }
            Sufi::MrwAck { n, sn_ack } => status.mrw_ack = Some(MrwAck { sn: *sn_ack, n: n.indicators() }),
            Sufi::Poll(poll_sn) => status.poll = Some(*poll_sn),
        }
    }
    status.missing = IndexRange { first: first_run, after_last: set.missing.len() as u16 };
    status.lsn = match pdu.end() {
        StatusEnd::Ack(lsn) => Some(lsn),
        StatusEnd::NoMore | StatusEnd::Full => None,
    };
    status
}
