import type { Hash } from './hash.ts';

/**
 * Returns the canonical text of a provenance polynomial (docs/design/memory.md) in its form outside
 * the entry. The entry's own writes `w:@n` become `w:<entry id>#n`, and factors and terms are
 * sorted again. A text of another form stays unchanged. The id must not occur in the text; an
 * entry's id cannot occur in the text that it hashes.
 */
export function placedProvenance(text: string, entryId: Hash): string {
  if (!POLYNOMIAL.test(text)) return text;
  const terms = text.split(' + ').map((term) => placedTerm(term, entryId));
  return terms
    .sort((a, b) => byText(a.monomial, b.monomial))
    .map(({ coefficient, monomial }) => coefficient + monomial)
    .join(' + ');
}

const COUNT = '[1-9][0-9]*';
/** Characters with a meaning in a polynomial do not occur in a token. */
const FACTOR = `[wt]:[!-),-\\]_-~]+(?:\\^${COUNT})?`;
const TERM = `(?:${COUNT}|(?:${COUNT}\\*)?${FACTOR}(?:\\*${FACTOR})*)`;
const POLYNOMIAL = new RegExp(`^${TERM}(?: \\+ ${TERM})*$`);
const OWN_WRITE = /^w:@(?=(?:0|[1-9][0-9]{0,14})(?:\^|$))/;

/** A term in two parts, because terms are sorted by their monomials. */
interface Term {
  /** With the sign after it. A numeric term has only a coefficient. */
  readonly coefficient: string;
  readonly monomial: string;
}

function placedTerm(term: string, entryId: Hash): Term {
  const coefficient = /^[0-9]+\*?/.exec(term)?.[0] ?? '';
  const factors = term.slice(coefficient.length).split('*');
  const placed = factors.map((factor) => factor.replace(OWN_WRITE, `w:${entryId}#`));
  return { coefficient, monomial: placed.sort((a, b) => byText(tokenOf(a), tokenOf(b))).join('*') };
}

function tokenOf(factor: string): string {
  return factor.split('^')[0] as string;
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
