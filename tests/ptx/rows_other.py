"""Row tests of the types and spellings that the other tables leave out."""

from rowkit import BITS, HALVES, INTS, test
from rows_float import BOUND_HALF

# ---- spellings and types that the groups above leave out ----
for t in ("f32", "f64"):
    test(
        "float",
        f"mad_{t}",
        [t, t, t],
        *[(t, f"mad.{r}.{t} {{d}}, {{a}}, {{b}}, {{c}};") for r in ("rn", "rz")],
    )
test(
    "float",
    "unmarked_f64",
    ["f64", "f64"],
    *[("f64", f"{op}.f64 {{d}}, {{a}}, {{b}};") for op in ("add", "sub", "mul")],
)
test(
    "float",
    "directed_ftz",
    ["f32", "f32"],
    *[
        ("f32", f"{op}.{r}.ftz.f32 {{d}}, {{a}}, {{b}};")
        for op in ("add", "mul", "div")
        for r in ("rz", "rm", "rp")
    ],
)
for t in ("s32", "s64"):
    test(
        "alu",
        f"carry_{t}",
        [t, t, t],
        (t, f"add.cc.{t} {{d}}, {{a}}, {{b}};"),
        (t, f"addc.cc.{t} {{d}}, {{b}}, {{c}};"),
        (t, f"addc.{t} {{d}}, {{a}}, {{c}};"),
        (t, f"sub.cc.{t} {{d}}, {{a}}, {{b}};"),
        (t, f"subc.cc.{t} {{d}}, {{b}}, {{c}};"),
        (t, f"subc.{t} {{d}}, {{a}}, {{c}};"),
        (t, f"mad.lo.cc.{t} {{d}}, {{a}}, {{b}}, {{c}};"),
        (t, f"madc.hi.cc.{t} {{d}}, {{a}}, {{b}}, {{c}};"),
        (t, f"madc.lo.cc.{t} {{d}}, {{b}}, {{c}}, {{a}};"),
        (t, f"mad.hi.cc.{t} {{d}}, {{b}}, {{c}}, {{a}};"),
        (t, f"madc.hi.{t} {{d}}, {{a}}, {{b}}, {{c}};"),
    )
for t in BITS:
    test(
        "compare",
        f"setp_bool_{t}",
        [t, t, "pred"],
        ("pred", f"setp.eq.and.{t} {{d}}, {{a}}, {{b}}, {{c}};"),
        ("pred", f"setp.ne.xor.{t} {{d}}, {{a}}, {{b}}, !{{c}};"),
    )
for t in ("u16", "s16", "u32", "u64", "s64"):
    test(
        "compare",
        f"setp_bool_{t}",
        [t, t, "pred"],
        *[
            ("pred", f"setp.{c}.{o}.{t} {{d}}, {{a}}, {{b}}, {{c}};")
            for c, o in (("lt", "and"), ("ge", "or"), ("le", "xor"))
        ],
    )
