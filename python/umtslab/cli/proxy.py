"""``umts proxy``: terminates each TCP connection and opens another one to the server."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from umtslab.cli.options import add_flag, add_quiet, add_value, add_values

if TYPE_CHECKING:
    from umtslab.cli.parser import Options, Parser


def options(parser: Parser) -> None:
    """Declare the arguments of ``umts proxy``."""
    parser.explain(
        "Two TCP connections take the place of one, so each has the round trips and the losses of its own "
        "half of the path. What is acknowledged to a sender here has not reached the receiver yet; whatever "
        "goes wrong, both sides get a reset, never what looks like the end of a short stream.",
        "SIGTERM or Ctrl-C: no new connections, those that are there may go on for --drain; a second one "
        "ends all. SIGHUP: the file of --log is opened again. Signals that were ignored at the start, as "
        "by nohup, stay ignored. Exit status: 0 ended in this way; 1 something failed meanwhile; 2 wrong "
        "usage, or this host does not have what was asked for, and nothing has changed.",
    )
    _ways(parser.add_argument_group("where from and where to"))
    _tcp(parser.add_argument_group("TCP, by side"))
    _bounds(parser.add_argument_group("bounds"))
    _told(parser.add_argument_group("what is told"))


def _ways(group: Options) -> None:
    add_value(
        group,
        "--listen",
        "ADDRESS",
        "Where clients connect, as in 127.0.0.1:8080 or [::1]:8080; a port alone is every address, with "
        "--socks5 127.0.0.1 (default with --transparent: any port).",
    )
    add_value(group, "--to", "HOST:PORT", "The server, whose addresses are tried in turn.")
    add_flag(
        group,
        "--socks5",
        "Each client says where to, by SOCKS5 and without a password: listen where no other can connect, or "
        "limit the destinations by --allow. Clients from other hosts do not reach this host's loopback.",
    )
    for option, effect in (("--allow", "Only these destinations"), ("--deny", "Not these destinations")):
        add_values(
            group,
            option,
            "DESTINATIONS",
            f"With --socks5 or --transparent: {effect}, as in 192.0.2.0/24,198.51.100.7:443,[2001:db8::]/32,"
            ":8000-8100; may be repeated. --deny takes precedence.",
        )
    add_flag(
        group,
        "--transparent",
        "Intercept connections that come by a device and are for others (TPROXY), and keep the client's "
        "address and port towards the server. It takes root; what it sets up is gone when it ends.",
    )
    group.add_argument(
        "--from",
        dest="from_",
        metavar="DEVICES",
        help="With --transparent: the device by which clients' packets come, or several: eth1,eth2.",
    )
    add_value(group, "--ports", "PORTS", "With --transparent: only these, as in 80,443,8000-8100.")
    add_value(
        group,
        "--if-dead",
        "WHAT",
        "With --transparent: what becomes of new connections when the proxy was killed: pass (the default) "
        "or refuse.",
    )
    add_flag(
        group,
        "--proxy-protocol",
        "Tell the server the client's address, by the PROXY protocol (version 2), which it has to expect.",
    )


def _tcp(group: Options) -> None:
    keys = (
        "congestion_control, receive_buffer, send_buffer and, by routes, so as root: initial_window, min_rto"
    )
    for side, whom in (("client", "clients"), ("server", "servers")):
        add_values(
            group,
            f"--{side}-set",
            "KEY=VALUE",
            f"What TCP does towards {whom}: {keys} (default: what the kernel does); may be repeated.",
        )
    add_value(
        group,
        "--user-timeout",
        "TIME",
        "How long what was sent may stay unacknowledged (default: the kernel's number of retransmissions).",
    )


def _bounds(group: Options) -> None:
    add_value(
        group,
        "--buffer",
        "SIZE",
        "What a connection may have in the proxy each way, kernel memory included (default: what the kernel "
        "finds right; with --memory a share of it).",
    )
    add_value(group, "--memory", "SIZE", "What all connections may have there together (default: unlimited).")
    add_value(
        group,
        "--connections",
        "N",
        "Connections at once, others are reset (default: as many as descriptors and memory allow).",
    )
    add_value(group, "--workers", "N", "Threads that relay (default: as many as there are processors).")
    add_value(group, "--connect-timeout", "TIME", 'How long a server may take to answer (default: "30 s").')
    add_value(group, "--idle-timeout", "TIME", 'How long a connection may be silent (default: "1 h").')
    add_value(
        group, "--drain", "TIME", 'How long connections may go on after the first signal (default: "30 s").'
    )


def _told(group: Options) -> None:
    add_value(
        group,
        "--metrics",
        "ADDRESS",
        "Answer there with metrics for Prometheus: http://ADDRESS/metrics.",
    )
    add_value(
        group,
        "--log",
        "FILE",
        "Add a JSON object in a line for every connection that is over; - is standard output. SIGHUP opens "
        "FILE again, for logrotate.",
    )
    add_quiet(group, "Say nothing at the start and at the end.")


def proxy(
    *,
    listen: str | None,
    to: str | None,
    socks5: bool,
    allow: Sequence[str],
    deny: Sequence[str],
    transparent: bool,
    from_: str | None,
    ports: str | None,
    if_dead: str | None,
    proxy_protocol: bool,
    client_set: Sequence[str],
    server_set: Sequence[str],
    user_timeout: str | None,
    buffer: str | None,
    memory: str | None,
    connections: str | None,
    workers: str | None,
    connect_timeout: str | None,
    idle_timeout: str | None,
    drain: str | None,
    metrics: str | None,
    log: str | None,
    quiet: bool,
) -> int:
    """Relay until a signal arrives. `options` declares the arguments."""
    from umtslab import _core
    from umtslab.proxy import guarded

    typed = {
        "listen": listen,
        "to": to,
        "socks5": "" if socks5 else None,
        "allow": allow,
        "deny": deny,
        "transparent": "" if transparent else None,
        "from": from_,
        "ports": ports,
        "if-dead": if_dead,
        "proxy-protocol": "" if proxy_protocol else None,
        "client-set": client_set,
        "server-set": server_set,
        "user-timeout": user_timeout,
        "buffer": buffer,
        "memory": memory,
        "connections": connections,
        "workers": workers,
        "connect-timeout": connect_timeout,
        "idle-timeout": idle_timeout,
        "drain": drain,
        "metrics": metrics,
        "log": log,
    }

    def started(told: dict[str, Any]) -> None:
        if not quiet:
            print("\n".join(beginning(told)), file=sys.stderr, flush=True)

    def work(*, guard: int | None = None) -> int:
        try:
            totals = _core.proxy(pairs(typed), started, guard=guard)
        except _core.ProxyError as error:
            print(f"umts: {error}", file=sys.stderr)
            return error.status
        if not quiet:
            print(ending(totals), file=sys.stderr)
        return 0

    keys = [pair.partition("=")[0].strip() for pair in (*client_set, *server_set)]
    has_routes = "initial_window" in keys or "min_rto" in keys
    return guarded(work) if transparent or has_routes else work()


def pairs(typed: Mapping[str, str | Sequence[str] | None]) -> list[tuple[str, str]]:
    """Return the options that were given as pairs of name and value."""
    return [
        (f"--{name}", value)
        for name, values in typed.items()
        for value in ([values] if isinstance(values, str | None) else values)
        if value is not None
    ]


def beginning(told: dict[str, Any]) -> list[str]:
    """Describe the running proxy in lines, printed when clients can connect."""
    lines = [f"listens at {told['listen']}, with room for {_connections(told['connections'])}"]
    if told["buffer"] is not None:
        lines[0] += f" of {told['buffer']:,} octets each way"
    lines += [f"{side} side: {_side(told[side])}" for side in ("client", "server")]
    if told["metrics"] is not None:
        lines.append(f"metrics at http://{told['metrics']}/metrics")
    return [*lines, *told["notices"]]


def _side(told: dict[str, Any]) -> str:
    words = [" or, by route, ".join(_manner(manner) for manner in told["by_routes"])]
    for key, name in (("receive_buffer", "receive buffer"), ("send_buffer", "send buffer")):
        size = told[key]
        words.append(f"{name} {'as the path needs' if size is None else f'{size:,} octets'}")
    return ", ".join(words)


def _manner(told: dict[str, Any]) -> str:
    words = [f"congestion control {told['congestion_control']}"]
    window, timeout = told["initial_window"], told["min_rto_s"]
    if window is not None:
        words.append(f"initial window {window} segments")
    if timeout is not None:
        words.append(f"least retransmission timeout {timeout:g} s")
    return ", ".join(words)


def _connections(count: int) -> str:
    return f"{count:,} connection{'' if count == 1 else 's'}"


def ending(totals: dict[str, Any]) -> str:
    """Summarise all connections in a line, printed at the end."""
    ended = ", ".join(f"{count:,} {cause.replace('_', ' ')}" for cause, count in totals["ended"].items())
    line = f"{_connections(totals['accepted'])} ({ended or 'none'}), {totals['refused']:,} refused; "
    line += f"octets: {totals['octets_up']:,} up, {totals['octets_down']:,} down"
    if totals["other_ports"]:
        line += f"; {totals['other_ports']:,} have not their client's port, which was taken"
    lost = totals["lost_lines"]
    return line + (
        f"; {lost:,} lines of the log are lost: it could not be written fast enough" if lost else ""
    )
