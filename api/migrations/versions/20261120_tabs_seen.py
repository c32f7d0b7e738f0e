"""tabs that people have looked at."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from api.db import UtcDateTime

revision = 'c2a24caab706'
down_revision = 'e605d150ead6'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('tabs_seen',
    sa.Column('workspace_id', sa.String(length=36), nullable=False),
    sa.Column('user_id', sa.String(length=36), nullable=False),
    sa.Column('tab', sa.String(length=24), nullable=False),
    sa.Column('seen_at', UtcDateTime(), nullable=False),
    sa.ForeignKeyConstraint(['user_id'], ['users.id'], name=op.f('fk_tabs_seen_user_id')),
    sa.ForeignKeyConstraint(['workspace_id'], ['workspaces.id'], name=op.f('fk_tabs_seen_workspace_id')),
    sa.PrimaryKeyConstraint('workspace_id', 'user_id', 'tab', name=op.f('pk_tabs_seen'))
    )


def downgrade() -> None:
    op.drop_table('tabs_seen')
