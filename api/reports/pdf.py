"""Whether PDF can be written here, and writing it from what the document brings along and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PIL import ImageFile


class Unavailable(Exception):
    """PDF needs system libraries that this machine lacks."""


class NotAnAssetError(ValueError):
    """A document asked for something that is not part of it."""


def is_available() -> bool:
    """Whether WeasyPrint finds its system libraries on this machine."""
    try:
        _weasyprint()
    except Unavailable:
        return False
    return True


def written(html: str, assets: Mapping[str, tuple[bytes, str]]) -> bytes:
    """The document as PDF, tagged for who listens to it. It names its `assets` (bytes and mime type) as `asset:<name>`.

    Raises NotAnAssetError for any other address, and Unavailable.
    """
    weasyprint = _weasyprint()
    try:
        document = weasyprint.HTML(string=html, url_fetcher=_fetcher(assets))
        return bytes(document.write_pdf(pdf_identifier=b"touchledger", pdf_tags=True))
    except weasyprint.urls.FatalURLFetchingError as refused:
        # a BaseException of theirs, which would end the whole process
        raise NotAnAssetError("the document asks for an address") from refused


def _fetcher(assets: Mapping[str, tuple[bytes, str]]) -> Any:
    from weasyprint.urls import URLFetcher, URLFetcherResponse

    class Assets(URLFetcher):  # type: ignore[misc]
        """Gives the assets, and ends the rendering when anything else is asked for."""

        def fetch(self, url: str, headers: Any = None) -> Any:
            scheme, _, name = url.partition(":")
            if scheme != "asset" or name not in assets:
                raise NotAnAssetError(f"{scheme[:20]}: addresses are not fetched")
            content, mime_type = assets[name]
            return URLFetcherResponse(url, content, {"Content-Type": mime_type})

        def open(self, *_: Any, **__: Any) -> Any:
            raise NotAnAssetError("addresses are not opened")

    return Assets(fail_on_errors=True, allowed_protocols=())


def _weasyprint() -> Any:
    try:
        import weasyprint
    except (ImportError, OSError) as absent:
        raise Unavailable(str(absent)) from absent
    # it lets Pillow take images that break off, in the whole process; uploads are judged here too
    ImageFile.LOAD_TRUNCATED_IMAGES = False
    return weasyprint
