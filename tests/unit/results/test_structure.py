"""Differences of structure: what is one is found from one run a side and named, what is none is none."""

import hashlib
from collections.abc import Sequence

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.formats import Fingerprint, Kernel, LoadStructure, OperatorScope, StructureFile
from orchestrator.results.change import MIRRORED, ChangeKind
from orchestrator.results.structure import differences, marked

names = st.sampled_from(["add", "mul", "tanh", "native_layer_norm", "gelu", "_softmax", "sum", "exp"])
kernel_members = st.lists(names, min_size=1, max_size=5).map(tuple)
kernels = st.lists(st.builds(Kernel, name=names, count=st.integers(1, 3)), max_size=2, unique_by=lambda one: one.name)
reasons = st.lists(st.sampled_from(["print", "data-dependent", "opaque"]), max_size=2, unique=True).map(tuple)


def scope(name: str, calls: int = 1, ns: int = 100, launched: Sequence[Kernel] = ()) -> OperatorScope:
    return OperatorScope(scope=name, calls=calls, self_ns=ns, kernels=tuple(launched))


def load(name: str = "model", **more) -> LoadStructure:
    given_more = {"launches": 1, "kernels_sha256": "x", "scopes": (), **more}
    return LoadStructure(load=name, shapes="8x8", precision="fp32", backend="inductor", **given_more)


def file(*loads: LoadStructure, fingerprints: Sequence[Fingerprint] = ()) -> StructureFile:
    return StructureFile(backends=(), loads=loads, fingerprints=tuple(fingerprints))


@st.composite
def loads(draw) -> LoadStructure:
    operators = draw(st.lists(names, max_size=4, unique=True))
    made = tuple(
        scope(f"aten::{one}(float32[8x8])", draw(st.integers(1, 4)), draw(st.integers(0, 900)), draw(kernels))
        for one in operators
    )
    fused = tuple(draw(st.lists(kernel_members, max_size=4)))
    return load(
        draw(st.sampled_from(["matmul", "model"])),
        scopes=made,
        fused=fused,
        launches=draw(st.integers(1, 5)),
        graph_breaks=draw(st.integers(0, 2)),
        break_reasons=draw(reasons),
        fallbacks=draw(reasons),
        flops=draw(st.sampled_from([0, 10])),
        formula=draw(st.sampled_from(["", "torch"])),
        unstable=draw(reasons),
    )


def fingerprint(sample=(1.0, 2.0), *, bits: str = "a", nonfinite: int = 0, dtype: str = "float32") -> Fingerprint:
    finite = [abs(one) for one in sample if one is not None]
    return Fingerprint(
        load="model",
        shapes="8x8",
        precision="fp32",
        output=0,
        dtype=dtype,
        shape=(len(sample),),
        sha256=hashlib.sha256(bits.encode()).hexdigest(),
        norm=sum(one * one for one in finite) ** 0.5,
        mean=sum(finite) / len(finite),
        largest=max(finite),
        nonfinite=nonfinite,
        sample=tuple(sample),
    )


files = st.lists(loads(), max_size=2, unique_by=lambda one: one.load).map(lambda made: file(*made))


@given(files)
def test_what_is_equal_has_no_difference(one: StructureFile) -> None:
    assert differences(one, one) == ()


@given(files, files)
def test_the_same_changes_are_seen_from_the_other_side(one: StructureFile, other: StructureFile) -> None:
    there, back = differences(one, other), differences(other, one)
    seen = [
        (MIRRORED.get(change.kind, change.kind), change.load, change.scope, change.after, change.before)
        for change in there
    ]
    assert sorted(seen) == sorted((one.kind, one.load, one.scope, one.before, one.after) for one in back)


@given(loads(), st.data())
def test_a_fused_kernel_that_is_split_is_always_found(whole: LoadStructure, data) -> None:
    members = tuple(data.draw(st.lists(names, min_size=2, max_size=6, unique=True)))
    where = data.draw(st.lists(st.integers(0, 2), min_size=len(members), max_size=len(members)))
    parts = [tuple(one for one, at in zip(members, where, strict=True) if at == part) for part in range(3)]
    parts = [part for part in parts if part]
    if len(parts) < 2:
        parts = [members[:1], members[1:]]
    before = msgspec.structs.replace(whole, fused=(*whole.fused, members))
    after = msgspec.structs.replace(whole, fused=(*whole.fused, *parts))
    split, *more = differences(file(before), file(after))
    assert split.kind is ChangeKind.SPLIT
    assert not more
    assert sorted(split.after) == sorted("+".join(sorted(part)) for part in parts)
    assert split.before == ("+".join(sorted(members)),)
    assert [change.kind for change in differences(file(after), file(before))] == [ChangeKind.MERGED]


