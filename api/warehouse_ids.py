"""The ids that the warehouse gives things, made here from the same parts: they are known before a build is."""

from __future__ import annotations

import hashlib

_VARIANT = str.maketrans("0123456789abcdef", "89ab89ab89ab89ab")


def uuid_v8(profile_id: str, kind: str, natural_key: str) -> str:
    """MD5 of `profile:kind:natural key` as a UUID, equal to the macro of that name in `dbt_project/macros`."""
    digits = hashlib.md5(f"{profile_id}:{kind}:{natural_key}".encode(), usedforsecurity=False).hexdigest()
    return f"{digits[:8]}-{digits[8:12]}-8{digits[13:16]}-{digits[16].translate(_VARIANT)}{digits[17:20]}-{digits[20:]}"


def identifier_id(profile_id: str, kind: str, value: str) -> str:
    """Where `person_identifiers` tells whose an identifier is; `value` in its normal form (`data_contracts.formats`).

    Kinds: person_key, external_id, payment_customer_id, email, phone, anonymous_id.
    """
    return uuid_v8(profile_id, "identifier", f"{kind}:{value}")
