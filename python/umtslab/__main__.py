"""``python -m umtslab`` is ``umts``."""

import sys

from umtslab.cli import main

sys.exit(main())
