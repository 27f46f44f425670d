/** A `.wasm` file as a `data:` URL; Vite does it by itself, the build of the packages by a loader. */
declare module '*.wasm?inline' {
  const url: string
  export default url
}
