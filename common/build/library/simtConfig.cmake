# The CPU device for projects built by CMake: the target simt::simt, and simt_add_cuda_sources(). What both promise is in
# common/simt/README.md of the course, "As a library". This file's folder may be moved as a whole.
include(CMakeFindDependencyMacro)
find_dependency(fmt)
find_dependency(Python3 3.11 COMPONENTS Interpreter)
find_library(simt_boost_context boost_context REQUIRED)

if(NOT TARGET simt::simt)
  add_library(simt::simt STATIC IMPORTED)
  set_target_properties(simt::simt PROPERTIES
    IMPORTED_LOCATION "${CMAKE_CURRENT_LIST_DIR}/libsimt.a"
    INTERFACE_INCLUDE_DIRECTORIES "${CMAKE_CURRENT_LIST_DIR}/common/simt/include"
    INTERFACE_COMPILE_FEATURES cxx_std_20
    INTERFACE_LINK_LIBRARIES "${simt_boost_context};fmt::fmt")
endif()

# simt_add_cuda_sources(TARGET FILE.cu...): compiles the files for the CPU device, and links them into the target.
# They see the target's include folders and definitions. In headers of the project's own, kernels and launches are
# rewritten, too; those of the build folder, of the device and of the system are other people's, and are C++.
function(simt_add_cuda_sources target)
  set(simt_folder "${CMAKE_CURRENT_FUNCTION_LIST_DIR}")
  foreach(folder IN ITEMS CMAKE_SOURCE_DIR CMAKE_BINARY_DIR simt_folder)
    string(REGEX REPLACE "[^A-Za-z0-9/_-]" "\\\\\\0" text "${${folder}}")
    set(in_${folder} "^${text}(/|$)")
  endforeach()
  set(folders "$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>")
  set(own "$<FILTER:$<FILTER:${folders},INCLUDE,${in_CMAKE_SOURCE_DIR}>,EXCLUDE,${in_CMAKE_BINARY_DIR}|${in_simt_folder}>")
  set(definitions "$<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>")
  foreach(file IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" OUTPUT_VARIABLE source)
    string(MAKE_C_IDENTIFIER "${target}_${file}" name)
    set(object "${CMAKE_CURRENT_BINARY_DIR}/${name}.o")
    add_custom_command(
      OUTPUT "${object}"
      DEPENDS "${source}"
      DEPFILE "${object}.d"
      COMMAND "${Python3_EXECUTABLE}" "${simt_folder}/common" build.simtcc --settings "${simt_folder}/simtcc.json"
              "${source}" -o "${object}" -MF "${object}.d" -std=c++20 "-isystem${simt_folder}/common/simt/include"
              "$<$<BOOL:${own}>:-I$<JOIN:${own},;-I>>"
              "$<$<BOOL:${folders}>:-idirafter$<JOIN:${folders},;-idirafter>>"
              "$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},;-D>>"
      COMMENT "Compiling ${file} for the CPU device"
      COMMAND_EXPAND_LISTS
      VERBATIM)
    target_sources(${target} PRIVATE "${object}")
  endforeach()
  set_property(TARGET ${target} PROPERTY LINKER_LANGUAGE CXX)
  target_link_libraries(${target} PRIVATE simt::simt)
endfunction()
