#!/usr/bin/env node
import { run } from './program.ts';
import { divertPrints, flushed } from './terminal/output.ts';

process.exitCode = await run(process.argv.slice(2));
// The output is complete. A given module may still print, from a timer or at the exit.
divertPrints();
// A given module may keep a timer, a pool or a server open, and the command has ended.
await flushed();
process.exit();
