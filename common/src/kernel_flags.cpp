// Never compiled. How Meson would compile it is how common/build/simtcc.py compiles kernels, but for what only kernels need.
