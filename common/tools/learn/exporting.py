"""./course export: an answer to a challenge as one file, for a site that has the same task.

The file holds the answer and what it includes of the course. What the course's headers need of its library
(errors, launches) is replaced by export_prelude.cuh. Comments are left out: they would be most of the file, and
GPU MODE refuses a file that has the word "stream" anywhere.

    popcorn   submission.py for GPU MODE's leader boards, https://github.com/gpu-mode/reference-kernels: `custom_kernel`
              takes and returns tensors; the CUDA source is compiled by torch.utils.cpp_extension.load_inline
    leetgpu   solution.cu for LeetGPU, https://github.com/AlphaGPU/leetgpu-challenges: `extern "C" void solve(...)`
"""

import re
from pathlib import Path


from tools.lib import checkout
from tools.lib.checkout import seen_from_the_shell
from tools.lib.cpp_text import TOKEN
from tools.lib.failed import Failed

PRELUDE = Path(__file__).with_name("export_prelude.cuh")
HEADERS = checkout.TOP / "common" / "include" / "course"
REPLACED = ("device", "error", "exercise", "launch")  # by the prelude
INLINED = ("buffer", "bulk", "cluster", "collectives", "grid", "host_memory", "look_back", "merge", "pack", "ptx")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(<[^>\n]+>|"[^"\n]+")[ \t]*\n', re.MULTILINE)
OUTPUT = {"popcorn": "submission.py", "leetgpu": "solution.cu"}

# ---- One file ------------------------------------------------------------------------------------------


def without_comments(text):
    """C++ without comments, and without the lines that they leave empty."""
    text = TOKEN.sub(lambda token: "" if token["comment"] else token.group(), text)
    return re.sub(r"\n(?:[ \t]*\n)+", "\n", re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE))


class OneFile:
    """An answer and all that it includes of the course, as one text."""

    def __init__(self, answer, chapter):
        self.chapter = chapter
        self.system = set(INCLUDE.findall(PRELUDE.read_text(encoding="utf-8")))
        self.seen = set()
        self.course = []  # the texts of its headers: they come first, as the answer may include them in a namespace
        body = self.inlined(answer)
        # The CPU device's compiler rewrites course::launch itself; here it is a plain function.
        body = re.sub(r"\bcourse::launch\b", "course::start", "\n".join([*self.course, body]))
        prelude = INCLUDE.sub("", PRELUDE.read_text(encoding="utf-8"))
        includes = "".join(f"#include {header}\n" for header in sorted(self.system))
        self.text = includes + without_comments(f"{prelude}\n{body}\n")

    def inlined(self, file):
        """A file's text, its own headers instead of their #include. Those of the course and <...> are collected."""
        self.seen.add(file)
        text = without_comments(file.read_text(encoding="utf-8"))
        text = re.sub(r"^(#pragma once|[ \t]*NOT_STARTED\b.*)\n", "", text, flags=re.MULTILINE)
        return INCLUDE.sub(lambda include: self.of_include(file, include), text)

    def of_include(self, file, include):
        """What takes the place of an #include."""
        header = include.group(1)
        name = header[1:-1]
        if header[0] == '"':
            found = next((path for path in (file.parent / name, self.chapter / name) if path.is_file()), None)
            if found is None:
                raise Failed(f"{seen_from_the_shell(file)} includes {header}, and there is no such file.")
        elif name.startswith("simt/"):
            return include.group()  # within #if COURSE_CPU_DEVICE
        elif not name.startswith("course/"):
            self.system.add(header)
            return ""
        else:
            stem = name.removeprefix("course/").removesuffix(".cuh")
            if stem in REPLACED:
                return ""
            if stem not in INLINED:
                raise Failed(
                    f"{seen_from_the_shell(file)} includes {header}, which is for checks and tables.\n"
                    f"An answer that is exported can include {', '.join(f'<course/{one}.cuh>' for one in (*INLINED, *REPLACED))}."
                )
            if (header_file := HEADERS / f"{stem}.cuh") not in self.seen:
                self.course.append(self.inlined(header_file))
            return ""
        found = found.resolve()
        return "" if found in self.seen else self.inlined(found)


# ---- The sites -----------------------------------------------------------------------------------------

PARAMETER = re.compile(r",\s*cudaStream_t stream = nullptr(?=\))")


def in_the_default_stream(text):
    """C++ without last parameters `cudaStream_t stream = nullptr`, and without what hands them on as a last argument: answers
    launch in the default stream, the prelude knows no other one, and GPU MODE refuses the word."""
    if not PARAMETER.search(text):
        return text
    return re.sub(r",\s*stream(?=\s*[)}])", "", PARAMETER.sub("", text))


def popcorn(leaderboard, signature, call, arguments, kernel):
    """A function that makes submission.py of a CUDA source.

    signature, call: the C++ function for load_inline, and what it does; kernel: the body of custom_kernel.
    """
    def make(source, name):
        cuda = f"#include <torch/extension.h>\n{source}\nvoid {name}_cuda({signature}) {{\n{call}\n}}\n"
        return f'''#!POPCORN leaderboard {leaderboard}
# {name} of cuda-atomics-course, as `./course export {name} --for popcorn` wrote it.
import torch
from torch.utils.cpp_extension import load_inline
from task import input_t, output_t

CUDA = r"""
{cuda}"""

module = load_inline(
    name="{name}",
    cpp_sources="#include <torch/extension.h>\\nvoid {name}_cuda({signature});",
    cuda_sources=CUDA,
    functions=["{name}_cuda"],
    extra_cflags=["-std=c++20"],
    # PyTorch switches the operators of halves off.
    extra_cuda_cflags=["-O3", "-std=c++20", "-U__CUDA_NO_HALF_OPERATORS__", "-U__CUDA_NO_HALF_CONVERSIONS__",
                       "-U__CUDA_NO_HALF2_OPERATORS__", "-U__CUDA_NO_BFLOAT16_CONVERSIONS__"],
)


def custom_kernel(data: input_t) -> output_t:
{kernel.format(call=f"module.{name}_cuda({arguments})")}
'''
    return make


