#!/usr/bin/env node
import { isHookLine, runHookLine } from '@assize/gate/internal/commands/hook/hook-line.ts';

const args = process.argv.slice(2);
// A hook runs before each call of an agent, so nothing else is loaded for it.
if (isHookLine(args)) process.exit(await runHookLine(args));

const { run } = await import('./program.ts');
const { divertPrints, flushed } = await import('@assize/command');
process.exitCode = await run(args);
// The output is complete. A given module may still print, from a timer or at the exit.
divertPrints();
// A given module may keep a timer, a pool or a server open, and the command has ended.
await flushed();
process.exit();