def test_a_kernel_that_only_has_another_name_is_no_change() -> None:
    before = scope("aten::mm(float32[8x8])", launched=[Kernel(name="ampere_sgemm_tn", count=1)])
    after = scope("aten::mm(float32[8x8])", launched=[Kernel(name="nvjet_tst_TNN", count=1)])
    other = load(scopes=(after,), kernels_sha256="y", fused=(("mul", "add"),))
    assert differences(file(load(scopes=(before,), fused=(("add", "mul"),))), file(other)) == ()


def test_more_kernels_for_an_operator_are_told_with_its_share_of_the_step() -> None:
    rest = scope("aten::add(float32[8x8])", ns=300, launched=[Kernel(name="add", count=1)])
    before = scope("aten::_softmax(float32[8x8])", ns=100, launched=[Kernel(name="softmax", count=1)])
    after = scope(
        "aten::_softmax(float32[8x8])", ns=100, launched=[Kernel(name="maximum", count=1), Kernel(name="sum", count=1)]
    )
    (found,) = differences(file(load(scopes=(before, rest))), file(load(scopes=(after, rest))))
    assert found.kind is ChangeKind.MORE_KERNELS
    assert found.share == 0.25
    assert found.before == ("1 x softmax",)
    assert found.after == ("1 x maximum", "1 x sum")
    assert found.sentence == "model 8x8 fp32: aten::_softmax(float32[8x8]) launches 2 kernels a step, and launched 1"


def test_an_operator_that_left_its_fused_kernel_split_it() -> None:
    alone = scope("mylib::sin(float32[8x8])", launched=[Kernel(name="mylib::sin", count=1)])
    before = load(fused=(("add", "mul", "sin"),))
    found = differences(file(before), file(load(fused=(("mul",), ("add",)), scopes=(alone,))))
    assert [change.kind for change in found] == [ChangeKind.SPLIT, ChangeKind.NEW_OPERATOR]


def test_a_barrier_that_is_fused_itself_splits_all_the_same() -> None:
    before, after = load(fused=(("add", "mul", "sin"),)), load(fused=(("add", "mul"), ("keep", "mul", "sin")))
    assert [change.kind for change in differences(file(before), file(after))] == [ChangeKind.SPLIT]
    assert [change.kind for change in differences(file(after), file(before))] == [ChangeKind.MERGED]


def test_a_kernel_of_operators_that_were_not_there_is_no_split() -> None:
    found = differences(file(load(fused=(("a", "b"),))), file(load(fused=(("a", "b"), ("c", "d")))))
    assert [change.kind for change in found] == [ChangeKind.NEW_OPERATOR]


def test_what_is_split_off_a_kernel_that_keeps_all_its_names_is_a_split() -> None:
    found = differences(file(load(fused=(("add", "mul"),))), file(load(fused=(("add", "mul"), ("mul",)))))
    assert [change.kind for change in found] == [ChangeKind.SPLIT]


def test_two_alike_kernels_that_are_both_split_are_one_split() -> None:
    found = differences(file(load(fused=(("a", "b"),) * 2)), file(load(fused=(("a",), ("b",)) * 2)))
    assert [change.kind for change in found] == [ChangeKind.SPLIT]


def test_operators_that_changed_partners_are_fused_otherwise() -> None:
    found = differences(file(load(fused=(("a", "b"), ("c", "d")))), file(load(fused=(("a", "c"), ("b", "d")))))
    assert [change.kind for change in found] == [ChangeKind.REGROUPED]


@pytest.mark.parametrize(
    ("changed", "kind", "words"),
    [
        ({"graph_breaks": 1, "break_reasons": ("call to print",)}, ChangeKind.GRAPH_BREAKS, "call to print"),
        ({"recompiles": 3, "recompile_reasons": ("size changed",)}, ChangeKind.RECOMPILES, "size changed"),
        ({"fallbacks": ("aten::tanh on cpu",)}, ChangeKind.FALLBACKS, "ran elsewhere than asked: aten::tanh on cpu"),
        ({"flops": 20}, ChangeKind.WORK, "10 operations a step became 20"),
        ({"launches": 2}, ChangeKind.LAUNCHES, "1 launches a step became 2"),
        ({"copies": 2}, ChangeKind.COPIES, "0 copies between host and device a step became 2"),
        ({"graphs": 2}, ChangeKind.GRAPHS, "0 graphs became 2"),
    ],
)
def test_each_count_is_compared_exactly(changed, kind: ChangeKind, words: str) -> None:
    before = load(flops=10, formula="torch")
    (found,) = differences(file(before), file(msgspec.structs.replace(before, **changed)))
    assert found.kind is kind
    assert words in found.sentence


