// Imports every entry named on the command line and prints what each exports.
import process from 'node:process'

const names = {}
for (const entry of process.argv.slice(2)) names[entry] = Object.keys(await import(entry)).sort()
console.log(JSON.stringify(names))
