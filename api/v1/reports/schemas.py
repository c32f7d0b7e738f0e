"""What the report routes accept and answer, field by field."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from marshmallow import Schema, ValidationError, fields, post_load, validate

from api.bodies import Email
from api.body_fields import Flag, Uuids, Whole
from api.fields import UuidList
from api.op_lists import ListQuery
from api.reports import FORMATS, LOCALES, TEMPLATES
from api.windows import MOST_DAYS, CalendarDate

MOST_PROFILES = 100
MOST_RECIPIENTS = 20
CADENCES = ("weekly", "monthly")
REPORT_STATES = ("queued", "rendering", "ready", "sending", "sent", "failed")
LAST_STATES = (*REPORT_STATES, "skipped")
EARLIEST = date(2000, 1, 1)
_UUID = {"format": "uuid"}
_LOCALE = "en or es; the workspace's branding decides where it is absent."
_TEMPLATE = "What is in it: a `key` of the hub's templates."
_CADENCE = "weekly tells the seven days before, monthly the calendar month before."


def _one_of(words: tuple[str, ...]) -> validate.OneOf:
    return validate.OneOf(words, error=f"must be one of {', '.join(words)}")


class Recipients(fields.List[Any]):
    """Up to twenty addresses; loads each once."""

    def __init__(self, **kwargs: Any) -> None:
        most = validate.Length(max=MOST_RECIPIENTS, error=f"must hold at most {MOST_RECIPIENTS} addresses")
        super().__init__(Email(), validate=most, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        return list(dict.fromkeys(super()._deserialize(value, attr, data, **kwargs)))


class GenerateBody(Schema):
    profile_ids = Uuids(MOST_PROFILES, required=True)
    template = fields.String(required=True, validate=_one_of(TEMPLATES), metadata={"description": _TEMPLATE})
    date_from = CalendarDate("First day, by each profile's own clock.")
    date_to = CalendarDate("Last day, included.")
    locale = fields.String(load_default=None, validate=_one_of(LOCALES), metadata={"description": _LOCALE})
    format = fields.String(
        load_default="pdf",
        validate=_one_of(FORMATS),
        metadata={"description": "Kind of file; pdf if left out, refused where the deployment cannot write it."},
    )
    send = Flag(load_default=False, metadata={"description": "Mail each report to the recipients once it is ready."})
    recipients = Recipients(load_default=list, metadata={"description": "Needed with send."})

    @post_load
    def _fits(self, data: Mapping[str, Any], **_: Any) -> dict[str, Any]:
        if data["date_from"] < EARLIEST:
            raise ValidationError("is before 2000-01-01", "date_from")
        if not 0 <= (data["date_to"] - data["date_from"]).days <= MOST_DAYS:
            raise ValidationError(f"must be 0 to {MOST_DAYS} days after date_from", "date_to")
        if data["send"] and not data["recipients"]:
            raise ValidationError("is needed with send", "recipients")
        return dict(data)


class SchedulePatch(Schema):
    """What is absent stays as it is; a new schedule needs cadence and recipients."""

    template = fields.String(
        required=True,
        validate=_one_of(TEMPLATES),
        metadata={"description": "A profile has one schedule for each template."},
    )
    cadence = fields.String(validate=_one_of(CADENCES), metadata={"description": _CADENCE})
    weekday = Whole(1, 7, metadata={"description": "1 is Monday. Weekly only; 1 for a new schedule."})
    day_of_month = Whole(1, 28, metadata={"description": "Monthly only; 1 for a new schedule."})
    hour = Whole(0, 23, metadata={"description": "By the profile's clock; 8 for a new schedule."})
    recipients = Recipients(metadata={"description": "Empty: reports are made and not mailed."})
    locale = fields.String(validate=_one_of(LOCALES), metadata={"description": _LOCALE})
    format = fields.String(validate=_one_of(FORMATS), metadata={"description": "Kind of file; pdf for a new schedule."})
    enabled = Flag(metadata={"description": "false: it rests. A new schedule is enabled unless told otherwise."})


class SchedulesBody(Schema):
    profile_ids = Uuids(MOST_PROFILES, required=True)
    patch = fields.Nested(SchedulePatch, required=True)


class HubQuery(ListQuery):
    profile_ids = UuidList(
        MOST_PROFILES, {"description": "Only reports and schedules of these profiles."}, load_default=None
    )


class TemplateRow(Schema):
    key = fields.String(required=True, metadata={"enum": list(TEMPLATES), "description": "What requests call it."})
    name = fields.String(required=True, metadata={"description": "In English, for people."})
    sections = fields.List(
        fields.String(), required=True, metadata={"description": "What stands in it, in this order."}
    )


class ReportRow(Schema):
    report_id = fields.String(required=True, metadata=_UUID)
    profile_id = fields.String(required=True, metadata=_UUID)
    profile_name = fields.String(required=True)
    template = fields.String(required=True, metadata={"enum": list(TEMPLATES), "description": _TEMPLATE})
    date_from = fields.Date(required=True)
    date_to = fields.Date(required=True)
    locale = fields.String(required=True, metadata={"enum": list(LOCALES)})
    format = fields.String(required=True, metadata={"enum": list(FORMATS), "description": "Kind of file."})
    status = fields.String(
        required=True,
        metadata={
            "enum": list(REPORT_STATES),
            "description": "A report that is not to be mailed ends as ready, the others as sent; any may fail.",
        },
    )
    failure_reason = fields.String(
        required=True,
        allow_none=True,
        metadata={
            "description": "Of a failed one: no_data, pdf_not_available, rendering_failed, mail_not_configured or"
            " recipients_failed. Of a sent one: some_recipients_failed where not everybody could be reached. Else null."
        },
    )
    snapshot_id = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "The published data that every figure is from; null before it was made."},
    )
    recipients_count = fields.Integer(
        required=True,
        metadata={"description": "Addresses it was ordered with; mailed to only where that was asked for."},
    )
    batch_id = fields.String(
        required=True,
        allow_none=True,
        metadata={**_UUID, "description": "The order that it came of; null where a schedule made it."},
    )
    created_at = fields.DateTime(required=True)
    ready_at = fields.DateTime(
        required=True, allow_none=True, metadata={"description": "When its file was there; null before."}
    )
    sent_at = fields.DateTime(required=True, allow_none=True)
    file_url = fields.String(
        required=True, allow_none=True, metadata={"description": "Needs the same credential; null until it is ready."}
    )


class ScheduleRow(Schema):
    schedule_id = fields.String(required=True, metadata={**_UUID, "description": "The schedule."})
    profile_id = fields.String(required=True, metadata=_UUID)
    template = fields.String(
        required=True,
        metadata={"enum": list(TEMPLATES), "description": "What its reports hold: a `key` of the hub's templates."},
    )
    cadence = fields.String(required=True, metadata={"enum": list(CADENCES), "description": _CADENCE})
    weekday = fields.Integer(
        required=True, allow_none=True, metadata={"description": "1 is Monday; null for a monthly one."}
    )
    day_of_month = fields.Integer(
        required=True, allow_none=True, metadata={"description": "1 to 28; null for a weekly one."}
    )
    hour = fields.Integer(required=True, metadata={"description": "0 to 23, by the profile's clock."})
    recipients = fields.List(
        fields.String(),
        required=True,
        metadata={"description": "Who its reports are mailed to; empty: they are made and not mailed."},
    )
    locale = fields.String(required=True, metadata={"enum": list(LOCALES)})
    format = fields.String(required=True, metadata={"enum": list(FORMATS), "description": "Kind of file."})
    enabled = fields.Boolean(required=True, metadata={"description": "false: it rests."})
    next_run_at = fields.DateTime(
        required=True, allow_none=True, metadata={"description": "When it is due; null while it rests."}
    )
    last_run_at = fields.DateTime(
        required=True, allow_none=True, metadata={"description": "When it last ran; null before."}
    )
    last_status = fields.String(
        required=True,
        allow_none=True,
        metadata={
            "enum": [*LAST_STATES, None],
            "description": "Of its last run's report; skipped: no data, or no schedules in the plan. Null before.",
        },
    )


class Sender(Schema):
    from_address = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "Under the verified sender domain, else this deployment's own; null without either."},
    )
    domain_verified = fields.Boolean(
        required=True, metadata={"description": "Whether the workspace has a sender domain that is verified."}
    )
    mail_configured = fields.Boolean(required=True, metadata={"description": "Whether this deployment sends mail."})


class Hub(Schema):
    has_paged_part = True

    templates = fields.List(
        fields.Nested(TemplateRow), required=True, metadata={"description": "Every kind of report there is."}
    )
    reports = fields.List(
        fields.Nested(ReportRow), required=True, metadata={"description": "Newest first; the page is of these."}
    )
    schedules = fields.List(
        fields.Nested(ScheduleRow), required=True, metadata={"description": "All of the same profiles, not paged."}
    )
    sender = fields.Nested(Sender, required=True)


class QueuedReport(Schema):
    report_id = fields.String(
        required=True, allow_none=True, metadata={**_UUID, "description": "The report; null where it is skipped."}
    )
    profile_id = fields.String(required=True, metadata=_UUID)
    status = fields.String(
        required=True, metadata={"enum": ["queued", "skipped"], "description": "skipped: none is made of this profile."}
    )
    reason = fields.String(
        required=True,
        allow_none=True,
        metadata={
            "enum": ["no_data", None],
            "description": "no_data: nothing is published of these days; null where it is queued.",
        },
    )


class Batch(Schema):
    batch_id = fields.String(required=True, metadata={**_UUID, "description": "The order; its reports carry it."})
    reports = fields.List(
        fields.Nested(QueuedReport), required=True, metadata={"description": "One for each profile, in the order sent."}
    )


class Applied(Schema):
    created = fields.Integer(required=True, metadata={"description": "Schedules that were made."})
    updated = fields.Integer(required=True, metadata={"description": "Schedules that were changed."})
    unchanged = fields.Integer(required=True, metadata={"description": "Schedules that stood so already."})
    schedules = fields.List(
        fields.Nested(ScheduleRow),
        required=True,
        metadata={"description": "As they now stand, in the order of the profiles sent."},
    )
