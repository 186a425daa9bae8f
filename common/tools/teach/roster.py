"""Who is in a class, when it handed in, and what a late answer is worth."""

import csv
import io
import math
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from tools.lib.failed import Failed
from tools.teach.handed_in import text_of

DAY = timedelta(days=1)


def moment(text, where):
    """A time with its zone, such as 2027-03-01T23:59+01:00."""
    try:
        found = datetime.fromisoformat(text.strip().replace("Z", "+00:00"))
    except ValueError as error:
        raise Failed(f"{where}: '{text}' is no time such as 2027-03-01T23:59+01:00") from error
    if found.tzinfo is None:
        raise Failed(f"{where}: '{text}' does not name its zone: 2027-03-01T23:59+01:00, or Z")
    return found


@dataclass
class LateRule:
    """Each day that is begun costs `percent` of the points; after `days` of them there are none."""

    percent: float = 100.0
    days: int = 0

    @classmethod
    def parse(cls, text):
        """10/3: 10 percent a day, for 3 days."""
        try:
            percent, days = text.split("/")
            rule = cls(float(percent), int(days))
        except ValueError as error:
            raise Failed(f"--late {text}: it is PERCENT/DAYS, such as 10/3") from error
        if not (0 <= rule.percent <= 100 and rule.days >= 0):
            raise Failed(f"--late {text}: the percentage is from 0 to 100, the days are 0 or more")
        return rule

    def judge(self, submitted, deadline):
        """(factor, what to tell the learner) of a submission."""
        if submitted <= deadline:
            return 1.0, ""
        days = math.ceil((submitted - deadline) / DAY)
        factor = 0.0 if days > self.days else max(0.0, 1 - days * self.percent / 100)
        plural = "day" if days == 1 else "days"
        return factor, f"{days} {plural} late: {round(100 * factor, 2):g} % of the points count"


@dataclass
class Row:
    """A learner of the roster."""

    ident: str = ""
    submitted: datetime | None = None
    deadline: datetime | None = None


@dataclass
class Roster:
    """{name of the folder: Row}, the class's deadline, and the rule for what comes later."""

    rows: dict = field(default_factory=dict)
    deadline: datetime | None = None
    rule: LateRule = field(default_factory=LateRule)

    def deadline_of(self, name):
        """A learner's deadline as a text; empty if there is none."""
        deadline = self.rows.get(name, Row()).deadline or self.deadline
        return deadline.isoformat() if deadline else ""

    def late(self, name):
        """(factor, what to tell, note for the instructor) of a learner."""
        row = self.rows.get(name, Row())
        deadline = row.deadline or self.deadline
        if deadline is None:
            return 1.0, "", ""
        if row.submitted is None:
            return 1.0, "", "no time of submission is known: counted as in time"
        return *self.rule.judge(row.submitted, deadline), ""


def read_roster(file):
    """{name: Row} of a CSV file with the columns learner and id, and perhaps submitted and deadline, as spreadsheets save it."""
    rows, lines_of = {}, {}
    try:
        text = text_of(Path(file).read_bytes())
        first = text.partition("\n")[0]
        delimiter = max(",;\t", key=first.count)
        reader = csv.DictReader(io.StringIO(text), delimiter=delimiter, skipinitialspace=True)
        columns = [(name or "").strip() for name in reader.fieldnames or ()]
        if not {"learner", "id"} <= set(columns):
            raise Failed(f"{file}: its first line names the columns: learner,id, and if you like submitted,deadline; it is '{first[:80]}'")
        reader.fieldnames = columns
        for line in reader:
            number = reader.line_num
            name, ident = ((line[key] or "").strip() for key in ("learner", "id"))
            if not name and not ident:
                continue  # an empty line
            if not name:
                raise Failed(f"{file}:{number}: no learner")
            if name in rows:
                raise Failed(f"{file}:{number}: the learner '{name}' is also in line {lines_of[name]}")
            if ident and ident in (row.ident for row in rows.values()):
                other = next(key for key, row in rows.items() if row.ident == ident)
                raise Failed(f"{file}:{number}: {name} has the id {ident}, which {other} has in line {lines_of[other]}")
            times = {key: moment(line[key], f"{file}:{number}") for key in ("submitted", "deadline") if (line.get(key) or "").strip()}
            rows[name], lines_of[name] = Row(ident, **times), number
    except (OSError, csv.Error) as error:
        raise Failed(f"{file}: {error.strerror if isinstance(error, OSError) else error}") from error
    if not rows:
        raise Failed(f"{file} names no learner")
    return rows
