//! Writes scenarios with every default, in the format of a scenario file.

use std::fmt::Debug;

use serde::Serialize;
use serde_json::Value;
use umts_stack::radio::capacity::CapacityTrace;

use crate::model::{BlockErrors, FlowTable, Radio, Scenario, TcpProfile, Traffic};
use crate::python_classes::{SchedulerKey, content, scheduler_keys};

/// Keys that do not affect results.
const LABELS: [&str; 4] = ["name", "title", "source", "seed"];

/// The `[[flow]]` tables of a file.
#[derive(Serialize)]
struct Flows {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    flow: Vec<FlowTable>,
}

impl Scenario {
    /// The scenario as a TOML file that loads to the same scenario. The file is complete except for
    /// the files that it names.
    ///
    /// A flow has a table `[flow.tcp]` only if its TCP differs from `[tcp]`. Overrides of `[tcp]`
    /// then still affect the flow.
    pub fn to_toml(&self) -> String {
        let (rest, flows) = self.parts();
        format!("{}\n{}", toml_of(&rest), toml_of(&flows))
    }

    /// The content of [`to_toml`](Self::to_toml) as JSON.
    pub fn parameters(&self) -> Value {
        let (rest, flows) = self.parts();
        let [mut whole, mut flows] = [serde_json::to_value(rest), serde_json::to_value(flows)]
            .map(|part| part.expect("JSON can represent every scenario"));
        if let (Some(whole), Some(flows)) = (whole.as_object_mut(), flows.as_object_mut()) {
            whole.append(flows);
        }
        drop_nulls(&mut whole);
        whole
    }

    /// The scenario without its flows, and the flows. A flow has a TCP table only if its TCP
    /// differs from `[tcp]`.
    fn parts(&self) -> (Scenario, Flows) {
        let flow = self.flow.iter().map(|flow| flow.without_defaults(&self.tcp)).collect();
        (Scenario { flow: Vec::new(), ..self.clone() }, Flows { flow })
    }

    /// The scenario as JSON, with the keys and values of the TOML file.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).expect("JSON can represent every scenario")
    }
}

impl crate::Scenario {
    /// BLAKE3 hash, in hexadecimal, of all keys that affect a run except its seed. Equivalent files
    /// have the same hash. The content of named files counts; their names do not.
    pub fn content_hash(&self) -> String {
        self.hash_of(self.model.clone())
    }

    /// The hash of `scenario`, with the content of the files that were read for it.
    fn hash_of(&self, mut scenario: Scenario) -> String {
        name_by_content(&mut scenario.radio);
        scenario.ue.iter_mut().filter_map(|ue| ue.radio.as_mut()).for_each(name_by_content);
        for flow in &mut scenario.flow {
            if let Traffic::Replay(replay) = &mut flow.traffic {
                replay.file = hash_of_content(&replay.records);
            }
        }
        for power in scenario.cell.iter_mut().filter_map(|cell| cell.power.as_mut()) {
            if let Some(file) = &mut power.tables {
                *file = hash_of_content(&power.links);
            }
        }
        for SchedulerKey { named, class, .. } in scheduler_keys(&mut scenario.cell, &mut scenario.bearer) {
            if let Some(class) = class {
                *named = content(class);
            }
        }
        // The values of a profile count, not its name.
        if let Some(proxy) = &mut scenario.proxy {
            proxy.forget_names(&scenario.flow);
            proxy.server_side.remove_profile_name();
            proxy.radio_side.remove_profile_name();
        }
        scenario.flow.iter_mut().for_each(|flow| flow.name = None);
        let tables = scenario.flow.iter_mut().map(|flow| &mut flow.tcp).chain([&mut scenario.tcp]);
        for tcp in tables {
            tcp.profile = TcpProfile::None;
            if let Some(control) = &tcp.python_control {
                tcp.python = content(control);
            }
        }
        for hs in scenario.ue.iter_mut().filter_map(|ue| ue.hs_dsch.as_mut()) {
            if let Some(file) = &mut hs.trace {
                *file = hash_of_content(&hs.link_trace);
            }
        }
        for mobility in scenario.ue.iter_mut().filter_map(|ue| ue.mobility.as_mut()) {
            mobility.file = mobility.track.as_ref().map(hash_of_content);
        }
        let flats = scenario.ue.iter_mut().filter_map(|ue| ue.flat.as_mut());
        flats.for_each(|flat| flat.profile = "none".to_owned());
        for (ue, group) in scenario.ue.iter_mut().zip(&self.plan.groups) {
            let Some((capacity, traces)) = ue.capacity.as_mut().zip(group.traces.as_ref()) else { continue };
            [capacity.downlink, capacity.uplink] =
                traces.each_ref().map(|trace: &CapacityTrace| hash_of_content(&trace.milliseconds()));
        }
        let mut json = scenario.to_json();
        if let Some(object) = json.as_object_mut() {
            object.retain(|key, _| !LABELS.contains(&key.as_str()));
        }
        let mut canonical = String::new();
        write_canonical(&json, &mut canonical);
        blake3::hash(canonical.as_bytes()).to_hex().to_string()
    }
}

/// Returns the hash of the content of a file, which stands for the file's name.
fn hash_of_content(content: &impl Debug) -> String {
    blake3::hash(format!("{content:?}").as_bytes()).to_hex().to_string()
}

fn toml_of(value: &impl Serialize) -> String {
    toml::to_string(value).expect("TOML can represent every scenario")
}

/// Removes null values, as the TOML form does.
fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(table) => {
            table.retain(|_, value| !value.is_null());
            table.values_mut().for_each(drop_nulls);
        }
        Value::Array(values) => values.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}

/// Replaces the names of error traces by the hashes of their content.
fn name_by_content(radio: &mut Radio) {
    for errors in std::iter::once(&mut radio.downlink).chain(radio.uplink.as_mut()) {
        if let BlockErrors::Trace { file, verdicts } = errors {
            let bytes: Vec<u8> = verdicts.iter().map(|is_lost| u8::from(*is_lost)).collect();
            *file = blake3::hash(&bytes).to_hex().to_string();
        }
    }
}

/// Writes JSON without white space and with sorted keys, independent of the order in the library.
fn write_canonical(value: &Value, out: &mut String) {
    match value {
        Value::Object(object) => {
            let mut entries: Vec<_> = object.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            out.push('{');
            for (i, (key, value)) in entries.into_iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                *out += &format!("{}:", Value::from(key.as_str()));
                write_canonical(value, out);
            }
            out.push('}');
        }
        Value::Array(values) => {
            out.push('[');
            for (i, value) in values.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write_canonical(value, out);
            }
            out.push(']');
        }
        scalar => *out += &scalar.to_string(),
    }
}
