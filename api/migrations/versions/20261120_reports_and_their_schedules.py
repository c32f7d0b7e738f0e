"""reports_and_schedules."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from api.db import UtcDateTime

revision = '54d307173ffe'
down_revision = '13623e0ae363'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('report_schedules',
    sa.Column('id', sa.String(length=36), nullable=False),
    sa.Column('workspace_id', sa.String(length=36), nullable=False),
    sa.Column('profile_id', sa.String(length=36), nullable=False),
    sa.Column('template', sa.String(length=24), nullable=False),
    sa.Column('cadence', sa.String(length=8), nullable=False),
    sa.Column('weekday', sa.Integer(), nullable=True),
    sa.Column('day_of_month', sa.Integer(), nullable=True),
    sa.Column('hour', sa.Integer(), nullable=False),
    sa.Column('recipients', sa.JSON(), nullable=False),
    sa.Column('locale', sa.String(length=2), nullable=False),
    sa.Column('format', sa.String(length=4), nullable=False),
    sa.Column('enabled', sa.Boolean(), server_default=sa.true(), nullable=False),
    sa.Column('next_run_at', UtcDateTime(), nullable=True),
    sa.Column('last_run_at', UtcDateTime(), nullable=True),
    sa.Column('last_status', sa.String(length=12), nullable=True),
    sa.Column('created_at', UtcDateTime(), nullable=False),
    sa.CheckConstraint("cadence in ('weekly', 'monthly')", name=op.f('ck_report_schedules_cadence')),
    sa.CheckConstraint('hour between 0 and 23', name=op.f('ck_report_schedules_hour')),
    sa.ForeignKeyConstraint(['profile_id'], ['profiles.id'], name=op.f('fk_report_schedules_profile_id')),
    sa.ForeignKeyConstraint(['workspace_id'], ['workspaces.id'], name=op.f('fk_report_schedules_workspace_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_report_schedules')),
    sa.UniqueConstraint('profile_id', 'template', name=op.f('uq_report_schedules_profile_id_template'))
    )
    with op.batch_alter_table('report_schedules', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_report_schedules_workspace_id'), ['workspace_id'], unique=False)

    op.create_table('reports',
    sa.Column('id', sa.String(length=36), nullable=False),
    sa.Column('workspace_id', sa.String(length=36), nullable=False),
    sa.Column('profile_id', sa.String(length=36), nullable=False),
    sa.Column('template', sa.String(length=24), nullable=False),
    sa.Column('date_from', sa.Date(), nullable=False),
    sa.Column('date_to', sa.Date(), nullable=False),
    sa.Column('locale', sa.String(length=2), nullable=False),
    sa.Column('format', sa.String(length=4), nullable=False),
    sa.Column('status', sa.String(length=12), nullable=False),
    sa.Column('failure_reason', sa.String(length=64), nullable=True),
    sa.Column('snapshot_id', sa.String(length=36), nullable=True),
    sa.Column('is_sent', sa.Boolean(), server_default=sa.false(), nullable=False),
    sa.Column('recipients', sa.JSON(), nullable=False),
    sa.Column('batch_id', sa.String(length=36), nullable=True),
    sa.Column('schedule_id', sa.String(length=36), nullable=True),
    sa.Column('attempts', sa.Integer(), nullable=False),
    sa.Column('next_attempt_at', UtcDateTime(), nullable=False),
    sa.Column('begun_at', UtcDateTime(), nullable=True),
    sa.Column('file_name', sa.String(length=64), nullable=True),
    sa.Column('created_at', UtcDateTime(), nullable=False),
    sa.Column('ready_at', UtcDateTime(), nullable=True),
    sa.Column('sent_at', UtcDateTime(), nullable=True),
    sa.CheckConstraint("status in ('queued', 'rendering', 'ready', 'sending', 'sent', 'failed')", name=op.f('ck_reports_status')),
    sa.ForeignKeyConstraint(['profile_id'], ['profiles.id'], name=op.f('fk_reports_profile_id')),
    sa.ForeignKeyConstraint(['workspace_id'], ['workspaces.id'], name=op.f('fk_reports_workspace_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_reports'))
    )
    with op.batch_alter_table('reports', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_reports_batch_id'), ['batch_id'], unique=False)
        batch_op.create_index(batch_op.f('ix_reports_profile_id'), ['profile_id'], unique=False)
        batch_op.create_index(batch_op.f('ix_reports_schedule_id'), ['schedule_id'], unique=False)
        batch_op.create_index(batch_op.f('ix_reports_status'), ['status'], unique=False)
        batch_op.create_index(batch_op.f('ix_reports_workspace_id'), ['workspace_id'], unique=False)



def downgrade() -> None:
    with op.batch_alter_table('reports', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_reports_workspace_id'))
        batch_op.drop_index(batch_op.f('ix_reports_status'))
        batch_op.drop_index(batch_op.f('ix_reports_schedule_id'))
        batch_op.drop_index(batch_op.f('ix_reports_profile_id'))
        batch_op.drop_index(batch_op.f('ix_reports_batch_id'))

    op.drop_table('reports')
    with op.batch_alter_table('report_schedules', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_report_schedules_workspace_id'))

    op.drop_table('report_schedules')
