/** In bytes: the reference library's limit (`MAX_HEADER_SIZE` in `safetensors/src/tensor.rs`). */
export const longestHeader = 100_000_000

/**
 * Of an object in the header, so of tensors in a file: bounds what a hostile header can make its reader hold,
 * to some 100 MB. Checkpoints in use have thousands of tensors a file.
 */
export const mostMembers = 2 ** 18

/** The most dimensions that NumPy and PyTorch know. */
export const mostDimensions = 64
