"""Row tests of integer arithmetic, logic, shifts, comparisons and selections."""

from rowkit import BITS, INTS, INTS32, INTS64, each, test

# ---- integers ----
each("alu", "add", ["t", "t"], "t", "add.{t} {d}, {a}, {b};", INTS)
each("alu", "sub", ["t", "t"], "t", "sub.{t} {d}, {a}, {b};", INTS)
test(
    "alu",
    "add_sat",
    ["s32", "s32"],
    ("s32", "add.sat.s32 {d}, {a}, {b};"),
    ("s32", "sub.sat.s32 {d}, {a}, {b};"),
)
each("alu", "mul_lo", ["t", "t"], "t", "mul.lo.{t} {d}, {a}, {b};", INTS)
each("alu", "mul_hi", ["t", "t"], "t", "mul.hi.{t} {d}, {a}, {b};", INTS)
for t, w in (("u16", "u32"), ("s16", "s32"), ("u32", "u64"), ("s32", "s64")):
    test("alu", f"mul_wide_{t}", [t, t], (w, f"mul.wide.{t} {{d}}, {{a}}, {{b}};"))
    test("alu", f"mad_wide_{t}", [t, t, w], (w, f"mad.wide.{t} {{d}}, {{a}}, {{b}}, {{c}};"))
each("alu", "mad_lo", ["t", "t", "t"], "t", "mad.lo.{t} {d}, {a}, {b}, {c};", INTS)
each("alu", "mad_hi", ["t", "t", "t"], "t", "mad.hi.{t} {d}, {a}, {b}, {c};", INTS)
test("alu", "mad_hi_sat", ["s32", "s32", "s32"], ("s32", "mad.hi.sat.s32 {d}, {a}, {b}, {c};"))
for t in INTS32:
    test(
        "alu",
        f"mul24_{t}",
        [t, t],
        (t, f"mul24.lo.{t} {{d}}, {{a}}, {{b}};"),
        (t, f"mul24.hi.{t} {{d}}, {{a}}, {{b}};"),
    )
    test(
        "alu",
        f"mad24_{t}",
        [t, t, t],
        (t, f"mad24.lo.{t} {{d}}, {{a}}, {{b}}, {{c}};"),
        (t, f"mad24.hi.{t} {{d}}, {{a}}, {{b}}, {{c}};"),
    )
test("alu", "mad24_hi_sat", ["s32", "s32", "s32"], ("s32", "mad24.hi.sat.s32 {d}, {a}, {b}, {c};"))
for t in ("u32", "u64"):
    test(
        "alu",
        f"carry_add_{t}",
        [t, t, t, t],
        (t, f"add.cc.{t} {{d}}, {{a}}, {{c}};"),
        (t, f"addc.cc.{t} {{d}}, {{b}}, {{e}};"),
        (t, f"addc.{t} {{d}}, 0, 0;"),
    )
    test(
        "alu",
        f"carry_sub_{t}",
        [t, t, t, t],
        (t, f"sub.cc.{t} {{d}}, {{a}}, {{c}};"),
        (t, f"subc.cc.{t} {{d}}, {{b}}, {{e}};"),
        (t, f"subc.{t} {{d}}, 0, 0;"),
    )
    test(
        "alu",
        f"carry_mad_{t}",
        [t, t, t],
        (t, f"mad.lo.cc.{t} {{d}}, {{a}}, {{b}}, {{c}};"),
        (t, f"madc.hi.cc.{t} {{d}}, {{a}}, {{b}}, {{c}};"),
        (t, f"madc.lo.{t} {{d}}, {{c}}, {{b}}, {{a}};"),
        (t, f"mad.hi.cc.{t} {{d}}, {{c}}, {{b}}, {{a}};"),
        (t, f"addc.{t} {{d}}, 0, 0;"),
    )
each("alu", "div", ["t", "t"], "t", "div.{t} {d}, {a}, {b};", INTS)
each("alu", "rem", ["t", "t"], "t", "rem.{t} {d}, {a}, {b};", INTS)
each("alu", "abs", ["t"], "t", "abs.{t} {d}, {a};", ["s16", "s32", "s64"])
each("alu", "neg", ["t"], "t", "neg.{t} {d}, {a};", ["s16", "s32", "s64"])
each("alu", "min", ["t", "t"], "t", "min.{t} {d}, {a}, {b};", INTS)
each("alu", "max", ["t", "t"], "t", "max.{t} {d}, {a}, {b};", INTS)
each("alu", "sad", ["t", "t", "t"], "t", "sad.{t} {d}, {a}, {b}, {c};", INTS)
for x in INTS32:
    for y in INTS32:
        test(
            "alu",
            f"dp4a_{x}_{y}",
            [x, y, "s32"],
            ("s32", f"dp4a.{x}.{y} {{d}}, {{a}}, {{b}}, {{c}};"),
        )
        test(
            "alu",
            f"dp2a_{x}_{y}",
            [x, y, "s32"],
            ("s32", f"dp2a.lo.{x}.{y} {{d}}, {{a}}, {{b}}, {{c}};"),
            ("s32", f"dp2a.hi.{x}.{y} {{d}}, {{a}}, {{b}}, {{c}};"),
        )
