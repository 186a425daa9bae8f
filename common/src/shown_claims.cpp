#include "shown_claims.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <optional>
#include <utility>

namespace course::runner {
namespace {

constexpr std::size_t kWidth = 100;    // columns
constexpr std::size_t kMostRows = 40;  // of a table; of one with more the first few are shown
constexpr std::size_t kFewRows = 8;
constexpr std::size_t kMostCases = 16;  // of a list
constexpr std::size_t kFewCases = 4;
constexpr std::size_t kMostValues = 4;  // of one name in one case
constexpr std::size_t kMostNameColumns = 48;
constexpr std::size_t kMostValueColumns = 16;
constexpr std::size_t kMostExpanded = 40;
constexpr std::size_t kHeadWidth = 12;  // a wider head of a table takes several lines

/// 65,536 for 65536, and 5 for 5.0f: numbers as the lessons write them.
std::string readable(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const bool begins = std::isdigit(static_cast<unsigned char>(text[i])) != 0 &&
                        (i == 0 || (std::isalnum(static_cast<unsigned char>(text[i - 1])) == 0 &&
                                    text[i - 1] != '.' && text[i - 1] != '_'));
    if (!begins) {
      result += text[i++];
      continue;
    }
    std::size_t end = i;
    while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
    std::string digits = text.substr(i, end - i);
    const bool is_code =
        end < text.size() && (std::isalpha(static_cast<unsigned char>(text[end])) != 0);
    constexpr std::size_t kGroup = 3;
    if (digits.size() > kGroup && digits.front() != '0' && !is_code) {
      for (std::size_t at = digits.size() - kGroup; at > 0; at = at > kGroup ? at - kGroup : 0) {
        digits.insert(at, ",");
      }
    }
    result += digits;
    i = end;
    if (i < text.size() && text[i] == '.') {  // what follows the point has no commas
      const std::size_t point = i++;
      while (i < text.size() && std::isalnum(static_cast<unsigned char>(text[i])) != 0) ++i;
      std::string rest = text.substr(point, i - point);
      if (rest.ends_with("f")) rest.pop_back();
      if (rest != ".0") result += rest;
    }
  }
  return result;
}

/// Breaks lines at spaces, and lets the rest begin the next line if that is indented as much; else the rest is indented
/// by two columns more. A line that begins with a number is an item of a list ("8 wait in ..."): no rest begins it.
std::string wrapped(const std::string& text, std::size_t indent) {
  std::string result, rest;
  std::size_t rest_indent = 0;  // of the line that was broken
  const auto put_rest = [&] {
    if (!rest.empty()) result += std::string(rest_indent + 2, ' ') + std::exchange(rest, {}) + "\n";
  };
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string line = std::string(indent, ' ') + text.substr(at, end - at);
    const std::size_t own = std::min(line.find_first_not_of(' '), line.size());
    const bool is_item =
        own < line.size() && std::isdigit(static_cast<unsigned char>(line[own])) != 0;
    if (!rest.empty() && own == rest_indent && !is_item) {
      line.insert(own, std::exchange(rest, {}) + " ");
    }
    put_rest();
    while (line.size() > kWidth) {
      const std::size_t space = line.rfind(' ', kWidth);
      if (space == std::string::npos || space <= own + 2) break;
      rest = line.substr(space + 1);
      line.resize(space);
      if (rest.size() + own + 2 <= kWidth) break;
      result += line + "\n";
      line = std::string(own + 2, ' ') + std::exchange(rest, {});
    }
    rest_indent = own;
    result += line + "\n";
    at = end + 1;
  }
  put_rest();
  return result;
}

std::string launches_text(const detail::Observation& launches) {
  if (launches.launches == 0 || launches.blocks == 0) return "";
  const std::string blocks =
      fmt::format("{} block{}", launches.blocks, launches.blocks == 1 ? "" : "s");
  if (launches.launches > 1)
    return fmt::format("{} launches, {} in all", launches.launches, blocks);
  const std::uint64_t threads = launches.threads / launches.blocks;
  return fmt::format("{} of {} thread{}", blocks, threads, threads == 1 ? "" : "s");
}

/// What the checker says first, without the advice to the author of the kernel.
std::string finding_of(const Findings& findings) {
  if (!findings.facts.empty()) return findings.facts.front();
  return findings.texts.empty() ? "" : findings.texts.front();
}

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \n");
  return first == std::string::npos ? ""
                                    : text.substr(first, text.find_last_not_of(" \n") - first + 1);
}

