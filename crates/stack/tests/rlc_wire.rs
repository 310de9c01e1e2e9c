//! The RLC codec, compared with Wireshark: both read the same 102 PDUs (`manifest.json`), and each
//! field that the codec reads must equal tshark's column of the same name (`*.fields.tsv`). The
//! codec must also write each PDU again unchanged. See `tests/rlc_wire/README.md`.

use std::collections::BTreeMap;
use std::fmt::Display;

use umts_stack::radio::rlc::wire::{
    AmPdu, AmdFormat, AmdView, ControlView, LiWidth, Payload, StatusEnd, StatusPdu, Sufi, TmdPdu, UmdFormat,
    UmdPdu,
};

/// PDUs of one RLC entity, and tshark's reading of them.
struct Case {
    /// Key in `manifest.json`.
    name: &'static str,
    mode: Mode,
    /// tshark's table: a line of column names, and a line for each PDU.
    table: &'static str,
}

const CASES: [Case; 7] = [
    Case { name: "am7", mode: Mode::Am, table: include_str!("rlc_wire/am7.fields.tsv") },
    Case { name: "am15", mode: Mode::Am, table: include_str!("rlc_wire/am15.fields.tsv") },
    Case { name: "ctl", mode: Mode::Am, table: include_str!("rlc_wire/ctl.fields.tsv") },
    Case { name: "um", mode: Mode::Um, table: include_str!("rlc_wire/um.fields.tsv") },
    Case { name: "um-wrap", mode: Mode::Um, table: include_str!("rlc_wire/um-wrap.fields.tsv") },
    Case { name: "tm", mode: Mode::Tm, table: include_str!("rlc_wire/tm.fields.tsv") },
    Case { name: "reset-new-id", mode: Mode::Am, table: include_str!("rlc_wire/reset-new-id.fields.tsv") },
];

/// Acknowledged, unacknowledged and transparent mode.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Mode {
    Am,
    Um,
    Tm,
}

/// The PDUs of `case`, each with its label.
fn pdus(case: &str) -> Vec<(String, Vec<u8>)> {
    let manifest: serde_json::Value =
        serde_json::from_str(include_str!("rlc_wire/manifest.json")).expect("it is JSON");
    let entries = manifest[case].as_array().expect("a case has a list");
    let octets = |hex: &str| {
        (0..hex.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).expect("it is hexadecimal"))
            .collect()
    };
    let text = |entry: &serde_json::Value, name: &str| entry[name].as_str().expect("a text").to_owned();
    entries.iter().map(|entry| (text(entry, "label"), octets(&text(entry, "pdu")))).collect()
}

/// Values of fields in their order of appearance, by tshark's names.
#[derive(Default)]
struct Fields {
    by_name: BTreeMap<&'static str, Vec<String>>,
}

impl Fields {
    fn add(&mut self, name: &'static str, value: impl Display) {
        self.by_name.entry(name).or_default().push(value.to_string());
    }

    fn joined(&self, name: &str) -> String {
        self.by_name.get(name).map_or(String::new(), |values| values.join(","))
    }

    /// Adds the fields of a STATUS PDU by the names that Wireshark gives them.
    fn add_status(&mut self, status: &StatusPdu<'_>) {
        for sufi in status.sufis() {
            match sufi {
                Sufi::Window(size) => {
                    self.add("rlc.sufi.type", 1);
                    self.add("rlc.sufi.wsn", size.pdus());
                }
                Sufi::List(list) => {
                    self.add("rlc.sufi.type", 3);
                    self.add("rlc.sufi.len", list.missing().len());
                    for run in list.missing() {
                        self.add("rlc.sufi.sn", run.first.value());
                        self.add("rlc.sufi.l", run.count - 1);
                    }
                }
                Sufi::Bitmap(bitmap) => {
                    self.add("rlc.sufi.type", 4);
                    self.add("rlc.sufi.len", (sufi.bits() - 20) / 8 - 1);
                    self.add("rlc.sufi.fsn", bitmap.first().value());
                }
                Sufi::Rlist(rlist) => {
                    self.add("rlc.sufi.type", 5);
                    self.add("rlc.sufi.len", (sufi.bits() - 20) / 4);
                    self.add("rlc.sufi.fsn", rlist.first().value());
                }
                Sufi::Mrw(mrw) => {
                    self.add("rlc.sufi.type", 6);
                    self.add("rlc.sufi.len", if mrw.is_beyond_window() { 0 } else { mrw.sns().len() });
                    mrw.sns().iter().for_each(|sn| self.add("rlc.sufi.sn_mrw", sn.value()));
                    self.add("rlc.sufi.n", mrw.n_length().indicators());
                }
                Sufi::MrwAck { n, sn_ack } => {
                    self.add("rlc.sufi.type", 7);
                    self.add("rlc.sufi.n", n.indicators());
                    self.add("rlc.sufi.sn_ack", sn_ack.value());
                }
                Sufi::Poll(sn) => {
                    self.add("rlc.sufi.type", 8);
                    self.add("rlc.sufi.poll_sn", sn.value());
                }
            }
        }
        match status.end() {
            StatusEnd::NoMore => self.add("rlc.sufi.type", 0),
            StatusEnd::Ack(lsn) => {
                self.add("rlc.sufi.type", 2);
                self.add("rlc.sufi.lsn", lsn.value());
            }
            StatusEnd::Full => {}
        }
    }
}

