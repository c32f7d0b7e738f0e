"""indexes of what only grows."""

from __future__ import annotations

from alembic import op


revision = '9c04e7d1a582'
down_revision = '3f7a1c5e9b24'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index('ix_audit_entries_workspace_id_at', 'audit_entries', ['workspace_id', 'at'])
    op.drop_index('ix_audit_entries_workspace_id', 'audit_entries')
    op.create_index('ix_ingested_records_batch', 'ingested_records', ['landed_batch', 'profile_id', 'dataset'])
    op.drop_index('ix_ingested_records_landed_batch', 'ingested_records')


def downgrade() -> None:
    op.create_index('ix_ingested_records_landed_batch', 'ingested_records', ['landed_batch'])
    op.drop_index('ix_ingested_records_batch', 'ingested_records')
    op.create_index('ix_audit_entries_workspace_id', 'audit_entries', ['workspace_id'])
    op.drop_index('ix_audit_entries_workspace_id_at', 'audit_entries')
