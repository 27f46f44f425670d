export { ReplacementFile } from './output/replacement-file.ts'
export { type WrittenFile, writeWavFile } from './output/write-wav-file.ts'
