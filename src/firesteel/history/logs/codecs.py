"""How Spark packs an event log: zstd, and its own framings of lz4, snappy and lzf, which are Java's block formats.

Each decoder takes the packed bytes in pieces and gives plain bytes in pieces, as early as it can: what comes before the
place where a file is cut off is not lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

Pieces: TypeAlias = Iterator[bytes]


class Damaged(Exception):
    """The packed bytes end too early, or are not what they should be."""


class _Bytes:
    """Reads exact numbers of bytes from pieces of any size."""

    def __init__(self, pieces: Pieces) -> None:
        self._pieces, self._held, self.position = pieces, bytearray(), 0

    def take(self, count: int, what: str) -> bytes:
        """The next bytes; an error that says what was to be read where there are too few."""
        while len(self._held) < count:
            piece = next(self._pieces, None)
            if piece is None:
                raise Damaged(f"it ends in the middle of {what}, at byte {self.position + len(self._held)}")
            self._held += piece
        taken = bytes(self._held[:count])
        del self._held[:count]
        self.position += count
        return taken

    def ended(self) -> bool:
        while not self._held:
            piece = next(self._pieces, None)
            if piece is None:
                return True
            self._held += piece
        return False

    def number(self, size: int, order: Any, what: str) -> int:
        return int.from_bytes(self.take(size, what), order)


def plain(pieces: Pieces) -> Pieces:
    """Not packed at all."""
    return pieces


def zstd(pieces: Pieces) -> Pieces:
    """Zstandard, any number of frames."""
    import pyarrow as pa  # type: ignore[import-untyped]

    source = _AheadOfArrow(pieces)
    stream = pa.CompressedInputStream(pa.PythonFile(source, mode="r"), "zstd")
    while True:
        try:
            # Where the file is cut off, Arrow gives nothing of what was asked for last: so little is asked for then.
            piece = stream.read(64 if source.ending else 1 << 14)
        except OSError as error:
            raise Damaged(f"it cannot be unpacked any further: {error}") from error
        if not piece:
            return
        yield piece


class _AheadOfArrow:
    """A file for Arrow that is read forwards only, and knows a byte before its end that it ends."""

    closed = False

    def __init__(self, pieces: Pieces) -> None:
        self._pieces, self._held = pieces, next(pieces, b"")
        self.ending = False

    def read(self, size: int = -1) -> bytes:
        if self.ending:
            given, self._held = self._held, b""
            return given
        if len(self._held) > size > 0:
            given, self._held = self._held[:size], self._held[size:]
            return given
        following = next(self._pieces, None)
        self.ending = following is None
        if following is None:
            given, self._held = self._held[:-1], self._held[-1:]
            return given or self.read()
        given, self._held = self._held, following
        return given

    def close(self) -> None:
        self.closed = True

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return False

    def seekable(self) -> bool:
        return False


_LZ4 = b"LZ4Block"
_PLAIN, _PACKED = 0x10, 0x20


def lz4(pieces: Pieces) -> Pieces:
    """Java's LZ4BlockOutputStream: blocks with a header of 21 bytes; an empty block ends a stream."""
    import pyarrow as pa

    codec = pa.Codec("lz4_raw")
    source = _Bytes(pieces)
    while not source.ended():
        start = source.position
        if source.take(8, "the header of a block") != _LZ4:
            raise Damaged(f"no block of lz4 begins at byte {start}")
        token = source.number(1, "little", "the header of a block")
        packed = source.number(4, "little", "the header of a block")
        size = source.number(4, "little", "the header of a block")
        source.take(4, "the header of a block")  # a checksum
        content = source.take(packed, "a block")
        match token & 0xF0:
            case _ if not size:
                continue
            case t if t == _PLAIN:
                yield content
            case t if t == _PACKED:
                yield _unpacked(codec, content, size, start)
            case t:
                raise Damaged(f"the block at byte {start} is packed in a way that is not known: {t:#x}")


