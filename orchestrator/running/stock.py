"""What cells are run in, as it is now: while a run lasts, its engine may go away and its images be removed."""

import time
from collections.abc import Callable

from orchestrator import text
from orchestrator.engines.engine import Engine
from orchestrator.errors import InfrastructureError
from orchestrator.images.failure import BuildFailure
from orchestrator.model import Image
from orchestrator.running.supply import Supply

PATIENCE_S = 30.0  # for an engine that is gone: one that is being restarted is back by then
_LOOK_S = 0.5


class Stock:
    """The images of a run. `remake` makes one anew; `stopped` is whether the run was asked to stop."""

    def __init__(
        self,
        made: Supply,
        engine: Engine,
        *,
        remake: Callable[[str], Image | BuildFailure],
        stopped: Callable[[], bool],
        say: Callable[[str], None],
    ) -> None:
        self._made = dict(made)
        self._engine = engine
        self._remake = remake
        self._stopped = stopped
        self._say = say
        self._remade: set[str] = set()

    def image(self, key: str) -> Image | BuildFailure:
        """The image, or why there is none. One that somebody removed is made once more; gone again, it stays gone.

        InfrastructureError when the engine cannot be used, and is not back within `PATIENCE_S`.
        """
        image = self._made[key]
        if isinstance(image, BuildFailure) or self._is_there(image) or key in self._remade:
            return image
        self._remade.add(key)
        self._say(f"{image.name} was removed by somebody: making it once more")
        self._made[key] = self._remake(key)
        return self._made[key]

    def _is_there(self, image: Image) -> bool:
        give_up = time.monotonic() + PATIENCE_S
        said = False
        while not self._stopped():
            try:
                return self._engine.has(image)
            except InfrastructureError as lost:
                if time.monotonic() > give_up:
                    raise
                if not said:
                    self._say(f"waiting up to {PATIENCE_S:g} s: {text.one_line(lost.fact)}")
                said = True
            time.sleep(_LOOK_S)
        return True
