"""Cell -> recipe -> image: bases, wheels, recipe, build, and what the built image really contains."""
