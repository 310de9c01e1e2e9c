//! Layouts of many cells: defaults, conversion from units of the file to metres and radians, and
//! invalid values.

use umts_scenario::Scenario;
use umts_scenario::model::MobilityModel;
use umts_stack::environment::{Border, MobilityConfig, PropagationConfig, ShadowingConfig, StreetLossConfig};
use umts_units::Length;

use crate::common::{assert_mistakes, fill, load_with, scenario_of};

/// One user in a layout. Placeholders: `HEAD` before the tables, `LAYOUT` in `[layout]`, `UE` in
/// `[[ue]]`, `REST` at the end.
const SMALL: &str =
    "version = 1\nduration = \"10 s\"\nHEAD\n[layout]\nLAYOUT\n[[ue]]\nname = \"user\"\nUE\nREST\n";

/// Returns [`SMALL`] with `keys` instead of a placeholder, and without the other placeholders.
fn with(placeholder: &str, keys: &str) -> String {
    fill(SMALL, &format!("{placeholder} {keys}"))
}

#[test]
fn a_layout_has_36_sectors_on_a_torus_by_default() {
    // The lattice has 3 x 4 sites of 3 sectors.
    let scenario = scenario_of(&with("REST", "[[cell]]\nname = \"sector\""));
    let cells = &scenario.plan().cells;
    assert_eq!((cells.len(), &*cells[0].name, &*cells[35].name), (36, "sector-1", "sector-36"));
    assert!(cells.iter().all(|cell| cell.of == 0));
    let environment = scenario.environment().expect("it has one");
    let layout = environment.layout;
    assert_eq!((layout.cells(), layout.border(), layout.sector_radius()), (36, Border::Torus, 500.0));
    assert_eq!(environment.propagation, PropagationConfig::default());
    assert_eq!(environment.propagation.shadowing, ShadowingConfig::default());
    let user = &scenario.ue[0];
    let mobility = user.mobility.as_ref().expect("the UE has a place");
    assert_eq!((&*user.cell, mobility.model), ("best", MobilityModel::Still));
}

#[test]
fn cells_without_a_layout_come_from_the_file() {
    let text = "version = 1\nduration = \"1 s\"\n[[ue]]\nname = \"u\"\n[[cell]]\nname = \"a\"";
    let scenario = scenario_of(text);
    let cells: Vec<_> = scenario.plan().cells.iter().map(|cell| (&*cell.name, cell.of)).collect();
    assert_eq!(cells, [("a", 0)]);
    assert_eq!((&scenario.layout, &scenario.propagation, &scenario.ue[0].mobility), (&None, &None, &None));
}

#[test]
fn speeds_and_places_are_read_with_their_units() {
    let scenario =
        scenario_of(&with("UE", "mobility = { speed = \"36 km/h\", place = [\"1 km\", \"250 m\"] }"));
    let mobility = scenario.ue[0].mobility.as_ref().expect("the UE moves");
    let MobilityConfig::Legs(legs) = mobility.config() else { panic!("legs by default") };
    // 36 km/h are 10 m/s. The length of a leg and the probability of a turn are defaults.
    assert_eq!((legs.speed, legs.length, legs.turning), (10.0, 20.0, 0.2));
    assert_eq!(legs.start.map(|place| (place.x, place.y)), Some((1000.0, 250.0)));
    let mobility = "mobility = { model = \"still\", place = [\"1 km\", \"250 m\"] }";
    let still = scenario_of(&with("UE", mobility)).ue[0].mobility.as_ref().map(|of| of.config());
    assert!(matches!(still, Some(MobilityConfig::Track(_))), "a track of one place: {still:?}");
}

#[test]
fn a_reach_is_a_length_or_unlimited() {
    let reach = |keys: &str| {
        let scenario = scenario_of(&with("REST", &format!("[propagation]\n{keys}")));
        scenario.environment().expect("it has one").propagation.reach
    };
    let keys = ["", "reach = \"unlimited\"", "reach = \"2.5 km\""];
    assert_eq!(keys.map(reach), [None, None, Some(Length::from_millimetres(2_500_000))]);
}

#[test]
fn sites_may_be_listed() {
    let text = with(
        "LAYOUT",
        "border = \"reflect\"\narea = [\"2 km\", \"2 km\"]\n[[layout.site]]\nx = \"500 m\"\ny = \"1 km\"\nazimuth = \"30 deg\"\n\
         [[layout.site]]\nx = \"1.5 km\"\ny = \"1 km\"",
    );
    let scenario = scenario_of(&text);
    let (sites, sectors) = (2, 3);
    assert_eq!(scenario.plan().cells.len(), sites * sectors);
    let layout = scenario.layout.as_ref().expect("it is there").config();
    assert_eq!((layout.sites()[1].place.x, layout.size()), (1500.0, [2000.0; 2]));
    assert!((layout.sites()[0].azimuth - std::f64::consts::FRAC_PI_6).abs() < 1e-12);
}

