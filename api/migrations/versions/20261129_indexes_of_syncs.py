"""indexes of syncs."""

from __future__ import annotations

from alembic import op


revision = 'e6b1f07a93d4'
down_revision = 'd2f4a81b6c07'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index('ix_connection_syncs_newest', 'connection_syncs', ['connection_id', 'id'])
    op.create_index('ix_connection_syncs_status', 'connection_syncs', ['status', 'finished_at'])
    op.drop_index('ix_connection_syncs_connection_id', 'connection_syncs')


def downgrade() -> None:
    op.create_index('ix_connection_syncs_connection_id', 'connection_syncs', ['connection_id'])
    op.drop_index('ix_connection_syncs_status', 'connection_syncs')
    op.drop_index('ix_connection_syncs_newest', 'connection_syncs')
