//! A user with fixed page sizes and times, driven by hand through its calls.

use super::*;
use crate::tcp::Failure;
use crate::traffic::laws::Truncation;

/// Size of a request in bytes.
const REQUEST: u64 = 300;

/// Fetches pages of 1,000 bytes with two embedded objects of 500 bytes each. `request`: size of a
/// request in bytes, sent over two connections. `None`: the server pushes the objects.
fn user(request: Option<u64>) -> Browsing {
    // With equal limits every draw has this value.
    let constant = |value| Distribution::pareto(1.0, value, value, Truncation::Clip);
    // A count is the draw minus its minimum: 4 - 2.
    let two = Count { distribution: constant(4.0), min: 2.0, nearest: true };
    let config = BrowsingConfig {
        main: constant(1000.0),
        embedded: Some(EmbeddedObjects { count: two, size: constant(500.0) }),
        object_per_call: false,
        parsing: Duration::from_millis(100),
        pause: Duration::from_secs(30),
        pace: Pace::AfterCall,
        begins_with_pause: false,
        segments: None,
        whole_segments: None,
        request,
        connections: 2,
        persistent: true,
    };
    Browsing::new(&config, End::Server, FlowId(0), &Streams::new(1, 0))
}

/// Takes all pending actions.
fn drain(user: &mut Browsing) -> Vec<Action> {
    std::iter::from_fn(|| user.poll_action()).collect()
}

/// The actions with which connection `nth` of the flow is opened by `end`.
fn open(nth: u32, end: End) -> [Action; 2] {
    let connection = ConnectionIndex(nth);
    let open = Action::Open { connection, end, segment_payload: None };
    [open, Action::Report(Report::CallStarted { connection })]
}

fn write(nth: u32, end: End, bytes: u64) -> Action {
    Action::Write { connection: ConnectionIndex(nth), end, bytes }
}

#[test]
fn page_is_requested_first_and_embedded_objects_over_all_connections() {
    let (mut user, now) = (user(Some(REQUEST)), Time::ZERO);
    user.handle_start(now);
    let [first, started] = open(0, End::Ue);
    assert_eq!(drain(&mut user), [first, started, write(0, End::Ue, REQUEST)]);
    // Half a request gets no answer.
    user.handle_event(now, ConnectionIndex(0), End::Server, TcpEvent::Delivered(REQUEST / 2));
    assert_eq!(drain(&mut user), []);
    user.handle_event(now, ConnectionIndex(0), End::Server, TcpEvent::Delivered(REQUEST / 2));
    assert_eq!(drain(&mut user), [write(0, End::Server, 1000)]);
    user.handle_event(now, ConnectionIndex(0), End::Ue, TcpEvent::Delivered(1000));
    assert_eq!(drain(&mut user), [], "the page is parsed first");
    let parsed = user.poll_timeout().expect("the parsing time");
    user.handle_timeout(parsed);
    let [second, started] = open(1, End::Ue);
    assert_eq!(drain(&mut user), [write(0, End::Ue, REQUEST), second, started, write(1, End::Ue, REQUEST)]);
    for nth in [0, 1] {
        user.handle_event(parsed, ConnectionIndex(nth), End::Server, TcpEvent::Delivered(REQUEST));
        assert_eq!(drain(&mut user), [write(nth, End::Server, 500)]);
        user.handle_event(parsed, ConnectionIndex(nth), End::Ue, TcpEvent::Delivered(500));
    }
    assert_eq!(drain(&mut user), [Action::Report(Report::PageEnded { since: now })]);
    user.handle_event(parsed, ConnectionIndex(0), End::Server, TcpEvent::AllAcked);
    assert_eq!(drain(&mut user), [], "one connection is not acknowledged");
    assert_eq!(user.poll_timeout(), None, "one connection is not acknowledged");
    user.handle_event(parsed, ConnectionIndex(1), End::Server, TcpEvent::AllAcked);
    let close = |nth| Action::Close { connection: ConnectionIndex(nth), end: End::Ue };
    let ended = Action::Report(Report::CallEnded { connection: ConnectionIndex(1), since: now });
    assert_eq!(drain(&mut user), [ended, close(0), close(1)]);
    assert!(user.poll_timeout() > Some(parsed), "the pause follows");
}