#[test]
fn layout_round_trips_through_toml_and_hash() {
    for text in [with("LAYOUT", "sites = [6, 6]"), with("REST", "[propagation]\nmodel = \"pedestrian\"")] {
        let first = scenario_of(&text);
        let reloaded = scenario_of(&first.to_toml());
        assert_eq!(reloaded.layout, first.layout);
        assert_eq!(
            (reloaded.content_hash(), &reloaded.propagation),
            (first.content_hash(), &first.propagation)
        );
    }
    let hashes = ["50 km/h", "120 km/h"].map(|speed| {
        scenario_of(&with("UE", &format!("mobility = {{ speed = \"{speed}\" }}"))).content_hash()
    });
    assert_ne!(hashes[0], hashes[1]);
}

/// An override of `radio.model` removes the other keys of the table, but an override of
/// `propagation.model` does not: all models have the same keys.
#[test]
fn overriding_the_path_loss_keeps_the_frequency() {
    let text = with("REST", "[propagation]\nfrequency = \"900 MHz\"");
    let changed = load_with(&text, &[("propagation.model", "pedestrian")]);
    let scenario = changed.expect("the scenario loads").scenario;
    assert_eq!(scenario.propagation.as_ref().map(|of| of.frequency.megahertz()), Some(900.0));
}