/// The arguments of a call, from after its opening parenthesis.
std::vector<std::string> arguments_of(const std::string& call, std::size_t begin) {
  std::vector<std::string> arguments(1);
  bool in_string = false;
  int depth = 0;
  for (std::size_t i = begin; i < call.size(); ++i) {
    const char c = call[i];
    in_string ^= c == '"';
    if (!in_string && (c == '(' || c == '{' || c == '[')) ++depth;
    if (!in_string && (c == ')' || c == '}' || c == ']') && --depth < 0) break;
    if (!in_string && c == ',' && depth == 0) {
      arguments.emplace_back();
    } else {
      arguments.back() += c;
    }
  }
  for (std::string& argument : arguments) argument = trimmed(argument);
  return arguments;
}

/// Whether C++ code says more than its value: a name alone, such as `expected`, or a number does not.
bool is_computation(const std::string& code) {
  bool has_name = false;
  for (std::size_t i = 0; i < code.size(); ++i) {  // the f of 1.5f is none
    has_name |= std::isalpha(static_cast<unsigned char>(code[i])) != 0 &&
                (i == 0 || std::isdigit(static_cast<unsigned char>(code[i - 1])) == 0);
  }
  return has_name && code.size() < kWidth / 2 && code.find_first_of("+-*/?.>") != std::string::npos;
}

struct Relation {
  std::string left, operation, right;
};

/// The outermost comparison of a text: of "a.size() == b", or of "5 == 5".
std::optional<Relation> relation_of(const std::string& text) {
  bool in_string = false;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    in_string ^= c == '"';
    if (in_string) continue;
    depth += c == '(' || c == '{' || c == '[' ? 1 : c == ')' || c == '}' || c == ']' ? -1 : 0;
    const bool begins = std::isspace(static_cast<unsigned char>(c)) != 0 && depth == 0;
    for (const char* const operation : {"==", "!=", "<=", ">=", "<", ">"}) {
      if (!begins || text.compare(i + 1, std::strlen(operation), operation) != 0) continue;
      const std::size_t right = i + 1 + std::strlen(operation);
      if (right == text.size() || std::isspace(static_cast<unsigned char>(text[right])) == 0)
        continue;
      return Relation{trimmed(text.substr(0, i)), operation, trimmed(text.substr(right))};
    }
  }
  return {};
}

/// 320 for "320 (0x140)", as Catch2 writes it.
std::string without_hex(const std::string& text) { return text.substr(0, text.find(" (0x")); }

/// "global atomics of fast" for the code "fast->global_atomic_lanes", if that is a counter; `c` alone is not named.
/// "number of sums" for "sums.size()"; else the code.
std::string plain_name(const std::string& code) {
  constexpr std::string_view kFront = ".front()", kSize = ".size()";
  if (code.ends_with(kFront)) return code.substr(0, code.size() - kFront.size());
  if (code.ends_with(kSize)) return "number of " + code.substr(0, code.size() - kSize.size());
  const std::size_t at = code.find_last_of(".>");
  if (at == std::string::npos) return code;
  const std::string object = code.substr(0, at - (code[at] == '>' ? 1 : 0));
  std::string member = code.substr(at + 1);
  if (member == "bank_conflicts()") member = "bank_conflicts";
  bool is_counter = member == "bank_conflicts";
  for (const simt::Counter& counter : simt::kCounters) {
    if (member != counter.name) continue;
    is_counter = true;
    if (*counter.reported_as != '\0') member = counter.reported_as;
    break;
  }
  if (!is_counter) return code;
  std::replace(member.begin(), member.end(), '_', ' ');
  return object == "c" || object == "counters" ? member : member + " of " + object;
}

/// The messages of one line; those of several are findings, which are shown as such.
std::vector<std::string> lines_of(const std::vector<std::string>& messages) {
  std::vector<std::string> lines;
  for (const std::string& message : messages) {
    if (message.find('\n') == std::string::npos) lines.push_back(readable(message));
  }
  return lines;
}

std::string rest_of(std::size_t cases) {
  return cases == 0 ? "" : fmt::format("  and {} more cases\n", readable(std::to_string(cases)));
}

/// A head of several lines, each as wide as a column may be.
std::vector<std::string> head_lines(const std::string& head, std::size_t width) {
  std::vector<std::string> lines(1);
  for (std::size_t at = 0; at < head.size();) {
    const std::size_t end = std::min(head.find(' ', at), head.size());
    const std::string word = head.substr(at, end - at);
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > width)
      lines.emplace_back();
    lines.back() += (lines.back().empty() ? "" : " ") + word;
    at = end + 1;
  }
  return lines;
}

std::string padded(const std::string& text, std::size_t width) {
  return text + std::string(width > text.size() ? width - text.size() : 0, ' ');
}

}  // namespace

