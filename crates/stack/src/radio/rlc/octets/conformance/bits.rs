//! PDUs of the system simulator, built bit by bit according to the figures of TS 25.322 §9.2, and
//! independent of the codec under test. A field of a control PDU is a pair: its value, and its width
//! in bits. `octets` is always the size of the whole PDU.

use std::ops::RangeInclusive;

/// The polling bit of an AMD PDU.
pub const POLL: bool = true;
pub const NO_POLL: bool = false;

/// An AMD PDU with 7-bit length indicators, padded with zeros.
pub fn amd7(sn: u16, poll: bool, indicators: &[u8], data: &[u8], octets: usize) -> Vec<u8> {
    let mut pdu = amd_header(sn, poll, !indicators.is_empty());
    pdu.extend(indicators7(indicators));
    filled(pdu, data, octets)
}

/// An AMD PDU with 15-bit length indicators, padded with zeros.
pub fn amd15(sn: u16, poll: bool, indicators: &[u16], data: &[u8], octets: usize) -> Vec<u8> {
    let mut pdu = amd_header(sn, poll, !indicators.is_empty());
    pdu.extend(indicators15(indicators));
    filled(pdu, data, octets)
}

/// A UMD PDU with 7-bit length indicators, padded with zeros.
pub fn umd7(sn: u8, indicators: &[u8], data: &[u8], octets: usize) -> Vec<u8> {
    let mut pdu = vec![sn << 1 | u8::from(!indicators.is_empty())];
    pdu.extend(indicators7(indicators));
    filled(pdu, data, octets)
}

/// A UMD PDU with 15-bit length indicators, padded with zeros.
pub fn umd15(sn: u8, indicators: &[u16], data: &[u8], octets: usize) -> Vec<u8> {
    let mut pdu = vec![sn << 1 | u8::from(!indicators.is_empty())];
    pdu.extend(indicators15(indicators));
    filled(pdu, data, octets)
}

/// D/C, SN, P and HE.
fn amd_header(sn: u16, poll: bool, has_indicators: bool) -> Vec<u8> {
    let bits = 1 << 15 | sn << 3 | u16::from(poll) << 2 | u16::from(has_indicators);
    bits.to_be_bytes().to_vec()
}

/// Length indicators of 7 bits, each followed by E: 1 if another one follows.
fn indicators7(indicators: &[u8]) -> impl Iterator<Item = u8> {
    let last = indicators.len();
    indicators.iter().enumerate().map(move |(n, li)| li << 1 | u8::from(n + 1 < last))
}

/// Length indicators of 15 bits, each followed by E.
fn indicators15(indicators: &[u16]) -> impl Iterator<Item = u8> {
    let last = indicators.len();
    indicators.iter().enumerate().flat_map(move |(n, li)| (li << 1 | u16::from(n + 1 < last)).to_be_bytes())
}

/// Appends the data and zeros up to `octets`.
fn filled(mut pdu: Vec<u8>, data: &[u8], octets: usize) -> Vec<u8> {
    pdu.extend(data);
    assert!(pdu.len() <= octets, "{} octets in a PDU of {octets}", pdu.len());
    pdu.resize(octets, 0);
    pdu
}

/// A control PDU with these fields, padded with zeros. Each field is a value and its width in bits.
pub fn control(fields: &[(u32, u32)], octets: usize) -> Vec<u8> {
    let bits: String =
        fields.iter().map(|&(value, width)| format!("{value:0w$b}", w = width as usize)).collect();
    let octet = |bits: &[u8]| {
        bits.iter().enumerate().fold(0, |octet, (n, bit)| octet | u8::from(*bit == b'1') << (7 - n))
    };
    let pdu: Vec<u8> = bits.as_bytes().chunks(8).map(octet).collect();
    filled(pdu, &[], octets)
}

/// D/C and type of a STATUS PDU, as a field.
const STATUS: (u32, u32) = (0b0000, 4);
/// Type of an ACK SUFI, as a field.
const ACK: (u32, u32) = (0b0010, 4);

/// A STATUS PDU: these SUFIs as (value, width in bits), then an ACK with this LSN.
pub fn status(fields: &[(u32, u32)], lsn: u32, octets: usize) -> Vec<u8> {
    let fields = [&[STATUS], fields, &[ACK, (lsn, 12)]].concat();
    control(&fields, octets)
}

/// A STATUS PDU of these SUFIs that ends with NO_MORE.
pub fn status_without_ack(fields: &[(u32, u32)], octets: usize) -> Vec<u8> {
    control(&[&[STATUS], fields, &[(0b0000, 4)]].concat(), octets)
}

/// A WINDOW SUFI.
pub fn window(wsn: u32) -> Vec<(u32, u32)> {
    vec![(0b0001, 4), (wsn, 12)]
}

/// Consecutive missing PDUs in a LIST SUFI.
pub struct MissingRun {
    first: u32,
    /// L: number of further missing PDUs after the first one, at most 15.
    further: u32,
}

/// One missing PDU.
pub fn pdu(sn: u32) -> MissingRun {
    MissingRun { first: sn, further: 0 }
}

/// Several consecutive missing PDUs.
pub fn pdus(sns: RangeInclusive<u32>) -> MissingRun {
    MissingRun { first: *sns.start(), further: sns.end() - sns.start() }
}

/// A LIST SUFI.
pub fn list(runs: &[MissingRun]) -> Vec<(u32, u32)> {
    let head = [(0b0011, 4), (runs.len() as u32, 4)];
    head.into_iter().chain(runs.iter().flat_map(|run| [(run.first, 12), (run.further, 4)])).collect()
}

/// An MRW SUFI.
pub fn mrw(sns: &[u32], n_length: u32) -> Vec<(u32, u32)> {
    let head = [(0b0110, 4), (sns.len() as u32, 4)];
    head.into_iter().chain(sns.iter().map(|&sn| (sn, 12))).chain([(n_length, 4)]).collect()
}

/// An MRW_ACK SUFI.
pub fn mrw_ack(n: u32, sn_ack: u32) -> Vec<(u32, u32)> {
    vec![(0b0111, 4), (n, 4), (sn_ack, 12)]
}

/// The fields R1 (reserved) and HFNI of a RESET and of a RESET ACK. HFNI is 0, because ciphering is
/// not modelled.
const R1_AND_HFNI: [(u32, u32); 2] = [(0, 3), (0, 20)];

/// A RESET PDU.
pub fn reset(rsn: u32, octets: usize) -> Vec<u8> {
    control(&[&[(0b0001, 4), (rsn, 1)][..], &R1_AND_HFNI].concat(), octets)
}

/// A RESET ACK PDU.
pub fn reset_ack(rsn: u32, octets: usize) -> Vec<u8> {
    control(&[&[(0b0010, 4), (rsn, 1)][..], &R1_AND_HFNI].concat(), octets)
}
