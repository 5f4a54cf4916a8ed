/**
 * Loaded before a program (`node --import`): replaces the text of one source file with the text on
 * standard input. The first argument of the program is the URL of that file.
 */
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

const [, , planted = ''] = process.argv;
const source = readFileSync(0, 'utf8');
registerHooks({
  load: (url, context, next) =>
    url === planted
      ? { format: 'module-typescript', source, shortCircuit: true }
      : next(url, context),
});
