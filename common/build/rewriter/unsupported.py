"""What CUDA has and the CPU device has not: told at the line that uses it, and what to do instead."""

import re

from build.rewriter.functions import is_device_code
from build.rewriter.source import Unsupported, unsupported_text

LEAVE_OUT = "or leave it out with #ifndef SIMT_CPU_DEVICE"
THRUST = f"write a kernel or a loop of your own, compute it on the host with <algorithm> and <numeric>, {LEAVE_OUT}"
LIBRARY = f"replace it by a kernel or a loop of your own, {LEAVE_OUT}"
BLAS = f"use the functions of real numbers that cublas_v2.h has (gemm, gemv, ger, geam, axpy, dot and the like), {LIBRARY}"
RANDOM = f"make the numbers on the host with <random>, or by a hash of the thread's index in the kernel, {LEAVE_OUT}"
TEXTURE = "use a texture object over memory or an array (cudaCreateTextureObject), or read through a pointer"
SURFACE = "write to memory of cudaMallocPitch through a pointer"
DRAWING = "copy the result to the host and write it to a file"
TENSOR = "write the product as loops over shared memory, with float or __half arithmetic"
GRAPHICS = "graphics interop"

# The functions that cublas_v2.h and cublasXt.h of include/simt/host_libraries have, of those whose names say what they compute.
CUBLAS = (r"cublas(I[sd]am(ax|in)|[SD](asum|axpy|copy|dot|nrm2|scal|swap|gemv|ger|geam)|[SDH]gemm((Strided)?Batched)?|SgemmEx|"
          r"Gemm((Strided)?Batched)?Ex|Xt[SD]gemm)")
# Libraries whose headers a .cu file may include, as long as it uses nothing of them: what of them it may not name, below.
LIBRARIES = re.compile(r"(thrust|cub)/|(curand(?!(_kernel)?\.)|cufft|cusparse|cusolver|cudnn)\w*\.h$")
# The name of a header: what it is, and what to do.
HEADERS = [(re.compile(pattern), what) for pattern, what in (
    (r"thrust/", f"Thrust: {THRUST}"),
    (r"cub/", f"CUB: {THRUST}"),
    (r"(cutlass|cute)/", f"CUTLASS: {LIBRARY}"),
    (r"cublas\.h$", "the API of cuBLAS before CUDA 4: include cublas_v2.h, whose functions take a handle"),
    (r"(cublas(?!(_v2|Lt|Xt)\.)|nvblas)\w*\.h$", f"cuBLAS: {LIBRARY}"),
    (r"curand(?!(_kernel)?\.)\w*\.h$", f"cuRAND: {RANDOM}"),
    (r"cufft\w*\.h$", f"cuFFT: {LIBRARY}"),
    (r"cusparse\w*\.h$", f"cuSPARSE: {LIBRARY}"),
    (r"cusolver\w*\.h$", f"cuSOLVER: {LIBRARY}"),
    (r"cudnn\w*\.h$", f"cuDNN: {LIBRARY}"),
    (r"npp\w*\.h$", f"NPP: {LIBRARY}"),
    (r"nccl\w*\.h$", "NCCL: copy with cudaMemcpyPeer, or access the peer's memory from a kernel"),
    (r"nvshmem\w*\.h$", "NVSHMEM: access the peer's memory from a kernel"),
    (r"nvml\.h$", "NVML: ask cudaGetDeviceProperties"),
    (r"(nvrtc|nvJitLink|nvvm)\w*\.h$", "compilation at run time: put the kernel into the .cu file"),
    (r"cupti\w*\.h$", "CUPTI: use ./course run --count"),
    (r"nvjpeg\w*\.h$", f"nvJPEG: {LIBRARY}"),
    (r"(cudla|nvsci\w*|nvmedia_\w+)\.h$", f"libraries of NVIDIA's embedded systems: {LIBRARY}"),
    (r"mpi\.h$", "MPI, several processes: use one process, with cudaSetDevice for each device"),
    (r"mma\.h$", f"tensor cores: {TENSOR}"),
    (r"cuda_fp[468]\.h", "numbers of 4, 6 or 8 bits: use __half or __nv_bfloat16"),
    (r"((cuda)?GL|cuda_gl_interop|cuda_egl_interop|cuda_vdpau_interop|cuda_d3d\d+_interop|cudaEGL|cudaVDPAU)(/|\.h)",
     f"{GRAPHICS}: {DRAWING}"),
    (r"((GL|GLES\d?|GLFW|EGL|vulkan)/|helper_gl\.h$|rendercheck_\w+\.h$)", f"graphics: {DRAWING}"),
    (r"((cuda_)?surface\w*\.h)$", f"surfaces: {SURFACE}"),
    (r"cuda_device_runtime_api\.h$", "dynamic parallelism: return to the host, and launch from there"),
)]

