"""The form of a facts file: what `facts/*.yaml` and a site's overlays hold.

Everything that is known of vendors is in these rows; no version number stands in code. `conditions.py` says how a
condition is written, `table.py` how the rows of a rule are weighed.
"""

from collections.abc import Mapping
from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from orchestrator.vocabulary import Evidence, RuleKind, Verdict

Condition = str | tuple[str, ...]
Conditions = Mapping[str, Condition]
Text = Annotated[str, Meta(min_length=1, max_length=2000)]
Name = Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$(?!\n)")]
Day = Annotated[str, Meta(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$(?!\n)")]


class Source(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where a row comes from, as of which day, and how it is known."""

    text: Text
    evidence: Evidence
    as_of: str = ""


class Row(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One fact. Where `when` holds, `need` (or one of `need_any`) must hold; with neither, `when` itself is refused.

    `until` is an end of life. A `partial` row can allow and never refuse: its source names some values, not all.
    """

    when: Conditions = {}
    need: Conditions | None = None
    need_any: tuple[Conditions, ...] = ()
    otherwise: Verdict = Verdict.UNSUPPORTED
    scope: tuple[str, ...] = ()
    until: Day | None = None
    partial: bool = False
    because: str = ""
    note: str = ""
    source: str
    as_of: str = ""
    evidence: Evidence | None = None


class Exclusion(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A pair that binary compatibility would allow and the vendor does not, up to a CUDA version when it says so."""

    code: tuple[str, ...]
    not_on: str
    verdict: Verdict
    until_cuda: str = ""
    source: str


class Synonym(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An architecture that was given another number."""

    old: str
    new: str


class Rule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A topic, the general form of its rows, and how they are weighed: see `table.py`.

    `rank` orders reasons of one verdict, `rank_yes` those that hold when they are not worth the same place. `answers`
    are the scopes that every row of the rule answers. A rule that does not prove refuses only: that it holds makes
    nothing supported. `some_of_range`: of a range it is enough that one version fits, as a resolver takes that one.
    """

    name: Name
    kind: RuleKind
    rank: int
    rank_yes: int | None = None
    answers: tuple[str, ...] = ()
    proves: bool = True
    mode: Literal["all", "table"] = "all"
    mixed: Literal["unknown", "lenient"] = "unknown"
    between: str = ""
    relation: Literal["none", "cuda"] = "none"
    releases_only: bool = False
    some_of_range: bool = False
    about: str = ""
    yes: Text
    no: Text
    rows: tuple[Row, ...]
    exclusions: tuple[Exclusion, ...] = ()
    only_exact: tuple[str, ...] = ()
    synonyms: tuple[Synonym, ...] = ()


class Derivation(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What follows from what was said, for axes that were not."""

    when: Conditions
    gives: Mapping[str, str]
    source: str
    note: str = ""


class Device(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """An accelerator: the names it goes by, what it is, how it can be divided, what it can do at most."""

    id: str
    family: str
    patterns: tuple[str, ...]
    vendor: Literal["nvidia", "amd", "intel"]
    arch: str = ""
    class_: str = field(name="class", default="")
    host_arch: str = ""
    partition_kind: str = ""
    partitions: tuple[str, ...] = ()
    memory_gb: float | None = None
    compute_units: int | None = None
    torch_devices: int = 1
    memory_bandwidth_gbs: float | None = None
    peak_tflops_dense: Mapping[str, float] = {}
    note: str = ""
    source: str


class FullDriver(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The driver that ships with a toolkit: from it on, every feature of the toolkit is there."""

    toolkit: str
    driver: str
    source: str


class MinorFloor(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The driver from which every toolkit of a major version runs, and the CUDA level that such a driver reports."""

    major: str
    driver: str
    level: str
    source: str


class Entitled(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whether a class of devices may use a user-mode driver that is newer than its kernel driver."""

    class_: str = field(name="class")
    verdict: Literal["yes", "no", "unknown"]
    source: str


class Accepted(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Images that start on a driver branch by their own requirement check."""

    branch: str
    cuda: tuple[str, ...]
    source: str


class CompatRow(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A vendor's own word on one compatibility package on one branch."""

    branch: str
    cuda: str
    verdict: Literal["yes", "no", "native", "not-needed"]
    source: str


class SiteCompat(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How far up a branch goes by a site's transcription of the vendor's table."""

    branch: str
    max_cuda: str
    guess: bool
    source: str


class Released(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """When a toolkit came out."""

    cuda: str
    date: Day
    source: str


class Requirement(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The branches that an image's own requirement check lets pass although they are older than it asks for."""

    cuda: str
    branches: tuple[str, ...]
    source: str


class Compatibility(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The three ways in which a driver serves a CUDA runtime, and the requirement check of images."""

    full: tuple[FullDriver, ...] = ()
    minor: tuple[MinorFloor, ...] = ()
    entitled: tuple[Entitled, ...] = ()
    accepted: tuple[Accepted, ...] = ()
    table: tuple[CompatRow, ...] = ()
    site: tuple[SiteCompat, ...] = ()
    new_feature_branches: tuple[str, ...] = ()
    released: tuple[Released, ...] = ()
    require: tuple[Requirement, ...] = ()
    brands: tuple[str, ...] = ()
    limited_scopes: tuple[str, ...] = ()
    ptx_source: str = ""


class AmdgpuRelease(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A release of AMD's kernel driver and the version that its module prints, which is another number."""

    release: str
    module: str = ""
    packages: tuple[str, ...] = ()
    rocm: tuple[str, ...] = ()
    note: str = ""
    source: str


class FactsFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One file of facts; the shipped ones are merged into one of the same form."""

    about: str = ""
    sources: Mapping[str, Source] = {}
    derivations: tuple[Derivation, ...] = ()
    rules: tuple[Rule, ...] = ()
    devices: tuple[Device, ...] = ()
    compatibility: Compatibility | None = None
    amdgpu_releases: tuple[AmdgpuRelease, ...] = ()
