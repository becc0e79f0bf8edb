"""`python -m onebeat` is `onebeat`."""

import sys

from onebeat.cli import main

sys.exit(main())
