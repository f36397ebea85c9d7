"""Row tests of f32, f64 and halves, and of the approximations with their bounds."""

from rowkit import HALVES, each, test

# ---- f32, f64 ----
ROUNDS = ("rn", "rz", "rm", "rp")
for op in ("add", "sub", "mul"):
    for t in ("f32", "f64"):
        test(
            "float",
            f"{op}_{t}",
            [t, t],
            *[(t, f"{op}.{r}.{t} {{d}}, {{a}}, {{b}};") for r in ROUNDS],
        )
    test(
        "float",
        f"{op}_f32_ftz_sat",
        ["f32", "f32"],
        ("f32", f"{op}.rn.ftz.f32 {{d}}, {{a}}, {{b}};"),
        ("f32", f"{op}.rn.sat.f32 {{d}}, {{a}}, {{b}};"),
        ("f32", f"{op}.rn.ftz.sat.f32 {{d}}, {{a}}, {{b}};"),
        ("f32", f"{op}.rz.ftz.f32 {{d}}, {{a}}, {{b}};"),
    )
for t in ("f32", "f64"):
    test(
        "float",
        f"fma_{t}",
        [t, t, t],
        *[(t, f"fma.{r}.{t} {{d}}, {{a}}, {{b}}, {{c}};") for r in ROUNDS],
    )
    test("float", f"div_{t}", [t, t], *[(t, f"div.{r}.{t} {{d}}, {{a}}, {{b}};") for r in ROUNDS])
    test("float", f"rcp_{t}", [t], *[(t, f"rcp.{r}.{t} {{d}}, {{a}};") for r in ROUNDS])
    test("float", f"sqrt_{t}", [t], *[(t, f"sqrt.{r}.{t} {{d}}, {{a}};") for r in ROUNDS])
    test("float", f"abs_neg_{t}", [t], (t, f"abs.{t} {{d}}, {{a}};"), (t, f"neg.{t} {{d}}, {{a}};"))
    test(
        "float",
        f"min_max_{t}",
        [t, t],
        (t, f"min.{t} {{d}}, {{a}}, {{b}};"),
        (t, f"max.{t} {{d}}, {{a}}, {{b}};"),
    )
    test("float", f"copysign_{t}", [t, t], (t, f"copysign.{t} {{d}}, {{a}}, {{b}};"))
    test(
        "float",
        f"testp_{t}",
        [t],
        *[
            ("pred", f"testp.{k}.{t} {{d}}, {{a}};")
            for k in ("finite", "infinite", "number", "notanumber", "normal", "subnormal")
        ],
    )
test(
    "float",
    "fma_f32_ftz_sat",
    ["f32", "f32", "f32"],
    ("f32", "fma.rn.ftz.f32 {d}, {a}, {b}, {c};"),
    ("f32", "fma.rn.sat.f32 {d}, {a}, {b}, {c};"),
    ("f32", "fma.rm.ftz.sat.f32 {d}, {a}, {b}, {c};"),
)
test("float", "div_ftz", ["f32", "f32"], ("f32", "div.rn.ftz.f32 {d}, {a}, {b};"))
test(
    "float",
    "rcp_sqrt_ftz",
    ["f32"],
    ("f32", "rcp.rn.ftz.f32 {d}, {a};"),
    ("f32", "sqrt.rn.ftz.f32 {d}, {a};"),
    ("f32", "abs.ftz.f32 {d}, {a};"),
    ("f32", "neg.ftz.f32 {d}, {a};"),
)
test(
    "float",
    "min_max_f32_modes",
    ["f32", "f32"],
    ("f32", "min.ftz.f32 {d}, {a}, {b};"),
    ("f32", "max.NaN.f32 {d}, {a}, {b};"),
    ("f32", "min.NaN.f32 {d}, {a}, {b};"),
    ("f32", "min.xorsign.abs.f32 {d}, {a}, {b};"),
    ("f32", "max.NaN.xorsign.abs.f32 {d}, {a}, {b};"),
)

