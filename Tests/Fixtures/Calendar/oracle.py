# SPDX-License-Identifier: Apache-2.0
"""Says when calendars come in every time zone, as Python's zoneinfo knows the zones.

It walks over local days and times and asks zoneinfo for each, so it shares neither code nor method
with what it is compared to. Without further arguments it prints, for each set of zones with equal
files, the names, and then for each case one line with the number of instants and a digest of them:

    zone <names>
    case <expression> <gap> <fold> <from> <to> <count> <digest>

separated by tabs, with commas between names. With a zone, an expression, the two policies and the
two ends it prints the instants of that one case.
"""

import datetime
import itertools
import os
import sys
import zoneinfo

UTC = datetime.timezone.utc
SECOND = datetime.timedelta(seconds=1)
EPOCH = datetime.date(1970, 1, 1).toordinal()
YEARS = range(2020, 2030)
# Years whose changes are looked at, too: a day that was left out, and the rules past all tables.
MORE_YEARS = (2011, 2038, 2099)
SPANS = [
    (datetime.date(first, 1, 1).toordinal() - 7, datetime.date(last + 1, 1, 1).toordinal() + 7)
    for first, last in [(YEARS.start, YEARS.stop - 1)] + [(year, year) for year in MORE_YEARS]
]
POLICIES = [(gap, fold) for gap in ("shift", "skip") for fold in ("first", "second", "both")]


def values(field, low, high):
    """The numbers that a field names, and whether it has a star."""
    found, star = set(), False
    for element in field.split(","):
        body, _, step = element.partition("/")
        if body == "*":
            star = True
            first, last = low, high
        elif "-" in body:
            first, last = map(int, body.split("-"))
        else:
            first = last = int(body)
        found.update(range(first, last + 1, int(step or 1)))
    return found, star


class Expression:
    """Five fields, with L for the last day."""

    def __init__(self, text):
        minute, hour, day, month, weekday = text.split()
        self.last = "L" in day.split(",")
        day = ",".join(part for part in day.split(",") if part != "L")
        hours, _ = values(hour, 0, 23)
        self.wildcard = "*" in hour or "/" in hour
        self.days, self.any_day = values(day, 1, 31) if day else (set(), False)
        self.months, _ = values(month, 1, 12)
        self.weekdays, self.any_weekday = values(weekday, 0, 7)
        self.dates = {}
        self.times = [
            datetime.time(h, m)
            for h, m in itertools.product(sorted(hours), sorted(values(minute, 0, 59)[0]))
        ]

        self.seconds = [time.hour * 3600 + time.minute * 60 for time in self.times]
        self.pairs = [
            (second, time, time.replace(fold=1)) for second, time in zip(self.seconds, self.times)
        ]

    def ordinals(self, first, last):
        """The days from one to another that it names."""
        if (first, last) not in self.dates:
            self.dates[first, last] = [
                ordinal
                for ordinal in range(first, last + 1)
                if self.names(datetime.date.fromordinal(ordinal))
            ]
        return self.dates[first, last]

    def names(self, date):
        if date.month not in self.months:
            return False
        tomorrow = date + datetime.timedelta(days=1)
        by_day = date.day in self.days or (self.last and tomorrow.month != date.month)
        # isoweekday() has 7 for Sunday.
        by_weekday = date.isoweekday() in self.weekdays or date.isoweekday() % 7 in self.weekdays
        if self.any_day:
            return by_weekday
        if self.any_weekday:
            return by_day
        return by_day or by_weekday


