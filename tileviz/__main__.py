"""`python -m tileviz`: the command line."""

import sys

from tileviz.cli import main

if __name__ == "__main__":
    sys.exit(main())
