import type { Fault } from '../bundle/findings.ts';
import type { LedgerPart } from '../bundle/ledger-part.ts';
import { element } from './element.ts';
import { inert } from './inert.ts';
import type { Compared } from './key-part.ts';
import { nameOfEntry } from './names.ts';

/** `open`: without a fault, under a condition that the page cannot check. */
export type Standing = 'valid' | 'open' | 'invalid';

/** A mark with its word: the page never says a result by colour alone. */
const MARKS: Readonly<Record<Standing, string>> = {
  valid: '\u2713',
  open: '\u2713',
  invalid: '\u2715',
};

/** The verdict on a bundle in one line. */
export function verdict(faults: readonly Fault[], compared: Compared): HTMLElement {
  if (faults.length > 0) return invalid(faults);
  if (compared === 'equal')
    return verdictLine('valid', 'Valid', 'Everything holds, under the key that you have.');
  const open =
    'Everything holds, if the key of the log is the right one. Nothing here shows that: compare it below.';
  return verdictLine('open', 'Valid', open);
}

export function invalid(faults: readonly Fault[]): HTMLElement {
  const more = faults.length === 1 ? 'There is one fault.' : `There are ${faults.length} faults.`;
  return verdictLine('invalid', 'Not valid', more);
}

export function verdictLine(
  standing: Standing,
  words: string,
  more: string,
  mark = MARKS[standing],
): HTMLElement {
  return element(
    'div',
    { class: 'verdict', 'data-standing': standing, role: 'status' },
    element('span', { class: 'mark', 'aria-hidden': 'true' }, mark),
    element('p', { class: 'words' }, element('strong', {}, words), ` ${more}`),
  );
}

const SHOWN = 50;

/** Every fault, with its entry and the reason. */
export function faultList(
  faults: readonly Fault[],
  part: LedgerPart | undefined,
): HTMLElement | undefined {
  if (faults.length === 0) return undefined;
  const items = faults
    .slice(0, SHOWN)
    .map(({ code, reason, entry, place }) =>
      element(
        'li',
        {},
        element('code', {}, code),
        ' ',
        entry === undefined ? undefined : nameOfEntry(entry, part, place),
        entry === undefined ? undefined : ': ',
        inert(reason),
      ),
    );
  const rest = faults.length - SHOWN;
  return element(
    'section',
    { 'aria-labelledby': 'faults', class: 'faults' },
    element('h2', { id: 'faults' }, 'Faults'),
    element('ol', {}, ...items),
    rest > 0 ? element('p', {}, `And ${rest} more.`) : undefined,
  );
}
