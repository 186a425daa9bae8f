"""What an exercise file may use that it does not declare itself: reading.py asks for each name that clang has resolved.

A name of the C++ library is here by the name that is directly in std, whatever header of the library has it: the headers
differ between versions. Members of these types are free. What reaches files, processes, threads, the environment, signals or
the end of the program is not here.
"""

import re

# CUDA's, the C library's and the compiler's: as they are in the global namespace.
PLAIN = re.compile(r"""
    threadIdx | blockIdx | blockDim | gridDim | warpSize
  | __(host|device|global|shared|constant|managed|restrict|forceinline|noinline|launch_bounds|grid_constant|cluster_dims|maxnreg)__
  | __restrict | __align__ | __syncthreads(_count|_and|_or)? | __syncwarp | __pipeline_(memcpy_async|commit|wait_prior)
  | __threadfence(_block|_system)? | __activemask
  | __(shfl(_up|_down|_xor)?|all|any|ballot|match_any|match_all|reduce_(add|min|max|and|or|xor))_sync
  | atomic(Add|Sub|Exch|Min|Max|Inc|Dec|CAS|And|Or|Xor)(_block|_system)? | __nv_atomic_\w+
  | __(popc|clz|ffs|brev|fns|byte_perm|funnelshift_[lr]c?|u?sad|u?mulhi|u?mul24|u?hadd|u?rhadd)(ll)? | __u?mul64hi
  | __(float|double|int|uint|ll|ull|half|short|ushort|bfloat16|longlong|hiloint)\w*(2|_as_)\w+
  | __low\w*2\w+ | __high\w*2\w+ | __lows\w+ | __highs\w+ | __halves2\w+ | __lowhigh\w+ | __bfloat16\w+ | __bfloat162\w+
  | __(half|half2|nv_bfloat16|nv_bfloat162|half_raw|half2_raw|nv_bfloat16_raw|nv_bfloat162_raw)
  | __(h|f|d|vabs|vadd|vsub|vmin|vmax|vset|vcmp|vavg|vneg)\w*   # __hadd2, __fadd_rn, __fmaf_rn, __dadd_rn
  | __dp[24]a(_lo|_hi)? | __(u|i|vi)(min|max)\w*
  | h(exp|log|sqrt|rsqrt|rcp|sin|cos|floor|ceil|rint|trunc)\w* | h2\w+
  | __ld(g|ca|cg|cs|lu|cv) | __st(wb|cg|cs|wt) | __(exp|log|pow|sin|cos|tan|sincos|saturate)\w*f
  | __(exp10|exp2|logb|tanh)f | make_\w+ | clock(64)? | globaltimer | __nanosleep | __trap | __brkpt | __prof_trigger
  | __is(Global|Shared|Constant|Local) | __cvta_\w+ | __cudaPushCallConfiguration
  | assert | __assert_fail | printf | puts | putchar | mem(cpy|set|move|cmp) | malloc | free | str(len|cmp|ncmp)
  | FLT_\w+ | DBL_\w+ | CUDART_\w+
  | cudaSuccess | cudaError\w* | cudaMemoryType\w* | cudaFuncAttribute\w* | cudaLimit\w* | cudaDevAttr\w* | cudaMemcpyKind
  | cudaMemcpy(HostToHost|HostToDevice|DeviceToHost|DeviceToDevice|Default)
  | cuda(Stream|Event|HostAlloc|MemAttach|OccupancyDefault|OccupancyDisable|Device)(Default|NonBlocking|DisableTiming|BlockingSync|Portable|Mapped
      |WriteCombined|Legacy|PerThread|Global|Host|ScheduleAuto|ScheduleSpin|ScheduleYield|CachingOverride)\w*
  | cudaMalloc(Host|Async|Managed|Pitch)? | cudaFree(Host|Async)? | cudaHostAlloc
  | cudaMemcpy(Async|Peer|PeerAsync|2D|2DAsync|ToSymbol|FromSymbol|ToSymbolAsync|FromSymbolAsync)?
  | cudaMemset(Async|2D|2DAsync)? | cudaMemGetInfo | cudaMemPrefetchAsync | cudaMemAdvise\w*
  | cudaStream(Create|CreateWithFlags|CreateWithPriority|Destroy|Synchronize|Query|WaitEvent|_t|PerThread|Legacy)
  | cudaEvent(Create|CreateWithFlags|Destroy|Record|Synchronize|Query|ElapsedTime|_t)
  | cudaGet(LastError|ErrorString|ErrorName|Device|DeviceCount|DeviceProperties|SymbolAddress|SymbolSize)
  | cudaPeekAtLastError | cudaSetDevice | cudaDevice(Synchronize|Reset|GetAttribute|GetLimit|SetLimit|CanAccessPeer|EnablePeerAccess|Prop)
  | cudaFunc(GetAttributes|SetAttribute|SetCacheConfig|Attributes|Cache\w*) | cudaOccupancy\w* | cudaLaunch(Kernel|CooperativeKernel|KernelEx|Config_t|Attribute\w*)
  | cudaPointerGetAttributes | cudaPointerAttributes | cudaDriverGetVersion | cudaRuntimeGetVersion
  | (abs|labs|llabs|fabs|floor|ceil|round|trunc|rint|nearbyint|sqrt|rsqrt|cbrt|exp|exp2|exp10|expm1|log|log2|log10|log1p|pow
    |sin|cos|tan|asin|acos|atan|atan2|sinh|cosh|tanh|asinh|acosh|atanh|sincos|sincospi|sinpi|cospi|hypot|rhypot|norm3d|norm4d|rnorm3d|rnorm4d
    |fma|fmod|remainder|remquo|fmin|fmax|fdim|erf|erfc|erfinv|normcdf|tgamma|lgamma|ldexp|frexp|modf|copysign|nextafter
    |l?lround|l?lrint|scalbn|ilogb|logb|signbit|isnan|isinf|isfinite|isnormal|rcbrt|fdividef|nan)f?
  | __(isnan|isinf|isfinite|finite|signbit)[fl]?
  | (u|ll|ull|umin|umax|ullmin|ullmax|llmin|llmax|min|max|div|ldiv|lldiv)
  | index | rindex  # what <string.h> has under ordinary names; both only read
""", re.VERBOSE)

