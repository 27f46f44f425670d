const units = [
  { bytes: 1e9, name: 'GB', digits: 2 },
  { bytes: 1e6, name: 'MB', digits: 1 },
  { bytes: 1e3, name: 'kB', digits: 1 },
] as const

/** As people say it, in units of a thousand: 225.3 MB. */
export const formatBytes = (bytes: number): string => {
  const unit = units.find((each) => bytes >= each.bytes)
  if (!unit) return bytes === 1 ? '1 byte' : `${bytes} bytes`
  return `${(bytes / unit.bytes).toFixed(unit.digits)} ${unit.name}`
}
