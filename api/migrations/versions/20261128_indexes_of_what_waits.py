"""indexes of what waits."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op


revision = 'c7a90d35e1f8'
down_revision = 'b4d7e0c92a16'
branch_labels = None
depends_on = None

WAITING = sa.text('next_attempt_at is not null')
CLAIMED = sa.text('claimed_until is not null')


def upgrade() -> None:
    columns = ['subscription_id', 'next_attempt_at', 'id']
    op.create_index(
        'ix_webhook_deliveries_waiting', 'webhook_deliveries', columns, sqlite_where=WAITING, postgresql_where=WAITING
    )
    claimed = ['claimed_until']
    op.create_index(
        'ix_webhook_deliveries_claimed', 'webhook_deliveries', claimed, sqlite_where=CLAIMED, postgresql_where=CLAIMED
    )


def downgrade() -> None:
    op.drop_index('ix_webhook_deliveries_claimed', 'webhook_deliveries')
    op.drop_index('ix_webhook_deliveries_waiting', 'webhook_deliveries')
