#!/usr/bin/env python3
"""Writes the row tests of tests/ptx: one .ptx per instruction form, operands read from memory so that nothing folds.

Each kernel runs one thread per row: it loads the operands, executes the form (one line per result) and stores the results. The operands come
from vgpu/tool/ptxtest.c; what a GPU answers is kept in the .gold file beside the .ptx (tests/ptx/record.c). Run it after a change of the table
below; the files are committed.
"""
import os

HERE = os.path.dirname(os.path.abspath(__file__))

# type of an operand -> (register class, register type, how to load and store it)
REGS = {
    "s8": ("h", "b16", "s8"), "u8": ("h", "b16", "u8"), "b16": ("h", "b16", "b16"), "s16": ("h", "b16", "b16"), "u16": ("h", "b16", "b16"),
    "f16": ("h", "b16", "b16"), "bf16": ("h", "b16", "b16"), "b32": ("w", "b32", "b32"), "s32": ("w", "b32", "b32"), "u32": ("w", "b32", "b32"),
    "shift": ("w", "b32", "b32"), "f32": ("f", "f32", "f32"), "unit": ("f", "f32", "f32"), "b64": ("q", "b64", "b64"), "s64": ("q", "b64", "b64"),
    "u64": ("q", "b64", "b64"), "f64": ("e", "f64", "f64"), "pred": ("p", "pred", None),
}
SIZE = {"s8": 1, "u8": 1, "b16": 2, "s16": 2, "u16": 2, "f16": 2, "bf16": 2, "b64": 8, "s64": 8, "u64": 8, "f64": 8}

TESTS = []


def test(area, name, inputs, *results, bound=None):
    """Adds a file: inputs are types; each result is (type, code) where {d} is the result and {a} {b} {c} {e} are the inputs."""
    TESTS.append((area, name, inputs, results, bound))


def each(area, name, inputs, result, code, types, bound=None):
    """The same code for several types {t}; 't' among the inputs or as result means that type."""
    for t in types:
        test(area, f"{name}_{t}", [t if i == "t" else i for i in inputs], *[(t if r == "t" else r, c.replace("{t}", t)) for r, c in
             zip([result] if isinstance(result, str) else result, [code] if isinstance(code, str) else code)], bound=bound)


INTS = ["u16", "s16", "u32", "s32", "u64", "s64"]
INTS32 = ["u32", "s32"]
INTS64 = ["u32", "s32", "u64", "s64"]
BITS = ["b16", "b32", "b64"]
HALVES = ["f16", "bf16"]

# ---- integers ----
each("alu", "add", ["t", "t"], "t", "add.{t} {d}, {a}, {b};", INTS)
each("alu", "sub", ["t", "t"], "t", "sub.{t} {d}, {a}, {b};", INTS)
test("alu", "add_sat", ["s32", "s32"], ("s32", "add.sat.s32 {d}, {a}, {b};"), ("s32", "sub.sat.s32 {d}, {a}, {b};"))
each("alu", "mul_lo", ["t", "t"], "t", "mul.lo.{t} {d}, {a}, {b};", INTS)
each("alu", "mul_hi", ["t", "t"], "t", "mul.hi.{t} {d}, {a}, {b};", INTS)
for t, w in (("u16", "u32"), ("s16", "s32"), ("u32", "u64"), ("s32", "s64")):
    test("alu", f"mul_wide_{t}", [t, t], (w, f"mul.wide.{t} {{d}}, {{a}}, {{b}};"))
    test("alu", f"mad_wide_{t}", [t, t, w], (w, f"mad.wide.{t} {{d}}, {{a}}, {{b}}, {{c}};"))
each("alu", "mad_lo", ["t", "t", "t"], "t", "mad.lo.{t} {d}, {a}, {b}, {c};", INTS)
each("alu", "mad_hi", ["t", "t", "t"], "t", "mad.hi.{t} {d}, {a}, {b}, {c};", INTS)
test("alu", "mad_hi_sat", ["s32", "s32", "s32"], ("s32", "mad.hi.sat.s32 {d}, {a}, {b}, {c};"))
for t in INTS32:
    test("alu", f"mul24_{t}", [t, t], (t, f"mul24.lo.{t} {{d}}, {{a}}, {{b}};"), (t, f"mul24.hi.{t} {{d}}, {{a}}, {{b}};"))
    test("alu", f"mad24_{t}", [t, t, t], (t, f"mad24.lo.{t} {{d}}, {{a}}, {{b}}, {{c}};"), (t, f"mad24.hi.{t} {{d}}, {{a}}, {{b}}, {{c}};"))
test("alu", "mad24_hi_sat", ["s32", "s32", "s32"], ("s32", "mad24.hi.sat.s32 {d}, {a}, {b}, {c};"))
for t in ("u32", "u64"):
    test("alu", f"carry_add_{t}", [t, t, t, t], (t, f"add.cc.{t} {{d}}, {{a}}, {{c}};"), (t, f"addc.cc.{t} {{d}}, {{b}}, {{e}};"),
         (t, f"addc.{t} {{d}}, 0, 0;"))
    test("alu", f"carry_sub_{t}", [t, t, t, t], (t, f"sub.cc.{t} {{d}}, {{a}}, {{c}};"), (t, f"subc.cc.{t} {{d}}, {{b}}, {{e}};"),
         (t, f"subc.{t} {{d}}, 0, 0;"))
    test("alu", f"carry_mad_{t}", [t, t, t], (t, f"mad.lo.cc.{t} {{d}}, {{a}}, {{b}}, {{c}};"), (t, f"madc.hi.cc.{t} {{d}}, {{a}}, {{b}}, {{c}};"),
         (t, f"madc.lo.{t} {{d}}, {{c}}, {{b}}, {{a}};"), (t, f"mad.hi.cc.{t} {{d}}, {{c}}, {{b}}, {{a}};"), (t, f"addc.{t} {{d}}, 0, 0;"))
each("alu", "div", ["t", "t"], "t", "div.{t} {d}, {a}, {b};", INTS)
each("alu", "rem", ["t", "t"], "t", "rem.{t} {d}, {a}, {b};", INTS)
each("alu", "abs", ["t"], "t", "abs.{t} {d}, {a};", ["s16", "s32", "s64"])
each("alu", "neg", ["t"], "t", "neg.{t} {d}, {a};", ["s16", "s32", "s64"])
each("alu", "min", ["t", "t"], "t", "min.{t} {d}, {a}, {b};", INTS)
each("alu", "max", ["t", "t"], "t", "max.{t} {d}, {a}, {b};", INTS)
each("alu", "sad", ["t", "t", "t"], "t", "sad.{t} {d}, {a}, {b}, {c};", INTS)
for x in INTS32:
    for y in INTS32:
        test("alu", f"dp4a_{x}_{y}", [x, y, "s32"], ("s32", f"dp4a.{x}.{y} {{d}}, {{a}}, {{b}}, {{c}};"))
        test("alu", f"dp2a_{x}_{y}", [x, y, "s32"], ("s32", f"dp2a.lo.{x}.{y} {{d}}, {{a}}, {{b}}, {{c}};"),
             ("s32", f"dp2a.hi.{x}.{y} {{d}}, {{a}}, {{b}}, {{c}};"))
