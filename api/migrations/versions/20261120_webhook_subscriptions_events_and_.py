"""webhook_subscriptions_events_and_deliveries."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from api.db import UtcDateTime

revision = '84e797d380aa'
down_revision = '8823ee064113'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('webhook_events',
    sa.Column('id', sa.String(length=36), nullable=False),
    sa.Column('workspace_id', sa.String(length=36), nullable=False),
    sa.Column('profile_id', sa.String(length=36), nullable=True),
    sa.Column('type', sa.String(length=48), nullable=False),
    sa.Column('subject', sa.String(length=64), nullable=True),
    sa.Column('occurred_at', UtcDateTime(), nullable=False),
    sa.Column('data', sa.JSON(), nullable=False),
    sa.ForeignKeyConstraint(['workspace_id'], ['workspaces.id'], name=op.f('fk_webhook_events_workspace_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_webhook_events'))
    )
    with op.batch_alter_table('webhook_events', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_webhook_events_workspace_id'), ['workspace_id'], unique=False)

    op.create_table('webhook_subscriptions',
    sa.Column('id', sa.String(length=36), nullable=False),
    sa.Column('workspace_id', sa.String(length=36), nullable=False),
    sa.Column('profile_id', sa.String(length=36), nullable=True),
    sa.Column('app_id', sa.String(length=36), nullable=True),
    sa.Column('url', sa.String(length=2048), nullable=False),
    sa.Column('events', sa.JSON(), nullable=False),
    sa.Column('secret', sa.Text(), nullable=False),
    sa.Column('previous_secret', sa.Text(), nullable=True),
    sa.Column('previous_secret_expires_at', UtcDateTime(), nullable=True),
    sa.Column('status', sa.String(length=8), nullable=False),
    sa.Column('failure_reason', sa.String(length=32), nullable=True),
    sa.Column('consecutive_failures', sa.Integer(), nullable=False),
    sa.Column('dead_since', UtcDateTime(), nullable=True),
    sa.Column('last_delivery_at', UtcDateTime(), nullable=True),
    sa.Column('created_at', UtcDateTime(), nullable=False),
    sa.Column('updated_at', UtcDateTime(), nullable=False),
    sa.CheckConstraint("status in ('active', 'paused', 'failed')", name=op.f('ck_webhook_subscriptions_status')),
    sa.ForeignKeyConstraint(['profile_id'], ['profiles.id'], name=op.f('fk_webhook_subscriptions_profile_id')),
    sa.ForeignKeyConstraint(['workspace_id'], ['workspaces.id'], name=op.f('fk_webhook_subscriptions_workspace_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_webhook_subscriptions'))
    )
    with op.batch_alter_table('webhook_subscriptions', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_webhook_subscriptions_profile_id'), ['profile_id'], unique=False)
        batch_op.create_index(batch_op.f('ix_webhook_subscriptions_workspace_id'), ['workspace_id'], unique=False)

    op.create_table('webhook_deliveries',
    sa.Column('id', sa.String(length=36), nullable=False),
    sa.Column('subscription_id', sa.String(length=36), nullable=False),
    sa.Column('event_id', sa.String(length=36), nullable=False),
    sa.Column('status', sa.String(length=10), nullable=False),
    sa.Column('attempts', sa.Integer(), nullable=False),
    sa.Column('last_status', sa.Integer(), nullable=True),
    sa.Column('last_error', sa.String(length=64), nullable=True),
    sa.Column('next_attempt_at', UtcDateTime(), nullable=True),
    sa.Column('claimed_until', UtcDateTime(), nullable=True),
    sa.Column('created_at', UtcDateTime(), nullable=False),
    sa.CheckConstraint("status in ('pending', 'retrying', 'delivered', 'dead')", name=op.f('ck_webhook_deliveries_status')),
    sa.ForeignKeyConstraint(['event_id'], ['webhook_events.id'], name=op.f('fk_webhook_deliveries_event_id')),
    sa.ForeignKeyConstraint(['subscription_id'], ['webhook_subscriptions.id'], name=op.f('fk_webhook_deliveries_subscription_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_webhook_deliveries'))
    )
    with op.batch_alter_table('webhook_deliveries', schema=None) as batch_op:
        batch_op.create_index('ix_webhook_deliveries_due', ['status', 'next_attempt_at'], unique=False)
        batch_op.create_index(batch_op.f('ix_webhook_deliveries_event_id'), ['event_id'], unique=False)
        batch_op.create_index(batch_op.f('ix_webhook_deliveries_subscription_id'), ['subscription_id'], unique=False)



def downgrade() -> None:
    with op.batch_alter_table('webhook_deliveries', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_webhook_deliveries_subscription_id'))
        batch_op.drop_index(batch_op.f('ix_webhook_deliveries_event_id'))
        batch_op.drop_index('ix_webhook_deliveries_due')

    op.drop_table('webhook_deliveries')
    with op.batch_alter_table('webhook_subscriptions', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_webhook_subscriptions_workspace_id'))
        batch_op.drop_index(batch_op.f('ix_webhook_subscriptions_profile_id'))

    op.drop_table('webhook_subscriptions')
    with op.batch_alter_table('webhook_events', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_webhook_events_workspace_id'))

    op.drop_table('webhook_events')
