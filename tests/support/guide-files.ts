import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** A fenced block of a guide: what its first line says, and what is in it. */
export interface Block {
  readonly says: string;
  readonly code: string;
}

export function blocksOf(page: string): Block[] {
  const text = readFileSync(join(root, 'docs/guide', page), 'utf8');
  return [...text.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].map(([, says = '', code = '']) => ({ says, code }));
}

/** The block that says just this. */
export function blockOf(page: string, says: string): string {
  const found = blocksOf(page).find((block) => block.says === says);
  if (found === undefined) throw new Error(`${page} has no block ${says}`);
  return found.code;
}

/** The ontology that docs/guide/ontology-first.md works with. */
export const LIBRARY: string = blockOf('ontology-first.md', 'turtle library.ttl');
