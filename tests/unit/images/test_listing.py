import os

from orchestrator.images.docker import Docker
from orchestrator.images.listing import list_images


def test_only_images_with_our_label_are_ours(engine, commands, tmp_path):
    docker = Docker(commands, os.environ)
    assert list_images(docker) == ()

    docker.import_root(tmp_path, "someone/elses:1", {"maintainer": "x"})
    for name in ("b", "a"):
        docker.import_root(
            tmp_path, f"torchmatrix/{name}:1", {"org.torchmatrix.recipe": name * 64, "org.torchmatrix.image-id": name}
        )
    listed = list_images(docker)

    assert [(image.image_id, image.names, image.recipe, image.size) for image in listed] == [
        (name, (f"torchmatrix/{name}:1",), name * 64, 1) for name in ("a", "b")
    ]
