import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CliError, checked, loadDomains, readJson } from '@assize/command';
import type { Domain } from 'assize';
import { isInstant } from 'assize/internal/canon';
import { z } from 'zod';
import type { HappyPath, Ontology, Walk } from '../index.ts';
import { isShippedName, loadDomain } from './load.ts';

export interface WalkCliOptions {
  readonly threshold?: number;
  readonly domain: readonly string[];
  readonly walk: readonly string[];
}

/** An ontology with the argument that names it. */
export interface NamedOntology {
  readonly nameOrFile: string;
  readonly ontology: Ontology;
}

const INSTANT = z
  .string()
  .refine(isInstant, 'must be an instant such as 2026-06-01T12:00:00.000000Z');
const PROPOSAL = z.strictObject({
  action: z.string(),
  role: z.strictObject({ name: z.string(), params: z.record(z.string(), z.string()).default({}) }),
  args: z.json(),
  at: INSTANT.exactOptional(),
});
const WALK = z.strictObject({
  domain: z.string(),
  at: INSTANT,
  initial: z.json().exactOptional(),
  counselors: z.record(z.string(), z.array(z.string())).exactOptional(),
  proposals: z.array(PROPOSAL),
  exceptions: z.array(PROPOSAL).exactOptional(),
});

/** The happy path of each ontology, run if there is a domain for it. @throws CliError */
export async function pathsOf(
  named: readonly NamedOntology[],
  options: WalkCliOptions,
): Promise<HappyPath[]> {
  const ontologies = named.map(({ ontology }) => ontology);
  const walks = options.walk.map((file) => readWalk(file));
  const domains = await Promise.all(options.domain.map((text) => domainFor(text, ontologies)));
  requireDescribed(walks, ontologies);
  const { happyPath } = await import('../index.ts');
  const { threshold } = options;
  const paths: HappyPath[] = [];
  for (const { nameOrFile, ontology } of named) {
    const walk = walks.find(({ domain }) => domain === ontology.domain) ?? shippedWalk(nameOrFile);
    const given = domains.find(({ name }) => name === ontology.domain);
    const domain = given ?? (walk === undefined ? undefined : await shippedDomain(walk));
    const settings = {
      ...(threshold !== undefined && { threshold }),
      ...(walk !== undefined && { walk }),
    };
    paths.push(happyPath(ontology, domain, settings));
  }
  return paths;
}

function readWalk(file: string): Walk {
  return checked(readJson(file), WALK, file);
}

/** The run of a shipped domain on its happy path. */
function shippedWalk(nameOrFile: string): Walk | undefined {
  const file = join(import.meta.dirname, '../walks', `${nameOrFile}.json`);
  return isShippedName(nameOrFile) && existsSync(file) ? readWalk(file) : undefined;
}

async function shippedDomain({ domain: name }: Walk): Promise<Domain> {
  const found = (await loadDomains()).find((domain) => domain.name === name);
  if (found !== undefined) return found;
  throw new CliError('usage', `A walk of ${name} needs the domain. Name it with --domain.`);
}

/** @throws CliError `usage` for a domain that neither ontology describes */
async function domainFor(text: string, ontologies: readonly Ontology[]): Promise<Domain> {
  for (const ontology of ontologies) {
    const domain = await loadDomain(text, ontology);
    if (domain.name === ontology.domain) return domain;
  }
  const described = ontologies.map(({ domain }) => domain).join(' and ');
  throw new CliError(
    'usage',
    `The ontologies describe ${described}, and --domain ${text} is neither of them.`,
  );
}

function requireDescribed(walks: readonly Walk[], ontologies: readonly Ontology[]): void {
  const described = ontologies.map(({ domain }) => domain);
  const odd = walks.find(({ domain }) => !described.includes(domain));
  if (odd === undefined) return;
  throw new CliError(
    'usage',
    `The ontologies describe ${described.join(' and ')}, but a walk is of ${odd.domain}.`,
  );
}
