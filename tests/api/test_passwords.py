"""What a stored password costs whoever guesses; the other tests hash cheaply."""

from __future__ import annotations

import subprocess
import sys


def test_a_password_is_hashed_as_the_rfc_asks_where_memory_is_short() -> None:
    # in a process of its own: this one's hasher is the cheap one of the tests
    asked = "from api.passwords import hashed; print(hashed('correct horse battery'))"
    stored = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True).stdout
    assert stored.startswith("$argon2id$v=19$m=65536,t=3,p=4$")
