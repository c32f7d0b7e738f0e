"""subscriptions and handoffs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from api.db import UtcDateTime

revision = '0e5d1cc6122e'
down_revision = 'aad67b1e47e9'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('hook_deliveries',
    sa.Column('source', sa.String(length=32), nullable=False),
    sa.Column('delivery_id', sa.String(length=255), nullable=False),
    sa.Column('kind', sa.String(length=120), nullable=False),
    sa.Column('occurred_at', UtcDateTime(), nullable=False),
    sa.Column('object_ref', sa.String(length=255), nullable=True),
    sa.Column('workspace_id', sa.String(length=36), nullable=True),
    sa.Column('facts', sa.JSON(), nullable=False),
    sa.Column('received_at', UtcDateTime(), nullable=False),
    sa.Column('processed_at', UtcDateTime(), nullable=True),
    sa.ForeignKeyConstraint(['workspace_id'], ['workspaces.id'], name=op.f('fk_hook_deliveries_workspace_id')),
    sa.PrimaryKeyConstraint('source', 'delivery_id', name=op.f('pk_hook_deliveries'))
    )
    with op.batch_alter_table('hook_deliveries', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_hook_deliveries_workspace_id'), ['workspace_id'], unique=False)

    op.create_table('subscriptions',
    sa.Column('workspace_id', sa.String(length=36), nullable=False),
    sa.Column('trial_plan', sa.String(length=16), nullable=True),
    sa.Column('trial_start', UtcDateTime(), nullable=True),
    sa.Column('trial_end', UtcDateTime(), nullable=True),
    sa.Column('granted_plan', sa.String(length=16), nullable=True),
    sa.Column('billing', sa.String(length=16), nullable=False),
    sa.Column('paid_plan', sa.String(length=16), nullable=True),
    sa.Column('status', sa.String(length=16), nullable=True),
    sa.Column('customer_ref', sa.String(length=255), nullable=True),
    sa.Column('subscription_ref', sa.String(length=255), nullable=True),
    sa.Column('period_start', UtcDateTime(), nullable=True),
    sa.Column('period_end', UtcDateTime(), nullable=True),
    sa.Column('cancel_at', UtcDateTime(), nullable=True),
    sa.Column('past_due_since', UtcDateTime(), nullable=True),
    sa.Column('created_at', UtcDateTime(), nullable=False),
    sa.CheckConstraint("billing in ('card', 'storefront', 'none')", name=op.f('ck_subscriptions_billing')),
    sa.CheckConstraint("status in ('active', 'past_due', 'canceled')", name=op.f('ck_subscriptions_status')),
    sa.ForeignKeyConstraint(['workspace_id'], ['workspaces.id'], name=op.f('fk_subscriptions_workspace_id')),
    sa.PrimaryKeyConstraint('workspace_id', name=op.f('pk_subscriptions'))
    )
    op.create_table('handoffs',
    sa.Column('id', sa.String(length=36), nullable=False),
    sa.Column('kind', sa.String(length=16), nullable=False),
    sa.Column('workspace_id', sa.String(length=36), nullable=False),
    sa.Column('profile_id', sa.String(length=36), nullable=True),
    sa.Column('plan', sa.String(length=16), nullable=True),
    sa.Column('interval', sa.String(length=8), nullable=True),
    sa.Column('url', sa.Text(), nullable=False),
    sa.Column('external_ref', sa.String(length=255), nullable=True),
    sa.Column('status', sa.String(length=16), nullable=False),
    sa.Column('reason', sa.String(length=32), nullable=True),
    sa.Column('result', sa.JSON(none_as_null=True), nullable=True),
    sa.Column('created_at', UtcDateTime(), nullable=False),
    sa.Column('expires_at', UtcDateTime(), nullable=False),
    sa.Column('ended_at', UtcDateTime(), nullable=True),
    sa.CheckConstraint("kind in ('checkout', 'plan_selection', 'connect')", name=op.f('ck_handoffs_kind')),
    sa.CheckConstraint("status in ('pending', 'completed', 'failed', 'expired', 'canceled')", name=op.f('ck_handoffs_status')),
    sa.ForeignKeyConstraint(['profile_id'], ['profiles.id'], name=op.f('fk_handoffs_profile_id')),
    sa.ForeignKeyConstraint(['workspace_id'], ['workspaces.id'], name=op.f('fk_handoffs_workspace_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_handoffs'))
    )
    with op.batch_alter_table('handoffs', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_handoffs_workspace_id'), ['workspace_id'], unique=False)

    with op.batch_alter_table('workspaces', schema=None) as batch_op:
        batch_op.add_column(sa.Column('plan_ends_at', UtcDateTime(), nullable=True))



def downgrade() -> None:
    with op.batch_alter_table('workspaces', schema=None) as batch_op:
        batch_op.drop_column('plan_ends_at')

    with op.batch_alter_table('handoffs', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_handoffs_workspace_id'))

    op.drop_table('handoffs')
    op.drop_table('subscriptions')
    with op.batch_alter_table('hook_deliveries', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_hook_deliveries_workspace_id'))

    op.drop_table('hook_deliveries')
