import { form, requireForm } from '#base';
import type { Hash } from './hash.ts';

/**
 * The canonical text of a polynomial of provenance (docs/design/memory.md) as it stands outside of the entry that has it: the writes
 * `w:@n` are that entry's, `w:<entry id>#n`, and factors and terms stand in their order again. What is no such text stays as it is.
 * The id must not stand in the text; that of an entry can't stand in what it hashes.
 *
 * @throws ArgumentError `bad_argument`
 */
export function placedProvenance(text: string, entryId: Hash): string {
  requireForm(form.text, text, 'text');
  requireForm(form.text, entryId, 'entryId');
  if (!POLYNOMIAL.test(text)) return text;
  const terms = text.split(' + ').map((term) => placedTerm(term, entryId));
  return terms
    .sort((a, b) => byText(a.monomial, b.monomial))
    .map(({ coefficient, monomial }) => coefficient + monomial)
    .join(' + ');
}

const COUNT = '[1-9][0-9]*';
/** What would be read as a part of a polynomial does not stand in a token. */
const FACTOR = `[wt]:[!-),-\\]_-~]+(?:\\^${COUNT})?`;
const TERM = `(?:${COUNT}|(?:${COUNT}\\*)?${FACTOR}(?:\\*${FACTOR})*)`;
const POLYNOMIAL = new RegExp(`^${TERM}(?: \\+ ${TERM})*$`);
const OWN_WRITE = /^w:@(?=(?:0|[1-9][0-9]{0,14})(?:\^|$))/;

/** A term in two parts, because terms stand in the order of their monomials. */
interface Term {
  /** With the sign after it; a term that is a number is only a coefficient. */
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