each("alu", "popc", ["t"], "u32", "popc.{t} {d}, {a};", ["b32", "b64"])
each("alu", "clz", ["t"], "u32", "clz.{t} {d}, {a};", ["b32", "b64"])
for t in INTS64:
    test(
        "alu",
        f"bfind_{t}",
        [t],
        ("u32", f"bfind.{t} {{d}}, {{a}};"),
        ("u32", f"bfind.shiftamt.{t} {{d}}, {{a}};"),
    )
test(
    "alu",
    "fns",
    ["b32", "shift", "s32"],
    ("b32", "and.b32 {b}, {b}, 31; fns.b32 {d}, {a}, {b}, {c};"),
)
test(
    "alu",
    "fns_small",
    ["b32", "shift", "shift"],
    (
        "b32",
        "and.b32 {b}, {b}, 31; and.b32 {c}, {c}, 7; sub.s32 {c}, {c}, 3; fns.b32 {d}, {a}, {b}, {c};",
    ),
)
each("alu", "brev", ["t"], "t", "brev.{t} {d}, {a};", ["b32", "b64"])
each("alu", "bfe", ["t", "shift", "shift"], "t", "bfe.{t} {d}, {a}, {b}, {c};", INTS64)
each(
    "alu",
    "bfi",
    ["t", "t", "shift", "shift"],
    "t",
    "bfi.{t} {d}, {a}, {b}, {c}, {e};",
    ["b32", "b64"],
)
test(
    "alu",
    "bmsk",
    ["shift", "shift"],
    ("b32", "bmsk.clamp.b32 {d}, {a}, {b};"),
    ("b32", "bmsk.wrap.b32 {d}, {a}, {b};"),
)
for t in INTS32:
    test(
        "alu",
        f"szext_{t}",
        [t, "shift"],
        (t, f"szext.clamp.{t} {{d}}, {{a}}, {{b}};"),
        (t, f"szext.wrap.{t} {{d}}, {{a}}, {{b}};"),
    )
for op in ("add", "min", "max"):
    for t in ("u16x2", "s16x2"):
        test("alu", f"{op}_{t}", ["b32", "b32"], ("b32", f"{op}.{t} {{d}}, {{a}}, {{b}};"))
for op in ("min", "max"):
    test(
        "alu",
        f"{op}_relu",
        ["s32", "s32"],
        ("s32", f"{op}.relu.s32 {{d}}, {{a}}, {{b}};"),
        ("s32", f"{op}.relu.s16x2 {{d}}, {{a}}, {{b}};"),
    )

# ---- logic, shifts ----
for op in ("and", "or", "xor"):
    each("logic", op, ["t", "t"], "t", op + ".{t} {d}, {a}, {b};", BITS)
