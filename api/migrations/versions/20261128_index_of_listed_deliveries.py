"""index of listed deliveries."""

from __future__ import annotations

from alembic import op


revision = 'e83c1f6a9d57'
down_revision = 'd4f08a3b6c21'
branch_labels = None
depends_on = None


def upgrade() -> None:
    columns = ['subscription_id', 'created_at', 'id', 'status']
    op.create_index('ix_webhook_deliveries_listed', 'webhook_deliveries', columns)
    op.drop_index('ix_webhook_deliveries_subscription_id', 'webhook_deliveries')


def downgrade() -> None:
    op.create_index('ix_webhook_deliveries_subscription_id', 'webhook_deliveries', ['subscription_id'])
    op.drop_index('ix_webhook_deliveries_listed', 'webhook_deliveries')
