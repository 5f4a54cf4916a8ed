import { resolve } from 'node:path';
import { type Domain, requireOwnDomain } from 'assize/internal/kernel';
import { CliError } from '../errors.ts';
import { featuresInUse } from '../feature.ts';
import { importModule, isFile, lookedAt } from '../files/module-file.ts';
import { project } from './project.ts';

/**
 * The domains of the features, those of the config, and those that the files export.
 * @throws CliError; DuplicatePackageError `duplicate_package`
 */
export async function loadDomains(files: readonly string[] = []): Promise<Domain[]> {
  const shipped = featuresInUse().map(async ({ domains }) =>
    unlessReplaced((await domains?.()) ?? []),
  );
  const found = await Promise.all([...shipped, ownDomains(files)]);
  return [...new Map(found.flat().map((domain) => [domain.hash, domain])).values()];
}

/** The domains of the config and of the files, without the shipped ones. */
export async function ownDomains(files: readonly string[]): Promise<Domain[]> {
  return [...(project()?.domains ?? []), ...(await Promise.all(files.map(importFile))).flat()];
}

/** A domain of the config replaces the shipped one of its name. */
function unlessReplaced(shipped: readonly Domain[]): readonly Domain[] {
  const own = new Set(project()?.domains.map(({ name }) => name));
  return shipped.filter(({ name }) => !own.has(name));
}

/**
 * The domains of recorded runs without a policy, and after them those of `loadDomains`. Both have
 * the same names.
 *
 * @throws CliError; DuplicatePackageError `duplicate_package`
 */
export async function everyDomain(files: readonly string[]): Promise<Domain[]> {
  const bare = featuresInUse().map(
    ({ domainsWithoutInvariants }) => domainsWithoutInvariants?.() ?? [],
  );
  return [...(await Promise.all(bare)).flat(), ...(await loadDomains(files))];
}

/**
 * The domains that an argument names: the domains of a file, `FILE`; the domain of that name in the
 * config, or else the shipped one, `NAME`; or the domain of that name in a file, `NAME@FILE`.
 *
 * @throws CliError; DuplicatePackageError `duplicate_package`
 */
export async function domainsNamed(text: string): Promise<Domain[]> {
  const at = text.indexOf('@');
  const name = at > 0 ? text.slice(0, at) : text;
  const isNamed = (domain: Domain): boolean => domain.name === name;
  const own = project()?.domains.filter(isNamed) ?? [];
  if (at < 0 && own.length > 0) return own;
  const shipped = (await loadDomains()).filter(isNamed);
  if (at < 0 && shipped.length > 0) return shipped;
  const isOfFile = at > 0 && !isFile(text);
  const found = await importFile(isOfFile ? text.slice(at + 1) : text);
  if (!isOfFile) return found;
  const named = found.filter((domain) => domain.name === name);
  if (named.length > 0) return named;
  const known = found.map((domain) => domain.name).join(', ');
  throw new CliError(
    'not_found',
    `The file ${text.slice(at + 1)} has no domain ${name}. Name one of: ${known}.`,
  );
}

async function importFile(file: string): Promise<Domain[]> {
  const module = await importModule(
    file,
    'domain',
    'Name a domain file, or a shipped domain as listed by assize domains',
  );
  const found = lookedAt(file, 'domain', () => {
    const domains = Object.values(module).filter(isDomain);
    for (const domain of domains) requireOwnDomain(domain);
    return domains;
  });
  if (found.length > 0) return found;
  throw new CliError(
    'bad_input',
    `The file ${resolve(file)} exports no domain. Export the result of defineDomain.`,
  );
}

/** Checks the fields, so a domain from another copy of the package gets its own error. */
function isDomain(value: unknown): value is Domain {
  const { name, version, hash, rules, bind } = (value ?? {}) as Partial<Domain>;
  return (
    [name, version, hash].every((member) => typeof member === 'string') &&
    Array.isArray(rules) &&
    typeof bind === 'function'
  );
}
