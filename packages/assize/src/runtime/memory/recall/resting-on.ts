import { arg, checkArgument } from '#base';
import { type FactRow, MemoryError, Polynomial, readTrust, type Trust } from '#memory';
import { type StatedWrites, tokensOf } from '../plan/stated-writes.ts';

/**
 * A support of facts: the source of a statement, a policy version, an approver, or a judge's vote.
 */
export type Support =
  | { readonly source: string }
  | { readonly policy: string }
  | { readonly approver: string }
  | { readonly judge: string };

/** A fact that rests on the support, and whether it also rests on something else. */
export interface SupportedFact {
  readonly fact: FactRow;
  /** Whether the fact is still believed without the support. */
  readonly stays: boolean;
}

const SUPPORTS = ['source', 'policy', 'approver', 'judge'] as const;

/** @throws MemoryError `bad_argument`; ArgumentError `bad_argument` */
export function checkSupport(
  support: Support,
): readonly [kind: (typeof SUPPORTS)[number], name: string] {
  checkArgument(arg.only(SUPPORTS), support, 'support');
  const given = Object.entries(support);
  const [[kind, name] = []] = given as [(typeof SUPPORTS)[number], unknown][];
  if (given.length !== 1 || !SUPPORTS.includes(kind!) || typeof name !== 'string' || name === '')
    throw new MemoryError(
      'bad_argument',
      `The support is not valid. Name one of ${SUPPORTS.join(', ')}.`,
    );
  return [kind!, name];
}

/** The facts whose provenance has a token of the support. */
export function supportedBy(
  facts: readonly FactRow[],
  support: Support,
  stated: StatedWrites,
): SupportedFact[] {
  const [kind, name] = checkSupport(support);
  const isOfIt = (token: string): boolean =>
    kind === 'source'
      ? stated.get(token)?.source === name
      : isTrust(readTrust(token), { kind, name });
  return facts.flatMap((fact) => {
    const tokens = tokensOf(fact.provenance_id).filter(isOfIt);
    return tokens.length === 0 ? [] : [{ fact, stays: staysWithout(fact.provenance_id, tokens) }];
  });
}

/** X := 0 for each token. */
function staysWithout(provenance: string, tokens: readonly string[]): boolean {
  const left = tokens.reduce(
    (sum, token) => sum.substitute(token, Polynomial.zero),
    Polynomial.read(provenance),
  );
  return left.terms.size > 0;
}

function isTrust(trust: Trust | undefined, { kind, name }: Trust): boolean {
  return trust?.kind === kind && trust.name === name;
}
