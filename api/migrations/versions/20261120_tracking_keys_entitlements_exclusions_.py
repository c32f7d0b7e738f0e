"""tracking_keys_entitlements_exclusions_agreements."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from api.db import UtcDateTime

revision = 'f688e9edd314'
down_revision = '0e5d1cc6122e'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('agreement_signatures',
    sa.Column('id', sa.String(length=36), nullable=False),
    sa.Column('profile_id', sa.String(length=36), nullable=False),
    sa.Column('version', sa.String(length=16), nullable=False),
    sa.Column('text_hash', sa.String(length=64), nullable=False),
    sa.Column('signatory_name', sa.String(length=120), nullable=False),
    sa.Column('signatory_title', sa.String(length=120), nullable=False),
    sa.Column('signed_by_kind', sa.String(length=16), nullable=False),
    sa.Column('signed_by_id', sa.String(length=36), nullable=False),
    sa.Column('signed_at', UtcDateTime(), nullable=False),
    sa.ForeignKeyConstraint(['profile_id'], ['profiles.id'], name=op.f('fk_agreement_signatures_profile_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_agreement_signatures')),
    sa.UniqueConstraint('profile_id', 'version', name=op.f('uq_agreement_signatures_profile_id_version'))
    )
    op.create_table('audience_exclusions',
    sa.Column('profile_id', sa.String(length=36), nullable=False),
    sa.Column('digest', sa.String(length=64), nullable=False),
    sa.Column('excluded_at', UtcDateTime(), nullable=False),
    sa.ForeignKeyConstraint(['profile_id'], ['profiles.id'], name=op.f('fk_audience_exclusions_profile_id')),
    sa.PrimaryKeyConstraint('profile_id', 'digest', name=op.f('pk_audience_exclusions'))
    )
    op.create_table('entitlements',
    sa.Column('profile_id', sa.String(length=36), nullable=False),
    sa.Column('feature', sa.String(length=32), nullable=False),
    sa.Column('is_enabled', sa.Boolean(), nullable=False),
    sa.Column('updated_at', UtcDateTime(), nullable=False),
    sa.ForeignKeyConstraint(['profile_id'], ['profiles.id'], name=op.f('fk_entitlements_profile_id')),
    sa.PrimaryKeyConstraint('profile_id', 'feature', name=op.f('pk_entitlements'))
    )
    op.create_table('tracking_keys',
    sa.Column('id', sa.String(length=36), nullable=False),
    sa.Column('profile_id', sa.String(length=36), nullable=False),
    sa.Column('key', sa.String(length=48), nullable=False),
    sa.Column('name', sa.String(length=80), nullable=False),
    sa.Column('allowed_hosts', sa.JSON(), server_default='[]', nullable=False),
    sa.Column('created_at', UtcDateTime(), nullable=False),
    sa.Column('last_seen_at', UtcDateTime(), nullable=True),
    sa.Column('revoked_at', UtcDateTime(), nullable=True),
    sa.ForeignKeyConstraint(['profile_id'], ['profiles.id'], name=op.f('fk_tracking_keys_profile_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_tracking_keys')),
    sa.UniqueConstraint('key', name=op.f('uq_tracking_keys_key'))
    )
    with op.batch_alter_table('tracking_keys', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_tracking_keys_profile_id'), ['profile_id'], unique=False)



def downgrade() -> None:
    with op.batch_alter_table('tracking_keys', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_tracking_keys_profile_id'))

    op.drop_table('tracking_keys')
    op.drop_table('entitlements')
    op.drop_table('audience_exclusions')
    op.drop_table('agreement_signatures')
