"""The statements of docs/own-files.md make files that can be imported of what other programs export."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest

from data_contracts.contract import load
from data_contracts.judge import judge
from orchestration.readers import read_records

STATEMENTS = re.findall(
    r"```sql\n(.*?)```", (Path(__file__).parents[1] / "docs" / "own-files.md").read_text(), re.DOTALL
)
NOW = datetime(2026, 11, 28, tzinfo=UTC)

ORDERS = """\
Name,Email,Financial Status,Paid at,Fulfillment Status,Currency,Subtotal,Shipping,Taxes,Total,Discount Amount,\
Created at,Lineitem quantity,Lineitem name,Cancelled at,Refunded Amount,Id,Phone
#1001,Ann@Example.com,paid,2025-03-01 10:11:13 +0100,unfulfilled,EUR,100.00,5.00,0.00,105.00,0.00,\
2025-03-01 10:11:12 +0100,1,Boots,,0.00,5500000001001,'0034600
#1001,Ann@Example.com,,,,,,,,,,2025-03-01 10:11:12 +0100,2,Socks,,,,
#1002,,voided,,fulfilled,EUR,20.00,0.00,0.00,20.00,0.00,2025-03-01 10:11:12 -0500,1,Hat,\
2025-03-02 10:11:12 -0500,0.00,5500000001002,
"""
PAYMENTS = """\
id,Created date (UTC),Amount,Amount Refunded,Currency,Captured,Refunded date (UTC),Status,Customer ID,Customer Email
ch_1,2025-03-01 09:11:13,105.00,5.50,eur,true,2025-03-05 08:00:00,Partial Refund,cus_1,ann@example.com
ch_2,2025-03-02 09:11:13,20.00,0.00,eur,false,,Failed,,
"""
REPORT = """\
Day,Account ID,Campaign ID,Ad set ID,Ad ID,Currency,Amount spent (EUR),Impressions,Clicks (all),Reporting starts
,,,,,EUR,12.34,1500,31,2025-03-01
2025-03-01,42,7,8,9,EUR,12.34,1500,31,2025-03-01
2025-03-02,42,7,8,9,EUR,,20,,2025-03-01
"""


def made(folder: Path, number: int, dataset: str, name: str, export: str) -> list[dict[str, Any]]:
    (folder / name).write_text(export)
    with duckdb.connect() as connection:
        connection.execute(STATEMENTS[number])
    verdict = judge(load(dataset), read_records(load(dataset), folder / f"{dataset}.csv"), now=NOW)
    assert verdict.rejected == []
    return verdict.rows


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_orders_of_the_shop_are_one_row_each_whatever_lines_they_have(folder: Path) -> None:
    rows = made(folder, 0, "orders", "orders_export.csv", ORDERS)
    told = [(row["order_ref"], row["financial_status"], row["fulfillment_status"], row["email"]) for row in rows]
    assert told == [("#1001", "paid", None, "ann@example.com"), ("#1002", "voided", "fulfilled", None)]
    assert [row["created_at"].astimezone(UTC).hour for row in rows] == [9, 15]
    assert [str(row["total"]) for row in rows] == ["105.0000", "20.0000"]


def test_payments_of_the_processor_are_cash_once_captured_and_less_what_went_back(folder: Path) -> None:
    rows = made(folder, 1, "conversions", "unified_payments.csv", PAYMENTS)
    told = {row["conversion_key"]: (row["conversion_type"], row["payment_status"], str(row["value"])) for row in rows}
    assert told == {
        "ch_1": ("payment_received", "captured", "105.0000"),
        "ch_2": ("payment_received", "failed", "20.0000"),
        "ch_1:refund": ("refund_issued", None, "5.5000"),
    }
    assert {row["refunds_payment_ref"] for row in rows} == {None, "stripe:ch_1"}


def test_days_of_ads_are_what_the_report_tells_without_its_sum(folder: Path) -> None:
    rows = made(folder, 2, "ad_delivery", "ads_report.csv", REPORT)
    assert [(str(row["date"]), str(row["spend"]), row["impressions"], row["clicks"]) for row in rows] == [
        ("2025-03-01", "12.3400", 1500, 31),
        ("2025-03-02", "0.0000", 20, 0),
    ]
