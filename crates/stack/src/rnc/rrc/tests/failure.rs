//! Cell updates after a failure of RLC or the radio link.

use super::*;

/// Ends the cell update in progress at `ms`.
fn end_update(bench: &mut Bench, ms: u64, outcome: CellUpdateOutcome) {
    bench.until(ms);
    let measured = bench.measured;
    bench.rrc.handle_cell_update_end(&mut Context::new(bench.now, &mut NoTrace), outcome, measured);
    bench.take_orders();
}

fn fail(bench: &mut Bench) {
    let cause = CellUpdateCause::RlcUnrecoverableError;
    bench.rrc.handle_failure(&mut Context::new(bench.now, &mut NoTrace), cause);
    bench.take_orders();
}

fn orders(bench: &mut Bench) -> Vec<Order> {
    std::mem::take(&mut bench.orders).into_iter().map(|(_, order)| order).collect()
}

const UPDATE: Order = Order::UpdateCell(CellUpdateCause::RlcUnrecoverableError);

#[test]
fn a_failure_on_a_dch_leads_to_cell_fach_by_a_cell_update() {
    let mut bench = Bench::new(config());
    bench.on_dch();
    fail(&mut bench);
    assert_eq!((bench.state(), orders(&mut bench)), (None, vec![Order::Suspend, UPDATE]));
    // An error at the other end during the cell update has no further effect.
    fail(&mut bench);
    assert_eq!(orders(&mut bench), []);
    end_update(&mut bench, 9_000, CellUpdateOutcome::Confirmed);
    assert_eq!(bench.state(), Some(RrcState::CellFach));
    assert_eq!(orders(&mut bench), [Order::ReleaseDch, Order::Reestablish, Order::UseCommon]);
}

#[test]
fn a_released_connection_leads_to_idle_mode_and_data_sets_up_another() {
    let mut bench = Bench::new(config());
    fail(bench.buffers(0, 100));
    bench.orders.clear();
    end_update(&mut bench, 16_000, CellUpdateOutcome::ConnectionReleased);
    assert_eq!(orders(&mut bench)[..2], [Order::Reestablish, Order::Suspend]);
    bench.enters(RrcState::CellFach, 16_606);
}

#[test]
fn a_failure_during_a_switch_waits_for_its_end() {
    let mut bench = Bench::new(config());
    fail(bench.buffers(501, 0).until(100));
    bench.until(900).orders.clear();
    bench.until(901);
    assert_eq!((bench.state(), orders(&mut bench)), (None, vec![Order::UseDch(0), Order::Suspend, UPDATE]));
    // A switch that re-establishes RLC makes the cell update unnecessary.
    let mut bench = Bench::new(RrcConfig { rlc_at_switch: RlcAtSwitch::Reestablished, ..config() });
    fail(bench.buffers(501, 0).until(100));
    bench.until(901);
    assert_eq!(bench.state(), Some(RrcState::CellDch));
    assert!(!orders(&mut bench).contains(&UPDATE));
}
