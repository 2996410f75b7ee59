"""Scopes: kernels' names lose what changes from build to build, and traces tell split, merged and renamed apart."""

import json
from pathlib import Path

import pytest

from orchestrator.formats import Kernel, LoadStructure, OperatorScope, StructureFile
from orchestrator.results.change import ChangeKind
from orchestrator.results.structure import differences
from suites import scopes
from suites.scopes import Event

TRACES = Path(__file__).parents[1] / "data" / "structure"
OPERATORS = ("add", "gelu", "mul", "tanh", "native_layer_norm")


@pytest.mark.parametrize(
    ("kernel", "name"),
    [
        ("triton_poi_fused_add_mul_0", "triton_poi_fused_add_mul"),
        ("triton_per_fused__softmax_0d1d2de", "triton_per_fused__softmax"),
        ("cpp_fused_native_layer_norm_12", "cpp_fused_native_layer_norm"),
        ("ampere_sgemm_128x64_tn", "ampere_sgemm_tn"),
        (
            "sm90_xmma_gemm_bf16bf16_f32f32f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_cublas",
            "sm90_xmma_gemm_bf16bf16_f32f32f32_f32_tn_n_tilesize_warpgroupsize_cublas",
        ),
        (
            "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>, array<char*, 3> >(int)",
            "at::native::vectorized_elementwise_kernel",
        ),
        (
            "void (anonymous namespace)::softmax_warp_forward<float, float, float, 7, false, false>(float*, int)",
            "softmax_warp_forward",
        ),
        ("void cut::off<float, std::array<char*", "cut::off"),
        ("Cijk_Ailk_Bljk_SB_MT128x64x16_SE_K1", "Cijk_Ailk_Bljk_SB_MT_SE_K1"),
        ("kernel_3fa9c01b77de4512", "kernel"),
        ("Memcpy HtoD (Pageable -> Device)", "Memcpy HtoD"),
        ("12", "12"),
    ],
)
def test_what_changes_from_build_to_build_is_left_out_of_a_name(kernel: str, name: str) -> None:
    assert scopes.normalised(kernel) == name


def test_a_scope_names_tensors_and_not_numbers() -> None:
    told = scopes.named("aten::addmm", [(64,), (8, 4), (4, 64), ()], ["float", "c10::BFloat16", "long int", "Scalar"])
    assert told == "aten::addmm(float32[64],bfloat16[8x4],int64[4x64])"


def test_long_scopes_stay_apart() -> None:
    one, other = (scopes.named("aten::cat", [(size,)] * 200, ["float"] * 200) for size in (7, 8))
    assert one != other
    assert max(len(one), len(other)) <= scopes.LONGEST


def test_on_a_processor_kernels_are_the_operators_that_work() -> None:
    found = {scope.name: scope for scope in scopes.scopes(EAGER, on_device=False, nature=NATURE.get)}
    assert {name: dict(scope.kernels) for name, scope in found.items()} == {
        "aten::addmm(float32[4],float32[4x4],float32[4x4])": {"aten::addmm": 1},
        "aten::copy_(float32[4x4],float32[4x4])": {"aten::copy_": 1},
        scopes.HOUSEKEEPING: {},
        scopes.OUTSIDE: {},
    }
    # The view inside of the product is its own; linear only hands on.
    assert found["aten::addmm(float32[4],float32[4x4],float32[4x4])"].steps_ns(1) == [110.0]
    assert found[scopes.HOUSEKEEPING].steps_ns(1) == [5.0]


SHAPES = [(4,), (4, 4), (4, 4)]
NATURE = {"aten::linear": "composite", "aten::addmm": "native"}
EAGER = [
    Event("step", -1, 0.0, 50.0),
    Event("aten::linear", 0, 1.0, 5.0, [(4, 4)], ["float"]),
    Event("aten::addmm", 1, 1.0, 100.0, SHAPES, ["float"] * 3),  # older torch tells whole microseconds: ties
    Event("aten::expand", 2, 1.0, 10.0, [(4,)], ["float"]),
    Event("aten::copy_", 2, 2.0, 20.0, [(4, 4), (4, 4)], ["float", "float"]),
]


def test_counts_that_are_no_whole_number_for_a_step_are_told() -> None:
    assert scopes.per_step(6, 3) == (2, None)
    assert scopes.per_step(7, 3) == (2, "7 in 3 steps")
    assert scopes.per_step(1, 3) == (1, "1 in 3 steps")


def test_times_are_those_of_each_step_where_calls_are_whole() -> None:
    calls = [(float(at), 10.0 * (at + 1)) for at in range(4)]
    assert scopes.Scope("s", calls).steps_ns(2) == [30.0, 70.0]
    assert scopes.Scope("s", calls[:3]).steps_ns(2) == [30.0]


def test_copies_between_host_and_device_are_counted() -> None:
    copy = Event("aten::copy_", -1, 0.0, 1.0, [(4,)], ["float"], [("Memcpy HtoD (Pageable -> Device)", 9.0)])
    (found,) = scopes.scopes([copy], on_device=True)
    assert found.copies == 1


def test_an_operator_that_the_device_gave_back_is_named() -> None:
    events = [Event("aten::foo", -1, 0.0, 1.0), Event("aten::_to_cpu", 0, 1.0, 1.0)]
    assert scopes.fallbacks(events) == {"aten::foo"}


def test_too_many_scopes_are_summed_and_nothing_is_lost() -> None:
    events = [Event("aten::mul", -1, float(at), 1.0, [(at + 1,)], ["float"]) for at in range(300)]
    found = scopes.scopes(events, on_device=False)
    assert len(found) == scopes.MOST
    assert sum(sum(scope.kernels.values()) for scope in found) == 300
    assert sum(len(scope.calls) for scope in found) == 300


@pytest.mark.parametrize(
    ("trace", "kinds"),
    [
        ("fused", []),
        ("renamed", []),
        ("split", [ChangeKind.SPLIT]),
        ("two_kernels", [ChangeKind.MORE_KERNELS]),
    ],
)
def test_golden_traces(trace: str, kinds: list[ChangeKind]) -> None:
    found = differences(structure("fused"), structure(trace))
    assert [change.kind for change in found] == kinds
    assert all(change.share > 0 for change in found)
    back = differences(structure(trace), structure("fused"))
    assert (ChangeKind.MERGED in {change.kind for change in back}) == (ChangeKind.SPLIT in kinds)


def structure(trace: str) -> StructureFile:
    """What the suite would write of a trace."""
    told = json.loads((TRACES / f"{trace}.json").read_text())
    found = scopes.scopes([Event(**event) for event in told["events"]], on_device=True, members=members)
    made = tuple(
        OperatorScope(
            scope=scope.name,
            calls=scopes.per_step(len(scope.calls), told["steps"])[0],
            self_ns=round(sum(spent for _, spent in scope.calls)),
            kernels=tuple(
                Kernel(name=name, count=scopes.per_step(number, told["steps"])[0])
                for name, number in scope.kernels.items()
            ),
        )
        for scope in found
    )
    fused = tuple(
        tuple(scope.scope[len(scopes.FUSED) :].split("(")[0].split("+"))
        for scope in made
        if scope.scope.startswith(scopes.FUSED)
    )
    load = LoadStructure(
        load="l",
        shapes="s",
        precision="fp32",
        backend="inductor",
        launches=1,
        kernels_sha256="x",
        scopes=made,
        fused=fused,
    )
    return StructureFile(backends=(), loads=(load,))


def members(kernel: str) -> list[str]:
    """As `suites.inductor.members` has it, without torch."""
    return [name for name in OPERATORS if f"_{name}_" in kernel]
