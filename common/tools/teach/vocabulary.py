"""The names that an exercise file may use without declaring them: what a kernel and its launcher have use for.

Whatever is not in here, and not declared by the file itself, is refused until a person has read it: reading.py.
"""

import re

KEYWORDS = frozenset("""
alignas alignof auto bool break case catch char char16_t char32_t char8_t class concept const consteval constexpr
const_cast continue decltype default delete do double dynamic_cast else enum explicit false final float for if inline
int long mutable namespace noexcept nullptr operator override private protected public register reinterpret_cast
requires return short signed sizeof static static_assert static_cast struct switch template this thread_local throw
true try typedef typename union unsigned using virtual void volatile wchar_t while
""".split())  # without asm, export, extern, friend, goto, typeid; extern __shared__ is read apart

# Types, which may open a declaration.
TYPES = frozenset("""
auto bool char char16_t char32_t char8_t double float int long short signed unsigned void wchar_t
size_t ptrdiff_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t intptr_t uintptr_t
int_fast32_t uint_fast32_t int_least32_t uint_least32_t
dim3 uint ushort uchar ulong __half __half2 half half2 __nv_bfloat16 __nv_bfloat162 nv_bfloat16 nv_bfloat162
__half_raw __half2_raw cudaError_t cudaStream_t cudaEvent_t cudaDeviceProp cudaMemcpyKind
""".split()) | frozenset(
    f"{base}{width}" for width in (1, 2, 3, 4)
    for base in ("char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "longlong", "ulonglong", "float", "double")
)

# As whole names, unqualified or after "::": CUDA's, the C library's mathematics, limits.
PLAIN = re.compile(r"""
    threadIdx | blockIdx | blockDim | gridDim | warpSize
  | __(host|device|global|shared|constant|managed|restrict|restrict__|forceinline|noinline|launch_bounds|grid_constant)__
  | __restrict | __align__ | __syncthreads(_count|_and|_or)? | __syncwarp | __pipeline_(memcpy_async|commit|wait_prior) | __threadfence(_block|_system)? | __activemask
  | __(shfl(_up|_down|_xor)?|all|any|ballot|match_any|match_all|reduce_(add|min|max|and|or|xor))_sync
  | atomic(Add|Sub|Exch|Min|Max|Inc|Dec|CAS|And|Or|Xor)(_block|_system)?
  | __(popc|clz|ffs|brev|fns|byte_perm|funnelshift_[lr]c?|u?sad|u?mulhi|u?mul24|u?hadd|u?rhadd)(ll)?
  | __(float|double|int|uint|ll|ull|half|short|ushort|bfloat16|longlong|hiloint)\w*(2|_as_)\w+
  | __low\w*2\w+ | __high\w*2\w+ | __lows\w+ | __highs\w+ | __halves2\w+ | __lowhigh\w+ | __bfloat16\w+ | __bfloat162\w+
  | __(h|f|d|vabs|vadd|vsub|vmin|vmax|vset|vcmp)\w*   # __hadd2, __fadd_rn, __fmaf_rn, __dadd_rn
  | h(exp|log|sqrt|rsqrt|rcp|sin|cos|floor|ceil|rint|trunc)\w* | h2\w+
  | __ld(g|ca|cg|cs|lu|cv) | __st(wb|cg|cs|wt) | __(exp|log|pow|sin|cos|tan|sincos|saturate)\w*f
  | make_\w+ | clock(64)? | __nanosleep | __trap | __brkpt | __prof_trigger | assert | printf
  | __is(Global|Shared|Constant|Local) | mem(cpy|set|move|cmp)
  | __CUDA_ARCH__ | __CUDACC__ | __FUNCTION__ | __func__ | __VA_ARGS__ | defined | __cplusplus
  | cudaSuccess | cudaError[A-Z]\w* | cuda(Malloc|Free|Memcpy|Memset|Stream|Event|Get|Set|Device|Peek|Host|Func|Occupancy)\w*
  | cudaMemoryType\w* | cudaFuncAttribute\w* | cudaEnable\w* | cudaLaunchKernel | cudaLaunchCooperativeKernel | cudaLimit\w* | cudaDevAttr\w*
  | CUDA_CHECK(_LAUNCH)? | COURSE_CPU_DEVICE
  | (CHAR|SCHAR|UCHAR|SHRT|USHRT|INT|UINT|LONG|ULONG|LLONG|ULLONG)_(MIN|MAX|BIT) | U?INT(8|16|32|64)_(MIN|MAX|C) | SIZE_MAX
  | (FLT|DBL)_(MIN|MAX|EPSILON|TRUE_MIN|DIG|MANT_DIG) | INFINITY | NAN | HUGE_VALF? | M_PI | M_E | M_SQRT2 | NULL
  | (abs|labs|llabs|fabs|floor|ceil|round|trunc|rint|nearbyint|sqrt|rsqrt|cbrt|exp|exp2|exp10|expm1|log|log2|log10|log1p|pow
    |sin|cos|tan|asin|acos|atan|atan2|sinh|cosh|tanh|sincos|sinpi|cospi|hypot|rhypot|norm3d|fma|fmod|remainder|fmin|fmax|fdim
    |erf|erfc|ldexp|frexp|modf|copysign|nextafter|l?lround|l?lrint|scalbn|ilogb|logb|signbit|isnan|isinf|isfinite|rcbrt)(f|l)?
  | (u|ll|ull|umin|umax|ullmin|ullmax|llmin|llmax|min|max|div|swap|move)
  | unlikely | likely | maybe_unused | nodiscard | fallthrough | noreturn
""", re.VERBOSE)

# After "std::"; the types among them may open a declaration.
STD_TYPES = frozenset("""
size_t ptrdiff_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t intptr_t uintptr_t byte nullptr_t
vector array pair tuple span string string_view optional complex bitset initializer_list less greater plus multiplies
numeric_limits integral_constant true_type false_type bool_constant common_type_t conditional conditional_t enable_if_t
make_unsigned_t make_signed_t remove_cv_t remove_reference_t remove_cvref_t decay_t underlying_type_t
is_same is_same_v is_integral_v is_floating_point_v is_unsigned_v is_signed_v is_trivially_copyable_v integral
floating_point index_sequence make_index_sequence unique_ptr
""".split())
STD = STD_TYPES | frozenset("""
min max clamp minmax abs fabs sqrt floor ceil round trunc lround fma pow exp exp2 log log2 sin cos isnan isinf isfinite signbit
nextafter copysign hypot fmin fmax fmod ldexp frexp swap move forward exchange get tie make_pair make_tuple apply
accumulate reduce inclusive_scan exclusive_scan partial_sum iota transform for_each fill fill_n copy copy_n copy_if back_inserter sort
stable_sort nth_element partition lower_bound upper_bound binary_search equal_range find find_if count count_if all_of any_of
none_of min_element max_element minmax_element reverse rotate unique remove remove_if equal inner_product adjacent_difference
begin end size data distance advance next prev swap declval is_constant_evaluated bit_cast popcount countl_zero countr_zero
bit_ceil bit_floor bit_width has_single_bit to_string make_unique nullopt memcmp chrono micro milli nano ratio ref cref
memory_order memory_order_relaxed memory_order_acquire memory_order_release memory_order_acq_rel memory_order_seq_cst
invalid_argument runtime_error memcpy memset length_error domain_error out_of_range is_sorted ignore numbers midpoint div ssize as_const
""".split())
# After "course::": what exercises and lessons call. Nothing of the checks.
COURSE_TYPES = frozenset("""
DeviceBuffer PinnedBuffer OnDevice Sum Max Min Pack Grid CacheHint CudaError Mbarrier TileState TileStates Told LookBackMemory
MaxSum MergeMaxSum Moments MergeMoments
""".split())
COURSE = COURSE_TYPES | frozenset("""
block_exclusive_scan block_reduce blocks_for filling_blocks filling_blocks_for resident_blocks head_before_packs kAllLanes kWarpSize kMaxWarps
kWidestPack kWidestAccess kCpuDevice device_count warp_reduce warp_inclusive_scan lane_id lanemask_lt lanemask_eq
launch load_pack load_pack_once load_16_bytes store_pack store_pack_once red_add red_add_v4 red_max red_min red_min_v4 update_pair atomic_inc_acq_rel
this_cluster in_shared mbarrier_init mbarrier_arrive mbarrier_arrive_expect mbarrier_wait bulk_load bulk_add bulk_commit bulk_wait_read
fence_before_bulk kMostBlocksOfCluster has_clusters lanemask_gt shuffle shuffle_up warp_scan_any look_back look_back_in_groups
max_sum_of moments_of rescale exp_offset fast_exp warp_merge block_merge
""".split())
NAMESPACES = {"std": STD, "course": COURSE, "cooperative_groups": None, "cuda": None}  # None: all of it
QUALIFIED_TYPES = {"std": STD_TYPES, "course": COURSE_TYPES, "cuda": frozenset(("atomic", "atomic_ref", "barrier"))}

HEADERS = frozenset("""
algorithm array bit bitset cassert cfloat chrono climits cmath complex concepts cstddef cstdint cstring functional
initializer_list iterator limits memory numeric optional span stdexcept string string_view tuple type_traits utility vector
math.h stdint.h stddef.h float.h limits.h assert.h
cuda_runtime.h cuda_fp16.h cuda_bf16.h cooperative_groups.h cooperative_groups/reduce.h cooperative_groups/scan.h cuda/atomic cuda_pipeline.h
device_launch_parameters.h vector_types.h
course/exercise.cuh course/error.cuh course/buffer.cuh course/bulk.cuh course/cluster.cuh course/collectives.cuh
course/devices.cuh course/grid.cuh course/host_memory.cuh course/launch.cuh course/look_back.cuh course/merge.cuh course/pack.cuh
course/ptx.cuh
""".split())
