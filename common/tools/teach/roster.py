"""Who is in a class, when it handed in, and what a late answer is worth."""

import csv
import math
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from tools.lib.failed import Failed

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
    """{name: Row} of a CSV file with the columns learner and id, and perhaps submitted and deadline."""
    rows = {}
    try:
        with open(file, encoding="utf-8-sig", newline="") as text:
            reader = csv.DictReader(text)
            if not {"learner", "id"} <= set(reader.fieldnames or ()):
                raise Failed(f"{file}: its first line names the columns: learner,id, and if you like submitted,deadline")
            for number, line in enumerate(reader, 2):
                name = (line["learner"] or "").strip()
                if not name or name in rows:
                    raise Failed(f"{file}:{number}: {'a learner twice' if name else 'no learner'}")
                times = {key: moment(line[key], f"{file}:{number}") for key in ("submitted", "deadline") if (line.get(key) or "").strip()}
                rows[name] = Row((line["id"] or "").strip(), **times)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise Failed(f"{file}: {error}") from error
    return rows