/// A part of an SDU.
struct Part {
    octets: Vec<u8>,
    /// Whether the SDU ends with this part.
    ends: bool,
}

/// The result of reading a PDU and writing it again.
struct Decoded {
    fields: Fields,
    /// The PDU as the codec writes it.
    emitted: Vec<u8>,
    /// The parts of SDUs in the PDU. `None` for a control PDU.
    parts: Option<Vec<Part>>,
}

fn read_and_write(mode: Mode, octets: &[u8]) -> Decoded {
    let (mut fields, mut emitted) = (Fields::default(), Vec::new());
    let parts_of = |payload: &Payload<'_>| {
        let segments = payload.segments().into_iter();
        segments.map(|segment| Part { octets: segment.octets.to_vec(), ends: segment.ends }).collect()
    };
    let mut parts = None;
    match mode {
        Mode::Tm => {
            let pdu = TmdPdu::parse(octets, octets.len() * 8).expect("a valid TMD PDU");
            pdu.emit(&mut emitted);
            parts = Some(vec![Part { octets: pdu.octets().to_vec(), ends: true }]);
        }
        Mode::Um => {
            let format = UmdFormat { width: LiWidth::of_umd(octets.len()), alternative_e_bit: false };
            let pdu = UmdPdu::parse(octets, format).unwrap_or_else(|error| panic!("{error}"));
            fields.add("rlc.seq", pdu.sn().value());
            fields.add("rlc.ext", u8::from(!pdu.payload().indicators().is_empty()));
            let header = umts_stack::radio::rlc::wire::UMD_HEADER;
            raw_indicators(&mut fields, octets, header, pdu.payload().indicators().len(), format.width);
            pdu.emit(&mut emitted);
            parts = Some(parts_of(pdu.payload()));
        }
        Mode::Am => {
            // The length of each PDU gives the width of the length indicators: all AMD PDUs of a case
            // have up to 126 octets, or all are larger (TS 25.322 §9.2.2.8).
            let format = AmdFormat { width: LiWidth::of_amd(octets.len()), special_he: true };
            let pdu = AmPdu::parse(octets, format).unwrap_or_else(|error| panic!("{error}"));
            pdu.emit(&mut emitted);
            fields.add("rlc.dc", octets[0] >> 7);
            match &pdu {
                AmPdu::Data(pdu) => {
                    let view = AmdView::over(octets).expect("it has a header");
                    fields.add("rlc.seq", pdu.sn().value());
                    fields.add("rlc.p", u8::from(pdu.poll()));
                    fields.add("rlc.he", view.header_extension());
                    view.raw_length_indicators(format.width).for_each(|li| fields.add("rlc.li.value", li));
                    if let Some(status) = pdu.piggyback() {
                        fields.add_status(status);
                    }
                    parts = Some(parts_of(pdu.payload()));
                }
                AmPdu::Status(status) => {
                    control_type(&mut fields, octets);
                    fields.add_status(status);
                }
                AmPdu::Reset(reset) => {
                    control_type(&mut fields, octets);
                    fields.add("rlc.rsn", u8::from(reset.rsn()));
                    fields.add("rlc.hfni", reset.hfni());
                }
            }
        }
    }
    Decoded { fields, emitted, parts }
}

