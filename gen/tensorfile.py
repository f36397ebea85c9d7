"""Safetensors files as docs/file-formats.md describes them: writer (to disk and hash, or hash only)
and a strict reader.

Knows nothing of problems or cases. A file appears under its final name only when it is complete.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

ALIGNMENT = 64
MAX_HEADER = 1 << 20
_NAMES = {"f8": "F64", "f4": "F32", "f2": "F16", "i8": "I64", "i4": "I32", "u4": "U32"}
_NAMES |= {"i1": "I8", "u1": "U8"}
_DTYPES = {name: np.dtype("<" + code) for code, name in _NAMES.items()}


class TensorFileError(ValueError):
    """The bytes are no case file; the text says what is wrong and where."""


@dataclass(frozen=True)
class Written:
    """Size and hash of a file that was written, or would have been."""

    size: int
    sha256: str


def _header(tensors: Mapping[str, Array], metadata: Mapping[str, str]) -> bytes:
    entries: dict[str, Any] = {"__metadata__": dict(metadata)}
    at = 0
    for name, array in tensors.items():
        kind = _NAMES[array.dtype.str[1:]]
        if at % array.itemsize:
            raise ValueError(f"tensor '{name}' would start at {at}: order the widest dtype first")
        entries[name] = {
            "dtype": kind,
            "shape": list(array.shape),
            "data_offsets": [at, at + array.nbytes],
        }
        at += array.nbytes
    text = json.dumps(entries, separators=(",", ":")).encode()
    text += b" " * (-(len(text) + 8) % ALIGNMENT)
    return struct.pack("<Q", len(text)) + text


def file_size(tensors: Mapping[str, Array], metadata: Mapping[str, str]) -> int:
    """Bytes that `write` would write."""
    return len(_header(tensors, metadata)) + sum(array.nbytes for array in tensors.values())


def write(path: str | None, tensors: Mapping[str, Array], metadata: Mapping[str, str]) -> Written:
    """Writes the tensors in the order given; with path None only size and hash are computed.

    On failure no file is left behind, and a file that was there before is unchanged.
    """
    digest = hashlib.sha256()
    size = 0
    temporary = f"{path}.tmp{os.getpid()}"
    file = open(temporary, "wb") if path is not None else None
    try:
        parts = [memoryview(_header(tensors, metadata))]
        for array in tensors.values():
            flat = np.ascontiguousarray(array).reshape(-1)
            parts.append(flat.view(np.uint8).data if flat.size else memoryview(b""))
        for part in parts:
            digest.update(part)
            size += part.nbytes
            if file is not None:
                file.write(part)
        if file is not None and path is not None:
            file.close()
            os.replace(temporary, path)
    except BaseException:
        if file is not None:
            file.close()
            if os.path.exists(temporary):
                os.unlink(temporary)
        raise
    return Written(size, digest.hexdigest())


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise TensorFileError("duplicate name in the header")
    return result


def read(path: str) -> tuple[dict[str, Array], dict[str, str]]:
    """Tensors and metadata of a file; refuses holes, overlaps, wrong sizes and odd offsets."""
    with open(path, "rb") as file:
        raw = file.read()
    if len(raw) < 8:
        raise TensorFileError("shorter than its length field")
    (length,) = struct.unpack("<Q", raw[:8])
    if length > MAX_HEADER or 8 + length > len(raw):
        raise TensorFileError(f"header of {length} bytes is too long")
    if (8 + length) % ALIGNMENT:
        raise TensorFileError(f"data start at {8 + length}, no multiple of {ALIGNMENT}")
    try:
        header = json.loads(raw[8 : 8 + length].decode(), object_pairs_hook=_unique)
    except (UnicodeDecodeError, json.JSONDecodeError) as why:
        raise TensorFileError(f"header is no JSON: {why}") from why
    metadata = header.pop("__metadata__", {})
    tensors: dict[str, Array] = {}
    at = 0
    for name, entry in sorted(header.items(), key=lambda e: tuple(e[1]["data_offsets"])):
        begin, end = entry["data_offsets"]
        if entry["dtype"] not in _DTYPES:
            raise TensorFileError(f"tensor '{name}' has unknown dtype '{entry['dtype']}'")
        dtype = _DTYPES[entry["dtype"]]
        if begin != at:
            raise TensorFileError(f"tensor '{name}' starts at {begin}, expected {at}")
        if end - begin != math.prod(entry["shape"]) * dtype.itemsize or begin % dtype.itemsize:
            raise TensorFileError(f"tensor '{name}' has a shape that does not fit its offsets")
        data = raw[8 + length + begin : 8 + length + end]
        if len(data) != end - begin:
            raise TensorFileError(f"tensor '{name}' reaches past the end of the file")
        tensors[name] = np.frombuffer(data, dtype=dtype).reshape(entry["shape"])
        at = end
    if 8 + length + at != len(raw):
        raise TensorFileError(f"{len(raw) - 8 - length - at} bytes follow the last tensor")
    return tensors, metadata


def sha256_of(path: str) -> str:
    """Hash of a file, read in pieces."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(1 << 22):
            digest.update(piece)
    return digest.hexdigest()
