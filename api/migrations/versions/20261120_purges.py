"""purges of archived profiles."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from api.db import UtcDateTime

revision = '64497db82a68'
down_revision = '880c21d0568d'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('purges',
    sa.Column('profile_id', sa.String(length=36), nullable=False),
    sa.Column('requested_at', UtcDateTime(), nullable=False),
    sa.Column('files_removed_at', UtcDateTime(), nullable=True),
    sa.Column('completed_at', UtcDateTime(), nullable=True),
    sa.ForeignKeyConstraint(['profile_id'], ['profiles.id'], name=op.f('fk_purges_profile_id')),
    sa.PrimaryKeyConstraint('profile_id', name=op.f('pk_purges'))
    )


def downgrade() -> None:
    op.drop_table('purges')
