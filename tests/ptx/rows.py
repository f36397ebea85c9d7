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
test("approx", "halves_f16", ["f16"], ("f16", "ex2.approx.f16 {d}, {a};"), ("f16", "tanh.approx.f16 {d}, {a};"), bound="ulp 1 (PTX manual: relative 2^-9.9, absolute 2^-10.987)")
test("approx", "halves_bf16", ["bf16"], ("bf16", "ex2.approx.ftz.bf16 {d}, {a};"), ("bf16", "tanh.approx.bf16 {d}, {a};"), bound="ulp 1 (PTX manual: relative 2^-7, 2^-8)")

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

# ---- moves ----
test("move", "pack", ["b16", "b16"], ("b32", "mov.b32 {d}, {{{a}, {b}}};"))
test("move", "pack64", ["b32", "b32"], ("b64", "mov.b64 {d}, {{{a}, {b}}};"))
test("move", "unpack", ["b32"], ("b16", "{{ .reg .b16 t; mov.b32 {{{d}, t}}, {a}; }}"), ("b16", "{{ .reg .b16 t; mov.b32 {{t, {d}}}, {a}; }}"))
test("move", "unpack64", ["b64"], ("b32", "{{ .reg .b32 t; mov.b64 {{{d}, t}}, {a}; }}"), ("b16", "{{ .reg .b16 t, u, v; mov.b64 {{t, u, {d}, v}}, {a}; }}"))


def render(inputs, results, bound, launch):
    names = "abce"
    lines = [f"//! rows {' '.join(inputs)} -> {' '.join(t if t != 'pred' else 'pred' for t, _ in results)}", launch]
    if bound:
        lines.append(f"//! {bound}")
    params = [f".param .u64 p{i}" for i in range(len(inputs) + len(results))] + [".param .u32 count"]
    lines += [".version 9.0", ".target sm_90a", ".address_size 64", f".visible .entry rows({', '.join(params)})", "{",
              "    .reg .pred %p<40>;", "    .reg .b16 %h<40>;", "    .reg .b32 %w<40>;", "    .reg .f32 %f<40>;", "    .reg .b64 %q<60>;", "    .reg .f64 %e<40>;",
              "    mov.u32 %w30, %ctaid.x;", "    mov.u32 %w31, %ntid.x;", "    mov.u32 %w32, %tid.x;", "    mad.lo.u32 %w33, %w30, %w31, %w32;",
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
