"""Settings of one deployment, read once from the environment (`TOUCHLEDGER_*`)."""

from __future__ import annotations

import difflib
import os
import re
from datetime import date
from functools import lru_cache
from pathlib import Path

from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict, SettingsError

from touchledger import own_key

REPOSITORY = Path(__file__).resolve().parent.parent
# how often the pipeline looks for new input, and so how long input may lie before its build begins
LOOK_EVERY_SECONDS = 60
# what a deployment must have free on its disk to be ready
SPARE_BYTES = 200 * 1024 * 1024
# databases that hold the state, with the drivers that are installed
DATABASES = {("postgresql", "psycopg"), ("sqlite", "pysqlite")}
# an amount above nothing as DuckDB reads it, and a share of at most everything
MEMORY = (
    r"(?i)^((\d*[1-9]\d*(\.\d+)?|\d+\.\d*[1-9]\d*) *(b|bytes?|[kmgt](i?b)?)"
    r"|(100(\.0+)?|[1-9]\d?(\.\d+)?|0\.\d*[1-9]\d*) *%)$"
)
# an amount with its unit; Java, which is told the driver's as it stands, takes one letter
SPARK_MEMORY = r"(?i)^[1-9]\d*[kmgt]"
# as Spark reads it; what it cannot read it says only once a build has begun
SPARK_MASTER = re.compile(
    r"spark://[^\s,/@]+:[0-9]{1,5}(,[^\s,/@]+:[0-9]{1,5})*|yarn|k8s://\S+|local(\[(\*|[1-9][0-9]*)(\s*,\s*[0-9]+)?\])?"
)
ADDRESS = r"^https?://[^\s/@]+[^\s@]*$"
# DuckDB finds no file of the lake under such a name, or those of another folder too
PATTERNS = frozenset("*?[\\")
# in the addresses by which our own SQLite and Dagster's are opened these three signs are one letter
LETTER = re.compile("%[0-9A-Fa-f]{2}")
# each is made when a database is opened: a million of them keep a build from beginning
MOST_THREADS = 1024
# told by processes of ours to those they start, to dbt of its files, and to our own tests: no settings
OTHER_VARIABLES = frozenset({"dagster_storage", "parent_pid", "lake", "warehouse", "fuzz_examples", "kills", "no_skip"})