bool shows_claims(const std::string& program) {
  constexpr std::array kPrograms = {"races", "counts", "claims"};
  const char* const quiet = std::getenv("COURSE_QUIET");
  return (quiet == nullptr || *quiet == '\0') &&
         std::find(kPrograms.begin(), kPrograms.end(), program) != kPrograms.end();
}

Compared compared(const std::string& assertion, const std::string& expanded, const Figure& figure) {
  Compared result{figure, ""};
  if (!figure.name.empty()) {
    const std::size_t open = assertion.find('(');
    const std::string function =
        assertion.substr(0, open);  // the bounds of at_most() are in the figure
    const std::vector<std::string> arguments = arguments_of(assertion, open + 1);
    if (function == "course::same" && arguments.size() > 1 && is_computation(arguments[1])) {
      result.expected = "= " + arguments[1];
    }
    return result;
  }
  // A figure is a number; what is compared with a finding is shown as the finding.
  const bool is_of_finding = assertion.find("npos") != std::string::npos ||
                             assertion.find(".others") != std::string::npos ||
                             assertion.find(".races") != std::string::npos;
  const std::optional<Relation> tested = relation_of(assertion), found = relation_of(expanded);
  if (is_of_finding || !tested || !found) return result;
  if (found->left.find_first_of("0123456789") == std::string::npos) return result;
  if (found->left.size() > kMostExpanded || found->left.front() == '{') return result;  // an array
  result.figure = {plain_name(tested->left), without_hex(found->left)};
  if (tested->operation != "==") {
    result.figure.value += " " + tested->operation + " " + without_hex(found->right);
  } else if (is_computation(tested->right)) {
    result.expected = "= " + tested->right;
  }
  return result;
}

void ShownClaims::begin(const std::string& name, bool is_of_races) {
  *this = {};
  name_ = name;
  is_of_races_ = is_of_races;
}

void ShownClaims::observe(const detail::Observation& observation) {
  launches_ = {observation.launches, observation.blocks, observation.threads};
  if (observation.findings != nullptr && finding_.empty())
    finding_ = finding_of(*observation.findings);
}

ShownClaims::Case& ShownClaims::case_of(const std::vector<std::string>& lines) {
  // What is said of a finding belongs to it.
  if (!cases_.empty() && !cases_.back().finding.empty() && !cases_.back().name.empty() &&
      !lines.empty() && lines.front() == cases_.back().name) {
    for (std::size_t i = 1; i < lines.size(); ++i) {
      std::vector<std::string>& said = cases_.back().said;
      if (std::find(said.begin(), said.end(), lines[i]) == said.end()) said.push_back(lines[i]);
    }
    return cases_.back();
  }
  const std::string name = fmt::format("{}", fmt::join(lines, ", "));
  const auto found =
      std::find_if(cases_.begin(), cases_.end(), [&](const Case& c) { return c.name == name; });
  return found != cases_.end() ? *found : cases_.emplace_back(Case{.name = name});
}

void ShownClaims::add(const std::vector<std::string>& messages, const Compared& compared) {
  const std::vector<std::string> lines = lines_of(messages);
  const detail::Observation launches = std::exchange(launches_, {});
  std::string finding = std::exchange(finding_, {});
  if (lines.empty() && launches.launches == 0 && finding.empty() && compared.figure.name.empty())
    return;
  Case& shown = case_of(lines);
  if (shown.launches.empty()) {
    shown.launches = launches_text(launches);
    shown.blocks = launches.blocks;
  }
  if (shown.finding.empty()) shown.finding = std::move(finding);
  const Figure& figure = compared.figure;
  if (figure.name.empty()) return;
  const auto same_name = [&](const Shown& s) { return s.name == figure.name; };
  const auto before = std::find_if(shown.figures.begin(), shown.figures.end(), same_name);
  if (before == shown.figures.end()) {
    shown.figures.push_back({figure.name, readable(figure.value), readable(compared.expected)});
  } else if (const std::string value = readable(figure.value); before->value != value) {
    if (value.starts_with(before->value + ",")) {  // the same number, and what it may be
      before->value = value;
      return;
    }
    const auto values = 1 + std::count(before->value.begin(), before->value.end(), ';');
    if (static_cast<std::size_t>(values) < kMostValues) {
      before->value += "; " + value;
    } else {
      ++before->more;
    }
  }
}

