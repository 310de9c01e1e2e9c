//! Users that RRC switches between FACH, DCH and HS-DSCH, in whole networks.

use std::collections::BTreeMap;

use umts_kernel::TraceSink;
use umts_scenario::Scenario;
use umts_stack::detail::{Detail, Stage};
use umts_stack::ids::{Direction, UeId};
use umts_stack::trace::{Channel, TraceEvent};
use umts_units::Time;

use crate::common::{observed, parse};

/// Greedy downloads of users `u0`, `u1` …, the first from 1 s on, each further one 5 s later.
fn downloads(users: usize, cell: &str, rrc: &str, hs_dsch: &str) -> Scenario {
    let user = |number: usize| {
        let start = 1 + 5 * number;
        format!(
            "[[ue]]\nname = \"u{number}\"\nbearer = \"switched\"\nhs_dsch = {{ {hs_dsch} }}\n\
             [[flow]]\nue = \"u{number}\"\nstart = \"{start} s\"\n"
        )
    };
    let text = format!(
        "version = 1\nduration = \"30 s\"\nrlc = {{ window = 2047 }}\nrrc = {{ {rrc} }}\n\
         cell = [{{ name = \"cell\", hs_dsch = {{ {cell} }} }}]\n{}",
        (0..users).map(user).collect::<String>()
    );
    parse(&text)
}

/// PDUs of the downlink, and events of MAC-hs.
#[derive(Debug, Default)]
struct Pdus {
    sent: u64,
    delivered: BTreeMap<(UeId, Channel), u64>,
    lost: u64,
    dropped: u64,
    flushed: u64,
    /// Switches that began while the UE was on the HS-DSCH.
    left: u64,
    on_hs_dsch: BTreeMap<UeId, bool>,
}

impl TraceSink<TraceEvent> for Pdus {
    const WANTS_DETAIL: bool = true;

    fn record(&mut self, _at: Time, event: &TraceEvent) {
        match *event {
            TraceEvent::HsPduFlushed { .. } => self.flushed += 1,
            TraceEvent::RrcSwitch { ue, .. } => {
                self.left += u64::from(self.on_hs_dsch.insert(ue, false) == Some(true));
            }
            _ => {}
        }
    }

    fn show(&mut self, _at: Time, detail: &Detail<'_>) {
        let Detail::Blocks { ue, direction: Direction::Downlink, channel, set, stage } = detail else {
            return;
        };
        let pdus = u64::from(set.blocks);
        match stage {
            Stage::Leaves => {
                self.sent += pdus;
                self.on_hs_dsch.insert(*ue, *channel == Channel::HsDsch);
            }
            Stage::OnAir => {}
            Stage::Dropped => self.dropped += pdus,
            Stage::Arrives(lost) => {
                self.lost += u64::from(lost.count());
                *self.delivered.entry((*ue, *channel)).or_default() += pdus - u64::from(lost.count());
            }
        }
    }
}

fn pdus(scenario: &Scenario) -> Pdus {
    observed(scenario, Pdus::default())
}

#[test]
fn the_second_user_gets_a_dch_if_the_hs_dsch_has_room_for_one() {
    let bearers = "dch = [\"hsdpa-3.6\", \"ps-64\"]";
    let of = pdus(&downloads(2, "max_users = 1", bearers, "cqi = 22, errors = \"none\""));
    let delivered = |ue, channel| of.delivered.get(&(UeId(ue), channel)).copied().unwrap_or_default();
    // PDUs of 40 octets: more than 1 Mbit/s in 29 s, and nearly 64 kbit/s in 24 s.
    assert!(delivered(0, Channel::HsDsch) > 91_000, "{of:?}");
    assert!((4000..=4800).contains(&delivered(1, Channel::Dch)), "{of:?}");
    assert_eq!((delivered(0, Channel::Dch), delivered(1, Channel::HsDsch)), (0, 0));
    let both = pdus(&downloads(2, "max_users = 2", bearers, "cqi = 22, errors = \"none\""));
    assert!(both.delivered[&(UeId(1), Channel::HsDsch)] > 40_000, "{both:?}");
}

/// While no block of the HS-DSCH can carry a PDU, the RNC gets no credits and sends nothing: the UE becomes
/// inactive, and leaves the channel with PDUs at the Node B.
#[test]
fn pdus_of_a_user_that_leaves_the_hs_dsch_are_delivered_lost_or_flushed() {
    let path = std::env::temp_dir().join(format!("umts-{}-hs-switching.txt", std::process::id()));
    let ttis = |cqi: u32| format!("50 50 50 {cqi}\n").repeat(250);
    std::fs::write(&path, ttis(15) + &ttis(0)).expect("the folder of temporary files is writable");
    let hs_dsch = format!(
        "errors = \"per_attempt\", attempt_errors = [0.3], trace = \"{}\", trace_repeats = true",
        path.display()
    );
    let rrc = "dch = [\"hsdpa-3.6\"], inactivity = \"100 ms\", preemptive_inactivity = \"0 s\"";
    let of = pdus(&downloads(1, "nodeb_queue = 200", rrc, &hs_dsch));
    std::fs::remove_file(&path).expect("it was written");
    assert!(of.left > 5 && of.flushed > 100, "{of:?}");
    assert_eq!(of.dropped, of.flushed);
    let delivered: u64 = of.delivered.values().sum();
    let rest = of.sent - delivered - of.lost - of.dropped;
    assert!(rest <= 200 + 40 * 10, "{rest} PDUs are on the way: {of:?}");
    assert!(of.delivered[&(UeId(0), Channel::HsDsch)] > 300, "{of:?}");
}