/// Adds the type of a control PDU.
fn control_type(fields: &mut Fields, octets: &[u8]) {
    let kind = ControlView::over(octets).and_then(|view| view.pdu_type()).expect("a control PDU");
    fields.add("rlc.ctrl_pdu_type", kind as u8);
}

/// Adds the values of `count` length indicators that follow a header of `header` octets.
fn raw_indicators(fields: &mut Fields, octets: &[u8], header: usize, count: usize, width: LiWidth) {
    for index in 0..count {
        let value = match width {
            LiWidth::Seven => u16::from(octets[header + index] >> 1),
            LiWidth::Fifteen => {
                u16::from_be_bytes([octets[header + 2 * index], octets[header + 2 * index + 1]]) >> 1
            }
        };
        fields.add("rlc.li.value", value);
    }
}

/// tshark's lines, by column.
fn expected(table: &str) -> Vec<BTreeMap<&str, &str>> {
    let mut lines = table.lines();
    let columns: Vec<_> = lines.next().expect("a line of names").split('\t').collect();
    lines.map(|line| columns.iter().copied().zip(line.split('\t')).collect()).collect()
}

#[test]
fn pdus_are_parsed_like_tshark_and_emitted_unchanged() {
    let (mut agreed, mut all) = (0, 0);
    for Case { name: case, mode, table } in CASES {
        let (pdus, lines) = (pdus(case), expected(table));
        assert_eq!(pdus.len(), lines.len(), "{case}");
        for ((label, octets), line) in pdus.iter().zip(lines) {
            all += 1;
            let Decoded { fields, emitted, .. } = read_and_write(mode, octets);
            let frame = line["frame.number"];
            assert_eq!(&emitted, octets, "{case} {frame}: {label}");
            // tshark reports duplicates and fragments over several PDUs. The codec sees one PDU at
            // a time.
            for (column, &value) in &line {
                let known = column.starts_with("rlc.sufi") || fields.by_name.contains_key(column);
                // Codewords have no accessor. Unit tests check their meaning, and this test their
                // bits.
                if known && *column != "rlc.sufi.cw" {
                    assert_eq!(fields.joined(column), value, "{case} {frame}, {column}: {label}");
                }
            }
            assert!(fields.by_name.keys().all(|name| line.contains_key(name)), "{case} {frame}: {label}");
            agreed += 1;
        }
    }
    println!("{agreed} of {all} PDUs read as tshark reads them and written again");
    assert_eq!(agreed, 102);
    assert_eq!(all, 102);
}

/// Total length of an IPv4 packet, from its header.
fn ip_length(packet: &[u8]) -> usize {
    usize::from(u16::from_be_bytes([packet[2], packet[3]]))
}

#[test]
fn as_many_sdus_are_reassembled_as_by_tshark() {
    for Case { name: case, mode, table } in CASES {
        // The complete SDUs, and the octets of the SDU that continues in the next PDU.
        let (mut complete_sdus, mut partial) = (Vec::new(), Vec::<u8>::new());
        for (_, octets) in pdus(case) {
            let Decoded { fields, parts: Some(parts), .. } = read_and_write(mode, &octets) else { continue };
            // The first length indicator may indicate that an SDU ended in the previous PDU: 0 at its
            // last octet, 0x7FFB (32,763) one octet before, so that the last octet is padding.
            let first_indicator = fields.by_name.get("rlc.li.value").map(|values| values[0].as_str());
            let padding = match first_indicator {
                Some("0") => Some(0),
                Some("32763") => Some(1),
                _ => None,
            };
            if let Some(padding) = padding {
                partial.truncate(partial.len() - padding);
                complete_sdus.push(std::mem::take(&mut partial));
            }
            for part in parts {
                partial.extend(part.octets);
                if part.ends {
                    complete_sdus.push(std::mem::take(&mut partial));
                }
            }
        }
        assert!(complete_sdus.iter().all(|sdu| ip_length(sdu) == sdu.len()), "{case}");
        // The first length of each line belongs to the packet around the PDU.
        let inner = |line: &BTreeMap<&str, &str>| line["ip.len"].split(',').skip(1).count();
        let reassembled_by_tshark: usize = expected(table).iter().map(inner).sum();
        assert_eq!(complete_sdus.len(), reassembled_by_tshark, "{case}: {partial:?}");
    }
}
