"""Exercise files that try to get points in another way than by a right answer: what is refused by reading, and what is run."""

# {what it tries: (text below the starter, what a reason says)}
REFUSED = {
    # the comparisons
    "a better match for every comparison": ("namespace course { template <class A, class B> bool same(A, B, const char*) { return true; } }", "course: it opens a namespace that the"),
    "the same through a macro": ("#define OPEN namespace course {\nOPEN inline bool same(int, int) { return true; } }", "namespace"),
    "the same through a macro's argument": ("#define IN(x) namespace x\nIN(course) { }", "namespace"),
    "a nested namespace": ("namespace course::detail { inline int answer; }", "course: it opens a namespace that the"),
    "an inline namespace": ("inline namespace course { }", "course: it opens a namespace that the"),
    "a namespace of Catch2": ("namespace Catch { struct AssertionHandler {}; }", "Catch: it opens a namespace that the"),
    "an operator of the check's types": ("inline bool operator==(const std::vector<int>&, const std::vector<int>&) { return true; }", "operator==: an operator of types that are"),
    "true is false": ("#define true false", "true: it is a macro here, and"),
    "an if that is never taken": ("#define if while", "if: it is a macro here, and"),
    "private is public": ("#define private public", "private: it is a macro here, and"),
    "names made of pieces": ("#define E(a, b) a##b\nint f() { E(ex, it)(0); }", "makes names"),
    "a skip": ("static const bool skip = (course::exercise_not_started = true);", "exercise_not_started"),
    "the marker, hidden": ("int f() { NOT_STARTED }", "NOT_STARTED"),
    # the end of the program
    "exit at the start": ("static const int early = (std::exit(0), 0);", "early: a variable outside of functions whose"),
    "_exit with a skip's code": ("static const int early = (_exit(77), 0);", "_exit"),
    "a pointer to exit": ("int f() { auto end = &std::quick_exit; end(0); return 0; }", "quick_exit"),
    "exit in a launcher": ("inline void stop() { exit(0); }", "exit"),
    "exit through ::": ("inline void stop() { ::exit(0); }", "exit: this function of the system is"),
    "a name that is declared elsewhere": ("inline void g(int write) { (void)write; }\ninline void f() { write(1, \"\", 0); }", "write: this function of the system is"),
    "a name of a loop": ("inline void f() { for (int write = 0; write < 1; ++write) { }\n write(1, \"\", 0); }", "write: this function of the system is"),
    "a template's parameter": ("template <int write> struct S { };\ninline void f() { write(1, \"\", 0); }", "write: this function of the system is"),
    "an overload of a system call": ("inline void write(char) { }\ninline void f() { write(1, \"\", 0); }", "write: this function of the system is"),
    "the same in a namespace without a name": ("namespace {\nvoid _exit(char) { }\n}\ninline void f() { _exit(0); }", "_exit: this function of the system is"),
    "longjmp": ("#include <csetjmp>\n", "<csetjmp>: this header is not among those"),
    "a signal handler": ("inline void f() { std::signal(11, SIG_IGN); }", "signal: what this name stands for cannot"),
    "a constructor": ("[[gnu::constructor]] void early();", "constructor: this attribute is not read"),
    "a constructor, the old way": ("__attribute__((constructor)) void early();", "__attribute__: this word is not for exercises"),
    "a variable whose initialiser runs first": ("inline int first() { return 1; }\nint begun = first();", "begun: a variable outside of functions whose"),
    "an object with a constructor": ("struct Early { Early() { } } early;", "early: a variable outside of functions whose"),
    "a static member": ("inline int first() { return 1; }\nstruct S { static inline int begun = first(); };", "begun: a variable outside of functions whose"),
    # processes and files
    "fork": ("inline void f() { if (fork() == 0) { } }", "fork: this function of the system is"),
    "_Fork": ("inline void f() { _Fork(); }", "_Fork: this function of the system is"),
    "a declaration of its own": ('extern "C" int _Fork();', "_Fork: it is declared by a header,"),
    "setsid": ("inline void f() { setsid(); }", "setsid: this function of the system is"),
    "a system call": ("inline void f() { syscall(1, 1, 0, 0); }", "syscall: this function of the system is"),
    "assembler": ('inline void f() { asm("syscall"); }', "asm: assembler cannot be read"),
    "assembler, the other way": ('inline void f() { __asm__ volatile("syscall"); }', "asm: assembler cannot be read"),
    "a file": ('#include <fstream>\ninline void f() { std::ofstream("x"); }', "<fstream>: this header is not among those"),
    "stdio": ('inline void f() { auto* file = fopen("/etc/passwd", "r"); }', "fopen: this function of the system is"),
    "the environment": ('inline void f() { getenv("COURSE_RESULT"); }', "getenv: this function of the system is"),
    "the environment's list": ("inline void f() { char** all = environ; }", "environ: this function of the system is"),
    "its own memory map": ('#include <sys/mman.h>\n', "<sys/mman.h>: this header is not among those"),
    "a builtin": ("inline void f() { __builtin_trap(); }", "__builtin_trap: this function of the compiler is"),
    "a thread": ("#include <thread>\ninline void f() { std::thread([] { }).detach(); }", "<thread>: this header is not among those"),
    # headers
    "the solution": ('#include "../../solutions/01-global-atomic/ticket.cuh"\n', "\"../../solutions/01-global-atomic/ticket.cuh\": this header is not among those"),
    "a file of the system": ("#include </etc/passwd>\n", "</etc/passwd>: this header is not among those"),
    "a device": ('#include "/dev/zero"\n', "\"/dev/zero\": this header is not among those"),
    "a computed include": ("#define FILE <unistd.h>\n#include FILE\n", "FILE: this header is not among those"),
    "the check's own header": ("#include <course/check.cuh>\n", "<course/check.cuh>: this header is not among those"),
    "the CPU device's header": ("#include <simt/testing.hpp>\n", "<simt/testing.hpp>: this header is not among those"),
    "include_next": ("#include_next <x.h>\n", "#include_next"),
    "another file's name": ('#line 3 "check.cu"\n', "#line"),
    "a pragma": ('#pragma push_macro("REQUIRE")\n', "#pragma"),
    "a pragma in code": ('_Pragma("weak exit")\n', "_Pragma"),
    "a file by its text": ("constexpr char x[] = {\n#embed \"/etc/passwd\"\n};", "#embed"),
    # texts that look like others
    "a name over two lines": ("inline void f() { ex\\\nit(0); }", "joins lines"),
    "a raw string": ('const char* a = R"(";)"; inline void f() { exit(0); } //"', "R: a raw string can hide where"),
    "a name with an escape": ("inline void f() { \\u0065xit(0); }", "backslash"),
    "a trigraph": ("??=define REQUIRE(x)\n", "??=: it stands for another character"),
    "a digraph": ("%:define REQUIRE(x)\n", "%:: it stands for another character"),
    "a letter that looks like another": ("inline void \u0435xit_() { }", "'\\u0435': a letter outside of ASCII, outside"),
    "a quote that stays open": ("const char c = '\"'; inline void f() { exit(0); } const char d = '\"';", "exit: this function of the system is"),
    "a comment in a name's way": ("inline void f() { exit/**/(0); }", "exit: this function of the system is"),
}



