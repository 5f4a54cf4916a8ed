import type { Domain } from '#kernel';
import type { DomainRef } from '#ledger';
import { RuntimeError } from './errors.ts';
import { refOf } from './records/root-payload.ts';
import type { Trajectory } from './trajectory.ts';

/**
 * The given domain that a ledger names. `upgraded`: the trajectory began with another version.
 * `trajectoryId`: for the message.
 * @throws RuntimeError `domain_mismatch`
 */
export function findDomain(
  domains: readonly Domain[],
  ref: DomainRef,
  upgraded: boolean = false,
  trajectoryId?: string,
): Domain {
  const found = domains.find(({ hash }) => hash === ref.hash);
  if (found !== undefined) return found;
  const has = upgraded ? 'was upgraded to' : 'has';
  throw new RuntimeError(
    'domain_mismatch',
    `The trajectory ${trajectoryId === undefined ? '' : `${trajectoryId} `}${has} the domain ${ref.name}@${ref.version} (${ref.hash.slice(0, 12)}), and ${otherDomains(ref.name, domains)}. ${adviceFor(domains, ref, upgraded, trajectoryId)}`,
    {
      evidence: {
        domain: { ...ref },
        ...(trajectoryId !== undefined && { trajectory_id: trajectoryId }),
      },
    },
  );
}

function adviceFor(
  domains: readonly Domain[],
  { name, version }: DomainRef,
  upgraded: boolean,
  trajectoryId: string | undefined,
): string {
  const command = `assize upgrade ${trajectoryId ?? 'TRAJECTORY'} --reason TEXT`;
  const versions = domains.filter((domain) => domain.name === name);
  if (versions.some((domain) => domain.version === version))
    return `Give the changed domain a new version, and upgrade the trajectory (on the command line: ${command}).`;
  const pass = 'Pass that domain (on the command line: --domain FILE)';
  if (versions.length === 0) return `${pass}.`;
  if (upgraded)
    return `${pass}. If a given version is newer, upgrade the trajectory (on the command line: ${command}).`;
  return `${pass}, or upgrade the trajectory (on the command line: ${command}).`;
}

/**
 * A domain with the same declaration is the same domain, as it is to the ledger. @throws
 * RuntimeError `domain_mismatch`
 */
export function checkDomainOf({ id, domain }: Trajectory, wanted: Domain): void {
  if (domain.hash === wanted?.hash) return;
  const name = (of: Domain | null): string =>
    `${of?.name}@${of?.version} (${String(of?.hash).slice(0, 12)})`;
  throw new RuntimeError(
    'domain_mismatch',
    `${id} has the domain ${name(domain)}, not ${name(wanted)}. Open it with its own domain, or without a domain for an untyped trajectory.`,
    { evidence: { domain: refOf(domain) } },
  );
}

/** Maximum number of domains with other names in a message. */
const LISTED_MAX = 3;

/**
 * The given domains for an error message. If many are given, only domains with the same name are
 * listed.
 */
function otherDomains(name: string, domains: readonly Domain[]): string {
  if (domains.length === 0) return 'no domain is given';
  const namesakes = domains.filter((domain) => domain.name === name);
  const listed = namesakes.length > 0 || domains.length > LISTED_MAX ? namesakes : domains;
  return listed.length === 0
    ? `none of the ${domains.length} given domains has that name`
    : `the given domains are ${namedOnce(listed)}`;
}

/** Each name and version once, with the hashes of all domains that have them. */
function namedOnce(domains: readonly Domain[]): string {
  const hashes = new Map<string, string[]>();
  for (const { name, version, hash } of domains) {
    const named = `${name}@${version}`;
    hashes.set(named, [...(hashes.get(named) ?? []), hash.slice(0, 12)]);
  }
  const told = (all: readonly string[]): string =>
    all.length === 1 ? `${all}` : `declared in ${all.length} ways: ${all.join(' and ')}`;
  return [...hashes].map(([named, all]) => `${named} (${told(all)})`).join(', ');
}
