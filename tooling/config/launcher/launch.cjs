#!/usr/bin/env node
'use strict'

// What `bin` of a program names: it starts the program beside it, or says that this Node is too old for it. A Node may
// be as old as it likes, so nothing here is younger than ECMAScript 5.
var manifest = require('../package.json')

var name = Object.keys(manifest.bin)[0]
var wanted = manifest.engines.node.replace('>=', '')
var found = process.versions.node
var tooOld = [
  name,
  ': it needs Node ',
  wanted,
  ' or newer, and this is ',
  found,
  '; get one from https://nodejs.org',
]

function isOlder(version, other) {
  var part = 0
  while (part < other.length - 1 && version[part] === other[part]) part++
  return Number(version[part]) < Number(other[part])
}

if (isOlder(found.split('.'), wanted.split('.'))) {
  console.error(tooOld.join(''))
  process.exitCode = 1
} else {
  // By its whole path, for it is there only where this file is copied to.
  require([__dirname, 'main.js'].join('/'))
}
