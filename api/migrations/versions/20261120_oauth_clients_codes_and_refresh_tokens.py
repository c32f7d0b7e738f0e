"""oauth clients, codes and refresh tokens."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from api.db import UtcDateTime

revision = 'b45f65686434'
down_revision = '58b5d6e0c0d2'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('oauth_clients',
    sa.Column('client_id', sa.String(length=64), nullable=False),
    sa.Column('name', sa.String(length=80), nullable=False),
    sa.Column('redirect_uris', sa.JSON(), nullable=False),
    sa.Column('scopes', sa.JSON(), nullable=False),
    sa.Column('created_at', UtcDateTime(), nullable=False),
    sa.Column('last_used_at', UtcDateTime(), nullable=True),
    sa.PrimaryKeyConstraint('client_id', name=op.f('pk_oauth_clients'))
    )
    op.create_table('oauth_codes',
    sa.Column('digest', sa.String(length=64), nullable=False),
    sa.Column('authorization_id', sa.String(length=36), nullable=False),
    sa.Column('client_id', sa.String(length=64), nullable=False),
    sa.Column('redirect_uri', sa.String(length=2000), nullable=True),
    sa.Column('code_challenge', sa.String(length=128), nullable=True),
    sa.Column('scopes', sa.JSON(), nullable=False),
    sa.Column('api_key_id', sa.String(length=36), nullable=True),
    sa.Column('created_at', UtcDateTime(), nullable=False),
    sa.Column('expires_at', UtcDateTime(), nullable=False),
    sa.Column('used_at', UtcDateTime(), nullable=True),
    sa.ForeignKeyConstraint(['authorization_id'], ['oauth_authorizations.id'], name=op.f('fk_oauth_codes_authorization_id')),
    sa.PrimaryKeyConstraint('digest', name=op.f('pk_oauth_codes'))
    )
    with op.batch_alter_table('oauth_codes', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_oauth_codes_api_key_id'), ['api_key_id'], unique=False)
        batch_op.create_index(batch_op.f('ix_oauth_codes_authorization_id'), ['authorization_id'], unique=False)

    op.create_table('oauth_refresh_tokens',
    sa.Column('id', sa.String(length=36), nullable=False),
    sa.Column('digest', sa.String(length=64), nullable=False),
    sa.Column('authorization_id', sa.String(length=36), nullable=False),
    sa.Column('client_id', sa.String(length=64), nullable=False),
    sa.Column('user_token_id', sa.String(length=36), nullable=False),
    sa.Column('scopes', sa.JSON(), nullable=False),
    sa.Column('created_at', UtcDateTime(), nullable=False),
    sa.Column('expires_at', UtcDateTime(), nullable=False),
    sa.Column('used_at', UtcDateTime(), nullable=True),
    sa.ForeignKeyConstraint(['authorization_id'], ['oauth_authorizations.id'], name=op.f('fk_oauth_refresh_tokens_authorization_id')),
    sa.ForeignKeyConstraint(['user_token_id'], ['user_tokens.id'], name=op.f('fk_oauth_refresh_tokens_user_token_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_oauth_refresh_tokens')),
    sa.UniqueConstraint('digest', name=op.f('uq_oauth_refresh_tokens_digest'))
    )
    with op.batch_alter_table('oauth_refresh_tokens', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_oauth_refresh_tokens_authorization_id'), ['authorization_id'], unique=False)



def downgrade() -> None:
    with op.batch_alter_table('oauth_refresh_tokens', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_oauth_refresh_tokens_authorization_id'))

    op.drop_table('oauth_refresh_tokens')
    with op.batch_alter_table('oauth_codes', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_oauth_codes_authorization_id'))
        batch_op.drop_index(batch_op.f('ix_oauth_codes_api_key_id'))

    op.drop_table('oauth_codes')
    op.drop_table('oauth_clients')
