"""``umts serve``: the page of a results folder."""

from __future__ import annotations

import errno
import ipaddress
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from umtslab.cli.failures import UsageError
from umtslab.cli.options import RESULTS, add_flag, add_value, add_values
from umtslab.cli.parser import whole_number

if TYPE_CHECKING:
    from umtslab.cli.parser import Parser
    from umtslab.serve.settings import Settings

_PORT = 8765
"""Default port."""


def options(parser: Parser) -> None:
    """Declare the arguments of ``umts serve``."""
    parser.explain(
        "Prints an address with a token: open it in a browser of this machine. Other users of the machine "
        "have no access without the token. Ctrl-C ends the server."
    )
    parser.add_argument(
        "store",
        type=Path,
        nargs="?",
        default=RESULTS,
        metavar="STORE",
        help=f"A results folder (default: {RESULTS}).",
    )
    parser.add_argument(
        "--port",
        type=whole_number,
        metavar="N",
        default=_PORT,
        help=f"Port (default: {_PORT}; 0: any free one).",
    )
    parser.add_argument(
        "--scenarios",
        type=Path,
        metavar="FOLDER",
        help="Scenarios to open and run (default: the shipped ones). They may name files in it only.",
    )
    allowed = parser.add_argument_group("what visitors may do")
    add_flag(
        allowed,
        "--read-only",
        "Visitors may try scenarios, but keep no run, upload no file and change no emulation.",
    )
    add_flag(
        allowed,
        "--allow-code",
        "Run Python classes that scenarios name: they are programs, and can do all that you can.",
    )
    network = parser.add_argument_group("network")
    add_value(
        network,
        "--listen",
        "ADDRESS",
        "An address of this machine, for visitors from others (default: 127.0.0.1, this machine only).",
    )
    add_values(network, "--name", "HOST", "A further host name in addresses of this server. May be repeated.")
    network.add_argument("--tls-certificate", type=Path, metavar="FILE", help="Certificate (PEM), for https.")
    network.add_argument("--tls-key", type=Path, metavar="FILE", help="Private key of the certificate (PEM).")
    add_flag(network, "--log", "Print each request on standard error, with the token masked.")


def serve(
    store: Path,
    *,
    port: int,
    scenarios: Path | None,
    read_only: bool,
    allow_code: bool,
    listen: str | None,
    name: Sequence[str],
    tls_certificate: Path | None,
    tls_key: Path | None,
    log: bool,
) -> int:
    """Serve the page until Ctrl-C. `options` declares the arguments."""
    from umtslab.extras import missing_library_text

    try:
        import fastapi  # noqa: F401
        import uvicorn  # noqa: F401
        import websockets  # noqa: F401
    except ImportError as error:
        raise UsageError(missing_library_text(error.name or "fastapi", error)) from None
    from dataclasses import replace

    from umtslab.serve.app import create_app
    from umtslab.serve.server import bound_socket
    from umtslab.serve.server import serve as run_server

    settings = _settings(store, port, scenarios, listen, name, has_tls=_has_tls(tls_certificate, tls_key))
    settings = replace(settings, read_only=read_only, allow_code=allow_code)
    try:
        bound = bound_socket(settings)
    except OSError as error:
        raise UsageError(_cannot_listen(settings, error)) from None
    settings = replace(settings, port=bound.getsockname()[1])
    if not settings.is_loopback and not settings.has_tls:
        print(
            "warning: other machines can read what browsers and this server exchange, the token too: "
            "add --tls-certificate and --tls-key",
            file=sys.stderr,
        )
    print(f"Open {settings.url}", flush=True)
    run_server(create_app(settings), bound, certificate=tls_certificate, key=tls_key, log=log)
    return 0


def _settings(
    store: Path,
    port: int,
    scenarios: Path | None,
    listen: str | None,
    names: Sequence[str],
    *,
    has_tls: bool,
) -> Settings:
    from umtslab.reproduce.reproduction import find_data
    from umtslab.serve.settings import Settings

    if not 0 <= port < 2**16:
        raise UsageError(f"--port takes a number from 0 to 65535, not {port}")
    if store.exists() and not store.is_dir():
        raise UsageError(f"{store} is a file: umts serve takes a results folder")
    folder = find_data() / "scenarios" if scenarios is None else scenarios
    if not folder.is_dir():
        raise UsageError(f"--scenarios {folder}: there is no such folder")
    address = listen or "127.0.0.1"
    try:
        ip_address = ipaddress.ip_address(address.strip("[]"))
    except ValueError:
        raise UsageError(
            f"--listen takes an IP address of this machine, as in 192.0.2.7, not {address!r}"
        ) from None
    if ip_address.is_unspecified and not names:
        raise UsageError(
            f"--listen {address} is every address: add --name HOST, the name in the browser's address"
        )
    return Settings(
        store=store.absolute(),
        scenarios=folder.absolute(),
        port=port,
        address=str(ip_address),
        names=tuple(names),
        has_tls=has_tls,
    )


def _has_tls(certificate: Path | None, key: Path | None) -> bool:
    """Whether the server uses TLS. Raise an error if only one of its two files is given."""
    if (certificate is None) != (key is None):
        raise UsageError("--tls-certificate and --tls-key belong together: give both")
    for path in (certificate, key):
        if path is not None and not path.is_file():
            raise UsageError(f"{path}: there is no such file")
    return certificate is not None


def _cannot_listen(settings: Settings, error: OSError) -> str:
    """Return the message for a port or an address that cannot be used."""
    if error.errno == errno.EADDRINUSE:
        return (
            f"port {settings.port} is in use: stop the other server, or choose another port, as in --port 0 "
            "for any free one"
        )
    return f"cannot listen on {settings.address}, port {settings.port}: {error.strerror}"
