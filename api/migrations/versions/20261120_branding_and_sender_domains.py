"""branding_and_sender_domains."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from api.db import UtcDateTime

revision = 'aad67b1e47e9'
down_revision = '64497db82a68'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('brandings',
    sa.Column('workspace_id', sa.String(length=36), nullable=False),
    sa.Column('display_name', sa.String(length=120), nullable=True),
    sa.Column('logo_name', sa.String(length=40), nullable=True),
    sa.Column('primary_color', sa.String(length=7), nullable=True),
    sa.Column('accent_color', sa.String(length=7), nullable=True),
    sa.Column('sender_name', sa.String(length=120), nullable=True),
    sa.Column('reply_to_email', sa.String(length=254), nullable=True),
    sa.Column('website_url', sa.String(length=500), nullable=True),
    sa.Column('report_footer', sa.String(length=500), nullable=True),
    sa.Column('locale', sa.String(length=2), nullable=False),
    sa.Column('updated_at', UtcDateTime(), nullable=False),
    sa.ForeignKeyConstraint(['workspace_id'], ['workspaces.id'], name=op.f('fk_brandings_workspace_id')),
    sa.PrimaryKeyConstraint('workspace_id', name=op.f('pk_brandings')),
    sa.UniqueConstraint('logo_name', name=op.f('uq_brandings_logo_name'))
    )
    op.create_table('sender_domains',
    sa.Column('id', sa.String(length=36), nullable=False),
    sa.Column('workspace_id', sa.String(length=36), nullable=False),
    sa.Column('domain', sa.String(length=253), nullable=False),
    sa.Column('local_part', sa.String(length=64), nullable=False),
    sa.Column('selector', sa.String(length=63), nullable=False),
    sa.Column('public_key', sa.Text(), nullable=False),
    sa.Column('private_key', sa.Text(), nullable=False),
    sa.Column('status', sa.String(length=8), nullable=False),
    sa.Column('found', sa.JSON(), nullable=False),
    sa.Column('bad_days', sa.Integer(), nullable=False),
    sa.Column('created_at', UtcDateTime(), nullable=False),
    sa.Column('checked_at', UtcDateTime(), nullable=True),
    sa.Column('verified_at', UtcDateTime(), nullable=True),
    sa.CheckConstraint("status in ('pending', 'verified', 'failed')", name=op.f('ck_sender_domains_status')),
    sa.ForeignKeyConstraint(['workspace_id'], ['workspaces.id'], name=op.f('fk_sender_domains_workspace_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_sender_domains')),
    sa.UniqueConstraint('workspace_id', name=op.f('uq_sender_domains_workspace_id'))
    )


def downgrade() -> None:
    op.drop_table('sender_domains')
    op.drop_table('brandings')
