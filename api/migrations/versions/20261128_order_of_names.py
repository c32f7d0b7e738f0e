"""order of names."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op


revision = '3f7a1c5e9b24'
down_revision = '6e2d90b7f4a1'
branch_labels = None
depends_on = None

TEXTS = {
    ('workspaces', 'name'): 120,
    ('profiles', 'name'): 120,
    ('chat_templates', 'name'): 512,
    ('chat_templates', 'language'): 16,
}


def upgrade() -> None:
    _collate('C')


def downgrade() -> None:
    _collate('default')


def _collate(collation: str) -> None:
    # SQLite has only this order
    if op.get_bind().dialect.name != 'postgresql':
        return
    for (table, column), length in TEXTS.items():
        op.alter_column(table, column, type_=sa.String(length, collation=collation), existing_nullable=False)
