import { element, section } from './element.ts';

/** The statements that no bundle can make. */
export function limitsPart(): HTMLElement {
  return section(
    'Limits',
    element(
      'p',
      {},
      'A valid bundle shows that these entries are in the log, unchanged and in these places, and that decisions belong to what they decide. ',
      'It does not show that anything is absent: a person may have done more, and a later entry may have changed more. ',
      'A bundle of a period of one trajectory has every entry between its first and its last. ',
      'States, budgets and the attenuation of writs are verified with an export of the whole ledger.',
    ),
  );
}
