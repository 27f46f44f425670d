import process from 'node:process'
import { library } from '@tooling/config/tsup'

// The declarations speak of GPUDevice and the like, which TypeScript itself does not know.
const dts = { banner: '/// <reference types="@webgpu/types" />' }

export default library(process.env.SKIP_DECLARATIONS ? {} : { dts })
