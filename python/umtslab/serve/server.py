"""The HTTP server: uvicorn, with a limit on the time that a request's head may take."""

from __future__ import annotations

import asyncio
import logging
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from umtslab.serve.guard import MaskToken
from umtslab.serve.settings import LARGEST_MESSAGE, Settings

if TYPE_CHECKING:
    from umtslab.serve.guard import App

HEAD_S = 10.0
"""Maximum time between the start of a connection, or the last response, and the next complete request."""

_MAX_CONNECTIONS = 256
"""Limit on simultaneous connections. Further requests get status 503."""


class DeadlineProtocol(H11Protocol):
    """HTTP/1.1 that cuts a connection if the next request takes longer than `HEAD_S`."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start the time limit of the first request."""
        super().connection_made(cast(asyncio.Transport, transport))
        self._start_deadline()

    def data_received(self, data: bytes) -> None:
        """Stop the time limit when a request is complete. Start it if the next request is awaited."""
        super().data_received(data)
        if self._awaits_request:
            self._start_deadline()
        else:
            self._stop_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the time limit."""
        self._stop_deadline()
        super().connection_lost(exc)

    @property
    def _awaits_request(self) -> bool:
        """Whether no request is being answered. `cycle` is uvicorn's state of the latest request."""
        return self.cycle is None or self.cycle.response_complete

    def _start_deadline(self) -> None:
        if self._deadline is None:
            self._deadline = asyncio.get_running_loop().call_later(HEAD_S, self._cut)

    def _stop_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _cut(self) -> None:
        self._deadline = None
        # A WebSocket has taken over the connection if the transport has another protocol.
        if self._awaits_request and self.transport.get_protocol() is self:
            self.transport.abort()


def bound_socket(settings: Settings) -> socket.socket:
    """Bind the server's socket.

    Raises
    ------
    OSError
        If the port is in use, or the address is not one of this machine.
    """
    family = socket.AF_INET6 if ":" in settings.address else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((settings.address, settings.port))
        # The kernel accepts connections before the server is ready, so that early browsers wait.
        bound.listen(128)
    except OSError:
        bound.close()
        raise
    return bound


def serve(
    app: App, bound: socket.socket, *, certificate: Path | None = None, key: Path | None = None, log: bool
) -> None:
    """Serve until the process is interrupted. `certificate` and `key` are files for TLS."""
    log_config: dict[str, Any] = {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {"mask": {"()": MaskToken}},
        "formatters": {"plain": {"format": "umts: %(message)s"}},
        "handlers": {
            "stderr": {"class": "logging.StreamHandler", "formatter": "plain", "filters": ["mask"]},
        },
        "loggers": {
            "uvicorn": {"handlers": ["stderr"], "level": "INFO" if log else "WARNING", "propagate": False},
        },
    }
    config = uvicorn.Config(
        cast(Any, app),
        http=DeadlineProtocol,
        ws="websockets-sansio",
        lifespan="on",
        log_config=log_config,
        access_log=log,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=_MAX_CONNECTIONS,
        timeout_keep_alive=int(HEAD_S),
        timeout_graceful_shutdown=2,
        ws_max_size=LARGEST_MESSAGE,
        ssl_certfile=None if certificate is None else str(certificate),
        ssl_keyfile=None if key is None else str(key),
    )
    logging.getLogger("uvicorn.access").propagate = True
    uvicorn.Server(config).run(sockets=[bound])