# A word of the source: what it is, and what to do.
WORDS = [(re.compile(rf"(?:{pattern})\Z"), what) for pattern, what in (
    (r"tex[123]D(Layered|Lod|Grad|gather)\w*|texCubemap\w*|tex2Dgather|cudaResourceView\w*|cuda\w*Mipmapped\w*|cudaArray(Layered|Cubemap|"
     r"TextureGather|Sparse)|cuda(Bind|Unbind)Texture\w*|cudaArrayGetPlane", f"{{}}, textures of layers, levels or cubes, and texture references: {TEXTURE}"),
    (r"surf([123]D|Cubemap)\w*|cuda(Create|Destroy|Get)?Surface\w+|cudaBindSurface\w*|cudaArraySurfaceLoadStore",
     f"{{}}, surfaces: {SURFACE}"),
    (r"nvcuda|wmma", f"{{}}, tensor cores: {TENSOR}"),
    (r"cudaGraphics\w+|cudaGL\w+|cudaEGL\w+|cudaVDPAU\w+|cudaD3D\w+", f"{{}}, {GRAPHICS}: {DRAWING}"),
    (r"cudaIpc\w+", "{}, memory of another process: use one process"),
    (r"cudaImportExternal\w+|cudaExternal\w+", "{}, memory of another API: allocate it with cudaMalloc"),
    (r"cuModule\w+|cuLaunch\w+|cuLink\w+|cuLibrary\w+|cuCtx\w+|cuMem[A-Z]\w+",
     "{}, the driver API: use the runtime API (cudaMalloc, kernel<<<blocks, threads>>>(...))"),
    # Of cuBLAS what cublas_v2.h, cublasLt.h and cublasXt.h of include/simt/host_libraries do not have.
    (rf"(?!({CUBLAS})\Z)cublas(Xt)?(I?[sdczSDCZH][sd]?(amax|amin|asum|axpy|copy|dot|scal|swap|nrm2|rot|g[be]|h[bp]|he[mr]|s[bpwy]|t[bpr][msto]|"
     rf"mat|getr)\w*|\w+(Ex|Batched)(_64)?)", f"{{}} of cuBLAS: {BLAS}"),
    (r"cublasLt(MatrixTransform\w*|\w+(GetAttribute|Init|Check|GetIds)|Logger\w+)|CUBLASLT_\w+",
     f"{{}} of cuBLASLt: use cublasLtMatmul of matrices by columns, with no epilogue, or {BLAS}"),
    (r"CUBLAS_(COMPUTE_32I|FILL|SIDE|DIAG)\w*", f"{{}} of cuBLAS: {BLAS}"),
    (r"cudnn[A-Z]\w+", f"{{}} of cuDNN: {LIBRARY}"),
    (r"__nv_atomic_\w+", "{}: use cuda::atomic_ref of <cuda/atomic>, which has the same orders and scopes"),
    # Of cuRAND what curand_kernel.h and curand.h of include/simt/host_libraries do not have.
    (r"curand(?!_(init|uniform(4|_double|2_double)?|normal[24]?|normal2?_double)\Z)_\w+|"
     r"curand(State(?!(_t|XORWOW(_t)?|Philox4_32_10(_t)?)?\Z)|Make|Mtgp|Direction|Discrete)\w+",
     f"{{}} of cuRAND: use a state of XORWOW (curandState) or Philox, with curand_uniform or curand_normal, or {RANDOM}"),
    (r"curand(CreatePoisson|DestroyDistribution|Get(Direction|Scramble)|SetQuasi|GenerateBinomial|GenerateLongLong|GeneratePoissonMethod)\w*|"
     r"CURAND_(RNG|ORDERING|DIRECTION|SCRAMBLED)_\w+",
     f"{{}} of cuRAND: use a generator of XORWOW (CURAND_RNG_PSEUDO_DEFAULT) or Philox (CURAND_RNG_PSEUDO_PHILOX4_32_10), or {RANDOM}"),
    (r"cufft[A-Z]\w+", f"{{}} of cuFFT: {LIBRARY}"),
    (r"cusparse[A-Z]\w+", f"{{}} of cuSPARSE: {LIBRARY}"),
    (r"cusolver[A-Z]\w+", f"{{}} of cuSOLVER: {LIBRARY}"),
)]
# Namespaces: what they are, and what to do.
NAMESPACES = {"thrust": f"{{}} of Thrust: {THRUST}", "cub": f"{{}} of CUB: {THRUST}"}
# What device code has not, with nvcc either, but for a static variable; a program of ./course run may be compiled by nvcc with
# --expt-relaxed-constexpr, which takes functions of numeric_limits.
ONLY_IN_HOST_CODE = {"cout", "cerr", "static", "numeric_limits"}
# What the runtime API has for kernels, where the next kernel of a stream may begin early.
ONLY_IN_DEVICE_CODE = {"cudaGridDependencySynchronize", "cudaTriggerProgrammaticLaunchCompletion"}
MAY_BE = re.compile(r"tex|surf|cu|thrust|nvcuda|wmma|__nv_atomic_")


