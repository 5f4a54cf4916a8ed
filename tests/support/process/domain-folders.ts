import { globSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

const root = join(import.meta.dirname, '../../..');

/**
 * The folders of the domains that have an ontology, in the command and in the workspace `examples`.
 */
export const DOMAIN_FOLDERS: readonly string[] = globSync(
  '{packages/cli/src,examples}/domains/*/ontology.ttl',
  {
    cwd: root,
  },
)
  .map((file) => join(root, dirname(file)))
  .sort((a, b) => (basename(a) < basename(b) ? -1 : 1));

/** The folder of a domain by its name. */
export function domainFolder(name: string): string {
  const folder = DOMAIN_FOLDERS.find((each) => basename(each) === name);
  if (folder === undefined) throw new Error(`No domain ${name} has an ontology.`);
  return folder;
}