class Zone:
    def __init__(self, name):
        self.zone = zoneinfo.ZoneInfo(name)
        self.known = {}
        self.gaps = {}
        self.offsets = {}
        # The days in which the offset changes; no zone has ever changed it and back in a week.
        self.changes = []
        for first, last in SPANS:
            for week in range(first, last, 7):
                if self.offset(week) != self.offset(week + 7):
                    self.changes += [
                        day
                        for day in range(week, week + 7)
                        if self.offset(day) != self.offset(day + 1)
                    ]
        self.restless = {day + more for day in self.changes for more in range(-2, 3)}

    def offset(self, ordinal):
        """At the beginning of a day, in seconds."""
        if ordinal not in self.offsets:
            midnight = datetime.datetime.fromordinal(ordinal).replace(tzinfo=self.zone)
            self.offsets[ordinal] = midnight.utcoffset() // SECOND
        return self.offsets[ordinal]

    def local(self, instant):
        return datetime.datetime.fromtimestamp(instant, self.zone).replace(tzinfo=None)

    def instants(self, ordinal, second, time, folded):
        """Those that show a local time, in order; and one before and one after it if none does."""
        key = ordinal * 86400 + second
        if key in self.known:
            return self.known[key]
        date = datetime.date.fromordinal(ordinal)
        first = datetime.datetime.combine(date, time, self.zone).utcoffset() // SECOND
        last = datetime.datetime.combine(date, folded, self.zone).utcoffset() // SECOND
        wall = (ordinal - EPOCH) * 86400 + second
        # PEP 495: `fold` makes a difference exactly if the time comes twice or never, and in a gap
        # the offset of before comes with fold=0, which is the later instant.
        if first == last:
            shown, guesses = [wall - first], []
        elif first > last:
            shown, guesses = [wall - first, wall - last], []
        else:
            shown, guesses = [], [wall - last, wall - first]
        self.known[key] = shown, guesses
        return shown, guesses

    def first_after_gap(self, guesses):
        """The second at which the offset changes, between two instants."""
        low, high = guesses
        if (low, high) in self.gaps:
            return self.gaps[low, high]
        before = self.local(low) - datetime.datetime.fromtimestamp(low, UTC).replace(tzinfo=None)
        while high - low > 1:
            middle = (low + high) // 2
            utc = datetime.datetime.fromtimestamp(middle, UTC).replace(tzinfo=None)
            if self.local(middle) - utc == before:
                low = middle
            else:
                high = middle
        self.gaps[tuple(guesses)] = high
        return high


def slots(zone, expression, gap, fold, start, end):
    """All instants of a case: start <= instant < end."""
    found = set()
    for ordinal in expression.ordinals(EPOCH + start // 86400 - 1, EPOCH + end // 86400 + 1):
        if ordinal not in zone.restless:
            midnight = (ordinal - EPOCH) * 86400 - zone.offset(ordinal)
            found.update([midnight + second for second in expression.seconds])
            continue
        wall = (ordinal - EPOCH) * 86400
        for second, time, folded in expression.pairs:
            # No zone is a day away from UTC.
            if not start - 86400 <= wall + second < end + 86400:
                continue
            shown, guesses = zone.instants(ordinal, second, time, folded)
            if expression.wildcard:
                found.update(shown)
            elif not shown:
                if gap == "shift":
                    found.add(zone.first_after_gap(guesses))
            else:
                found.update({"first": shown[:1], "second": shown[-1:], "both": shown}[fold])
    return sorted(instant for instant in found if start <= instant < end)


def digest(instants):
    result = 0
    for instant in instants:
        result = (result * 1099511628211 + instant) & 0xFFFFFFFFFFFFFFFF
    return result


def second(year):
    return (datetime.date(year, 1, 1).toordinal() - EPOCH) * 86400


def cases(zone):
    start, end = second(YEARS.start), second(YEARS.stop)
    for gap, fold in (("shift", "first"), ("skip", "both")):
        yield "30 2 * * 0", gap, fold, start, end
    yield "0 0 1,15 * *", "shift", "first", start, end
    yield "15 12,23 L 2-12/2 5", "skip", "both", start, end
    yield "20 */6 1 * *", "shift", "first", start, end
    for ordinal in zone.changes:
        # A day with a change, and half a day on each side of it.
        around = (ordinal - EPOCH) * 86400 - 43200, (ordinal - EPOCH) * 86400 + 129600
        for gap, fold in POLICIES:
            yield "0,30 0-3,23 * * *", gap, fold, *around
        yield "15 */2 * * *", "skip", "first", *around


def main():
    zoneinfo.reset_tzpath([sys.argv[1]])
    if len(sys.argv) > 2:
        name, text, gap, fold, start, end = sys.argv[2:]
        for instant in slots(Zone(name), Expression(text), gap, fold, int(start), int(end)):
            print(instant)
        return
    groups = {}
    for name in sorted(zoneinfo.available_timezones()):
        with open(os.path.join(sys.argv[1], name), "rb") as file:
            groups.setdefault(file.read(), []).append(name)
    expressions = {}
    for names in groups.values():
        print("zone", ",".join(names), sep="\t")
        zone = Zone(names[0])
        for text, gap, fold, start, end in cases(zone):
            if text not in expressions:
                expressions[text] = Expression(text)
            expression = expressions[text]
            found = slots(zone, expression, gap, fold, start, end)
            print("case", text, gap, fold, start, end, len(found), digest(found), sep="\t")


main()
