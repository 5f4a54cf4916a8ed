import { existsSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { CliError, domainsNamed, loadDomains, readText } from '@assize/command';
import { type Domain, isAssizeError } from 'assize';
import type { Ontology } from '../index.ts';

/** Locations of a domain's ontology: the command, or the examples. */
const SHIPPED: readonly ((name: string) => string)[] = [
  (name) => new URL(`../../../packages/cli/src/domains/${name}/ontology.ttl`, import.meta.url).href,
  (name) => new URL(`../../../examples/domains/${name}/ontology.ttl`, import.meta.url).href,
];

/** The argument of a command. */
export const ONTOLOGY_ARGUMENT = 'shipped domain, or a Turtle file (.ttl)';

export const DOMAIN_OPTION: readonly [string, string] = [
  '--domain <name>',
  'shipped domain, a module that exports one, or NAME@MODULE',
];

/** The ontology of a shipped domain, or of a file. @throws CliError */
export async function loadOntology(nameOrFile: string): Promise<Ontology> {
  const path = await ontologyPath(nameOrFile);
  const text = readText(path);
  // Loaded when asked for: no other command needs a parser of Turtle.
  const { parse } = await import('../index.ts');
  try {
    return parse(text);
  } catch (cause) {
    if (!isAssizeError(cause)) throw cause;
    throw new CliError('bad_input', `${path}: ${cause.message}`, {
      cause,
      evidence: cause.evidence,
    });
  }
}

/** Whether the text names a shipped ontology and not a file. */
export function isShippedName(nameOrFile: string): boolean {
  // A folder of that name does not hide a shipped domain: `budget` in a clone's `domains` means the
  // ontology.
  return (
    !statSync(nameOrFile, { throwIfNoEntry: false })?.isFile() &&
    /^[a-z][a-z0-9_-]*$/.test(nameOrFile)
  );
}

async function ontologyPath(nameOrFile: string): Promise<string> {
  if (!isShippedName(nameOrFile)) return nameOrFile;
  const shipped = SHIPPED.map((place) =>
    fileURLToPath(import.meta.resolve(place(nameOrFile))),
  ).find((path) => existsSync(path));
  if (shipped !== undefined) return shipped;
  const names = (await loadDomains()).map(({ name }) => name).join(', ');
  throw new CliError(
    'not_found',
    `${nameOrFile} is neither a shipped ontology nor a file. Name a .ttl file, or one of ${names}.`,
  );
}

/** The intended domain: the only one of that name, or else the only one at all. @throws CliError */
export async function loadDomain(text: string, { domain: name }: Ontology): Promise<Domain> {
  const found = await domainsNamed(text);
  const [only, second] = found.length > 1 ? found.filter((domain) => domain.name === name) : found;
  if (only !== undefined && second === undefined) return only;
  const known = found.map((domain) => domain.name).join(', ');
  throw new CliError(
    'not_found',
    `${text} has the domains ${known}. Choose one with NAME@${text}.`,
  );
}