def unsupported_header(name):
    """What to say of an #include, or None."""
    for pattern, what in HEADERS:
        if pattern.match(name):
            return unsupported_text(f"{name}, {what}")
    return None


def is_left_out(header):
    """True for a header that there is not, and that a file may include."""
    return LIBRARIES.match(header) is not None


def is_of_library(header):
    """True for a header of a library: a file that includes it may have what `check` refuses."""
    return is_left_out(header) or header.startswith(("cublas", "curand"))


def unsupported_word(text):
    """What to say of a word that needs what the CPU device has not, or None."""
    if text in NAMESPACES:
        return NAMESPACES[text].format(f"namespace {text}")
    return next((what.format(text) for pattern, what in WORDS if pattern.match(text)), None)


def check(file):
    """Pass. Needs file.functions. Raises Unsupported with all that there is of these: who replaces one has to know of the others."""
    problems = {}  # without its place: the first one
    for i in file.find([word for word in file.places if MAY_BE.match(word) or word in ONLY_IN_HOST_CODE]):
        try:
            if file.text(i) in ONLY_IN_HOST_CODE:
                check_device_word(file, i)
            elif file.is_word(i):
                check_word(file, i)
        except Unsupported as problem:
            problems.setdefault(str(problem).partition(": error: ")[2], problem)
    if problems:
        raise Unsupported("\n".join(map(str, problems.values())), next(iter(problems.values())).position)


def check_word(file, i):
    """Refuses the word i if it needs what the CPU device has not."""
    text = file.text(i)
    if text == "texture" and file.text(i + 1) == "<":
        file.unsupported(i, "texture references (CUDA 12 removed them, too): " + TEXTURE)
    elif text in NAMESPACES:
        if is_namespace(file, i):
            member = file.text(i + 2) if file.text(i + 1) == "::" else ""
            file.unsupported(i, NAMESPACES[text].format(f"{text}::{member}" if member else f"namespace {text}"))
        return
    elif text in ("texture", "surface") or text in ONLY_IN_DEVICE_CODE or is_own_name(file, i):
        return
    if what := unsupported_word(text):
        file.unsupported(i, what)
    elif re.match(r"cuda[A-Z]", text) and file.text(i + 1) == "(" and is_device_code(file, i):
        file.unsupported(i, f"{text}() in a kernel, dynamic parallelism: call it on the host")


def check_device_word(file, i):
    """Refuses the word i in device code."""
    text = file.text(i)
    if not is_device_code(file, i) or file.text(i - 1) in (".", "->"):
        return
    if text == "numeric_limits":
        return check_limits(file, i)
    if text != "static":
        file.unsupported(i, f"{text} in device code: print with printf")
    declaration = {token.text for token in file.tokens[i - 2:i + 4]}
    if text == "static" and not declaration & {"const", "constexpr", "__shared__", "__device__", "__constant__", "inline"}:
        file.unsupported(i, "a static variable in device code: make it a __device__ variable outside of the function")


def check_limits(file, i):
    """Refuses std::numeric_limits<T>::max() in an exercise's device code, as nvcc does; cuda::std has it."""
    before = [file.text(k) for k in range(i - 4, i)]
    if not file.unit.is_exercise or before[2:] != ["std", "::"] or before[:2] == ["cuda", "::"] or file.text(i + 1) != "<":
        return
    after = file.after_angle(i + 1)
    if file.text(after) == "::" and file.text(after + 2) == "(":
        name = f"numeric_limits<...>::{file.text(after + 1)}()"
        file.refuse(i, f"std::{name} is a constexpr function of the host, and is called in device code: "
                       f"cuda::std::{name} is for both, or compute it outside of the kernel")


def is_namespace(file, i):
    """True where the word i is a namespace that is used: not one that the program defines, and no variable."""
    is_member = file.text(i - 1) in (".", "->") or file.text(i - 1) == "::" and file.is_operand(i - 2)
    return file.text(i + 1) == "::" and not is_member or (file.text(i - 2), file.text(i - 1)) == ("using", "namespace")


def is_own_name(file, i):
    """True for a member, a variable or function of the program's own: a.tex2D, int tex2D, ns::tex2D."""
    before = file.text(i - 1)
    return before in (".", "->", "::") and file.text(i - 2) not in ("", "nvcuda") or (
        file.text(i).startswith(("tex", "surf")) and file.is_operand(i - 1) and file.text(i + 1) in ("=", ";", ",", ")"))
