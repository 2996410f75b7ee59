"""Inductor: what its generated text says, and what it counts, read without guessing."""

import subprocess
from collections.abc import Callable

import pytest

pytestmark = pytest.mark.torch
Snippet = Callable[..., subprocess.CompletedProcess[str]]

TEXT = """
cpp_fused__softmax_add_mul_tanh_0 = async_compile.cpp_pybinding(['const float*'], r'''
''')
triton_per_fused_native_layer_norm_1 = async_compile.triton('triton_', '''
cpp_packed_gemm_2 = async_compile.cpp_pybinding([
def call(args):
    cpp_fused__softmax_add_mul_tanh_0(arg0_1)
    extern_kernels.mm(arg0_1, buf0, out=buf1)
    buf2 = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default(arg0_1)
    buf3 = torch.ops.mkldnn._linear_pointwise.default(arg0_1)
    buf4 = torch.ops.aten.sort.stable(buf2)
"""


def held(done: subprocess.CompletedProcess[str]) -> None:
    if done.returncode == 77:
        pytest.skip("this torch has no inductor that works here")
    assert done.returncode == 0, done.stdout + done.stderr


def test_kernels_their_members_and_what_is_left_to_torch(snippet: Snippet) -> None:
    held(
        snippet(f"""
from suites import inductor
text = {TEXT!r}
assert inductor.kernels(text) == [
    ("_softmax", "add", "mul", "tanh"), ("native_layer_norm",), ("cpp_packed_gemm_2",)
], inductor.kernels(text)
assert inductor.left_to_torch(text) == ["aten._scaled_dot_product_flash_attention_for_cpu", "aten.sort"]
assert inductor.members("cpp_fused_nothing_of_this_name_3") == ("nothing_of_this_name",)
""")
    )


def test_hits_are_known_only_where_they_are_counted(snippet: Snippet) -> None:
    held(
        snippet("""
from collections import Counter, defaultdict
from suites.inductor import cache_hits
counters = defaultdict(Counter)
assert cache_hits(counters) is None
counters["inductor"]["fxgraph_cache_miss"] += 2
assert cache_hits(counters) == (0, 2)
counters["inductor"]["fxgraph_cache_hit"] += 1
counters["inductor"]["fxgraph_cache_bypass"] += 1
assert cache_hits(counters) == (1, 3)
""")
    )


RUN = """
import os, sys, tempfile
os.environ.setdefault("LOGNAME", "u")
os.environ["TORCHINDUCTOR_CACHE_DIR"] = sys.argv[1]
os.environ["TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS"] = "0"
import torch
if not hasattr(torch, "compile"): raise SystemExit(77)
from suites import backends, inductor
before = backends.start("inductor")
there = inductor.found_cache()
try:
    with torch.no_grad():
        backends.through("inductor", lambda x: torch.tanh(x * 1.5) + x)(torch.ones(8, 8))
except Exception as error:
    if backends.toolchain_missing(error): raise SystemExit(77)
    raise
use = backends.used("inductor", before)
assert use.taken == use.graphs == 1 and use.skipped == 0 and use.left == (), use
assert use.fused == (("add", "mul", "tanh"),), use
print(there, use.cached)
"""


def test_a_second_process_finds_what_the_first_compiled(snippet: Snippet, tmp_path: object) -> None:
    first, second = snippet(RUN, str(tmp_path)), snippet(RUN, str(tmp_path))
    held(first)
    held(second)
    assert first.stdout.split(" ", 1)[0] == "False"
    assert second.stdout.split(" ", 1)[0] == "True"
    assert second.stdout.split(" ", 1)[1].strip() in {"(1, 0)", "None"}, "a graph that was kept is taken from there"