each("logic", "not", ["t"], "t", "not.{t} {d}, {a};", BITS)
each("logic", "cnot", ["t"], "t", "cnot.{t} {d}, {a};", BITS)
test(
    "logic",
    "pred",
    ["pred", "pred"],
    ("pred", "and.pred {d}, {a}, {b};"),
    ("pred", "or.pred {d}, {a}, {b};"),
    ("pred", "xor.pred {d}, {a}, {b};"),
    ("pred", "not.pred {d}, {a};"),
    ("pred", "mov.pred {d}, {b};"),
    ("pred", "and.pred {d}, {a}, !{b};"),
)
test(
    "logic",
    "lop3",
    ["b32", "b32", "b32"],
    *[
        ("b32", f"lop3.b32 {{d}}, {{a}}, {{b}}, {{c}}, {i};")
        for i in (0x1B, 0x80, 0x96, 0xE8, 0xCA, 0xFE, 0x00, 0xFF)
    ],
)
each("logic", "shl", ["t", "shift"], "t", "shl.{t} {d}, {a}, {b};", BITS)
each("logic", "shr", ["t", "shift"], "t", "shr.{t} {d}, {a}, {b};", BITS + INTS)
test(
    "logic",
    "shf",
    ["b32", "b32", "shift"],
    *[
        ("b32", f"shf.{d}.{m}.b32 {{d}}, {{a}}, {{b}}, {{c}};")
        for d in "lr"
        for m in ("wrap", "clamp")
    ],
)
test(
    "logic",
    "prmt",
    ["b32", "b32", "b32"],
    *[
        ("b32", f"prmt.b32{m} {{d}}, {{a}}, {{b}}, {{c}};")
        for m in ("", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16")
    ],
)

# ---- comparisons and selection ----
CMPS = ("eq", "ne", "lt", "le", "gt", "ge")
for t in INTS:
    test(
        "compare",
        f"setp_{t}",
        [t, t],
        *[("pred", f"setp.{c}.{t} {{d}}, {{a}}, {{b}};") for c in CMPS],
    )
for t in ("u16", "u32", "u64"):
    test(
        "compare",
        f"setp_unsigned_names_{t}",
        [t, t],
        *[("pred", f"setp.{c}.{t} {{d}}, {{a}}, {{b}};") for c in ("lo", "ls", "hi", "hs")],
    )
for t in BITS:
    test(
        "compare",
        f"setp_{t}",
        [t, t],
        *[("pred", f"setp.{c}.{t} {{d}}, {{a}}, {{b}};") for c in ("eq", "ne")],
    )
CMPF = CMPS + ("equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan")
for t in ("f32", "f64", "f16", "bf16"):
    test(
        "compare",
        f"setp_{t}_ordered",
        [t, t],
        *[("pred", f"setp.{c}.{t} {{d}}, {{a}}, {{b}};") for c in CMPF[:7]],
    )
    test(
        "compare",
        f"setp_{t}_unordered",
        [t, t],
        *[("pred", f"setp.{c}.{t} {{d}}, {{a}}, {{b}};") for c in CMPF[7:]],
    )
test(
    "compare",
    "setp_ftz",
    ["f32", "f32"],
    *[("pred", f"setp.{c}.ftz.f32 {{d}}, {{a}}, {{b}};") for c in ("eq", "lt", "gtu")],
)
test(
    "compare",
    "setp_bool",
    ["s32", "s32", "pred"],
    *[("pred", f"setp.lt.{o}.s32 {{d}}, {{a}}, {{b}}, {{c}};") for o in ("and", "or", "xor")],
    ("pred", "setp.lt.and.s32 {d}, {a}, {b}, !{c};"),
    ("pred", "{{ .reg .pred t; setp.ge.or.s32 t|{d}, {a}, {b}, {c}; }}"),
)
test(
    "compare",
    "setp_bool_f32",
    ["f32", "f32", "pred"],
    *[("pred", f"setp.ltu.{o}.f32 {{d}}, {{a}}, {{b}}, {{c}};") for o in ("and", "or", "xor")],
    ("pred", "{{ .reg .pred t; setp.gt.f32 t|{d}, {a}, {b}; }}"),
)
for t in ("f16x2", "bf16x2"):
    test(
        "compare",
        f"setp_{t}",
        ["b32", "b32"],
        ("pred", f"{{{{ .reg .pred t; setp.lt.{t} {{d}}|t, {{a}}, {{b}}; }}}}"),
        ("pred", f"{{{{ .reg .pred t; setp.neu.{t} t|{{d}}, {{a}}, {{b}}; }}}}"),
    )
for s in ("s32", "u32", "f32", "f64", "s64", "u16"):
    test(
        "compare",
        f"set_{s}",
        [s, s],
        ("u32", f"set.lt.u32.{s} {{d}}, {{a}}, {{b}};"),
        ("f32", f"set.ge.f32.{s} {{d}}, {{a}}, {{b}};"),
    )
test(
    "compare",
    "set_bool",
    ["s32", "s32", "pred"],
    ("u32", "set.lt.and.u32.s32 {d}, {a}, {b}, {c};"),
    ("f32", "set.eq.xor.f32.s32 {d}, {a}, {b}, {c};"),
)
test(
    "compare",
    "set_f16",
    ["f16", "f16"],
    ("f16", "set.lt.f16.f16 {d}, {a}, {b};"),
    ("f16", "set.geu.f16.f16 {d}, {a}, {b};"),
    ("u32", "set.ne.u32.f16 {d}, {a}, {b};"),
)
test(
    "compare",
    "set_f16x2",
    ["b32", "b32"],
    ("b32", "set.le.f16x2.f16x2 {d}, {a}, {b};"),
    ("b32", "set.eq.u32.f16x2 {d}, {a}, {b};"),
)
each(
    "compare",
    "selp",
    ["t", "t", "pred"],
    "t",
    "selp.{t} {d}, {a}, {b}, {c};",
    ["b16", "b32", "b64", "f32", "f64"],
)
each(
    "compare",
    "slct",
    ["t", "t", "s32"],
    "t",
    "slct.{t}.s32 {d}, {a}, {b}, {c};",
    ["u16", "b32", "b64", "f32", "f64"],
)
test(
    "compare",
    "slct_f32",
    ["b32", "b32", "f32"],
    ("b32", "slct.b32.f32 {d}, {a}, {b}, {c};"),
    ("b32", "slct.ftz.b32.f32 {d}, {a}, {b}, {c};"),
)
