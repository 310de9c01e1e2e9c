//! PDUs that acknowledged mode moves from one entity to another per second of CPU time, described and not copied: 12 PDUs in a
//! TTI of 10 ms, as at 384 kbit/s, 1 % of them lost, reports on poll and on missing PDUs, 70 ms from one end to the
//! other. Nothing passes or fails. `rlc_am TTIS` runs so many once and prints nothing else than the PDUs: to count
//! instructions.

use std::time::Instant;

use umts_kernel::NoTrace;
use umts_kernel::random::Streams;
use umts_stack::Cx;
use umts_stack::ids::{Direction, FlowId, PacketId, UeId};
use umts_stack::packet::{Content, Datagram, Packet};
use umts_stack::radio::phy::Lost;
use umts_stack::radio::rlc::am::{AmConfig, AmEntity};
use umts_stack::radio::rlc::{BlockSet, Sdu};
use umts_units::{Bytes, Duration, Time};

const TTI: Duration = Duration::from_millis(10);
const BLOCKS: [u32; 2] = [12, 4];
const BLER: f64 = 0.01;
/// TTIs from one end to the other.
const ON_THE_WAY: usize = 7;
const SDU: u32 = 1472;
/// SDUs that wait, so that the sender is never idle.
const BACKLOG: Bytes = Bytes(100_000);
const REPEATS: u32 = 5;
const TTIS: u64 = 1_000_000;

fn main() {
    if let Some(ttis) = std::env::args().skip(1).find_map(|argument| argument.parse().ok()) {
        println!("{}", Bearer::new().run(ttis));
        return;
    }
    let mut speeds: Vec<f64> = (0..REPEATS).map(|_| measure()).collect();
    speeds.sort_by(f64::total_cmp);
    let (least, median, most) = (speeds[0], speeds[speeds.len() / 2], speeds[speeds.len() - 1]);
    println!("RLC AM between two entities, 12 PDUs in a TTI, 1 % lost, new and repeated PDUs received:");
    println!(
        "  {median:.1} million PDUs/s of CPU time ({least:.1} to {most:.1} in {REPEATS} runs); aim 20.0"
    );
}

/// Million PDUs per second.
#[expect(clippy::disallowed_methods, reason = "a bench measures time, the model does not")]
fn measure() -> f64 {
    let mut bearer = Bearer::new();
    bearer.run(10_000);
    let (start, cpu) = (Instant::now(), cpu_seconds());
    let pdus = bearer.run(TTIS);
    let wall = start.elapsed().as_secs_f64();
    let seconds = cpu.zip(cpu_seconds()).map_or(wall, |(from, to)| to - from);
    pdus as f64 / seconds / 1e6
}

/// Time on a processor so far, where Linux tells it: others may have the machine meanwhile.
fn cpu_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: f64 = text.split_whitespace().next()?.parse().ok()?;
    Some(nanoseconds / 1e9)
}

/// The RNC's entity, the UE's, and block sets on their way, used again and again.
struct Bearer {
    ends: [AmEntity; 2],
    on_the_way: [Vec<(BlockSet, Lost)>; 2],
    losses: Vec<Lost>,
    now: Time,
    tti: usize,
    sdus: u64,
}

impl Bearer {
    fn new() -> Self {
        let draws = Streams::new(1, 0).addressed("bench");
        // Drawn beforehand: what is measured is RLC. A prime number of them, so that no pattern of SNs repeats.
        let losses = (0..65_521).map(|tti| {
            let tti = draws.tti(tti);
            Lost((0..BLOCKS[0]).fold(0, |lost, block| lost | u128::from(tti.uniform(block) < BLER) << block))
        });
        let ends = [Direction::Downlink, Direction::Uplink];
        let config = AmConfig { buffer: None, ..AmConfig::default() };
        Bearer {
            ends: ends.map(|sends| AmEntity::new(UeId(0), sends, config.clone())),
            on_the_way: [(); 2].map(|()| vec![Default::default(); ON_THE_WAY]),
            losses: losses.collect(),
            now: Time::ZERO,
            tti: 0,
            sdus: 0,
        }
    }

    /// Runs so many TTIs; returns the data PDUs that arrived at the UE.
    fn run(&mut self, ttis: u64) -> u64 {
        let mut arrived = 0;
        for _ in 0..ttis {
            arrived += self.step();
        }
        arrived
    }

    fn step(&mut self) -> u64 {
        self.now += TTI;
        self.tti += 1;
        let mut trace = NoTrace;
        let mut cx = Cx::new(self.now, &mut trace);
        let [rnc, ue] = &mut self.ends;
        while rnc.buffer_occupancy() < BACKLOG {
            self.sdus += 1;
            let sdu = Sdu::new(packet(self.sdus), self.now);
            rnc.handle_sdu(&mut cx, &sdu).expect("the buffer has no limit");
        }
        let slot = self.tti % ON_THE_WAY;
        let (down, lost) = &mut self.on_the_way[0][slot];
        ue.handle_blocks(&mut cx, down, *lost);
        let arrived = down.blocks - lost.count();
        while ue.poll_delivered().is_some() {}
        down.clear();
        rnc.poll_transmit(&mut cx, BLOCKS[0], down);
        *lost = Lost(self.losses[self.tti % self.losses.len()].0 & Lost::all(down.blocks).0);
        let (up, _) = &mut self.on_the_way[1][slot];
        rnc.handle_blocks(&mut cx, up, Lost(0));
        up.clear();
        if ue.has_work(self.now) {
            ue.poll_transmit(&mut cx, BLOCKS[1], up);
        }
        u64::from(arrived)
    }
}

fn packet(id: u64) -> Packet {
    let direction = Direction::Downlink;
    let datagram = Datagram { direction, number: id, payload: SDU, header: 28, timestamp: Time::ZERO };
    Packet { id: PacketId(id), flow: FlowId(0), ue: UeId(0), content: Content::Datagram(datagram) }
}
