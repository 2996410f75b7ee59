"""The operators that models use: data for the coverage of a backend.

Each name is in the core ATen operator set of torch (https://docs.pytorch.org/docs/stable/torch.compiler_ir.html), which
was made from the operators of 163 open models of torchbench, HuggingFace and TIMM; those here are the ones that the
inputs logged from these models name (pytorch/pytorch, benchmarks/dynamo/microbenchmarks/operator_inp_logs).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Sequence

import torch
from torch.nn import functional


@dataclass(frozen=True)
class Operator:
    """A core operator, and a call that becomes it. `takes` has a letter for each input.

    `a` numbers, 8 x 16; `p` the same, positive; `m` 16 x 8; `t` 2 x 8 x 16; `u` 2 x 16 x 8; `i` images, 2 x 4 x 8 x 8;
    `k` weights of a convolution, 4 x 4 x 3 x 3; `v` 16 numbers; `n` indices below 8, 8 x 4. `first` is in the smallest
    profile too.
    """

    name: str
    call: Callable[..., Any]
    takes: str = "a"
    first: bool = False


_UNARY: Sequence[Operator] = tuple(
    Operator(name, getattr(torch, name), takes, name in {"exp", "relu", "tanh", "sigmoid"})
    for name, takes in (
        *(("abs", "a"), ("ceil", "a"), ("cos", "a"), ("erf", "a"), ("exp", "a"), ("expm1", "a"), ("floor", "a")),
        *(("isnan", "a"), ("log", "p"), ("log1p", "p"), ("neg", "a"), ("reciprocal", "p"), ("relu", "a")),
        *(("round", "a"), ("rsqrt", "p"), ("sigmoid", "a"), ("sign", "a"), ("sin", "a"), ("sqrt", "p"), ("tanh", "a")),
    )
)
_BINARY: Sequence[Operator] = tuple(
    Operator(name, getattr(torch, name), takes, name in {"add", "mul"})
    for name, takes in (
        *(("add", "aa"), ("sub", "aa"), ("mul", "aa"), ("div", "ap"), ("pow", "pa"), ("maximum", "aa")),
        *(("minimum", "aa"), ("eq", "aa"), ("ne", "aa"), ("lt", "aa"), ("le", "aa"), ("gt", "aa"), ("ge", "aa")),
        *(("mm", "am"), ("bmm", "tu")),
    )
)
TABLE: Sequence[Operator] = (
    *_UNARY,
    *_BINARY,
    Operator("addmm", lambda v, a, m: torch.addmm(v[:8], a, m), "vam", first=True),
    Operator("convolution", lambda i, k: functional.conv2d(i, k, padding=1), "ik", first=True),
    Operator("_softmax", lambda a: torch.softmax(a, -1), first=True),
    Operator("_log_softmax", lambda a: torch.log_softmax(a, -1)),
    Operator("native_layer_norm", lambda a, v: functional.layer_norm(a, (16,), v), "av", first=True),
    Operator("native_group_norm", lambda i: functional.group_norm(i, 2), "i"),
    Operator(
        "_native_batch_norm_legit_no_training",
        lambda i, v: functional.batch_norm(i, v[:4], v[4:8].abs() + 1),
        "iv",
    ),
    Operator("gelu", functional.gelu),
    Operator("leaky_relu", functional.leaky_relu),
    Operator("hardtanh", functional.hardtanh),
    Operator("elu", functional.elu),
    Operator("avg_pool2d", lambda i: functional.avg_pool2d(i, 2), "i"),
    Operator("max_pool2d_with_indices", lambda i: functional.max_pool2d(i, 2), "i"),
    Operator("_adaptive_avg_pool2d", lambda i: functional.adaptive_avg_pool2d(i, 3), "i"),
    Operator("upsample_nearest2d", lambda i: functional.interpolate(i, scale_factor=2.0), "i"),
    Operator("constant_pad_nd", lambda a: functional.pad(a, (1, 2))),
    Operator("embedding", functional.embedding, "na"),
    Operator("sum", lambda a: a.sum(-1), first=True),
    Operator("mean", lambda a: a.mean(-1)),
    Operator("prod", lambda p: p.prod(-1), "p"),
    Operator("amax", lambda a: a.amax(-1)),
    Operator("amin", lambda a: a.amin(-1)),
    Operator("argmax", lambda a: a.argmax(-1)),
    Operator("var", lambda a: a.var(-1)),
    Operator("any", lambda a: (a > 2).any(-1)),
    Operator("cumsum", lambda a: a.cumsum(-1)),
    Operator("sort", lambda a: a.sort(-1)[0]),
    Operator("topk", lambda a: a.topk(3)[0]),
    Operator("clamp", lambda a: a.clamp(-1.0, 1.0)),
    Operator("where", lambda a: torch.where(a > 0, a, a * 0.5)),
    Operator("cat", lambda a, p: torch.cat([a, p], -1), "ap"),
    Operator("split_with_sizes", lambda a: torch.split(a, [4, 12], -1)[1]),
    Operator("permute", lambda t: t.permute(2, 0, 1), "t"),
    Operator("view", lambda a: a.view(4, 32)),
    Operator("expand", lambda v: v.expand(8, 16), "v"),
    Operator("repeat", lambda a: a.repeat(2, 3)),
    Operator("select", lambda a: a.select(0, 1)),
    Operator("slice", lambda a: a[:, 2:9]),
    Operator("squeeze", lambda t: t[:1].squeeze(0), "t"),
    Operator("unsqueeze", lambda a: a.unsqueeze(0)),
    Operator("gather", lambda n, a: a.gather(-1, n), "na"),
    Operator("index_select", lambda n, a: a.index_select(0, n[0]), "na"),
    Operator("index", lambda n, a: a[n[:, 0]], "na"),
    Operator("scatter_add", lambda n, a: torch.zeros_like(a).scatter_add(-1, n, a[:, :4]), "na"),
    Operator("_to_copy", lambda a: a.to(torch.float64)),
    Operator("full", lambda a: torch.full((8, 16), 2.0, device=a.device) + a),
    Operator("arange", lambda a: a + torch.arange(16, device=a.device)),
)
