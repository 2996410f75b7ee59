"""Addresses opened as a site is set: its certificates, its proxies, and no login for another place than it is of."""

import http.client
import re
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import IO
from urllib.parse import urlsplit

from orchestrator.settings import Site

_TUNNEL = re.compile(r"Tunnel connection failed: ([0-9]{3})\b")  # http.client's words; a proxy's own come after them
_REFUSED = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN})


class NoAnswer(OSError):  # noqa: N818 - reads as what happened
    """An address did not give what was asked of it, and why; `status` is of HTTP, 0 where there is none.

    No word of it is of what answered, which may say again what it was told: a login too short to be masked as well.
    """

    def __init__(self, why: str, status: int = 0) -> None:
        super().__init__(why)
        self.status = status


@contextmanager
def opened(
    connection: urllib.request.OpenerDirector, request: urllib.request.Request, timeout_s: float
) -> Iterator[http.client.HTTPResponse]:
    """The answer to a request; NoAnswer when there is none that is whole."""
    try:
        answer = connection.open(request, timeout=timeout_s)
    except (OSError, http.client.HTTPException, ValueError) as problem:
        raise _no_answer(problem) from None  # the cause has the words of what answered
    with answer:
        try:
            yield answer
        except http.client.HTTPException as problem:
            raise _no_answer(problem) from None


def _no_answer(problem: Exception) -> NoAnswer:
    if isinstance(problem, NoAnswer):
        return problem
    if isinstance(problem, urllib.error.HTTPError):
        problem.close()
        return NoAnswer(_of_status(problem.code), problem.code)
    if isinstance(problem, urllib.error.URLError):
        reason = problem.reason
        return _no_answer(reason) if isinstance(reason, Exception) else NoAnswer(str(reason))
    if isinstance(problem, OSError):
        return NoAnswer(_of_system(problem))
    if isinstance(problem, http.client.InvalidURL) or not isinstance(problem, http.client.HTTPException):
        return NoAnswer("this is no address, or it sends on to what is none")
    return NoAnswer(f"its answer is not whole, or not of HTTP ({type(problem).__name__})")


def _of_status(code: int) -> str:
    try:
        told = f"HTTP {code} {HTTPStatus(code).phrase}"
    except ValueError:
        told = f"HTTP {code}"
    if code in _REFUSED:
        return f"{told}: no login that is accepted"
    sends_on = HTTPStatus.MULTIPLE_CHOICES <= code < HTTPStatus.BAD_REQUEST
    return f"{told}: it sends on to no place that can be asked" if sends_on else told


def _of_system(problem: OSError) -> str:
    if found := _TUNNEL.match(str(problem)):
        return f"the proxy answers {_of_status(int(found[1]))}"
    if isinstance(problem, TimeoutError):
        return "it took too long"
    if isinstance(problem, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted ({_without_names(problem.verify_message)}): see the site's `ca_bundle`"
    if not problem.strerror:
        return f"the connection failed ({type(problem).__name__})"
    return _without_names(problem.strerror)


def _without_names(told: str) -> str:
    """What OpenSSL says without the host that it names: that may be one that was sent on to."""
    return re.sub("'.*'", "…", told)


def opener(site: Site) -> urllib.request.OpenerDirector:
    """What opens addresses of HTTP; OSError when the site's certificates cannot be read."""
    context = ssl.create_default_context(cafile=site.ca_bundle or None)
    handlers: list[urllib.request.BaseHandler] = [urllib.request.HTTPSHandler(context=context), _Redirects()]
    if site.proxies:
        handlers.append(_Proxies(dict(site.proxies)))
    return urllib.request.build_opener(*handlers)


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows as the standard library does, but for the login, which that sends along to wherever it is told to go."""

    def http_error_302(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: http.client.HTTPMessage
    ) -> object:
        """What is there; NoAnswer where it sends on to no address."""
        try:
            return super().http_error_302(req, fp, code, msg, headers)
        except ValueError:
            fp.close()
            raise NoAnswer("it sends on to what is no address", code) from None

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        """The next request; NoAnswer where it would be none of HTTP."""
        fp.close()  # whoever calls reads to its end, which may never come
        parts = urlsplit(newurl)
        if parts.scheme not in {"http", "https"} or parts.port == 0:
            raise NoAnswer("it sends on to what is no address of HTTP", code)
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
