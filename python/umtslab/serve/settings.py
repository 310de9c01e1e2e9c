"""Settings of the page, from the options of ``umts serve``."""

from __future__ import annotations

import ipaddress
import secrets
from dataclasses import dataclass, field
from pathlib import Path

LARGEST_UPLOAD = 256 * 2**20
"""Limit on an uploaded capture, in bytes."""

LARGEST_REQUEST = 2**20
"""Limit on the body of any other request, in bytes."""

LARGEST_MESSAGE = 2**16
"""Limit on a message of a WebSocket, in bytes."""


@dataclass(frozen=True)
class Settings:
    """Served folders, addresses, and the rights of visitors."""

    store: Path
    scenarios: Path
    """Folder of scenarios. Scenarios may name files in this folder only, and traces beside it."""
    port: int
    address: str = "127.0.0.1"
    names: tuple[str, ...] = ()
    """Further names under which browsers may reach the server."""
    has_tls: bool = False
    read_only: bool = False
    """Whether visitors can only look: no runs, no uploads."""
    allow_code: bool = False
    """Whether scenarios may name Python code, which then runs on this machine."""
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine reaches the server."""
        return ipaddress.ip_address(self.address).is_loopback

    @property
    def scheme(self) -> str:
        """``https`` with TLS, else ``http``."""
        return "https" if self.has_tls else "http"

    @property
    def hosts(self) -> frozenset[str]:
        """The values of the header ``Host`` that are answered. Requests with another host are refused."""
        names = {*self.names}
        if self.is_loopback:
            names |= {"127.0.0.1", "localhost", "[::1]"}
        if not ipaddress.ip_address(self.address).is_unspecified:
            names.add(bracketed(self.address))
        hosts = {f"{name.lower()}:{self.port}" for name in names}
        default_port = 443 if self.has_tls else 80
        if self.port == default_port:
            # Browsers leave out the default port.
            hosts |= {name.lower() for name in names}
        return frozenset(hosts)

    @property
    def cookie(self) -> str:
        """Name of the cookie with the token. It contains the port, because cookies are sent to all ports."""
        return f"umtslab_{self.port}"

    @property
    def url(self) -> str:
        """The address to open, with the token."""
        host = self.names[0] if self.names else bracketed(self.address)
        return f"{self.scheme}://{host}:{self.port}/?token={self.token}"


def bracketed(address: str) -> str:
    """Return an IP address in the form for URLs: IPv6 in brackets."""
    return f"[{address}]" if ":" in address else address
