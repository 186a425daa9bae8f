// Is built instead of the program sum_mpi where MPI was not found.
#include <cstdio>

int main() {
  std::fputs(
      "sum_mpi: this build has no MPI: install it (packages libopenmpi-dev and openmpi-bin), then "
      "`meson setup --reconfigure build` in the folder of the course, and build again\n",
      stderr);
  return 77;
}
