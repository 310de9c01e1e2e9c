"""The Internet of a hermetic emulation: every name has an address, every address serves objects over HTTP.

Runs in the namespace of the server side, where the kernel treats every address as local.
"""

from __future__ import annotations

import errno
import hashlib
import ipaddress
import socket
import sys
import threading
import time
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import dns.exception
import dns.flags
import dns.message
import dns.rdatatype
import dns.rrset

INDEX = """\
Every name has an address here, and every address serves these over HTTP:

/           this page
/bytes/N    N octets
/page       a page; /page?objects=8&size=20000 embeds that many images of that many octets
/sleep/MS   an answer after MS milliseconds
/upload     takes a body (POST or PUT, with a Content-Length) and returns its length
"""

DNS_PORT = 53
HTTP_PORT = 80
TTL_S = 3600

MAX_BYTES = 10**10
MAX_OBJECTS = 1000
MAX_SLEEP_MS = 600_000
CHUNK = bytes(65536)

_NAMES_V4 = ipaddress.IPv4Network("198.18.0.0/15")  # for tests of networks: RFC 2544
_NAMES_V6 = ipaddress.IPv6Network("2001:db8::/32")  # for documentation: RFC 3849


def address_of(name: str, version: int) -> str:
    """Address of a name, derived from a hash of the name: the same at each query.

    Different names have different addresses, except for rare collisions.
    """
    network: ipaddress.IPv4Network | ipaddress.IPv6Network = _NAMES_V4 if version == 4 else _NAMES_V6
    digest = int.from_bytes(hashlib.sha256(name.lower().rstrip(".").encode()).digest()[:8])
    # 2**17 is the size of `_NAMES_V4`. Its first and last address are not used.
    return str(network[1 + digest % (2**17 - 2)])


def answer(query: bytes) -> bytes | None:
    """Answer to a DNS query; None if the packet is not a query."""
    try:
        request = dns.message.from_wire(query)
    except dns.exception.DNSException:
        return None
    if request.flags & dns.flags.QR:
        return None
    response = dns.message.make_response(request, recursion_available=True)
    for question in request.question:
        version = {dns.rdatatype.A: 4, dns.rdatatype.AAAA: 6}.get(question.rdtype)
        if version is not None:
            address = address_of(question.name.to_text(), version)
            kind = dns.rdatatype.to_text(question.rdtype)
            response.answer.append(dns.rrset.from_text(question.name, TTL_S, "IN", kind, address))
    return response.to_wire()


def serve_names(listening: socket.socket) -> None:
    """Answer queries until the process ends."""
    while True:
        query, client = listening.recvfrom(4096)
        # A malformed query, or a sender that cannot be reached, must not stop the service.
        with suppress(OSError, ValueError, dns.exception.DNSException):
            response = answer(query)
            if response is not None:
                listening.sendto(response, client)


