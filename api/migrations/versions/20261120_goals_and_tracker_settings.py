"""goals and tracker settings."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from api.db import UtcDateTime

revision = '84a503970e77'
down_revision = '7237d370ed6d'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('goals',
    sa.Column('id', sa.String(length=36), nullable=False),
    sa.Column('profile_id', sa.String(length=36), nullable=False),
    sa.Column('conversion_key', sa.String(length=40), nullable=False),
    sa.Column('display_name', sa.String(length=80), nullable=False),
    sa.Column('source_event_names', sa.JSON(), nullable=False),
    sa.Column('revenue_type', sa.String(length=8), nullable=False),
    sa.Column('attribution_eligible', sa.Boolean(), nullable=False),
    sa.Column('created_at', UtcDateTime(), nullable=False),
    sa.Column('updated_at', UtcDateTime(), nullable=False),
    sa.CheckConstraint("revenue_type in ('cash', 'pipeline', 'gross')", name=op.f('ck_goals_revenue_type')),
    sa.ForeignKeyConstraint(['profile_id'], ['profiles.id'], name=op.f('fk_goals_profile_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_goals')),
    sa.UniqueConstraint('profile_id', 'conversion_key', name=op.f('uq_goals_profile_id_conversion_key'))
    )
    op.create_table('tracker_settings',
    sa.Column('profile_id', sa.String(length=36), nullable=False),
    sa.Column('capture_typed_identity', sa.Boolean(), nullable=True),
    sa.Column('session_idle_minutes', sa.Integer(), nullable=False),
    sa.Column('chat_token_enabled', sa.Boolean(), nullable=False),
    sa.Column('respect_gpc', sa.Boolean(), nullable=False),
    sa.CheckConstraint('session_idle_minutes between 1 and 120', name=op.f('ck_tracker_settings_session_idle')),
    sa.ForeignKeyConstraint(['profile_id'], ['profiles.id'], name=op.f('fk_tracker_settings_profile_id')),
    sa.PrimaryKeyConstraint('profile_id', name=op.f('pk_tracker_settings'))
    )
    op.create_table('tracking_verifications',
    sa.Column('id', sa.String(length=36), nullable=False),
    sa.Column('profile_id', sa.String(length=36), nullable=False),
    sa.Column('nonce', sa.String(length=64), nullable=False),
    sa.Column('url', sa.String(length=2000), nullable=False),
    sa.Column('host', sa.String(length=253), nullable=False),
    sa.Column('created_at', UtcDateTime(), nullable=False),
    sa.Column('expires_at', UtcDateTime(), nullable=False),
    sa.Column('seen_at', UtcDateTime(), nullable=True),
    sa.Column('page_host', sa.String(length=253), nullable=True),
    sa.ForeignKeyConstraint(['profile_id'], ['profiles.id'], name=op.f('fk_tracking_verifications_profile_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_tracking_verifications')),
    sa.UniqueConstraint('nonce', name=op.f('uq_tracking_verifications_nonce'))
    )
    with op.batch_alter_table('tracking_verifications', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_tracking_verifications_profile_id'), ['profile_id'], unique=False)

    with op.batch_alter_table('profiles', schema=None) as batch_op:
        batch_op.add_column(sa.Column('goals_version', sa.Integer(), server_default='0', nullable=False))



def downgrade() -> None:
    with op.batch_alter_table('profiles', schema=None) as batch_op:
        batch_op.drop_column('goals_version')

    with op.batch_alter_table('tracking_verifications', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_tracking_verifications_profile_id'))

    op.drop_table('tracking_verifications')
    op.drop_table('tracker_settings')
    op.drop_table('goals')