# ---- approximations ----
# The virtual GPU computes them almost exactly, so a difference is the error of the hardware: the bounds are those of the PTX manual. A sine or
# cosine within [-pi, pi]; beyond, the reduction of the argument is the hardware's own and the same here. The f64 forms look at 20 fraction bits.
test(
    "approx",
    "ex2",
    ["f32"],
    ("f32", "ex2.approx.f32 {d}, {a};"),
    ("f32", "ex2.approx.ftz.f32 {d}, {a};"),
    bound="ulp 2 (PTX manual: relative 2^-22)",
)
test(
    "approx",
    "lg2",
    ["f32"],
    ("f32", "lg2.approx.f32 {d}, {a};"),
    ("f32", "lg2.approx.ftz.f32 {d}, {a};"),
    bound="ulp 2 (PTX manual: relative 2^-22 outside (0.5, 2))\n//! absolute 2.4e-7 (PTX manual: 2^-22 within)",
)
test(
    "approx",
    "sin",
    ["unit"],
    ("f32", "mul.f32 {a}, {a}, 0f40490fda; sin.approx.f32 {d}, {a};"),
    ("f32", "cos.approx.f32 {d}, {a};"),
    bound="absolute 5.1e-7 (PTX manual: 2^-20.9)",
)
test(
    "approx",
    "sin_edges",
    ["f32"],
    ("f32", "abs.f32 {a}, {a}; min.NaN.f32 {a}, {a}, 0f40400000; sin.approx.ftz.f32 {d}, {a};"),
    bound="absolute 5.1e-7 (PTX manual: 2^-20.9)",
)
test(
    "approx",
    "tanh",
    ["f32"],
    ("f32", "tanh.approx.f32 {d}, {a};"),
    bound="relative 4.9e-4 (PTX manual: 2^-11)",
)
test(
    "approx",
    "rcp",
    ["f32"],
    ("f32", "rcp.approx.f32 {d}, {a};"),
    ("f32", "rcp.approx.ftz.f32 {d}, {a};"),
    bound="ulp 1 (PTX manual)",
)
test(
    "approx",
    "rsqrt",
    ["f32"],
    ("f32", "rsqrt.approx.f32 {d}, {a};"),
    ("f32", "rsqrt.approx.ftz.f32 {d}, {a};"),
    bound="ulp 2 (PTX manual: relative 2^-22.9)",
)
test(
    "approx",
    "sqrt",
    ["f32"],
    ("f32", "sqrt.approx.f32 {d}, {a};"),
    ("f32", "sqrt.approx.ftz.f32 {d}, {a};"),
    bound="ulp 1 (PTX manual: relative 2^-23)",
)
test(
    "approx",
    "div",
    ["f32", "f32"],
    ("f32", "div.full.f32 {d}, {a}, {b};"),
    ("f32", "div.approx.f32 {d}, {a}, {b};"),
    ("f32", "div.approx.ftz.f32 {d}, {a}, {b};"),
    bound="ulp 2 (PTX manual)",
)
test(
    "approx",
    "rcp_f64",
    ["f64"],
    ("f64", "rcp.approx.ftz.f64 {d}, {a};"),
    ("f64", "rsqrt.approx.ftz.f64 {d}, {a};"),
    bound="relative 9.6e-7 (one unit of the 20 fraction bits that the result has)",
)
BOUND_HALF = {
    "f16": "ulp 1 (PTX manual: relative 2^-9.9, absolute 2^-10.987)",
    "bf16": "ulp 1 (PTX manual: relative 2^-7, 2^-8)",
}
test(
    "approx",
    "halves_f16",
    ["f16"],
    ("f16", "ex2.approx.f16 {d}, {a};"),
    ("f16", "tanh.approx.f16 {d}, {a};"),
    bound=BOUND_HALF["f16"],
)
test(
    "approx",
    "halves_bf16",
    ["bf16"],
    ("bf16", "ex2.approx.ftz.bf16 {d}, {a};"),
    ("bf16", "tanh.approx.bf16 {d}, {a};"),
    bound=BOUND_HALF["bf16"],
)

