"""``python -m tirscript`` is the command ``tirscript``."""

import sys

from tirscript.cli import main

if __name__ == "__main__":
    sys.exit(main())