/// Cases with the same names of figures, as the rows of a table; empty if they are no table, or one that is too wide.
std::string ShownClaims::table() const {
  if (cases_.size() < 2 || cases_.front().figures.empty()) return "";
  const std::vector<Shown>& first = cases_.front().figures;
  for (const Case& c : cases_) {
    const bool fits =
        std::equal(c.figures.begin(), c.figures.end(), first.begin(), first.end(),
                   [](const Shown& a, const Shown& b) {
                     return a.name == b.name && a.more == 0 && a.expected == b.expected;
                   });
    if (!fits || !c.finding.empty()) return "";
  }
  struct Column {
    std::string head;
    std::vector<std::string> cells;
    std::vector<std::string> heads = {};
    std::size_t width = 0;
  };
  std::vector<Column> columns;
  const auto add_column = [&](const std::string& head, const auto& cell_of) {
    columns.push_back({head, {}});
    for (const Case& c : cases_) columns.back().cells.push_back(cell_of(c));
  };
  if (std::all_of(cases_.begin(), cases_.end(), [](const Case& c) { return c.blocks > 0; }) &&
      std::none_of(first.begin(), first.end(), [](const Shown& s) { return s.name == "blocks"; })) {
    add_column("blocks", [](const Case& c) { return readable(std::to_string(c.blocks)); });
  }
  std::string expected;
  for (std::size_t k = 0; k < first.size(); ++k) {
    add_column(first[k].name, [k](const Case& c) { return c.figures[k].value; });
    if (first[k].expected.empty()) continue;
    expected += (expected.empty() ? "expected: " : "; ") + first[k].name + " " + first[k].expected;
  }
  std::size_t name_width = 0, width = 2, head_count = 0;
  for (const Case& c : cases_) name_width = std::max(name_width, c.name.size());
  for (Column& column : columns) {
    for (const std::string& cell : column.cells) column.width = std::max(column.width, cell.size());
    column.heads = head_lines(column.head, std::max(column.width, kHeadWidth));
    for (const std::string& line : column.heads) column.width = std::max(column.width, line.size());
    head_count = std::max(head_count, column.heads.size());
    width += 2 + column.width;
  }
  if (width + name_width > kWidth) return "";
  std::string text = wrapped(expected, 2);
  const auto add_line = [&](const std::string& name, const auto& cell_of) {
    text += "  " + padded(name, name_width);
    for (const Column& column : columns)
      text += fmt::format("  {:>{}}", cell_of(column), column.width);
    text.erase(text.find_last_not_of(' ') + 1);
    text += "\n";
  };
  for (std::size_t i = head_count; i-- > 0;) {  // heads end on the same line
    add_line("", [&](const Column& c) {
      return i < c.heads.size() ? c.heads[c.heads.size() - 1 - i] : "";
    });
  }
  const std::size_t rows = cases_.size() > kMostRows ? kFewRows : cases_.size();
  for (std::size_t i = 0; i < rows; ++i) {
    add_line(cases_[i].name, [i](const Column& c) { return c.cells[i]; });
  }
  return text + rest_of(cases_.size() - rows);
}

std::string ShownClaims::list() const {
  std::vector<const Case*> cases;  // those that have more than a name; all if none has
  const auto has_more = [&](const Case& c) {
    return is_of_races_ || !c.figures.empty() || !c.finding.empty();
  };
  const bool any_has = std::any_of(cases_.begin(), cases_.end(), has_more);
  for (const Case& c : cases_) {
    if (!any_has || has_more(c)) cases.push_back(&c);
  }
  const std::size_t rows = cases.size() > kMostCases ? kFewCases : cases.size();
  std::size_t name_width = 0, value_width = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    for (const Shown& s : cases[i]->figures) {
      if (s.name.size() <= kMostNameColumns) name_width = std::max(name_width, s.name.size());
      value_width = std::max(value_width, std::min(s.value.size(), kMostValueColumns));
    }
  }
  std::string text;
  for (std::size_t i = 0; i < rows; ++i) {
    const Case& c = *cases[i];
    const std::size_t indent = c.name.empty() ? 2 : 4;
    if (!c.name.empty()) {
      text += wrapped(c.launches.empty() ? c.name : c.name + ": " + c.launches, 2);
    } else if (!c.launches.empty()) {
      text += "  " + c.launches + "\n";
    }
    if (!c.finding.empty()) text += wrapped(c.finding, indent);
    if (c.finding.empty() && is_of_races_) text += std::string(indent, ' ') + "no race\n";
    for (const std::string& said : c.said) text += wrapped(said, indent);
    for (const Shown& s : c.figures) {
      std::string line = padded(s.name + ":", name_width + 1) + " " + s.value;
      if (s.more > 0) line += fmt::format("; and {} more", s.more);
      if (!s.expected.empty()) {
        line = padded(line, name_width + 2 + value_width) + "  " + s.expected;
      }
      text += wrapped(line, indent);
    }
  }
  return text + rest_of(cases_.size() - rows);
}

std::string ShownClaims::text() const {
  const std::string rows = table();
  return wrapped(name_, 0) + (rows.empty() ? list() : rows) + "\n";
}

}  // namespace course::runner
