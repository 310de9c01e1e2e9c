//! Tests of the lanes of the timeline and of their tables.

use std::collections::BTreeSet;

use umts_units::Duration;

use super::lanes::colours_of;
use super::*;
use crate::series::{Series, SeriesConfig};

/// Columns of the budget's intervals, which have a recorder of their own.
const BUDGET_INTERVALS: &[&str] = &["connection", "start_s", "end_s", "cause"];

#[test]
fn every_lane_shows_columns_of_an_existing_table() {
    let mut tables = Timeline::default().finish();
    tables.extend(Series::new(SeriesConfig::default()).finish(Time::ZERO).tables);
    for lane in LANES {
        let has = |column: &str| match lane.table {
            "budget_intervals" => BUDGET_INTERVALS.contains(&column),
            name => {
                let table = tables.iter().find(|table| table.name == name);
                table.unwrap_or_else(|| panic!("{} has no table", lane.name)).column(column).is_some()
            }
        };
        let categories = lane.categories.iter().flat_map(|category| category.tests);
        let tested = lane.tests.iter().chain(categories).map(|test| test.column);
        let direction = if lane.rows.direction().is_empty() { "" } else { "direction" };
        let columns = [
            lane.text,
            lane.time.start,
            lane.time.end,
            lane.values.low,
            lane.values.high,
            direction,
            lane.rows.owner(),
        ];
        for column in columns.into_iter().chain(tested).filter(|column| !column.is_empty()) {
            assert!(has(column), "{}: {column}", lane.name);
        }
    }
}

#[test]
fn names_of_lanes_areas_and_categories_are_unique() {
    let all_differ = |names: Vec<&str>| names.iter().collect::<BTreeSet<_>>().len() == names.len();
    assert!(all_differ(LANES.iter().map(|lane| lane.name).collect()));
    assert!(all_differ(AREAS.iter().map(|area| area.name).collect()));
    for lane in LANES {
        assert!(all_differ(lane.categories.iter().map(|category| category.name).collect()), "{}", lane.name);
    }
}

#[test]
fn every_lane_has_an_area_a_colour_and_a_category_for_each_row() {
    for area in AREAS {
        assert!(LANES.iter().any(|lane| lane.area == area.name), "{} is empty", area.name);
    }
    for lane in LANES {
        assert!(lane.area.is_empty() || AREAS.iter().any(|area| area.name == lane.area), "{}", lane.name);
        for category in lane.categories {
            assert!(colours_of(category.colour).is_some(), "{}: {}", lane.name, category.colour);
        }
        let last = lane.categories.last();
        assert!(last.is_none_or(|category| category.tests.is_empty()), "{}", lane.name);
    }
}

#[test]
fn restarts_of_a_timer_share_a_row_of_limited_length() {
    let at = |seconds| Time::ZERO + Duration::from_secs(seconds);
    let mut timers = OpenRows::default();
    let index = timers.open(TimerRow::start(at(0), "rto", UeId(0), Direction::Downlink));
    assert!(timers.restart(at(3), index));
    assert!(timers.restart(at(9), index));
    assert!(!timers.restart(at(10), index), "the row is closed, so that it can be taken");
    let row = timers.get(index).expect("the row was not taken");
    assert_eq!((row.restarts, row.last_start_s), (2, Some(9.0)));
    assert_eq!((row.end_s, row.outcome), (Some(10.0), "restarted"));
    assert_eq!(timers.take(at(10)).rows(), 1);
}
