export { type WrittenFile, writeWavFile } from './output/write-wav-file.ts'