#[test]
fn track_content_is_part_of_the_hash() {
    let folder = std::env::temp_dir().join(format!("umts-tracks-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    // A user follows one of two tracks, which differ in their second position.
    let text = with("UE", "mobility = { model = \"track\", file = \"walk.txt\" }");
    let parse = |track: &str| {
        std::fs::write(folder.join("walk.txt"), track).expect("a file");
        Scenario::parse(&text, "test.toml", &folder, &[])
    };
    let first = parse("0 100 100\n10 120 100\n").expect("the scenario is valid").scenario;
    let other = parse("0 100 100\n10 130 100\n").expect("the scenario is valid").scenario;
    assert!(matches!(first.ue[0].mobility.as_ref().map(|of| of.config()), Some(MobilityConfig::Track(_))));
    assert_ne!(first.content_hash(), other.content_hash());
    let error = parse("0 100 100\n0 130 100\n").expect_err("twice at 0");
    assert_eq!(error.key(), "ue.0.mobility.file");
    assert!(error.render(false).contains("line 2"), "{}", error.render(false));
    std::fs::remove_dir_all(&folder).expect("the test created the folder");
}

const MISTAKES: &str = r#"
    LAYOUT sites = [3, 5] => layout.sites: a torus of 5 rows does not close | sites = [3, 6]
    LAYOUT sites = [3] => layout.sites: not 1 | sites = [3, 4]
    LAYOUT sites = [0, 4] => layout.sites: has no site | 1 or more
    LAYOUT sites = [100, 100] => layout.sites: 10000 sites are too many | at most 1000
    LAYOUT sector_radius = "0 m" => layout.sector_radius: cannot be 0 m | 10 m to 100 km
    LAYOUT area = ["5 km", "5 km"] => layout.area: it follows from `sites` | border = "reflect"
    LAYOUT border = "reflect"
        area = ["5 km"]
        => layout.area: needs two lengths | two lengths
    LAYOUT border = "reflect"
        area = ["5 km", "0 m"]
        => layout.area: must be greater than 0 (got 5 km by 0 m) | two lengths
    LAYOUT site = [{ x = "1 m", y = "1 m" }] => layout.area: layout.area is required | area =
    LAYOUT sites = [3, 4]
        site = [{ x = "1 m", y = "1 m" }]
        => layout.sites: either a lattice (`sites`) or a list | leave out one
    LAYOUT area = ["1 km", "1 km"]
        site = [{ x = "1 m", y = "2 km" }]
        => layout.site.0.y: y = 2 km is outside the area of 1 km by 1 km | at most 1 km
    UE cell = "cell" => ue.0.cell: cannot choose the cell `cell` | cell = "best"
    HEAD cell = [{ name = "a" }, { name = "b" }] => cell: there are 2 | one [[cell]]
    HEAD cell = [{ name = "a", duplex = "tdd" }] => cell.0.duplex: is TDD | duplex = "fdd"
    HEAD cell = [{ name = "best" }] => cell.0.name: is reserved | another name
    UE mobility = { model = "track" } => ue.0.mobility: requires `file` | add file
    UE mobility = { file = "x" } => ue.0.mobility.file: cannot read | relative to the folder
    UE mobility = { place = ["1 m"] } => ue.0.mobility.place: two lengths, not 1 | write two
    UE mobility = { place = ["1 m", "6 km"] }
        => ue.0.mobility.place: (1 m, 6 km) is outside the area of 4500 m by 5196 m | within the area
    UE mobility = { speed = "600 km/h" } => ue.0.mobility.speed: cannot be 600 km/h | 500 km/h
    UE count = 65535
        [[ue]]
        name = "more"
        => ue: 65536 UEs are too many | 65535
    HEAD propagation.shadowing = { deviation = "-1 dB" }
        => propagation.shadowing.deviation: cannot be -1 dB | 0 dB to 30 dB
    HEAD propagation.reach = "10 m" => propagation.reach: cannot be 10 m | 100 m
"#;

/// Keys of streets in a layout without streets.
const WITHOUT_STREETS: &str = r#"
    HEAD propagation.model = "manhattan"
        => propagation.model: requires [layout.streets] | add [layout.streets]
    HEAD propagation.streets.corner = 1.0
        => propagation.streets: applies to model = "manhattan" only | model = "manhattan"
    UE mobility = { model = "manhattan" }
        => ue.0.mobility.model: requires [layout.streets] | model = "vehicular"
    UE mobility = { speed_change = 0.5 }
        => ue.0.mobility.speed_change: `speed_change` applies to mobility.model = "manhattan" only | leave it out
"#;

/// Keys of positions in a scenario without a layout.
const WITHOUT_LAYOUT: &str = r#"
    UE cell = "best" => ue.0.cell: cell = "best" requires [layout] | add [layout]
    UE mobility = { speed = "3 km/h" } => ue.0.mobility: mobility requires [layout] | add [layout]
    HEAD propagation.model = "vehicular" => propagation: [propagation] requires [layout] | add [layout]
"#;

#[test]
fn layout_mistakes_are_reported_at_their_key() {
    assert_mistakes(SMALL, MISTAKES);
    assert_mistakes(SMALL, WITHOUT_STREETS);
    assert_mistakes(&SMALL.replace("[layout]\n", ""), WITHOUT_LAYOUT);
}

/// A user in a town. Placeholders: `TOWN` in `[layout.streets]`, the rest as in `SMALL`.
const TOWN: &str = "version = 1\nduration = \"10 s\"\n[layout]\nLAYOUT\n[layout.streets]\nTOWN\n[propagation]\n\
                    model = \"manhattan\"\n[[ue]]\nname = \"user\"\nUE\nREST\n";

#[test]
fn a_town_has_a_cell_at_every_second_crossing_and_users_on_foot() {
    let scenario = scenario_of(&fill(TOWN, "UE mobility = { model = \"manhattan\" }"));
    // Every second of 6 x 6 crossings has a station. A block has 200 m, a street 30 m.
    let (stations, side) = (6 * 6 / 2, 6.0 * (200.0 + 30.0));
    assert_eq!(scenario.plan().cells.len(), stations);
    let environment = scenario.environment().expect("it has one");
    assert_eq!((environment.layout.cells(), environment.layout.size()), (stations, [side, side]));
    assert_eq!(environment.propagation.streets, Some(StreetLossConfig::default()));
    let mobility = scenario.ue[0].mobility.as_ref().expect("the UE moves");
    let MobilityConfig::Walk(walk) = mobility.config() else { panic!("on foot") };
    // Speeds of 3 and 0.3 km/h in metres per second.
    assert_eq!((walk.speed, walk.deviation), (3000.0 / 3600.0, 300.0 / 3600.0));
    assert_eq!((walk.leg, walk.turning, walk.changing), (5.0, 0.5, 0.2));
    let listed = fill(TOWN, "LAYOUT site = [{ x = \"15 m\", y = \"130 m\" }]");
    assert_eq!(scenario_of(&listed).environment().expect("it has one").layout.cells(), 1);
}

const TOWN_MISTAKES: &str = r#"
    LAYOUT sites = [3, 4] => layout.sites: `sites` describes a lattice | streets.stations
    LAYOUT area = ["1 km", "1 km"] => layout.area: it follows from the blocks and streets | leave `area` out
    TOWN blocks = [6] => layout.streets.blocks: not 1 | blocks = [6, 6]
    TOWN blocks = [0, 6] => layout.streets.blocks: are not possible | 1 to 100
    TOWN blocks = [7, 6] => layout.streets.blocks: does not close | blocks = [8, 6]
    TOWN every = 0 => layout.streets.every: cannot be 0 | 1 to 100
    TOWN blocks = [100, 100] => layout.streets.blocks: 5000 sites are too many | 1 cells each
    TOWN width = "0 m" => layout.streets.width: cannot be 0 m | 1 m to 1 km
    LAYOUT site = [{ x = "100 m", y = "100 m" }]
        => layout.site.0: the site (100 m, 100 m) is inside a block | the centre of the first is 15 m
    LAYOUT site = [{ x = "15 m", y = "2 km" }] => layout.site.0: area of 1380 m by 1380 m | within the area
    UE mobility = { speed = "50 km/h" } => ue.0.mobility.model: ignores streets | model = "manhattan"
    UE mobility = { model = "manhattan", leg = "300 m" } => ue.0.mobility.leg: several crossings | leg = "5 m"
    UE mobility = { model = "manhattan", place = ["100 m", "100 m"] }
        => ue.0.mobility.place: the place (100 m, 100 m) is inside a block | every 230 m
    REST [propagation.streets]
        corner = -1.0
        => propagation.streets.corner: cannot be -1 | 0 to 10
"#;

#[test]
fn town_mistakes_are_reported_at_their_key() {
    assert_mistakes(TOWN, TOWN_MISTAKES);
}
