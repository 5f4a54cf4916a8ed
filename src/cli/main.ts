#!/usr/bin/env node
import { run } from './program.ts';
import { flushed } from './terminal/output.ts';

process.exitCode = await run(process.argv.slice(2));
// A given module may keep a timer, a pool or a server open, and the command has ended.
await flushed();
process.exit();
