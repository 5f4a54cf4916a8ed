/**
 * A process that is to be killed: `ARGUMENT PROGRAM FOLDER`. What it loads is compiled once, for all that are given the same folder; who is
 * killed keeps nothing for the next one by itself, so each program says when it has loaded all.
 */
import { enableCompileCache } from 'node:module';

const [, , , program, compiled] = process.argv;
if (compiled !== undefined) enableCompileCache(compiled);
await import(`./${program}${import.meta.url.slice(import.meta.url.lastIndexOf('.'))}`);
