"""Runs the command line as `python -m pabal.cli`."""

import sys

from pabal.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
