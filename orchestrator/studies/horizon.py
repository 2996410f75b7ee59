"""How far ahead to look: `90d`, `12m`, `2y`."""

import calendar
import datetime as dt
import re

from orchestrator import text
from orchestrator.errors import InputError

_SPAN = re.compile(r"([1-9]\d{0,3})([dmy])", re.ASCII)
_MONTHS = 12


def day_after(today: dt.date, span: str) -> dt.date:
    """The day that is a span ahead; the 31st of a month that has none is its last day. InputError for no span."""
    found = _SPAN.fullmatch(span)
    if found is None:
        raise InputError(f"`{text.shown(span)}` is not a time ahead", hint="90d, 12m or 2y")
    count = int(found[1])
    try:
        if found[2] == "d":
            return today + dt.timedelta(days=count)
        months = today.month - 1 + count * (_MONTHS if found[2] == "y" else 1)
        year, month = today.year + months // _MONTHS, months % _MONTHS + 1
        return dt.date(year, month, min(today.day, calendar.monthrange(year, month)[1]))
    except (OverflowError, ValueError) as error:
        raise InputError(f"`{text.shown(span)}` is further ahead than there are dates", hint="2y") from error
