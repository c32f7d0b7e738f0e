"""chat_templates_and_media."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from api.db import UtcDateTime

revision = '9530fff0c651'
down_revision = '6f6a55ebfe65'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('chat_media',
    sa.Column('id', sa.String(length=36), nullable=False),
    sa.Column('profile_id', sa.String(length=36), nullable=False),
    sa.Column('connection_id', sa.String(length=36), nullable=False),
    sa.Column('media_id', sa.String(length=64), nullable=False),
    sa.Column('mime_type', sa.String(length=128), nullable=False),
    sa.Column('size_bytes', sa.BigInteger(), nullable=False),
    sa.Column('expires_at', UtcDateTime(), nullable=False),
    sa.ForeignKeyConstraint(['connection_id'], ['connections.id'], name=op.f('fk_chat_media_connection_id')),
    sa.ForeignKeyConstraint(['profile_id'], ['profiles.id'], name=op.f('fk_chat_media_profile_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_chat_media')),
    sa.UniqueConstraint('connection_id', 'media_id', name=op.f('uq_chat_media_connection_id_media_id'))
    )
    with op.batch_alter_table('chat_media', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_chat_media_expires_at'), ['expires_at'], unique=False)
        batch_op.create_index(batch_op.f('ix_chat_media_profile_id'), ['profile_id'], unique=False)

    op.create_table('chat_templates',
    sa.Column('connection_id', sa.String(length=36), nullable=False),
    sa.Column('name', sa.String(length=512), nullable=False),
    sa.Column('language', sa.String(length=16), nullable=False),
    sa.Column('platform_id', sa.String(length=64), nullable=True),
    sa.Column('category', sa.String(length=32), nullable=True),
    sa.Column('status', sa.String(length=32), nullable=False),
    sa.Column('quality_score', sa.String(length=8), nullable=True),
    sa.Column('components', sa.JSON(), nullable=True),
    sa.Column('status_changed_at', UtcDateTime(), nullable=True),
    sa.Column('last_synced_at', UtcDateTime(), nullable=False),
    sa.Column('profile_id', sa.String(length=36), nullable=False),
    sa.ForeignKeyConstraint(['connection_id'], ['connections.id'], name=op.f('fk_chat_templates_connection_id')),
    sa.ForeignKeyConstraint(['profile_id'], ['profiles.id'], name=op.f('fk_chat_templates_profile_id')),
    sa.PrimaryKeyConstraint('connection_id', 'name', 'language', name=op.f('pk_chat_templates'))
    )
    with op.batch_alter_table('chat_templates', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_chat_templates_profile_id'), ['profile_id'], unique=False)



def downgrade() -> None:
    with op.batch_alter_table('chat_templates', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_chat_templates_profile_id'))

    op.drop_table('chat_templates')
    with op.batch_alter_table('chat_media', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_chat_media_profile_id'))
        batch_op.drop_index(batch_op.f('ix_chat_media_expires_at'))

    op.drop_table('chat_media')