each("alu", "popc", ["t"], "u32", "popc.{t} {d}, {a};", ["b32", "b64"])
each("alu", "clz", ["t"], "u32", "clz.{t} {d}, {a};", ["b32", "b64"])
for t in INTS64:
    test("alu", f"bfind_{t}", [t], ("u32", f"bfind.{t} {{d}}, {{a}};"), ("u32", f"bfind.shiftamt.{t} {{d}}, {{a}};"))
test("alu", "fns", ["b32", "shift", "s32"], ("b32", "and.b32 {b}, {b}, 31; fns.b32 {d}, {a}, {b}, {c};"))
test("alu", "fns_small", ["b32", "shift", "shift"], ("b32", "and.b32 {b}, {b}, 31; and.b32 {c}, {c}, 7; sub.s32 {c}, {c}, 3; fns.b32 {d}, {a}, {b}, {c};"))
each("alu", "brev", ["t"], "t", "brev.{t} {d}, {a};", ["b32", "b64"])
each("alu", "bfe", ["t", "shift", "shift"], "t", "bfe.{t} {d}, {a}, {b}, {c};", INTS64)
each("alu", "bfi", ["t", "t", "shift", "shift"], "t", "bfi.{t} {d}, {a}, {b}, {c}, {e};", ["b32", "b64"])
test("alu", "bmsk", ["shift", "shift"], ("b32", "bmsk.clamp.b32 {d}, {a}, {b};"), ("b32", "bmsk.wrap.b32 {d}, {a}, {b};"))
for t in INTS32:
    test("alu", f"szext_{t}", [t, "shift"], (t, f"szext.clamp.{t} {{d}}, {{a}}, {{b}};"), (t, f"szext.wrap.{t} {{d}}, {{a}}, {{b}};"))
for op in ("add", "min", "max"):
    for t in ("u16x2", "s16x2"):
        test("alu", f"{op}_{t}", ["b32", "b32"], ("b32", f"{op}.{t} {{d}}, {{a}}, {{b}};"))
for op in ("min", "max"):
    test("alu", f"{op}_relu", ["s32", "s32"], ("s32", f"{op}.relu.s32 {{d}}, {{a}}, {{b}};"), ("s32", f"{op}.relu.s16x2 {{d}}, {{a}}, {{b}};"))

# ---- logic, shifts ----
for op in ("and", "or", "xor"):
    each("logic", op, ["t", "t"], "t", op + ".{t} {d}, {a}, {b};", BITS)
each("logic", "not", ["t"], "t", "not.{t} {d}, {a};", BITS)
each("logic", "cnot", ["t"], "t", "cnot.{t} {d}, {a};", BITS)
test("logic", "pred", ["pred", "pred"], ("pred", "and.pred {d}, {a}, {b};"), ("pred", "or.pred {d}, {a}, {b};"), ("pred", "xor.pred {d}, {a}, {b};"),
     ("pred", "not.pred {d}, {a};"), ("pred", "mov.pred {d}, {b};"), ("pred", "and.pred {d}, {a}, !{b};"))
