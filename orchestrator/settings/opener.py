"""Addresses opened as a site is set: its certificates, its proxies, and no login for another place than it is of."""

import ssl
import urllib.request
from http.client import HTTPMessage
from typing import IO
from urllib.parse import urlsplit

from orchestrator.settings import Site


def opener(site: Site) -> urllib.request.OpenerDirector:
    """What opens addresses of HTTP; OSError when the site's certificates cannot be read."""
    context = ssl.create_default_context(cafile=site.ca_bundle or None)
    handlers: list[urllib.request.BaseHandler] = [urllib.request.HTTPSHandler(context=context), _Redirects()]
    if site.proxies:
        handlers.append(_Proxies(dict(site.proxies)))
    return urllib.request.build_opener(*handlers)


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows as the standard library does, but for the login, which that sends along to wherever it is told to go."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> urllib.request.Request | None:
        """The next request."""
        again = super().redirect_request(req, fp, code, msg, headers, newurl)
        if again is not None and not _is_same(req.full_url, again.full_url):
            again.remove_header("Authorization")
        return again


def _is_same(before: str, after: str) -> bool:
    """Whether it is the same server, or the same one with TLS."""
    old, new = urlsplit(before), urlsplit(after)
    with_tls = (old.scheme, old.port, new.scheme, new.port) == ("http", None, "https", None)
    return old.hostname == new.hostname and (with_tls or (old.scheme, old.port) == (new.scheme, new.port))


class _Proxies(urllib.request.ProxyHandler):
    """The site's own list of hosts without a proxy holds, beside that of the environment."""

    def __init__(self, proxies: dict[str, str]) -> None:
        super().__init__({scheme: proxy for scheme, proxy in proxies.items() if scheme != "no"})
        self._without = {"no": proxies.get("no", "")}

    def proxy_open(self, req: urllib.request.Request, proxy: str, type: str) -> object:  # noqa: A002 - as it is called
        """Leave it to who asks directly, or ask the proxy."""
        if req.host and urllib.request.proxy_bypass_environment(req.host, self._without):  # type: ignore[attr-defined]
            return None
        return super().proxy_open(req, proxy, type)
