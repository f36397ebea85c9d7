"""Row tests of conversions and moves between registers."""

from rowkit import test
from rows_float import ROUNDS


# ---- conversions ----
def fits(d, s):
    """All values of type s are values of type d: .sat would be pointless and is refused by the assembler."""
    return int(d[1:]) > int(s[1:]) and (s[0] == "u" or d[0] == "s")


CVT_INTS = ["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"]
for s in CVT_INTS:
    test("cvt", f"int_{s}", [s], *[(d, f"cvt.{d}.{s} {{d}}, {{a}};") for d in CVT_INTS if d != s])
    test(
        "cvt",
        f"int_sat_{s}",
        [s],
        *[(d, f"cvt.sat.{d}.{s} {{d}}, {{a}};") for d in CVT_INTS if d != s and not fits(d, s)],
    )
for f in ("f32", "f64"):
    for r in ("rni", "rzi", "rmi", "rpi"):
        test(
            "cvt",
            f"{f}_to_int_{r}",
            [f],
            *[(d, f"cvt.{r}.{d}.{f} {{d}}, {{a}};") for d in CVT_INTS],
        )
    for s in CVT_INTS:
        test("cvt", f"{s}_to_{f}", [s], *[(f, f"cvt.{r}.{f}.{s} {{d}}, {{a}};") for r in ROUNDS])
test(
    "cvt",
    "f16_to_int",
    ["f16"],
    *[
        (d, f"cvt.{r}.{d}.f16 {{d}}, {{a}};")
        for r in ("rni", "rzi")
        for d in ("s8", "u16", "s32", "u32", "s64")
    ],
)
for s in ("s8", "u16", "s32", "u32", "s64", "u64"):
    test(
        "cvt",
        f"{s}_to_f16",
        [s],
        ("f16", f"cvt.rn.f16.{s} {{d}}, {{a}};"),
        ("f16", f"cvt.rz.f16.{s} {{d}}, {{a}};"),
    )
    if s != "s8":
        test("cvt", f"{s}_to_bf16", [s], ("bf16", f"cvt.rn.bf16.{s} {{d}}, {{a}};"))
test(
    "cvt",
    "f32_f64",
    ["f32"],
    ("f64", "cvt.f64.f32 {d}, {a};"),
    ("f64", "cvt.ftz.f64.f32 {d}, {a};"),
)
test(
    "cvt",
    "f64_f32",
    ["f64"],
    *[("f32", f"cvt.{r}.f32.f64 {{d}}, {{a}};") for r in ROUNDS],
    ("f32", "cvt.rn.ftz.f32.f64 {d}, {a};"),
    ("f32", "cvt.rn.sat.f32.f64 {d}, {a};"),
)
test("cvt", "f16_f32", ["f16"], ("f32", "cvt.f32.f16 {d}, {a};"), ("f64", "cvt.f64.f16 {d}, {a};"))
test(
    "cvt",
    "f32_f16",
    ["f32"],
    *[("f16", f"cvt.{r}.f16.f32 {{d}}, {{a}};") for r in ("rn", "rz")],
    ("f16", "cvt.rn.relu.f16.f32 {d}, {a};"),
    ("f16", "cvt.rn.sat.f16.f32 {d}, {a};"),
)
test("cvt", "bf16_f32", ["bf16"], ("f32", "cvt.f32.bf16 {d}, {a};"))
test(
    "cvt",
    "f32_bf16",
    ["f32"],
    ("bf16", "cvt.rn.bf16.f32 {d}, {a};"),
    ("bf16", "cvt.rz.bf16.f32 {d}, {a};"),
    ("bf16", "cvt.rn.relu.bf16.f32 {d}, {a};"),
)
for t in ("f16x2", "bf16x2"):
    test(
        "cvt",
        f"f32_{t}",
        ["f32", "f32"],
        *[("b32", f"cvt.{r}.{t}.f32 {{d}}, {{a}}, {{b}};") for r in ("rn", "rz", "rn.relu")],
    )
test(
    "cvt",
    "tf32",
    ["f32"],
    ("b32", "cvt.rna.tf32.f32 {d}, {a};"),
    ("b32", "cvt.rn.tf32.f32 {d}, {a};"),
    ("b32", "cvt.rz.relu.tf32.f32 {d}, {a};"),
)
for t in ("f32", "f64"):
    test(
        "cvt",
        f"integral_{t}",
        [t],
        *[(t, f"cvt.{r}.{t}.{t} {{d}}, {{a}};") for r in ("rni", "rzi", "rmi", "rpi")],
    )
