import sys

from .sync_notebooks import main

sys.exit(main(sys.argv[1:]))
