/**
 * A process that is to be killed: `ARGUMENT PROGRAM FOLDER`. Its modules are compiled once, for all
 * processes with the same folder. A killed process does not save its compile cache automatically.
 * So each program saves the cache after it has loaded all modules.
 */
import { enableCompileCache } from 'node:module';

const [, , , program, compiled] = process.argv;
if (compiled !== undefined) enableCompileCache(compiled);
await import(`./${program}${import.meta.url.slice(import.meta.url.lastIndexOf('.'))}`);
