"""Writes the golden files of this folder with the reference library: pip install safetensors==0.8.0 numpy."""

import ctypes
import json
import struct
from pathlib import Path

from safetensors import SafetensorError, TensorSpec, deserialize, serialize

HERE = Path(__file__).parent

# dtype as Python names it, as the header names it, bits of one element
DTYPES = [
    ("bool", "BOOL", 8),
    ("float4_e2m1fn_x2", "F4", 4),
    ("uint8", "U8", 8),
    ("int8", "I8", 8),
    ("float8_e5m2", "F8_E5M2", 8),
    ("float8_e4m3fn", "F8_E4M3", 8),
    ("float8_e8m0fnu", "F8_E8M0", 8),
    ("float8_e4m3fnuz", "F8_E4M3FNUZ", 8),
    ("float8_e5m2fnuz", "F8_E5M2FNUZ", 8),
    ("int16", "I16", 16),
    ("uint16", "U16", 16),
    ("float16", "F16", 16),
    ("bfloat16", "BF16", 16),
    ("int32", "I32", 32),
    ("uint32", "U32", 32),
    ("float32", "F32", 32),
    ("complex64", "C64", 64),
    ("float64", "F64", 64),
    ("int64", "I64", 64),
    ("uint64", "U64", 64),
]

keep = []


def spec(dtype, shape, data):
    buffer = ctypes.create_string_buffer(data, max(len(data), 1))
    keep.append(buffer)
    return TensorSpec(dtype=dtype, shape=shape, data_ptr=ctypes.addressof(buffer), data_len=len(data))


