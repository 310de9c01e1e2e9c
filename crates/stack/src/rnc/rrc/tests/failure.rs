//! Cell updates after a failure of RLC or the radio link, and after a cell reselection.

use super::*;

/// Ends the cell update in progress at `ms`.
fn end_update(bench: &mut Bench, ms: u64, outcome: CellUpdateOutcome) {
    bench.until(ms);
    let measured = bench.measured;
    bench.rrc.handle_cell_update_end(&mut Context::new(bench.now, &mut NoTrace), outcome, false, measured);
    bench.take_orders();
}

/// Selects another cell now, and ends the cell update 300 ms later if one begins.
fn reselect(bench: &mut Bench) {
    bench.rrc.handle_reselection(&mut Context::new(bench.now, &mut NoTrace));
    bench.take_orders();
    let end = bench.now + ms(300);
    if bench.state().is_none() {
        bench.until(end.as_nanos() / 1_000_000);
        let (measured, outcome) = (bench.measured, CellUpdateOutcome::Confirmed);
        bench.rrc.handle_cell_update_end(&mut Context::new(bench.now, &mut NoTrace), outcome, true, measured);
        bench.take_orders();
    }
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

#[test]
fn a_cell_reselection_keeps_rlc_and_the_inactivity_timer() {
    let mut bench = Bench::new(config());
    bench.until(5_000).orders.clear();
    reselect(&mut bench);
    let update = Order::UpdateCell(CellUpdateCause::CellReselection);
    assert_eq!(orders(&mut bench), [Order::Suspend, update, Order::UseCommon]);
    assert_eq!(bench.state(), Some(RrcState::CellFach));
    // The timer of 12 s runs since the start.
    bench.enters(RrcState::CellPch, 12_108).orders.clear();
    reselect(&mut bench);
    assert_eq!(orders(&mut bench), [Order::Suspend, update, Order::Suspend]);
    assert_eq!(bench.state(), Some(RrcState::CellPch));
}

#[test]
fn a_cell_reselection_withdraws_a_request_that_waits_in_the_former_cell() {
    let mut bench = Bench::new(config());
    bench.answer = Answer::Queued;
    bench.buffers(501, 0).orders.clear();
    reselect(&mut bench);
    let orders = orders(&mut bench);
    assert_eq!(orders[0], Order::Withdraw);
    // The need continues, and the new cell receives a request.
    assert_eq!(orders.last(), Some(&Order::RequestDch { instead_of: None }));
}

#[test]
fn a_reselection_in_ura_pch_or_idle_mode_has_no_effect() {
    for initial_state in [RestingState::UraPch, RestingState::Idle] {
        let mut bench = Bench::new(RrcConfig { initial_state, ..config() });
        bench.orders.clear();
        reselect(&mut bench);
        assert_eq!((bench.state(), orders(&mut bench)), (Some(initial_state.into()), vec![]));
    }
}
