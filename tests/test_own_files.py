"""The statements of docs/own-files.md make files that can be imported of what other programs export."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest

from connectors import stripe
from data_contracts.contract import load
from data_contracts.judge import judge
from orchestration.readers import read_records

STATEMENTS = re.findall(
    r"```sql\n(.*?)```", (Path(__file__).parents[1] / "docs" / "own-files.md").read_text(), re.DOTALL
)
NOW = datetime(2026, 11, 28, tzinfo=UTC)

ORDERS = """\
Name,Email,Financial Status,Paid at,Fulfillment Status,Currency,Subtotal,Shipping,Taxes,Total,Discount Amount,\
Created at,Lineitem quantity,Lineitem name,Notes,Cancelled at,Refunded Amount,Outstanding Balance,Id,Phone
#1001,Ann@Example.com,paid,2025-03-01 10:11:13 +0100,unfulfilled,EUR,100.00,5.00,0.00,105.00,0.00,\
2025-03-01 10:11:12 +0100,1,Boots,"At the ""door"";\r
thanks, Ann",,0.00,0.00,5500000001001,'0034600
#1001,Ann@Example.com,,,,,,,,,,2025-03-01 10:11:12 +0100,2,Socks,,,,,,
#1002,,voided,,fulfilled,EUR,20.00,0.00,0.00,20.00,0.00,2025-03-01 10:11:12 -0500,1,Hat,,\
2025-03-02 10:11:12 -0500,0.00,0.00,5500000001002,
#1003,bob@example.com,partially_paid,,,EUR,900.00,0.00,0.00,900.00,0.00,2025-03-01 10:11:12 +0100,1,Tent,,,0.00,\
600.00,5500000001003,
"""
PAYMENTS = """\
id,Created date (UTC),Amount,Amount Refunded,Currency,Captured,Mode,PaymentIntent ID,Refunded date (UTC),Status,\
Customer ID,Customer Email
ch_1,2025-03-01 09:11:13,105.00,5.50,eur,true,Live,pi_1,2025-03-05 08:00:00,Partial Refund,cus_1,ann@example.com
ch_0,2025-03-01 09:01:13,105.00,0.00,eur,false,Live,pi_1,,Failed,cus_1,ann@example.com
ch_2,2025-03-02 09:11:13,20.00,0.00,eur,false,Live,,,Failed,,
ch_3,2025-03-02 09:11:13,30.00,0.00,eur,true,Test,pi_3,,Paid,,
"""
REPORT = """\
Day,Account ID,Campaign ID,Ad set ID,Ad ID,Currency,Amount spent (EUR),Impressions,Clicks (all),Reporting starts
,,,,,EUR,12.34,1500,31,2025-03-01
2025-03-01,42,7,8,9,EUR,12.34,1500,31,2025-03-01
2025-03-02,42,7,8,9,EUR,,20,,2025-03-01
"""
EDITOR = """\
Ads by day
"March 1, 2025 - March 2, 2025"
Day,Customer ID,Campaign ID,Ad group ID,Ad ID,Network (with search partners),Currency code,Cost,Impr.,Clicks
2025-03-01,123-456-7890,7,8,9,Google search,EUR,"1,234.56","1,500",31
2025-03-01,123-456-7890,7,8,9,Search partners,EUR,0.50,20,0
2025-03-02,123-456-7890,7,8,9,Google search,EUR,12.00,10,1
Total: Account, --, --, --, --, --, --,"1,247.06","1,530",32
"""
CUSTOM = """\
Campaign name,Campaign ID,Ad group ID,Ad ID,By Day,Currency,Cost,Impressions,Clicks (all)
"Boots, spring",7,8,1790000000000000009,2025-03-01,EUR,12.34,1500,31
Total of 1 results,-,-,-,-,EUR,12.34,1500,31
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
    rows = made(folder, 0, "orders", "orders_export.csv", ORDERS)[:2]
    told = [(row["order_ref"], row["financial_status"], row["fulfillment_status"], row["email"]) for row in rows]
    assert told == [("#1001", "paid", None, "ann@example.com"), ("#1002", "voided", "fulfilled", None)]
    assert [row["created_at"].astimezone(UTC).hour for row in rows] == [9, 15]
    assert [str(row["total"]) for row in rows] == ["105.0000", "20.0000"]


