"""`python -m suites`."""

import sys

from suites.command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