# The compiler's own functions: those without any effect but their value.
BUILTIN = re.compile(r"__builtin_(popcount|clz|ctz|ffs|parity|clrsb|bswap16|bswap32|bswap64|expect|rotate\w+|add_overflow|sub_overflow|mul_overflow"
                     r"|bit_cast|inf|inff|nan|nanf|nansf|nans|huge_val|huge_valf|isnan|isinf\w*|isfinite|signbit\w*|fabsf?|sqrtf?|fmaf?|fmin\w?|fmax\w?"
                     r"|is_constant_evaluated|constant_p|abs|labs|llabs|isgreater|isless|isunordered|fpclassify|isnormal|COLUMN|LINE|FUNCTION)(l|ll|f)?"
                     r"|__is_constructible|__is_trivially_copyable|__is_same")

# Macros of headers. Any other macro has to be the file's own.
MACROS = re.compile(r"""
    __(host|device|global|shared|constant|managed|restrict|forceinline|noinline|launch_bounds|grid_constant|cluster_dims|align|maxnreg)__
  | CUDA_CHECK(_LAUNCH)? | COURSE_CPU_DEVICE | NULL | assert | __syncthreads | CUDART_\w+ | FLT_\w+ | DBL_\w+
  | (CHAR|SCHAR|UCHAR|SHRT|USHRT|INT|UINT|LONG|ULONG|LLONG|ULLONG)_(MIN|MAX|BIT) | U?INT(_FAST|_LEAST)?(8|16|32|64)_(MIN|MAX|C)
  | U?INT(MAX|PTR)_(MIN|MAX|C) | SIZE_MAX | PTRDIFF_(MIN|MAX) | INFINITY | NAN | HUGE_VALF? | M_\w+ | EXIT_(SUCCESS|FAILURE) | offsetof
  | isnan | isinf | isfinite | signbit | true | false | bool | __cplusplus | __CUDACC__ | __NVCC__ | __CUDACC_VER_MAJOR__ | __func__ | lerp | CUDART_VERSION
  | cudaStreamPerThread | cudaStreamLegacy | cudaEventDefault | cudaStreamDefault | cudaStreamNonBlocking | cuda\w*(Default|Portable|Mapped)
""", re.VERBOSE)

# What a condition of the preprocessor may ask for, beside the file's own macros.
CONDITIONS = frozenset("defined __CUDA_ARCH__ __CUDACC__ __NVCC__ __cplusplus COURSE_CPU_DEVICE true false CUDART_VERSION NDEBUG".split())

