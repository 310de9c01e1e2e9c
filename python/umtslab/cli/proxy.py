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
        "Each client connection ends in the proxy, and another connection goes on to the server. "
        "Each half of the path has its own round-trip time, windows and losses. Data that the proxy "
        "has acknowledged may not have reached the receiver yet. If anything fails, both sides get a "
        "reset, never the normal end of a short stream.",
        "SIGTERM or Ctrl-C: no new connections; existing ones may continue for --drain. A second "
        "signal resets them. SIGHUP: the file of --log is opened again, and the file of --limits is read "
        "again. Signals that were ignored at "
        "the start, as by nohup, stay ignored. Exit status: 0 ended by a signal; 1 failed while "
        "running; 2 wrong usage, or this host lacks a requested feature, and nothing was changed.",
    )
    _addresses(parser.add_argument_group("listener and destination"))
    _tcp(parser.add_argument_group("TCP settings"))
    _limits(parser.add_argument_group("limits"))
    _logging(parser.add_argument_group("logging and metrics"))


def _addresses(group: Options) -> None:
    add_value(
        group,
        "--listen",
        "ADDRESS",
        "Address for clients, for example 127.0.0.1:8080 or [::1]:8080. A port alone means every "
        "address, with --socks5 127.0.0.1 (default with --transparent: any port).",
    )
    add_value(group, "--to", "HOST:PORT", "The server. Its addresses are tried in turn.")
    add_flag(
        group,
        "--socks5",
        "Each client names its destination by SOCKS5, without a password. Listen on an address that "
        "no other host reaches, or limit the destinations with --allow. Clients on other hosts "
        "cannot reach the loopback of this host.",
    )
    for option, effect in (("--allow", "limit the destinations"), ("--deny", "exclude destinations")):
        add_values(
            group,
            option,
            "DESTINATIONS",
            f"With --socks5 or --transparent: {effect}, for example 192.0.2.0/24,198.51.100.7:443 or "
            "[2001:db8::]/32,:8000-8100; may be repeated. --deny takes precedence.",
        )
    add_flag(
        group,
        "--transparent",
        "Intercept connections that arrive by a device and are for other hosts (TPROXY). The server "
        "sees the client's address and port. Requires root; the setup is removed at the end.",
    )
    group.add_argument(
        "--from",
        dest="from_",
        metavar="DEVICES",
        help=(
            "With --transparent: the devices by which clients' packets arrive, for example eth1 or eth1,eth2."
        ),
    )
    add_value(
        group,
        "--ports",
        "PORTS",
        "With --transparent: intercept only these ports, for example 80,443,8000-8100.",
    )
    add_value(
        group,
        "--if-dead",
        "ACTION",
        "With --transparent: new connections after the proxy was killed: pass (default) or refuse.",
    )
    add_flag(
        group,
        "--proxy-protocol",
        "Send the client's address to the server in front of the data (PROXY protocol, version 2). "
        "The server must expect it.",
    )


def _tcp(group: Options) -> None:
    keys = (
        "congestion_control, receive_buffer, send_buffer; set by routes and therefore as root: "
        "initial_window, min_rto"
    )
    for side, peers in (("client", "clients"), ("server", "servers")):
        add_values(
            group,
            f"--{side}-set",
            "KEY=VALUE",
            f"TCP setting towards {peers}: {keys} (default: the kernel's setting); may be repeated.",
        )
    add_value(
        group,
        "--user-timeout",
        "TIME",
        "Maximum time that sent data may stay unacknowledged (default: the kernel's number of "
        "retransmissions).",
    )


def _limits(group: Options) -> None:
    add_value(
        group,
        "--buffer",
        "SIZE",
        "Buffer per connection and direction, kernel memory included (default: sized by the kernel; "
        "with --memory an equal share).",
    )
    add_value(group, "--memory", "SIZE", "Memory of all connections together (default: unlimited).")
    add_value(
        group,
        "--connections",
        "N",
        "Maximum number of concurrent connections; further ones are reset (default: as many as "
        "descriptors and memory allow).",
    )
    add_value(group, "--workers", "N", "Relaying threads (default: the number of processors).")
    add_value(group, "--connect-timeout", "TIME", 'Maximum time until the server answers (default: "30 s").')
    add_value(group, "--idle-timeout", "TIME", 'Maximum time without data in a connection (default: "1 h").')
    add_value(
        group,
        "--drain",
        "TIME",
        'Maximum time that connections continue after the first signal (default: "30 s").',
    )
    add_value(
        group,
        "--limits",
        "FILE",
        "A TOML file with connections, connect_timeout, idle_timeout or drain, which replace the options "
        "of these names. SIGHUP reads FILE again; open connections continue.",
    )


