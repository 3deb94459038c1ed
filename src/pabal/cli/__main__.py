"""`python -m pabal.cli`: the command line without its installed script."""

import sys

from pabal.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
