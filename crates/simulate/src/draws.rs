//! Random draws of a scenario without a network: sizes and times of its traffic, losses of its
//! radio.
//!
//! The draws use the models and the random streams of a run. A run contains few of the large values
//! of a heavy-tailed distribution; here the number of draws is free.

use std::collections::{BTreeMap, VecDeque};

use umts_kernel::random::Streams;
use umts_scenario::Scenario;
use umts_stack::ids::{Direction, End, FlowId, UeId};
use umts_stack::network::NetworkConfig;
use umts_stack::radio::phy::{BlockErrors, Lost, errors_stream};
use umts_stack::traffic::laws::{Distribution, DistributionMoments};
use umts_stack::traffic::{Action, BrowsingConfig, Draws, EtsiWww, TrafficConfig, etsi_www};
use umts_units::Time;

use crate::build::network_config;

/// Statistics by name. A value is `None` if there were too few draws.
pub type Drawn = BTreeMap<String, Option<f64>>;

/// Draws `calls` pages of a web flow, files of a flow that fetches files, or packet calls of
/// datagrams. `flow` is the index of its table in the file.
///
/// Returns for each quantity the number of draws, mean, standard deviation, minimum and maximum.
/// For sizes of pages it also returns mean and deviation of the distribution (`_law_mean`,
/// `_law_sd`). Returns `None` if the traffic of the flow has no random quantities.
pub fn draw_traffic(scenario: &Scenario, flow: usize, calls: u64, seed: u64, run: u64) -> Option<Drawn> {
    let config = network_config(scenario);
    let number = first_of_flow(scenario, flow);
    let (flow, streams) = (FlowId(number as u32), Streams::new(seed, run));
    let mut drawn = Drawn::new();
    match &config.flows.get(number)?.traffic {
        TrafficConfig::Browsing(browsing) => {
            pages(browsing, flow, calls, &streams, &mut drawn);
            record_distribution("main_object_bytes", &browsing.main, &mut drawn);
            if let Some(embedded) = &browsing.embedded {
                record_distribution("embedded_object_bytes", &embedded.size, &mut drawn);
            }
        }
        TrafficConfig::EtsiWww(sessions) => {
            let model = EtsiWww::new(sessions, End::Server, flow, &streams);
            packet_calls(model, calls, &mut drawn);
        }
        _ => return None,
    }
    Some(drawn)
}

/// Index of the first user's flow among all flows. The flows of a group of users are consecutive.
fn first_of_flow(scenario: &Scenario, flow: usize) -> usize {
    let groups = scenario.ue.iter().zip(&scenario.plan().groups);
    let flows = groups.flat_map(|(ue, group)| group.flows.iter().map(|&flow| (flow, usize::from(ue.count))));
    flows.take_while(|&(number, _)| number != flow).map(|(_, users)| users).sum()
}

/// Draws `calls` packet calls of a browsing model, and adds the statistics of each quantity to
/// `drawn`.
fn pages(config: &BrowsingConfig, flow: FlowId, calls: u64, streams: &Streams, drawn: &mut Drawn) {
    let mut draws = Draws::new(flow, streams);
    let (mut main, mut embedded, mut count) = (Moments::default(), Moments::default(), Moments::default());
    let (mut reading, mut parsing, mut payload) =
        (Moments::default(), Moments::default(), Moments::default());
    let mut objects = VecDeque::new();
    for _ in 0..calls {
        draws.page(config, &mut objects);
        count.add((objects.len() - 1) as f64);
        main.add(objects.pop_front().expect("a page has its main object") as f64);
        objects.drain(..).for_each(|size| embedded.add(size as f64));
        reading.add(draws.pause(config).as_secs());
        parsing.add(draws.parsing(config).as_secs());
        draws.segment_payload(config).into_iter().for_each(|octets| payload.add(f64::from(octets)));
    }
    for (name, moments) in [
        ("main_object_bytes", main),
        ("embedded_object_bytes", embedded),
        ("embedded_objects_per_page", count),
        ("reading_time_s", reading),
        ("parsing_time_s", parsing),
        ("segment_payload_bytes", payload),
    ] {
        moments.report(name, drawn);
    }
}

/// Draws packet calls of a session model. The rate within a call is the size of its datagrams, with
/// IP and UDP headers, divided by the time between them.
fn packet_calls(mut model: EtsiWww, calls: u64, drawn: &mut Drawn) {
    let (mut sizes, mut intervals, mut datagrams_per_call) =
        (Moments::default(), Moments::default(), Moments::default());
    model.handle_start(Time::ZERO);
    let mut datagrams = 0u64;
    while datagrams_per_call.count < calls {
        let now = model.poll_timeout().expect("a session follows each session");
        model.handle_timeout(now);
        while let Some(action) = model.poll_action() {
            if let Action::Send { bytes, .. } = action {
                sizes.add((u64::from(bytes) + etsi_www::HEADERS) as f64);
            }
        }
        datagrams += 1;
        if model.is_within_call() {
            intervals.add((model.poll_timeout().expect("the call continues") - now).as_secs());
        } else {
            datagrams_per_call.add(std::mem::take(&mut datagrams) as f64);
        }
    }
    let rate = (intervals.count > 0).then(|| 8.0 * sizes.mean / intervals.mean / 1000.0);
    drawn.insert("call_rate_kbps".to_owned(), rate);
    sizes.report("packet_bytes", drawn);
    intervals.report("packet_interval_s", drawn);
    datagrams_per_call.report("packets_per_call", drawn);
}

