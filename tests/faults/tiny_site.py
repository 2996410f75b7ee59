"""A site whose torch has two lines: an image of it is really built, in seconds."""

import os
import zipfile
from pathlib import Path

from msgspec.structs import replace

from orchestrator.settings import Site, load_site

CPU = {"torch": "2.13.0", "torch_build": "cpu", "python": "3.11"}
TORCH = "from torch import version\nfrom torch.version import __version__\n"
VERSION = "__version__ = '2.13.0+cpu'\ncuda = None\nhip = None\n"


def site_of(base: str, folder: Path) -> Site:
    """The site, with this image as its base and all that it has below the folder."""
    wheels = folder / "wheels"
    wheels.mkdir()
    for name, version, files in (
        ("torch", "2.13.0+cpu", {"torch/__init__.py": TORCH, "torch/version.py": VERSION}),
        ("numpy", "2.4.5", {"numpy.py": ""}),
        ("numpy", "2.4.6", {"numpy.py": ""}),
        ("pytest", "9.1.0", {"pytest.py": ""}),
    ):
        info = f"{name}-{version}.dist-info"
        files |= {
            f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
            f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        }
        with zipfile.ZipFile(wheels / f"{name}-{version}-py3-none-any.whl", "w") as archive:
            for path, content in files.items():
                archive.writestr(path, content)
            archive.writestr(f"{info}/RECORD", "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"]))
    (folder / "index").mkdir()
    return replace(
        load_site({"HOME": str(folder), "PIP_CONFIG_FILE": os.devnull}),
        indexes={"": (folder / "index").as_uri()},
        find_links=(str(wheels),),
        bases={"debian12": base},
        cache=folder / "cache",
    )
