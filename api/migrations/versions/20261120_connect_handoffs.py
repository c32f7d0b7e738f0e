"""What a connect hand-off is about, and the accounts to choose from."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op


revision = 'c81c3671b362'
down_revision = 'b8230d1bfe66'
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table('connections', schema=None) as batch_op:
        batch_op.add_column(sa.Column('candidates', sa.JSON(), server_default=sa.text("'[]'"), nullable=False))

    with op.batch_alter_table('handoffs', schema=None) as batch_op:
        batch_op.add_column(sa.Column('connection_id', sa.String(length=36), nullable=True))
        batch_op.add_column(sa.Column('return_url', sa.String(length=500), nullable=True))
        batch_op.create_foreign_key(batch_op.f('fk_handoffs_connection_id'), 'connections', ['connection_id'], ['id'])



def downgrade() -> None:
    with op.batch_alter_table('handoffs', schema=None) as batch_op:
        batch_op.drop_constraint(batch_op.f('fk_handoffs_connection_id'), type_='foreignkey')
        batch_op.drop_column('return_url')
        batch_op.drop_column('connection_id')

    with op.batch_alter_table('connections', schema=None) as batch_op:
        batch_op.drop_column('candidates')

