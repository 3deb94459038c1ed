"""`python -m docs.generate` writes the reference; with --check it fails if a page is out of date."""

import sys

from docs.generate import main

sys.exit(main())
