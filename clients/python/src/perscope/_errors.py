"""What the package raises."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence


class PerscopeError(Exception):
    """Everything that this package raises."""


class NoAnswerError(PerscopeError):
    """Nothing answered, the answer broke off, or it took too long."""


class ForeignAnswerError(PerscopeError):
    """Something else than the API answered: a login page, another program, a redirect."""


class ApiError(PerscopeError):
    """An answer that is an error; the subclasses say which. Decide by `code`."""

    def __init__(
        self,
        message: str,
        *,
        status: int,
        code: str,
        errors: Mapping[str, Sequence[str]],
        retry_after: int | None,
        request_id: str | None,
    ) -> None:
        of_parameters = "".join(f" {name}: {' '.join(sentences)}" for name, sentences in errors.items())
        super().__init__(f"{message}{of_parameters} ({status} {code})")
        self.status = status
        self.code = code
        #: The mistakes by parameter; empty unless `code` is `invalid_request`.
        self.errors = errors
        #: Seconds to wait, where the answer says so.
        self.retry_after = retry_after
        #: Names the request in the server's logs.
        self.request_id = request_id


class KeyRefusedError(ApiError):
    """The key is missing or not valid."""


class LockedError(ApiError):
    """The address sent too many invalid keys."""


class RateLimitError(ApiError):
    """The requests of the minute are used up, also after the client waited."""


class QuotaError(ApiError):
    """The requests of the month are used up."""


class InvalidRequestError(ApiError):
    """A parameter cannot be used; `errors` says which and why."""


class PlanError(ApiError):
    """The plan does not cover the country or the time."""


class SemanticUnavailableError(ApiError):
    """Search by meaning is out of order for now; the other modes are not."""


_CLASSES: dict[str, type[ApiError]] = {
    "missing_token": KeyRefusedError,
    "invalid_token": KeyRefusedError,
    "too_many_failed_attempts": LockedError,
    "rate_limit_exceeded": RateLimitError,
    "quota_exceeded": QuotaError,
    "invalid_request": InvalidRequestError,
    "country_not_included": PlanError,
    "history_not_included": PlanError,
    "semantic_search_unavailable": SemanticUnavailableError,
}


def error_of(status: int, headers: Mapping[str, str], content: bytes) -> ApiError:
    """The error for an answer that reports one. A proxy's page has the code `no_error_object`."""
    try:
        body = json.loads(content)
    except ValueError:
        body = None
    if not isinstance(body, dict) or not isinstance(body.get("code"), str):
        body = {"code": "no_error_object", "message": "The server answered without saying what is wrong."}
    retry_after = headers.get("retry-after", "")
    return _CLASSES.get(body["code"], ApiError)(
        str(body.get("message", "")),
        status=status,
        code=body["code"],
        errors=body["errors"] if isinstance(body.get("errors"), dict) else {},
        retry_after=int(retry_after) if retry_after.isdecimal() else None,
        request_id=headers.get("x-request-id"),
    )


_FIRST_BACK_OFF = 0.5
_LONGEST_BACK_OFF = 30.0


def wait_after(error: PerscopeError, attempt: int) -> float | None:
    """Seconds to wait before the same request may do better; None when it will not.

    By the contract: a minute that is used up and a server in trouble are waited out, any other
    4xx stays what it is.
    """
    back_off = min(_LONGEST_BACK_OFF, _FIRST_BACK_OFF * 2.0**attempt)
    if isinstance(error, NoAnswerError):
        return back_off
    if not isinstance(error, ApiError):
        return None
    if error.code != "rate_limit_exceeded" and error.status < 500:
        return None
    return back_off if error.retry_after is None else float(error.retry_after)
