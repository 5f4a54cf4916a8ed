#!/usr/bin/env node
// `npm create assize` is `assize init`, with the same arguments.
process.argv.splice(2, 0, 'init');
await import('@assize/cli/bin');
