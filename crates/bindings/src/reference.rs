//! Reference data: the schema, the parameters, the metrics, profiles, quantiles, the version.

use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict};
use umts_record::budget::Cause;
use umts_record::definitions;
use umts_record::looks::{HUES, Look, PROXY_LOOKS, STATE_HEIGHTS, STATE_LOOKS, look_of};
use umts_record::metrics::{Definition, Scope};
use umts_record::timeline::{AREAS, Area, Category, ColumnTest, Condition, LANES, Lane};
use umts_scenario::{
    FlatProfile, Param, Profile, ReferenceBearer, ReferenceChannel, RrcProfile, reference_bearers,
};

/// A dictionary with keys in the given order.
type Row<'py> = PyResult<Bound<'py, PyDict>>;

/// The JSON Schema of scenario files.
#[pyfunction]
pub fn schema() -> String {
    umts_scenario::schema().to_string()
}

/// Each scenario key with its label, kind, default, range, source and description, and a line for
/// each allowed word. Missing values are empty strings.
#[pyfunction]
pub fn params(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let row = |param: Param| -> Row<'_> {
        let choices = param.choices.iter().map(|choice| format!("{}: {}", choice.value, choice.description));
        let choices = choices.collect::<Vec<_>>().join("\n");
        [
            ("key", param.key),
            ("label", param.label),
            ("kind", param.kind),
            ("required", if param.required { "yes" } else { "" }.to_owned()),
            ("default", param.default.unwrap_or_default()),
            ("range", param.range.unwrap_or_default()),
            ("source", param.source.unwrap_or_default()),
            ("description", param.description),
            ("choices", choices),
        ]
        .into_py_dict(py)
    };
    umts_scenario::params().into_iter().map(row).collect()
}

/// Each metric with its label, unit (empty for counts and ratios), scope, meaning, numerator and
/// denominator.
#[pyfunction]
pub fn metric_definitions(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let row = |metric: Definition| -> Row<'_> {
        let scope = match metric.scope {
            Scope::Connection => "connection",
            Scope::Radio => "radio",
            Scope::Datagram => "datagram",
            Scope::Cell => "cell",
            Scope::Network => "network",
            Scope::Layout => "layout",
            Scope::Proxy => "proxy",
            Scope::Queues => "queues",
            Scope::Budget => "budget",
            Scope::Transfers => "transfers",
        };
        [
            ("name", metric.name),
            ("label", metric.label),
            ("unit", if metric.unit == "1" { "" } else { metric.unit }),
            ("scope", scope),
            ("meaning", metric.meaning),
            ("numerator", metric.numerator),
            ("denominator", metric.denominator),
        ]
        .into_py_dict(py)
    };
    definitions().map(row).collect()
}

/// The areas of the page's time line, from top to bottom: name, label, note and height.
#[pyfunction]
pub fn areas(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let row = |area: &Area| -> Row<'_> {
        let row = [("name", area.name), ("label", area.label), ("note", area.note)].into_py_dict(py)?;
        row.set_item("height", area.height)?;
        Ok(row)
    };
    AREAS.iter().map(row).collect()
}

/// Each lane of the timeline with its columns as texts, its tests (column, operator, operand), and
/// its categories. `light` and `dark` are the colours of the last category, `column` and `value` the
/// first test for an equal text.
#[pyfunction]
pub fn lanes(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let tests = |tests: &[ColumnTest]| -> Vec<(&str, &str, String)> {
        let texts = |test: &ColumnTest| {
            let (operator, operand) = test.condition.operator_and_operand();
            (test.column, operator, operand)
        };
        tests.iter().map(texts).collect()
    };
    let category = |category: &Category| -> Row<'_> {
        let row = [("name", category.name), ("label", category.label), ("colour", category.colour)]
            .into_py_dict(py)?;
        row.set_item("tests", tests(category.tests))?;
        Ok(row)
    };
    let row = |lane: &Lane| -> Row<'_> {
        let first_equal = lane.tests.iter().find_map(|test| match test.condition {
            Condition::Equal(value) => Some((test.column, value)),
            _ => None,
        });
        let (column, value) = first_equal.unwrap_or_default();
        let [light, dark] = lane.colours();
        let row = [
            ("name", lane.name),
            ("label", lane.label),
            ("area", lane.area),
            ("layer", lane.layer),
            ("table", lane.table),
            ("owner", lane.rows.owner()),
            ("direction", lane.rows.direction()),
            ("column", column),
            ("value", value),
            ("start", lane.time.start),
            ("end", lane.time.end),
            ("low", lane.values.low),
            ("high", lane.values.high),
            ("text", lane.text),
            ("unit", lane.unit),
            ("meaning", lane.meaning),
            ("draw", lane.draw.name()),
            ("cells", lane.draw.cells()),
            ("light", light),
            ("dark", dark),
        ]
        .into_py_dict(py)?;
        row.set_item("tests", tests(lane.tests))?;
        row.set_item("categories", lane.categories.iter().map(category).collect::<PyResult<Vec<_>>>()?)?;
        Ok(row)
    };
    LANES.iter().map(row).collect()
}