_SNAPPY = b"\x82SNAPPY\x00"


def snappy(pieces: Pieces) -> Pieces:
    """snappy-java's SnappyOutputStream: a header of 16 bytes, then blocks, each after its length."""
    import pyarrow as pa

    codec = pa.Codec("snappy")
    source = _Bytes(pieces)
    while not source.ended():
        start = source.position
        head = source.take(4, "the length of a block")
        if head == _SNAPPY[:4]:  # streams may follow one another
            if source.take(4, "the header") != _SNAPPY[4:]:
                raise Damaged(f"no header of snappy begins at byte {start}")
            source.take(8, "the header")
            continue
        content = source.take(int.from_bytes(head, "big"), "a block")
        yield _unpacked(codec, content, _varint(content), start)


def _varint(content: bytes) -> int:
    """The length of what is packed, which stands at the beginning: seven bits a byte, the lowest first."""
    number = shift = 0
    for byte in content[:5]:
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
        shift += 7
    return number


def _unpacked(codec: Any, content: bytes, size: int, start: int) -> bytes:
    try:
        unpacked = codec.decompress(content, decompressed_size=size, asbytes=True)
    except (OSError, ValueError) as error:
        raise Damaged(f"the block at byte {start} cannot be unpacked: {error}") from error
    assert isinstance(unpacked, bytes)
    return unpacked


def lzf(pieces: Pieces) -> Pieces:
    """The chunks of compress-lzf: ZV, a type, and one length or two."""
    source = _Bytes(pieces)
    while not source.ended():
        start = source.position
        if source.take(2, "the header of a chunk") != b"ZV":
            raise Damaged(f"no chunk of lzf begins at byte {start}")
        packed = source.number(1, "big", "the header of a chunk")
        length = source.number(2, "big", "the header of a chunk")
        if not packed:
            yield source.take(length, "a chunk")
            continue
        size = source.number(2, "big", "the header of a chunk")
        try:
            yield _lzf(source.take(length, "a chunk"), size)
        except (IndexError, ValueError):
            raise Damaged(f"the chunk at byte {start} cannot be unpacked") from None


def _lzf(content: bytes, size: int) -> bytes:
    """One chunk: runs of plain bytes, and references to what was unpacked already."""
    out, at = bytearray(), 0
    while at < len(content):
        control = content[at]
        at += 1
        if control < 32:
            out += content[at : at + control + 1]
            at += control + 1
            continue
        length = control >> 5
        if length == 7:
            length += content[at]
            at += 1
        begin = len(out) - ((control & 31) << 8) - content[at] - 1
        at += 1
        length += 2
        if begin < 0:
            raise ValueError(begin)
        if begin + length <= len(out):
            out += out[begin : begin + length]
        else:  # it refers to what it is about to write
            for place in range(begin, begin + length):
                out.append(out[place])
    if len(out) != size:
        raise ValueError(len(out))
    return bytes(out)


DECODERS: dict[str, Callable[[Pieces], Pieces]] = {
    "plain": plain,
    "zstd": zstd,
    "lz4": lz4,
    "snappy": snappy,
    "lzf": lzf,
}
"""By the name that Spark gives the codec, which also ends the file's name."""

_BEGINNINGS = {b"\x28\xb5\x2f\xfd": "zstd", _LZ4: "lz4", _SNAPPY: "snappy", b"ZV\x00": "lzf", b"ZV\x01": "lzf"}


def codec_of(beginning: bytes) -> str | None:
    """The codec of a file that begins so; None where it is not known.

    >>> codec_of(b'{"Event":'), codec_of(b"LZ4Block"), codec_of(b"PK")
    ('plain', 'lz4', None)
    """
    for magic, name in _BEGINNINGS.items():
        if beginning.startswith(magic):
            return name
    return "plain" if beginning.lstrip()[:1] == b"{" else None
