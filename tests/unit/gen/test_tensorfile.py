"""Case files: what is written is read back, and damage is refused."""

from __future__ import annotations

import hashlib
import json
import os
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from gen import tensorfile

dtypes = st.sampled_from(["<f8", "<f4", "<f2", "<i8", "<i4", "<u4", "|i1", "|u1"])
arrays = dtypes.flatmap(
    lambda dtype: hnp.arrays(
        dtype, hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5)
    )
)


def widest_first(tensors: dict[str, Any]) -> dict[str, Any]:
    return dict(sorted(tensors.items(), key=lambda item: -int(item[1].itemsize)))


files = st.dictionaries(st.text("abcXYZ.0_", min_size=1), arrays, max_size=5).map(widest_first)
texts = st.dictionaries(st.text(min_size=1, max_size=9), st.text(max_size=9), max_size=4)


@given(tensors=files, metadata=texts)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_round_trip(tmp_path: Path, tensors: dict[str, Any], metadata: dict[str, str]) -> None:
    path = str(tmp_path / "x.safetensors")
    written = tensorfile.write(path, tensors, metadata)
    raw = (tmp_path / "x.safetensors").read_bytes()
    assert written.size == len(raw) == tensorfile.file_size(tensors, metadata)
    assert written.sha256 == hashlib.sha256(raw).hexdigest() == tensorfile.sha256_of(path)
    assert written == tensorfile.write(None, tensors, metadata)
    found, found_metadata = tensorfile.read(path)
    assert found_metadata == metadata and set(found) == set(tensors)
    for name, array in tensors.items():
        assert found[name].dtype == array.dtype and found[name].shape == array.shape
        assert found[name].tobytes() == array.tobytes()


def test_layout(tmp_path: Path) -> None:
    path = tmp_path / "x"
    scalar = np.array(7, dtype="<i4")
    tensorfile.write(str(path), {"a": np.arange(3, dtype="<f8"), "n": scalar}, {"case": "c"})
    raw = path.read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    assert (8 + length) % 64 == 0 and raw[8 + length - 1 : 8 + length] in (b" ", b"}")
    header = json.loads(raw[8 : 8 + length])
    assert header["n"] == {"dtype": "I32", "shape": [], "data_offsets": [24, 28]}
    assert header["__metadata__"] == {"case": "c"}
    assert raw[8 + length + 24 :] == b"\x07\0\0\0"


def _file(header: Any, data: bytes = b"", pad: bool = True) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    if pad:
        text += b" " * (-(len(text) + 8) % 64)
    return struct.pack("<Q", len(text)) + text + data


def _tensor(begin: int, end: int, **more: Any) -> dict[str, Any]:
    return {"dtype": "F32", "shape": [(end - begin) // 4], "data_offsets": [begin, end], **more}


DAMAGED = [
    (b"\0\0", "shorter than its length field"),
    (struct.pack("<Q", 1 << 40), "is too long"),
    (_file({}, pad=False), "no multiple of 64"),
    (_file(b"{"), "header is no JSON"),
    (_file(b'{"a": 1, "a": 2}'), "duplicate name"),
    (_file({"a": _tensor(4, 8)}, bytes(8)), "tensor 'a' starts at 4, expected 0"),
    (_file({"a": _tensor(0, 8), "b": _tensor(4, 8)}, bytes(8)), "'b' starts at 4, expected 8"),
    (_file({"a": _tensor(0, 8, shape=[3])}, bytes(8)), "does not fit its offsets"),
    (_file({"a": _tensor(0, 8)}, bytes(4)), "reaches past the end"),
    (_file({"a": _tensor(0, 8)}, bytes(9)), "1 bytes follow the last tensor"),
    (_file({"a": _tensor(0, 8, dtype="C64")}, bytes(8)), "unknown dtype 'C64'"),
]


@pytest.mark.parametrize(("raw", "message"), DAMAGED, ids=[m[-30:] for _, m in DAMAGED])
def test_refuses(tmp_path: Path, raw: bytes, message: str) -> None:
    path = tmp_path / "x"
    path.write_bytes(raw)
    with pytest.raises(tensorfile.TensorFileError, match=message.replace("(", "\\(")):
        tensorfile.read(str(path))


def test_a_failed_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"old")

    def full(source: str, target: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        tensorfile.write(str(path), {"a": np.zeros(4)}, {})
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == ["x"]


def test_widest_element_first() -> None:
    tensors = {"a": np.zeros(1, dtype="<f4"), "b": np.zeros(1, dtype="<f8")}
    with pytest.raises(ValueError, match="tensor 'b' would start at 4"):
        tensorfile.write(None, tensors, {})