def _logging(group: Options) -> None:
    add_value(
        group,
        "--metrics",
        "ADDRESS",
        "Serve metrics for Prometheus at http://ADDRESS/metrics.",
    )
    add_value(
        group,
        "--log",
        "FILE",
        "Append one JSON object per line for every connection that has ended; - is standard output. "
        "SIGHUP opens FILE again, for logrotate.",
    )
    add_quiet(group, "Print nothing at the start and at the end.")


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
    limits: str | None,
    metrics: str | None,
    log: str | None,
    quiet: bool,
) -> int:
    """Relay until a signal arrives. `options` declares the arguments."""
    from umtslab import _core
    from umtslab.proxy import run_guarded

    values = {
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
        "limits": limits,
        "metrics": metrics,
        "log": log,
    }

    def started(settings: dict[str, Any]) -> None:
        if not quiet:
            print("\n".join(start_lines(settings)), file=sys.stderr, flush=True)

    def relay(*, guard: int | None = None) -> int:
        try:
            totals = _core.proxy(pairs(values), started, guard=guard)
        except _core.ProxyError as error:
            print(f"umts: {error}", file=sys.stderr)
            return error.status
        if not quiet:
            print(summary_line(totals), file=sys.stderr)
        return 0

    keys = [pair.partition("=")[0].strip() for pair in (*client_set, *server_set)]
    has_routes = "initial_window" in keys or "min_rto" in keys
    return run_guarded(relay) if transparent or has_routes else relay()


def pairs(values: Mapping[str, str | Sequence[str] | None]) -> list[tuple[str, str]]:
    """Return the options that were given as pairs of name and value."""
    return [
        (f"--{name}", value)
        for name, given in values.items()
        for value in ([given] if isinstance(given, str | None) else given)
        if value is not None
    ]


def start_lines(settings: dict[str, Any]) -> list[str]:
    """Describe the running proxy in lines, printed when clients can connect."""
    lines = [f"listens at {settings['listen']}, for up to {_connections(settings['connections'])}"]
    if settings["buffer"] is not None:
        lines[0] += f" with {settings['buffer']:,} octets per direction"
    lines += [f"{side} side: {_side_text(settings[side])}" for side in ("client", "server")]
    if settings["metrics"] is not None:
        lines.append(f"metrics at http://{settings['metrics']}/metrics")
    return [*lines, *settings["notices"]]


def _side_text(settings: dict[str, Any]) -> str:
    """Describe the TCP settings of one side."""
    parts = [" or, by route, ".join(_route_text(route) for route in settings["by_routes"])]
    for key, name in (("receive_buffer", "receive buffer"), ("send_buffer", "send buffer")):
        size = settings[key]
        parts.append(f"{name} {'sized by the kernel' if size is None else f'{size:,} octets'}")
    return ", ".join(parts)


def _route_text(route: dict[str, Any]) -> str:
    """Describe the TCP settings of connections over a route."""
    parts = [f"congestion control {route['congestion_control']}"]
    window, timeout = route["initial_window"], route["min_rto_s"]
    if window is not None:
        parts.append(f"initial window {window} segments")
    if timeout is not None:
        parts.append(f"minimum retransmission timeout {timeout:g} s")
    return ", ".join(parts)


def _connections(count: int) -> str:
    return f"{count:,} connection{'' if count == 1 else 's'}"


def summary_line(totals: dict[str, Any]) -> str:
    """Summarise all connections in a line, printed at the end."""
    ended = ", ".join(f"{count:,} {cause.replace('_', ' ')}" for cause, count in totals["ended"].items())
    line = f"{_connections(totals['accepted'])} ({ended or 'none'}), {totals['refused']:,} refused; "
    line += f"octets: {totals['octets_up']:,} up, {totals['octets_down']:,} down"
    if totals["other_ports"]:
        line += f"; {totals['other_ports']:,} with another port than the client's, which was in use"
    lost = totals["lost_lines"]
    return line + (f"; {lost:,} lines of the log were lost: its reader was too slow" if lost else "")
