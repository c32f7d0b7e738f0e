"""Imported by the process that dbt's processes of tests are forked from, once for all of them."""

from __future__ import annotations

from orchestration.dbt_process import make_ready

make_ready()