fn record_distribution(name: &str, distribution: &Distribution, drawn: &mut Drawn) {
    let DistributionMoments { mean, deviation } = distribution.moments();
    drawn.insert(format!("{name}_law_mean"), Some(mean));
    drawn.insert(format!("{name}_law_sd"), Some(deviation));
}

/// Sends `blocks` blocks to the first user in full TTIs. Returns the number of losses, the mean
/// length of losses and of the gaps between them, and the correlation between successive blocks.
pub fn draw_errors(scenario: &Scenario, blocks: u64, seed: u64, run: u64) -> Drawn {
    let config = network_config(scenario);
    let (mut errors, max_blocks) = first_radio(&config, &Streams::new(seed, run));
    let (mut fates, mut remaining) = (Fates::default(), blocks);
    for tti in 0.. {
        if remaining == 0 {
            break;
        }
        let blocks_of_tti = remaining.min(u64::from(max_blocks)) as u32;
        let lost = errors.losses(tti, 0, blocks_of_tti);
        (0..blocks_of_tti).for_each(|block| fates.add(lost.contains(block)));
        remaining -= u64::from(blocks_of_tti);
    }
    fates.report()
}

/// The error model of the first user's downlink, and the number of blocks in a full TTI.
fn first_radio(config: &NetworkConfig, streams: &Streams) -> (BlockErrors, u32) {
    let (user, ue, direction) = (&config.ues[0], UeId(0), Direction::Downlink);
    let blocks = user.channels[direction.index()].format.blocks.clamp(1, Lost::MAX_BLOCKS);
    let model = user.errors[direction.index()].clone();
    (BlockErrors::new(model, streams.addressed(&errors_stream(direction, ue))), blocks)
}

/// Statistics of the fates of successive blocks.
#[derive(Debug, Default)]
struct Fates {
    blocks: u64,
    lost: u64,
    /// Number of runs of lost blocks.
    bursts: u64,
    /// Number of runs of received blocks.
    gaps: u64,
    /// Whether the last block was lost.
    last_lost: Option<bool>,
}

impl Fates {
    fn add(&mut self, is_lost: bool) {
        self.blocks += 1;
        self.lost += u64::from(is_lost);
        self.bursts += u64::from(is_lost && self.last_lost != Some(true));
        self.gaps += u64::from(!is_lost && self.last_lost != Some(false));
        self.last_lost = Some(is_lost);
    }

    fn report(&self) -> Drawn {
        let ratio = |a: u64, b: u64| (b > 0).then(|| a as f64 / b as f64);
        let mean_burst = ratio(self.lost, self.bursts);
        let mean_gap = ratio(self.blocks - self.lost, self.gaps);
        // The correlation of successive blocks in a two-state Markov chain with these mean lengths.
        let correlation = mean_burst.zip(mean_gap).map(|(burst, gap)| 1.0 - 1.0 / burst - 1.0 / gap);
        [
            ("blocks", Some(self.blocks as f64)),
            ("bler_pct", ratio(100 * self.lost, self.blocks)),
            ("mean_burst_blocks", mean_burst),
            ("mean_gap_blocks", mean_gap),
            ("block_correlation", correlation),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
    }
}

/// Moments of the added values, by Welford's recurrence.
#[derive(Debug, Default)]
struct Moments {
    count: u64,
    mean: f64,
    /// Sum of the squared deviations from the mean.
    squares: f64,
    /// Minimum and maximum.
    limits: Option<[f64; 2]>,
}

impl Moments {
    fn add(&mut self, value: f64) {
        self.count += 1;
        let delta = value - self.mean;
        self.mean += delta / self.count as f64;
        self.squares += delta * (value - self.mean);
        let [min, max] = self.limits.unwrap_or([value; 2]);
        self.limits = Some([min.min(value), max.max(value)]);
    }

