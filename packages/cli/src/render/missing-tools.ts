import { bold, line, type Output, type Printable, yellow } from '@assize/command';
import type { Tool } from 'assize/internal/effects';
import type { Domain } from 'assize/internal/kernel';
import type { EffectTransaction } from 'assize/internal/runtime';

/** The tools and keys of this process. */
export interface GivenRequirements {
  readonly tools: readonly Tool[];
  readonly domains: readonly Domain[];
  readonly hasAnchors: boolean;
}

/** The missing requirements of transactions. */
export interface MissingRequirements {
  readonly tools: readonly LackedBy[];
  /** Tools, by name and version. */
  readonly domains: readonly LackedBy[];
  /**
   * Transactions that need a proposal, if no root public key is known under which a writ counts.
   */
  readonly anchors: readonly number[];
}

interface LackedBy {
  readonly name: string;
  readonly epochs: readonly number[];
}

export function missingIn(
  listed: readonly EffectTransaction[],
  { tools, domains, hasAnchors }: GivenRequirements,
): MissingRequirements {
  const known = new Set(tools.map(({ name }) => name));
  const hashes = new Set(domains.map(({ hash }) => hash));
  const answering = listed.flatMap(({ epoch, needs }) =>
    needs?.domain === undefined ? [] : [{ epoch, ...needs.domain }],
  );
  return {
    tools: byName(
      listed.flatMap(({ epoch, needs }) =>
        (needs?.tools ?? []).filter((name) => !known.has(name)).map((name) => ({ name, epoch })),
      ),
    ),
    domains: byName(
      answering
        .filter(({ hash }) => !hashes.has(hash))
        .map(({ name, version, epoch }) => ({ name: `${name}@${version}`, epoch })),
    ),
    anchors: hasAnchors
      ? []
      : answering.filter(({ hash }) => hashes.has(hash)).map(({ epoch }) => epoch),
  };
}

/** Prints each missing requirement with its remedy. Prints nothing if none is missing. */
export function printMissing(out: Output, { tools, domains, anchors }: MissingRequirements): void {
  const said = [
    ...tools.map((each) => lacked('the tool', each, '--tools FILE')),
    ...domains.map((each) => lacked('the domain', each, '--domain FILE')),
    ...(anchors.length === 0
      ? []
      : [lacked('a root public key', { name: '', epochs: anchors }, '--anchors FILE')]),
  ];
  if (said.length > 0) out.line(line``);
  for (const each of said) out.line(each);
}

function lacked(what: string, { name, epochs }: LackedBy, option: string): Printable {
  const who = `${epochs.length === 1 ? 'transaction' : 'transactions'} ${epochs.join(', ')}`;
  const named = name === '' ? line`${what}` : line`${what} ${bold(name)}`;
  return line`${yellow('missing')} ${named}, for ${who}; pass it with ${option}.`;
}

function byName(lacked: readonly { readonly name: string; readonly epoch: number }[]): LackedBy[] {
  const names = [...new Set(lacked.map(({ name }) => name))].sort();
  return names.map((name) => ({
    name,
    epochs: lacked.filter((each) => each.name === name).map(({ epoch }) => epoch),
  }));
}
