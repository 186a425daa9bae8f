"""What the tools write into pages, in English and in Chinese.

A page in Chinese is called README.zh-CN.md and lies beside its README.md. Short texts that come from elsewhere, such as a
chapter's question or a row's "what changed", are translated by common/docs/zh-CN.toml: "the English text" = "the Chinese one".
A text without an entry is an error, so a change of the English asks for a new translation.
"""

import tomllib
from pathlib import Path

from tools.lib.failed import Failed

TEXTS = Path("common") / "docs" / "zh-CN.toml"


class English:
    """The sentences of README.md."""

    page = "README.md"

    def __init__(self, top):
        self.top = Path(top)

    def text(self, english):
        """A short text that is written elsewhere."""
        return english

    def time(self, minutes):
        """100 as "1 h 40 min"."""
        hours, rest = divmod(minutes, 60)
        return " ".join(([f"{hours} h"] if hours else []) + ([f"{rest} min"] if rest else []))

    def readme_of(self, chapter):
        """The name of a chapter's page in this language; README.md if it has none."""
        return self.page if (chapter / self.page).exists() else "README.md"

    # ---- a kernel and its cost

    def line(self, file, number):
        return f"{file}, line {number}"

    def took(self, name, microseconds, n):
        return f"`{name}`: **{microseconds} µs**" + (f" for n = {n}" if n else "")

    def cost(self, parts):
        """The first sentence of a cost, from its parts."""
        return ", ".join(parts) + "."

    def per_ns(self, count):
        return f"{count} operations per ns"

    def bandwidth(self, gb_per_s, percent):
        return f"{gb_per_s} GB/s, {percent} % of the copy bandwidth"

    l2_warm = "L2 warm"

    def tie(self, name, microseconds):
        return f"A tie with `{name}` ({microseconds} µs)."

    def faster(self, name, times):
        return f"{times} times as fast as `{name}`."

    def slower(self, name, times):
        return f"{times} times as long as `{name}`."

    def vendor(self, name, microseconds):
        return f"`{name}`: {microseconds} µs."

    def counted(self, n, values, kernel=None):
        """What ncu counted; `n` if it is another size than the time's, values as (name, value); `kernel` if its
        name is not the rung's: ncu looks at one kernel, the time may be of several."""
        said = "; ".join(f"{name} {value}" for name, value in values)
        return f"ncu{f' of `{kernel}`' if kernel else ''}{f' (n = {n})' if n else ''}: {said}."

    def sentences(self, parts):
        return " ".join(parts)

    # ---- the table of rungs

    rungs_head = "| rung | what changed | source |"
    wrong = "; **wrong on purpose**"

    def curve(self, first, last):
        return f"`{first}` to `{last}`"

    # ---- the opening

    def opening(self, learn, before, time, reading, exercises):
        """`before`: links; `exercises`: (name, the anchor of its card, stars, minutes)."""
        start = f"chapter{'s' if len(before) > 1 else ''} {', '.join(before)}" if before else "only C++"
        names = ", ".join(f"[{name}](#{anchor}) {stars} {minutes} min" for name, anchor, stars, minutes in exercises)
        total = f"{time}: {reading} for this page and its code" + (f"; {names}" if names else "")
        return f"**You will learn** {learn}\n\n**Before you start:** {start}. **Time:** about {total}."

    def next_chapter(self, number, link, question):
        return f"**Next:** chapter [{number}]({link}). {question}"

    # ---- the card of an exercise

    def card(self, name, stars, minutes):
        """Its heading."""
        return f"Now you: {name} {stars} {minutes} min"

    hints_come = "three, one at a time"

    # ---- the front page

    def shown_head(self, devices):
        ratios = [f"ratio, {device}" for device in devices]
        return f"| | you start with | you end with | the library | {' | '.join(ratios)} |"

    def of_the_start(self, ratio):
        """A ratio to the start, where there is no library."""
        return f"{ratio} the start"

    map_head = "| chapter | the question | before it | time | exercises |"

    def way(self, what, device, rungs, library, limit):
        """A way in words; `rungs`: (label, name, chapter, microseconds), `library` and `limit`: (name, microseconds)."""
        steps = "; ".join(f"{label} ({name}, chapter {chapter}) {time} µs" for label, name, chapter, time in rungs)
        return f"{what[0].upper()}{what[1:]} on an {device}: {steps}. {library[0]} takes {library[1]} µs; {limit[0]} take {limit[1]} µs at the rate of a copy."

    def measured_on(self, devices, others):
        also = f"; the other ratios are of one {' and one '.join(others)}" if others else ""
        return f"Measured on one {' and one '.join(devices)}{also}. The ratio says how many times as fast. [All results](common/docs/results.md)."

    def size(self, hours, exercises, fast_hours, core):
        return (
            f"**Time:** about {hours}\u00a0h for all pages and all {exercises} exercises, one chapter at a "
            f"time. The fast track, `./course next --fast`, has all pages and the {core} exercises that "
            f"their chapters cannot do without: about {fast_hours}\u00a0h."
        )

    def map_note(self, words, lines, minutes):
        return (
            f"Time is a rule of thumb: prose at {words} words and code at {lines} lines per minute, and "
            f"{minutes} minutes for an exercise of one to five stars. Those of the fast track are bold."
        )


