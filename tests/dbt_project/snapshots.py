"""Snapshots of what a deployment of a test built, and where one that was renewed is not like it."""

from __future__ import annotations

from pathlib import Path

import duckdb

from orchestration.kept_rows import kept_marts
from orchestration.publish import publish, take_token
from orchestration.renewal import ancestor
from orchestration.served_tables import ServedTable, served_tables
from tests.dbt_project.project import Project


def marts() -> list[ServedTable]:
    """The served tables that models make and that name nobody."""
    return [table for table in served_tables() if not table.names_people and table.name != "ad_likelihoods"]


def published(project: Project) -> Path:
    """The snapshot of what is built."""
    settings, tables = project.settings, marts()
    token = take_token(settings.operational_url)
    done = publish(settings, token=token, tables=tables, kept=kept_marts(settings))
    return settings.published / done.pointer.file


def unpublished(project: Project) -> set[str]:
    """Names of tables in which the snapshot of what is built, made of the one before, is not like the marts."""
    before = ancestor(project.settings, marts(), kept_marts(project.settings))
    assert before is not None and before.kept
    with duckdb.connect(str(published(project)), read_only=True) as connection:
        connection.execute(f"attach '{project.settings.warehouse}' as warehouse (read_only)")
        return {
            table.name
            for table in marts()
            for one, other in (("main", "warehouse.marts"), ("warehouse.marts", "main"))
            if connection.execute(f"from {one}.{table.name} except all from {other}.{table.name}").fetchall()
        }