STD = frozenset("""
size_t ptrdiff_t max_align_t byte nullptr_t to_integer intptr_t uintptr_t intmax_t uintmax_t
int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t int_fast8_t int_fast16_t int_fast32_t int_fast64_t
uint_fast8_t uint_fast16_t uint_fast32_t uint_fast64_t int_least8_t int_least16_t int_least32_t int_least64_t
uint_least8_t uint_least16_t uint_least32_t uint_least64_t
vector array pair tuple tuple_size tuple_size_v tuple_element tuple_element_t span dynamic_extent string basic_string string_view basic_string_view char_traits allocator
allocator_traits optional variant monostate visit holds_alternative get get_if in_place in_place_t complex bitset initializer_list map multimap set multiset unordered_map
unordered_set deque list forward_list queue priority_queue stack hash equal_to not_equal_to less less_equal greater greater_equal plus minus
multiplies divides modulus negate bit_and bit_or bit_xor bit_not logical_and logical_or logical_not identity function invoke bind_front reference_wrapper ref cref
numeric_limits float_round_style unique_ptr shared_ptr default_delete make_unique make_shared make_unique_for_overwrite addressof to_address nullopt nullopt_t make_optional
min max clamp minmax abs fabs sqrt cbrt floor ceil round trunc rint nearbyint lround llround lrint fma pow exp exp2 expm1 log log2 log10 log1p sin cos tan
asin acos atan atan2 sinh cosh tanh asinh acosh atanh isnan isinf isfinite isnormal signbit nextafter copysign hypot fmin fmax fmod remainder fdim ldexp frexp modf erf erfc
tgamma lgamma lerp midpoint gcd lcm div swap move forward exchange tie make_pair make_tuple forward_as_tuple tuple_cat apply ignore piecewise_construct
accumulate reduce transform_reduce inclusive_scan exclusive_scan transform_inclusive_scan transform_exclusive_scan partial_sum iota transform for_each for_each_n fill fill_n generate generate_n
copy copy_n copy_if copy_backward move_backward back_inserter back_insert_iterator inserter front_inserter sort stable_sort partial_sort nth_element partition stable_partition
is_partitioned partition_point lower_bound upper_bound binary_search equal_range find find_if find_if_not count count_if mismatch search adjacent_find
all_of any_of none_of min_element max_element minmax_element reverse reverse_copy rotate rotate_copy unique unique_copy remove remove_if remove_copy remove_copy_if replace replace_if equal
lexicographical_compare inner_product adjacent_difference merge inplace_merge set_union set_intersection set_difference is_sorted is_sorted_until is_heap make_heap push_heap pop_heap
sort_heap swap_ranges iter_swap shuffle next_permutation prev_permutation is_permutation sample shift_left shift_right includes
begin end cbegin cend rbegin rend size ssize empty data distance advance next prev as_const as_bytes declval is_constant_evaluated
reverse_iterator make_reverse_iterator iterator_traits random_access_iterator_tag forward_iterator_tag input_iterator_tag output_iterator_tag bidirectional_iterator_tag
bit_cast popcount countl_zero countl_one countr_zero countr_one bit_ceil bit_floor bit_width has_single_bit rotl rotr endian
to_string stoi stol stoul stoll stoull stof stod isalpha isdigit tolower toupper memcmp memcpy memset memmove strlen strcmp ratio milli micro nano kilo mega giga chrono
mt19937 mt19937_64 mersenne_twister_engine minstd_rand linear_congruential_engine uniform_int_distribution uniform_real_distribution normal_distribution bernoulli_distribution discrete_distribution default_random_engine seed_seq
memory_order memory_order_relaxed memory_order_consume memory_order_acquire memory_order_release memory_order_acq_rel memory_order_seq_cst
exception logic_error invalid_argument domain_error length_error out_of_range runtime_error range_error overflow_error underflow_error bad_alloc
numbers literals ranges views ostream basic_ostream cout cerr endl setw setprecision setfill fixed scientific hex dec left right ostringstream basic_ostringstream stringstream basic_stringstream ios_base basic_ios flush boolalpha
integral_constant bool_constant true_type false_type conditional conditional_t enable_if enable_if_t void_t type_identity type_identity_t common_type common_type_t
decay decay_t remove_cv remove_cv_t remove_const remove_const_t remove_volatile_t remove_reference remove_reference_t remove_cvref remove_cvref_t remove_pointer remove_pointer_t add_const_t add_pointer_t add_lvalue_reference_t
remove_extent_t remove_all_extents_t extent extent_v rank_v make_unsigned make_unsigned_t make_signed make_signed_t underlying_type underlying_type_t aligned_storage_t
invoke_result invoke_result_t is_same is_same_v is_void is_void_v is_integral is_integral_v is_floating_point is_floating_point_v is_arithmetic is_arithmetic_v is_unsigned is_unsigned_v is_signed
is_signed_v is_pointer is_pointer_v is_array is_array_v is_reference_v is_const_v is_enum_v is_class_v is_union_v is_empty_v is_base_of is_base_of_v is_convertible is_convertible_v is_constructible_v
is_trivially_copyable is_trivially_copyable_v is_trivial_v is_trivially_destructible_v is_standard_layout_v is_default_constructible_v is_copy_constructible_v is_move_constructible_v
is_nothrow_move_constructible_v is_invocable is_invocable_v is_invocable_r_v is_aggregate_v is_function_v is_fundamental_v is_scalar_v is_null_pointer_v is_member_pointer_v is_lvalue_reference_v is_rvalue_reference_v alignment_of_v
has_unique_object_representations_v negation negation_v conjunction conjunction_v disjunction disjunction_v is_scoped_enum
index_sequence make_index_sequence index_sequence_for integer_sequence make_integer_sequence
same_as derived_from convertible_to common_with integral signed_integral unsigned_integral floating_point assignable_from swappable destructible constructible_from default_initializable move_constructible
copy_constructible equality_comparable totally_ordered movable copyable semiregular regular invocable regular_invocable predicate relation strict_weak_order
strong_ordering weak_ordering partial_ordering compare_three_way three_way_comparable input_iterator forward_iterator random_access_iterator contiguous_iterator
""".split())