class Chinese(English):
    """The sentences of README.zh-CN.md."""

    page = "README.zh-CN.md"

    def __init__(self, top):
        super().__init__(top)
        file = self.top / TEXTS
        try:
            self.texts = tomllib.loads(file.read_text(encoding="utf-8"))
        except (OSError, tomllib.TOMLDecodeError) as error:
            raise Failed(f"{file}: {error}") from error
        self.unused = set(self.texts)

    def text(self, english):
        if english not in self.texts:
            raise Failed(f'{self.top / TEXTS}: has no Chinese for "{english}"')
        self.unused.discard(english)
        return self.texts[english]

    def time(self, minutes):
        hours, rest = divmod(minutes, 60)
        return " ".join(([f"{hours} 小时"] if hours else []) + ([f"{rest} 分钟"] if rest else []))

    def line(self, file, number):
        return f"{file} 第 {number} 行"

    def took(self, name, microseconds, n):
        return f"`{name}`：" + (f"n = {n} 时 " if n else "") + f"**{microseconds} µs**"

    def cost(self, parts):
        return "，".join(parts) + "。"

    def per_ns(self, count):
        return f"每纳秒 {count} 次操作"

    def bandwidth(self, gb_per_s, percent):
        return f"{gb_per_s} GB/s，为拷贝带宽的 {percent} %"

    l2_warm = "L2 热"

    def tie(self, name, microseconds):
        return f"与 `{name}`（{microseconds} µs）持平。"

    def faster(self, name, times):
        return f"速度是 `{name}` 的 {times} 倍。"

    def slower(self, name, times):
        return f"耗时是 `{name}` 的 {times} 倍。"

    def vendor(self, name, microseconds):
        return f"`{name}`：{microseconds} µs。"

    def counted(self, n, values, kernel=None):
        said = "；".join(f"{self.text(name)} {value}" for name, value in values)
        return f"ncu{f'，只看 `{kernel}`' if kernel else ''}{f'（n = {n}）' if n else ''}：{said}。"

    def sentences(self, parts):
        return "".join(parts)

    rungs_head = "| 级 | 改了什么 | 源码 |"
    wrong = "；**故意写错**"

    def curve(self, first, last):
        return f"`{first}` 到 `{last}`"

    def opening(self, learn, before, time, reading, exercises):
        start = f"第 {'、'.join(before)} 章" if before else "会 C++ 即可"
        names = "、".join(f"[{name}](#{anchor}) {stars} {minutes} 分钟" for name, anchor, stars, minutes in exercises)
        total = f"约 {time}：阅读本页和代码 {reading}" + (f"；{names}" if names else "")
        return f"**你将学到**{self.text(learn)}\n\n**预备知识**：{start}。**用时**：{total}。"

    def next_chapter(self, number, link, question):
        return f"**下一章**：第 [{number}]({link}) 章。{self.text(question)}"

    def card(self, name, stars, minutes):
        return f"轮到你：{name} {stars} {minutes} 分钟"

    hints_come = "一共三条，一次一条"

    def shown_head(self, devices):
        ratios = [f"速度比，{device}" for device in devices]
        return f"| | 起点 | 终点 | 厂商库 | {' | '.join(ratios)} |"

    def of_the_start(self, ratio):
        return f"起点的 {ratio}"

    map_head = "| 章 | 问题 | 先读 | 用时 | 练习 |"

    def way(self, what, device, rungs, library, limit):
        steps = "；".join(f"{label}（{name}，第 {chapter} 章）{time} µs" for label, name, chapter, time in rungs)
        return f"在 {device} 上计算 {what}：{steps}。{library[0]} 用 {library[1]} µs，按拷贝的速率读 {limit[0]} 用 {limit[1]} µs。"

    def measured_on(self, devices, others):
        also = f"；其余的速度比在一块 {' 和一块 '.join(others)} 上测得" if others else ""
        return f"在一块 {' 和一块 '.join(devices)} 上测得{also}。[全部结果](common/docs/results.md)（英文）。"

    def size(self, hours, exercises, fast_hours, core):
        return (
            f"**用时**：读完全部页面、做完全部 {exercises} 道练习约需 {hours}\u00a0小时，可以一章一章地学。快速路线 "
            f"`./course next --fast` 包括全部页面和各章必做的 {core} 道练习，约 {fast_hours}\u00a0小时。"
        )

    def map_note(self, words, lines, minutes):
        return (
            f"用时只是估算：正文按英文版每分钟 {words} 个单词、代码按每分钟 {lines} 行计，一星到五星的练习各 {minutes} 分钟。"
            "快速路线的练习用粗体标出。"
        )

