/**
 * WebGPU's own types, as far as this package's declarations need them: TypeScript has them in no library that every
 * program loads. Every `GPUDevice` and `GPUAdapter` fits.
 */

export interface GpuDevice {
  readonly label: string
  readonly features: ReadonlySet<string>
  /** Which GPU it is, as far as the platform tells. */
  readonly adapterInfo: {
    readonly vendor: string
    readonly architecture: string
    readonly device: string
    readonly description: string
    readonly isFallbackAdapter: boolean
  }
  readonly lost: Promise<{ readonly reason: string; readonly message: string }>
  destroy(): void
}

export interface GpuAdapter {
  readonly features: ReadonlySet<string>
}
