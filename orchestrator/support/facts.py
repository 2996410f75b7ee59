"""The facts: the shipped ones in one fast file, and a site's own above them.

`facts/*.yaml` are written by hand and read by people; `compiled.json` is what the program reads, made from them by
`make facts` and held fresh by a test. A row of a site's overlay joins the rule of its name.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

from msgspec import Struct, json
from msgspec.structs import replace

from orchestrator.support import conditions, spans
from orchestrator.support.axes import is_version
from orchestrator.support.binary import Relation
from orchestrator.support.derive import Derivations
from orchestrator.support.devices import Devices
from orchestrator.support.question import Question
from orchestrator.support.rows import (
    Condition,
    FactsFile,
    Row,
    Rule,
    Source,
)
from orchestrator.support.table import Table
from orchestrator.vocabulary import Evidence

FOLDER = Path(__file__).parent / "facts"
COMPILED = FOLDER / "compiled.json"
PUBLISHED = "index-mapping"
_NO_SOURCE = Source(text="", evidence=Evidence.SECONDARY)


class Known(Struct, frozen=True):
    """A row with its rule: what `torchmatrix facts` lists."""

    rule: Rule
    row: Row
    source: Source

    @property
    def as_of(self) -> str:
        """The day that the row is as of; an empty text when nobody said."""
        return self.row.as_of or self.source.as_of

    @property
    def evidence(self) -> Evidence:
        """How the row is known."""
        return self.row.evidence or self.source.evidence


class Facts:
    """All that is known, ready to be asked."""

    def __init__(self, file: FactsFile) -> None:
        self.file = file
        evidence = {key: source.evidence for key, source in file.sources.items()}
        self.tables = tuple(Table(rule, evidence) for rule in file.rules)
        self.devices = Devices(file.devices)
        self.derivations = Derivations(file.derivations)

    @cached_property
    def lifetime_tables(self) -> Sequence[Table]:
        """The rules' ends of life, ready to be asked."""
        ends = ((rule, [row for row in rule.rows if row.until is not None]) for rule in self.file.rules)
        return [Table(rule, {}, [replace(row, need={}) for row in rows]) for rule, rows in ends if rows]

    def relation(self, name: str) -> Relation | None:
        """The binary compatibility of the rule of that name."""
        return next((table.relation for table in self.tables if table.rule.name == name and table.relation), None)

    def cuda_builds(self, question: Question) -> tuple[str, ...]:
        """The CUDA builds of the release that was asked about, when no build was named."""
        if "torch" not in question.values or "torch_build" in question.values:
            return ()
        rows = [row for table in self.tables if table.rule.name == PUBLISHED for row in table.possible(question)]
        named = dict.fromkeys(
            text for row in rows for text in conditions.alternatives((row.need or {}).get("torch_build", ()))
        )
        return tuple(text for text in named if text.startswith("cu"))

    def source_of(self, key: str) -> tuple[str, str]:
        """The text and the day of a source."""
        source = self.file.sources.get(key, _NO_SOURCE)
        return source.text, source.as_of

    def source(self, row: Row) -> tuple[str, str]:
        """Where a row comes from, and as of when."""
        text, as_of = self.source_of(row.source)
        return text, row.as_of or as_of

    @cached_property
    def lifetimes(self) -> Sequence[Row]:
        """The rows that are ends of life."""
        return [row for rule in self.file.rules for row in rule.rows if row.until is not None]

    def rows(self) -> Sequence[Known]:
        """Every row with its rule and source."""
        sources = self.file.sources
        return [Known(rule, row, sources.get(row.source, _NO_SOURCE)) for rule in self.file.rules for row in rule.rows]

    def values(self, axis: str) -> tuple[str, ...]:
        """The values of an axis that some fact names, oldest first where they are versions."""
        return self._values.get(axis, ())

    def listed(self, axis: str) -> tuple[str, ...]:
        """The values of an axis that some fact names by themselves, and not as the end of a range: what there is."""
        rows = (row for rule in self.file.rules for row in rule.rows)
        needs = (needs for row in rows for needs in (row.when, row.need or {}, *row.need_any) if axis in needs)
        named = {text for one in needs for text in conditions.alternatives(one[axis]) if text[:1].isalnum()}
        return tuple(text for text in self.values(axis) if text in named)

    @cached_property
    def _values(self) -> Mapping[str, tuple[str, ...]]:
        found: dict[str, set[str]] = {}
        for rule in self.file.rules:
            for row in rule.rows:
                for needs in (row.when, row.need or {}, *row.need_any):
                    for axis, condition in needs.items():
                        found.setdefault(axis, set()).update(_named(axis, condition))
        for derivation in self.file.derivations:
            for axis, condition in derivation.when.items():
                found.setdefault(axis, set()).update(_named(axis, condition))
        if compatibility := self.file.compatibility:
            found.setdefault("driver", set()).update(row.driver for row in compatibility.full)
            found.setdefault("driver", set()).update(row.driver for row in compatibility.minor)
            for axis in ("cuda_runtime", "container_cuda", "driver_cuda"):
                minors = {".".join(row.toolkit.split(".")[:2]) for row in compatibility.full}
                found.setdefault(axis, set()).update(minors)
        return {
            axis: tuple(spans.order(values) if is_version(axis) else sorted(values)) for axis, values in found.items()
        }


def _named(axis: str, condition: Condition) -> list[str]:
    """The single values that a condition names: plain versions, the ends of its ranges, words without globs."""
    named: list[str] = []
    for text in conditions.alternatives(condition):
        if text.startswith((conditions.SAME, conditions.COMPATIBLE, conditions.AT_LEAST)):
            continue
        if not is_version(axis):
            named += [text] if not set(text) & set("*?[") else []
        else:
            named += [clause.lstrip("<>=~ ") for clause in text.split(",") if not clause.lstrip().startswith("!")]
    return named


def load_facts(overlays: Sequence[Path] = ()) -> Facts:
    """The shipped facts, with a site's own above them. InputError for an overlay that is none."""
    shipped = json.decode(COMPILED.read_bytes(), type=FactsFile)
    if overlays:
        from orchestrator.support.facts_files import read_file
        from orchestrator.support.layers import join

        for overlay in overlays:
            shipped = join(shipped, read_file(overlay), name=str(overlay))
    return Facts(shipped)
