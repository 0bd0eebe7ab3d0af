"""Short names that follow from their parts alone."""

from __future__ import annotations

import hashlib
import json


def fingerprint(*parts: object) -> str:
    """Return 16 hexadecimal digits that follow from `parts` alone, today and tomorrow."""
    text = json.dumps(parts, sort_keys=True, default=str)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
