"""Reading and writing of recorded emulations: pcapng files of `umts emulate --record`."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

SECTION, INTERFACE, PACKET = 0x0A0D0D0A, 1, 6
RESOLUTION_OPTION = 9


@dataclass(frozen=True)
class Packet:
    """A packet and its time in nanoseconds. `port` 0 is the server side, 1 the first UE."""

    at_ns: int
    port: int
    data: bytes


def read(path: Path) -> Iterator[Packet]:
    """Yield the packets of a file that umtslab wrote: little-endian, with times in nanoseconds."""
    content = path.read_bytes()
    offset = 0
    while offset < len(content):
        kind, length = struct.unpack_from("<II", content, offset)
        if kind == PACKET:
            port, high, low, size = struct.unpack_from("<IIII", content, offset + 8)
            yield Packet(high << 32 | low, port, content[offset + 28 : offset + 28 + size])
        offset += length


def write(path: Path, packets: Iterable[Packet], ports: int) -> None:
    """Write a recording for `umts replay` and `umtslab._core.replay`."""
    blocks = [_block(SECTION, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))]
    resolution = struct.pack("<HHB3xHH", RESOLUTION_OPTION, 1, 9, 0, 0)
    blocks += [_block(INTERFACE, struct.pack("<HHI", 101, 0, 1500) + resolution)] * ports
    for packet in sorted(packets, key=lambda packet: packet.at_ns):
        size = len(packet.data)
        head = struct.pack("<IIIII", packet.port, packet.at_ns >> 32, packet.at_ns & 0xFFFFFFFF, size, size)
        blocks.append(_block(PACKET, head + packet.data + bytes(-size % 4)))
    path.write_bytes(b"".join(blocks))


def _block(kind: int, body: bytes) -> bytes:
    """Return a block of pcapng."""
    length = struct.pack("<I", len(body) + 12)
    return struct.pack("<I", kind) + length + body + length