def test_of_an_order_with_a_deposit_only_what_was_paid_is_told_as_paid(folder: Path) -> None:
    rows = made(folder, 0, "orders", "orders_export.csv", ORDERS)
    assert [str(row["paid_total"]) for row in rows] == ["None", "None", "300.0000"]


def test_payments_of_the_processor_are_cash_once_captured_and_less_what_went_back(folder: Path) -> None:
    rows = made(folder, 1, "conversions", "unified_payments.csv", PAYMENTS)
    told = {row["conversion_key"]: (row["conversion_type"], row["payment_status"], str(row["value"])) for row in rows}
    assert told == {
        "stripe:pi_1": ("payment_received", "captured", "105.0000"),
        "stripe:ch_2": ("payment_received", "failed", "20.0000"),
        "stripe:pi_3": ("payment_received", "test", "30.0000"),
        "stripe:ch_1:refund": ("refund_issued", None, "5.5000"),
    }
    assert {row["refunds_payment_ref"] for row in rows} == {None, "stripe:pi_1"}


def test_a_payment_has_the_name_under_which_a_connected_account_tells_it(folder: Path) -> None:
    rows = made(folder, 1, "conversions", "unified_payments.csv", PAYMENTS)
    charge = {"id": "ch_1", "payment_intent": "pi_1", "amount": 10500, "amount_captured": 10500, "currency": "eur"}
    pulled = stripe.payment({**charge, "captured": True, "status": "succeeded", "created": 1740820273})
    assert pulled["payment_ref"] in {row["payment_ref"] for row in rows}


def test_days_of_ads_are_what_the_report_tells_without_its_sum(folder: Path) -> None:
    rows = made(folder, 2, "ad_delivery", "ads_report.csv", REPORT)
    assert [(str(row["date"]), str(row["spend"]), row["impressions"], row["clicks"]) for row in rows] == [
        ("2025-03-01", "12.3400", 1500, 31),
        ("2025-03-02", "0.0000", 20, 0),
    ]


def test_days_of_the_report_editor_are_added_up_without_title_total_and_commas(folder: Path) -> None:
    rows = made(folder, 3, "ad_delivery", "ads_report.csv", EDITOR)
    told = [(str(row["date"]), row["ad_account_id"], str(row["spend"]), row["impressions"]) for row in rows]
    assert sorted(told) == [
        ("2025-03-01", "1234567890", "1235.0600", 1520),
        ("2025-03-02", "1234567890", "12.0000", 10),
    ]


@pytest.mark.parametrize("cost", ["1.234,56", "0,123", "12,50", "€12.00"])
def test_a_cost_that_may_mean_another_number_is_refused(folder: Path, cost: str) -> None:
    with pytest.raises(duckdb.ConversionException, match=re.escape(cost)):
        made(folder, 3, "ad_delivery", "ads_report.csv", EDITOR.replace("1,234.56", cost))


def test_days_of_a_custom_report_are_told_without_its_sum(folder: Path) -> None:
    (row,) = made(folder, 4, "ad_delivery", "ads_report.csv", CUSTOM)
    assert (row["ad_id"], str(row["spend"]), row["clicks"]) == ("1790000000000000009", "12.3400", 31)


def test_rates_of_the_central_bank_are_one_row_each_without_those_that_are_over(folder: Path) -> None:
    hist = (
        "Date,USD,HRK,MXN,\n2026-11-27,1.0850,N/A,21.1234,\n2026-11-26,1.0801,N/A,21.0,\n1999-01-04,1.1789,N/A,N/A,\n"
    )
    rows = made(folder, 5, "fx_rates", "eurofxref-hist.csv", hist)
    assert [(str(row["rate_date"]), row["base"], row["quote"], str(row["rate"])) for row in rows] == [
        ("2026-11-27", "EUR", "USD", "1.0850000000"),
        ("2026-11-27", "EUR", "MXN", "21.1234000000"),
        ("2026-11-26", "EUR", "USD", "1.0801000000"),
        ("2026-11-26", "EUR", "MXN", "21.0000000000"),
    ]