#[test]
fn pushed_object_is_written_one_parsing_time_after_the_previous_was_sent() {
    let (mut user, end) = (user(None), End::Server);
    user.handle_start(Time::ZERO);
    let [first, started] = open(0, end);
    assert_eq!(drain(&mut user), [first, started, write(0, end, 1000)]);
    let mut now = Time::ZERO;
    for _ in 0..2 {
        // An acknowledgment does not start the parsing time.
        user.handle_event(now, ConnectionIndex(0), end, TcpEvent::AllAcked);
        assert_eq!(user.poll_timeout(), None);
        user.handle_all_sent(now, ConnectionIndex(0), end);
        now = user.poll_timeout().expect("there is another object");
        user.handle_timeout(now);
        assert_eq!(drain(&mut user), [write(0, end, 500)]);
    }
    user.handle_all_sent(now, ConnectionIndex(0), end);
    assert_eq!(user.poll_timeout(), None, "it was the last object");
    user.handle_event(now, ConnectionIndex(0), End::Ue, TcpEvent::Delivered(2000));
    user.handle_event(now, ConnectionIndex(0), end, TcpEvent::AllAcked);
    let since = Time::ZERO;
    let page = Action::Report(Report::PageEnded { since });
    let call = Action::Report(Report::CallEnded { connection: ConnectionIndex(0), since });
    assert_eq!(drain(&mut user), [page, call, Action::Close { connection: ConnectionIndex(0), end }]);
}

#[test]
fn objects_are_rounded_up_to_whole_segments() {
    // The written sizes of a page of 1,000 bytes and its first object of 500 bytes.
    let written_sizes = |segments, segment_payload_of_tcp| {
        let whole_segments = Some(segment_payload_of_tcp);
        let config = BrowsingConfig { segments, whole_segments, ..user(None).config };
        let mut user = Browsing::new(&config, End::Server, FlowId(0), &Streams::new(1, 0));
        user.handle_start(Time::ZERO);
        let page = drain(&mut user).pop();
        user.handle_all_sent(Time::ZERO, ConnectionIndex(0), End::Server);
        user.handle_timeout(user.poll_timeout().expect("there is another object"));
        [page, drain(&mut user).pop()]
    };
    let expected = |bytes: [u64; 2]| bytes.map(|bytes| Some(write(0, End::Server, bytes)));
    assert_eq!(written_sizes(None, 300), expected([1200, 600]), "in segments of the flow's TCP");
    let large = MixedSegments { large_share: 1.0, large: 800, small: 300 };
    assert_eq!(written_sizes(Some(large), 300), expected([1600, 800]), "in segments of the call");
    assert_eq!(written_sizes(None, 500), expected([1000, 500]), "a size that fits is unchanged");
}

#[test]
fn failed_connection_ends_the_call_but_not_the_user() {
    let (mut user, now) = (user(Some(REQUEST)), Time::ZERO);
    user.handle_start(now);
    drain(&mut user);
    user.handle_event(now, ConnectionIndex(0), End::Ue, TcpEvent::Failed(Failure::Reset));
    user.handle_event(now, ConnectionIndex(0), End::Server, TcpEvent::Failed(Failure::Reset));
    assert_eq!(drain(&mut user), []);
    let later = user.poll_timeout().expect("the user tries again");
    user.handle_timeout(later);
    let [retry, started] = open(1, End::Ue);
    assert_eq!(drain(&mut user), [retry, started, write(1, End::Ue, REQUEST)]);
    // Late data of the failed connection are ignored.
    user.handle_event(later, ConnectionIndex(0), End::Ue, TcpEvent::Delivered(1000));
    assert_eq!(drain(&mut user), []);
}