# ---- halves ----
for t in HALVES:
    for op in ("add", "sub", "mul"):
        test("half", f"{op}_{t}", [t, t], (t, f"{op}.rn.{t} {{d}}, {{a}}, {{b}};"))
        test("half", f"{op}_{t}x2", ["b32", "b32"], ("b32", f"{op}.rn.{t}x2 {{d}}, {{a}}, {{b}};"))
    test(
        "half",
        f"fma_{t}",
        [t, t, t],
        (t, f"fma.rn.{t} {{d}}, {{a}}, {{b}}, {{c}};"),
        (t, f"fma.rn.relu.{t} {{d}}, {{a}}, {{b}}, {{c}};"),
    )
    test(
        "half",
        f"fma_{t}x2",
        ["b32", "b32", "b32"],
        ("b32", f"fma.rn.{t}x2 {{d}}, {{a}}, {{b}}, {{c}};"),
    )
    test("half", f"abs_neg_{t}", [t], (t, f"abs.{t} {{d}}, {{a}};"), (t, f"neg.{t} {{d}}, {{a}};"))
    test(
        "half",
        f"min_max_{t}",
        [t, t],
        (t, f"min.{t} {{d}}, {{a}}, {{b}};"),
        (t, f"max.{t} {{d}}, {{a}}, {{b}};"),
        (t, f"min.NaN.{t} {{d}}, {{a}}, {{b}};"),
        (t, f"max.NaN.xorsign.abs.{t} {{d}}, {{a}}, {{b}};"),
    )
    test(
        "half",
        f"min_max_{t}x2",
        ["b32", "b32"],
        ("b32", f"min.{t}x2 {{d}}, {{a}}, {{b}};"),
        ("b32", f"max.{t}x2 {{d}}, {{a}}, {{b}};"),
        ("b32", f"abs.{t}x2 {{d}}, {{a}};"),
        ("b32", f"neg.{t}x2 {{d}}, {{a}};"),
    )
test(
    "half",
    "ftz_sat_f16",
    ["f16", "f16", "f16"],
    ("f16", "add.rn.ftz.f16 {d}, {a}, {b};"),
    ("f16", "mul.rn.sat.f16 {d}, {a}, {b};"),
    ("f16", "fma.rn.ftz.sat.f16 {d}, {a}, {b}, {c};"),
    ("f16", "sub.rn.ftz.sat.f16 {d}, {a}, {b};"),
)

for t in ("f16", "f16x2", "bf16", "bf16x2"):
    one = t if t in HALVES else "b32"
    test(
        "half",
        f"unmarked_{t}",
        [one, one, one],
        *[(one, f"{op}.{t} {{d}}, {{a}}, {{b}};") for op in ("add", "sub", "mul")],
        (one, f"fma.rn.relu.{t} {{d}}, {{a}}, {{b}}, {{c}};"),
    )
test(
    "half",
    "ftz_sat_f16x2",
    ["b32", "b32", "b32"],
    ("b32", "add.rn.ftz.f16x2 {d}, {a}, {b};"),
    ("b32", "mul.sat.f16x2 {d}, {a}, {b};"),
    ("b32", "sub.ftz.sat.f16x2 {d}, {a}, {b};"),
    ("b32", "fma.rn.ftz.f16x2 {d}, {a}, {b}, {c};"),
    ("b32", "fma.rn.sat.f16x2 {d}, {a}, {b}, {c};"),
)
test(
    "half",
    "abs_neg_ftz",
    ["f16", "b32"],
    ("f16", "abs.ftz.f16 {d}, {a};"),
    ("f16", "neg.ftz.f16 {d}, {a};"),
    ("b32", "abs.ftz.f16x2 {d}, {b};"),
    ("b32", "neg.ftz.f16x2 {d}, {b};"),
)
for t in ("f16x2", "bf16x2"):
    test(
        "half",
        f"min_max_{t}_modes",
        ["b32", "b32"],
        ("b32", f"min.NaN.{t} {{d}}, {{a}}, {{b}};"),
        ("b32", f"max.NaN.xorsign.abs.{t} {{d}}, {{a}}, {{b}};"),
        ("b32", f"max.xorsign.abs.{t} {{d}}, {{a}}, {{b}};"),
    )
test(
    "half",
    "min_max_f16_ftz",
    ["f16", "f16"],
    ("f16", "min.ftz.f16 {d}, {a}, {b};"),
    ("f16", "max.ftz.NaN.f16 {d}, {a}, {b};"),
)
