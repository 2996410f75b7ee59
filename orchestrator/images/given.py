"""What builds are given beside their recipes: secrets, and the masker that keeps them out of what is said."""

from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from orchestrator.images.failure import BuildFailure
from orchestrator.masking import NOTHING, Masker


class Given(Struct, frozen=True, kw_only=True):
    """`secrets` are files by name, for each image that is given any: no part of what the image is."""

    secrets: Mapping[str, Mapping[str, Path]] = {}
    masker: Masker = NOTHING

    def masked(self, say: Callable[[str], None]) -> Callable[[str], None]:
        """The same with secrets masked: tools repeat what they were given."""
        return lambda line: say(self.masker.text(line))

    def unspoken(self, failure: BuildFailure) -> BuildFailure:
        """The failure with secrets masked in its reason and in its log."""
        mask = self.masker.text
        return replace(failure, reason=mask(failure.reason), log_tail=mask(failure.log_tail))


NO_MORE = Given()
