"""One-time tokens of mails."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from api.db import UtcDateTime

revision = '58b5d6e0c0d2'
down_revision = 'f688e9edd314'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('one_time_tokens',
    sa.Column('id', sa.String(length=36), nullable=False),
    sa.Column('kind', sa.String(length=24), nullable=False),
    sa.Column('user_id', sa.String(length=36), nullable=True),
    sa.Column('digest', sa.String(length=64), nullable=False),
    sa.Column('created_at', UtcDateTime(), nullable=False),
    sa.Column('expires_at', UtcDateTime(), nullable=False),
    sa.Column('used_at', UtcDateTime(), nullable=True),
    sa.CheckConstraint("kind in ('password_reset', 'email_verification')", name=op.f('ck_one_time_tokens_kind')),
    sa.ForeignKeyConstraint(['user_id'], ['users.id'], name=op.f('fk_one_time_tokens_user_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_one_time_tokens')),
    sa.UniqueConstraint('digest', name=op.f('uq_one_time_tokens_digest'))
    )
    with op.batch_alter_table('one_time_tokens', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_one_time_tokens_expires_at'), ['expires_at'], unique=False)
        batch_op.create_index(batch_op.f('ix_one_time_tokens_user_id'), ['user_id'], unique=False)



def downgrade() -> None:
    with op.batch_alter_table('one_time_tokens', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_one_time_tokens_user_id'))
        batch_op.drop_index(batch_op.f('ix_one_time_tokens_expires_at'))

    op.drop_table('one_time_tokens')
