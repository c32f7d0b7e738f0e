"""outgoing_mail."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from api.db import UtcDateTime

revision = '880c21d0568d'
down_revision = 'de2f48e07b39'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('outgoing_mail',
    sa.Column('id', sa.String(length=36), nullable=False),
    sa.Column('workspace_id', sa.String(length=36), nullable=True),
    sa.Column('kind', sa.String(length=32), nullable=False),
    sa.Column('to_address', sa.String(length=254), nullable=False),
    sa.Column('subject', sa.String(length=255), nullable=False),
    sa.Column('text', sa.Text(), nullable=True),
    sa.Column('html', sa.Text(), nullable=True),
    sa.Column('attachments', sa.JSON(), nullable=False),
    sa.Column('report_id', sa.String(length=36), nullable=True),
    sa.Column('status', sa.String(length=12), nullable=False),
    sa.Column('attempts', sa.Integer(), nullable=False),
    sa.Column('note', sa.String(length=255), nullable=True),
    sa.Column('created_at', UtcDateTime(), nullable=False),
    sa.Column('next_attempt_at', UtcDateTime(), nullable=False),
    sa.Column('handed_over_at', UtcDateTime(), nullable=True),
    sa.Column('ended_at', UtcDateTime(), nullable=True),
    sa.CheckConstraint("status in ('queued', 'sending', 'sent', 'failed', 'unconfirmed')", name=op.f('ck_outgoing_mail_status')),
    sa.ForeignKeyConstraint(['workspace_id'], ['workspaces.id'], name=op.f('fk_outgoing_mail_workspace_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_outgoing_mail'))
    )
    with op.batch_alter_table('outgoing_mail', schema=None) as batch_op:
        batch_op.create_index('ix_outgoing_mail_due', ['status', 'next_attempt_at'], unique=False)
        batch_op.create_index(batch_op.f('ix_outgoing_mail_report_id'), ['report_id'], unique=False)
        batch_op.create_index(batch_op.f('ix_outgoing_mail_workspace_id'), ['workspace_id'], unique=False)



def downgrade() -> None:
    with op.batch_alter_table('outgoing_mail', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_outgoing_mail_workspace_id'))
        batch_op.drop_index(batch_op.f('ix_outgoing_mail_report_id'))
        batch_op.drop_index('ix_outgoing_mail_due')

    op.drop_table('outgoing_mail')
