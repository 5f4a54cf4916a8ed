import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AssizeError } from '#base';

const SOURCES = ['packages', 'examples', 'labs'].flatMap((folder) => {
  const root = join(import.meta.dirname, '../../..', folder);
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => readFileSync(join(root, file), 'utf8'));
});
/** The declaration of the codes that every class has. */
const GENERAL = /export type GeneralCode =([\s\S]*?);\n\n/.exec(SOURCES.join('\n'))?.[1] ?? '';
const known = new Map<string, string>();

/** The code stands in the file in which its class is declared, or is one that every class has. */
export function documented(error: AssizeError): boolean {
  const { name } = error.constructor;
  let text = known.get(name);
  if (text === undefined) {
    text = SOURCES.filter((source) => source.includes(`class ${name} `)).join('\n');
    known.set(name, text);
  }
  return text.includes(`'${error.code}'`) || GENERAL.includes(`'${error.code}'`);
}
