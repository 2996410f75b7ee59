"""Several files of facts as one: the shipped ones side by side, a site's own above them. Their sources stay apart."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from msgspec.structs import replace

from orchestrator.errors import InputError
from orchestrator.support.rows import AmdgpuRelease, Compatibility, Derivation, Device, FactsFile, Row, Rule

_Sourced = TypeVar("_Sourced", Row, Derivation, Device, AmdgpuRelease)


def merge(files: Iterable[tuple[str, FactsFile]]) -> FactsFile:
    """The shipped files as one: rules in the order of the files, sources by file. InputError for a source not there."""
    whole = FactsFile()
    for name, file in files:
        named = keyed(file, name)
        whole = replace(
            whole,
            sources={**whole.sources, **named.sources},
            derivations=(*whole.derivations, *named.derivations),
            rules=(*whole.rules, *named.rules),
            devices=(*whole.devices, *named.devices),
            compatibility=named.compatibility or whole.compatibility,
            amdgpu_releases=(*whole.amdgpu_releases, *named.amdgpu_releases),
        )
    return whole


def join(below: FactsFile, above: FactsFile, *, name: str) -> FactsFile:
    """One file of two; rows of one rule are together, those of the upper file first. `name` keeps sources apart."""
    if above.compatibility is not None:
        raise InputError("`compatibility` of an overlay is not read", place=name, hint="say it with rows of a rule")
    above = keyed(above, name)
    joined: list[Rule] = []
    taken: set[tuple[str, ...]] = set()
    for rule in below.rules:
        extra = [row for each in above.rules if _topic(each) == _topic(rule) for row in each.rows]
        joined.append(rule if _topic(rule) in taken else replace(rule, rows=(*extra, *rule.rows)))
        taken.add(_topic(rule))
    return replace(
        below,
        sources={**below.sources, **above.sources},
        derivations=(*above.derivations, *below.derivations),
        rules=(*joined, *(rule for rule in above.rules if _topic(rule) not in taken)),
        devices=(*above.devices, *below.devices),
        amdgpu_releases=(*above.amdgpu_releases, *below.amdgpu_releases),
    )


def _topic(rule: Rule) -> tuple[str, ...]:
    """What makes rows belong together: their rule's name, its kind, and how it weighs them."""
    return rule.name, rule.kind, rule.mode


def keyed(file: FactsFile, name: str) -> FactsFile:
    """The file with `name` before the key of each source, so that files share none; InputError for one not there."""
    keys = {source: f"{name}/{source}" for source in file.sources}

    def each(rows: Iterable[_Sourced]) -> tuple[_Sourced, ...]:
        return tuple(replace(row, source=key(row.source)) for row in rows)

    def key(source: str) -> str:
        if source not in keys:
            raise InputError(f"no source is named `{source}`", place=name, hint="name it under `sources`")
        return keys[source]

    return replace(
        file,
        sources={keys[source]: told for source, told in file.sources.items()},
        derivations=each(file.derivations),
        rules=tuple(replace(rule, rows=each(rule.rows)) for rule in file.rules),
        devices=each(file.devices),
        compatibility=_keyed(file.compatibility, each, key) if file.compatibility else None,
        amdgpu_releases=each(file.amdgpu_releases),
    )


def _keyed(parts: Compatibility, each: Callable[..., Any], key: Callable[[str], str]) -> Compatibility:
    tables = ("full", "minor", "entitled", "accepted", "table", "site", "released", "require")
    named = {table: each(getattr(parts, table)) for table in tables}
    return replace(parts, ptx_source=key(parts.ptx_source) if parts.ptx_source else "", **named)
