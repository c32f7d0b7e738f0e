"""finished studies."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from api.db import UtcDateTime

revision = '6eba00d18ebf'
down_revision = 'c81c3671b362'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('finished_studies',
    sa.Column('profile_id', sa.String(length=36), nullable=False),
    sa.Column('experiment_id', sa.String(length=36), nullable=False),
    sa.Column('since', UtcDateTime(), nullable=False),
    sa.ForeignKeyConstraint(['profile_id'], ['profiles.id'], name=op.f('fk_finished_studies_profile_id')),
    sa.PrimaryKeyConstraint('profile_id', 'experiment_id', name=op.f('pk_finished_studies'))
    )
    with op.batch_alter_table('finished_studies', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_finished_studies_since'), ['since'], unique=False)


def downgrade() -> None:
    with op.batch_alter_table('finished_studies', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_finished_studies_since'))

    op.drop_table('finished_studies')
