// Requires every entry named on the command line and prints what each exports.
const process = require('node:process')

const names = {}
for (const entry of process.argv.slice(2)) names[entry] = Object.keys(require(entry)).sort()
console.log(JSON.stringify(names))
