"""`python -m sandbox [port]`: the sandbox on loopback, with the world of the settings."""

import sys

from sandbox.app import serve
from touchledger.settings import load

if __name__ == "__main__":
    serve(load(), int(sys.argv[1]) if len(sys.argv) > 1 else None)