/// Each hue with its fill and edge in the light theme, then in the dark one.
#[pyfunction]
pub fn hues() -> Vec<(&'static str, [&'static str; 2], [&'static str; 2])> {
    HUES.iter().map(|hue| (hue.name, hue.light, hue.dark)).collect()
}

/// Name, hue and hatch of each cause of the time budget, in order of precedence; of the causes
/// of transfers through a proxy; and of each RRC state.
#[pyfunction]
pub fn looks() -> [Vec<(&'static str, &'static str, &'static str)>; 3] {
    let words = |look: Look| (look.name, look.hue, look.hatch);
    [
        Cause::ALL.iter().map(|cause| words(look_of(*cause))).collect(),
        PROXY_LOOKS.iter().map(|look| words(*look)).collect(),
        STATE_LOOKS.iter().map(|look| words(*look)).collect(),
    ]
}

/// Share of a strip's height that each RRC state fills, in the order of [`looks`].
#[pyfunction]
pub fn state_heights() -> Vec<f64> {
    STATE_HEIGHTS.to_vec()
}

/// Each reference bearer: name, RLC settings and source, and for each direction channel, rate, TTI,
/// block size, transport format set, coding and coded bits of a full TTI.
#[pyfunction]
pub fn bearers(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let channel = |channel: &ReferenceChannel| -> Row<'_> {
        let row = PyDict::new(py);
        row.set_item("channel", channel.channel)?;
        row.set_item("rate_bps", channel.rate().bps())?;
        row.set_item("tti_ms", channel.tti_ms)?;
        row.set_item("block_bits", channel.block_bits)?;
        row.set_item("header_bits", channel.header_bits)?;
        row.set_item("formats", channel.formats)?;
        row.set_item("coding", channel.coding.text())?;
        row.set_item("coded_bits", channel.coded_bits())?;
        Ok(row)
    };
    let row = |bearer: &ReferenceBearer| -> Row<'_> {
        let row = PyDict::new(py);
        row.set_item("name", bearer.name)?;
        row.set_item("description", bearer.description)?;
        row.set_item("downlink", channel(&bearer.downlink)?)?;
        row.set_item("uplink", channel(&bearer.uplink)?)?;
        row.set_item("carries_packets", bearer.carries_packets)?;
        row.set_item("rlc", bearer.rlc)?;
        row.set_item("source", bearer.source)?;
        Ok(row)
    };
    reference_bearers().iter().map(row).collect()
}

/// Each TCP profile: name, description, and each key of `[tcp]` with value and source.
#[pyfunction]
pub fn profiles(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let row = |profile: &Profile| -> Row<'_> {
        let row = PyDict::new(py);
        row.set_item("name", profile.name)?;
        row.set_item("description", profile.description)?;
        let keys = profile
            .keys()
            .into_iter()
            .map(|key| [("key", key.key), ("value", key.value), ("source", key.source)].into_py_dict(py));
        row.set_item("keys", keys.collect::<PyResult<Vec<_>>>()?)?;
        Ok(row)
    };
    umts_scenario::profiles().iter().map(row).collect()
}

/// Each RRC profile: name, description, keys of `[rrc]` as text, and source.
#[pyfunction]
pub fn rrc_profiles(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let row = |profile: &RrcProfile| -> Row<'_> {
        [
            ("name", profile.name),
            ("description", profile.description),
            ("keys", profile.keys.trim()),
            ("source", profile.source),
        ]
        .into_py_dict(py)
    };
    umts_scenario::rrc_profiles().iter().map(row).collect()
}

/// Each flat profile of browsers and test services: name, rates, round-trip time, packet loss as a
/// fraction, and source.
#[pyfunction]
pub fn flat_profiles(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let row = |profile: &FlatProfile| -> Row<'_> {
        let row = PyDict::new(py);
        row.set_item("name", profile.name)?;
        row.set_item("downlink_bps", profile.downlink_bps)?;
        row.set_item("uplink_bps", profile.uplink_bps)?;
        row.set_item("rtt_s", profile.rtt_us as f64 / 1e6)?;
        row.set_item("loss", f64::from(profile.loss_percent) / 100.0)?;
        row.set_item("source", profile.source)?;
        Ok(row)
    };
    umts_scenario::flat_profiles().iter().map(row).collect()
}

/// The value that a t-distributed variable with `freedom` degrees of freedom exceeds in absolute
/// value with probability `outside`.
#[pyfunction]
pub fn t_quantile(freedom: f64, outside: f64) -> f64 {
    umts_record::t_quantile(freedom, outside)
}

/// The version of the package, the commit from which it was built ("unknown" outside git), and the
/// fingerprint of its sources, which is part of the keys of stored runs.
#[pyfunction]
pub fn version(py: Python<'_>) -> Row<'_> {
    [("version", env!("CARGO_PKG_VERSION")), ("commit", env!("UMTS_COMMIT")), ("code", env!("UMTS_CODE"))]
        .into_py_dict(py)
}
