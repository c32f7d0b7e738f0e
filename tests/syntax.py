"""Parse the YAML and TOML files named on the command line; the first broken one ends with its message."""

import sys
import tomllib
from pathlib import Path

import yaml

for name in sys.argv[1:]:
    path = Path(name)
    if path.suffix == ".toml":
        tomllib.loads(path.read_text())
    else:
        list(yaml.safe_load_all(path.read_text()))