TELLS_NOT = {"fallbacks": None, "fallbacks_unknown": "not known: openvino does not tell it"}


def test_fallbacks_that_are_not_known_are_none_that_are_gone_or_new() -> None:
    known, silent = load(fallbacks=("aten.sort",)), load(**TELLS_NOT)
    assert differences(file(known), file(silent)) == ()
    assert differences(file(silent), file(known)) == ()
    assert differences(file(silent), file(load())) == ()


def test_a_fallback_that_is_known_is_new_though_there_may_be_more() -> None:
    some = load(fallbacks=("aten::tanh on cpu",), fallbacks_unknown="not known: x does not tell the rest")
    (found,) = differences(file(load()), file(some))
    assert found.sentence.endswith("ran elsewhere than asked: aten::tanh on cpu")


def test_fallbacks_are_not_unknown_for_no_reason() -> None:
    written = msgspec.json.encode(file(load(**TELLS_NOT)))
    assert msgspec.json.decode(written, type=StructureFile).loads[0].fallbacks is None
    with pytest.raises(msgspec.ValidationError, match="does not say why"):
        msgspec.json.decode(written.replace(b"not known: openvino does not tell it", b""), type=StructureFile)


def test_operations_counted_in_two_ways_are_not_compared() -> None:
    assert differences(file(load(flops=10, formula="torch")), file(load())) == ()


def test_collectives_are_named_as_such() -> None:
    reduce = scope("c10d::allreduce_(float32[8])", launched=[Kernel(name="nccl", count=1)])
    twice = msgspec.structs.replace(reduce, calls=2)
    assert [change.kind for change in differences(file(load(scopes=(reduce,))), file(load(scopes=(twice,))))] == [
        ChangeKind.COLLECTIVES
    ]
    assert [change.kind for change in differences(file(load()), file(load(scopes=(reduce,))))] == [
        ChangeKind.COLLECTIVES
    ]


def test_what_differs_from_itself_is_marked() -> None:
    one = scope("aten::mm(float32[8x8])", calls=1, launched=[Kernel(name="mm", count=1)])
    two = msgspec.structs.replace(one, calls=2)
    (by_steps,) = differences(
        file(load(scopes=(one,))), file(load(scopes=(two,), unstable=("aten::mm(float32[8x8]): 5 in 3 steps",)))
    )
    assert by_steps.unstable
    (change,) = differences(file(load(scopes=(one,))), file(load(scopes=(two,))))
    assert not change.unstable
    (by_runs,) = marked([change], differences(file(load(scopes=(two,))), file(load(scopes=(one,)))))
    assert by_runs.unstable


def test_a_load_on_one_side_only_is_told_unless_a_side_has_none_at_all() -> None:
    both = differences(file(load("matmul"), load("model")), file(load("model")))
    assert [(change.kind, change.load) for change in both] == [(ChangeKind.LOST_LOAD, "matmul 8x8 fp32")]
    assert differences(file(load("matmul")), file()) == ()


def test_a_kernel_wrong_in_the_last_bits_is_seen_and_its_size_told() -> None:
    before, after = fingerprint(), fingerprint((1.0 + 2**-22, 2.0), bits="b")
    (found,) = differences(file(fingerprints=[before]), file(fingerprints=[after]))
    assert found.kind is ChangeKind.LAST_BITS
    assert found.sentence == "model 8x8 fp32: output 0 differs by 1 units in the last place of its largest value"
    unseen = fingerprint(bits="b")
    (found,) = differences(file(fingerprints=[before]), file(fingerprints=[unseen]))
    assert found.kind is ChangeKind.LAST_BITS
    assert "none of the values that were kept does" in found.sentence


@pytest.mark.parametrize(
    ("after", "kind"),
    [
        (fingerprint((1.01, 2.0), bits="b"), ChangeKind.VALUES),
        (fingerprint((1.0, None), bits="b", nonfinite=1), ChangeKind.NOT_FINITE),
        (fingerprint((1.0, 2.0, 3.0), bits="b"), ChangeKind.OUTPUTS),
        (fingerprint(bits="b", dtype="bfloat16"), ChangeKind.OUTPUTS),
    ],
)
def test_larger_differences_of_values_are_of_their_own_kind(after: Fingerprint, kind: ChangeKind) -> None:
    found = differences(file(fingerprints=[fingerprint()]), file(fingerprints=[after]))
    assert [change.kind for change in found] == [kind]