test(
    "compare",
    "setp_bool_f64",
    ["f64", "f64", "pred"],
    *[
        ("pred", f"setp.{c}.{o}.f64 {{d}}, {{a}}, {{b}}, {{c}};")
        for c, o in (("lt", "and"), ("geu", "or"), ("num", "xor"))
    ],
)
for t in HALVES:
    test(
        "compare",
        f"setp_bool_{t}",
        [t, t, "pred"],
        *[
            ("pred", f"setp.{c}.{o}.{t} {{d}}, {{a}}, {{b}}, {{c}};")
            for c, o in (("lt", "and"), ("geu", "or"), ("nan", "xor"))
        ],
    )
    test(
        "compare",
        f"setp_bool_{t}x2",
        ["b32", "b32", "pred"],
        ("pred", f"{{{{ .reg .pred t; setp.lt.and.{t}x2 {{d}}|t, {{a}}, {{b}}, {{c}}; }}}}"),
        ("pred", f"{{{{ .reg .pred t; setp.neu.or.{t}x2 t|{{d}}, {{a}}, {{b}}, !{{c}}; }}}}"),
    )
    test(
        "compare",
        f"set_types_{t}",
        [t, t, "pred"],
        (t, f"set.lt.{t}.{t} {{d}}, {{a}}, {{b}};"),
        ("u16", f"set.geu.u16.{t} {{d}}, {{a}}, {{b}};"),
        ("s16", f"set.eq.s16.{t} {{d}}, {{a}}, {{b}};"),
        ("u32", f"set.le.u32.{t} {{d}}, {{a}}, {{b}};"),
        ("s32", f"set.nan.s32.{t} {{d}}, {{a}}, {{b}};"),
        (t, f"set.gt.and.{t}.{t} {{d}}, {{a}}, {{b}}, {{c}};"),
        ("u32", f"set.ltu.xor.u32.{t} {{d}}, {{a}}, {{b}}, !{{c}};"),
        (t, f"set.eq.{t}.{t} {{d}}, {{a}}, {{b}};"),
    )
    test(
        "compare",
        f"set_types_{t}x2",
        ["b32", "b32", "pred"],
        ("b32", f"set.lt.{t}x2.{t}x2 {{d}}, {{a}}, {{b}};"),
        ("u32", f"set.geu.u32.{t}x2 {{d}}, {{a}}, {{b}};"),
        ("s32", f"set.eq.s32.{t}x2 {{d}}, {{a}}, {{b}};"),
        ("b32", f"set.gt.or.{t}x2.{t}x2 {{d}}, {{a}}, {{b}}, {{c}};"),
    )
for t in BITS + INTS + ["f32", "f64"]:
    cmp = "eq" if t in BITS else "le"
    test(
        "compare",
        f"set_types_{t}",
        [t, t, "pred"],
        ("u32", f"set.{cmp}.u32.{t} {{d}}, {{a}}, {{b}};"),
        ("s32", f"set.ne.s32.{t} {{d}}, {{a}}, {{b}};"),
        ("f32", f"set.{cmp}.f32.{t} {{d}}, {{a}}, {{b}};"),
        ("s32", f"set.{cmp}.and.s32.{t} {{d}}, {{a}}, {{b}}, {{c}};"),
        ("f32", f"set.ne.or.f32.{t} {{d}}, {{a}}, {{b}}, !{{c}};"),
    )
test(
    "compare",
    "selp_ints",
    ["u16", "s16", "u32", "s32", "u64", "s64", "pred"],
    ("u16", "selp.u16 {d}, {a}, {b}, {i};"),
    ("s16", "selp.s16 {d}, {b}, {a}, {i};"),
    ("u32", "selp.u32 {d}, {c}, {e}, {i};"),
    ("s32", "selp.s32 {d}, {e}, {c}, !{i};"),
    ("u64", "selp.u64 {d}, {g}, {h}, {i};"),
    ("s64", "selp.s64 {d}, {h}, {g}, {i};"),
)
for t in ("b16", "s16", "u32", "s32", "u64", "s64"):
    test(
        "compare",
        f"slct_{t}",
        [t, t, "s32", "f32"],
        (t, f"slct.{t}.s32 {{d}}, {{a}}, {{b}}, {{c}};"),
        (t, f"slct.{t}.f32 {{d}}, {{a}}, {{b}}, {{e}};"),
    )
test(
    "compare",
    "slct_f_f32",
    ["f32", "f32", "f64", "f64", "f32"],
    ("f32", "slct.ftz.f32.f32 {d}, {a}, {b}, {g};"),
    ("f64", "slct.f64.f32 {d}, {c}, {e}, {g};"),
)
for t in HALVES:
    ftz = ".ftz" if t == "bf16" else ""
    test(
        "approx",
        f"packed_{t}",
        [t, t],
        *[
            (
                t,
                f"{{{{ .reg .b32 pair; .reg .b16 other; mov.b32 pair, {{{{{{a}}, {{b}}}}}}; {op}.{t}x2 pair, pair; mov.b32 {{{{{v}}}}}, pair; }}}}",
            )
            for op in (f"ex2.approx{ftz}", "tanh.approx")
            for v in ("{d}, other", "other, {d}")
        ],
        bound=BOUND_HALF[t],
    )