def early(code):
    """A file's lines that run code before main()."""
    headers = ["fcntl.h", "signal.h", "sys/ipc.h", "sys/mman.h", "sys/shm.h", "sys/socket.h", "sys/stat.h", "sys/syscall.h", "unistd.h", "cstring"]
    includes = "".join(f"#include <{header}>\n" for header in headers)
    return f"\n{includes}struct Early {{ Early() {{\n{code}\n}} }} begun_early;\n"


def sends(text, times=1):
    """A file's lines that send this as a result."""
    return early(f"""  const char text[] = R"({text})";
  for (int fd = 3; fd < 64; ++fd) for (int i = 0; i < {times}; ++i) if (write(fd, text, sizeof text - 1) < 0) break;
  _exit(0);""")


# What is refused, and what happens to it where a person has accepted it all the same:
# {what it tries: (text below the starter, its verdict, a part of what is said)}
RUN = {
    "it finds its proof in its memory": (r"""
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>
#include <cctype>
namespace {
bool is_word(const char* p) {
  for (int i = 0; i < 32; ++i) if (!std::isxdigit(static_cast<unsigned char>(p[i]))) return false;
  return true;
}
struct Search {
  Search() {
    char word[33] = "00000000000000000000000000000000";
    char* const end = static_cast<char*>(sbrk(0));
    for (char* p = end - 65536; p < end - 32; ++p) if (is_word(p)) std::memcpy(word, p, 32);
    for (char* p = ::environ[0]; p < ::environ[0] + 100; ++p) if (is_word(p)) std::memcpy(word, p, 32);
    char text[600];
    const int size = std::snprintf(text, sizeof text, R"({"schema": "course.result", "version": 1, "verdict": "passed", "proof": "%s",
      "checks": {"passed": 9, "failed": 0, "skipped": 0, "comparisons": 760}, "schedules": 4})", word);
    for (int fd = 3; fd < 64; ++fd) if (write(fd, text, static_cast<std::size_t>(size)) < 0) continue;
    _exit(0);
  }
} search;
}
""", "failed", "did not say that it passed"),
    "it leaves a process running": (r"""
#include <unistd.h>
#include <csignal>
struct Stay {
  Stay() {
    if (_Fork() == 0) {
      setsid();
      if (_Fork() == 0) {
        std::signal(SIGTERM, SIG_IGN);
        for (;;) sleep(1000);
      }
      for (;;) sleep(1000);
    }
  }
} stay;
""", "failed", "FAILED: ticket"),
    "it prints without an end": (r"""
#include <cstdio>
struct Print {
  Print() {
    static char text[1 << 20];
    for (char& c : text) c = 'x';
    for (long i = 0; i < 2800; ++i) std::fwrite(text, 1, sizeof text, stdout);
  }
} print;
""", "no end", "printed more than"),
    # What the machine or the grading would suffer from. Exit code 3: the system refused it.
    "it fills its folder": (early(r"""
  long written = 0;
  for (const char* name : {"x", "tmp/x", "/tmp/x", "/dev/shm/x", "/dev/x", "/x", "/var/tmp/x"}) {
    const int file = open(name, O_WRONLY | O_CREAT, 0600);
    static char zeros[1 << 20];
    while (file >= 0 && write(file, zeros, sizeof zeros) > 0) ++written;
  }
  _exit(written > 0 ? 5 : 3);"""), "failed", "exit code 3"),
    "it nests folders": (early("  _exit(mkdir(\"d\", 0700) == 0 ? 5 : 3);"), "failed", "exit code 3"),
    "files of memory": (early("  _exit(syscall(SYS_memfd_create, \"x\", 0) >= 0 ? 5 : 3);"), "failed", "exit code 3"),
    "System V segments": (early("  _exit(shmget(IPC_PRIVATE, 1 << 28, IPC_CREAT | 0600) >= 0 ? 5 : 3);"), "failed", "exit code 3"),
    "shared memory without a file": (early("  _exit(mmap(nullptr, 1 << 28, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) != MAP_FAILED ? 5 : 3);"),
                                     "failed", "exit code 3"),
    "memory that becomes code": (early(r"""
  static char text[8192];
  char* const page = text + 4096 - reinterpret_cast<unsigned long>(text) % 4096;
  const bool changed = mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0 || syscall(SYS_pkey_mprotect, page, 4096, PROT_READ | PROT_EXEC, -1) == 0;
  const bool made = mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
  _exit(changed || made ? 5 : 3);"""), "failed", "exit code 3"),
    "a socket": (early("  _exit(socket(AF_INET, SOCK_STREAM, 0) >= 0 ? 5 : 3);"), "failed", "exit code 3"),
    "it ends all processes": (early("  _exit(kill(-1, SIGKILL) == 0 ? 5 : 3);"), "failed", "exit code 3"),
    "it reads the course": (early(r"""
  for (const char* name : {"/proc/self/maps", "/etc/passwd", "/answer/exercises/../ticket.cu.o", "/autograder"}) if (open(name, O_RDONLY) >= 0 && name[1] != 'a') _exit(5);
  _exit(3);"""), "failed", "exit code 3"),
    "it starts processes without an end": (early("  while (fork() >= 0) { }\n  _exit(3);"), "failed", ""),
    "it needs all memory": (early("  for (;;) std::memset(new char[1 << 24], 1, 1 << 24);"), "no end", "more than 2 GiB of memory"),
    "checks are a number": (sends('{"schema": "course.result", "version": 1, "verdict": "passed", "checks": 5}'), "failed", "before its result was complete"),
    "checks are empty": (sends('{"schema": "course.result", "version": 1, "verdict": "passed", "checks": {}}'), "failed", "before its result was complete"),
    "a reason that is no text": (sends(r'{"schema": "course.result", "version": 1, "verdict": "passed", "reason": "\ud800"}'), "failed",
                                 "before its result was complete"),
    "a result without an end": (sends("[", times=3_000_000), "failed", ""),
    "a file of the compiler that fills the folder": ("\nchar filled[1 << 29] = {1};\n", "failed", "The compiler was ended: it needs more than 256 MiB"),
}

NOT_BY_READING = {"a file of the compiler that fills the folder"}  # of RUN: a limit ends it
