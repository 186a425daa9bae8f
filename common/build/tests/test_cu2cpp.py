"""What the rewriter makes of CUDA's constructs. Run: python3 common build.tests.test_cu2cpp"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

from build.rewriter import passes
from build.rewriter.source import Unit, Unsupported

READS = ("common/build/rewriter",)

COMMON = pathlib.Path(__file__).resolve().parents[2]
TOOL = [sys.executable, str(COMMON), "build.simtcc", "--rewrite"]
SIMT_HEADERS = COMMON / "simt" / "include"


def rewrite_all(source):
    file = passes.read("file.cu", source)
    passes.rewrite(file)
    return file.result()


def rewrite(source):
    """Without what every kernel has at its beginning: the class Kernels is about that."""
    return re.sub(r" SIMT_KERNEL\(.*?\)\);", "", rewrite_all(source))


def in_function(statement):
    return "void f() {\n" + statement + "\n}\n"


def rewrite_statement(statement):
    """What becomes of one statement inside a function."""
    text = rewrite(in_function(statement))
    return text[len("void f() {\n"):-len("\n}\n")]


LAUNCH = re.compile(r'::simt::launch\(\{"((?:\\.|[^"\\])*)", "((?:\\.|[^"\\])*)"\}, '
                    r"\[(.*?)\]\(auto&\.\.\. simt_args\) \{ SIMT_CALL\((.*?)\); \}, ")


def launches(text):
    """(name, arguments, capture, callee) of every launch in rewritten text."""
    return LAUNCH.findall(text)


class RewriterTest(unittest.TestCase):
    maxDiff = None

    def assert_refused(self, source, line, message):
        with self.assertRaises(Unsupported) as caught:
            rewrite(source)
        self.assertRegex(str(caught.exception), rf"^file\.cu:{line}: error: ")
        self.assertIn(message, str(caught.exception))

    def assert_unchanged(self, source):
        self.assertEqual(rewrite(source), source)


class Launches(RewriterTest):
    def assert_kernel(self, statement, name, capture="=", callee=None):
        found = launches(rewrite_statement(statement))
        self.assertEqual([(f[0], f[2], f[3]) for f in found], [(name, capture, callee or name)])

    def test_whole_form(self):
        self.assertEqual(
            rewrite_statement("kernel<T, 3><<<grid, block, smem, stream>>>(a, b.data(), n);"),
            ' ::simt::launch({"kernel<T, 3>", "a, b.data(), n"}, '
            "[=](auto&... simt_args) { SIMT_CALL(kernel<T, 3>); }, "
            "grid, block, smem, stream)(a, b.data(), n);")

    def test_no_arguments(self):
        self.assertEqual(
            rewrite_statement("k<<<1, 32>>>();"),
            ' ::simt::launch({"k", ""}, [=](auto&... simt_args) { SIMT_CALL(k); }, 1, 32)();')

    def test_names(self):
        for name in ("k", "::k", "ns::k", "::a::b::k", "k<int>", "k<T, (3 > 2 ? 5 : 6)>",
                     "k<A<B<int>>>", "a::S<int, 2>::k", "k<1 << 3>", "k<(1 >> 3)>",
                     "k<sizeof(a[0])>", "k<&S::member>", "k<decltype(x)>", "S<T>::template k<U>",
                     "k<'>'>"):
            with self.subTest(name):
                self.assert_kernel(f"{name}<<<1, 32>>>(x);", name)
                self.assert_kernel(f"{name} <<< 1, 32 >>> (x);", name)

    def test_angles_taken_apart(self):
        for statement in ("k<int> << <1, 32 >> > (x);", "k<int> <<\n<1, f<int>(2) >> >(x);", "k<int><< <1, 32>>>(x);"):
            with self.subTest(statement):
                self.assert_kernel(statement, "k<int>")
        self.assert_unchanged("void f() { operator<< <int>(a, b); operator << <int>(a, 1 >> 2); }")
        self.assert_unchanged("bool f() { return a << 1 < b && c < A<B<C<int>> >::value; }")

    def test_expressions_are_evaluated_once(self):
        for expression in ("(k)", "(*p)", "table[i]", "table[i][j + 1]", "choose(n)",
                           "choose<T>(n)", "choose(n)(m)", "s.k", "this->k", "p->a.k",
                           "p->template k<T>", "(a.b)[2]", "f<int>(1)[2].k"):
            with self.subTest(expression):
                self.assert_kernel(f"{expression}<<<1, 32>>>(x);", expression,
                                   f"simt_kernel = {expression}", "simt_kernel")

    def test_pointers_to_kernels_are_read_by_the_host(self):
        for declaration in ("Kernel k = choose();", "static void (*k)(int*);", "struct S { Kernel k; };", "std::function<void()> k{f};"):
            with self.subTest(declaration):
                found, = launches(rewrite(declaration + in_function("k<<<1, 32>>>(x);")))
                self.assertEqual((found[0], found[2], found[3]), ("k", "simt_kernel = k", "simt_kernel"))

    def test_where_a_launch_may_stand(self):
        for before in ("", "if (n > 0) ", "if (a) {} else ", "for (;;) ", "while (f(n)) ", "do ",
                       "return ", "case 1: ", "label: ", "a ? b() : ", "auto g = [&] { ",
                       "x && ", "if constexpr (n) "):
            for kernel in ("k", "::k", "ns::k<T>", "(k)"):
                with self.subTest(before=before, kernel=kernel):
                    source = f"{before}{kernel}<<<1, 32>>>(x);"
                    text = rewrite(in_function(source + ("};" if "{ " in before else "")))
                    self.assertEqual([found[0] for found in launches(text)], [kernel])
                    self.assertIn(before + " ::simt::launch(", text)

    def test_inside_parentheses(self):
        for before in ("(", "TIME(", "check(x, ", "((void)"):
            text = rewrite_statement(f"{before}k<T, 2><<<1, 32>>>(x));")
            # Parentheses hold all commas together, so a macro sees one argument.
            self.assertEqual(text, f'{before} ::simt::launch({{"k<T, 2>", "x"}}, [=](auto&... '
                                   "simt_args) { SIMT_CALL(k<T, 2>); }, 1, 32)(x));")

    def test_configurations(self):
        for configuration in ("dim3((1 << 4) >> 4), 32", "1, (n >> 5) << 5", "n >> 5, 32",
                              "f<A<int>>(1), 32", "n > 3 ? 1 : 2, 32", "dim3{1, 2}, dim3(32)",
                              "dim3(v<A<B<int>>>), 32", "A<B<C<int> > >(1), 32",
                              "1, sizeof(int) > 4, x<y>", "a->b, 32",
                              "1, block_size<int>", "1, v<A<int>> ", "g, [] { return 1 >> 2; }()"):
            with self.subTest(configuration):
                text = rewrite_statement(f"k<<<{configuration}>>>(x);")
                self.assertTrue(text.endswith(f"}}, {configuration})(x);"), text)

    def test_comments_and_line_breaks_inside(self):
        source = textwrap.dedent("""\
            ns::k<int,  // the type, and >>>
                  4>
                <<<n /* blocks, (of 32 */,
                   32  // )
                   >>>(a,  // "
                       b /* ; */);
            after();""")
        call = ("::simt::launch({\"ns::k<int, 4>\", \"a, b\"}, "
                "[=](auto&... simt_args) { SIMT_CALL(ns::k<int, 4>); },")
        self.assertEqual(rewrite_statement(source), f" {call} \n\n" + textwrap.dedent("""\
            n /* blocks, (of 32 */,
                   32  // )
                   )(a,  // "
                       b /* ; */);
            after();"""))

    def test_texts_for_messages(self):
        text = rewrite_statement(r'''k<'"'><<<1, 32>>>("a\n", '\\', f(b, c));''')
        self.assertIn(r'''{"k<'\"'>", "\"a\\n\", '\\\\', f(b, c)"}''', text)

    def test_a_check_is_not_named_in_texts_for_messages(self):
        for kernel in ("top_k_check::fill", "row_checks::fill"):
            with self.subTest(kernel):
                text = rewrite_statement(f"{kernel}<<<1, 32>>>(d_x);")
                self.assertIn('{"fill", "d_x"}', text)
                self.assertIn(f"SIMT_CALL({kernel})", text)
        self.assertIn('{"checks::fill", "d_x"}', rewrite_statement("checks::fill<<<1, 32>>>(d_x);"))

    def test_course_launch_hands_on_the_call_and_its_texts(self):
        for kernel in ("k", "::k", "ns::k<T>", "k<T, 2>", "k<(a > b)>"):
            with self.subTest(kernel):
                text = rewrite_statement(f"course::launch({kernel}, {{f(n, 2), 32, 0, s}}, d_x, g(1, n));")
                self.assertIn(f'course::launch({{"{kernel}", "d_x, g(1, n)"}}, '
                              f"[=](auto&... simt_args) {{ SIMT_CALL({kernel}); }}, {{f(n, 2), 32, 0, s}}, "
                              "d_x, g(1, n));", text)
        self.assertIn('{"k", ""}', rewrite_statement("course::launch(k, grid);"))
        self.assert_unchanged(in_function("rocket::launch(k, grid, x); launch(k); course::launched(k);"))

    def test_several_launches_in_one_statement(self):
        text = rewrite_statement("a<<<1, 2>>>(x), b<<<3, 4>>>(y);"
                                 "p ? c<<<1, 1>>>() : d<<<1, 1>>>();")
        self.assertEqual([found[0] for found in launches(text)], ["a", "b", "c", "d"])

    def test_launch_in_a_launch_argument(self):
        text = rewrite_statement("a<<<1, 2>>>([&] { b<<<3, 4>>>(y); return 1; }());")
        self.assertEqual([found[0] for found in launches(text)][-1], "b")
        self.assertEqual(text.count("::simt::launch("), 2)

    def test_null_is_passed_as_a_pointer(self):
        for argument in ("NULL", "0", "{1, 2}", "{{1}, x}"):
            with self.subTest(argument):
                text = rewrite_statement(f"k<<<1, 32>>>({argument}, x);")
                self.assertIn(f"[=](auto&, auto& simt_1) {{ k({argument}, simt_1); }}", text)
                self.assertTrue(text.endswith("1, 32)(nullptr, x);"), text)
                text = rewrite_statement(f"k<<<1, 32>>>(x, {argument});")
                self.assertIn(f"[=](auto& simt_0, auto&) {{ k(simt_0, {argument}); }}", text)
                self.assertTrue(text.endswith("1, 32)(x, nullptr);"), text)
        for argument in ("f(NULL)", "NULL + 1", "f({1})", "T{1}", "10"):
            with self.subTest(argument):
                text = rewrite_statement(f"k<<<1, 32>>>({argument}, x);")
                self.assertTrue(text.endswith(f"1, 32)({argument}, x);"), text)

    def test_conditionals_in_arguments_stay(self):
        source = "k<<<1, 32>>>(a,\n#if X\nb\n#else\nc\n#endif\n);"
        text = rewrite_statement(source)
        self.assertTrue(text.endswith("(a,\n#if X\nb\n#else\nc\n#endif\n);"), text)
        self.assertIn('{"k", "a, b c"}', text)

    def test_shifts_are_no_launches(self):
        self.assert_unchanged(in_function("out << a << (b >> c); x <<= 2; y = A<B<C<int>>>{};"))

    def test_refusals(self):
        for source, line, message in (
            ("k<<<1, 32(x);", 2, "this <<< has no >>>"),
            ("\nk<<<1, 32;\nA<B<C<int>>>(x);", 3, "this <<< has no >>>"),
            ("k<<<1, 32)>>>(x);", 2, "this <<< has no >>>"),
            ("k<<<1, (32>>>(x);", 2, "this ( has no )"),
            ("k<<<1, 32>>>\n\n(x;", 4, "this ( has no )"),
            ("k<<<1,\n 32>>>;", 3, "a launch needs its arguments in parentheses after >>>"),
            ("k<<<>>>(x);", 2, "a launch needs a grid and a block"),
            ("course::launch(1, grid);", 2, "begins with the name of a kernel"),
            ("\ncourse::launch();", 3, "begins with the name of a kernel"),
            ("k<<<1>>>(x);", 2, "a launch needs a grid and a block"),
            ("<<<1, 32>>>(x);", 2, "cannot find the name of the kernel"),
            ("return <<<1, 32>>>(x);", 2, "cannot find the name of the kernel"),
            ("5<<<1, 32>>>(x);", 2, "cannot find the name of the kernel"),
            ("k><<<1, 32>>>(x);", 2, "this > has no <"),
            ("k<a < b><<<1, 32>>>(x);", 2, "put comparisons among template arguments in paren"),
            ("y = k<<<1, 32>>>(x);", 2, "cannot find where the name of the kernel begins"),
            ("k\n#if X\n<int>\n#endif\n<<<1, 2>>>(x);", 3, "this directive splits"),
        ):
            with self.subTest(source):
                self.assert_refused(in_function(source), line, message)

    def test_in_macros(self):
        for macro, text in (
            ("#define LAUNCH(k) k<<<1, 32>>>()",
             '#define LAUNCH(k)  ::simt::launch({#k, ""}, [=](auto&... simt_args) { SIMT_CALL(k); }, 1, 32)()'),
            ("#define LAUNCH(k, T, n, ...) \\\n  k<T, 2><<<(n) / 4, 32>>>(n, __VA_ARGS__)  // why",
             '#define LAUNCH(k, T, n, ...) \\\n   ::simt::launch({#k "<" #T ", 2>", #n ", " #__VA_ARGS__}, [=](auto&... simt_args) '
             "{ SIMT_CALL(k<T, 2>); }, (n) / 4, 32)(n, __VA_ARGS__)  // why"),
            ("#define RUN do { k ## 1<<<1, 2>>>(0); } while (0)",
             '#define RUN do {  ::simt::launch({"k ## 1", "0"}, [=](auto&) { k ## 1(0); }, 1, 2)(nullptr); } while (0)'),
            ("#define TILE(T, s) \\\n  __shared__ T s[4]",
             "#define TILE(T, s) \\\n  using simt_type_##s = T[4]; simt_type_##s& s = ::simt::shared<simt_type_##s>(#s, [] {})"),
            ("#define TABLE(T, t) __device__ T t[4]",
             '#define TABLE(T, t) __device__ T t[4]; static ::simt::GlobalVariable simt_global_##t(#t, (void*)&t, sizeof t, '
             "::simt::type_of<decltype(t)>(), ::simt::GlobalKind::device)"),
            ("#define BYTES extern __shared__ char b[]", '#define BYTES auto* const b = ::simt::dynamic_shared_array<char>("b")'),
        ):
            with self.subTest(macro):
                self.assertEqual(rewrite(macro + "\nint x;\n"), text + "\nint x;\n")
        self.assert_refused("#define A \\\n  k<<<1>>>()\n", 2, "a launch needs a grid and a block")
        self.assert_unchanged('#define HELP "k<<<1, 32>>>" // __shared__\n')
        self.assert_unchanged("#if 0 // k<<<1, 32>>>\n#endif\n")
        self.assertEqual(rewrite_all("#define KERNEL(k, T) __global__ void k(T x) { x = 0; }\n"),
                         '#define KERNEL(k, T) __global__ void k(T x) { SIMT_KERNEL(#k, "x", void(decltype(x))); x = 0; }\n')
        for macro in ("#define DEVICE __device__", "#define HD __host__ __device__", "#define OF(type) __constant__ type",
                      "#define F(type) __device__ type f(type x) { return x; }"):
            self.assert_unchanged(macro + "\n")

    def test_a_macro_before_a_variable(self):
        for words, kind in (("__device__", "device"), ("static __managed__", "managed"), ("__device__ __constant__", "constant")):
            with self.subTest(words):
                text = rewrite(f"#define SPACE {words}\nSPACE int x;\nSPACE int f();\n")
                self.assertEqual(text.count("GlobalVariable"), 1)
                self.assertIn(f"::simt::GlobalKind::{kind});\nSPACE int f();", text)
        self.assert_refused("#define SPACE __constant__\nextern SPACE int x;\n", 2, "write __constant__ instead of SPACE")


class Shared(RewriterTest):
    def assert_static(self, declaration, *variables):
        expected = " ".join(
            f'using simt_type_{name} = {kind}; simt_type_{name}& {name} = '
            f'::simt::shared<simt_type_{name}>("{name}", [] {{}});' for kind, name in variables)
        self.assertEqual(rewrite_statement(declaration), expected)

    def test_static(self):
        for declaration, kind in (
            ("__shared__ float s;", "float"),
            ("__shared__ float s[32];", "float[32]"),
            ("__shared__ float s [ 32 ] [33];", "float [ 32 ] [33]"),
            ("static __shared__ int s[4];", "int[4]"),
            ("__shared__ static int s[4];", "int[4]"),
            ("volatile __shared__ int s[4];", "volatile int[4]"),
            ("__shared__ volatile int s[4];", "volatile int[4]"),
            ("float __shared__ s[4];", "float[4]"),
            ("unsigned __shared__ long s;", "unsigned long"),
            ("__shared__ unsigned long long s[4];", "unsigned long long[4]"),
            ("__shared__ ns::T s;", "ns::T"),
            ("__shared__ ::ns::T s;", "::ns::T"),
            ("__shared__ lib::X<T, 128>::Temp s;", "lib::X<T, 128>::Temp"),
            ("__shared__ typename lib::X<T, 128>::Temp s;", "typename lib::X<T, 128>::Temp"),
            ("__shared__ typename A<T>::template B<2> s;", "typename A<T>::template B<2>"),
            ("typename A<T>::B __shared__ s;", "typename A<T>::B"),
            ("__shared__ A<B<(N > 3), C<D>>> s[2];", "A<B<(N > 3), C<D>>>[2]"),
            ("__shared__ float* s;", "float*"),
            ("__shared__ const float *s[8];", "const float *[8]"),
            ("__shared__ float const* s;", "float const*"),
            ("__shared__ T s[(N + 1) * 2];", "T[(N + 1) * 2]"),
            ("__shared__ T s[N < 4 ? f(1, 2) : N >> 2][sizeof(T)];",
             "T[N < 4 ? f(1, 2) : N >> 2][sizeof(T)]"),
            ("__shared__ T s[A<1, 2>::value];", "T[A<1, 2>::value]"),
            ("alignas(16) __shared__ float s[4];", "float[4]"),
            ("__shared__ alignas(16) float s[4];", "float[4]"),
            ("__shared__ alignas(alignof(float4)) float s[4];", "float[4]"),
            ("__align__(16) __shared__ float s[4];", "float[4]"),
            ("__shared__ __align__((N) * 8) float s[4];", "float[4]"),
            ("volatile alignas(8)int __shared__ s;", "volatile int"),
            ("[[maybe_unused]] __shared__ int s;", "int"),
            ("__shared__ __attribute__((aligned(8))) int s;", "int"),
            ("__shared__ decltype(f(1, 2)) s;", "decltype(f(1, 2))"),
            ("__shared__ struct Pair s[2];", "struct Pair[2]"),
            ("__shared__ int  // why\n s /* and */ [3];", "int [3]"),
        ):
            with self.subTest(declaration):
                text = rewrite_statement(declaration)
                self.assertEqual(text.strip("\n"),
                                 f"using simt_type_s = {kind}; simt_type_s& s = "
                                 '::simt::shared<simt_type_s>("s", [] {});')
                self.assertEqual(text.count("\n"), declaration.count("\n"))

    def test_lambdas_capture_shared_variables_by_themselves(self):
        for written, captured in (
            ("auto f = [] { return s; };", "[&s] { return s; }"), ("auto f = [=](int i) { return s + i; };", "[=, &s](int i)"),
            ("auto f = [i]() mutable -> int { return s; };", "[i, &s]() mutable"), ("auto f = [&] { return s; };", "[&] { return s; }"),
            ("auto f = [&s] { return s; };", "[&s] { return s; }"), ("auto f = [](int s) { return s; };", "[](int s)"),
            ("auto f = [](auto x) { return x.s; };", "[](auto x)"), ("auto f = []<class T>(T) { return s; };", "[&s]<class T>(T)"),
            ("auto f = [] { return [] { return s; }(); };", "[&s] { return [&s] { return s; }(); }"),
            ("auto f = [] { return d[0]; };", "[d] { return d[0]; }"), ("auto f = [=] { return d[0]; };", "[=] { return d[0]; }"),
            ("auto f = [] { return g; };", "[&g] { return g; }"), ("a[s] = b()[s];", "a[s] = b()[s];"),
        ):
            with self.subTest(written):
                kernel = f"__shared__ int g;\n__global__ void k(int* a, int i) {{\n__shared__ int s;\nextern __shared__ int d[];\n{written}\n}}\n"
                self.assertIn(captured, rewrite(kernel))
        self.assertIn("= [] { return s; }", rewrite("__global__ void k() { { __shared__ int s; } auto f = [] { return s; }; }\n"))

    def test_types_that_the_declaration_defines(self):
        shared = '{0} {1} = ::simt::shared<{0}>("{2}", [] {{}});'
        for declaration, definition, *variables in (
            ("__shared__ struct { int x; } s[2];", "using simt_struct_s = struct { int x; };  ", ("[2]", "s")),
            ("__shared__ volatile union U { int x;\n float y; } s, *p;", "using simt_struct_s = volatile union U { int x;\n float y; };  ",
             ("", "s"), ("*", "p")),
            ("alignas(16) __shared__ enum { kA, kB = 2 } const s;", "using simt_struct_s = enum { kA, kB = 2 };  ", ("const", "s")),
        ):
            with self.subTest(declaration):
                self.assertEqual(rewrite_statement(declaration), definition + " ".join(
                    f"using simt_type_{name} = simt_struct_s{kind}; " + shared.format(f"simt_type_{name}", f"& {name}", name).replace(" & ", "& ")
                    for kind, name in variables))

    def test_several_declarators(self):
        self.assert_static("__shared__ int a, b[2], c[3][4];",
                           ("int", "a"), ("int[2]", "b"), ("int[3][4]", "c"))
        self.assert_static("__shared__ float const *p, q, *r[2];",
                           ("float const *", "p"), ("float const", "q"), ("float const *[2]", "r"))
        self.assert_static("static __shared__ A<int, 2> a[2], b;",
                           ("A<int, 2>[2]", "a"), ("A<int, 2>", "b"))

    def test_every_variable_keeps_its_line(self):
        text = rewrite_statement("__shared__\n  int a[2],\n  // the second\n  b,\n  c\n;  next();")
        lines = text.split("\n")
        self.assertEqual([line.strip()[:19] for line in lines],
                         ["", "using simt_type_a =", "", "using simt_type_b =",
                          "using simt_type_c =", "next();"])

    def test_places(self):
        for before in ("{ ", "if (x) { ", "case 1: ", "int a; ", "for (;;) { ", "if (x) "):
            text = rewrite(in_function(before + "__shared__ int s;" + "}" * before.count("{")))
            self.assertIn(before + "using simt_type_s = int;", text)

    def test_dynamic(self):
        for declaration, kind in (
            ("extern __shared__ float s[];", "float"),
            ("extern __shared__ unsigned char s [ ];", "unsigned char"),
            ("extern __shared__ __align__(16) unsigned char s[];", "unsigned char"),
            ("extern alignas(16) __shared__ float4 s[];", "float4"),
            ("extern __shared__ volatile T s[];", "volatile T"),
            ("__shared__ extern lib::X<T, 2>::Temp s[];", "lib::X<T, 2>::Temp"),
            ("extern __shared__ float* s[];", "float*"),
            ("extern __shared__ float s[][32];", "float[32]"),
        ):
            with self.subTest(declaration):
                self.assertEqual(rewrite_statement(declaration),
                                 f'auto* const s = ::simt::dynamic_shared_array<{kind}>("s");')

    def test_refusals(self):
        for source, line, message in (
            ("__shared__ int s = 0;", 2, "cannot have an initialiser"),
            ("\n__shared__ int s[2] = {1, 2};", 3, "cannot have an initialiser"),
            ("__shared__ int s{};", 2, "cannot have an initialiser"),
            ("__shared__ int s(3);", 2, "cannot have an initialiser"),
            ("__shared__ int a, b = 1;", 2, "cannot have an initialiser"),
            ("__shared__ struct { int x; };", 2, "cannot find the name of this __shared__ variable"),
            ("__shared__ float (*p)[32];", 2, "give this type a name first"),
            ("__shared__ s[3];", 2, "cannot find the type of s"),
            ("__shared__ [3];", 2, "cannot find the name"),
            ("__shared__ int a,\n s[];", 3, "give s a size, or write extern"),
            ("extern __shared__ int s;", 2, "extern __shared__ memory is an array without a size"),
            ("extern __shared__ int s[3];", 2, "extern __shared__ int s[];"),
            ("__shared__ int s[3]\nint x;", 2, "this declaration has no ;"),
            ("__shared__ int s[3]", 2, "this declaration has no ;"),
            ("__shared__ int s[3;", 2, "this [ has no ]"),
            ("__shared__ A<int s;\nbool b = 1 > 2;", 2, "this < has no >"),
            ("__shared__ int 3;", 2, "cannot find the name"),
            ("__shared__ int s\n#if X\n[3]\n#endif\n;", 3, "this directive splits"),
        ):
            with self.subTest(source):
                self.assert_refused(in_function(source), line, message)

    def test_outside_of_functions(self):
        dynamic = '[[maybe_unused]] auto* const s = ::simt::dynamic_shared_array<int>("s");'
        self.assertEqual(rewrite("extern __shared__ int s[];\n__device__ int f() { return s[0]; }\nint g() { return s(); }\n"),
                         f"\n__device__ int f() {{ {dynamic} {{ return s[0]; }} }}\nint g() {{ return s(); }}\n")
        static = '[[maybe_unused]] auto& t = ::simt::shared<simt_type_t>("t", simt_shared_t{});'
        self.assertEqual(rewrite("namespace a {\nstatic __shared__ float t[2];\n__global__ void k() {\n  t[0] = 1;\n}\n}\n"),
                         "namespace a {\nusing simt_type_t = float[2]; struct simt_shared_t {};\n"
                         f"__global__ void k() {{ {static} {{\n  t[0] = 1;\n}} }}\n}}\n")
        unchanged = "__device__ int f(int* s) { return s[0]; }\n__device__ int g() { return x.s + p->s; }\n"
        self.assertEqual(rewrite("extern __shared__ int s[];\n" + unchanged), "\n" + unchanged)

    def test_missing_semicolon_at_the_end_of_a_block(self):
        self.assert_refused("void f() {\n__shared__ int s }\nint x;\n", 2, "has no ;")


def known(name, kind="device", storage="static"):
    symbol = name.replace("::", "_")
    return (f' {storage} ::simt::GlobalVariable simt_global_{symbol}("{name}", (void*)&{name}, '
            f"sizeof {name}, ::simt::type_of<decltype({name})>(), "
            f"::simt::GlobalKind::{kind});")


class Globals(RewriterTest):
    def test_variables(self):
        for source, *names in (
            ("__device__ int x;", "x"),
            ("__device__ int x = 3;", "x"),
            ("__device__ int x{3};", "x"),
            ("static __device__ unsigned long long x;", "x"),
            ("__device__ static int x[2][3];", "x"),
            ("float __device__ x;", "x"),
            ("__device__ volatile int x;", "x"),
            ("__device__ int x, y[2], *z;", "x", "y", "z"),
            ("__device__ int x[] = {1, 2}, y = f(1, 2), z{3};", "x", "y", "z"),
            ("__device__ A<int, 2> x, y;", "x", "y"),
            ("__device__ std::array<B<(N > 3)>, 4> x;", "x"),
            ("__device__ decltype(f(1)) x;", "x"),
            ("alignas(16) __device__ float x[4];", "x"),
            ("__device__ __align__(16) float x[4];", "x"),
            ("[[maybe_unused]] __device__ int x;", "x"),
            ("__device__ int x [[maybe_unused]] = 1;", "x"),
            ("__device__ struct S x;", "x"),
            ("__device__ const float* x;", "x"),
            ("__device__ int (*x)(int);", "x"),
            ("__device__ int (*x[2])(int, A<int>) = {f, g};", "x"),
            ("__device__ auto x = [](int a) { return a; };", "x"),
            ("__device__ auto x = [] __device__ (int a) { return a; };", "x"),
            ("__device__ int x = 1 < 2;", "x"),
            ("__device__ int x = (1 < 2), y;", "x", "y"),
            ("__device__ int S::x = 3;", "S::x"),
            ("__device__ int ns::S::x[2];", "ns::S::x"),
            ("extern __device__ int x = 3;", "x"),
            ("__device__ int x(3);", "x"),
            ("__device__ A x(-3), y(true);", "x", "y"),
            ("__device__ struct { int a; } x, y[2];", "x", "y"),
            ("__device__ struct S { int a = 1; } const *x = nullptr;", "x"),
        ):
            with self.subTest(source):
                self.assertEqual(rewrite(source + "  // why\n"),
                                 source + "".join(known(name) for name in names) + "  // why\n")

    def test_a_name_in_parentheses_is_a_value_or_a_type(self):
        for before in ("constexpr int kN = 3;", "const A kN{3};", "static unsigned int kN = 3;"):
            self.assertEqual(rewrite(f"{before}\n__device__ A x(kN);\n"), f"{before}\n__device__ A x(kN);{known('x')}\n")
        for before in ("struct T {};", "struct T : U {};", "using T = int;", "template <class T = int>", "enum class T { a };", "namespace T {}",
                       "void f() { int T = 1; }"):
            self.assert_unchanged(f"{before}\n__device__ A x(T);\n")

    def test_templates(self):
        self.assertEqual(
            rewrite("template <class T, int N = 4> __constant__ T x[N] = {1};"),
            "namespace { template <class T, int N> struct simt_known_x { static ::simt::GlobalVariable variable; }; } "
            "template <class T, int N = 4> alignas(::simt::kKnown<simt_known_x<T, N>::variable>) __constant__ T x[N] = {1}; "
            'namespace { template <class T, int N> ::simt::GlobalVariable simt_known_x<T, N>::variable("x", (void*)&x<T, N>, '
            "sizeof(x<T, N>), ::simt::type_of<decltype(x<T, N>)>(), ::simt::GlobalKind::constant); }")
        text = rewrite("template <class... T>\n__device__ A<T...> x;")
        self.assertIn("template <class... T> ::simt::GlobalVariable simt_known_x<T...>::variable(", text)
        self.assertNotIn("namespace {", text)

    def test_kinds(self):
        self.assertEqual(rewrite("__constant__ float c[3];"),
                         "__constant__ float c[3];" + known("c", "constant"))
        self.assertEqual(rewrite("__constant__ const float c = 1;"),
                         "__constant__ const float c = 1;" + known("c", "constant"))
        for source in ("__managed__ int m;", "__device__ __managed__ int m;",
                       "__managed__ __device__ int m;"):
            self.assertEqual(rewrite(source), source + known("m", "managed"))
        self.assertEqual(rewrite("inline __device__ int x;"),
                         "inline __device__ int x;" + known("x", storage="inline"))
        self.assertEqual(rewrite("static inline __device__ int x;"),
                         "static inline __device__ int x;" + known("x"))

    def test_constants_of_other_files(self):
        # The macro __constant__ says static.
        self.assertEqual(rewrite("extern __constant__ float c[3];\n__constant__ float c[3];"),
                         "extern  float c[3];\n float c[3];" + known("c", "constant"))
        linked = passes.read("file.cu", "__constant__ float c;", Unit(is_linked=True))
        passes.rewrite(linked)
        self.assertEqual(linked.result(), "__constant__ float c;" + known("c", "constant") + ' extern "C" decltype(c) simt_extern_c '
                         '__asm__("c") __attribute__((weak, alias("_ZL1c")));')

    def test_namespaces(self):
        for head in ("namespace a {", "namespace a::b {", "namespace {", "inline namespace a {",
                     'extern "C" {', "namespace a { namespace b {", "struct S { int a; };",
                     "void f() { g(); }", "namespace a { void f() {} }", "using namespace std;",
                     'TEST_CASE("x") { f(); }', 'extern "C" { } extern "C" {',
                     "int a[] = {1};", "enum class E { a };"):
            with self.subTest(head):
                tail = "}" * (head.count("{") - head.count("}"))
                self.assertEqual(rewrite(f"{head}\n__device__ int x;\n{tail}"),
                                 f"{head}\n__device__ int x;{known('x')}\n{tail}")

    def test_what_is_no_variable(self):
        for source in (
            "__device__ float f(float);",
            "__device__ float f(float x) { return x; }",
            "__device__ void f(int n = 0, A a = {});",
            "__host__ __device__ constexpr int f() { return 1; }",
            "static __device__ __forceinline__ const T* f(const T* p);",
            "__device__ __attribute__((noinline)) int f();",
            "__device__ __launch_bounds__(128, (2)) void f();",
            "[[nodiscard]] __device__ int f();",
            "__device__ [[nodiscard]] int f();",
            "__device__ auto f(int) -> int;",
            "__device__ auto f() -> A<int>;",
            "__device__ decltype(auto) f();",
            "__device__ std::enable_if_t<(N > 3), int> f();",
            "__device__ A<int>::B f();",
            "__device__ bool operator<(A a, A b);",
            "__device__ A& operator=(const A& a);",
            "__device__ void* operator new[](size_t);",
            "__device__ bool A::operator()(int) const;",
            "__device__ A::operator int() const;",
            "__device__ A::A(int x) : x{x} {}",
            "__device__ A::~A();",
            "__device__ explicit(true) A(int);",
            "template <class T> __device__ T f(T x);",
            "template <class T = int, int N = 3>\n__device__ T f();",
            "template <class T>\n  requires (sizeof(T) < 8)\n__device__ T f();",
            "template <class T>\n__device__ T f() requires requires(T t) { t + t; };",
            "template <class T>\n  requires requires(T t) { t + t; }\n__device__ T f();",
            "template <> __device__ int f<3>();",
            "__device__ int (*f(int))(int);",
            "__device__ int f(), g(int);",
            'extern "C" __device__ int f(int);',
            "#define HD __host__ __device__\nHD int f();",
            "struct A { __device__ A(); __device__ int f() { return x; } int x; };",
            "struct A { static __device__ int y; };",
            "class A { public: __device__ int f(int n = 0); };",
            "void f() { auto g = [] __device__ (int x) { return x; }; }",
            "auto g = [] __device__ (int x) { return x; };",
            "struct A { friend __device__ bool operator==(A, A); };",
            "extern __device__ int x;",
            'extern "C" __device__ int x;',
            "__device__ const int x = 3;",
            "__device__ constexpr int x[2] = {1, 2}, y = 3;",
            "static constexpr __device__ float x = 1;",
            "__device__ const char* const x = 0;",
            "__device__ int const x = 3;",
            "f(__device__ int x);",
        ):
            with self.subTest(source):
                self.assert_unchanged(source)

    def test_constant_pointers(self):
        source = "__device__ const int x = 3, *y, *const z = nullptr;"
        self.assertEqual(rewrite(source), source + known("y"))
        source = "__device__ int *const x = nullptr, y;"
        self.assertEqual(rewrite(source), source + known("y"))
        self.assert_unchanged('__device__ constexpr const char* x = "";')

    def test_refusals(self):
        for source, line, message in (
            ("\ntemplate <class> __device__ int x;", 2, "this template of __device__ variables is not understood"),
            ("template <> __constant__ int x<3>;", 1, "this template of __constant__ variables is not understood"),
            ("template <class T> __device__ int S<T>::x;", 1, "this template of __device__ variables is not understood"),
            ("__device__ bool x = 1 < 2, y;", 1, "put the initialiser before this comma"),
            ("__device__ int x = 3", 1, "this declaration has no ;"),
            (")\n__device__ int x;", 1, "this ) has no ("),
            ("__device__ int x[3", 1, "this [ has no ]"),
            ("__device__ int (*)(int) = f;", 1, "cannot find the name"),
        ):
            with self.subTest(source):
                self.assert_refused(source, line, message)


class Untouched(RewriterTest):
    def test_text_that_is_no_code(self):
        for source in (
            "// k<<<1, 2>>>(x); __shared__ int s;\n",
            "// continued \\\n k<<<1, 2>>>(x);\n",
            "/* k<<<1, 2>>>(x);\n __device__ int x; */\n",
            'auto s = "k<<<1, 2>>>(x); __shared__ int s; \\" __device__ int x;";\n',
            'auto s = u8"a" R"(k<<<)" LR"x(" k<<<1, 2>>>(x); )" )x" "k<<<";\n',
            "auto c = '\"'; auto d = '\\''; auto e = u'<';  // k<<<\n",
            "int million = 1'000'000; int hex = 0xFF'FF; // don't k<<<\n",
            "double d = 1e-5 + 0x1p-3 + .5f;\n",
            "#error don't \"stop\n#pragma message(\"__shared__\")\n",
            "#include <a//b.h>\n",
            "#ifdef X /* \nk<<<1, 2>>>(x); */\n#endif\n",
        ):
            with self.subTest(source):
                self.assert_unchanged(source)

    def test_code_behind_such_text_is_seen(self):
        # The comment at the end would end what these seem to begin.
        for before in ("/* ' */", "// '\n", "#error don't\n", "'\"';", "1'000;", 'R"(")";', '"//";',
                       "#define A \"/*\"\n", "#if 1 // /*\n", 'x = \'"\';', "'\\\\';", "0b1'0;"):
            with self.subTest(before):
                text = rewrite(in_function(before + "\nk<<<1, 2>>>(x); /* ' \" */"))
                self.assertEqual(len(launches(text)), 1)

    def test_brackets_in_both_branches_of_a_conditional(self):
        source = ("#if A\nvoid f() {\n#elif B\nvoid f(int) {\n#else\nvoid f(char) {\n#endif\n"
                  "  k<<<1, 2>>>(x);\n}\n__device__ int x;\n")
        text = rewrite(source)
        self.assertEqual(len(launches(text)), 1)
        self.assertIn(known("x"), text)

    def test_unbalanced_code_is_left_to_the_compiler(self):
        for source in ("void f() { g(1; }\n", "void f() { a[3; }\n", "}\n", "'\n", '"\n'):
            with self.subTest(source):
                self.assertEqual(rewrite(source + "__device__ int x;"),
                                 source + "__device__ int x;" + known("x"))
        for source in ("void f() { { }\n__device__ int x;\n", "/*\n", "namespace {\n"):
            with self.subTest(source):
                self.assert_unchanged(source)


class FolderTest(RewriterTest):
    """Runs the whole program from a build directory, as Meson does."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="cu2cpp ")  # with a space
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()
        self.build = self.folder / "build"
        self.build.mkdir()

    def write(self, **files):
        for name, text in files.items():
            self.write_file(name + ".cuh" if name != "main" else "main.cu", text)

    def write_file(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")

    def run_tool(self, *flags, source="../main.cu"):
        return subprocess.run([*TOOL, source, "-o", "main.cpp", "-MF", "main.d", *flags],
                              cwd=self.build, capture_output=True, text=True)

    def translate(self, *flags):
        done = self.run_tool(*flags)
        self.assertEqual(done.returncode, 0, done.stderr)
        return (self.build / "main.cpp").read_text(encoding="utf-8")


class Refusals(RewriterTest):
    def test_the_first_of_a_file_is_reported_whichever_pass_finds_it(self):
        shared, launch = "__global__ void k() { __shared__ int s = 1; }", "void f() { k<<<1>>>(); }"
        macro = "#define LAUNCH(k) k<<<1>>>()"
        for first, message in ((shared, "cannot have an initialiser"), (launch, "needs a grid and a block"), (macro, "needs a grid and a block")):
            for second in {shared, launch, macro} - {first}:
                with self.subTest(first=first, second=second):
                    self.assert_refused(f"\n{first}\n{second}\n", 2, message)


class Attributes(RewriterTest):
    def test_noinline(self):
        self.assertEqual(rewrite("__device__ __noinline__ int f() { return 1; }\n"),
                         "__device__ __attribute__((noinline)) int f() { return 1; }\n")
        self.assert_unchanged("__device__ __attribute__((__noinline__)) int f() { return 1; }\n")


class Arch(RewriterTest):
    """Where __CUDA_ARCH__ is defined."""

    def values(self, source, **more):
        """What the compiler is left with, without the line markers."""
        text = rewrite(textwrap.dedent(source))
        done = subprocess.run(["g++", "-E", "-P", "-x", "c++", "-"], input=text, capture_output=True, text=True, check=True)
        return " ".join(done.stdout.split())

    def test_in_device_code_alone(self):
        test = "\n#ifdef __CUDA_ARCH__\nint a = __CUDA_ARCH__;\n#else\nhost;\n#endif\n"
        for head, found in (("__global__ void f() {", "int a = 900;"), ("__device__ void f() {", "int a = 900;"),
                            ("void f() {", "host;"), ("__host__ void f() {", "host;"),
                            ("struct A { int x; __device__ A(int n) : x{n}, y(n) {", "int a = 900;"),
                            ("void f() { g([=] __device__ (int i) {", "int a = 900;")):
            with self.subTest(head):
                self.assertIn("{ " + found, self.values(head + test + "}"))
                self.assertIn("host;", self.values(head + "}" + test))
        self.assertEqual(self.values("#define KERNEL __global__\nKERNEL void f() {" + test + "}"), "__global__ void f() { int a = 900; }")

    def test_both(self):
        expected = ("{ if (!__builtin_is_constant_evaluated() && ::simt::in_kernel()) { return 900; } else { return 0; } }")
        for words in ("__host__ __device__", "__device__ __host__", "HD"):
            text = self.values(f"""\
                #define HD __host__ __device__
                {words} int f() {{
                #if defined(__CUDA_ARCH__)
                  return __CUDA_ARCH__;
                #else
                  return 0;
                #endif
                }}""")
            self.assertTrue(text.endswith("int f() " + expected), text)
        self.assert_unchanged("__host__ __device__ int f() { return 1; }\n")

    def test_outside_of_functions(self):
        own = "__device__ double atomicAdd(double* p, double x) { return 0; }\n"
        for condition in ("#if __CUDA_ARCH__ < 600", "#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 600",
                          "#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 600\n#else"):
            with self.subTest(condition):
                self.assertEqual(self.values(f"{condition}\n{own}#endif\nint x;"), "int x;")
        self.assertEqual(self.values("#ifndef __CUDA_ARCH__\nint main() {}\n#endif"), "int main() {}")

    def test_constants_that_depend_on_it(self):
        source = "#if __CUDA_ARCH__ >= 800\nconstexpr int n = 2;\n#else\nconstexpr int n = 1;\n#endif\n"
        self.assert_unchanged(source + "void f() { g(n); }\n")
        text = rewrite(source + "__device__ int f() { return n; }\n")
        self.assertEqual(text.count("n, a constant that __CUDA_ARCH__ chooses outside of functions"), 2)
        self.assert_unchanged("#ifndef __CUDA_ARCH__\nint twice(const int n = 1) { const int m = n; return m; }\n#endif\n"
                              "__device__ int f(int n, int m) { return n + m; }\n")

    def test_macros_that_depend_on_it(self):
        text = self.values("""\
            #ifdef __CUDA_ARCH__
            #define WHERE device
            #else
            #define WHERE host
            #endif
            #define SAY(x) x(WHERE, __LINE__)
            void f() { SAY(a); }
            __global__ void k() { SAY(a); }
            void g() { SAY(a); }""")
        self.assertEqual(text, "void f() { a(host, 7); } __global__ void k() { a(device, 8); } void g() { a(host, 9); }")


class InlinePtx(RewriterTest):
    """common/simt/tests/ptx_test.cu runs what becomes of it."""

    def translated(self, asm):
        return rewrite("__device__ void f() {" + asm + "}")[len("__device__ void f() {"):-1]

    def test_one_statement_on_the_same_lines(self):
        self.assertEqual(self.translated('asm volatile(\n"add.u32 %0, %1, 3;"\n: "=r"(x) : "r"(g(y)));\nh();'),
                         "{ unsigned simt_0 = 0; unsigned simt_1 = ::simt::ptx::operand<unsigned>(g(y)); "
                         "simt_0 = ::simt::ptx::to<unsigned>(static_cast<unsigned>(simt_1 + static_cast<unsigned>((3)))); "
                         "x = ::simt::ptx::operand<::simt::ptx::Value<decltype(x)>>(simt_0); }\n\n\nh();")

    def test_memory_and_order(self):
        for asm, text in (
            ('asm("st.u32 [%0], %1;" :: "l"(p) "r"(x));', "simt_0)) = simt_1; }"),
            ('asm volatile("membar.gl;");', "{ __threadfence(); }"),
            ('asm volatile("fence.acq_rel.cta;" ::: "memory");', "{ __threadfence_block(); }"),
            ('asm("bar.sync 0;");', "{ __syncthreads(); }"),
            ('asm("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(x) : "l"(p));',
             "*static_cast<volatile const unsigned*>(reinterpret_cast<void*>(simt_1))); __threadfence();"),
            ('asm("red.shared.cta.add.u32 [%0 + 8], %1;" :: "r"(p), "r"(x));',
             "atomicAdd_block(static_cast<unsigned*>(__cvta_shared_to_generic("),
        ):
            with self.subTest(asm):
                self.assertIn(text, self.translated(asm))

    def test_an_if_in_the_text(self):
        text = self.translated('asm volatile("add.u32 %0, %0, "\n#if A\n"1;"\n#else\n"2;"\n#endif\n: "+r"(x));\nh();')
        one, two = re.findall(r"\n#line 1\n(.*)", text)
        self.assertIn("((1))", one)
        self.assertEqual(one.replace("((1))", "((2))"), two)
        self.assertEqual(text.replace(one, "1").replace(two, "2"), "\n#if A\n#line 1\n1\n#else\n#line 1\n2\n#endif\n#line 7\n\nh();")

    def test_hosts_assembly_and_empty_ones_stay(self):
        for source in ('void f() { asm volatile("rdtsc" : "=a"(x)); }', '#define PAUSE asm volatile("pause")\n',
                       '__device__ void f() { asm volatile("" ::: "memory"); }',
                       '__host__ __device__ void f() { asm("nop"); }'):
            with self.subTest(source):
                self.assert_unchanged(source)

    def test_refusals(self):
        for asm, what in (
            ('asm("mma.sync.aligned.m16n8k8 %0;" : "=r"(x));', "inline PTX mma.sync.aligned.m16n8k8: write it in C++; course/ptx.cuh"),
            ('asm("exit;");', "inline PTX exit"),
            ('asm("bar.sync 1, 64;");', "inline PTX bar.sync"),
            ('asm(TEXT("a"));', "inline PTX whose text has TEXT in it"),
            ('asm("add.u32 %0, %5, 1;" : "=r"(x));', "inline PTX with the operand %5"),
            ('asm("add.u32 %[x], 1, 1;" : [x] "=r"(x));', "inline PTX with a named operand"),
            ('asm("add.rz.f32 %0, %0, %0;" : "+f"(x));', "inline PTX add.rz.f32"),
            ('asm("{ add.u32 %0, 1, 1;" : "=r"(x));', "inline PTX without one of its braces"),
        ):
            with self.subTest(asm):
                self.assert_refused("__device__ void f() {\n" + asm + "\n}", 2, "not supported on the CPU device: " + what)


class Refused(RewriterTest):
    """What the CPU device has not."""

    def test_words(self):
        for source, line, text in (
            ("\ntexture<float> t;", 2, "texture references"),
            ("void f() {\n  cudaSurfaceObject_t a;\n}", 2, "cudaSurfaceObject_t, surfaces: write to memory of cudaMallocPitch"),
            ("__global__ void k(float* p) { p[0] = tex2DLayered<float>(t, 0, 0, 1); }", 1, "tex2DLayered, textures of layers"),
            ("cudaMipmappedArray_t a;", 1, "cudaMipmappedArray_t, textures of layers"),
            ("using namespace nvcuda;", 1, "nvcuda, tensor cores"),
            ("__global__ void k() {\n  k<<<1, 2>>>();\n}", 2, "a launch in a kernel, dynamic parallelism"),
            ("__global__ void k() {\n  f([&] { g<<<1, 2>>>(); });\n}", 2, "a launch in a kernel, dynamic parallelism"),
            ("__device__ void f() { cudaDeviceSynchronize(); }", 1, "cudaDeviceSynchronize() in a kernel"),
            ("void f() {\n  check(cublasStrsm(h));\n}", 2, "cublasStrsm of cuBLAS: use the functions of real numbers"),
            ("void f() {\n  thrust::sort(x, x + n);\n}", 2, "thrust::sort of Thrust: write a kernel"),
            ("\nint x = ::thrust::reduce(y);", 2, "thrust::reduce of Thrust"),
            ("using namespace thrust;", 1, "namespace thrust of Thrust"),
            ("using Sum = cub::BlockReduce<int, 64>;", 1, "cub::BlockReduce of CUB"),
            ("__global__ void k(curandStateMRG32k3a* s) { curand_init(1, 0, 0, s); }", 1, "curandStateMRG32k3a of cuRAND: use a state of XORWOW"),
            ("__device__ unsigned f(curandState* s) { return curand_poisson(s, 2); }", 1, "curand_poisson of cuRAND: "),
            ("int i = curandSetQuasiRandomGeneratorDimensions(g, 2);", 1, "curandSetQuasiRandomGeneratorDimensions of cuRAND: use a generator of XORWOW"),
            ("curandDiscreteDistribution_t d;", 1, "curandDiscreteDistribution_t of cuRAND: "),
            ("cudnnHandle_t h;", 1, "cudnnHandle_t of cuDNN: replace"),
            ("cusparseHandle_t h;", 1, "cusparseHandle_t of cuSPARSE"), ("cusolverDnHandle_t h;", 1, "cusolverDnHandle_t of cuSOLVER"),
            ("cufftHandle h;", 1, "cufftHandle of cuFFT"),
            ("int a = cublasLtMatrixTransform(h);", 1, "cublasLtMatrixTransform of cuBLASLt: use cublasLtMatmul of matrices by columns"),
            ("int a = cublasCgemm(h);", 1, "cublasCgemm of cuBLAS: "), ("int a = cublasSgemm_64(h);", 1, "cublasSgemm_64 of cuBLAS: "),
            ("int a = cublasIcamax(h);", 1, "cublasIcamax of cuBLAS: "), ("int a = cublasAxpyEx(h);", 1, "cublasAxpyEx of cuBLAS: "),
            ("int a = cublasXtSsyrk(h);", 1, "cublasXtSsyrk of cuBLAS: "), ("int a = cublasSgetrfBatched(h);", 1, "cublasSgetrfBatched of cuBLAS: "),
        ):
            with self.subTest(source):
                self.assert_refused(source, line, "not supported on the CPU device: " + text)

    def test_all_that_is_not_there_is_told_once(self):
        source = "void f() {\n  thrust::sort(x, y);\n  cublasStrsm(h);\n  thrust::sort(y, z);\n}\n__global__ void k() { static int i; }"
        with self.assertRaises(Unsupported) as refused:
            rewrite(source)
        lines = str(refused.exception).splitlines()
        self.assertEqual([line.partition(" error: ")[0].rsplit(":", 2)[1] for line in lines], ["2", "3", "6"])

    def test_names_of_the_programs_own(self):
        for source in ("struct A { int surf2D; };", "int x = a.surf2Dread;", "cudaArray_t a; cudaTextureObject_t t; float x = tex2D<float>(t, 0, 0);", "int y = p->surface;", "int surface, texture = 1;",
                       "int cutoff = cuts(texels, cublas_dot(x), cufft_plan);", "float thrust = 1, cub = thrust * x.cub;", "float y = a.thrust + detail::cub::x;", "void cublasCheck(cublasStatus_t s);",
                       "cublasHandle_t h; int i = cublasCreate(&h) + cublasSetStream(h, s) + cublasSetMathMode(h, m);",
                       "int i = cublasSgemm(h) + cublasHgemmStridedBatched(h) + cublasIdamin(h) + cublasGemmEx(h) + cublasDgeam(h) + cublasSetMatrixAsync(h);",
                       "cublasLtMatmulDesc_t d; int i = cublasLtMatmul(h) + cublasLtMatmulAlgoGetHeuristic(h) + cublasXtSgemm(h);",
                       "__device__ float f(curandState* s, curandStatePhilox4_32_10_t* p) { curand_init(1, 2, 3, s); return curand_uniform(s) + curand_normal4(p).x; }", "curandGenerator_t g; int i = curandCreateGenerator(&g, t) + curandGeneratePoisson(g) + curandGenerateNormalDouble(g); void curandCheck(curandStatus_t s);",
                       "void f() { cudaMalloc(&p, 4); }"):
            with self.subTest(source):
                self.assert_unchanged(source)

    def test_calls_of_the_runtime_that_are_for_kernels(self):
        for source in ("__device__ void f() { cudaGridDependencySynchronize(); }", "__device__ void f() { cudaTriggerProgrammaticLaunchCompletion(); }"):
            with self.subTest(source):
                self.assert_unchanged(source)

    def test_what_an_if_may_hide_is_for_the_compiler(self):
        self.assertEqual(rewrite("#ifdef TEX\ncudaSurfaceObject_t a;\n#endif\n"),
                         '#ifdef TEX\n _Pragma("GCC error \\"not supported on the CPU device: cudaSurfaceObject_t, surfaces: write '
                         "to memory of cudaMallocPitch through a pointer\\\"\") "
                         'cudaSurfaceObject_t a;\n#endif\n'.replace('\\\\"', '\\"'))


class Returns(RewriterTest):
    TOLD = "{ ::simt::leave_kernel(); return; }"

    def test_a_kernel_tells_of_its_returns(self):
        for head in ("__global__ void k(int n)", "template <class T>\n__global__ void k(T n)",
                     "__launch_bounds__(256) __global__ void k(int n)", "__global__ void __launch_bounds__(256) k(int n)"):
            source = head + " {\n  if (n < 0)\n    return;\n  else { f(n); return; }\n  a[n] = 1;\n}\n"
            with self.subTest(head):
                self.assertEqual(rewrite(source), source.replace("return;", self.TOLD))

    def test_the_end_of_a_kernel_is_no_return_before_it(self):
        self.assert_unchanged("__global__ void k(int n) {\n  if (n) g();\n  return;\n}\n")

    def test_other_functions_return_as_they_are(self):
        self.assert_unchanged("__global__ void k(int n);\nvoid f() { if (a) return; b(); }\n")
        self.assert_unchanged("__device__ void f() { if (a) return; b(); }\n")
        for lambda_ in ("[&] { if (n) return; f(); }", "[=](int i) { if (i) return; f(); }",
                        "[a, b](int i) mutable -> void { if (i) return; f(); }"):
            with self.subTest(lambda_):
                self.assert_unchanged("__global__ void k(int n) { const auto g = " + lambda_ + "; g(n); }\n")
        source = "__global__ void k(int n) { auto g = [] { return; }; a[n](g); if (b[n]) { return; } g(); }\n"
        self.assertEqual(rewrite(source), source.replace("{ return; } g", "{ " + self.TOLD + " } g"))


class Heap(RewriterTest):
    def test_device_code(self):
        for head in ("__global__ void k()", "__device__ int f()", "__host__ __device__ int f()"):
            for cuda, cpp in (
                    ("int* p = (int*)malloc(4);", "int* p = (int*)::simt::heap_malloc(4);"), ("free(p);", "::simt::heap_free(p);"),
                    ("T* p = new T;", "T* p = new (::simt::device_heap) T;"),
                    ("auto f = [=] { return new T[n]{1, 2}; };", "auto f = [=] { return new (::simt::device_heap) T[n]{1, 2}; };"),
                    ("delete p;", "::simt::delete_one->* p;"), ("delete[] p->q;", "::simt::delete_array->* p->q;"),
                    ("if (p) delete (p);", "if (p) ::simt::delete_one->* (p);")):
                with self.subTest(cuda):
                    self.assertEqual(rewrite(head + " { " + cuda + " }\n"), head + " { " + cpp + " }\n")

    def test_what_stays(self):
        for source in ("void f() { free(malloc(4)); delete new T; }\n", "__device__ void f() { a.free(b); new (p) T; pool::free(q); }\n",
                       "struct S { __device__ S() {} S(const S&) = delete; void* operator new(size_t); };\n"):
            with self.subTest(source):
                self.assert_unchanged(source)


class Kernels(RewriterTest):
    def entry(self, head):
        """What the kernel's body begins with: (name, parameters, function); None if there is nothing."""
        text = rewrite_all(head + " {\n}\n")
        self.assertTrue(text.startswith(head + " {") and text.endswith("\n}\n"), text)
        found = re.fullmatch(r' SIMT_KERNEL\("(.*?)", "(.*?)", (.*)\);', text[len(head + " {"):-len("\n}\n")])
        return found and found.groups()

    def test_parameters(self):
        for parameters, names in (
                ("", ""), ("void", ""), ("int n", "n"), ("const float* __restrict__ a, float *b", "a, b"),
                ("std::array<int, 3> a, const unsigned n", "a, n"), ("T const t", "t"), ("int a[], int b[3][4]", "a, b"),
                ("int (*f)(int, float), int n", "f, n"), ("int n = 3, ns::T<1> t = {1, 2}", "n, t"),
                ("const __grid_constant__ Big big", "big"), ("struct Pair p", "p"), ("unsigned long long n", "n")):
            types = ", ".join(f"decltype({name})" for name in names.split(", ") if name)
            with self.subTest(parameters):
                self.assertEqual(self.entry(f"__global__ void k({parameters})"), ("k", names, f"void({types})"))

    def test_packs(self):
        self.assertEqual(self.entry("template <class... T> __global__ void k(int a, T... rest)"),
                         ("k", "a, rest", "void(decltype(a), decltype(rest)...)"))

    def test_heads(self):
        for head in ('extern "C" __global__ void k(int n)', "__launch_bounds__(256) __global__ void k(int n)",
                     "__global__ void __launch_bounds__(B * 2) k(int n)", "static __global__ void k(int n)",
                     "template <class T, int B = 2>\n__global__ void\nk(int n)"):
            with self.subTest(head):
                self.assertEqual(self.entry(head), ("k", "n", "void(decltype(n))"))

    def test_parameters_without_a_name_get_one(self):
        name = "simt_unnamed_0 [[maybe_unused]]"
        for parameters, expected, names in (
                ("int", f"int {name}", "simt_unnamed_0"), ("T", f"T {name}", "simt_unnamed_0"),
                ("ns::T<1> = {2}", f"ns::T<1> {name} = {{2}}", "simt_unnamed_0"),
                ("unsigned int, int n", f"unsigned int {name}, int n", "simt_unnamed_0, n"),
                ("const float*, int n", f"const float* {name}, int n", "simt_unnamed_0, n")):
            types = ", ".join(f"decltype({one})" for one in names.split(", "))
            with self.subTest(parameters):
                self.assertEqual(rewrite_all(f"__global__ void k({parameters}) {{}}\n"),
                                 f'__global__ void k({expected}) {{ SIMT_KERNEL("k", "{names}", void({types}));}}\n')
        self.assertEqual(rewrite_all("template <class... T> __global__ void k(T...) {}\n"),
                         f"template <class... T> __global__ void k(T... {name}) {{ "
                         'SIMT_KERNEL("k", "simt_unnamed_0", void(decltype(simt_unnamed_0)...));}\n')

    def test_what_may_be_a_macro_or_has_no_parameters_stays(self):
        for head in ("__global__ void k(int* a, EXTRA)", "__global__ void NAME(k)(int n)",
                     "__global__ void k(\n#if X\nint a\n#else\nfloat b\n#endif\n)"):
            with self.subTest(head):
                self.assertIsNone(self.entry(head))
        self.assertEqual(rewrite_all("__global__ void k(int n);\n"), "__global__ void k(int n);\n")


class Files(FolderTest):
    def preprocess(self):
        """[(file, line, text)] of what the compiler is left with."""
        done = subprocess.run(["g++", "-std=c++20", "-E", "main.cpp"], cwd=self.build,
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        file, line, found = None, 0, []
        for text in done.stdout.split("\n"):
            marker = re.match(r'# (\d+) "(.*)"', text)
            if marker:
                file, line = marker.group(2), int(marker.group(1))
                continue
            if text.strip():
                found.append((file, line, text.strip()))
            line += 1
        return found

    def test_lines_of_includes(self):
        self.write(main='''\
            // first
            #include "a.cuh"  // why
            int main_3;
            #  include <b.cuh>
            int main_5;
            #include "b.cuh"
            int main_7;
            ''')
        self.write(a='''\
            #pragma once
            int a_2;
            #include "b.cuh"
            int a_4;''', b='''\
            // comment
            #pragma once // only once

            int b_4;
            ''')
        self.translate("-I..")
        self.assertEqual(self.preprocess(), [
            ("../a.cuh", 2, "int a_2;"), ("../b.cuh", 4, "int b_4;"), ("../a.cuh", 4, "int a_4;"),
            ("../main.cu", 3, "int main_3;"), ("../main.cu", 5, "int main_5;"),
            ("../main.cu", 7, "int main_7;")])

    def test_conditional_includes(self):
        # Which of the two includes of a.cuh counts is for the compiler to say.
        self.write(main='''\
            #ifdef NOT_DEFINED
            #include "a.cuh"
            #else
            #include "b.cuh"
            #endif
            #include "a.cuh"
            #include "a.cuh"
            ''', a="#pragma once\nint a_2;\n", b='#pragma once\n#if 0\n#include "a.cuh"\n#endif\n')
        self.translate()
        self.assertEqual(self.preprocess(), [("../a.cuh", 2, "int a_2;")])
        # A file that a hidden one includes is hidden, too; and one that was seen is not seen again.
        self.write(main='''\
            #ifdef NOT_DEFINED
            #include "b.cuh"
            #endif
            #if 1
            #include "a.cuh"
            #endif
            #include "a.cuh"
            ''', b='#pragma once\n#include "a.cuh"\n')
        self.translate()
        self.assertEqual(self.preprocess(), [("../a.cuh", 2, "int a_2;")])

    def test_files_that_include_each_other(self):
        self.write(main='#if 1\n#include "a.cuh"\n#endif\n',
                   a='#pragma once\n#include "b.cuh"\nint a_3;\n',
                   b='#pragma once\n#include "a.cuh"\nint b_3;\n')
        self.translate()
        self.assertEqual(self.preprocess(),
                         [("../b.cuh", 3, "int b_3;"), ("../a.cuh", 3, "int a_3;")])

    def test_include_guards(self):
        guard = "#ifndef {0}_CUH\n#define {0}_CUH\n{1}\nint {0}_4;\n#endif\n"
        self.write(main='#include "a.cuh"\n#include "b.cuh"\n#include "a.cuh"\nint main_4;\n',
                   a=guard.format("a", '#include "b.cuh"'), b=guard.format("b", '#include "a.cuh"'))
        text = self.translate()
        self.assertEqual(text.count("int b_4;"), 1)
        self.assertEqual(self.preprocess(), [
            ("../b.cuh", 4, "int b_4;"), ("../a.cuh", 4, "int a_4;"),
            ("../main.cu", 4, "int main_4;")])

    def test_a_file_without_guard_comes_every_time(self):
        self.write(main='#include "a.cuh"\n#include "a.cuh"\n', a="X(1)\n")
        self.translate()
        self.assertEqual(self.preprocess(), [("../a.cuh", 1, "X(1)")] * 2)
        self.assertEqual(self.depends(), "main.cpp: ../main.cu ../a.cuh")

    def test_diamond_and_folders(self):
        self.write(main='#include "x/left.cuh"\n#include <y/right.cuh>\n')
        self.write_file("x/left.cuh", '#pragma once\n#include "base.cuh"\nint left_3;\n')
        self.write_file("x/base.cuh", "#pragma once\nint base_2;\n")
        self.write_file("include/y/right.cuh",
                        '#pragma once\n#include <x/base.cuh>\nint right_3;\n')
        self.translate("-I../include", "-I..")
        self.assertEqual(self.preprocess(), [
            ("../x/base.cuh", 2, "int base_2;"), ("../x/left.cuh", 3, "int left_3;"),
            ("../include/y/right.cuh", 3, "int right_3;")])

    def test_first_include_folder_wins(self):
        for folder in ("one", "two"):
            self.write_file(f"{folder}/a.cuh", f"int {folder};\n")
        self.write(main="#include <a.cuh>\n")
        self.translate("-I../two", "-I../one")
        self.assertEqual(self.preprocess(), [("../two/a.cuh", 1, "int two;")])

    def test_includes_that_stay(self):
        self.write(main='''\
            #include <vector>
            #include "plain.hpp"
            // #include "comment.cuh"
            /*
            #include "comment.cuh"
            */
            const char* text = R"(
            #include "text.cuh"
            )";
            #if __has_include(<own/own.cuh>)
            #include <own/own.cuh>
            #endif
            ''')
        source = (self.folder / "main.cu").read_text()
        self.assertEqual(self.translate(), '#line 1 "../main.cu"\n' + source)

    def test_included_files_are_rewritten(self):
        self.write(main='#include "a.cuh"\n', a="#pragma once\n\nvoid f() {\n k<<<1, 2>>>(x);\n}\n")
        self.assertEqual(len(launches(self.translate())), 1)

    def test_headers_of_ones_own_are_rewritten_if_they_are_cuda(self):
        kernel = "#pragma once\n__global__ void k() { __shared__ int s; }\n"
        for name in ("a.h", "a.hpp", "a.inl", "sub/a.h"):
            self.write_file(name, kernel)
            self.write(main=f'#include "{name}"\nvoid f() {{ k<<<1, 2>>>(); }}\n')
            self.assertIn("::simt::shared", self.translate())
            self.assertIn("../" + name, self.depends())
        # Also if another one includes it; and one in a -I folder.
        self.write_file("b.h", '#include <sub/a.h>\n')
        self.write(main='#include "b.h"\n')
        self.assertIn("::simt::shared", self.translate("-I.."))
        # Headers that include each other and have no CUDA in them stay.
        self.write_file("c.h", '#pragma once\n#include "d.h"\n')
        self.write_file("d.h", '#pragma once\n#include "c.h"\nint d;\n')
        self.write(main='#include "c.h"\n')
        self.assertEqual(self.translate(), '#line 1 "../main.cu"\n#include "c.h"\n')

    def test_a_plain_header_is_found_from_a_file_in_another_folder(self):
        self.write_file("sub/a.h", '#include "plain.h"\n__device__ int a;\n')
        self.write_file("sub/plain.h", "int plain;\n")
        self.write(main='#include "sub/a.h"\n')
        self.translate()
        self.assertIn((str(self.folder / "sub/plain.h"), 1, "int plain;"), self.preprocess())

    def test_macros_of_other_files(self):
        self.write(main='#include "a.cuh"\nKERNEL void k() { if (a) return; b(); }\nvoid f() { k<<<1, 2>>>(); }\n'
                   "HD int g() { return __CUDA_ARCH__; }\n",
                   a="#define KERNEL __global__\n#define HD __device__\n")
        text = self.translate()
        self.assertIn("leave_kernel", text)
        self.assertIn("#define __CUDA_ARCH__ 900\n#line 4\n", text)

    def test_unsupported_headers(self):
        for name, what in (("cublas.h", "the API of cuBLAS before CUDA 4: include cublas_v2.h"), ("nvblas.h", "cuBLAS: replace"), ("mma.h", "tensor cores"),
                           ("nccl.h", "NCCL"), ("GL/glew.h", "graphics"), ("cuda_gl_interop.h", "graphics interop")):
            self.write(main=f"\n#include <{name}>\n")
            done = self.run_tool()
            self.assertIn(f"../main.cu:2: error: not supported on the CPU device: {name}, {what}", done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)
            self.write(main='#if USE\n#include "a.cuh"\n#endif\n', a=f"#include <{name}>\n")
            self.assertIn(f"#error not supported on the CPU device: {name}", self.translate())
            self.write(main=f"#if USE\n#include <{name}>\n#endif\n")
            self.assertIn(f"#error not supported on the CPU device: {name}", self.translate())

    def test_limits_of_the_host_in_an_exercise(self):
        call = "return std::numeric_limits<float>::max();"
        self.write(main=f"\n__device__ float f() {{ {call} }}\n")
        done = self.run_tool("--learner")
        self.assertIn("../main.cu:2: error: std::numeric_limits<...>::max() is a constexpr function of the host, and", done.stderr)
        self.assertIn(call, self.translate())  # a lesson, which nvcc compiles, too
        self.assertIn(call, self.translate("--learner", "--headers", "program"))
        for taken in (f"__host__ __device__ float f() {{ {call} }}", f"float f() {{ {call} }}",
                      f"__device__ float f() {{ {call.replace('std', 'cuda::std')} }}",
                      "constexpr float kMost = std::numeric_limits<float>::max();\n__device__ float f() { return kMost; }",
                      "__device__ int f() { return std::numeric_limits<float>::digits; }"):
            self.write(main=taken + "\n")
            self.assertIn(taken.splitlines()[-1].partition("{")[2], self.translate("--learner"))

    def test_headers_of_libraries_are_left_out(self):
        for name in ("thrust/sort.h", "cub/cub.cuh", "curand_mtgp32_host.h", "cufft.h", "cusparse_v2.h", "cusolverDn.h", "cudnn.h"):
            self.write(main=f"#include <{name}>\nint x;\n")
            self.assertEqual(self.translate(), '#line 1 "../main.cu"\n\nint x;\n')
            self.write(main='#include "a.h"\nint x;\n')
            self.write_file("a.h", f"#include <{name}>\nint y;\n")  # it has no other CUDA
            self.assertNotIn(name, self.translate())
        self.write_file("a.h", "#include <cublas_v2.h>\nvoid f() { cublasStrsm(h); }\n")
        self.assertTrue(self.run_tool().stderr.startswith("../a.h:2: error: not supported on the CPU device: cublasStrsm of cuBLAS"))

    def test_errors_name_file_and_line(self):
        self.write(main='\n#include "a.cuh"\n', a="#pragma once\nvoid f() {\n\n k<<<1, 2;\n}\n")
        done = self.run_tool()
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr, "../a.cuh:4: error: this <<< has no >>>\n")
        self.assertFalse((self.build / "main.cpp").exists())

    def test_unknown_include(self):
        self.write(main='int x;\n#include "absent.cuh"\n')
        done = self.run_tool("-I../include", "-Ielse")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr, "../main.cu:2: error: absent.cuh: no such file; looked next "
                                      "to it and in ../include, else\n")

    def test_angled_includes_are_not_looked_for_next_to_the_file(self):
        self.write(main='#include <a.cuh>\n', a="int a;\n")
        self.assertEqual(self.run_tool().stderr,
                         "../main.cu:1: error: a.cuh: no such file; looked in no -I folder\n")

    def test_endless_include(self):
        self.write(main='#include "a.cuh"\n', a='\n#include "a.cuh"\n')
        done = self.run_tool()
        self.assertEqual(done.stderr, "../a.cuh:2: error: a.cuh includes itself: begin it with "
                                      "#pragma once\n")

    def depends(self):
        """The depfile, without the rewriter's own files, which it ends with."""
        text = (self.build / "main.d").read_text()
        names, own = text.rstrip("\n").partition(f" {COMMON}/")[::2]
        for file in (COMMON / "build" / "rewriter").glob("*.py"):
            self.assertIn(f"{file.relative_to(COMMON)}", own.split(f" {COMMON}/"))
        return names

    def test_depfile(self):
        self.write(main='#include "a b.cuh"\n#include "c#$.cuh"\n#include "a b.cuh"\n',
                   **{"a b": '#pragma once\n#include "c#$.cuh"\n', "c#$": "#pragma once\n"})
        self.translate()
        self.assertEqual(self.depends(), "main.cpp: ../main.cu ../a\\ b.cuh ../c\\#$$.cuh")

    def test_bytes_survive(self):
        (self.folder / "main.cu").write_bytes(b"\xef\xbb\xbfint a; // \xc3\xa9 \xff\r\nint b;\r\n")
        self.assertEqual(self.run_tool().returncode, 0)
        self.assertEqual((self.build / "main.cpp").read_bytes(),
                         b'#line 1 "../main.cu"\nint a; // \xc3\xa9 \xff\nint b;\n')

    def test_usage_and_missing_input(self):
        done = subprocess.run(TOOL, capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("--rewrite FILE.cu -o FILE.cpp [-MF DEPFILE]", done.stderr)
        done = self.run_tool(source="../absent.cu")
        self.assertEqual(done.returncode, 1)
        self.assertIn("../absent.cu", done.stderr)
        self.assertNotIn("Traceback", done.stderr)


# A stand-in for the CPU device's headers, so that the compilers have little to read.
STAND_IN = """\
#define __global__
#define __device__
#define __host__
namespace simt {
struct Text { const char *kernel, *arguments; };
template <class F>
auto launch(Text, F f, int, int, int = 0, void* = nullptr) {
  return [=](auto... arguments) { f(arguments...); };
}
template <class T, class Tag> T& shared(const char*, Tag) { static T storage; return storage; }
template <class T> T* dynamic_shared_array(const char*) { return nullptr; }
template <class T> int type_of() { return 0; }
enum class GlobalKind { device, constant, managed };
struct GlobalVariable { GlobalVariable(const char*, void*, int, int, GlobalKind) {} };
}
"""


class Compilers(FolderTest):
    """Every line with an undeclared name in it is reported as the line that the learner sees."""

    COMPILERS = [name for name in ("g++", "clang++") if shutil.which(name)]

    def errors(self, compiler, *flags):
        all_errors = ["-ferror-limit=0"] if compiler == "clang++" else []
        done = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra",
                               "-include", "stand_in.hpp", *all_errors, *flags, "main.cpp"],
                              cwd=self.build, capture_output=True, text=True)
        return done.returncode, re.findall(r"^(\S+?):(\d+):\d+: (error|warning|fatal error): (.*)",
                                           done.stderr, re.M), done.stderr

    def assert_reported(self, *flags):
        """wrong_FILE_LINE must be reported there, and nothing else of this kind."""
        (self.build / "stand_in.hpp").write_text(STAND_IN)
        self.translate()
        for compiler in self.COMPILERS:
            with self.subTest(compiler):
                _, found, output = self.errors(compiler, *flags)
                reported = {(os.path.basename(file), int(line), name)
                            for file, line, _, text in found
                            for name in re.findall(r"wrong_(?:main|a)_\d+", text)}
                expected = {(("main.cu" if name.startswith("wrong_main") else "a.cuh"),
                             int(name.split("_")[-1]), name)
                            for path in (self.folder / "main.cu", self.folder / "a.cuh")
                            for name in re.findall(r"wrong_(?:main|a)_\d+", path.read_text())}
                self.assertEqual(reported, expected, output)
                for file, *_ in found:
                    self.assertTrue((self.build / file).is_file(), file)

    def test_errors_in_every_rewritten_form(self):
        self.write(main='''\
            #include "a.cuh"
            int b = wrong_main_2;
            __global__ void k(int*, int) {}
            template <class T, int N> __global__ void t(T*) {}
            __device__ int w = wrong_main_5;
            __device__ int x, y[2] = {
                wrong_main_7};
            void launch(int* p) {
              k<<<wrong_main_9, 32>>>(p, 1);
              t<int, 3>
                  <<<1,  // blocks
                     wrong_main_12
                     >>>(p);
              k<<<1, 32>>>(
                  p,
                  wrong_main_16
              );
              t<int,
                /* size */ 5><<<1, 2>>>(wrong_main_19);
              if (p) k<<<1, 32>>>(p, 1); else wrong_main_20();
            }
            __global__ void shared() {
              __shared__ wrong_main_23 s;
              __shared__ int
                  a,
                  c[wrong_main_26],
                  d[2];
              a = d[0] = wrong_main_28;
              extern __shared__ wrong_main_29 e[];
            }
            void after() { wrong_main_31(); }
            ''', a='''\
            #pragma once
            namespace a {
            int before = wrong_a_3;
            __global__ void k() {
              __shared__ int s
                  [4];
              s[0] = wrong_a_7;
            }
            }
            inline void launch() { a::k
                <<<1, wrong_a_11>>>(); }
            int last = wrong_a_12;
            ''')
        self.assert_reported()

    def test_every_form_compiles_without_warnings(self):
        self.write(main='''\
            namespace lib {
            template <class T, int N> struct X { struct Temp { T a[N]; }; };
            }
            namespace ns {
            __global__ void k(int*, int = 0) {}
            template <class T, int N> __global__ void t(T*) {}
            struct Table { void (*k)(int*); };
            }
            __global__ void k() {}
            void k(const char*) {}
            __global__ void k(int* p) { *p = 1; }
            __global__ void q(float* p) { *p = 1; }
            static __device__ int counter, table[4] = {1, 2}, *pointer;
            inline __device__ float level = 1;
            __device__ int (*choose)(int) = nullptr;
            __device__ int f(int x);
            __device__ int f(int x) { return x; }
            struct S { static int member; };
            __device__ int S::member = 3;
            __device__ const int* words = nullptr;

            template <class T, int N> __global__ void shared(T* out) {
              __shared__ T s[(N + 1) * 2], value, *p;
              __shared__ typename lib::X<T, N>::Temp temp;
              static __shared__ alignas(16) unsigned long long wide[2][N > 3 ? 2 : 1];
              extern __shared__ __align__(16) unsigned char bytes[];
              extern __shared__ T rows[][4];
              p = out;
              value = s[0] + temp.a[0] + T(wide[0][0]) + T(bytes[0]) + rows[1][2];
              *p = value + *words + choose(counter + *pointer + table[0]) + T(level);
            }

            #define TIME(call) call
            void launches(int* p, ns::Table* t, int n) {
              void (*table[])(int*) = {k, k};
              k<<<1, 32>>>();
              ::k<<<1, 32>>>(p);
              (k<<<1, 32>>>(p));
              ns::k<<<dim3((1 << 4) >> 4), 32>>>(p);
              ns::t<int, (3 > 2 ? 5 : 6)><<<1, 32, 4 * sizeof(int), nullptr>>>(p);
              TIME(ns::k<<<1, 32>>>(p, 2));
              t->k<<<1, 32>>>(p);
              table[n]<<<1, 32>>>(p);
              (*table)<<<1, 32>>>(p);
              if (n) k<<<1, 32>>>(); else q<<<1, 32>>>(NULL);
              for (int i = 0; i < n; ++i) k<<<1, 32>>>(p);
              auto launch = [&] { return k<<<1, 32>>>(p); };
              launch();
              void (*local)() = k;
              local<<<1, 1>>>();
              if (n) (q)<<<1, 1>>>(nullptr);
              n ? k<<<1, 32>>>() : k<<<1, 32>>>(p);
              switch (n) { case 1:k<<<1, 32>>>(); break; default: ::k<<<1, 2>>>(); }
              shared<float, 2><<<1, 32>>>(nullptr);
            }
            ''')
        (self.build / "stand_in.hpp").write_text(
            STAND_IN + "#include <cstddef>\n#define __align__(n) alignas(n)\n"
            "inline int dim3(int n) { return n; }\n"
            "#define SIMT_KERNEL(name, parameters, function) using simt_function [[maybe_unused]] = function\n"
            "#define SIMT_CALL(...) __VA_ARGS__(simt_args...)\n")
        self.translate()
        for compiler in self.COMPILERS:
            with self.subTest(compiler):
                code, found, output = self.errors(compiler, "-Wno-unused-function")
                self.assertEqual((code, found), (0, []), output)

    def test_real_headers(self):
        self.write(main='''\
            #include <cuda_runtime.h>
            #include "a.cuh"
            void launch(float* p) {
              reduce<float, 128><<<dim3(2), 128, 16>>>(p);
              wrong_main_5();
            }
            ''', a='''\
            #pragma once
            __device__ float total;
            template <class T, int N> __global__ void reduce(T* out) {
              __shared__ T s[N];
              extern __shared__ T more[];
              s[threadIdx.x] = more[0];
              __syncthreads();
              if (threadIdx.x == 0) atomicAdd(out, s[1]), atomicAdd(&total, s[1]);
              wrong_a_9();
            }
            ''')
        self.COMPILERS = self.COMPILERS[:1]  # it takes a while
        self.assert_reported("-isystem", str(SIMT_HEADERS))


class HostAndDevice(RewriterTest):
    def test_what_device_code_has_not_is_refused(self):
        for statement, message in (("std::cout << 1;", "cout in device code"), ("static int n = 0;", "a static variable in device code")):
            self.assert_refused(f"__global__ void k() {{\n  {statement}\n}}\n", 2, message)
            rewrite(f"void host_code() {{\n  {statement}\n}}\n")
        self.assert_refused("__global__ void k(int n,\n                  float& x) {}\n", 2, "a reference as a kernel's parameter")
        for kernel in ("static const int kN[] = {1};", "static constexpr int n = 1;", "static __shared__ int s[2];"):
            rewrite(f"__global__ void k(int (&a)[2], void (*f)(int&)) {{\n  {kernel}\n}}\n".replace("int (&a)[2], ", ""))


if __name__ == "__main__":
    unittest.main()