class ObjectServer(ThreadingHTTPServer):
    """HTTP server on all IPv4 and IPv6 addresses, with a thread for each connection."""

    address_family = socket.AF_INET6
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, request: object, client_address: object) -> None:
        """Report errors, except that a client closed its connection."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]

    def server_bind(self) -> None:
        """Bind for both families."""
        self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        super().server_bind()


class Objects(BaseHTTPRequestHandler):
    """Answers the requests of one connection."""

    protocol_version = "HTTP/1.1"
    server_version = "umts-objects"
    sys_version = ""

    def do_GET(self) -> None:
        """Send an object."""
        url = urlsplit(self.path)
        options = {name: values[-1] for name, values in parse_qs(url.query).items()}
        kind, _, argument = url.path.lstrip("/").partition("/")
        try:
            if kind == "":
                self._send_text(INDEX, "text/plain")
            elif kind == "bytes":
                self._send_bytes(_number(argument, MAX_BYTES), "application/octet-stream")
            elif kind == "image":
                self._send_bytes(_number(argument.partition("-")[0], MAX_BYTES), "image/png")
            elif kind == "page":
                objects = _number(options.get("objects", "8"), MAX_OBJECTS)
                size = _number(options.get("size", "20000"), MAX_BYTES)
                self._send_text(page(objects, size), "text/html")
            elif kind == "sleep":
                time.sleep(_number(argument, MAX_SLEEP_MS) / 1000)
                self._send_text("done\n", "text/plain")
            else:
                self.send_error(
                    HTTPStatus.NOT_FOUND, "not found; this server has /bytes/N, /page, /sleep/MS and /upload"
                )
        except ValueError as error:
            self.send_error(HTTPStatus.BAD_REQUEST, str(error))

    do_HEAD = do_GET  # noqa: N815 -- the base class looks for this name

    def do_POST(self) -> None:
        """Receive a body and answer with the number of bytes received."""
        if "Transfer-Encoding" in self.headers:
            # The end of the body is unknown, so the connection cannot be used for further requests.
            self.close_connection = True
            self.send_error(HTTPStatus.LENGTH_REQUIRED, "the request needs a body with a Content-Length")
            return
        try:
            length = _number(self.headers.get("Content-Length", "0"), MAX_BYTES)
        except ValueError as error:
            self.close_connection = True
            self.send_error(HTTPStatus.LENGTH_REQUIRED, str(error))
            return
        received = 0
        while received < length:
            part = self.rfile.read(min(length - received, len(CHUNK)))
            if not part:
                break
            received += len(part)
        self._send_text(f"{received}\n", "text/plain")

    do_PUT = do_POST  # noqa: N815 -- as above

    def log_message(self, format: str, *arguments: object) -> None:
        """Log nothing: the captures have all requests."""

    def _send_bytes(self, size: int, kind: str) -> None:
        self._send_head(size, kind)
        if self.command == "HEAD":
            return
        for _ in range(size // len(CHUNK)):
            self.wfile.write(CHUNK)
        self.wfile.write(CHUNK[: size % len(CHUNK)])

    def _send_text(self, text: str, kind: str) -> None:
        body = text.encode()
        self._send_head(len(body), f"{kind}; charset=utf-8")
        if self.command != "HEAD":
            self.wfile.write(body)

    def _send_head(self, size: int, kind: str) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(size))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()


def page(objects: int, size: int) -> str:
    """HTML page with `objects` images of `size` bytes, whose title becomes the load time."""
    images = "\n".join(f'<img src="/image/{size}-{number}" alt="{number}">' for number in range(objects))
    return f"""<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>loading</title>
<script>addEventListener("load", () => {{
  setTimeout(() => {{
    const load = performance.getEntriesByType("navigation")[0].loadEventStart;
    document.title = `loaded in ${{Math.round(load)}} ms`;
    document.getElementById("load").textContent = document.title;
  }});
}});</script></head>
<body><h1>{objects} objects of {size} octets</h1><p id="load">loading</p>
{images}
</body>
</html>
"""


def _number(text: str, maximum: int) -> int:
    """Read a number of a request. Other texts, and larger numbers, raise `ValueError`."""
    if not text.isdecimal() or int(text) > maximum:
        raise ValueError(f"expected a number from 0 to {maximum}, got {text!r}")
    return int(text)


def main(arguments: list[str]) -> None:
    """Serve until the process is ended.

    Prints a line when it answers DNS queries. After a line on standard input it also serves HTTP, unless a
    ``--server`` uses the port, and prints a second line.
    """
    for family, any_address in ((socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::")):
        listening = socket.socket(family, socket.SOCK_DGRAM)
        if family == socket.AF_INET6:
            listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listening.bind((any_address, DNS_PORT))
        threading.Thread(target=serve_names, args=(listening,), daemon=True).start()
    print("naming", flush=True)
    sys.stdin.readline()
    server = _http_server()
    if server is None and "quiet" not in arguments:
        print(
            f"port {HTTP_PORT} is used by a --server; the built-in HTTP server does not listen",
            file=sys.stderr,
        )
    print("serving", flush=True)
    if server is None:
        threading.Event().wait()
    else:
        server.serve_forever()


def _http_server() -> ObjectServer | None:
    """Bind the HTTP server. Returns None if the port is in use."""
    try:
        return ObjectServer(("::", HTTP_PORT), Objects)
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        return None


if __name__ == "__main__":
    main(sys.argv[1:])
