//! The fixed network: links, and what is scripted to happen on them.

use umts_scenario::Scenario;
use umts_scenario::model as scenario;
use umts_stack::core_network::{
    Impairment, LinkConfig, Outage, PacketKind, QueueLimit, RedConfig, Treatment,
};
use umts_stack::ids::FlowId;
use umts_units::Time;

use super::CHECKED;

pub(super) fn link(link: &scenario::Link) -> LinkConfig {
    LinkConfig {
        rate: link.rate,
        delay: link.delay,
        jitter: link.jitter,
        queue: link.queue.map(queue_limit),
        mark_from: link.ecn_threshold.map(queue_limit),
        red: link.red.as_ref().map(red),
        loss: link.loss.value(),
        outages: link.outage.iter().map(outage).collect(),
    }
}

pub(super) fn queue_limit(limit: scenario::QueueLimit) -> QueueLimit {
    match limit {
        scenario::QueueLimit::Packets(packets) => QueueLimit::Packets(packets),
        scenario::QueueLimit::Bytes(bytes) => QueueLimit::Bytes(bytes),
    }
}

fn red(red: &scenario::Red) -> RedConfig {
    let (in_octets, min_thresh, max_thresh) = match (red.min_thresh, red.max_thresh) {
        (scenario::QueueLimit::Packets(min), scenario::QueueLimit::Packets(max)) => {
            (false, f64::from(min), f64::from(max))
        }
        (scenario::QueueLimit::Bytes(min), scenario::QueueLimit::Bytes(max)) => {
            (true, min.0 as f64, max.0 as f64)
        }
        _ => unreachable!("{CHECKED}"),
    };
    RedConfig {
        min_thresh,
        max_thresh,
        in_octets,
        max_p: red.max_p.value(),
        w_q: red.w_q,
        gentle: red.gentle,
        ecn: red.ecn,
        mean_packet: red.mean_packet,
    }
}

fn outage(outage: &scenario::Outage) -> Outage {
    Outage { from: Time::ZERO + outage.from, to: Time::ZERO + outage.to }
}

/// A line of the script, with its flow's number among all flows of all users.
pub(super) fn impairment(scenario: &Scenario, line: &scenario::Impairment) -> Impairment {
    let flow = FlowId(flow_number(scenario, line.flow as usize) + u32::from(line.user));
    Impairment {
        flow,
        kind: match line.packet.kind {
            scenario::PacketKind::Data => PacketKind::Data,
            scenario::PacketKind::Retransmission => PacketKind::Retransmission,
            scenario::PacketKind::Ack => PacketKind::Ack,
        },
        first: line.packet.first,
        last: line.packet.last,
        treatment: match line.action {
            scenario::Action::Drop => Treatment::Drop,
            scenario::Action::Delay(by) => Treatment::Delay(by),
            scenario::Action::Duplicate(by) => Treatment::Duplicate(by),
            scenario::Action::Reorder(by) => Treatment::Reorder(by),
        },
    }
}

/// How many flows come before those of `[[flow]]` number `wanted`: flows are numbered group by group.
fn flow_number(scenario: &Scenario, wanted: usize) -> u32 {
    let mut number = 0;
    for group in &scenario.ue {
        for (index, _) in scenario.flow.iter().enumerate().filter(|(_, flow)| flow.ue == group.name) {
            if index == wanted {
                return number;
            }
            number += u32::from(group.count);
        }
    }
    unreachable!("{CHECKED}")
}
