from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from orchestrator.errors import InputErrors
from orchestrator.planning.aliases import aliases_of, has_aliases, resolve

KNOWN = {"torch": ("1.13", "2.9.1", "2.13.0", "2.14.1"), "python": ("3.11", "3.14"), "openvino": ("2025.4.1",)}


def known(axis: str) -> tuple[str, ...]:
    return KNOWN.get(axis, ())


def test_aliases_become_versions_and_are_kept_beside_them(make: SimpleNamespace) -> None:
    matrix = make.matrix(
        make.row("a", make.cpu | {"torch": "newest 2.x", "python": "latest"}),
        make.row("b", make.cpu | {"torch": "2.13.0"}),
        axes=(make.values("torch", "2.13.0", "newest 2.x", "newest"), make.values("python", "3.11", "latest")),
    )
    assert has_aliases(matrix)
    resolved = resolve(matrix, known)
    assert not has_aliases(resolved)
    first, second = resolved.production
    assert first.axes == make.cpu | {"torch": "2.14.1", "python": "3.14"}
    assert first.aliases == {"torch": "newest 2.x", "python": "latest"}
    assert (second.axes, dict(second.aliases)) == (make.cpu, {})
    torch, python = resolved.axes
    assert (torch.values, torch.aliases) == (("2.13.0", "2.14.1"), {"2.14.1": "newest 2.x"})
    assert (python.values, python.aliases) == (("3.11", "3.14"), {"3.14": "latest"})


def test_a_value_that_is_written_is_no_alias_even_if_one_stands_for_it(make: SimpleNamespace) -> None:
    resolved = resolve(make.matrix(axes=(make.values("torch", "newest", "2.14.1"),)), known)
    assert (resolved.axes[0].values, dict(resolved.axes[0].aliases)) == (("2.14.1",), {})


def test_a_matrix_without_aliases_stays_as_it_is(make: SimpleNamespace) -> None:
    matrix = make.matrix(make.row("a", make.cpu), axes=(make.values("torch", "2.13.0"),))
    assert not has_aliases(matrix)
    assert resolve(matrix, known) == matrix


def test_an_alias_of_nothing_is_told_with_its_line(make: SimpleNamespace) -> None:
    matrix = make.matrix(
        make.row("a", make.cpu | {"torch": "newest 3.x"}, 7), axes=(make.values("driver", "newest", line=3),)
    )
    with pytest.raises(InputErrors) as caught:
        resolve(matrix, known)
    assert [str(problem) for problem in caught.value.problems] == [
        "matrix.yaml:3:5: `newest` of `driver` is nothing that the facts know (they know no version of `driver`)",
        "matrix.yaml:7:5: `newest 3.x` of `torch` is nothing that the facts know (they know 1.13 to 2.14.1)",
    ]


def test_a_value_of_a_row_that_no_alias_stands_for_is_told(make: SimpleNamespace) -> None:
    matrix = make.matrix(
        make.row("a", make.cpu | {"torch": "2.9.1"}, 7), axes=(make.values("torch", "2.13.0", "newest"),)
    )
    with pytest.raises(InputErrors, match=r"matrix.yaml:7:5: `2.9.1` is not among the values of `torch`") as caught:
        resolve(matrix, known)
    assert "`axes` has 2.13.0, 2.14.1" in str(caught.value)


def test_the_aliases_of_a_cell_are_those_whose_condition_holds(make: SimpleNamespace) -> None:
    section = (
        replace(make.values("driver", "580", torch_build="cu*"), aliases={"580": "newest"}),
        replace(make.values("torch", "2.13.0"), aliases={"2.13.0": "newest 2.x"}),
    )
    assert aliases_of(make.cuda, section) == {"driver": "newest", "torch": "newest 2.x"}
    assert aliases_of(make.cpu | {"driver": "580", "torch": "2.6.0"}, section) == {}
