"""`python -m firesteel` is the command `firesteel`."""

import sys

from firesteel.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