def leetgpu(signature, call):
    """A function that makes solution.cu of a CUDA source."""
    def make(source, name):
        return (f"// {name} of cuda-atomics-course, as `./course export {name} --for leetgpu` wrote it. C++20.\n{source}\n"
                f'extern "C" void solve({signature}) {{\n{call}\n}}\n')
    return make


# The object is kept for the next call, and never destroyed: CUDA may end before a static object would.
KEPT = "  static {0}* const answer = new {0};"
SITES = {
    "beat_sum": {
        "popcorn": popcorn(
            "vectorsum_v2", "torch::Tensor x, torch::Tensor y",
            KEPT.format("BeatSum") + "\n  (*answer)(x.data_ptr<float>(), static_cast<std::size_t>(x.numel()), y.data_ptr<float>());",
            "x, y", "    x, y = data\n    {call}\n    return y[0]",
        ),
        "leetgpu": leetgpu(
            "const float* input, float* output, int N",
            KEPT.format("BeatSum") + "\n  (*answer)(input, static_cast<std::size_t>(N), output);\n"
            "  CUDA_CHECK(cudaDeviceSynchronize());",
        ),
    },
    "beat_histogram": {
        "popcorn": popcorn(
            "histogram_v2", "torch::Tensor bytes, torch::Tensor bins",
            KEPT.format("BeatHistogram") + "\n  (*answer)(bytes.data_ptr<unsigned char>(), static_cast<std::size_t>(bytes.numel()),\n"
            "            reinterpret_cast<unsigned*>(bins.data_ptr<int>()));",
            "bytes_in, bins",
            "    bytes_in, output = data\n    bins = torch.empty(256, dtype=torch.int32, device=bytes_in.device)\n    {call}\n"
            "    output.copy_(bins)  # the leader board's bins have 64 bits\n    return output",
        ),
    },
    "beat_scan": {
        "popcorn": popcorn(
            "prefixsum_v2", "torch::Tensor x, torch::Tensor out",
            KEPT.format("BeatScan")
            + "\n  (*answer)(x.data_ptr<float>(), static_cast<std::size_t>(x.numel()), out.data_ptr<float>());",
            "x, out", "    x, out = data\n    {call}\n    return out",
        ),
        "leetgpu": leetgpu(
            "const float* input, float* output, int N",
            KEPT.format("BeatScan") + "\n  (*answer)(input, static_cast<std::size_t>(N), output);\n"
            "  CUDA_CHECK(cudaDeviceSynchronize());",
        ),
    },
    "beat_softmax": {
        "leetgpu": leetgpu(  # one row
            "const float* input, float* output, int N",
            KEPT.format("BeatSoftmax") + "\n  (*answer)(input, 1, static_cast<std::size_t>(N), output);\n"
            "  CUDA_CHECK(cudaDeviceSynchronize());",
        ),
    },
}
TASKS = {"popcorn": "GPU MODE", "leetgpu": "LeetGPU"}
WHY_NOT = {("beat_histogram", "leetgpu"): "LeetGPU's histogram counts 32-bit numbers into any number of bins, not bytes into 256."}


def file_for(site, name, answer):
    """The text of an answer's file for a site. Raises Failed where there is no such task, or the answer does not fit."""
    makers = SITES.get(name, {})
    if site not in makers:
        fitting = [f"{one} --for {other}" for one, sites in SITES.items() for other in sites]
        reason = WHY_NOT.get((name, site), f"{TASKS[site]} has no such task.")
        raise Failed(f"{name} cannot be exported for {site}: {reason}\nWhat can be: {', '.join(fitting)}.")
    source = in_the_default_stream(OneFile(answer.resolve(), checkout.TOP / "chapters" / answer.parent.name).text)
    if site == "popcorn":
        for word, why in (("stream", "GPU MODE refuses it"), ('"""', "it would end the Python text")):
            lines = [line.strip() for line in source.splitlines() if word in line.lower()]
            if lines:
                raise Failed(f"The answer, or what it includes, has {word}, and {why}:\n  {lines[0]}")
    return makers[site](source, name)


def export(course, arguments):
    """an answer to a challenge as one file, for GPU MODE or LeetGPU"""
    exercise = course.find(arguments.name)
    course.require_file(exercise)
    text = file_for(arguments.site, exercise.name, exercise.file)
    output = Path(arguments.output or course.build / "export" / exercise.name / OUTPUT[arguments.site])
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Failed(f"{output} cannot be written: {error.strerror}.") from error
    print(f"wrote {seen_from_the_shell(output)}: {len(text.splitlines())} lines")
    if course.known_state(exercise) != "solved":
        print(f"It has not passed its check as it is now: {course.command('check', exercise.name)}")
    return 0
