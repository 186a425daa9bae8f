"""What the second reader of an answer sees in its object."""

import subprocess
import tempfile
import unittest
from pathlib import Path

from tools.lib.failed import Failed
from tools.teach import libclang, objects

READS = ()

CHECK = "#include <cstdlib>\n#include <string>\n#include <vector>\n%s\nint check(int n) { std::vector<int> v(n, 1); return v.at(0) + std::string(3, 'x').size(); }\n" \
        "static const int first = check(1);\nint main() { return first + std::abs(-1); }\n"


class Objects(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        try:
            cls.compiler = libclang.compiler()
        except Failed as problem:
            raise unittest.SkipTest(str(problem)) from problem
        cls.solution = cls.compile("", "solution")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def compile(cls, text, name="answer"):
        file = Path(cls.folder.name) / f"{name}.o"
        subprocess.run([*cls.compiler, "-std=c++20", "-O0", "-w", "-x", "c++", "-", "-c", "-o", str(file)], input=CHECK % text, text=True, check=True)
        return file

    @staticmethod
    def facts(file):
        done = subprocess.run(["sh", "-c", objects.script(file)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        return objects.facts_of(objects.made_of(done.stdout))

    def unexpected(self, text):
        return objects.unexpected(self.facts(self.compile(text)), self.facts(self.solution))

    def test_right_code_is_expected(self):
        for text in (
            "", "inline int f(std::vector<int>& v) { v.push_back(1); v.resize(100); v.insert(v.begin(), 3); return v.at(7); }\nint g(std::vector<int>& v) { return f(v); }",
            "#include <map>\n#include <stdexcept>\nint f() { std::map<std::string, int> m; m[\"a\"] = 1; if (m.empty()) throw std::invalid_argument(\"x\"); return m.size(); }",
            "#include <cmath>\n#include <cstring>\nfloat f(float x) { char b[8]; std::memcpy(b, &x, 4); return std::sqrt(x) + std::fmax(x, 1.0f) + std::exp(x) + b[0]; }",
            "#include <iostream>\n#include <memory>\nint f() { static std::vector<int> kept; kept.push_back(1); std::cout << kept[0] << '\\n'; return *std::make_unique<int>(3) + *new int(4); }",
            "#include <functional>\n#include <algorithm>\n#include <numeric>\nint f(std::vector<int>& v) { std::function<int(int)> g = [](int x) { return x; }; std::sort(v.begin(), v.end()); return g(v[0]); }",
            "constexpr int kMine = 3;", "unsigned total_hits;\nint table[2] = {1, 2};",
            # what the CPU device makes of new and delete in a kernel
            "namespace simt { enum class DeviceHeap { only }; }\ninline void* operator new(std::size_t size, simt::DeviceHeap) { return std::malloc(size); }\n"
            "inline void operator delete(void* p, simt::DeviceHeap) { std::free(p); }\nint* f() { return new (simt::DeviceHeap::only) int(3); }\n"
            "void g(int* p) { operator delete(p, simt::DeviceHeap::only); }",
            "struct G { G(); };\nG::G() { }\nstatic G simt_global_total;\n",  # what the rewriter makes of a variable of the device
        ):
            self.assertEqual(self.unexpected(text), [], text)

    def test_what_a_text_can_hide_is_seen(self):
        for text, part in (
            ('int f() { return system("x"); }', "calls system"),
            ("void f() { std::_Exit(0); }", "calls _Exit"),
            ("#include <unistd.h>\nlong f() { return write(1, \"\", 0); }", "calls write"),
            ("struct S : std::vector<int> { operator const char*() const { return \"x\"; } };\nnamespace mine { template <class T> int run(T x) { using namespace std; return system(x); } }\nint f() { return mine::run(S{}); }", "calls system"),
            ("#include <fstream>\nvoid f() { std::ofstream(\"x\") << 1; }", "std::basic_ofstream"),
            ("#include <thread>\nvoid f() { std::thread([] { }).detach(); }", "std::thread"),
            ("#include <cstdio>\nvoid f() { std::snprintf(nullptr, 0, \"x\"); }", "calls snprintf"),
            ('extern "C" int abs(int) noexcept { return 1; }', "defines abs"),
            ('extern "C" void __tsan_read4(void*) { }', "defines __tsan_read4"),
            ("void* operator new(std::size_t) { return nullptr; }", "defines _Znwm"),
            ("void operator delete[](void*, std::size_t) noexcept { }", "defines _ZdaPvm"),
            ("void* operator new[](std::size_t, std::align_val_t, const std::nothrow_t&) noexcept { return nullptr; }", "defines _ZnamSt11align_val_tRKSt9nothrow_t"),
            ("int early();\nint x = early();\nint early() { return 1; }", "before the check"),
            ("[[gnu::constructor]] void early() { }", "before or after the check"),
            ("[[gnu::destructor]] void late() { }", "before or after the check"),
            ("template <class T> struct S { static inline int x = T::f(); };\nstruct A { static int f() { return 1; } };\nint g() { return S<A>::x; }", "before or after the check"),
            ("[[gnu::section(\".preinit_array\")]] int x = 1;", "before or after the check"),
            ("[[gnu::section(\"mine\")]] int x = 1;", "the section mine"),
            ("thread_local int x = 3;\nint f() { return x; }", "the section .tdata"),
            ("extern \"C\" { int (*choose())(int) { return nullptr; } int f(int) __attribute__((ifunc(\"choose\"))); }", "it has f, which another function chooses"),
        ):
            self.assertIn(part, "; ".join(self.unexpected(text)), text)

    def test_what_is_no_object_is_the_machines_fault(self):
        with self.assertRaises(Failed):
            self.facts(__file__)


if __name__ == "__main__":
    unittest.main()
