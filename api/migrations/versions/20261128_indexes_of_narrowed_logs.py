"""indexes of narrowed logs."""

from __future__ import annotations

from alembic import op


revision = 'b71d5e0c4a96'
down_revision = '9c04e7d1a582'
branch_labels = None
depends_on = None

ADDED = {
    'audit_entries': {
        'ix_audit_entries_category': ['workspace_id', 'category', 'at'],
        'ix_audit_entries_profile': ['workspace_id', 'profile_id', 'at'],
        'ix_audit_entries_profile_category': ['workspace_id', 'profile_id', 'category', 'at'],
    },
    'pii_accesses': {
        'ix_pii_accesses_profile': ['workspace_id', 'profile_id', 'at'],
        'ix_pii_accesses_actor': ['workspace_id', 'actor_id', 'at'],
    },
    'writebacks': {
        'ix_writebacks_profile': ['workspace_id', 'profile_id', 'at', 'id'],
        'ix_writebacks_outcome': ['workspace_id', 'outcome', 'at', 'id'],
    },
}


def upgrade() -> None:
    for table, indexes in ADDED.items():
        for name, columns in indexes.items():
            op.create_index(name, table, columns)
        op.drop_index(f'ix_{table}_profile_id', table)


def downgrade() -> None:
    for table, indexes in ADDED.items():
        op.create_index(f'ix_{table}_profile_id', table, ['profile_id'])
        for name in indexes:
            op.drop_index(name, table)
