import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../../..');

/** A fenced block of a guide: its first line and its contents. */
export interface Block {
  readonly says: string;
  readonly code: string;
}

/** `page` is a name in docs/guide, or a path from the root of the repository. */
export function blocksOf(page: string): Block[] {
  const text = readFileSync(join(root, page.includes('/') ? page : `docs/guide/${page}`), 'utf8');
  return [...text.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].map(([, says = '', code = '']) => ({
    says,
    code,
  }));
}

/** A command, whose lines but the last end with a backslash, and the output below it. */
const STEP = /^((?:.*\\\n)*.*)\n?([\s\S]*)$/;

/** The commands of a `console` block, each with the output that the page shows below it. */
export function stepsOf(code: string): { readonly command: string; readonly below: string }[] {
  return code
    .split(/^\$ /m)
    .slice(1)
    .map((step) => {
      const [, command = '', below = ''] = STEP.exec(step.trimEnd()) ?? [];
      return { command, below };
    });
}

/** The block that says just this. */
export function blockOf(page: string, says: string): string {
  const found = blocksOf(page).find((block) => block.says === says);
  if (found === undefined) throw new Error(`${page} has no block ${says}`);
  return found.code;
}

/**
 * Writes the blocks of a page that name a file: ` ```ts NAME.ts `. Blocks with one name are joined.
 */
export function writeFiles(page: string, folder: string): void {
  const files = new Map<string, string[]>();
  for (const { says, code } of blocksOf(page)) {
    const [kind, name] = says.split(' ');
    if (name === undefined || kind === 'text' || kind === 'sh') continue;
    files.set(name, [...(files.get(name) ?? []), code]);
  }
  for (const [name, parts] of files) writeFileSync(join(folder, name), parts.join('\n'));
}

/** The ontology of labs/ontology/docs/ontology.md. */
export const LIBRARY: string = blockOf('labs/ontology/docs/ontology.md', 'turtle library.ttl');
