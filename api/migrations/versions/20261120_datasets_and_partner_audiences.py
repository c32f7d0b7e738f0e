"""Clean datasets, customer lists of partners, and how a social account was connected."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from api.db import UtcDateTime

revision = '7a4f30cacb8c'
down_revision = 'f22a2b4e4c1d'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('dataset_targets',
    sa.Column('profile_id', sa.String(length=36), nullable=False),
    sa.Column('dataset', sa.String(length=16), nullable=False),
    sa.Column('target', sa.String(length=16), nullable=False),
    sa.Column('connection_id', sa.String(length=36), nullable=False),
    sa.Column('existing_id', sa.String(length=64), nullable=False),
    sa.Column('clean_id', sa.String(length=64), nullable=False),
    sa.Column('updated_at', UtcDateTime(), nullable=False),
    sa.CheckConstraint("dataset in ('website', 'chatapp', 'social')", name=op.f('ck_dataset_targets_dataset')),
    sa.CheckConstraint("target in ('clean', 'existing')", name=op.f('ck_dataset_targets_target')),
    sa.ForeignKeyConstraint(['connection_id'], ['connections.id'], name=op.f('fk_dataset_targets_connection_id')),
    sa.ForeignKeyConstraint(['profile_id'], ['profiles.id'], name=op.f('fk_dataset_targets_profile_id')),
    sa.PrimaryKeyConstraint('profile_id', 'dataset', name=op.f('pk_dataset_targets'))
    )
    op.create_table('partner_audiences',
    sa.Column('id', sa.String(length=36), nullable=False),
    sa.Column('profile_id', sa.String(length=36), nullable=False),
    sa.Column('connection_id', sa.String(length=36), nullable=False),
    sa.Column('name', sa.String(length=80), nullable=False),
    sa.Column('platform_audience_id', sa.String(length=64), nullable=False),
    sa.Column('created_at', UtcDateTime(), nullable=False),
    sa.Column('updated_at', UtcDateTime(), nullable=False),
    sa.ForeignKeyConstraint(['connection_id'], ['connections.id'], name=op.f('fk_partner_audiences_connection_id')),
    sa.ForeignKeyConstraint(['profile_id'], ['profiles.id'], name=op.f('fk_partner_audiences_profile_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_partner_audiences'))
    )
    with op.batch_alter_table('partner_audiences', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_partner_audiences_profile_id'), ['profile_id'], unique=False)

    with op.batch_alter_table('connections', schema=None) as batch_op:
        batch_op.add_column(sa.Column('login_kind', sa.String(length=16), nullable=True))



def downgrade() -> None:
    with op.batch_alter_table('connections', schema=None) as batch_op:
        batch_op.drop_column('login_kind')

    with op.batch_alter_table('partner_audiences', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_partner_audiences_profile_id'))

    op.drop_table('partner_audiences')
    op.drop_table('dataset_targets')