    fn report(&self, name: &str, drawn: &mut Drawn) {
        let deviation = (self.count > 1).then(|| (self.squares / (self.count - 1) as f64).sqrt());
        for (quantity, value) in [
            ("draws", Some(self.count as f64)),
            ("mean", (self.count > 0).then_some(self.mean)),
            ("sd", deviation),
            ("min", self.limits.map(|[min, _]| min)),
            ("max", self.limits.map(|[_, max]| max)),
        ] {
            drawn.insert(format!("{name}_{quantity}"), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn scenario(text: &str) -> Scenario {
        let start = "version = 1\nname = \"draws\"\nduration = \"10 s\"\n\
            [[bearer]]\nname = \"b\"\ndownlink = { rate = \"64 kbit/s\", tti = \"10 ms\" }\n\
            uplink = { rate = \"64 kbit/s\", tti = \"10 ms\" }\n\
            [[ue]]\nname = \"u\"\nbearer = \"b\"\n";
        let none: [(String, String); 0] = [];
        let text = format!("{start}{text}");
        Scenario::parse(&text, "test", Path::new("."), &none).expect("the scenario is valid").scenario
    }

    const WEB: &str = "[[flow]]\nue = \"u\"\ntraffic = \"file\"\nsize = \"1 kB\"\nstart = \"1 s\"\n\
        [[flow]]\nue = \"u\"\ntraffic = \"web\"\n";

    #[test]
    fn pages_follow_the_distributions_of_their_flow() {
        let scenario = scenario(WEB);
        assert_eq!(draw_traffic(&scenario, 0, 10, 1, 0), None, "the size of the file is fixed");
        assert_eq!(draw_traffic(&scenario, 2, 10, 1, 0), None, "there is no such flow");
        let drawn = draw_traffic(&scenario, 1, 20_000, 1, 0).expect("the flow fetches pages");
        let value = |name: &str| drawn[name].expect("there were draws");
        assert_eq!(value("main_object_bytes_draws"), 20_000.0);
        // Defaults of the web model: pages are read for 30 s; the number of embedded objects is a
        // Pareto variable from 2 to 55, less 2.
        assert!((value("reading_time_s_mean") - 30.0).abs() < 1.0);
        assert!((value("embedded_objects_per_page_mean") - 5.62).abs() < 0.3);
        assert_eq!(value("embedded_objects_per_page_max"), 55.0 - 2.0);
        assert!((value("main_object_bytes_law_mean") - 10_734.0).abs() < 1.0);
        assert_eq!(value("segment_payload_bytes_min"), 536.0);
        assert_eq!(
            draw_traffic(&scenario, 1, 0, 1, 0).expect("the flow fetches pages")["main_object_bytes_mean"],
            None
        );
    }

    #[test]
    fn packet_calls_have_the_configured_rate() {
        let text = "[[flow]]\nue = \"u\"\ntraffic = \"etsi_www\"\n[flow.etsi_www]\ndatagrams = 25\n\
            interval = \"75.2 ms\"\nlargest = \"570 B\"\nsize_of = \"packet\"\n";
        let drawn = draw_traffic(&scenario(text), 0, 20_000, 1, 0).expect("the flow has packet calls");
        let value = |name: &str| drawn[name].expect("there were draws");
        assert_eq!(value("packets_per_call_draws"), 20_000.0);
        assert!((value("packets_per_call_mean") - 25.0).abs() < 0.6);
        assert!((value("packet_interval_s_mean") - 0.0752).abs() < 0.0004);
        // Sizes are Pareto distributed from k = 81.5 B with α = 1.1, and cut off at m = 570 B: their
        // mean is (αk - m(k/m)^α) / (α - 1) = 225.6 B. The rate is 225.6 B / 75.2 ms = 24 kbit/s.
        assert_eq!((value("packet_bytes_min"), value("packet_bytes_max")), (82.0, 570.0));
        assert!((value("packet_bytes_mean") - 225.6).abs() < 1.0);
        assert!((value("call_rate_kbps") - 24.0).abs() < 0.2);
    }

    #[test]
    fn block_losses_follow_the_radio_model() {
        let gilbert =
            "[radio]\nmodel = \"gilbert\"\np_good_to_bad = 0.0087\np_bad_to_good = 0.1491\nstep = \"pdu\"\n";
        let drawn = draw_errors(&scenario(&format!("{gilbert}{WEB}")), 1_000_000, 1, 0);
        let value = |name: &str| drawn[name].expect("there were draws");
        assert_eq!(value("blocks"), 1e6);
        let (good_to_bad, bad_to_good) = (0.0087, 0.1491);
        let bler_pct = 100.0 * good_to_bad / (good_to_bad + bad_to_good);
        assert!((value("bler_pct") - bler_pct).abs() < 0.3, "{}", value("bler_pct"));
        assert!((value("mean_burst_blocks") - 1.0 / bad_to_good).abs() < 0.2);
        assert!((value("block_correlation") - (1.0 - good_to_bad - bad_to_good)).abs() < 0.01);
        let clean = "[radio]\nmodel = \"error_free\"\n";
        let drawn = draw_errors(&scenario(&format!("{clean}{WEB}")), 1000, 1, 0);
        assert_eq!((drawn["bler_pct"], drawn["mean_burst_blocks"]), (Some(0.0), None));
    }
}