def host_and_port(host: str, port: int) -> str:
    """Both as one address; that of IPv6 stands in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


class WrongSettingError(ValueError):
    """Variables of the environment that are no settings, one a line."""


class Settings(BaseSettings):
    """Typed settings; every field is the environment variable `TOUCHLEDGER_<FIELD>`.

    The defaults are those of the demo on one machine. `.env.example` lists each field with a sentence.
    """

    model_config = SettingsConfigDict(
        # what is wrong with a setting is told without its value, which may be a secret
        env_prefix="TOUCHLEDGER_", env_ignore_empty=True, frozen=True, extra="ignore", hide_input_in_errors=True,
    )  # fmt: skip

    home: Path = Path(".touchledger")
    database_url: SecretStr | None = None
    secret_key: SecretStr | None = None
    link_token_secret: SecretStr | None = None
    token_key: SecretStr | None = None

    api_host: str = "127.0.0.1"
    api_port: int = Field(8000, ge=1, le=65535)
    api_workers: int = Field(2, ge=1, le=64)
    api_threads: int = Field(4, ge=1, le=64)
    public_url: str | None = Field(None, pattern=ADDRESS)
    trusted_proxies: int = Field(0, ge=0, le=16)
    dagster_port: int = Field(3000, ge=1, le=65535)
    sandbox_port: int = Field(8765, ge=1, le=65535)

    query_deadline_seconds: float = Field(10.0, gt=0, le=3600)
    served_memory_limit: str = Field("1GB", pattern=MEMORY)
    served_threads: int = Field(1, ge=1, le=MOST_THREADS)
    served_cache_mb: int = Field(256, ge=0)
    served_keep: int = Field(7, ge=2)
    run_history_days: int = Field(30, ge=0, le=36_500)
    run_hours: int = Field(4, ge=1, le=168)
    warehouse_memory_limit: str = Field("50%", pattern=MEMORY)
    warehouse_threads: int | None = Field(None, ge=1, le=MOST_THREADS)

    engine: str = Field("duckdb", pattern="^(duckdb|spark)$")
    spark_master: str | None = None
    spark_environment: Path = Path(".spark")
    spark_folder: Path | None = None
    spark_partitions: int = Field(8, ge=1)
    spark_threads: int = Field(2, ge=1, le=MOST_THREADS)
    spark_driver_memory: str = Field("2g", pattern=f"{SPARK_MEMORY}$")
    spark_executor_memory: str = Field("2g", pattern=f"{SPARK_MEMORY}b?$")
    spark_wait_minutes: int = Field(15, ge=1, le=10_080)
    spark_conf: dict[str, str] = {}

    demo_seed: int = 7
    demo_today: date = Field(date(2026, 11, 16), ge=date(2025, 1, 1), le=date(2099, 12, 31))
    demo_days: int = Field(120, ge=30, le=366)
    demo_people: int = Field(4000, ge=100)

    smtp_host: str | None = None
    smtp_port: int = Field(587, ge=1, le=65535)
    smtp_username: str | None = None
    smtp_password: SecretStr | None = None
    smtp_starttls: str = Field("on", pattern="^(on|off|implicit)$")
    smtp_from: str = Field("Touchledger <touchledger@localhost>", pattern=r"^[^\r\n]*[^\s@]@[^\s@]+$")
    dns_resolver: str | None = Field(None, pattern=r"^(\d+(\.\d+){3}|\[[0-9a-fA-F:]+\]):\d{1,5}$")

    billing_url: str = Field("https://api.stripe.com", pattern=ADDRESS)
    billing_secret: SecretStr | None = None
    billing_webhook_secret: SecretStr | None = None
    billing_prices: dict[str, str] = Field({}, description="the processor's price ids by growth_month, growth_year, …")
    billing_storefront_app: str | None = Field(None, pattern="^[a-z0-9-]{1,100}$")

    creative_analyser: str = Field("rules", pattern="^(rules|http|off)$")
    creative_analyser_url: str | None = Field(None, pattern=ADDRESS)
    creative_analyser_token: SecretStr | None = None

    connect_sandbox: str = Field("on", pattern="^(on|off)$")
    meta_app_id: str | None = Field(None, pattern=r"^[0-9]{1,32}$")
    meta_app_secret: SecretStr | None = None
    google_client_id: str | None = Field(None, pattern=r"^[0-9A-Za-z._-]{1,255}$")
    google_client_secret: SecretStr | None = None
    google_developer_token: SecretStr | None = None
    tiktok_app_id: str | None = Field(None, pattern=r"^[0-9]{1,32}$")
    tiktok_app_secret: SecretStr | None = None

    store_secret: SecretStr | None = None
    store_secret_before: SecretStr | None = None
    chat_verify_token: SecretStr | None = None

    plan_limits: str = Field("on", pattern="^(on|off)$")
    log_level: str = Field("INFO", pattern="^(DEBUG|INFO|WARNING|ERROR)$")
    log_mb: int = Field(100, ge=0, le=1_000_000)

    @field_validator("home")
    @classmethod
    def _absolute(cls, value: Path) -> Path:
        home = _expanded(value).resolve()
        if set(str(home)) & PATTERNS:
            raise ValueError(r"should be a path without *, ?, [ and \, which the database reads as patterns")
        if found := LETTER.search(str(home)):
            raise ValueError(f"should be a path without {found.group()}, which the database reads as a letter")
        return home

    @field_validator("spark_master")
    @classmethod
    def _cluster(cls, value: str | None) -> str | None:
        if value and not SPARK_MASTER.fullmatch(value):
            raise ValueError("should be like spark://host:7077, yarn, k8s://https://host:6443, local, or local[2]")
        return value

    @field_validator("spark_folder", "spark_environment")
    @classmethod
    def _of_a_home(cls, value: Path | None) -> Path | None:
        return _expanded(value) if value else value

    @field_validator("database_url")
    @classmethod
    def _address(cls, value: SecretStr | None) -> SecretStr | None:
        if value is None:
            return None
        # takes long to import, and most deployments have no address of their own
        from sqlalchemy import exc, make_url

        try:
            address = make_url(value.get_secret_value())
            spoken = address.get_dialect()
            if (spoken.name, spoken.driver) not in DATABASES:
                raise ValueError
        except (exc.ArgumentError, ValueError):
            raise ValueError("should be an address like postgresql+psycopg://user:password@host/database") from None
        # what follows would be taken for the server's name, and told with each of its errors
        if spoken.name != "sqlite" and "@" in f"{address.host}{address.database}":
            raise ValueError("should have each @ of its user or password written as %40")
        return value

    def __hash__(self) -> int:
        # what is open is kept by settings, and a field that holds a mapping has no hash of its own
        return hash(self.home)

    @property
    def operational_url(self) -> str:
        """SQLAlchemy address of the operational database; holds a password on Postgres, so never log it."""
        if self.database_url is not None:
            return self.database_url.get_secret_value()
        return _own_database(self.home)

    @property
    def base_url(self) -> str:
        """Public address of the API, without a trailing slash."""
        return (self.public_url or f"http://{host_and_port(self.api_host, self.api_port)}").rstrip("/")

    @property
    def sandbox_url(self) -> str:
        return f"http://127.0.0.1:{self.sandbox_port}"

    @property
    def lake(self) -> Path:
        return self.home / "lake"

    @property
    def inbox(self) -> Path:
        return self.home / "inbox"

    @property
    def warehouse(self) -> Path:
        return self.home / "warehouse.duckdb"

    @property
    def spark_runs(self) -> Path:
        """Where a run on Spark makes the folder of what it builds."""
        return self.spark_folder.absolute() if self.spark_folder is not None else self.home

    @property
    def published(self) -> Path:
        return self.home / "published"

    @property
    def dagster_home(self) -> Path:
        return self.home / "dagster"

    @property
    def data_docs(self) -> Path:
        return self.home / "docs" / "data.html"

    @property
    def analyses_creatives(self) -> bool:
        """Whether an analyser is configured, with all that it needs."""
        return self.creative_analyser == "rules" or (
            self.creative_analyser == "http" and self.creative_analyser_url is not None
        )

    def signing_key(self) -> bytes:
        """Key that signs cursors: the environment's, else the state folder's own, which raises LostKeyError."""
        if self.secret_key is not None:
            return self.secret_key.get_secret_value().encode()
        return own_key.of(self.home)

    def token_keys(self) -> list[bytes]:
        """Keys of providers' tokens at rest: the first seals, each opens; `token_key` lists them, newest first.

        The signing key comes last, so that what was sealed before a key of its own was given stays readable.
        """
        return [*self.own_token_keys(), self.signing_key()]

    def own_token_keys(self) -> list[bytes]:
        """The first of these: what `token_key` lists."""
        given = self.token_key.get_secret_value().split(",") if self.token_key else []
        return [one.strip().encode() for one in given if one.strip()]


def unknown_variables() -> dict[str, str | None]:
    """Variables of the environment that are named like settings and are none, each with the setting meant, if any."""
    prefix = "TOUCHLEDGER_"
    known = Settings.model_fields.keys() | OTHER_VARIABLES
    # as pydantic reads them, small letters or not
    given = sorted(name for name in os.environ if name.upper().startswith(prefix))
    unknown = [name for name in given if name[len(prefix) :].lower() not in known]
    near = {
        name: difflib.get_close_matches(name[len(prefix) :].lower(), Settings.model_fields, n=1, cutoff=0.8)
        for name in unknown
    }
    return {name: f"{prefix}{found[0].upper()}" if found else None for name, found in near.items()}


def _expanded(path: Path) -> Path:
    """The path with a home in the place of its ~, which no shell reads in a file of variables."""
    try:
        return path.expanduser()
    except RuntimeError:
        raise ValueError("begins with the home of a user who is not known here") from None


@lru_cache(maxsize=8)
def _own_database(home: Path) -> str:
    return f"sqlite:///{home / 'operational.db'}"


@lru_cache(maxsize=1)
def load() -> Settings:
    """The settings of this process; call `load.cache_clear()` after changing the environment.

    Raises WrongSettingError, which names the variables and not what they hold.
    """
    try:
        return Settings()
    except ValidationError as error:
        found = [(str(one["loc"][0]) if one["loc"] else "", one["msg"]) for one in error.errors(include_input=False)]
    except SettingsError as error:
        # its text is all that names the field, and what it was raised from holds the value
        found = [(name, "should be a JSON object") for name in re.findall(r'field "(\w+)"', str(error))]
    raise WrongSettingError("\n".join(f"TOUCHLEDGER_{name.upper()}: {reason}" for name, reason in found))
