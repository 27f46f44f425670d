export { type FileTensorReader, openFile } from './file.ts'