test(
    "cvt",
    "f32_f32",
    ["f32"],
    ("f32", "cvt.sat.f32.f32 {d}, {a};"),
    ("f32", "cvt.ftz.f32.f32 {d}, {a};"),
    ("f32", "cvt.rni.ftz.f32.f32 {d}, {a};"),
    ("f32", "cvt.rzi.sat.f32.f32 {d}, {a};"),
)
test(
    "cvt",
    "integral_f16",
    ["f16"],
    *[("f16", f"cvt.{r}.f16.f16 {{d}}, {{a}};") for r in ("rni", "rzi", "rmi", "rpi")],
)
test(
    "cvt",
    "pack",
    ["s32", "s32"],
    ("b32", "cvt.pack.sat.u16.s32 {d}, {a}, {b};"),
    ("b32", "cvt.pack.sat.s16.s32 {d}, {a}, {b};"),
)
test(
    "cvt",
    "pack_bytes",
    ["s32", "s32", "b32"],
    ("b32", "cvt.pack.sat.u8.s32.b32 {d}, {a}, {b}, {c};"),
    ("b32", "cvt.pack.sat.s8.s32.b32 {d}, {a}, {b}, {c};"),
)
for t in ("e4m3x2", "e5m2x2"):
    test(
        "cvt",
        f"to_{t}",
        ["f32", "f32"],
        ("b16", f"cvt.rn.satfinite.{t}.f32 {{d}}, {{a}}, {{b}};"),
        ("b16", f"cvt.rn.satfinite.relu.{t}.f32 {{d}}, {{a}}, {{b}};"),
    )
    test(
        "cvt",
        f"from_{t}",
        ["b16"],
        ("b32", f"cvt.rn.f16x2.{t} {{d}}, {{a}};"),
        ("b32", f"cvt.rn.relu.f16x2.{t} {{d}}, {{a}};"),
    )
    test("cvt", f"f16x2_to_{t}", ["b32"], ("b16", f"cvt.rn.satfinite.{t}.f16x2 {{d}}, {{a}};"))

test(
    "cvt",
    "f64_halves",
    ["f64"],
    ("f16", "cvt.rn.f16.f64 {d}, {a};"),
    ("bf16", "cvt.rn.bf16.f64 {d}, {a};"),
    ("f16", "cvt.rz.f16.f64 {d}, {a};"),
)
test(
    "cvt",
    "bf16_other",
    ["bf16"],
    ("f64", "cvt.f64.bf16 {d}, {a};"),
    ("f16", "cvt.rn.f16.bf16 {d}, {a};"),
    ("bf16", "cvt.rni.bf16.bf16 {d}, {a};"),
    ("bf16", "cvt.rzi.bf16.bf16 {d}, {a};"),
)
test(
    "cvt",
    "bf16_to_int",
    ["bf16"],
    *[
        (d, f"cvt.{r}.{d}.bf16 {{d}}, {{a}};")
        for r in ("rni", "rzi")
        for d in ("s16", "u16", "s32", "u32", "s64")
    ],
)
test(
    "cvt",
    "f16_other",
    ["f16"],
    ("bf16", "cvt.rn.bf16.f16 {d}, {a};"),
    ("f32", "cvt.ftz.f32.f16 {d}, {a};"),
    ("f16", "cvt.sat.f16.f16 {d}, {a};"),
    ("f32", "cvt.sat.f32.f16 {d}, {a};"),
)
test(
    "cvt",
    "f64_to_int_sat",
    ["f64"],
    ("s32", "cvt.rzi.sat.s32.f64 {d}, {a};"),
    ("u8", "cvt.rmi.sat.u8.f64 {d}, {a};"),
)
test(
    "cvt",
    "int_to_f_sat",
    ["s32"],
    ("f32", "cvt.rn.sat.f32.u32 {d}, {a};"),
    ("f16", "cvt.rn.sat.f16.s32 {d}, {a};"),
)
test(
    "cvt",
    "f32_to_int_ftz",
    ["f32"],
    *[
        (d, f"cvt.{r}.ftz.{d}.f32 {{d}}, {{a}};")
        for r in ("rmi", "rpi")
        for d in ("s32", "u32", "s64", "u8")
    ],
    ("s32", "cvt.rzi.sat.s32.f32 {d}, {a};"),
)
test(
    "cvt",
    "pack_nibbles",
    ["s32", "s32", "b32"],
    ("b32", "cvt.pack.sat.u4.s32.b32 {d}, {a}, {b}, {c};"),
    ("b32", "cvt.pack.sat.s4.s32.b32 {d}, {a}, {b}, {c};"),
)

# ---- moves ----
test("move", "pack", ["b16", "b16"], ("b32", "mov.b32 {d}, {{{a}, {b}}};"))
test("move", "pack64", ["b32", "b32"], ("b64", "mov.b64 {d}, {{{a}, {b}}};"))
test(
    "move",
    "unpack",
    ["b32"],
    ("b16", "{{ .reg .b16 t; mov.b32 {{{d}, t}}, {a}; }}"),
    ("b16", "{{ .reg .b16 t; mov.b32 {{t, {d}}}, {a}; }}"),
)
test(
    "move",
    "unpack64",
    ["b64"],
    ("b32", "{{ .reg .b32 t; mov.b64 {{{d}, t}}, {a}; }}"),
    ("b16", "{{ .reg .b16 t, u, v; mov.b64 {{t, u, {d}, v}}, {a}; }}"),
)