# Functions of the C++ library whose use is as a value: std::cout << std::endl.
MANIPULATORS = frozenset("endl flush hex dec left right fixed scientific boolalpha".split())

# Namespaces that are free as a whole (simt's own names have to be CUDA's), and those whose names are listed.
FREE_NAMESPACES = frozenset("course cooperative_groups cuda nvcuda".split())
# Names of the course's headers that are not for answers; and those of a header for checks that are.
NOT_FOR_ANSWERS = frozenset(["exercise_not_started", "course_not_started"])
FOR_ANSWERS = frozenset(["has_clusters"])

HEADERS = frozenset("""
algorithm array bit bitset cassert cfloat chrono climits cmath compare complex concepts cstddef cstdint cstdio cstdlib cstring deque exception functional
initializer_list iomanip iostream iterator limits list map memory new numbers numeric optional queue random ranges ratio set span sstream stack stdexcept string string_view tuple type_traits
unordered_map unordered_set utility variant vector
math.h stdint.h stddef.h float.h limits.h assert.h stdio.h stdlib.h string.h
cuda_runtime.h cuda_runtime_api.h cuda_fp16.h cuda_bf16.h cuComplex.h cooperative_groups.h cooperative_groups/reduce.h cooperative_groups/scan.h cooperative_groups/memcpy_async.h
cuda/atomic cuda/barrier cuda/pipeline cuda/cmath cuda/functional cuda/latch cuda/semaphore cuda_pipeline.h cuda_pipeline_primitives.h
device_launch_parameters.h vector_types.h vector_functions.h math_constants.h
cuda/std/array cuda/std/atomic cuda/std/bit cuda/std/cstddef cuda/std/cstdint cuda/std/limits cuda/std/type_traits cuda/std/utility cuda/std/cmath cuda/std/tuple cuda/std/climits cuda/std/span
cuda/std/optional cuda/std/complex cuda/std/functional cuda/std/numbers cuda/std/concepts cuda/std/initializer_list cuda/std/cassert cuda/std/cfloat cuda/std/barrier
""".split())
COURSE_HEADERS = frozenset("""
exercise error buffer bulk cluster collectives devices grid host_memory launch look_back merge pack ptx
""".split())

KEYWORDS_REFUSED = re.compile(r"asm|__asm(__)?|__attribute(__)?|__declspec|typeid|co_(await|yield|return)|import|module|export|_Pragma|__pragma|__thread|__label__"
                              r"|__builtin_va_arg|__extension__|__has_\w+|__sync_\w+|__is_identifier|_Generic|__COUNTER__|__unsafe_\w+|__import__|__module__")
NAMES_REFUSED = frozenset("""
gnu __gnu__ clang _Clang __clang__ noreturn assume simt Catch simt_testing fmt nlohmann __COUNTER__ __DATE__ __TIME__ __TIMESTAMP__ __BASE_FILE__ __INCLUDE_LEVEL__ 
__file__ va_start va_arg va_list va_copy va_end main __func_addr
""".split())
