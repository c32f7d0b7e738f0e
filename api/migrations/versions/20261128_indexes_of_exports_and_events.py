"""indexes of exports and events."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op


revision = 'd4f08a3b6c21'
down_revision = 'b71d5e0c4a96'
branch_labels = None
depends_on = None

FAILED = sa.text('failed_at is not null')
LISTED = {
    'ix_export_rows_status': ['profile_id', 'status', 'created_at', 'id'],
    'ix_export_rows_destination': ['profile_id', 'destination_id', 'created_at', 'id'],
    'ix_export_rows_narrowed': ['profile_id', 'destination_id', 'status', 'created_at', 'id'],
}


def upgrade() -> None:
    for name, columns in LISTED.items():
        op.create_index(name, 'export_rows', columns)
    of_failed = ['profile_id', 'failed_at', 'status']
    op.create_index(
        'ix_export_rows_failed', 'export_rows', of_failed, sqlite_where=FAILED, postgresql_where=FAILED
    )
    op.create_index('ix_events_received', 'events', ['profile_id', 'received_at', 'is_test'])


def downgrade() -> None:
    op.drop_index('ix_events_received', 'events')
    for name in ('ix_export_rows_failed', *LISTED):
        op.drop_index(name, 'export_rows')
