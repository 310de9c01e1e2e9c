//! Lanes and their tables.

use super::*;

#[test]
fn every_lane_shows_columns_of_an_existing_table() {
    let tables = Timeline::of_ues(Vec::new()).finish();
    for lane in LANES.iter().filter(|lane| lane.table != "budget_intervals") {
        let table = tables.iter().find(|table| table.name == lane.table);
        let table = table.unwrap_or_else(|| panic!("{} has no table", lane.name));
        for column in [lane.label, lane.filter.0].into_iter().filter(|column| !column.is_empty()) {
            assert!(table.column(column).is_some(), "{}: {column}", lane.name);
        }
    }
}

#[test]
fn names_of_lanes_are_unique() {
    for (index, lane) in LANES.iter().enumerate() {
        assert!(LANES[..index].iter().all(|before| before.name != lane.name), "{}", lane.name);
    }
}
