"""`python -m antiphon.conformance.cli` is the command `antiphon`."""

import sys

from antiphon.conformance.cli import main

sys.exit(main())