def all_dtypes():
    tensors = {}
    for index, (python, name, bits) in enumerate(DTYPES):
        data = bytes((index * 37 + i * 11) % 256 for i in range(8 * bits // 8))
        # For F4 the library takes the storage shape and doubles it.
        tensors[f"x.{name}"] = spec(python, [2, 2] if name == "F4" else [2, 4], data)
    tensors["scalar"] = spec("float32", [], struct.pack("<f", 1.5))
    tensors["empty"] = spec("float32", [0, 3], b"")
    return serialize(tensors, metadata={"format": "pt"})


def awkward_names():
    names = ["__proto__", "constructor", "", "7", "10", "b", "a", "é", "日本", "\U0001f600", "\uffee", 'q"\\\n\x01\x7f\u2028/']
    tensors = {name: spec("uint8", [1], bytes([i])) for i, name in enumerate(names)}
    return serialize(tensors, metadata={'k"\n': "é\u2028"})


def file(header, data=b""):
    text = header if isinstance(header, bytes) else header.encode()
    return struct.pack("<Q", len(text)) + text + data


def entry(dtype="U8", shape="[1]", offsets="[0,1]", extra=""):
    return f'{{"dtype":"{dtype}","shape":{shape},"data_offsets":{offsets}{extra}}}'


def verdicts():
    one = entry()
    headers = {
        "no tensors": ("{}", 0),
        "padding": ("{}  ", 0),
        "white space between": ('{ "a" :\t' + one + "\r\n}", 1),
        "leading space": (" {}", 0),
        "a byte after the header's object": ("{}x", 0),
        "empty header": ("", 0),
        "array": ("[]", 0),
        "null": ("null", 0),
        "truncated": ('{"a":', 0),
        "trailing comma": ('{"a":' + one + ",}", 1),
        "escaped name": ('{"\\u0061\\n":' + one + "}", 1),
        "unknown escape": ('{"\\x":' + one + "}", 1),
        "lone surrogate": ('{"\\ud800":' + one + "}", 1),
        "control character": ('{"\x01":' + one + "}", 1),
        "duplicate tensor": ('{"a":' + one + ',"a":' + one + "}", 1),
        "duplicate tensor by escape": ('{"a":' + one + ',"\\u0061":' + one + "}", 1),
        "duplicate member": ('{"a":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}}', 1),
        "duplicate metadata": ('{"__metadata__":{"a":"b","a":"c"}}', 0),
        "two metadata": ('{"__metadata__":{},"__metadata__":{}}', 0),
        "metadata": ('{"__metadata__":{"a":"b"}}', 0),
        "metadata null": ('{"__metadata__":null}', 0),
        "metadata number": ('{"__metadata__":{"a":1}}', 0),
        "metadata array": ('{"__metadata__":[]}', 0),
        "unknown member": ('{"a":' + entry(extra=',"x":1') + "}", 1),
        "no dtype": ('{"a":{"shape":[1],"data_offsets":[0,1]}}', 1),
        "no shape": ('{"a":{"dtype":"U8","data_offsets":[0,1]}}', 1),
        "no offsets": ('{"a":{"dtype":"U8","shape":[1]}}', 1),
        "entry null": ('{"a":null}', 0),
        "entry as a sequence": ('{"a":["U8",[1],[0,1]]}', 1),
        "dtype number": ('{"a":{"dtype":1,"shape":[1],"data_offsets":[0,1]}}', 1),
        "dtype unknown": ('{"a":' + entry(dtype="C128") + "}", 1),
        "dtype lower case": ('{"a":' + entry(dtype="u8") + "}", 1),
        "shape null": ('{"a":' + entry(shape="null") + "}", 1),
        "shape of strings": ('{"a":' + entry(shape='["1"]') + "}", 1),
        "shape negative": ('{"a":' + entry(shape="[-1]") + "}", 1),
        "shape 1.0": ('{"a":' + entry(shape="[1.0]") + "}", 1),
        "shape 1e0": ('{"a":' + entry(shape="[1e0]") + "}", 1),
        "shape -0": ('{"a":' + entry(shape="[-0]", offsets="[0,0]") + "}", 0),
        "shape 01": ('{"a":' + entry(shape="[01]") + "}", 1),
        "shape 2^64": ('{"a":' + entry(shape="[18446744073709551616]") + "}", 1),
        "shape overflows": ('{"a":' + entry(shape="[4294967296,4294967296,4294967296]") + "}", 1),
        "offsets three": ('{"a":' + entry(offsets="[0,1,1]") + "}", 1),
        "offsets one": ('{"a":' + entry(offsets="[0]") + "}", 1),
        "offsets negative": ('{"a":' + entry(offsets="[-1,0]") + "}", 1),
        "offsets reversed": ('{"a":' + entry(shape="[0]", offsets="[1,0]") + "}", 1),
        "offsets fractional": ('{"a":' + entry(offsets="[0,1.5]") + "}", 1),
        "size mismatch": ('{"a":' + entry(shape="[2]") + "}", 1),
        "hole before": ('{"a":' + entry(offsets="[1,2]") + "}", 2),
        "hole between": ('{"a":' + one + ',"b":' + entry(offsets="[2,3]") + "}", 3),
        "overlap": ('{"a":' + one + ',"b":' + one + "}", 1),
        "past the end": ('{"a":' + one + ',"b":' + entry(offsets="[1,2]") + "}", 1),
        "trailing bytes": ('{"a":' + one + "}", 2),
        "empty tensor inside another": (
            '{"a":' + entry(shape="[2]", offsets="[0,2]") + ',"b":' + entry(shape="[0]", offsets="[1,1]") + "}",
            2,
        ),
        "empty tensor at a border": (
            '{"a":' + one + ',"b":' + entry(shape="[0]", offsets="[1,1]") + ',"c":' + entry(offsets="[1,2]") + "}",
            2,
        ),
        "listed out of order": ('{"b":' + entry(offsets="[1,2]") + ',"a":' + one + "}", 2),
        "F4 odd": ('{"a":' + entry(dtype="F4", shape="[3]", offsets="[0,2]") + "}", 2),
        "F4 even": ('{"a":' + entry(dtype="F4", shape="[4]", offsets="[0,2]") + "}", 2),
        "F6 whole bytes": ('{"a":' + entry(dtype="F6_E2M3", shape="[4]", offsets="[0,3]") + "}", 3),
        "F6 broken bytes": ('{"a":' + entry(dtype="F6_E3M2", shape="[3]", offsets="[0,3]") + "}", 3),
        "name __proto__": ('{"__proto__":' + one + "}", 1),
        "empty name": ('{"":' + one + "}", 1),
    }
    cases = []
    for name, (header, data) in headers.items():
        try:
            deserialize(file(header, bytes(data)))
            reference = "loads"
        except SafetensorError as error:
            reference = str(error)
        cases.append({"name": name, "header": header, "data": data, "reference": reference})
    return cases


(HERE / "all-dtypes.safetensors").write_bytes(all_dtypes())
(HERE / "awkward-names.safetensors").write_bytes(awkward_names())
(HERE / "verdicts.json").write_text(json.dumps(verdicts(), indent=2) + "\n")