test("logic", "lop3", ["b32", "b32", "b32"], *[("b32", f"lop3.b32 {{d}}, {{a}}, {{b}}, {{c}}, {i};") for i in (0x1b, 0x80, 0x96, 0xe8, 0xca, 0xfe, 0x00, 0xff)])
each("logic", "shl", ["t", "shift"], "t", "shl.{t} {d}, {a}, {b};", BITS)
each("logic", "shr", ["t", "shift"], "t", "shr.{t} {d}, {a}, {b};", BITS + INTS)
test("logic", "shf", ["b32", "b32", "shift"], *[("b32", f"shf.{d}.{m}.b32 {{d}}, {{a}}, {{b}}, {{c}};") for d in "lr" for m in ("wrap", "clamp")])
test("logic", "prmt", ["b32", "b32", "b32"], *[("b32", f"prmt.b32{m} {{d}}, {{a}}, {{b}}, {{c}};") for m in ("", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16")])

# ---- comparisons and selection ----
CMPS = ("eq", "ne", "lt", "le", "gt", "ge")
for t in INTS:
    test("compare", f"setp_{t}", [t, t], *[("pred", f"setp.{c}.{t} {{d}}, {{a}}, {{b}};") for c in CMPS])
for t in ("u16", "u32", "u64"):
    test("compare", f"setp_unsigned_names_{t}", [t, t], *[("pred", f"setp.{c}.{t} {{d}}, {{a}}, {{b}};") for c in ("lo", "ls", "hi", "hs")])
for t in BITS:
    test("compare", f"setp_{t}", [t, t], *[("pred", f"setp.{c}.{t} {{d}}, {{a}}, {{b}};") for c in ("eq", "ne")])
CMPF = CMPS + ("equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan")
for t in ("f32", "f64", "f16", "bf16"):
    test("compare", f"setp_{t}_ordered", [t, t], *[("pred", f"setp.{c}.{t} {{d}}, {{a}}, {{b}};") for c in CMPF[:7]])
    test("compare", f"setp_{t}_unordered", [t, t], *[("pred", f"setp.{c}.{t} {{d}}, {{a}}, {{b}};") for c in CMPF[7:]])
test("compare", "setp_ftz", ["f32", "f32"], *[("pred", f"setp.{c}.ftz.f32 {{d}}, {{a}}, {{b}};") for c in ("eq", "lt", "gtu")])
test("compare", "setp_bool", ["s32", "s32", "pred"], *[("pred", f"setp.lt.{o}.s32 {{d}}, {{a}}, {{b}}, {{c}};") for o in ("and", "or", "xor")],
     ("pred", "setp.lt.and.s32 {d}, {a}, {b}, !{c};"), ("pred", "{{ .reg .pred t; setp.ge.or.s32 t|{d}, {a}, {b}, {c}; }}"))
test("compare", "setp_bool_f32", ["f32", "f32", "pred"], *[("pred", f"setp.ltu.{o}.f32 {{d}}, {{a}}, {{b}}, {{c}};") for o in ("and", "or", "xor")],
     ("pred", "{{ .reg .pred t; setp.gt.f32 t|{d}, {a}, {b}; }}"))
for t in ("f16x2", "bf16x2"):
    test("compare", f"setp_{t}", ["b32", "b32"], ("pred", f"{{{{ .reg .pred t; setp.lt.{t} {{d}}|t, {{a}}, {{b}}; }}}}"),
         ("pred", f"{{{{ .reg .pred t; setp.neu.{t} t|{{d}}, {{a}}, {{b}}; }}}}"))
for s in ("s32", "u32", "f32", "f64", "s64", "u16"):
    test("compare", f"set_{s}", [s, s], ("u32", f"set.lt.u32.{s} {{d}}, {{a}}, {{b}};"), ("f32", f"set.ge.f32.{s} {{d}}, {{a}}, {{b}};"))
test("compare", "set_bool", ["s32", "s32", "pred"], ("u32", "set.lt.and.u32.s32 {d}, {a}, {b}, {c};"), ("f32", "set.eq.xor.f32.s32 {d}, {a}, {b}, {c};"))
test("compare", "set_f16", ["f16", "f16"], ("f16", "set.lt.f16.f16 {d}, {a}, {b};"), ("f16", "set.geu.f16.f16 {d}, {a}, {b};"), ("u32", "set.ne.u32.f16 {d}, {a}, {b};"))
test("compare", "set_f16x2", ["b32", "b32"], ("b32", "set.le.f16x2.f16x2 {d}, {a}, {b};"), ("b32", "set.eq.u32.f16x2 {d}, {a}, {b};"))
each("compare", "selp", ["t", "t", "pred"], "t", "selp.{t} {d}, {a}, {b}, {c};", ["b16", "b32", "b64", "f32", "f64"])
each("compare", "slct", ["t", "t", "s32"], "t", "slct.{t}.s32 {d}, {a}, {b}, {c};", ["u16", "b32", "b64", "f32", "f64"])
test("compare", "slct_f32", ["b32", "b32", "f32"], ("b32", "slct.b32.f32 {d}, {a}, {b}, {c};"), ("b32", "slct.ftz.b32.f32 {d}, {a}, {b}, {c};"))

# ---- f32, f64 ----
ROUNDS = ("rn", "rz", "rm", "rp")
for op in ("add", "sub", "mul"):
    for t in ("f32", "f64"):
        test("float", f"{op}_{t}", [t, t], *[(t, f"{op}.{r}.{t} {{d}}, {{a}}, {{b}};") for r in ROUNDS])
    test("float", f"{op}_f32_ftz_sat", ["f32", "f32"], ("f32", f"{op}.rn.ftz.f32 {{d}}, {{a}}, {{b}};"), ("f32", f"{op}.rn.sat.f32 {{d}}, {{a}}, {{b}};"),
         ("f32", f"{op}.rn.ftz.sat.f32 {{d}}, {{a}}, {{b}};"), ("f32", f"{op}.rz.ftz.f32 {{d}}, {{a}}, {{b}};"))
for t in ("f32", "f64"):
    test("float", f"fma_{t}", [t, t, t], *[(t, f"fma.{r}.{t} {{d}}, {{a}}, {{b}}, {{c}};") for r in ROUNDS])
    test("float", f"div_{t}", [t, t], *[(t, f"div.{r}.{t} {{d}}, {{a}}, {{b}};") for r in ROUNDS])
    test("float", f"rcp_{t}", [t], *[(t, f"rcp.{r}.{t} {{d}}, {{a}};") for r in ROUNDS])
    test("float", f"sqrt_{t}", [t], *[(t, f"sqrt.{r}.{t} {{d}}, {{a}};") for r in ROUNDS])
    test("float", f"abs_neg_{t}", [t], (t, f"abs.{t} {{d}}, {{a}};"), (t, f"neg.{t} {{d}}, {{a}};"))
    test("float", f"min_max_{t}", [t, t], (t, f"min.{t} {{d}}, {{a}}, {{b}};"), (t, f"max.{t} {{d}}, {{a}}, {{b}};"))
    test("float", f"copysign_{t}", [t, t], (t, f"copysign.{t} {{d}}, {{a}}, {{b}};"))
    test("float", f"testp_{t}", [t], *[("pred", f"testp.{k}.{t} {{d}}, {{a}};") for k in ("finite", "infinite", "number", "notanumber", "normal", "subnormal")])
test("float", "fma_f32_ftz_sat", ["f32", "f32", "f32"], ("f32", "fma.rn.ftz.f32 {d}, {a}, {b}, {c};"), ("f32", "fma.rn.sat.f32 {d}, {a}, {b}, {c};"),
     ("f32", "fma.rm.ftz.sat.f32 {d}, {a}, {b}, {c};"))
test("float", "div_ftz", ["f32", "f32"], ("f32", "div.rn.ftz.f32 {d}, {a}, {b};"))
test("float", "rcp_sqrt_ftz", ["f32"], ("f32", "rcp.rn.ftz.f32 {d}, {a};"), ("f32", "sqrt.rn.ftz.f32 {d}, {a};"), ("f32", "abs.ftz.f32 {d}, {a};"),
     ("f32", "neg.ftz.f32 {d}, {a};"))
test("float", "min_max_f32_modes", ["f32", "f32"], ("f32", "min.ftz.f32 {d}, {a}, {b};"), ("f32", "max.NaN.f32 {d}, {a}, {b};"),
     ("f32", "min.NaN.f32 {d}, {a}, {b};"), ("f32", "min.xorsign.abs.f32 {d}, {a}, {b};"), ("f32", "max.NaN.xorsign.abs.f32 {d}, {a}, {b};"))

# ---- approximations ----
# The virtual GPU computes them almost exactly, so a difference is the error of the hardware: the bounds are those of the PTX manual. A sine or
# cosine within [-pi, pi]; beyond, the reduction of the argument is the hardware's own and the same here. The f64 forms look at 20 fraction bits.
test("approx", "ex2", ["f32"], ("f32", "ex2.approx.f32 {d}, {a};"), ("f32", "ex2.approx.ftz.f32 {d}, {a};"), bound="ulp 2 (PTX manual: relative 2^-22)")
test("approx", "lg2", ["f32"], ("f32", "lg2.approx.f32 {d}, {a};"), ("f32", "lg2.approx.ftz.f32 {d}, {a};"),
     bound="ulp 2 (PTX manual: relative 2^-22 outside (0.5, 2))\n//! absolute 2.4e-7 (PTX manual: 2^-22 within)")
test("approx", "sin", ["unit"], ("f32", "mul.f32 {a}, {a}, 0f40490fda; sin.approx.f32 {d}, {a};"), ("f32", "cos.approx.f32 {d}, {a};"),
     bound="absolute 5.1e-7 (PTX manual: 2^-20.9)")
test("approx", "sin_edges", ["f32"], ("f32", "abs.f32 {a}, {a}; min.NaN.f32 {a}, {a}, 0f40400000; sin.approx.ftz.f32 {d}, {a};"),
     bound="absolute 5.1e-7 (PTX manual: 2^-20.9)")
test("approx", "tanh", ["f32"], ("f32", "tanh.approx.f32 {d}, {a};"), bound="relative 4.9e-4 (PTX manual: 2^-11)")
test("approx", "rcp", ["f32"], ("f32", "rcp.approx.f32 {d}, {a};"), ("f32", "rcp.approx.ftz.f32 {d}, {a};"), bound="ulp 1 (PTX manual)")
test("approx", "rsqrt", ["f32"], ("f32", "rsqrt.approx.f32 {d}, {a};"), ("f32", "rsqrt.approx.ftz.f32 {d}, {a};"), bound="ulp 2 (PTX manual: relative 2^-22.9)")
test("approx", "sqrt", ["f32"], ("f32", "sqrt.approx.f32 {d}, {a};"), ("f32", "sqrt.approx.ftz.f32 {d}, {a};"), bound="ulp 1 (PTX manual: relative 2^-23)")
test("approx", "div", ["f32", "f32"], ("f32", "div.full.f32 {d}, {a}, {b};"), ("f32", "div.approx.f32 {d}, {a}, {b};"), ("f32", "div.approx.ftz.f32 {d}, {a}, {b};"),
     bound="ulp 2 (PTX manual)")
test("approx", "rcp_f64", ["f64"], ("f64", "rcp.approx.ftz.f64 {d}, {a};"), ("f64", "rsqrt.approx.ftz.f64 {d}, {a};"),
     bound="relative 9.6e-7 (one unit of the 20 fraction bits that the result has)")
BOUND_HALF = {"f16": "ulp 1 (PTX manual: relative 2^-9.9, absolute 2^-10.987)", "bf16": "ulp 1 (PTX manual: relative 2^-7, 2^-8)"}
test("approx", "halves_f16", ["f16"], ("f16", "ex2.approx.f16 {d}, {a};"), ("f16", "tanh.approx.f16 {d}, {a};"), bound=BOUND_HALF["f16"])
test("approx", "halves_bf16", ["bf16"], ("bf16", "ex2.approx.ftz.bf16 {d}, {a};"), ("bf16", "tanh.approx.bf16 {d}, {a};"), bound=BOUND_HALF["bf16"])

# ---- halves ----
for t in HALVES:
    for op in ("add", "sub", "mul"):
        test("half", f"{op}_{t}", [t, t], (t, f"{op}.rn.{t} {{d}}, {{a}}, {{b}};"))
        test("half", f"{op}_{t}x2", ["b32", "b32"], ("b32", f"{op}.rn.{t}x2 {{d}}, {{a}}, {{b}};"))
    test("half", f"fma_{t}", [t, t, t], (t, f"fma.rn.{t} {{d}}, {{a}}, {{b}}, {{c}};"), (t, f"fma.rn.relu.{t} {{d}}, {{a}}, {{b}}, {{c}};"))
    test("half", f"fma_{t}x2", ["b32", "b32", "b32"], ("b32", f"fma.rn.{t}x2 {{d}}, {{a}}, {{b}}, {{c}};"))
    test("half", f"abs_neg_{t}", [t], (t, f"abs.{t} {{d}}, {{a}};"), (t, f"neg.{t} {{d}}, {{a}};"))
    test("half", f"min_max_{t}", [t, t], (t, f"min.{t} {{d}}, {{a}}, {{b}};"), (t, f"max.{t} {{d}}, {{a}}, {{b}};"), (t, f"min.NaN.{t} {{d}}, {{a}}, {{b}};"),
         (t, f"max.NaN.xorsign.abs.{t} {{d}}, {{a}}, {{b}};"))
    test("half", f"min_max_{t}x2", ["b32", "b32"], ("b32", f"min.{t}x2 {{d}}, {{a}}, {{b}};"), ("b32", f"max.{t}x2 {{d}}, {{a}}, {{b}};"),
         ("b32", f"abs.{t}x2 {{d}}, {{a}};"), ("b32", f"neg.{t}x2 {{d}}, {{a}};"))
test("half", "ftz_sat_f16", ["f16", "f16", "f16"], ("f16", "add.rn.ftz.f16 {d}, {a}, {b};"), ("f16", "mul.rn.sat.f16 {d}, {a}, {b};"),
     ("f16", "fma.rn.ftz.sat.f16 {d}, {a}, {b}, {c};"), ("f16", "sub.rn.ftz.sat.f16 {d}, {a}, {b};"))

for t in ("f16", "f16x2", "bf16", "bf16x2"):
    one = t if t in HALVES else "b32"
    test("half", f"unmarked_{t}", [one, one, one], *[(one, f"{op}.{t} {{d}}, {{a}}, {{b}};") for op in ("add", "sub", "mul")],
         (one, f"fma.rn.relu.{t} {{d}}, {{a}}, {{b}}, {{c}};"))
test("half", "ftz_sat_f16x2", ["b32", "b32", "b32"], ("b32", "add.rn.ftz.f16x2 {d}, {a}, {b};"), ("b32", "mul.sat.f16x2 {d}, {a}, {b};"),
     ("b32", "sub.ftz.sat.f16x2 {d}, {a}, {b};"), ("b32", "fma.rn.ftz.f16x2 {d}, {a}, {b}, {c};"), ("b32", "fma.rn.sat.f16x2 {d}, {a}, {b}, {c};"))
test("half", "abs_neg_ftz", ["f16", "b32"], ("f16", "abs.ftz.f16 {d}, {a};"), ("f16", "neg.ftz.f16 {d}, {a};"), ("b32", "abs.ftz.f16x2 {d}, {b};"),
     ("b32", "neg.ftz.f16x2 {d}, {b};"))
for t in ("f16x2", "bf16x2"):
    test("half", f"min_max_{t}_modes", ["b32", "b32"], ("b32", f"min.NaN.{t} {{d}}, {{a}}, {{b}};"), ("b32", f"max.NaN.xorsign.abs.{t} {{d}}, {{a}}, {{b}};"),
         ("b32", f"max.xorsign.abs.{t} {{d}}, {{a}}, {{b}};"))
test("half", "min_max_f16_ftz", ["f16", "f16"], ("f16", "min.ftz.f16 {d}, {a}, {b};"), ("f16", "max.ftz.NaN.f16 {d}, {a}, {b};"))

# ---- spellings and types that the groups above leave out ----
for t in ("f32", "f64"):
    test("float", f"mad_{t}", [t, t, t], *[(t, f"mad.{r}.{t} {{d}}, {{a}}, {{b}}, {{c}};") for r in ("rn", "rz")])
test("float", "unmarked_f64", ["f64", "f64"], *[("f64", f"{op}.f64 {{d}}, {{a}}, {{b}};") for op in ("add", "sub", "mul")])
test("float", "directed_ftz", ["f32", "f32"], *[("f32", f"{op}.{r}.ftz.f32 {{d}}, {{a}}, {{b}};") for op in ("add", "mul", "div") for r in ("rz", "rm", "rp")])
for t in ("s32", "s64"):
    test("alu", f"carry_{t}", [t, t, t], (t, f"add.cc.{t} {{d}}, {{a}}, {{b}};"), (t, f"addc.cc.{t} {{d}}, {{b}}, {{c}};"), (t, f"addc.{t} {{d}}, {{a}}, {{c}};"),
         (t, f"sub.cc.{t} {{d}}, {{a}}, {{b}};"), (t, f"subc.cc.{t} {{d}}, {{b}}, {{c}};"), (t, f"subc.{t} {{d}}, {{a}}, {{c}};"),
         (t, f"mad.lo.cc.{t} {{d}}, {{a}}, {{b}}, {{c}};"), (t, f"madc.hi.cc.{t} {{d}}, {{a}}, {{b}}, {{c}};"), (t, f"madc.lo.cc.{t} {{d}}, {{b}}, {{c}}, {{a}};"),
         (t, f"mad.hi.cc.{t} {{d}}, {{b}}, {{c}}, {{a}};"), (t, f"madc.hi.{t} {{d}}, {{a}}, {{b}}, {{c}};"))
for t in BITS:
    test("compare", f"setp_bool_{t}", [t, t, "pred"], ("pred", f"setp.eq.and.{t} {{d}}, {{a}}, {{b}}, {{c}};"), ("pred", f"setp.ne.xor.{t} {{d}}, {{a}}, {{b}}, !{{c}};"))
for t in ("u16", "s16", "u32", "u64", "s64"):
    test("compare", f"setp_bool_{t}", [t, t, "pred"], *[("pred", f"setp.{c}.{o}.{t} {{d}}, {{a}}, {{b}}, {{c}};") for c, o in (("lt", "and"), ("ge", "or"), ("le", "xor"))])
test("compare", "setp_bool_f64", ["f64", "f64", "pred"], *[("pred", f"setp.{c}.{o}.f64 {{d}}, {{a}}, {{b}}, {{c}};") for c, o in (("lt", "and"), ("geu", "or"), ("num", "xor"))])
for t in HALVES:
    test("compare", f"setp_bool_{t}", [t, t, "pred"], *[("pred", f"setp.{c}.{o}.{t} {{d}}, {{a}}, {{b}}, {{c}};") for c, o in (("lt", "and"), ("geu", "or"), ("nan", "xor"))])
    test("compare", f"setp_bool_{t}x2", ["b32", "b32", "pred"], ("pred", f"{{{{ .reg .pred t; setp.lt.and.{t}x2 {{d}}|t, {{a}}, {{b}}, {{c}}; }}}}"),
         ("pred", f"{{{{ .reg .pred t; setp.neu.or.{t}x2 t|{{d}}, {{a}}, {{b}}, !{{c}}; }}}}"))
    test("compare", f"set_types_{t}", [t, t, "pred"], (t, f"set.lt.{t}.{t} {{d}}, {{a}}, {{b}};"), ("u16", f"set.geu.u16.{t} {{d}}, {{a}}, {{b}};"),
         ("s16", f"set.eq.s16.{t} {{d}}, {{a}}, {{b}};"), ("u32", f"set.le.u32.{t} {{d}}, {{a}}, {{b}};"), ("s32", f"set.nan.s32.{t} {{d}}, {{a}}, {{b}};"),
         (t, f"set.gt.and.{t}.{t} {{d}}, {{a}}, {{b}}, {{c}};"), ("u32", f"set.ltu.xor.u32.{t} {{d}}, {{a}}, {{b}}, !{{c}};"), (t, f"set.eq.{t}.{t} {{d}}, {{a}}, {{b}};"))
    test("compare", f"set_types_{t}x2", ["b32", "b32", "pred"], ("b32", f"set.lt.{t}x2.{t}x2 {{d}}, {{a}}, {{b}};"), ("u32", f"set.geu.u32.{t}x2 {{d}}, {{a}}, {{b}};"),
         ("s32", f"set.eq.s32.{t}x2 {{d}}, {{a}}, {{b}};"), ("b32", f"set.gt.or.{t}x2.{t}x2 {{d}}, {{a}}, {{b}}, {{c}};"))
for t in BITS + INTS + ["f32", "f64"]:
    cmp = "eq" if t in BITS else "le"
    test("compare", f"set_types_{t}", [t, t, "pred"], ("u32", f"set.{cmp}.u32.{t} {{d}}, {{a}}, {{b}};"), ("s32", f"set.ne.s32.{t} {{d}}, {{a}}, {{b}};"),
         ("f32", f"set.{cmp}.f32.{t} {{d}}, {{a}}, {{b}};"), ("s32", f"set.{cmp}.and.s32.{t} {{d}}, {{a}}, {{b}}, {{c}};"),
         ("f32", f"set.ne.or.f32.{t} {{d}}, {{a}}, {{b}}, !{{c}};"))
test("compare", "selp_ints", ["u16", "s16", "u32", "s32", "u64", "s64", "pred"], 
     ("u16", "selp.u16 {d}, {a}, {b}, {i};"), ("s16", "selp.s16 {d}, {b}, {a}, {i};"), ("u32", "selp.u32 {d}, {c}, {e}, {i};"), ("s32", "selp.s32 {d}, {e}, {c}, !{i};"),
     ("u64", "selp.u64 {d}, {g}, {h}, {i};"), ("s64", "selp.s64 {d}, {h}, {g}, {i};"))
for t in ("b16", "s16", "u32", "s32", "u64", "s64"):
    test("compare", f"slct_{t}", [t, t, "s32", "f32"], (t, f"slct.{t}.s32 {{d}}, {{a}}, {{b}}, {{c}};"), (t, f"slct.{t}.f32 {{d}}, {{a}}, {{b}}, {{e}};"))
test("compare", "slct_f_f32", ["f32", "f32", "f64", "f64", "f32"], ("f32", "slct.ftz.f32.f32 {d}, {a}, {b}, {g};"), ("f64", "slct.f64.f32 {d}, {c}, {e}, {g};"))
for t in HALVES:
    ftz = ".ftz" if t == "bf16" else ""
    test("approx", f"packed_{t}", [t, t], *[(t, f"{{{{ .reg .b32 pair; .reg .b16 other; mov.b32 pair, {{{{{{a}}, {{b}}}}}}; {op}.{t}x2 pair, pair; mov.b32 {{{{{v}}}}}, pair; }}}}")
         for op in (f"ex2.approx{ftz}", "tanh.approx") for v in ("{d}, other", "other, {d}")], bound=BOUND_HALF[t])

# ---- atomics: each thread has its own word, so that old and new value can be told; global memory is that of the first operand ----
MEM = {"b16": "b16", "f16": "b16", "bf16": "b16", "f16x2": "b32", "bf16x2": "b32"}


def atomic(op, t, operands="{b}"):
    """Old and new value of an atom in global and in shared memory, and what red leaves."""
    kind = {"f16x2": "b32", "bf16x2": "b32"}.get(t, t)
    mem = MEM.get(t, t)
    hint = ".noftz" if t in HALVES or t.endswith("x2") else ""
    result = [(kind, f"atom.global.{op}{hint}.{t} {{d}}, [%q30], {operands};"), (kind, f"ld.global.{mem} {{d}}, [%q30];"),
              (kind, f"st.shared.{mem} [%w29], {{a}}; atom.shared.{op}{hint}.{t} {{d}}, [%w29], {operands};"), (kind, f"ld.shared.{mem} {{d}}, [%w29];")]
    if op not in ("exch", "cas"):
        result.append((kind, f"st.global.{mem} [%q30], {{a}}; red.global.{op}{hint}.{t} [%q30], {operands}; ld.global.{mem} {{d}}, [%q30];"))
    return kind, result


for op, types in {"add": ["u32", "s32", "u64", "f32", "f64", "f16", "f16x2", "bf16", "bf16x2"], "min": INTS64, "max": INTS64, "inc": ["u32"], "dec": ["u32"],
                  "and": ["b32", "b64"], "or": ["b32", "b64"], "xor": ["b32", "b64"], "exch": ["b32", "b64"]}.items():
    for t in types:
        kind, results = atomic(op, t)
        test("atomic", f"{op}_{t}", [kind, kind], *results)
for t in BITS:
    kind, results = atomic("cas", t, "{b}, {c}")
    results[0] = (kind, f"@{{e}} mov.{t} {{b}}, {{a}}; " + results[0][1])  # every second compare succeeds
    test("atomic", f"cas_{t}", [t, t, t, "pred"], *results)
test("atomic", "generic", ["b32", "b32"], ("b32", "atom.add.noftz.bf16x2 {d}, [%q30], {b};"), ("b32", "atom.add.noftz.f16x2 {d}, [%q30], {b};"),
     ("u32", "atom.max.u32 {d}, [%q30], {b};"), ("b32", "atom.acq_rel.gpu.xor.b32 {d}, [%q30], {b};"), ("u32", "red.relaxed.cta.add.u32 [%q30], {b}; ld.u32 {d}, [%q30];"))
test("atomic", "vector_f32", ["f64", "f64"], ("f64", "{{ .reg .f32 x, y, u, v; mov.b64 {{x, y}}, {b}; atom.global.add.v2.f32 {{u, v}}, [%q30], {{x, y}}; mov.b64 {d}, {{u, v}}; }}"),
     ("f64", "ld.global.f64 {d}, [%q30];"), ("f64", "{{ .reg .f32 x, y; mov.b64 {{x, y}}, {b}; red.global.add.v2.f32 [%q30], {{x, y}}; }} ld.global.f64 {d}, [%q30];"))
for t in HALVES:
    test("atomic", f"vector_{t}", ["b32", "b32"], *[("b32", "{{ .reg .b16 x, y, u, v; mov.b32 {{x, y}}, {b}; " +
         f"atom.global.{op}.noftz.v2.{t} {{{{u, v}}}}, [%q30], {{{{x, y}}}}; mov.b32 {{d}}, {{{{u, v}}}}; }}}}") for op in ("add", "min", "max")],
         ("b32", f"{{{{ .reg .b16 x, y; mov.b32 {{{{x, y}}}}, {{b}}; red.global.max.noftz.v2.{t} [%q30], {{{{x, y}}}}; }}}} ld.global.b32 {{d}}, [%q30];"))
    test("atomic", f"vector_{t}x2", ["b64", "b64"], *[("b64", "{{ .reg .b32 x, y, u, v; mov.b64 {{x, y}}, {b}; " +
         f"atom.global.{op}.noftz.v2.{t}x2 {{{{u, v}}}}, [%q30], {{{{x, y}}}}; mov.b64 {{d}}, {{{{u, v}}}}; }}}}") for op in ("add", "max")],
         ("b64", "ld.global.b64 {d}, [%q30];"))

# ---- conversions ----
def fits(d, s):
    """All values of type s are values of type d: .sat would be pointless and is refused by the assembler."""
    return int(d[1:]) > int(s[1:]) and (s[0] == "u" or d[0] == "s")


CVT_INTS = ["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"]
for s in CVT_INTS:
    test("cvt", f"int_{s}", [s], *[(d, f"cvt.{d}.{s} {{d}}, {{a}};") for d in CVT_INTS if d != s])
    test("cvt", f"int_sat_{s}", [s], *[(d, f"cvt.sat.{d}.{s} {{d}}, {{a}};") for d in CVT_INTS if d != s and not fits(d, s)])
for f in ("f32", "f64"):
    for r in ("rni", "rzi", "rmi", "rpi"):
        test("cvt", f"{f}_to_int_{r}", [f], *[(d, f"cvt.{r}.{d}.{f} {{d}}, {{a}};") for d in CVT_INTS])
    for s in CVT_INTS:
        test("cvt", f"{s}_to_{f}", [s], *[(f, f"cvt.{r}.{f}.{s} {{d}}, {{a}};") for r in ROUNDS])
test("cvt", "f16_to_int", ["f16"], *[(d, f"cvt.{r}.{d}.f16 {{d}}, {{a}};") for r in ("rni", "rzi") for d in ("s8", "u16", "s32", "u32", "s64")])
for s in ("s8", "u16", "s32", "u32", "s64", "u64"):
    test("cvt", f"{s}_to_f16", [s], ("f16", f"cvt.rn.f16.{s} {{d}}, {{a}};"), ("f16", f"cvt.rz.f16.{s} {{d}}, {{a}};"))
    if s != "s8":
        test("cvt", f"{s}_to_bf16", [s], ("bf16", f"cvt.rn.bf16.{s} {{d}}, {{a}};"))
test("cvt", "f32_f64", ["f32"], ("f64", "cvt.f64.f32 {d}, {a};"), ("f64", "cvt.ftz.f64.f32 {d}, {a};"))
test("cvt", "f64_f32", ["f64"], *[("f32", f"cvt.{r}.f32.f64 {{d}}, {{a}};") for r in ROUNDS], ("f32", "cvt.rn.ftz.f32.f64 {d}, {a};"), ("f32", "cvt.rn.sat.f32.f64 {d}, {a};"))
test("cvt", "f16_f32", ["f16"], ("f32", "cvt.f32.f16 {d}, {a};"), ("f64", "cvt.f64.f16 {d}, {a};"))
test("cvt", "f32_f16", ["f32"], *[("f16", f"cvt.{r}.f16.f32 {{d}}, {{a}};") for r in ("rn", "rz")], ("f16", "cvt.rn.relu.f16.f32 {d}, {a};"), ("f16", "cvt.rn.sat.f16.f32 {d}, {a};"))
test("cvt", "bf16_f32", ["bf16"], ("f32", "cvt.f32.bf16 {d}, {a};"))
test("cvt", "f32_bf16", ["f32"], ("bf16", "cvt.rn.bf16.f32 {d}, {a};"), ("bf16", "cvt.rz.bf16.f32 {d}, {a};"), ("bf16", "cvt.rn.relu.bf16.f32 {d}, {a};"))
for t in ("f16x2", "bf16x2"):
    test("cvt", f"f32_{t}", ["f32", "f32"], *[("b32", f"cvt.{r}.{t}.f32 {{d}}, {{a}}, {{b}};") for r in ("rn", "rz", "rn.relu")])
test("cvt", "tf32", ["f32"], ("b32", "cvt.rna.tf32.f32 {d}, {a};"), ("b32", "cvt.rn.tf32.f32 {d}, {a};"), ("b32", "cvt.rz.relu.tf32.f32 {d}, {a};"))
for t in ("f32", "f64"):
    test("cvt", f"integral_{t}", [t], *[(t, f"cvt.{r}.{t}.{t} {{d}}, {{a}};") for r in ("rni", "rzi", "rmi", "rpi")])
test("cvt", "f32_f32", ["f32"], ("f32", "cvt.sat.f32.f32 {d}, {a};"), ("f32", "cvt.ftz.f32.f32 {d}, {a};"), ("f32", "cvt.rni.ftz.f32.f32 {d}, {a};"), ("f32", "cvt.rzi.sat.f32.f32 {d}, {a};"))
test("cvt", "integral_f16", ["f16"], *[("f16", f"cvt.{r}.f16.f16 {{d}}, {{a}};") for r in ("rni", "rzi", "rmi", "rpi")])
test("cvt", "pack", ["s32", "s32"], ("b32", "cvt.pack.sat.u16.s32 {d}, {a}, {b};"), ("b32", "cvt.pack.sat.s16.s32 {d}, {a}, {b};"))
test("cvt", "pack_bytes", ["s32", "s32", "b32"], ("b32", "cvt.pack.sat.u8.s32.b32 {d}, {a}, {b}, {c};"), ("b32", "cvt.pack.sat.s8.s32.b32 {d}, {a}, {b}, {c};"))
for t in ("e4m3x2", "e5m2x2"):
    test("cvt", f"to_{t}", ["f32", "f32"], ("b16", f"cvt.rn.satfinite.{t}.f32 {{d}}, {{a}}, {{b}};"), ("b16", f"cvt.rn.satfinite.relu.{t}.f32 {{d}}, {{a}}, {{b}};"))
    test("cvt", f"from_{t}", ["b16"], ("b32", f"cvt.rn.f16x2.{t} {{d}}, {{a}};"), ("b32", f"cvt.rn.relu.f16x2.{t} {{d}}, {{a}};"))
    test("cvt", f"f16x2_to_{t}", ["b32"], ("b16", f"cvt.rn.satfinite.{t}.f16x2 {{d}}, {{a}};"))

test("cvt", "f64_halves", ["f64"], ("f16", "cvt.rn.f16.f64 {d}, {a};"), ("bf16", "cvt.rn.bf16.f64 {d}, {a};"), ("f16", "cvt.rz.f16.f64 {d}, {a};"))
test("cvt", "bf16_other", ["bf16"], ("f64", "cvt.f64.bf16 {d}, {a};"), ("f16", "cvt.rn.f16.bf16 {d}, {a};"), ("bf16", "cvt.rni.bf16.bf16 {d}, {a};"),
     ("bf16", "cvt.rzi.bf16.bf16 {d}, {a};"))
test("cvt", "bf16_to_int", ["bf16"], *[(d, f"cvt.{r}.{d}.bf16 {{d}}, {{a}};") for r in ("rni", "rzi") for d in ("s16", "u16", "s32", "u32", "s64")])
test("cvt", "f16_other", ["f16"], ("bf16", "cvt.rn.bf16.f16 {d}, {a};"), ("f32", "cvt.ftz.f32.f16 {d}, {a};"), ("f16", "cvt.sat.f16.f16 {d}, {a};"),
     ("f32", "cvt.sat.f32.f16 {d}, {a};"))
test("cvt", "f64_to_int_sat", ["f64"], ("s32", "cvt.rzi.sat.s32.f64 {d}, {a};"), ("u8", "cvt.rmi.sat.u8.f64 {d}, {a};"))
test("cvt", "int_to_f_sat", ["s32"], ("f32", "cvt.rn.sat.f32.u32 {d}, {a};"), ("f16", "cvt.rn.sat.f16.s32 {d}, {a};"))
test("cvt", "f32_to_int_ftz", ["f32"], *[(d, f"cvt.{r}.ftz.{d}.f32 {{d}}, {{a}};") for r in ("rmi", "rpi") for d in ("s32", "u32", "s64", "u8")],
     ("s32", "cvt.rzi.sat.s32.f32 {d}, {a};"))
test("cvt", "pack_nibbles", ["s32", "s32", "b32"], ("b32", "cvt.pack.sat.u4.s32.b32 {d}, {a}, {b}, {c};"), ("b32", "cvt.pack.sat.s4.s32.b32 {d}, {a}, {b}, {c};"))

# ---- moves ----
test("move", "pack", ["b16", "b16"], ("b32", "mov.b32 {d}, {{{a}, {b}}};"))
test("move", "pack64", ["b32", "b32"], ("b64", "mov.b64 {d}, {{{a}, {b}}};"))
test("move", "unpack", ["b32"], ("b16", "{{ .reg .b16 t; mov.b32 {{{d}, t}}, {a}; }}"), ("b16", "{{ .reg .b16 t; mov.b32 {{t, {d}}}, {a}; }}"))
test("move", "unpack64", ["b64"], ("b32", "{{ .reg .b32 t; mov.b64 {{{d}, t}}, {a}; }}"), ("b16", "{{ .reg .b16 t, u, v; mov.b64 {{t, u, {d}, v}}, {a}; }}"))


# ---- loads and stores ----
ELEMENT = {"f32": ("f", 4), "f64": ("e", 8), "b8": ("h", 1), "u8": ("h", 1), "s8": ("h", 1), "b16": ("h", 2), "u16": ("h", 2), "s16": ("h", 2), "b32": ("w", 4),
           "u32": ("w", 4), "s32": ("w", 4), "b64": ("q", 8), "u64": ("q", 8), "s64": ("q", 8)}
PLACE = {"shared": "%w29", "local": "%q57"}


def shape(form):
    """Space, register names, text of the operand and size of one element of a load or store."""
    parts = form.split(".")
    letter, size = ELEMENT[parts[-1]]
    count = next((int(p[1:]) for p in parts if p in ("v2", "v4")), 1)
    regs = [f"%{letter}{(52 if letter == 'q' else 20) + i}" for i in range(count)]
    text = "{{" + ", ".join(regs) + "}}" if count > 1 else regs[0]
    return next((p for p in parts if p in PLACE), "global"), regs, text, size


def fold(regs):
    """All elements in one number that depends on their order."""
    widen = {"f": "mov.b32 %w37, {}; cvt.u64.u32 %q51, %w37;", "w": "cvt.u64.u32 %q51, {};", "h": "cvt.u64.u16 %q51, {};", "q": "mov.b64 %q51, {};",
             "e": "mov.b64 %q51, {};"}
    return "mov.b64 {d}, 0; " + " ".join(widen[x[1]].format(x) + " mad.lo.u64 {d}, {d}, 31, %q51;" for x in regs)


def load(form):
    """Own row and its neighbours of the same aligned vector; shared and local memory are filled with words made from the row first."""
    space, regs, text, size = shape(form)
    if space == "global":
        return ("b64", f"and.b64 %q50, %q30, -{len(regs) * size}; {form} {text}, [%q50]; {fold(regs)}")
    at = PLACE[space]
    fill = " ".join(f"add.u32 %w36, %w36, 0x9e3779b9; st.{space}.b32 [{at}+{4 * i}], %w36;" for i in range(4))
    return ("b64", f"cvt.u32.u64 %w36, {{a}}; {fill} {form} {text}, [{at}]; {fold(regs)}")


def store(form):
    """Numbers made from the row, read back as words. A vector that covers several rows is stored by the first of them."""
    space, regs, text, size = shape(form)
    make = "mov.b64 %q51, {a}; " + " ".join(
        {"f": f"cvt.u32.u64 %w37, %q51; mov.b32 {x}, %w37;", "w": f"cvt.u32.u64 {x}, %q51;", "h": f"cvt.u16.u64 {x}, %q51;", "q": f"mov.b64 {x}, %q51;",
         "e": f"mov.b64 {x}, %q51;"}[x[1]] + " add.u64 %q51, %q51, 0x123456789;" for x in regs)
    if space == "global":
        rows = max(len(regs) * size // 8, 1)
        return ("b64", f"{make} and.b32 %w36, %w33, {rows - 1}; setp.eq.u32 %p20, %w36, 0; @%p20 {form} [%q30], {text}; bar.warp.sync -1; "
                       "ld.global.b64 {d}, [%q30]; bar.warp.sync -1;")
    at = PLACE[space]
    clear = " ".join(f"st.{space}.b64 [{at}+{8 * i}], 0;" for i in range(2))
    return ("b64", f"{make} {clear} {form} [{at}], {text}; ld.{space}.b64 {{d}}, [{at}]; ld.{space}.b64 %q51, [{at}+8]; mad.lo.u64 {{d}}, %q51, 31, {{d}};")


def moves(name, how, forms):
    for i in range(0, len(forms), 10):
        test("memory", f"{name}_{i // 10 + 1}" if len(forms) > 10 else name, ["b64"], *[how(f) for f in forms[i : i + 10]])


moves("load_global", load, [f"ld.global.{f}" for f in (
    "nc.f32", "nc.u32", "v4.u32", "cs.v4.s32", "cs.f32", "s32", "nc.v4.f32", "nc.v2.u64", "cs.b16", "nc.v4.u32", "nc.u64", "v2.u32", "nc.u8", "v2.f32", "cg.b32",
    "cg.v4.s32", "cs.v4.f32", "b8", "s16", "lu.s8")] + ["ld.f32", "ld.relaxed.gpu.v2.u32", "ld.relaxed.gpu.v2.u64", "ldu.global.f32", "ldu.global.v4.u32", "ldu.b64"])
moves("store_global", store, [f"st.global.{f}" for f in (
    "u16", "v4.f32", "cs.f32", "v4.u32", "u64", "cs.v4.s32", "v2.u32", "v2.f32", "v2.u64", "cg.v4.s32", "cs.b16", "b8", "s16", "wt.s8")] +
    ["st.relaxed.gpu.v2.u32", "st.relaxed.gpu.v2.u64"])
moves("load_shared", load, [f"ld.shared.{f}" for f in ("v4.f32", "u16", "u64", "v2.u32", "v2.f32", "s32", "f64", "s8", "v2.f64", "v2.u64")])
moves("store_shared", store, [f"st.shared.{f}" for f in ("v4.u32", "v4.f32", "f64", "v2.u32", "v2.f64", "v2.u64")])
moves("load_local", load, [f"ld.local.{f}" for f in ("u64", "v4.f32", "s8", "b16")])
moves("store_local", store, [f"st.local.{f}" for f in ("f32", "u64", "v2.u64", "u8")])
test("move", "types", ["b64"], ("u16", "{{ .reg .b16 t; cvt.u16.u64 t, {a}; mov.u16 {d}, t; }}"), ("b16", "{{ .reg .b16 t; cvt.u16.u64 t, {a}; mov.b16 {d}, t; }}"),
     ("s16", "{{ .reg .b16 t; cvt.u16.u64 t, {a}; mov.s16 {d}, t; }}"), ("s32", "{{ .reg .b32 t; cvt.u32.u64 t, {a}; mov.s32 {d}, t; }}"),
     ("s64", "mov.s64 {d}, {a};"), ("f64", "{{ .reg .f64 t; mov.b64 t, {a}; mov.f64 {d}, t; }}"))


def render(inputs, results, bound, launch):
    names = "abceghi"
    lines = [f"//! rows {' '.join(inputs)} -> {' '.join(t if t != 'pred' else 'pred' for t, _ in results)}", launch]
    if bound:
        lines.append(f"//! {bound}")
    params = [f".param .u64 p{i}" for i in range(len(inputs) + len(results))] + [".param .u32 count"]
    local = any("%q57" in code for _, code in results)
    shared = any("%w29" in code for _, code in results)
    lines += [".version 9.0", ".target sm_90a", ".address_size 64"] + ([".shared .align 16 .b8 cell[2048];"] if shared else []) + [f".visible .entry rows({', '.join(params)})", "{",
              "    .reg .pred %p<40>;", "    .reg .b16 %h<40>;", "    .reg .b32 %w<40>;", "    .reg .f32 %f<40>;", "    .reg .b64 %q<60>;", "    .reg .f64 %e<40>;",
              "    mov.u32 %w30, %ctaid.x;", "    mov.u32 %w31, %ntid.x;", "    mov.u32 %w32, %tid.x;", "    mad.lo.u32 %w33, %w30, %w31, %w32;", *(["    .local .align 16 .b8 depot[16];", "    mov.u64 %q57, depot;"] if local else []), *(["    mov.u32 %w29, cell;", "    mad.lo.u32 %w29, %w32, 16, %w29;"] if shared else []),
              "    ld.param.u32 %w34, [count];", "    setp.ge.u32 %p30, %w33, %w34;", "    @%p30 bra done;"]
    regs = {}
    for i, t in enumerate(inputs):
        letter, kind, how = REGS[t]
        reg = f"%{letter}{i}"
        regs[names[i]] = reg
        lines += [f"    ld.param.u64 %q{20 + i}, [p{i}];", f"    mad.wide.u32 %q{30 + i}, %w33, {SIZE.get(t, 4)}, %q{20 + i};"]
        if t == "pred":
            lines += [f"    ld.global.u32 %w{20 + i}, [%q{30 + i}];", f"    setp.ne.u32 {reg}, %w{20 + i}, 0;"]
        else:
            lines.append(f"    ld.global.{how} {reg}, [%q{30 + i}];")
    for i, (t, code) in enumerate(results):
        regs["d"] = f"%{REGS[t][0]}{8 + i}"
        lines.append("    " + code.format(**regs))
    for i, (t, _) in enumerate(results):
        letter, kind, how = REGS[t]
        n = len(inputs) + i
        lines += [f"    ld.param.u64 %q40, [p{n}];", f"    mad.wide.u32 %q41, %w33, {SIZE.get(t, 4)}, %q40;"]
        if t == "pred":
            lines += [f"    selp.u32 %w35, 1, 0, %p{8 + i};", "    st.global.u32 [%q41], %w35;"]
        else:
            lines.append(f"    st.global.{how} [%q41], %{letter}{8 + i};")
    return "\n".join(lines + ["done:", "    ret;", "}", ""])


def main():
    for area, name, inputs, results, bound in TESTS:
        os.makedirs(os.path.join(HERE, area), exist_ok=True)
        with open(os.path.join(HERE, area, name + ".ptx"), "w") as out:
            out.write(render(inputs, results, bound, "//! launch rows"))
    print(len(TESTS), "tests")


if __name__ == "__main__":
    main()
