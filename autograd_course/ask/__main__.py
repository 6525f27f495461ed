import sys

from .weave import main

sys.exit(main(sys.argv[1:]))
