"""What is refused by reading, and what is not: every answer of the course, and what learners write."""

import unittest

from build import variants
from tools.lib.checkout import TOP
from tools.lib import cpp_text
from tools.teach import submissions
from tools.tests import attacks

CHAPTER = "01-global-atomic"


def begun(text):
    return text.replace("\nNOT_STARTED", "\n//")


class Reading(unittest.TestCase):
    def reasons(self, text, name="lost_update"):
        starter = (TOP / "exercises" / CHAPTER / f"{name}.cuh").read_text(encoding="utf-8")
        return submissions.suspicions_of(CHAPTER, name, begun(starter) + "#include <vector>\n" + text)

    def test_every_attack_is_refused(self):
        self.assertGreater(len(attacks.REFUSED), 36)
        for what, (text, reason) in attacks.REFUSED.items():
            self.assertIn(reason, "; ".join(self.reasons(text)), what)
        for what, (text, *_) in attacks.RUN.items():
            self.assertTrue(self.reasons(text), what)

    def test_no_answer_of_this_course_is_refused(self):
        files = [*TOP.glob("exercises/*/*.cuh"), *TOP.glob("solutions/*/*.cuh")]
        self.assertGreater(len(files), 10)
        for file in files:
            chapter, name = file.parent.name, file.stem
            answers = {file: begun(file.read_text(encoding="utf-8"))}
            if "solutions" in file.parts:
                diffs = sorted(TOP.glob(f"chapters/{chapter}/*/{name}/*.diff"))
                answers.update({diff: variants.answer_of(diff) for diff in diffs})
            for origin, text in answers.items():
                self.assertEqual(submissions.suspicions_of(chapter, name, text), [], origin)

    def test_what_learners_write_is_not_refused(self):
        for text in (
            "// exit(0) and NOT_STARTED\n", "/* #define REQUIRE */ inline const char* name() { return \"exit(0) // \"; }",
            "#pragma once\n#define WARP 32\n#ifdef __CUDA_ARCH__\n#endif\n", "__device__ int mine[WARP_SIZE_];\n#define WARP_SIZE_ 32\n",
            "inline int f() { int exits = 1'000; CUDA_CHECK(cudaDeviceSynchronize()); return exits; }",
            "template <typename T, int N>\n__device__ T add_all(const T (&values)[N]) { T sum{}; for (T v : values) sum += v; return sum; }",
            "__global__ void k(int* out) { extern __shared__ int part[]; part[threadIdx.x] = 1; __syncthreads(); out[0] = part[0]; }",
            "struct Pair { int count; float sum; };\n__device__ Pair join(Pair a, Pair b) { return {a.count + b.count, a.sum + b.sum}; }",
            "inline void f(std::vector<int>& v) { std::sort(v.begin(), v.end(), [](int a, int b) { return a > b; }); }",
            "namespace mine { constexpr unsigned kBlock = 1u << 8; }\nusing Word = unsigned long long;\ninline Word w() { return mine::kBlock; }",
            "namespace {\nconstexpr int kTile = 4;\n}\ninline int g() { const auto [a, b] = std::pair<int, int>{1, kTile}; return a + b; }",
            "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n__device__ unsigned r() { auto g = cg::coalesced_threads(); return g.thread_rank(); }",
            "__device__ int f(int a, int n) { const int first = a < 8 ? a : 8, rest = n / first; return first + rest; }",
            "struct alignas(8) Tagged { unsigned node, tag; };\n__device__ Tagged next(Tagged t) { const Tagged found{t.node, t.tag + 1}; return found; }",
            "enum class Level { low, high };\n__device__ bool is_low(Level level) { switch (level) { case Level::low: return true; default: return false; } }",
            "__device__ __forceinline__ float m(float a, float b) { return fmaxf(a, b) + __shfl_xor_sync(~0u, a, 16); }",
            "__constant__ float weights[8];\n__device__ unsigned long long total = 0;\n__device__ float w(int i) { return weights[i]; }",
            "#define MIN2(a, b) ((a) < (b) ? (a) : (b))\n__device__ int low(int x) { return MIN2(x, 3); }",
            "class Walk {\n public:\n  __device__ explicit Walk(int n) : n_(n) { }\n  __device__ int next() { return n_++; }\n\n private:\n  int n_;\n};",
        ):
            self.assertEqual(self.reasons(text), [], text)

    def test_what_is_compiled_is_what_was_read(self):
        text = "int a; // b\n/* c\n d */ int e = '\"'; // \"\nconst char* f = \"// g\";\n"
        blank = cpp_text.blank_comments(text)
        self.assertEqual([len(line) for line in blank.split("\n")], [len(line) for line in text.split("\n")])
        self.assertEqual(blank.split(), ["int", "a;", "int", "e", "=", "'\"';", "const", "char*", "f", "=", '"//', 'g";'])
        self.assertTrue(cpp_text.same_code("int a;  // b\n", "int\ta;"))
        self.assertFalse(cpp_text.same_code("int a;", "int b;"))


if __name__ == "__main__":
    unittest.main()
