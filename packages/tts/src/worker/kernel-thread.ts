/** The script of a thread of the kernels, which is to lie beside the worker's own: see `#threads` of @pocket/kernels-cpu. */
import '@pocket/kernels-cpu/kernel-thread'
