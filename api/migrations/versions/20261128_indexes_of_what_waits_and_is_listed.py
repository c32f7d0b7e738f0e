"""indexes of what waits and is listed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op


revision = 'c7a90d35e1f8'
down_revision = 'b4d7e0c92a16'
branch_labels = None
depends_on = None

WAITING = sa.text('next_attempt_at is not null')
CLAIMED = sa.text('claimed_until is not null')
# each of what was an index of its first column alone
LISTED = {
    'ix_imports_listed': ('imports', ['profile_id', 'created_at', 'id']),
    'ix_reports_listed': ('reports', ['workspace_id', 'created_at', 'id']),
    'ix_reports_profile': ('reports', ['profile_id', 'created_at', 'id']),
}


def upgrade() -> None:
    columns = ['subscription_id', 'next_attempt_at', 'id']
    op.create_index(
        'ix_webhook_deliveries_waiting', 'webhook_deliveries', columns, sqlite_where=WAITING, postgresql_where=WAITING
    )
    claimed = ['claimed_until']
    op.create_index(
        'ix_webhook_deliveries_claimed', 'webhook_deliveries', claimed, sqlite_where=CLAIMED, postgresql_where=CLAIMED
    )
    for name, (table, listed) in LISTED.items():
        op.create_index(name, table, listed)
        op.drop_index(f'ix_{table}_{listed[0]}', table)


def downgrade() -> None:
    for name, (table, listed) in LISTED.items():
        op.create_index(f'ix_{table}_{listed[0]}', table, listed[:1])
        op.drop_index(name, table)
    op.drop_index('ix_webhook_deliveries_claimed', 'webhook_deliveries')
    op.drop_index('ix_webhook_deliveries_waiting', 'webhook_deliveries')
